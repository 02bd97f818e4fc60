"""A chapter: its notebook, its sections, and the functions that it defines."""

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from types import CodeType, SimpleNamespace

import nbformat

from course.code import KEPT, Cell
from course.paths import chapter_path, chapter_paths

TAIL = "Deeper", "Exercises", "References", "Summary"
CLOSING = "What we have, and what still hurts"
PLAIN = "Setup", "Pitfalls", "In PyTorch", CLOSING
FOLDED = {"hide-input", "hide-cell", "remove-cell", "remove-input"}
TITLE = re.compile(r"# @title (.*)")
CHECK = re.compile(r"# @title (?:Check|How we know): (.*)")
HEADING = re.compile(r"(?m)^(##+) (.+?)\s*$")
DETAILS = re.compile(r"(?s)<details>.*?</details>")


def is_folded(cell: Cell) -> bool:
    """Does the page keep the cell's code out of sight?"""
    return bool(FOLDED & {*cell.metadata.get("tags", [])})


def code_lines(cell: Cell) -> int:
    """How many lines of code a cell has, blank ones left out."""
    return len([line for line in cell.source.split("\n") if line.strip()])


def has_picture(cell: Cell) -> bool:
    """Does a cell show a picture?"""
    return any("image/png" in output.get("data", {})
               for output in cell.get("outputs", []))


def printed(cell: Cell) -> str:
    """What a code cell prints."""
    return "".join(output.get("text", "")
                   for output in cell.get("outputs", []))


def alt_text(cell: Cell) -> str:
    """The words for those who cannot see its picture."""
    return str(cell.metadata.get("mystnb", {}).get("image", {}).get("alt", ""))


@dataclass
class Section:
    """A heading, its level (2 or 3), and the cells down to the next one."""

    heading: str
    level: int = 2
    cells: list[Cell] = field(default_factory=list)

    @property
    def counts(self) -> bool:
        """Do its words and lines count as the chapter's?"""
        return not self.heading.startswith(TAIL)

    @property
    def is_topic(self) -> bool:
        """Is it about the chapter's subject, not its frame?"""
        return self.counts and self.heading not in ("", *PLAIN)

    def prose(self) -> str:
        """Its Markdown, answers included."""
        return "\n\n".join(cell.source for cell in self.cells
                           if cell.cell_type == "markdown")

    def code(self) -> list[Cell]:
        """Its code cells."""
        return [cell for cell in self.cells if cell.cell_type == "code"]

    def words(self) -> int:
        """Of its prose, folded answers left out."""
        return len(DETAILS.sub("", self.prose()).split())

    def lines(self) -> int:
        """Of its visible code."""
        return sum(map(code_lines, self.visible()))

    def visible(self) -> list[Cell]:
        """Its code cells that the page shows open."""
        return [cell for cell in self.code() if not is_folded(cell)]

    def figures(self) -> int:
        """How many of its cells show a picture."""
        return sum(map(has_picture, self.cells))


def sections(cells: Iterable[Cell], deepest: int = 2) -> list[Section]:
    """What stands above the first heading (heading ""), then each section.

    deepest: 3 to begin a section at each "### " as well.
    """
    parts = [Section("", level=1)]
    for cell in cells:
        if cell.cell_type == "markdown":
            parts += [Section(heading, len(marks))
                      for marks, heading in HEADING.findall(cell.source)
                      if len(marks) <= deepest]
        parts[-1].cells.append(cell)
    return parts


class Chapter:
    """The notebook of a chapter, at `path`."""

    def __init__(self, path: Path) -> None:
        self.path, self.number, self.name = path, path.name[:2], path.stem

    def __repr__(self) -> str:
        return self.name

    @cached_property
    def notebook(self) -> nbformat.NotebookNode:
        """The notebook as it is stored; not to be changed."""
        return nbformat.read(self.path, as_version=4)

    @property
    def cells(self) -> list[Cell]:
        """All its cells."""
        cells: list[Cell] = self.notebook.cells
        return cells

    @property
    def code(self) -> list[Cell]:
        """Its code cells."""
        return [cell for cell in self.cells if cell.cell_type == "code"]

    @property
    def markdown(self) -> list[Cell]:
        """Its Markdown cells."""
        return [cell for cell in self.cells if cell.cell_type == "markdown"]

    def cell(self, name: str) -> Cell:
        """The cell with this id. Raises KeyError."""
        for cell in self.cells:
            if cell.id == name:
                return cell
        raise KeyError(f"{self.name} has no cell {name}")

    @property
    def heading(self) -> str:
        """Its first line, as in "04. Layer normalization: why so?"."""
        line: str = self.cells[0].source.partition("\n")[0]
        return line.removeprefix("# ")

    @property
    def title(self) -> str:
        """Its heading without number and what stands behind a colon."""
        return self.heading.partition(":")[0].partition(". ")[2]

    @property
    def prose(self) -> str:
        """All its Markdown."""
        return "\n\n".join(cell.source for cell in self.markdown)

    @cached_property
    def sections(self) -> list[Section]:
        """Its opening (heading ""), then each "## " with its cells."""
        return sections(self.cells)

    @cached_property
    def definitions(self) -> CodeType:
        """Its imports, functions and classes, compiled."""
        tree = ast.parse("\n".join(cell.source for cell in self.code))
        tree.body = [node for node in tree.body if isinstance(node, KEPT)]
        return compile(tree, self.path.name, "exec")


@cache
def chapter(number: str) -> Chapter:
    """Chapter `number` ("04"). Raises ValueError."""
    return Chapter(chapter_path(number))


@cache
def chapters(*numbers: str) -> tuple[Chapter, ...]:
    """Those with these numbers, or all, in order. Raises ValueError."""
    return tuple(map(chapter, numbers or [
        path.name[:2] for path in chapter_paths()]))


def functions(number: str) -> SimpleNamespace:
    """What chapter `number` ("04") defines, by name, without running it."""
    names: dict[str, object] = {}
    exec(chapter(number).definitions, names)
    return SimpleNamespace(**names)
