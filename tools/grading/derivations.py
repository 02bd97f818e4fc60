"""What students derived: a page for each exercise, and a table for levels.

A derivation is text that a person reads. Nothing of it is run or set: it
stands on the page as it was typed, formulas too.
"""

from collections.abc import Sequence
from html import escape
from pathlib import Path

from tools.grading.cells import GradedChapter
from tools.grading.collect import Submission
from tools.grading.judge import Report
from tools.grading.report import STYLE, number, text, write

LONGEST = 20_000                        # characters of a derivation on a page
PICTURE = "attachment:", "data:image", "<img", "!["
TABLE = """
body { max-width: 70rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .5rem .75rem .5rem 0;
  border-bottom: 1px solid var(--line) }
td:nth-child(2) { width: 65% } pre { white-space: pre-wrap; margin: 0 }
"""


def typed(chapter: GradedChapter, one: Submission, name: str) -> str:
    """The text of the cell with this name; "" if it is as it was handed out.

    Of several notebooks the last that has one. Where an editor lost the name,
    the cell is known by its first words.
    """
    given = chapter.cell(name).source.strip()
    first = given.partition(".**")[0]
    texts = [source.strip() for _, read in one.files
             if not isinstance(read, str)
             for kind, names, source in read if kind == "markdown" and (
                 name in names or source.strip().startswith(f"{first}.**"))]
    return next((words.removeprefix(given).strip() for words in texts[::-1]
                 if words not in ("", given)), "")


def shown(words: str, one: Submission) -> str:
    """In HTML, and where to look for a photograph."""
    if not words:
        return "nothing"
    files = ", ".join(path for path, _ in one.files)
    look = (f"<p>With a picture: open {escape(files)}</p>"
            if any(mark in words for mark in PICTURE) else "")
    cut = words if len(words) <= LONGEST else f"{words[:LONGEST]}\n... cut here"
    return f"{look}<pre>{escape(cut, False)}</pre>"


def write_all(chapter: GradedChapter, submissions: Sequence[Submission],
              reports: Sequence[Report], folder: Path) -> list[str]:
    """A page for each exercise with a derivation. -> names of what is written

    None, where the edition asks for none. The table, once there, is left: it
    may have levels.
    """
    names = {exercise: f"paper-{exercise.number.replace('.', '-')}"
             for exercise in chapter.exercises}
    there = {cell.id for cell in chapter.markdown}
    asked = {exercise: name for exercise, name in names.items()
             if name in there}
    if not asked:
        return []
    (folder / "derivations").mkdir(exist_ok=True)
    for exercise, name in asked.items():
        rows = []
        for one, found in zip(submissions, reports, strict=True):
            mark = found.marks.get(exercise.number)
            points = number(mark.points) if mark else ""
            rows.append(f"<tr><td>{escape(one.person)}</td>"
                        f"<td>{shown(typed(chapter, one, name), one)}</td>"
                        f"<td>{points}</td><td></td></tr>")
        title = f"Derivations for exercise {exercise.number}"
        page = f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>{STYLE}{TABLE}</style>
<h1>{title}</h1>
<table>
<tr><th scope=col>person</th><th scope=col>derivation</th>
<th scope=col>tests, of {number(exercise.points)}</th>
<th scope=col>level</th></tr>
{chr(10).join(rows)}
</table>
</html>
"""
        (folder / "derivations" / f"{exercise.number}.html").write_text(
            page, "utf-8", "backslashreplace")
    levels = folder / "levels.csv"
    if not levels.exists():
        write(levels, [["person", "platform", "id", *(
            f"{exercise.number} level" for exercise in asked)], *(
            [text(one.person), one.platform, one.id, *[""] * len(asked)]
            for one in submissions)])
    return ["derivations/", "levels.csv"]
