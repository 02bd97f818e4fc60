"""Each count of the form can fail: a small chapter, broken."""

import copy
import re

import pytest
from nbformat import v4

from tests.support.sample import PREDICT, chapter, code
from tools import form


def found(cells):
    return form.faults(cells, 7)


def test_the_small_chapter_has_the_form():
    assert found(chapter()) == []


def change(old, new, count=1):
    def apply(cells):
        for cell in cells:
            if re.search(old, cell.source):
                cell.source = re.sub(old, new, cell.source, count=count)
                return
        raise AssertionError(f"nothing to change: {old}")
    return apply


def add(cell, after):
    def apply(cells):
        at = next(i for i, c in enumerate(cells) if after in c.source)
        cells.insert(at + 1, copy.deepcopy(cell))
    return apply


def drop(text):
    def apply(cells):
        cells.remove(next(c for c in cells if text in c.source))
    return apply


def quiet(name, said):
    def apply(cells):
        [cell] = [cell for cell in cells if cell.id == name]
        cell.outputs[0].text = said
    return apply


BROKEN = [
    (change("A sentence", "word " * 6001), "words: "),
    (change("15 minutes", "a while"), "Time"),
    (add(code("x = 1\n" * 251), "## Setup"), "lines of code"),
    (change("- join it again.", ""), "goals"),
    (change(r"\*\*After.*", ""), "After this chapter"),
    (change(r"\[shapes\]\(00_shapes.ipynb\)", "shapes"), "You need"),
    (drop("## Setup"), "Setup"),
    (drop("## Summary"), "Summary"),
    (change("## Pitfalls", "## Summary"), "last headings"),
    (lambda cells: (drop("**Predict 7.3")(cells), drop("**Predict 7.2")(cells)),
     "predictions"),
    (change("Predict 7.2", "Predict 7.5"), "7.2"),
    (change(r"- \(C\) both\n", ""), "choices"),
    (change(r"\*\*\(B\)\*\* because", "Because"), "folded answer"),
    (change(r"\(C\) If you chose C, you", "Not C,"), "choice (C)"),
    (change("<summary>Answer</summary>\n\n", "<summary>Answer</summary>\n"),
     "folded answer"),
    (change("# @title Check: token 1", "# @title Token 1"), "no reason"),
    (quiet("check2", "fine\n"), "ok: N comparisons"),
    (quiet("check2", "ok: 0 comparisons\n"), "ok: N comparisons"),
    (quiet("check2", "ok: 2 comparisons\nmore\n"), "ok: N comparisons"),
    (add(code("assert 1"), "## Token 1"), "assert in a visible"),
    (add(code("y = rng.normal()"), "## Token 2"), "own generator"),
    (drop("**Exercise 7.3"), "exercises"),
    (change("Exercise 7.2", "Exercise 7.5"), "numbered"),
    (change("; 2 points", ""), "points"),
]


@pytest.mark.parametrize("breaks, words", BROKEN)
def test_what_breaks_the_form_is_said(breaks, words):
    cells = chapter()
    breaks(cells)
    assert any(words in fault for fault in found(cells)), found(cells)


def test_ten_topics_are_too_many():
    cells = chapter()
    for i in range(5):
        add(v4.new_markdown_cell(f"## More {i}"), "## Token 5")(cells)
    assert any("sections: 10" in fault for fault in found(cells))


def test_two_predictions_in_one_cell():
    cells = chapter()
    change(r"\A\*\*Predict 7.1", PREDICT.format(i=1) + "\n\n**Predict 7.1")(
        cells)
    assert any("two predictions" in fault for fault in found(cells))


def test_a_told_chapter_has_room():
    """4,000 words under eight headings, and a closing section."""
    cells = chapter()
    change("A sentence", "word " * 4000)(cells)
    change("## Pitfalls", "## What we have, and what still hurts\n\nMuch.")(
        cells)
    add(v4.new_markdown_cell("## Pitfalls"), "## What we have")(cells)
    for i in (6, 7, 8):
        add(v4.new_markdown_cell(f"## Token {i}"), "## Token 5")(cells)
    assert found(cells) == []
