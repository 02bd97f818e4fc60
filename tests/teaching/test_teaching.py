"""What teachers are told to assign exists, under that name and number."""

import re

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course.chapter import chapter as course_chapter
from course.chapter import chapters
from course.code import undefined
from course.sheets import GOAL, LECTURES, SHEET, SHEETS, sheets
from tests.support.book import each_chapter
from tools.run import lectures
from tools.slides.choose import MINUTES

PAGE = LECTURES.read_text("utf-8")
SAID = {found[1]: found[0]
        for found in SHEET.finditer(SHEETS.read_text("utf-8"))}
PROSE = {chapter.number: chapter.prose for chapter in chapters()}
SECTIONS = {chapter: re.findall(r"^##+ (.+)$", prose, re.MULTILINE)
            for chapter, prose in PROSE.items()}
SORTED = sorted(PROSE)
STATED = {exercise for prose in PROSE.values()
          for exercise in re.findall(r"\*\*Exercise (\d+\.\d+)\*\*", prose)}


MARK = re.compile(r'\b(\d\d)(?:[:,;]| to)|"([^"]+)"')


def quoted():
    """(chapter, heading) where a line says 04: "Heading", "Another"."""
    for line in PAGE.splitlines():
        chapter = None
        for number, heading in MARK.findall(line):
            chapter = number or chapter
            if heading and chapter:
                yield chapter, heading
    for chapter, sheet in sheets().items():
        for *_, heading in sheet.beliefs:
            yield chapter, heading


@pytest.mark.parametrize("chapter, heading", sorted(set(quoted())))
def test_quoted_sections_exist(chapter, heading):
    assert heading in SECTIONS[chapter]


@each_chapter
def test_a_sheet_has_what_its_chapter_states(chapter):
    said = SAID[chapter.number]
    assert said.startswith(f"## {chapter.number}. {chapter.title}\n")
    given = points(chapter)
    assert {number: (int(minutes), int(each)) for _, number, minutes, each
            in GOAL.findall(said)} == {
        number: (work(number), each) for number, each in given.items()}
    assert said.split("\n")[2] == (
        f"[The chapter]({chapter.path.name}) takes {stated(chapter.number)} minutes. Its"
        f" exercises take {sum(map(work, given))} and give"
        f" {sum(given.values())} points.")


@each_chapter
def test_an_exercise_states_the_points_that_it_gives(chapter):
    assert points(chapter) == {
        number: int(each) for number, each in re.findall(
            r"\*\*Exercise (\d+\.\d+)\*\* \([^)]*; (\d+) points?\)",
            PROSE[chapter.number])}


def test_every_row_of_a_sheet_is_read():
    assert [*SAID] == SORTED
    for chapter, sheet in sheets().items():
        rows = re.findall(r"(?m)^\| ", SAID[chapter])
        assert len(rows) - 2 == len(sheet.goals) + len(sheet.beliefs)
        assert {*sheet.goals} == {
            number for number in STATED
            if number.partition(".")[0].zfill(2) == chapter}
        assert len(sheet.beliefs) > 2


SHOWN = [(f"{chapter} {name}", chapter, spans)
            for name, named in lectures.lectures(PAGE).items()
            for chapter, spans in named.items()]


@pytest.mark.parametrize("chapter, spans", [pytest.param(*rest, id=name)
                                            for name, *rest in SHOWN])
def test_a_lecture_defines_what_it_uses(chapter, spans):
    cells = course_chapter(chapter).cells
    assert undefined(cells, lectures.chosen(cells, spans)) == []


@each_chapter
def test_a_chapter_defines_what_it_uses(chapter):
    assert undefined(chapter.cells, chapter.code) == []


def table(first):
    """The rows of the page's table whose first head is `first`, as cells."""
    [found] = re.findall(rf"(?ms)^\| {first} \|.*?(?=\n\n)", PAGE)
    return [[cell.strip() for cell in row.removesuffix("|")[1:].split(" |")]
            for row in found.splitlines()[2:]]


def numbers(cell):
    """"01, 02 (120)" -> (["01", "02"], 120)"""
    names, _, minutes = cell.partition(" (")
    return names.split(", ") if names else [], int(minutes[:-1] or 0)


@pytest.mark.parametrize("name, show, _, whole", table("lecture"),
                         ids=[row[0] for row in table("lecture")])
def test_a_lecture_takes_the_minutes_that_it_says(name, show, _, whole):
    shown = []
    for _, first, _, minutes in re.findall(
            r'\b(\d\d):|"([^"]+)"(?: to "([^"]+)")?(?: \((\d+)\))?', show):
        if first:
            shown.append(int(minutes))
    assert sum(shown) == int(whole)


def points(chapter):
    """{"4.1": the points of its grade cell, ...}"""
    graded = (cell.metadata.nbgrader for cell in chapter.code
              if cell.metadata.get("nbgrader", {}).get("grade"))
    return {each.grade_id.removeprefix("grade-").replace("-", "."):
            each.points for each in graded}


def stated(chapter):
    found = re.search(r"\*\*Time\*\*:? (\d+) minutes", PROSE[chapter])
    return int(found[1])


def work(exercise):
    number = re.escape(exercise)
    chapter = exercise.partition(".")[0].zfill(2)
    return int(re.search(rf"\*\*Exercise {number}\*\* \([^)]*?(\d+) minutes",
                         PROSE[chapter])[1])


@pytest.mark.parametrize("head, weeks, sitting", [
    ("day", 5, 1), ("week", 14, 2)])
def test_a_course_takes_the_minutes_that_it_says(head, weeks, sitting):
    rows = table(head)
    assert [row[0] for row in rows][-weeks:] == [
        str(week) for week in range(1, weeks + 1)]
    seen = []
    for name, slides, read, *exercises in rows:
        held = slides.split(", ") if slides else []
        assert len(held) <= sitting
        room = 90 - MINUTES * len(held)
        chapters, minutes = numbers(read)
        assert minutes == sum(map(stated, chapters)), name
        assert not held or held == chapters
        seen += chapters
        for column, cell in enumerate(exercises):
            if head == "week" and column:           # the project
                continue
            given, minutes = numbers(cell)
            assert minutes == sum(map(work, given)), name
            assert head == "week" or column or minutes <= room
    assert seen == SORTED[:len(seen)] and len(seen) in (6, len(SORTED))


def test_every_lecture_is_read():
    named = "".join(map("".join, table("lecture")))
    spans = sum(len(spans) for _, _, spans in SHOWN)
    assert len(SHOWN) >= len(table("lecture")) > 2
    assert 2 * spans == (named.count('"') - 2 * named.count('" to "'))


def toy():
    """Three sections; the second and a subsection use what others define."""
    text = {"Setup": "import math", "One": "def twice(x):\n    return 2 * x",
            "Two": "y = [twice(z) for z in (1, math.pi)]",
            "# Below": "print(y)"}
    return new_notebook(cells=[
        cell for heading, code in text.items()
        for cell in (new_markdown_cell(f"##{heading}" if heading[0] == "#"
                                       else f"## {heading}"),
                     new_code_cell(code, id=heading.strip("# ")))])


@pytest.mark.parametrize("spans, cells, missing", [
    ([("One", "Two")], ["Setup", "One", "Two", "Below"], []),
    ([("Two", "Two")], ["Setup", "Two", "Below"], [("Two", "twice")]),
    ([("Below", "Below")], ["Setup", "Below"], [("Below", "y")]),
])
def test_a_name_nobody_defined_is_found(spans, cells, missing):
    chosen = lectures.chosen(toy().cells, spans)
    assert [cell.id for cell in chosen] == cells
    assert undefined(toy().cells, chosen) == missing


@pytest.mark.parametrize("span", [("Four", "Four"), ("Two", "One")])
def test_a_section_that_is_not_there_is_refused(span):
    with pytest.raises(ValueError, match="Four|Two"):
        lectures.chosen(toy().cells, [span])


def test_a_stopped_cell_is_reported(tmp_path):
    chosen = lectures.chosen(toy().cells, [("Two", "Two")])
    [first, second] = lectures.run(tmp_path, chosen)
    assert first == ("Two", "NameError: name 'twice' is not defined")
    assert second[0] == "Below"
