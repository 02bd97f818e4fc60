"""A function that several chapters repeat is the same in all of them.

A chapter defines what is new in it where it is explained, and repeats what it
needs from earlier ones in the cell `earlier-code`, to the letter.
"""

import ast
import re
from types import SimpleNamespace

import pytest

from course.chapter import chapters
from tests.support.book import each_chapter

REPEATED = "earlier-code"
SPAN = re.compile(r"`+([^`]+)`+")
EVERYWHERE = "verdict"                  # every chapter has this cell


def definitions(cell):
    """The functions and classes of a cell: name, syntax tree, lines."""
    lines = cell.source.splitlines()
    for node in ast.parse(cell.source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            first = min(part.lineno for part in [node, *node.decorator_list])
            yield node.name, node, lines[first - 1:node.end_lineno]


def names(tree):
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def needed(code, prose):
    """What the cells use, what that uses, and what the prose names as code."""
    repeated = {name: node for cell in code if cell.id == REPEATED
                for name, node, _ in definitions(cell)}
    asked = {name for cell in code if cell.id != REPEATED
             for name in names(ast.parse(cell.source))}
    asked |= {name for text in prose for span in SPAN.findall(text)
              for name in re.findall(r"\w+", span)}
    while more := {name for known in asked & repeated.keys()
                   for name in names(repeated[known])} - asked:
        asked |= more
    return asked


def differ(now, home):
    """What differs between two definitions of one name, in words, or None."""
    (node, lines), (number, first, at_home) = now, home
    if ast.unparse(node) != ast.unparse(first):
        return f"differs from {number}"
    if lines != at_home:
        return f"has other comments or lines than in {number}"


def problems(chapters):
    """Of {"04": its cells, ...}: {(chapter, name, what is wrong)}."""
    homes, found = {}, set()
    for number, every in sorted(chapters.items()):
        code = [cell for cell in every if cell.cell_type == "code"]
        used = needed(code, [cell.source for cell in every
                             if cell.cell_type == "markdown"])
        for cell in code:
            for name, *now in definitions(cell):
                home, wrong = homes.get(name), []
                if cell.id == REPEATED:
                    if name not in used:
                        wrong += ["is repeated and not used"]
                    if home is None:
                        wrong += ["stands in no earlier chapter"]
                elif home and cell.id != EVERYWHERE:
                    wrong += [f"has its home in {home[0]}"]
                if home and (how := differ(now, home)):
                    wrong += [how]
                homes.setdefault(name, (number, *now))
                found |= {(number, name, what) for what in wrong}
    return found


FOUND = problems({chapter.number: chapter.cells for chapter in chapters()})


@each_chapter
def test_what_is_repeated_is_used_and_the_same(chapter):
    assert not {problem for problem in FOUND
                if problem[0] == chapter.number}


def cell(source, id="new"):
    return SimpleNamespace(source=source, id=id, cell_type=(
        "markdown" if source.startswith("#") else "code"))


ONE = "def f(x):\n    return g(x)  # g first"
TWO = "def g(x):\n    return 2 * x"


@pytest.mark.parametrize("home, repeated, rest, wrong", [
    ([ONE, TWO], [ONE, TWO], "f(3)", set()),
    ([ONE, TWO], [ONE.replace("# g first", "# why"), TWO], "f(3)",
     {("f", "has other comments or lines than in 01")}),
    ([ONE, TWO], [ONE, TWO.replace("2", "3")], "f(3)",
     {("g", "differs from 01")}),
    ([ONE, TWO.replace("def g", "def twice")], [ONE, TWO], "f(3)",
     {("g", "stands in no earlier chapter")}),
    ([ONE, TWO], [ONE, TWO], "g(3)", {("f", "is repeated and not used")}),
    ([ONE, TWO], [ONE, TWO], "", {("f", "is repeated and not used"),
                                  ("g", "is repeated and not used")}),
    ([ONE, TWO], [ONE, TWO], "# Write what `f(x)` does.", set()),
    ([ONE, TWO], [ONE, TWO], "# Write what `g(x)` does, not f.",
     {("f", "is repeated and not used")}),
    ([ONE, TWO], [], TWO, {("g", "has its home in 01")}),
    ([ONE, TWO], [], "@cache\n" + TWO, {("g", "has its home in 01"),
                                        ("g", "differs from 01")}),
])
def test_problems_are_seen(home, repeated, rest, wrong):
    book = {"01": [cell("\n\n".join(home))],
            "02": [cell("\n\n".join(repeated), REPEATED), cell(rest)]}
    assert problems(book) == {("02", *what) for what in wrong}
