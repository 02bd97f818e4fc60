"""Student editions hold no answer, and run to their end."""

import ast

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course.chapter import chapters
from course.exercise import numbers, trio
from tests.support.book import each_chapter
from tools.homework.strip import STUB, prepared, stripped


def edition(chapter):
    """What students get."""
    return stripped(prepared(chapter.notebook))


@each_chapter
def test_edition_has_no_answers(chapter):
    release = edition(chapter)
    text = nbformat.writes(release)
    for trace in ("### BEGIN", "### END", "<details>", "@title Solution"):
        assert trace not in text
    assert not any(cell.get("outputs") for cell in release.cells)
    nbformat.validate(release)
    for exercise in numbers(chapter.notebook):
        solution, check, grade = trio(release.cells, exercise)
        assert solution.source.endswith(f"\n    {STUB}")
        assert "hide-input" not in solution.metadata.get("tags", [])
        assert "assert" not in grade.source
        assert [cell.metadata.get("editable", True) for cell in
                (solution, check, grade)] == [True, False, False]


def test_the_head_says_what_is_not_taken():
    """The words that a page of feedback begins with, in such a case."""
    first = " ".join(edition(chapters()[0]).cells[0].source.split())
    for words in ("values that cells of the lesson make", "100 kB",
                  "IPython's lines (`%`, `!`, `?`)", "%%bash"):
        assert words in first


@each_chapter
def test_no_other_cell_needs_an_answer(chapter):
    """So the cells that nbval runs with answers run without them as well."""
    def others(code):
        numbered = {cell.id for exercise in numbers(chapter.notebook)
                    for cell in trio(code, exercise)}
        return [cell.source for cell in code if cell.id not in numbered]

    theirs, ours = edition(chapter).cells, chapter.code
    theirs = [cell for cell in theirs if cell.cell_type == "code"]
    assert others(theirs) == others(ours)

    answered = {node.name for exercise in numbers(chapter.notebook)
                for node in ast.parse(trio(theirs, exercise)[0].source).body
                if isinstance(node, ast.FunctionDef)}
    assert len(answered) == len(numbers(chapter.notebook))
    trees = map(ast.parse, others(theirs))
    named = {getattr(node, "id", getattr(node, "name", None))
             for tree in trees for node in ast.walk(tree)}
    assert not answered & named


@each_chapter
def test_untouched_exercises_are_not_done_yet(chapter, capsys):
    names = {}
    exec(chapter.definitions, names)
    release = edition(chapter)
    for exercise in numbers(chapter.notebook):
        for cell in trio(release.cells, exercise):
            exec(cell.source, names)
        assert capsys.readouterr().out == f"{exercise} not done yet\n"


@pytest.mark.parametrize("source, left", [
    ("### BEGIN SOLUTION\nreturn 1", "### BEGIN SOLUTION"),
    ("return 1\n    ### END SOLUTION", "### END SOLUTION"),
    ("# @title Grade 9.1\n### BEGIN HIDDEN TESTS\nassert f() == 1",
     "### BEGIN HIDDEN TESTS")])
def test_an_answer_between_broken_marks_is_not_handed_out(source, left):
    made = new_notebook(cells=[new_code_cell(source, id="odd")])
    with pytest.raises(ValueError, match=f"cell odd: {left} stands alone"):
        stripped(made)


@pytest.mark.parametrize("site, want", [
    ("https://x.org/a/", "read [signals](https://x.org/a/book/03_signals"
     ".html), [one](https://x.org/a/book/intro.html#b), [paper](https://y.z/)"),
    ("", "read signals, one, [paper](https://y.z/)")])
def test_links_lead_to_the_site(site, want):
    made = new_notebook(cells=[new_markdown_cell(
        "read [signals](03_signals.ipynb), [one](intro.md#b),"
        " [paper](https://y.z/)")])
    first, _, stamp = prepared(made, site).cells[0].source.partition("\n\n")
    assert first == want
    assert stamp == prepared(made).cells[0].source.split("\n\n", 1)[1]
