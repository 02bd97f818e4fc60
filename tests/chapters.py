"""What the tests ask of a chapter: its cells, functions and exercises."""

import ast
import re
from collections import Counter
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

CAPTION = re.compile(r"\*\*Exercise (\d+\.\d+)\*\*")
MARK = re.compile(r"(?m)^ *### BEGIN (SOLUTION|HIDDEN TESTS)")
PARTS = "solution", "check", "grade"
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
    return graded(notebook(path))


def graded(notebook):
    """The exercises, by caption, under which a cell is graded or marked so.

    Not by id: a pasted cell has a new one.
    """
    return [number for number, parts in _parts(notebook) if parts]


def misnamed(notebook, chapter):
    """What keeps the exercises of `chapter` ("04") from being found, in words.

    Each has one solution, check and grade, in this order, under its caption;
    the number of the caption is in the id and the grade_id of all three.
    """
    wrong = [f"grade_id {name} stands {times} times" for name, times in
             Counter(map(_grade_id, notebook.cells)).items()
             if name and times > 1]
    wrong += [f"id {cell.id}, but grade_id {_grade_id(cell)}"
              for cell in notebook.cells
              if _grade_id(cell) not in (None, cell.id)]
    wrong += [f"no nbgrader metadata: {cell.id}" for cell in notebook.cells
              if _marked(cell) and _grade_id(cell) is None]
    captions = CAPTION.findall("\n\n".join(
        cell.source for cell in notebook.cells
        if cell.cell_type == "markdown"))
    wrong += [f"exercise {number} in chapter {chapter}" for number in captions
              if int(number.partition(".")[0]) != int(chapter)]
    wrong += [f"exercise {number} is stated {times} times"
              for number, times in Counter(captions).items() if times > 1]
    for number, parts in _parts(notebook):
        suffix = (number or "?").replace(".", "-")
        asked = [f"{kind}-{suffix}" for kind in PARTS]
        if parts and parts != asked:
            wrong.append(f"under exercise {number}: {', '.join(parts)}")
    return wrong


def _grade_id(cell):
    return cell.metadata.get("nbgrader", {}).get("grade_id")


def _marked(cell):
    return cell.cell_type == "code" and MARK.search(cell.source)


def _parts(notebook):
    """(number, ids of its cells, from a solution or a grade on), in order."""
    found = [(None, [])]
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            found += [(number, []) for number in CAPTION.findall(cell.source)]
            continue
        nbgrader = cell.metadata.get("nbgrader", {})
        _, parts = found[-1]
        if (nbgrader.get("solution") or nbgrader.get("grade") or _marked(cell)
                or (parts and nbgrader)):
            parts.append(_grade_id(cell) or cell.id)
    return found


def trio(code, exercise):
    """The solution, check and grade cells of an exercise."""
    of = {_grade_id(cell): cell for cell in code}
    number = exercise.replace(".", "-")
    return [of[f"{kind}-{number}"] for kind in PARTS]


def answers(path):
    """Its right answers, its wrong ones, and those that only the grade sees."""
    given = run_path(HERE / "exercises" / f"chapter_{path.name[:2]}.py")
    return given["RIGHT"], given["WRONG"], given["HIDDEN"]


def answer(source, body):
    """The solution cell `source` with `body` between its marks."""
    marked = r"(?s) *### BEGIN SOLUTION\n.*?### END SOLUTION"
    return re.sub(marked, lambda _: indent(body, "    "), source)
