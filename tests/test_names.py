"""A function that several chapters repeat is the same in all of them.

A chapter defines what is new in it where it is explained, and repeats what it
needs from earlier ones in the cell `earlier-code`, to the letter.
"""

import ast

import pytest
from chapters import CHAPTERS, cells, each_chapter

REPEATED = "earlier-code"
EVERYWHERE = "verdict"                  # every chapter has this cell

# Known; this only shrinks.
KNOWN = {
    ("12", "over_rms", "is repeated and not used"),
    ("13", "attention_weights", "has other comments or lines than in 08"),
    ("13", "embed", "has other comments or lines than in 07"),
    ("21", "attention_weights", "has other comments or lines than in 08"),
    ("21", "embed", "has other comments or lines than in 07"),
}


def definitions(cell):
    """The functions and classes of a cell: name, syntax tree, lines."""
    lines = cell.source.splitlines()
    for node in ast.parse(cell.source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            first = min(part.lineno for part in [node, *node.decorator_list])
            yield node.name, node, lines[first - 1:node.end_lineno]


def names(tree):
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def needed(code):
    """What the cells use, or what they use uses."""
    repeated = {name: node for cell in code if cell.id == REPEATED
                for name, node, _ in definitions(cell)}
    asked = {name for cell in code if cell.id != REPEATED
             for name in names(ast.parse(cell.source))}
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
    """Of {"04": its code cells, ...}: {(chapter, name, what is wrong)}."""
    homes, found = {}, set()
    for number, code in sorted(chapters.items()):
        used = needed(code)
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


FOUND = problems({path.name[:2]: cells(path, "code") for path in CHAPTERS})


@each_chapter
def test_what_is_repeated_is_used_and_the_same(path):
    assert not {problem for problem in FOUND - KNOWN
                if problem[0] == path.name[:2]}


def test_known_problems_are_still_there():
    assert KNOWN <= FOUND


class Cell:
    def __init__(self, source, id="new"):
        self.source, self.id = source, id


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
    ([ONE, TWO], [], TWO, {("g", "has its home in 01")}),
    ([ONE, TWO], [], "@cache\n" + TWO, {("g", "has its home in 01"),
                                        ("g", "differs from 01")}),
])
def test_problems_are_seen(home, repeated, rest, wrong):
    book = {"01": [Cell("\n\n".join(home))],
            "02": [Cell("\n\n".join(repeated), REPEATED), Cell(rest)]}
    assert problems(book) == {("02", *what) for what in wrong}
