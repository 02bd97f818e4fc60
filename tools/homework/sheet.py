"""A homework sheet: some exercises of a chapter, and what they need to run."""

import ast
import copy
import re
from dataclasses import dataclass
from datetime import date

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course.answers import AnsweredExercise
from course.chapter import Chapter
from course.exercise import numbers
from tools.grading import cells
from tools.homework import variants
from tools.homework.variants import Impossible

CAPTION = re.compile(r"\((?P<kind>[a-z ]+); (?P<minutes>\d+) minutes;[^)]*\)")
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
    kind: str
    minutes: int
    points: float
    cells: list                         # statement, solution, check, grade
    variant: variants.Made | None


@dataclass
class Sheet:
    notebook: nbformat.NotebookNode
    title: str
    due: str
    tasks: list[Task]


def chosen(path, only):
    """The numbers asked for, in the order of the chapter."""
    there = numbers(Chapter(path).notebook)
    asked = re.split(r"[,\s]+", only.strip()) if only else there
    if unknown := [number for number in asked if number not in there]:
        raise Impossible(f"{path.stem} has no exercise {', '.join(unknown)}:"
                         f" it has {', '.join(there)}")
    return [number for number in there if number in asked]


def day(due):
    try:
        found = date.fromisoformat(due)
    except ValueError:
        raise Impossible(f"DUE={due} is no date: year, month and day, as in"
                         " DUE=2027-01-15") from None
    return f"{found.day} {found:%B %Y}"


def task(path, number, term, book):
    """One exercise; a variant of it where there is one and a term asks."""
    exercise = AnsweredExercise(Chapter(path), number)
    suffix = number.replace(".", "-")
    parts = [copy.deepcopy(book[f"{part}-{suffix}"]) for part in (
        "exercise", "solution", "check", "grade")]
    found = CAPTION.search(parts[0].source)
    made = None
    if term and number in variants.TABLE:
        made = variants.make(exercise, term, variants.seed())
        for cell, source in zip(parts, made.sources, strict=True):
            cell.source = source
    return Task(exercise, found["kind"], int(found["minutes"]),
                parts[3].metadata.nbgrader.points, parts, made)


def setup(path, tasks):
    """The part of the lesson that these exercises need, as it stands there."""
    chapter = cells.Chapter(path)
    chapter.exercises = []
    words = []
    for each in tasks:
        statement, *code = (cell.source for cell in each.cells)
        words += [*map("".join, NAMED.findall(statement)), *code]
    own = {name for node in chapter.needed([])
           for name in cells.bound(node)} & {*chapter.judges}
    needed = [node for node in chapter.needed(words)
              if not {*cells.bound(node)} <= own]
    imports = [ast.unparse(node) for node in needed
               if isinstance(node, ast.Import | ast.ImportFrom)]
    rest = [chapter.text[node] for node in needed
            if not isinstance(node, ast.Import | ast.ImportFrom)]
    return "\n\n\n".join(["\n".join(dict.fromkeys(imports)), *rest])


def make(path, only, due, term):
    """The sheet of these exercises, with answers and hidden tests."""
    notebook = nbformat.read(path, as_version=4)
    book = {cell.id: cell for cell in notebook.cells}
    title = notebook.cells[0].source.partition("\n")[0].removeprefix("# ")
    tasks = [task(path, number, term, book) for number in chosen(path, only)]
    due = day(due) if due else ""
    derived = any("derive" in each.kind for each in tasks)
    verdict = copy.deepcopy(book["verdict"])
    if any(each.variant for each in tasks):
        verdict.source += f"\n\n\n{variants.comparison()}"
    found = [
        new_markdown_cell(TITLE.format(
            title=title, due=f"**Due on {due}.** " if due else "",
            points=sum(each.points for each in tasks),
            minutes=sum(each.minutes for each in tasks),
            table="\n".join(
                f"| {each.exercise.number} | {each.kind} | {each.minutes} |"
                f" {each.points:g} |" for each in tasks),
            stem=path.stem, number=int(path.name[:2]),
            paper=PAPER if derived else ""), id="opening"),
        new_code_cell(f"# @title Setup: from the chapter\n"
                      f"{setup(path, tasks)}", id="setup", metadata=FOLDED),
        verdict]
    for each in tasks:
        number = each.exercise.number
        statement, *rest = each.cells
        found.append(statement)
        if "derive" in each.kind:
            found.append(new_markdown_cell(
                ON_PAPER.format(number=number),
                id=f"paper-{number.replace('.', '-')}"))
        found += rest
    for cell in found:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return Sheet(new_notebook(cells=found, metadata=notebook.metadata),
                 title, due, tasks)
