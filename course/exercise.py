"""An exercise: its caption and promises, and its four cells.

Statement, solution, check and grade stand in this order, under the caption
`**Exercise 4.1** (derive; 10 minutes; difficulty 2; 2 points).`; the number is
in the id and the grade_id of the last three.
"""

import ast
import inspect
import re
from collections import Counter
from collections.abc import Iterable
from textwrap import indent

import nbformat

from course.chapter import Chapter
from course.code import Cell, used

CAPTION = re.compile(r"\*\*Exercise (\d+\.\d+)\*\*")
TERMS = re.compile(
    r"\*\*Exercise (?P<number>\d+\.\d+)\*\* \((?P<kind>[a-z ,]+);"
    r" (?P<minutes>\d+) minutes; difficulty (?P<difficulty>[123]);"
    r" (?P<points>\d+) points?\)")
PROMISES = re.compile(r"(?m)^Promises: (.+)$")
MARK = re.compile(r"(?m)^ *### BEGIN (SOLUTION|HIDDEN TESTS)")
BODY = re.compile(r"(?s) *### BEGIN SOLUTION\n(.*?) *### END SOLUTION")
PARTS = "solution", "check", "grade"
OWN_CELL = re.compile(rf"({'|'.join(PARTS)})-(\d+)-(\d+)")


def grade_id(cell: Cell) -> str | None:
    """The name that nbgrader knows a cell by; None if it knows none."""
    name: str | None = cell.metadata.get("nbgrader", {}).get("grade_id")
    return name


def is_marked(cell: Cell) -> bool:
    """Does it hold a solution or hidden tests between marks?"""
    return cell.cell_type == "code" and bool(MARK.search(cell.source))


def captioned(notebook: nbformat.NotebookNode
              ) -> list[tuple[str | None, list[str]]]:
    """(number, ids of its cells from a solution or a grade on), in order."""
    groups: list[tuple[str | None, list[str]]] = [(None, [])]
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            groups += [(number, []) for number in CAPTION.findall(cell.source)]
            continue
        nbgrader = cell.metadata.get("nbgrader", {})
        _, parts = groups[-1]
        if (nbgrader.get("solution") or nbgrader.get("grade")
                or is_marked(cell) or (parts and nbgrader)):
            parts.append(grade_id(cell) or cell.id)
    return groups


def numbers(notebook: nbformat.NotebookNode) -> list[str | None]:
    """The exercises, by caption, under which a cell is graded or marked so.

    Not by id: a pasted cell has a new one.
    """
    return [number for number, parts in captioned(notebook) if parts]


def faults(notebook: nbformat.NotebookNode, chapter: str) -> list[str]:
    """What keeps the exercises of `chapter` ("04") from being found."""
    wrong = [f"grade_id {name} stands {times} times" for name, times in
             Counter(map(grade_id, notebook.cells)).items()
             if name and times > 1]
    wrong += [f"id {cell.id}, but grade_id {grade_id(cell)}"
              for cell in notebook.cells
              if grade_id(cell) not in (None, cell.id)]
    wrong += [f"no nbgrader metadata: {cell.id}" for cell in notebook.cells
              if is_marked(cell) and grade_id(cell) is None]
    captions = CAPTION.findall("\n\n".join(
        cell.source for cell in notebook.cells
        if cell.cell_type == "markdown"))
    wrong += [f"exercise {number} in chapter {chapter}" for number in captions
              if int(number.partition(".")[0]) != int(chapter)]
    wrong += [f"exercise {number} is stated {times} times"
              for number, times in Counter(captions).items() if times > 1]
    for name, parts in captioned(notebook):
        suffix = (name or "?").replace(".", "-")
        order = [f"{part}-{suffix}" for part in PARTS]
        if parts and parts != order:
            wrong.append(f"under exercise {name}: {', '.join(parts)}")
    return wrong


def trio(cells: Iterable[Cell], number: str) -> list[Cell]:
    """The solution, check and grade cells of an exercise. Raises KeyError."""
    by_name = {grade_id(cell): cell for cell in cells}
    suffix = number.replace(".", "-")
    return [by_name[f"{part}-{suffix}"] for part in PARTS]


def with_body(source: str, body: str) -> str:
    """The solution cell `source` with `body` between its marks."""
    return BODY.sub(lambda _: indent(body, "    "), source)


class Exercise:
    """An exercise of a chapter.

    Raises ValueError: its caption is out of form.
    """

    def __init__(self, chapter: Chapter, number: str) -> None:
        self.chapter, self.number = chapter, number
        self.solution, self.check, self.grade = trio(chapter.code, number)
        self.statement: str = next(
            cell.source for cell in chapter.markdown
            if f"**Exercise {number}**" in cell.source)
        terms = TERMS.search(self.statement)
        if terms is None:
            raise ValueError(f"exercise {number}: its caption does not say"
                             " (kind; minutes; difficulty; points)")
        self.kind = terms["kind"]
        self.minutes, self.difficulty, self.stated_points = map(
            int, terms.group("minutes", "difficulty", "points"))
        self.points: float = self.grade.metadata.nbgrader.points
        self.name = next(node.name        # of the function that it asks for
                         for node in ast.parse(self.solution.source).body
                         if isinstance(node, ast.FunctionDef))
        line = PROMISES.search(self.statement)
        self.promises = {*line[1].rstrip(".").split("; ")} if line else set()

    @property
    def body(self) -> str:
        """The lines between the marks of its solution."""
        marked = BODY.search(self.solution.source)
        return inspect.cleandoc("\n" + marked[1]) if marked else ""

    def borrowed(self) -> set[str]:
        """Functions of the lesson that check and grade lean on.

        A student may have edited them: both carry what they compare with.
        """
        tree = ast.parse(f"{self.check.source}\n{self.grade.source}")
        own = {node.name for node in tree.body
               if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        lesson = {node.name for cell in self.chapter.code
                  for node in ast.parse(cell.source).body
                  if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        return (used(tree) & lesson) - own - {self.name, "close", "verdict"}


def exercises(chapter: Chapter) -> list[Exercise]:
    """The exercises of a chapter, in order."""
    return [Exercise(chapter, number)
            for number in numbers(chapter.notebook) if number]
