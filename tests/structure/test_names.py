"""A name has one body in the book: where it is defined first.

What a chapter takes from earlier ones, `make refresh` repeats in the cell
`earlier-code`, to the letter (test_refresh.py).
"""

import pytest
from nbformat.v4 import new_code_cell

from course.chapter import chapters
from course.code import definitions
from tools.refresh.cells import book_homes, code, homes

HOMES = book_homes(chapters())


def second_homes(number, cells, known):
    """The names that a chapter defines and an earlier one has defined."""
    return {definition.name for cell in code(cells)
            for definition in definitions(cell.source)
            if definition.name in known
            and known[definition.name].chapter < number}


@pytest.mark.parametrize("chapter", chapters(), ids=repr)
def test_a_name_has_one_home(chapter):
    assert not second_homes(chapter.number, chapter.cells, HOMES)


def test_a_second_home_is_seen():
    book = [("01", [new_code_cell("def f(x):\n    return x")]),
            ("02", [new_code_cell("def f(x):\n    return 2 * x"),
                    new_code_cell("class g: pass")])]
    assert second_homes(*book[1], homes(book)) == {"f"}
