"""Write what the chapters say into the pages: numbers, minutes, points, titles.

The notebooks are the source: their titles, the captions of their exercises,
and what course/minutes.py counts. Words written by hand stay. A row that waits
for its words has a "?"; one whose chapter or exercise is gone stands last.
`make lint` names both.
"""

import re
from collections.abc import Iterable
from pathlib import Path

import nbformat

from course.chapter import Chapter, chapters, sections
from course.contents import parts
from course.exercise import exercises
from course.minutes import reading_minutes, stated_minutes
from course.paths import BOOK
from course.sheets import GOAL, LECTURES, SHEET, SHEETS
from tools.refresh.cells import Home, book_homes
from tools.refresh.cells import write as write_cells
from tools.run.lectures import spanned

FRONT = BOOK / "intro.md"
STUDENTS = BOOK / "students.md"
WAITING = "?"
SHORT_WAY = 15                          # minutes for opening and summary

TIME = re.compile(r"(?s)\*\*Time\*\*.*?\.(?=\s|\Z)")
NEEDS = re.compile(r"(?s)\*\*You need\*\*(.*?)\*\*Time\*\*")
CHAPTER_LINK = re.compile(r"\((\d\d)_\w+\.ipynb")
GOALS = re.compile(r"(?m)^(\| after it, .*\n\|[-|]+\n)((?:\|.*\n)*)")
HEADINGS = re.compile(
    r'\b(?P<chapter>\d\d):|'
    r'"(?P<first>[^"]+)"(?: to "(?P<last>[^"]+)")?(?: \(\d+\))?')
PLANNED = re.compile(r"((?:\d\d|\d+\.\d+)(?:, (?:\d\d|\d+\.\d+))*) \(\d+\)")
JOIN = re.compile(r"(?m)^(\| \[(\d\d)\]\(\w+\.ipynb\), .*?) \|.*\|$")
QUESTION = re.compile(r"(?m)^\| \d\d \| \[.*?\]\((\w+)\.ipynb\) \| (.*) \|$")

GOALS_HEAD = """| after it, a student can | exercise | minutes | points |
|---|---|---|---|
"""
BELIEFS_HEAD = """| wrong belief | what is the case | section |
|---|---|---|
"""


def table_of(head: str) -> re.Pattern[str]:
    """The table whose first column is called `head`: (its head, its rows)."""
    return re.compile(rf"(?m)^(\| {head} \|.*\n\|[-|]+\n)((?:\|.*\n)*)")


def renewed(path: Path, homes: dict[str, list[Home]]) -> Chapter:
    """The chapter with its generated cells, its minutes and its points.

    Read anew, not the shared one: it is changed.
    """
    chapter = Chapter(path)
    write_cells(chapter.number, chapter.notebook, homes)
    opening = chapter.cells[0]
    work = 0
    for exercise in exercises(chapter):
        work += exercise.minutes
        exercise.grade.metadata["nbgrader"]["points"] = exercise.stated_points
    for _ in range(2):                  # the line itself is read, too
        line = (f"**Time** about {stated_minutes(chapter)} minutes,"
                f" and {work} more for the exercises.")
        opening.source = TIME.sub(line, opening.source)
    return chapter


def goal_rows(rows: str, chapter: Chapter) -> str:
    """A row for each exercise, with the goals of `rows`; strange rows last."""
    goals = {number: goal for goal, number, *_ in GOAL.findall(rows)}
    numbers = {exercise.number for exercise in exercises(chapter)}
    strange = [row for row in rows.splitlines()
               if not ((row_of := GOAL.match(row)) and row_of[2] in numbers)]
    return "".join(f"{row}\n" for row in [
        *(f"| {goals.get(exercise.number, WAITING)} | {exercise.number}"
          f" | {exercise.minutes} | {exercise.stated_points} |"
          for exercise in exercises(chapter)), *strange])


def times(chapter: Chapter) -> str:
    """What the chapter and its exercises take and give, in two sentences."""
    every = exercises(chapter)
    return (f"[The chapter]({chapter.path.name}) takes about"
            f" {stated_minutes(chapter)} minutes. Its exercises take"
            f" {sum(exercise.minutes for exercise in every)} and give"
            f" {sum(exercise.stated_points for exercise in every)} points.")


def with_sheet(page: str, chapter: Chapter) -> str:
    """The page with this chapter's sheet as the chapter says."""
    heading = f"## {chapter.number}. {chapter.title}"
    sheet = next((match for match in SHEET.finditer(page)
                  if match[1] == chapter.number), None)
    if sheet is None:
        return (f"{page.rstrip()}\n\n(sheet-{chapter.number})=\n{heading}\n\n"
                f"{times(chapter)}\n\n{GOALS_HEAD}{goal_rows('', chapter)}\n"
                f"{BELIEFS_HEAD}")
    text = re.sub(r"\A.*", lambda _: heading, sheet[0])
    text = re.sub(r"(?m)^\[The chapter\]\(.*$", lambda _: times(chapter), text)
    text = GOALS.sub(
        lambda table: table[1] + goal_rows(table[2], chapter), text)
    return page[:sheet.start()] + text + page[sheet.end():]


def sheets_page(page: str, chapters: Iterable[Chapter]) -> str:
    """Each chapter's title, minutes, exercises and points."""
    for chapter in chapters:
        page = with_sheet(page, chapter)
    return page


def lecture_row(row: str, chapters: dict[str, Chapter]) -> str:
    """A lecture with the minutes of what it shows, and their sum."""
    name, show, before, _ = row.removesuffix(" |").split(" |")
    number, whole = "", 0

    def with_minutes(match: re.Match[str]) -> str:
        nonlocal number, whole
        if match["chapter"]:
            number = match["chapter"]
            return match[0]
        first, last = match["first"], match["last"] or match["first"]
        shown = sections(chapters[number].cells, deepest=3)
        try:
            span = spanned(shown, first, last)
        except ValueError:              # a test names the heading
            return match[0]
        minutes = round(reading_minutes(shown[place] for place in span))
        whole += minutes
        to = f' to "{last}"' if match["last"] else ""
        return f'"{first}"{to} ({minutes})'

    show = HEADINGS.sub(with_minutes, show)
    return f"{name} |{show} |{before} | {whole} |"


def lectures_page(page: str, chapters: Iterable[Chapter]) -> str:
    """Minutes of each section that is shown, and of each day and week."""
    by_number = {chapter.number: chapter for chapter in chapters}
    minutes = {number: stated_minutes(chapter)
               for number, chapter in by_number.items()}
    minutes |= {exercise.number: exercise.minutes
                for chapter in by_number.values()
                for exercise in exercises(chapter)}

    def planned(match: re.Match[str]) -> str:
        numbers = match[1].split(", ")
        if not minutes.keys() >= {*numbers}:    # a test names the stranger
            return match[0]
        return f"{match[1]} ({sum(minutes[number] for number in numbers)})"

    def lectures(table: re.Match[str]) -> str:
        return table[1] + "".join(f"{lecture_row(row, by_number)}\n"
                                  for row in table[2].splitlines())

    page = table_of("lecture").sub(lectures, page)
    for head in "day", "week":
        page = table_of(head).sub(
            lambda table: table[1] + PLANNED.sub(planned, table[2]), page)
    return page


def needed(chapter: Chapter) -> list[str]:
    """The numbers of the chapters that **You need** links to."""
    needs = NEEDS.search(chapter.cells[0].source)
    return sorted({*CHAPTER_LINK.findall(needs[1])}) if needs else []


def students_page(page: str, chapters: Iterable[Chapter]) -> str:
    """What to read before joining at a part, and how long it takes."""
    by_number = {chapter.number: chapter for chapter in chapters}

    def row(match: re.Match[str]) -> str:
        before = needed(by_number[match[2]])
        minutes = sum(stated_minutes(by_number[number]) for number in before)
        return (f"{match[1]} | {', '.join(before)} | {minutes}"
                f" | {SHORT_WAY * len(before)} |")

    return JOIN.sub(row, page)


def front_page(page: str, chapters: Iterable[Chapter]) -> str:
    """The table of chapters, by part, with the questions that it has."""
    by_name = {chapter.name: chapter for chapter in chapters}
    questions = dict(QUESTION.findall(page))
    rows = []
    for caption, names in parts():
        part = [by_name[name] for name in names if name in by_name]
        if part and caption:
            rows.append(f"| | **{caption}** | |")
        rows += [f"| {chapter.number} | [{chapter.title}]({chapter.path.name})"
                 f" | {questions.pop(chapter.name, WAITING)} |"
                 for chapter in part]
    rows += [row[0] for row in QUESTION.finditer(page) if row[1] in questions]
    text = "".join(f"{row}\n" for row in rows)
    return table_of("no.").sub(lambda table: table[1] + text, page)


PAGES = {FRONT: front_page, STUDENTS: students_page, SHEETS: sheets_page,
         LECTURES: lectures_page}


def stale() -> dict[Path, str]:
    """The files that say something else than the chapters, as they should be.

    ValueError: the caption of an exercise is out of form.
    """
    homes = book_homes(chapters())
    book = [renewed(chapter.path, homes) for chapter in chapters()]
    texts = {chapter.path: nbformat.writes(chapter.notebook) + "\n"
             for chapter in book}
    texts |= {path: page(path.read_text("utf-8"), book)
              for path, page in PAGES.items()}
    return {path: text for path, text in texts.items()
            if text != path.read_text("utf-8")}


def write() -> list[Path]:
    """Write what is stale; the files that changed."""
    changed = stale()
    for path, text in changed.items():
        path.write_text(text, "utf-8", newline="\n")
    return [*changed]
