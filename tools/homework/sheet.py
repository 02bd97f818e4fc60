"""A homework sheet: some exercises of a chapter, and what they need to run."""

import ast
import copy
import re
from dataclasses import dataclass
from datetime import date

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course.answers import AnsweredExercise
from course.chapter import Chapter
from course.code import Cell, definitions, needed, used
from course.exercise import PARTS, numbers
from tools.homework import variants
from tools.homework.variants import Impossible

NAMED = re.compile(r"`(\w+)`|\b(\w+)\(")
TITLE = """# {title}: homework

{due}{points:g} points, about {minutes} minutes.

| exercise | to do | minutes | points |
|---|---|---|---|
{table}

What you need is in the chapter [{title}]({stem}.ipynb); numbers like
({number}.2) are its equations. Run the cells from top to bottom. Write where it
says `# yours`, and run the check below it as often as you like. Further tests
give the points. {paper}Hand in this notebook."""
PAPER = "A derivation is read as well, and has a level from 0 to 3. "
ON_PAPER = """**Your derivation for {number}.** Double-click here and type it,
with formulas between dollars; or put a photograph of your page into this
cell."""
FOLDED = {"cellView": "form", "tags": ["hide-input"]}


@dataclass
class Task:
    """An exercise as it is set: the book's own, or a variant of it."""

    exercise: AnsweredExercise
    cells: list[Cell]                   # statement, solution, check, grade
    variant: variants.Made | None

    @property
    def is_derived(self) -> bool:
        """Is a derivation handed in beside the code?"""
        return "derive" in self.exercise.kind


@dataclass
class Sheet:
    """Some exercises of a chapter with a date, as a notebook."""

    chapter: Chapter
    notebook: NotebookNode
    due: str
    tasks: list[Task]

    @property
    def points(self) -> float:
        """Of all its exercises."""
        return sum(task.exercise.points for task in self.tasks)

    @property
    def minutes(self) -> int:
        """Of all its exercises."""
        return sum(task.exercise.minutes for task in self.tasks)


def chosen(chapter: Chapter, only: str | None) -> list[str]:
    """The numbers asked for, in the order of the chapter."""
    there = [number for number in numbers(chapter.notebook) if number]
    asked = re.split(r"[,\s]+", only.strip()) if only else there
    if unknown := [number for number in asked if number not in there]:
        raise Impossible(f"{chapter.name} has no exercise"
                         f" {', '.join(unknown)}: it has {', '.join(there)}")
    return [number for number in there if number in asked]


def day(due: str) -> str:
    """A date as it is read."""
    try:
        parsed = date.fromisoformat(due)
    except ValueError:
        raise Impossible(f"DUE={due} is no date: year, month and day, as in"
                         " DUE=2027-01-15") from None
    return f"{parsed.day} {parsed:%B %Y}"


def cell_ids(number: str) -> list[str]:
    """Of an exercise: statement, solution, check, grade."""
    suffix = number.replace(".", "-")
    return [f"{part}-{suffix}" for part in ("exercise", *PARTS)]


def task(chapter: Chapter, number: str, term: str | None) -> Task:
    """One exercise; a variant of it where there is one and a term asks."""
    exercise = AnsweredExercise(chapter, number)
    parts = [copy.deepcopy(chapter.cell(name)) for name in cell_ids(number)]
    made = None
    if term and exercise.variant:
        made = variants.make(exercise, term, variants.seed())
        for cell, source in zip(parts, made.sources, strict=True):
            cell.source = source
    return Task(exercise, parts, made)


def setup(chapter: Chapter, tasks: list[Task]) -> str:
    """The part of the lesson that these exercises need, as it stands there."""
    names = used(ast.parse(chapter.cell("verdict").source))
    for task in tasks:
        statement, *code = (cell.source for cell in task.cells)
        names.update(map("".join, NAMED.findall(statement)))
        for source in code:             # what a docstring names as well
            names.update(re.findall(r"\w+", source))
    own = {"verdict", *(name for number in numbers(chapter.notebook)
                        for name in cell_ids(number or ""))}
    lesson = [cell.source for cell in chapter.code if cell.id not in own]
    text = {definition.name: definition.text for source in lesson
            for definition in definitions(source)}
    nodes = needed(names, [node for source in lesson
                           for node in ast.parse(source).body])
    imports = dict.fromkeys(
        ast.unparse(node) for node in nodes
        if isinstance(node, ast.Import | ast.ImportFrom))
    return "\n\n\n".join(["\n".join(imports), *(
        text[node.name] for node in nodes
        if isinstance(node, ast.FunctionDef | ast.ClassDef))])


def opening(sheet: Sheet) -> str:
    """What stands on top of it."""
    rows = (f"| {exercise.number} | {exercise.kind} | {exercise.minutes} |"
            f" {exercise.points:g} |"
            for exercise in (task.exercise for task in sheet.tasks))
    return TITLE.format(
        title=sheet.chapter.heading, table="\n".join(rows),
        due=f"**Due on {sheet.due}.** " if sheet.due else "",
        points=sheet.points, minutes=sheet.minutes,
        stem=sheet.chapter.name, number=int(sheet.chapter.number),
        paper=PAPER if any(task.is_derived for task in sheet.tasks) else "")


def make(chapter: Chapter, only: str | None, due: str | None,
         term: str | None) -> Sheet:
    """The sheet of these exercises, with answers and hidden tests."""
    tasks = [task(chapter, number, term) for number in chosen(chapter, only)]
    verdict = copy.deepcopy(chapter.cell("verdict"))
    if any(task.variant for task in tasks):
        verdict.source += f"\n\n\n{variants.comparison()}"
    sheet = Sheet(chapter, new_notebook(metadata=chapter.notebook.metadata),
                  day(due) if due else "", tasks)
    sheet.notebook.cells = [
        new_markdown_cell(opening(sheet), id="opening"),
        new_code_cell(f"# @title Setup: from the chapter\n"
                      f"{setup(chapter, tasks)}", id="setup", metadata=FOLDED),
        verdict]
    for one in tasks:
        statement, *code = one.cells
        number = one.exercise.number
        paper = new_markdown_cell(ON_PAPER.format(number=number),
                                  id=f"paper-{number.replace('.', '-')}")
        sheet.notebook.cells += [statement, *[paper] * one.is_derived, *code]
    return sheet
