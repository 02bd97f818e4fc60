"""What `make refresh` writes into notebooks: a second time changes nothing.

A name has one body in the book, where it is defined first; but a function may
grow, and take more arguments from then on.
"""

import ast
import copy

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course.chapter import chapters
from course.code import definitions
from tests.support.book import each_chapter
from tools.refresh import cells

HOMES = cells.book_homes(chapters())
ONE = "def f(x):\n    return g(x)  # g first"
TWO = "def g(x):\n    return math.sqrt(x)"
FIRST = [new_code_cell("import math", id="imports"), new_code_cell(ONE),
         new_code_cell(f"{TWO}\n\n\ndef unused():\n    pass")]


@each_chapter
def test_the_generated_cells_are_those_that_are_stored(chapter):
    """Else: .venv/bin/python -m tools.refresh --write-only"""
    notebook = copy.deepcopy(chapter.notebook)
    cells.write(chapter.number, notebook, HOMES)
    for new, stored in zip(notebook.cells, chapter.cells, strict=True):
        assert new == stored, new.id


def arguments(definition):
    """The names of a function's arguments; none of a class."""
    node = getattr(definition.node, "args", None)
    return [part.arg for part in ast.walk(node or ast.arguments())
            if isinstance(part, ast.arg)]


@each_chapter
def test_a_name_has_one_home_unless_it_grows(chapter):
    """What an earlier chapter defines is repeated, not defined again."""
    earlier = cells.before(chapter.number, HOMES)
    for cell in cells.code(chapter.cells):
        for definition in definitions(cell.source):
            if home := earlier.get(definition.name):
                assert set(arguments(definition)) > set(
                    arguments(home.definition)), home


def test_the_latest_body_before_a_chapter_is_repeated():
    grown = "def g(x, mask=None):\n    return x"
    known = cells.homes([("01", FIRST), ("02", [new_code_cell(grown)]),
                         ("03", [])])
    assert [home.chapter for home in known["g"]] == ["01", "02"]
    for number, home in (("02", "01"), ("03", "02")):
        assert cells.before(number, known)["g"].chapter == home
    assert cells.before("01", known) == {}


def written(*rest, repeated=None):
    """The repeated functions of a second chapter with these cells."""
    notebook = new_notebook(cells=[
        new_code_cell("import numpy as np", id="imports"), *rest])
    if repeated is not None:
        notebook.cells.insert(1, new_code_cell(repeated, id=cells.EARLIER))
    known = cells.homes([("01", FIRST), ("02", notebook.cells)])
    cells.write("02", notebook, known)
    by_id = {cell.id: cell.source for cell in notebook.cells}
    return by_id.get(cells.EARLIER, "").partition("\n")[2]


@pytest.mark.parametrize("rest, repeated", [
    ([new_code_cell("f(3)")], f"import math\n\n\n{ONE}\n\n\n{TWO}"),
    ([new_code_cell("g(3)")], f"import math\n\n\n{TWO}"),
    ([new_code_cell("h = g")], f"import math\n\n\n{TWO}"),
    ([new_code_cell("def h(f):\n    return f(2)")], ""),
    ([new_code_cell("f = 2\ng = f")], ""),
    ([new_markdown_cell("`g(x)` is told of")], ""),
    ([new_markdown_cell("**Exercise 2.1** Begin with `g(x)`.")],
     f"import math\n\n\n{TWO}")])
def test_what_is_used_is_repeated_with_what_it_needs(rest, repeated):
    assert written(*rest) == repeated
    for before in ("", "# @title Old\ndef f(x):\n    return 7"):
        assert written(*rest, repeated=before) == repeated


def test_an_import_that_is_there_is_not_repeated():
    cell = new_code_cell("import math\ng(3)", id="more")
    assert written(cell).startswith("import math")      # below, too late
    notebook = new_notebook(cells=[
        new_code_cell("import math", id="imports"), new_code_cell("g(3)")])
    cells.write("02", notebook, cells.homes([("01", FIRST)]))
    assert notebook.cells[1].source.partition("\n")[2] == TWO


def test_what_a_page_tells_teachers_to_set_is_kept():
    cell = new_code_cell("x = 1", metadata={
        "slideshow": {"slide_type": "skip"}, "collapsed": True,
        "mystnb": {"code_prompt_show": "Show", "image": {"alt": "a"}}})
    notebook = new_notebook(cells=[cell])
    cells.write("02", notebook, {})
    assert notebook.cells[0].metadata == {
        "slideshow": {"slide_type": "skip"}, "mystnb": {"image": {"alt": "a"}}}
