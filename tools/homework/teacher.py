"""The teacher's sheet beside a homework sheet: what to expect, what to give."""

import copy
from html import escape

from tools import prose
from tools.grading import report
from tools.homework.comparison import first_wrong

STYLE = report.STYLE + """
table { border-collapse: collapse; width: 100%; font-size: .9375rem }
th, td { text-align: left; vertical-align: top;
  padding: .375rem .75rem .375rem 0; border-bottom: 1px solid var(--line) }
td:first-child { width: 35% }
@media print { body { margin: 0; max-width: none; font-size: 10pt }
  pre { white-space: pre-wrap } h2, h3 { break-after: avoid }
  tr, pre { break-inside: avoid } }
"""
LEVELS = (
    ("3: complete", "It starts from a definition or a numbered equation and"
     " names what it assumes. Each step follows from the one before. The result"
     " is in closed form, and a special case confirms it."),
    ("2: one slip", "The way is right from beginning to end; a sign, a factor"
     " or an axis is lost in one place, which a special case would have"
     " shown. The function may be wrong for it."),
    ("1: begun", "The right definition, and what is asked, are written down."
     " Then a step is missing, or a result is stated that was looked up or"
     " fitted to numbers."),
    ("0: none", "A result without a way to it, another question's derivation,"
     " or nothing."))
RUBRIC = """<section>
<h2>Levels of a derivation</h2>
<p>The points above are those of the tests. Give the level of a derivation
beside them, for {numbers}: the way counts, not its length, and a
right function does not make up for a missing way. Half of an exercise's points
are for the way: each level is a sixth of them, and the points of the tests
count half.</p>
{table}</section>
"""
KINDS = {"formula": "its formula has to be derived anew",
         "order": "axes or steps stand in another order",
         "number": "another number stands in a place that must be found"}


def rows(head, lines):
    cells = ["".join(f"<td>{escape(cell, False)}</td>" for cell in line)
             for line in lines]
    cells = [f"<tr>{line}</tr>" for line in cells]
    names = "".join(f"<th scope=col>{name}</th>" for name in head)
    return f"<table>\n<tr>{names}</tr>\n" + "\n".join(cells) + "\n</table>\n"


def mistakes(task):
    """[(the mistake, what the student reads)]: they are run, not recorded."""
    wrong, hidden = task.exercise.mistakes()
    start = f"{task.exercise.number} not yet: "
    if task.variant:
        exercise = copy.copy(task.exercise)
        exercise.check, exercise.grade = task.cells[2:]
        names = exercise.run(exercise.solution.source)
        said, _ = exercise.says(names | {"first_wrong": first_wrong})
        yield "the published solution", said.removeprefix(start)
        yield ("mistakes of the published form, to be expected here as well",
               "; ".join(what for what, _ in [*wrong, *hidden]))
        return
    for what, body in wrong:
        said, _ = task.exercise.says(task.exercise.names(body))
        yield what, said.removeprefix(start)
    for what, body in hidden:
        _, raised = task.exercise.says(task.exercise.names(body))
        yield what, ("the check is passed; only the tests say: "
                     + raised.removeprefix(start))


def section(task, stated):
    exercise = task.exercise
    changed = ""
    if task.variant:
        asks = KINDS[exercise.variant["asks"]]
        changed = (f"<p>A variant of this term: {asks}. Last term's sheet and"
                   " the public page have other answers.</p>\n")
    source = task.cells[1].source.partition("\n")[2]
    lines = [line for line in source.splitlines()
             if line.strip() not in ("### BEGIN SOLUTION", "### END SOLUTION")]
    return (f"<section>\n<h2>Exercise {exercise.number}: {exercise.kind},"
            f" {exercise.minutes} minutes, {exercise.points:g} points</h2>\n"
            f"{changed}{stated}\n<h3>Solution</h3>\n<pre tabindex=0><code>"
            f"{escape(chr(10).join(lines), False)}</code></pre>\n"
            "<h3>Common wrong answers</h3>\n"
            + rows(("the mistake", "what the check says"), mistakes(task))
            + "</section>\n")


def page(sheet):
    """In HTML, to read and to print."""
    sections = [*map(section, sheet.tasks, prose.html(
        task.cells[0].source for task in sheet.tasks))]
    derived = [task.exercise.number for task in sheet.tasks
               if task.is_derived]
    if derived:
        sections.append(RUBRIC.format(numbers=", ".join(derived), table=rows(
            ("level", "what the paper shows"), LEVELS)))
    title = f"{sheet.chapter.heading}: homework, for teachers"
    due = f"Due on {sheet.due}. " if sheet.due else ""
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{escape(title)}</title>
<style>{STYLE}</style>
<h1>{escape(title)}</h1>
<p>{due}{sheet.points:g} points, about {sheet.minutes} minutes.
Keep this page from students.</p>
{"".join(sections)}</html>
"""
