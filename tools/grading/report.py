"""What the teacher uploads: tables for Moodle and Canvas, a page a student."""

import csv
import re
import shutil
import unicodedata
import zipfile
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from html import escape
from pathlib import Path

from tools import prose
from tools.grading.cells import GradedChapter
from tools.grading.judge import Report

SHOWN = 3000                            # characters of an answer on a page
LONGEST = 150                           # bytes of a page's name
DUE = re.compile(r"\*\*Due on (\d+ \w+ \d{4})\.\*\*")
DAY = re.compile(r"\b\d{1,2} [A-Z][a-z]+ \d{4}\b")
LATE = re.compile(r"(?:[^\W_]+_)?LATE_")    # Canvas puts it into a name
HANDED_IN = "Last modified (submission)"    # Moodle's column
Rows = Iterable[Sequence[object]]
STYLE = """
:root { color-scheme: light dark; --line: #8886 }
body { max-width: 44rem; margin: 2rem auto; padding: 0 1rem;
  font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: break-word }
h1 { font-size: 1.5rem; line-height: 1.25 }
h2 { font-size: 1.2rem } h3 { font-size: 1rem }
section { border-top: 1px solid var(--line); margin-top: 2rem }
pre { overflow-x: auto; padding: .75rem; border: 1px solid var(--line);
  border-radius: .25rem; font-size: .875rem; line-height: 1.4 }
.said { border-left: .25rem solid #0072b2; padding-left: .75rem }
math[display=block] { overflow-x: auto; margin: .75rem 0 }
"""


class UnknownSheet(ValueError):
    """A gradebook that cannot be filled: in words, why."""


def number(points: float | None) -> str:
    return "" if points is None else f"{points:g}"


def text(words: str) -> str:
    """For a cell of a table: a spreadsheet shall not take it for a formula."""
    words = words.replace("\\", "/")                # see comment()
    return f"'{words}" if words[:1] in ("=", "+", "-", "@", "\t") else words


def write(path: Path, rows: Rows) -> None:
    with path.open("w", encoding="utf-8-sig", errors="backslashreplace",
                   newline="") as file:
        csv.writer(file).writerows(rows)


def day(words: str) -> date | None:
    """The day in "Friday, 15 January 2027, 10:22 PM"."""
    try:
        return datetime.strptime(DAY.findall(words)[0], "%d %B %Y").date()
    except (IndexError, ValueError):
        return None


def due(chapter: GradedChapter) -> date | None:
    """The day that a homework sheet names."""
    found = (DUE.search(cell.source) for cell in chapter.markdown)
    return next((day(match[1]) for match in found if match), None)


def mark_late(chapter: GradedChapter, one: Report, handed_in: str) -> None:
    """Say when it was handed in, if that is after the last day."""
    last, came = due(chapter), day(handed_in)
    if last and came and came > last:
        one.late = f"{came:%d %B %Y}".lstrip("0")


def overview(chapter: GradedChapter, reports: list[Report]) -> Rows:
    """All that was found, for the teacher alone."""
    numbers = [exercise.number for exercise in chapter.exercises]
    yield ["person", "platform", "id", "file", "edition", "late", *numbers,
           "points", "of", "missing", "what students read", "hidden tests",
           "done", "seconds"]
    for one in reports:
        marks = one.marks
        yield [text(one.person), one.platform, one.id, text(one.file),
               text(one.edition), one.late, *exercise_points(chapter, one),
               number(one.points), number(chapter.most),
               sum(mark.points is None for mark in marks.values()),
               text("\n".join(one.lines)),
               text("\n".join(mark.hidden for mark in marks.values()
                              if mark.hidden)),
               text("\n".join(one.notes)), f"{one.seconds:.1f}"]


def exercise_points(chapter: GradedChapter, one: Report) -> list[str]:
    return [number(one.marks[exercise.number].points)
            if exercise.number in one.marks else ""
            for exercise in chapter.exercises]


def moodle(chapter: GradedChapter, reports: list[Report]) -> Rows:
    """The columns that its importer asks for, and the points beside them."""
    yield ["Identifier", "Full name",
           *(exercise.number for exercise in chapter.exercises), "Grade",
           "Maximum grade", "Last modified (grade)", "Feedback comments"]
    for one in reports:
        yield [f"Participant {one.id}", text(one.person),
               *exercise_points(chapter, one), number(one.points),
               number(chapter.most), "", comment(one)]


def comment(one: Report) -> str:
    """The hint lines, as Moodle's field takes them: HTML.

    Without a quote, a backslash or a line break: PHP's reader of tables does
    not end a cell at a quote behind a backslash, and an answer could add rows.
    """
    return "<br>".join(escape(" ".join(line.split())).replace("\\", "&#92;")
                       for line in one.lines)


def canvas(chapter: GradedChapter, reports: list[Report]) -> Rows:
    """Without those that were not graded: an empty cell deletes a grade."""
    yield ["Student", "ID", "Section", chapter.heading]
    yield ["    Points Possible", "", "", number(chapter.most)]
    for one in reports:
        if one.points is not None:
            yield [text(one.person), one.id, "",
                   number(one.points)]


def plain(name: str) -> tuple[str, ...]:
    """A name to compare by: case, accents and order aside."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    letters = "".join(c for c in letters if not unicodedata.combining(c))
    return tuple(sorted(re.findall(r"\w+", letters)))


def fill(chapter: GradedChapter, reports: list[Report], sheet: Path,
         column: str | None = None
         ) -> tuple[str, list[list[str]], list[Report]]:
    """A platform's own sheet with the grades put in.

    -> platform, rows, who is not in it. Raises UnknownSheet.
    """
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = [*csv.reader(file)]
    head = rows[0] if rows else []
    if "Identifier" in head:
        platform, identity, name = "moodle", head.index("Identifier"), (
            head.index("Full name") if "Full name" in head else None)
        column = column or "Grade"
    elif len(head) > 2 and "Student" in head[0] and "ID" in head[1]:
        platform, identity, name = "canvas", 1, 0
        column = column or chapter.heading
    else:
        raise UnknownSheet(
            f"{sheet.name} is no sheet of Moodle's (a column Identifier; the"
            " language of the site set to English) and none of Canvas's"
            " (columns Student and ID)")
    at = [i for i, title in enumerate(head)
          if re.sub(r" \(\d+\)$", "", title) == column]
    if len(at) != 1:
        raise UnknownSheet(f"{sheet.name} has {len(at)} columns {column!r}; it"
                           f" has: {', '.join(head)}. Name one: COLUMN=...")
    points = {exercise.number: i for exercise in chapter.exercises
              for i, title in enumerate(head)
              if re.fullmatch(rf"(Exercise )?{exercise.number}( \(\d+\))?",
                              title)}
    ids = {one.id: one for one in reports if one.id}
    names = {}
    for one in reports:
        if not one.id:
            names.setdefault(plain(one.person), []).append(one)
    met = []
    for row in rows[1:]:
        if len(row) < len(head):
            continue
        key = re.search(r"\d*$", row[identity])[0]
        one = ids.get(key)
        same = names.get(plain(row[name]), []) if name is not None else []
        if one is None and len(same) == 1:
            [one] = same
        if one is None:
            continue
        met.append(one)
        if HANDED_IN in head:
            mark_late(chapter, one, row[head.index(HANDED_IN)])
        given = {at[0]: one.points} | {
            i: one.marks[exercise].points for exercise, i in points.items()
            if exercise in one.marks}
        for i, got in given.items():    # what is missing stays as it was
            row[i] = row[i] if got is None else number(got)
        if platform == "moodle" and "Feedback comments" in head:
            row[head.index("Feedback comments")] = comment(one)
    return platform, rows, [one for one in reports if one not in met]


def page(chapter: GradedChapter, one: Report, stated: dict[str, str]) -> str:
    """A page for a student, without scripts and hidden tests."""
    parts = []
    for exercise in chapter.exercises:
        if exercise.number not in one.marks:
            continue
        mark = one.marks[exercise.number]
        points = "missing" if mark.points is None else (
            f"{number(mark.points)} of {number(exercise.points)} points")
        code = one.sources.get(exercise.number, "")
        if len(code) > SHOWN:
            code = code[:SHOWN] + "\n# ... cut here"
        own = ("<h3>Your answer</h3>\n"
               f'<pre tabindex="0"><code>{escape(code, False)}</code></pre>\n')
        parts.append(
            f"<section>\n<h2>Exercise {exercise.number}: {points}</h2>\n"
            f'<p class="said">{escape(mark.said)}</p>\n'
            f"{stated[exercise.number]}\n{own if code else ''}</section>\n")
    total = "not graded" if one.points is None else (
        f"{number(one.points)} of {number(chapter.most)} points")
    title = f"{chapter.heading}: {total}"
    first = one.lines[0] if one.left_out or not one.marks else ""
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'">
<title>{escape(title)}</title>
<style>{STYLE}</style>
<h1>{escape(title)}</h1>
<p>{escape(one.person)}</p>
<p>{escape(first)}</p>
{"".join(parts)}
</html>
"""


def pages(chapter: GradedChapter, reports: list[Report], folder: Path) -> None:
    """Write a page for each, and one archive of all, as platforms take it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    numbers = [exercise.number for exercise in chapter.exercises]
    stated = dict(zip(numbers, prose.html(
        [exercise.statement for exercise in chapter.exercises]), strict=True))
    with zipfile.ZipFile(folder.with_suffix(".zip"), "w",
                         zipfile.ZIP_DEFLATED) as archive:
        for one in reports:
            name = re.sub(r'[\x00-\x1f/\\:*?"<>|]', "-", one.page)
            name = name.encode("utf-8", "replace")[:LONGEST].decode(
                "utf-8", "ignore")
            path = folder / f"{name}{chapter.number} feedback.html"
            while path.exists():        # names that differ by ? or * alone
                path = path.with_stem(f"{path.stem}'")
            try:
                path.write_text(page(chapter, one, stated), "utf-8",
                                "backslashreplace")
                archive.write(path, path.name)
            except (OSError, ValueError) as error:
                print(f"no page for {one.person!a}: {error}")


def write_all(chapter: GradedChapter, reports: list[Report], folder: Path,
              gradebook: Path | None, column: str | None) -> list[str]:
    """Tables, then pages. -> the names of what was written

    Raises UnknownSheet.
    """
    tables: dict[str, Rows] = {}
    for one in reports:
        if one.platform == "canvas" and LATE.match(one.page):
            one.late = "late"
    for platform, rows in (("moodle", moodle), ("canvas", canvas)):
        there = [one for one in reports if one.platform == platform]
        if there:
            tables[f"{platform}.csv"] = rows(chapter, there)
    if gradebook:
        platform, filled, left = fill(chapter, reports, gradebook, column)
        tables[f"{platform}.csv"] = filled
        for one in left:
            print(f"not in {gradebook.name}: {one.person!a}")
    tables = {"grades.csv": overview(chapter, reports)} | tables
    if late := [one for one in reports if one.late]:
        print(f"late: {', '.join(ascii(one.person) for one in late)}")
    for name, rows in tables.items():
        write(folder / name, rows)
    pages(chapter, reports, folder / "feedback")
    return [*tables, "feedback/", "feedback.zip"]
