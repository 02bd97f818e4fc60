"""What the teacher uploads: tables for Moodle and Canvas, a page a student."""

import csv
import re
import shutil
import unicodedata
import zipfile
from html import escape

from tools import prose

SHOWN = 3000                            # characters of an answer on a page
MOODLE = ("Identifier", "Full name", "Grade", "Maximum grade",
          "Last modified (grade)", "Feedback comments")
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


def number(points):
    return "" if points is None else f"{points:g}"


def text(words):
    """For a cell of a table: a spreadsheet shall not take it for a formula."""
    words = words.replace("\\", "/")                # see comment()
    return f"'{words}" if words[:1] in ("=", "+", "-", "@", "\t") else words


def write(path, rows):
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows(rows)


def overview(chapter, reports):
    """All that was found, for the teacher alone."""
    numbers = [exercise.number for exercise in chapter.exercises]
    yield ["person", "platform", "id", "file", "edition", *numbers, "points",
           "of", "missing", "what students read", "hidden tests", "done",
           "look at", "seconds"]
    for one in reports:
        marks = one.marks
        yield [text(one.submission.person), one.submission.platform,
               one.submission.id, text(one.file), text(one.edition),
               *(number(marks[n].points) if n in marks else ""
                 for n in numbers),
               number(one.points), number(chapter.most),
               sum(mark.points is None for mark in marks.values()),
               "\n".join(one.lines),
               "\n".join(mark.hidden for mark in marks.values()
                         if mark.hidden),
               "\n".join(one.notes), "\n".join(one.look),
               f"{one.seconds:.1f}"]


def moodle(chapter, reports):
    """The columns that its importer asks for, and the points beside them."""
    numbers = [exercise.number for exercise in chapter.exercises]
    head, tail = MOODLE[:2], MOODLE[2:]
    yield [*head, *numbers, *tail]
    for one in reports:
        yield [f"Participant {one.submission.id}", text(one.submission.person),
               *(number(one.marks[n].points) if n in one.marks else ""
                 for n in numbers),
               number(one.points), number(chapter.most), "", comment(one)]


def comment(one):
    """The hint lines, as Moodle's field takes them: HTML.

    Without a quote, a backslash or a line break: PHP's reader of tables does
    not end a cell at a quote behind a backslash, and an answer could add rows.
    """
    return "<br>".join(escape(" ".join(line.split())).replace("\\", "&#92;")
                       for line in one.lines)


def canvas(chapter, reports):
    """Without those that were not graded: an empty cell deletes a grade."""
    yield ["Student", "ID", "Section", chapter.heading]
    yield ["    Points Possible", "", "", number(chapter.most)]
    for one in reports:
        if one.points is not None:
            yield [text(one.submission.person), one.submission.id, "",
                   number(one.points)]


def plain(name):
    """A name to compare by: case, accents and order aside."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    letters = "".join(c for c in letters if not unicodedata.combining(c))
    return tuple(sorted(re.findall(r"\w+", letters)))


def fill(chapter, reports, sheet, column=None):
    """A platform's own sheet with the grades put in. -> platform, rows"""
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
    ids = {one.submission.id: one for one in reports if one.submission.id}
    names = {}
    for one in reports:
        if not one.submission.id:
            names.setdefault(plain(one.submission.person), []).append(one)
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
        given = {at[0]: one.points} | {
            i: one.marks[exercise].points for exercise, i in points.items()
            if exercise in one.marks}
        for i, got in given.items():    # what is missing stays as it was
            row[i] = row[i] if got is None else number(got)
        if platform == "moodle" and "Feedback comments" in head:
            row[head.index("Feedback comments")] = comment(one)
    return platform, rows, [one for one in reports if one not in met]


def statements(chapter):
    """{number: its statement in HTML}, formulas as the site sets them."""
    return dict(zip(
        [exercise.number for exercise in chapter.exercises],
        prose.html([exercise.statement for exercise in chapter.exercises]),
        strict=True))


def page(chapter, one, stated):
    """A page for a student, without scripts and hidden tests."""
    parts = []
    for exercise in chapter.exercises:
        if exercise.number not in one.marks:
            continue
        mark = one.marks[exercise.number]
        points = "missing" if mark.points is None else (
            f"{number(mark.points)} of {number(exercise.points)} points")
        code = one.sources.get(exercise.number) or ""
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
    first = "" if one.marks else f"<p>{escape(' '.join(one.lines))}</p>"
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'">
<title>{escape(title)}</title>
<style>{STYLE}</style>
<h1>{escape(title)}</h1>
<p>{escape(one.submission.person)}</p>
{first}{"".join(parts)}
</html>
"""


def pages(chapter, reports, folder):
    """Write a page for each, and one archive of all, as platforms take it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    stated = statements(chapter)
    with zipfile.ZipFile(folder.with_suffix(".zip"), "w",
                         zipfile.ZIP_DEFLATED) as archive:
        for one in reports:
            name = re.sub(r'[\x00-\x1f/\\:*?"<>|]', "-", one.submission.page)
            path = folder / f"{name}{chapter.number} feedback.html"
            while path.exists():        # names that differ by ? or * alone
                path = path.with_stem(f"{path.stem}'")
            path.write_text(page(chapter, one, stated), "utf-8")
            archive.write(path, path.name)
