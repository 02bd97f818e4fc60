"""What the tests ask of a chapter: its cells, functions and exercises."""

import ast
import re
from functools import cache
from pathlib import Path
from runpy import run_path
from textwrap import indent
from types import SimpleNamespace

import nbformat
import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent
BOOK = ROOT / "book"
CHAPTERS = sorted(BOOK.glob("[0-9][0-9]_*.ipynb"))
each_chapter = pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)

NEEDED = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef


@cache
def notebook(path):
    return nbformat.read(path, as_version=4)


def cells(path, kind):
    return [cell for cell in notebook(path).cells if cell.cell_type == kind]


@cache
def definitions(path):
    """The imports, functions and classes of a chapter, compiled."""
    code = "\n".join(cell.source for cell in cells(path, "code"))
    tree = ast.parse(code)
    tree.body = [node for node in tree.body if isinstance(node, NEEDED)]
    return compile(tree, path.name, "exec")


def functions(number):
    """What chapter `number` ("04") defines, by name, without running it."""
    [path] = BOOK.glob(f"{number}_*.ipynb")
    names = {}
    exec(definitions(path), names)
    return SimpleNamespace(**names)


def exercises(path):
    """The numbers of a chapter's coding exercises: "4.1", ..."""
    ids = [cell.id.split("-") for cell in cells(path, "code")]
    return [".".join(rest) for kind, *rest in ids if kind == "grade"]


def trio(code, exercise):
    """The solution, check and grade cells of an exercise."""
    of = {cell.id: cell for cell in code}
    number = exercise.replace(".", "-")
    return [of[f"{kind}-{number}"] for kind in ("solution", "check", "grade")]


def answers(path):
    """Its right answers, its wrong ones, and those that only the grade sees."""
    given = run_path(HERE / "exercises" / f"chapter_{path.name[:2]}.py")
    return given["RIGHT"], given["WRONG"], given["HIDDEN"]


def answer(source, body):
    """The solution cell `source` with `body` between its marks."""
    marked = r"(?s) *### BEGIN SOLUTION\n.*?### END SOLUTION"
    return re.sub(marked, lambda _: indent(body, "    "), source)
