"""Each count of the form can fail: a small chapter, broken."""

import re

import pytest
from nbformat import v4

from tests.support.sample import PREDICT, chapter, code
from tools import form


def test_the_small_chapter_has_the_form():
    assert form.faults(chapter(), 7) == []


def change(old, new):
    """In the first cell with the words `old`."""
    def apply(cells):
        cell = next(cell for cell in cells if re.search(old, cell.source))
        cell.source = re.sub(old, new, cell.source, count=1)
    return apply


def drop(words):
    return change(f"(?s).*{re.escape(words)}.*", "")


def add(after, *more):
    def apply(cells):
        at = next(i for i, c in enumerate(cells) if after in c.source)
        cells[at + 1:at + 1] = more
    return apply


def check_prints(text):
    def apply(cells):
        [cell] = [cell for cell in cells if cell.id == "check2"]
        cell.outputs[0].text = text
    return apply


def headings(*names):
    return [v4.new_markdown_cell(f"## {name}") for name in names]


BROKEN = [
    (change("A sentence", "word " * 6001), "words: "),
    (change("15 minutes", "a while"), "Time"),
    (add("## Setup", code("x = 1\n" * 251)), "lines of code"),
    (change("- join it again.", ""), "goals"),
    (change(r"\*\*After.*", ""), "After this chapter"),
    (change(r"\[shapes\]\(00_shapes.ipynb\)", "shapes"), "You need"),
    (drop("## Setup"), "Setup"),
    (drop("## Summary"), "Summary"),
    (change("## Pitfalls", "## Summary"), "last headings"),
    (lambda cells: [drop("**Predict 7.")(cells) for _ in range(2)],
     "predictions"),
    (change("(?s)\\*\\*Predict 7.1.*", PREDICT.format(i=1) * 2),
     "two predictions"),
    (add("## Token 5", *headings(*"ABCDE")), "sections: 10"),
    (change("Predict 7.2", "Predict 7.5"), "7.2"),
    (change(r"- \(C\) both\n", ""), "choices"),
    (change(r"\*\*\(B\)\*\* because", "Because"), "folded answer"),
    (change(r"\(C\) If you chose C, you", "Not C,"), "choice (C)"),
    (change("<summary>Answer</summary>\n\n", "<summary>Answer</summary>\n"),
     "folded answer"),
    (change("# @title Check: token 1", "# @title Token 1"), "no reason"),
    (check_prints("fine\n"), "ok: N comparisons"),
    (check_prints("ok: 0 comparisons\n"), "ok: N comparisons"),
    (check_prints("ok: 2 comparisons\nmore\n"), "ok: N comparisons"),
    (add("## Token 1", code("assert 1")), "assert in a visible"),
    (add("## Token 2", code("y = rng.normal()")), "own generator"),
    (drop("**Exercise 7.3"), "exercises"),
    (change("Exercise 7.2", "Exercise 7.5"), "numbered"),
    (change("; 2 points", ""), "points"),
]


@pytest.mark.parametrize("breaks, words", BROKEN)
def test_what_breaks_the_form_is_said(breaks, words):
    cells = chapter()
    breaks(cells)
    faults = form.faults(cells, 7)
    assert any(words in fault for fault in faults), faults


def test_a_told_chapter_has_room():
    """4,000 words under eight headings, and a closing section."""
    cells = chapter()
    change("A sentence", "word " * 4000)(cells)
    add("## Token 5", *headings("Token 6", "Token 7", "Token 8"))(cells)
    change("## Pitfalls", "## What we have, and what still hurts\n\nMuch.")(
        cells)
    add("## What we have", *headings("Pitfalls"))(cells)
    assert form.faults(cells, 7) == []
