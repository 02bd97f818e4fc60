"""What an edition for students leaves out, and what it says instead.

`prepared` makes what an edition is graded by, `stripped` what students get.
Both are in nbgrader's format: it makes the same edition of the first.
"""

import copy
import hashlib
import json
import re
from datetime import datetime, timezone

from nbformat import NotebookNode

from course.code import Cell
from course.edition import git, version
from course.paths import ROOT

STUB = "raise NotImplementedError  # yours"
SOLUTION = re.compile(r"(?ms)^( *)### BEGIN SOLUTION$.*?^ *### END SOLUTION$")
HIDDEN = re.compile(
    r"(?ms)\n? *### BEGIN HIDDEN TESTS$.*?^ *### END HIDDEN TESTS$")
TAKEN = """\
What counts is your solution cells, and the functions, imports and values of
your own cells that they use. Not taken: values that cells of the lesson make,
IPython's lines (`%`, `!`, `?`), cells like `%%bash`, cells above 100 kB, and
packages other than NumPy, PyTorch and Matplotlib."""
MARK = re.compile(r"(?m)^ *### (?:BEGIN|END) .*")
PAPER = re.compile(r"(?s)\s*<details>.*?</details>")
LINK = re.compile(r"\[([^\]]+)\]\((\w+)\.(?:ipynb|md)(#[^)\s]*)?\)")


def label(notebook: NotebookNode) -> str:
    """Of an edition: the course's version, and seven digits of its content."""
    content = json.dumps([[cell.source, cell.metadata.get("nbgrader")]
                          for cell in notebook.cells], sort_keys=True)
    digits = hashlib.sha256(content.encode()).hexdigest()[:7]
    return f"{version(ROOT)}-{digits}"


def linked(source: str, site: str) -> str:
    """Links to other pages of the book, made links to the site.

    An edition lies alone: where no site is known, their words are left.
    """
    site = site.rstrip("/")
    return LINK.sub(lambda link: (
        f"[{link[1]}]({site}/book/{link[2]}.html{link[3] or ''})"
        if site else link[1]), source)


def unfold(cell: Cell) -> None:
    """A student writes in this cell: it has no title, and stands open."""
    cell.source = re.sub(r"^# @title .*\n", "", cell.source)
    for fold in ("cellView", "mystnb", "tags"):
        cell.metadata.pop(fold, None)


def lock(cell: Cell) -> None:
    """An editor keeps what nbgrader names, and changes solutions only."""
    if not cell.metadata.get("nbgrader"):
        return
    cell.metadata.deletable = False
    if not cell.metadata.nbgrader.get("solution"):
        cell.metadata.editable = False


def prepared(notebook: NotebookNode, site: str = "") -> NotebookNode:
    """A copy that says which edition it is, with answers and hidden tests."""
    made = copy.deepcopy(notebook)
    for cell in made.cells:
        if cell.cell_type == "markdown":
            cell.source = linked(PAPER.sub("", cell.source), site)
            continue
        cell.outputs, cell.execution_count = [], None
        if cell.metadata.get("nbgrader", {}).get("solution"):
            unfold(cell)
    made.cells[0].source += f"\n\n{TAKEN}\n\nEdition {label(notebook)}"
    made.metadata.edition = {
        "made": datetime.now(timezone.utc).isoformat(),
        "commit": git(ROOT, "describe", "--always", "--dirty").strip()}
    return made


def stripped(notebook: NotebookNode) -> NotebookNode:
    """A copy without answers and hidden tests.

    Raises ValueError where a mark has no partner: what it hides would be seen.
    """
    made = copy.deepcopy(notebook)
    for cell in made.cells:
        lock(cell)
        if cell.cell_type != "code":
            continue
        cell.source = HIDDEN.sub("", SOLUTION.sub(rf"\1{STUB}", cell.source))
        if left := MARK.search(cell.source):
            raise ValueError(f"cell {cell.id}: {left[0].strip()} stands alone")
    return made
