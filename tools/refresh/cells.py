"""The cells of a notebook that nobody writes by hand.

`earlier-code` repeats, word for word, the functions of earlier chapters that a
chapter uses; `verdict` holds course/verdict.py; `kite-weights`, where a chapter
has it, the weights of the trained kite model. A fold's words are its title, so
no other words for it are kept.
"""

import ast
import base64
import inspect
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

import course.verdict
from course.chapter import Chapter
from course.code import (
    Cell,
    Definition,
    bound,
    closure,
    definitions,
    reads_and_defines,
)
from course.exercise import CAPTION, OWN_CELL, numbers
from course.paths import ROOT

EARLIER, VERDICT, IMPORTS = "earlier-code", "verdict", "imports"
WEIGHTS, KITE_MODEL = "kite-weights", ROOT / "experiments" / "kite_model.npz"
TITLE = "From earlier chapters, unchanged"
SPAN = re.compile(r"`+([^`]+)`+")
FOLDED = {"cellView": "form", "tags": ["hide-input"]}
LOCKED = {"grade": False, "grade_id": VERDICT, "locked": True,
          "schema_version": 3, "solution": False, "task": False}
KEPT = {"cellView", "mystnb", "nbgrader", "slideshow", "tags"}
PROMPTS = "code_prompt_show", "code_prompt_hide"


@dataclass(frozen=True)
class Home:
    """Where a name is defined, and the imports that its chapter has."""

    chapter: str
    definition: Definition
    imports: dict[str, str]             # {name: the statement that binds it}


def code(cells: Iterable[Cell]) -> Iterator[Cell]:
    """The code cells that a chapter's author writes."""
    return (cell for cell in cells if cell.cell_type == "code"
            and cell.id not in (EARLIER, VERDICT, WEIGHTS))


def imported(cells: Iterable[Cell]) -> dict[str, str]:
    """{name: the statement that imports it} of some cells."""
    statements: dict[str, str] = {}
    for cell in cells:
        for node in ast.parse(cell.source).body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                for alias, name in zip(node.names, bound(node), strict=True):
                    one = (ast.Import([alias]) if isinstance(node, ast.Import)
                           else ast.ImportFrom(node.module, [alias], 0))
                    statements.setdefault(name, ast.unparse(one))
    return statements


def homes(chapters: Iterable[tuple[str, list[Cell]]]) -> dict[str, list[Home]]:
    """{name: its homes} of (number, cells), in the order of the book.

    A name has one home, but for a function that grows: attention, and then
    attention with a mask.
    """
    known: dict[str, list[Home]] = {}
    for number, cells in chapters:
        own = [*code(cells)]
        imports = imported(own)
        for cell in own:
            if not OWN_CELL.fullmatch(cell.id):
                for definition in definitions(cell.source):
                    of_name = known.setdefault(definition.name, [])
                    if not of_name or of_name[-1].chapter != number:
                        of_name.append(Home(number, definition, imports))
    return known


def before(number: str, known: dict[str, list[Home]]) -> dict[str, Home]:
    """{name: its latest home} in the chapters before this one."""
    return {name: earlier[-1] for name, all_homes in known.items()
            if (earlier := [home for home in all_homes
                            if home.chapter < number])}


def asked(cells: list[Cell]) -> set[str]:
    """The names that a chapter's code reads, or the statement of an exercise
    has in backticks, and that it does not define."""
    read, defined = set(), set()
    for cell in code(cells):
        reads, defines = reads_and_defines(cell.source)
        read |= reads
        defined |= defines
    read |= {name for cell in cells if cell.cell_type == "markdown"
             and CAPTION.search(cell.source)
             for span in SPAN.findall(cell.source)
             for name in re.findall(r"\w+", span)}
    return read - defined


def import_order(statement: str) -> tuple[bool, str]:
    """`import` before `from`, as ruff wants it."""
    return statement.startswith("from"), statement


def earlier(number: str, cells: list[Cell],
            known: dict[str, list[Home]]) -> str:
    """The source of the cell with functions of earlier chapters, or ""."""
    there_before = before(number, known)
    names = closure(asked(cells) & there_before.keys(), {
        name: home.definition.needs for name, home in there_before.items()})
    taken = [home for name, home in there_before.items() if name in names]
    if not taken:
        return ""
    there = imported(cell for cell in cells if cell.id == IMPORTS)
    lacking = {home.imports[name] for home in taken
               for name in home.definition.needs - there.keys()
               if name in home.imports}
    return "\n".join([f"# @title {TITLE}", *sorted(lacking, key=import_order),
                      *["\n"] * bool(lacking),
                      "\n\n\n".join(home.definition.text for home in taken)])


def judge() -> str:
    """The source of the cell `verdict`."""
    source = inspect.getsource(course.verdict)
    imports, _, body = source.partition("import numpy as np\n")
    imports = imports[imports.rindex('"""') + 3:].strip()
    body = body.partition("\n\n\n")[2].rstrip()
    return f"# @title {course.verdict.TITLE}\n{imports}\n\n\n{body}"


def weights() -> str:
    """The source of the cell `kite-weights`."""
    packed = base64.encodebytes(KITE_MODEL.read_bytes()).decode().rstrip()
    return f'''# @title The weights of the trained kite model (no need to read)
import base64
import io


def kite_weights():
    """What chapter 14 trained: {{name: float32 array}}, kept in float16."""
    packed = """
{packed}
"""
    with np.load(io.BytesIO(base64.b64decode(packed))) as arrays:
        return {{name: arrays[name].astype(np.float32) for name in arrays}}'''


def put(cells: list[Cell], name: str, source: str, behind: str) -> list[Cell]:
    """The cells with this source in the cell `name`: where it stands, or
    behind another one; without it where the source is empty."""
    if not source:
        return [cell for cell in cells if cell.id != name]
    for cell in cells:
        if cell.id == name:
            cell.source = source
            return cells
    at = [cell.id for cell in cells].index(behind) + 1
    return [*cells[:at], new_code_cell(source, id=name, metadata=FOLDED),
            *cells[at:]]


def tidy(cell: Cell) -> None:
    """Keep the metadata that somebody uses."""
    cell.metadata = NotebookNode({key: value for key, value
                                  in cell.metadata.items() if key in KEPT})
    for prompt in PROMPTS:
        cell.metadata.get("mystnb", {}).pop(prompt, None)
    if not cell.metadata.get("mystnb", True):
        del cell.metadata["mystnb"]


def write(number: str, notebook: NotebookNode,
          known: dict[str, list[Home]]) -> None:
    """Write the generated cells of a notebook, in place."""
    cells = put(notebook.cells, EARLIER,
                earlier(number, notebook.cells, known), IMPORTS)
    if any(numbers(notebook)):
        cells = put(cells, VERDICT, judge(), "exercises")
        for cell in cells:
            if cell.id == VERDICT:
                cell.metadata["nbgrader"] = LOCKED
    for cell in cells:
        if cell.id == WEIGHTS:
            cell.source = weights()
        tidy(cell)
    notebook.cells = cells


def book_homes(chapters: Iterable[Chapter]) -> dict[str, list[Home]]:
    """The homes of all names that the chapters define."""
    return homes((chapter.number, chapter.cells) for chapter in chapters)
