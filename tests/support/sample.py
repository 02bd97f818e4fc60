"""A small chapter in the form of the book, and its parts as texts."""

import base64

from nbformat import v4

PICTURE = {"image/png": base64.b64encode(b"a picture").decode()}
OPENING = """# 07. Tokens

A text is a row of letters, and a network wants numbers. Which numbers, and how
many? The choice decides how long a text becomes, and the answer is in a table
that fits on one page, as the next sections show step by step.

**After this chapter you can**

- cut a text;
- number a **token**;
- join it again.

**You need** [shapes](00_shapes.ipynb).

**Time** 15 minutes."""
PREDICT = """**Predict 7.{i}.** How long is a token?

- (A) short
- (B) long
- (C) both

<details><summary>Answer</summary>

**(B)** because it is.

(A) If you chose A, you counted letters.

(C) If you chose C, you counted twice.

</details>"""
EXERCISE = ("**Exercise 7.{i}** (implement; 10 minutes; difficulty 2; "
            "2 points). Cut a text.")


def code(source, *tags, said="", picture=False, name=None):
    """A code cell, with what it printed."""
    cell = v4.new_code_cell(source, metadata={"tags": [*tags]})
    cell.id = name or f"c{abs(hash(source)) % 10**8}"
    if said:
        cell.outputs.append(v4.new_output("stream", text=said))
    if picture:
        cell.outputs.append(v4.new_output("display_data", data=PICTURE))
    return cell


def chapter():
    """The smallest chapter of the form."""
    text = v4.new_markdown_cell
    cells = [text(OPENING),
             code("# @title Schematic", "hide-input", picture=True),
             text("## Setup"), code("import numpy as np")]
    for i in range(1, 6):
        cells += [text(f"## Token {i}: where does it end?"),
                  text("A sentence about tokens. " * 12),
                  code(f"rng = np.random.default_rng({i})\nx = rng.normal()")]
        if i < 4:
            cells.append(text(PREDICT.format(i=i)))
        cells.append(code(f"# @title Check: token {i} and its number\n"
                          "assert x == x", "hide-input",
                          said="ok: 2 comparisons\n", name=f"check{i}"))
    return cells + [
        text("## Pitfalls\n\n**A slip.** It happens."),
        text("## Exercises"), *(text(EXERCISE.format(i=i)) for i in (1, 2, 3)),
        text("## Summary\n\n- one\n- two\n- three"),
        text("## Deeper\n\nMore."), text("## References\n\n- A paper.")]
