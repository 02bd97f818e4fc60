"""The grammar of a prediction: what breaks it, and its parts.

It stands in one Markdown cell:

    **Predict 4.1.** question

    - (A) choice
    - (B) choice
    - (C) choice

    <details><summary>Answer</summary>

    **(B)** why.

    (A) If you chose A, you ...

    (C) If you chose C, you ...

    </details>
"""

import re
from dataclasses import dataclass

FOLD, END = "<details><summary>Answer</summary>\n\n", "</details>"
MARK = re.compile(r"\*\*Predict (\d+\.\d+)\.\*\* ")
CHOICE = re.compile(r"(?m)^- \(([A-D])\) (?=\S)")
RIGHT = re.compile(r"\*\*\(([A-D])\)\*\* (?=\S)")
WRONG = re.compile(r"(?m)^\(([A-D])\) If you chose \1, you ")


@dataclass
class Prediction:
    """Texts in Markdown; choices and words have their letters as keys."""

    number: str
    before: str                         # what the cell says above it
    question: str
    choices: dict[str, str]
    right: str
    why: str
    words: dict[str, str]               # on the wrong ones: "You ..."


def faults(number, text):
    """What breaks the grammar of one Predict, its cell's text given."""
    if not re.search(rf"\*\*Predict {re.escape(number)}\.\*\* \S", text):
        yield f"no **Predict {number}.** and its question"
    asked, _, answer = text.partition(FOLD)
    letters = CHOICE.findall(asked)
    if letters not in (list("ABC"), list("ABCD")):
        yield f"Predict {number}: choices {letters}, not A, B, C"
    right = RIGHT.match(answer)
    if not right or right[1] not in letters or END not in answer:
        yield f"Predict {number}: the folded answer begins with no **(A)** why"
        return
    said = WRONG.findall(answer)
    for letter in letters:
        if letter != right[1] and letter not in said:
            yield f"Predict {number}: no word on the choice ({letter})"


def keyed(pieces):
    """What re.split gives around letters, by letter."""
    return {letter: text.strip() for letter, text
            in zip(pieces[::2], pieces[1::2], strict=True)}


def read(text):
    """The parts of a prediction that has no faults."""
    before, number, rest = MARK.split(text, maxsplit=1)
    asked, _, answer = rest.partition(FOLD)
    question, *choices = CHOICE.split(asked)
    _, right, rest = RIGHT.split(answer.partition(END)[0], maxsplit=1)
    why, *words = WRONG.split(rest)
    return Prediction(
        number, before.strip(), question.strip(), keyed(choices), right,
        why.strip(), {letter: f"You {word}"
                      for letter, word in keyed(words).items()})
