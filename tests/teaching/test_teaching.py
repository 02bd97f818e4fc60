"""What teachers are told to assign exists, under that name and number."""

import re

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course.chapter import chapter as course_chapter
from course.chapter import chapters
from course.code import undefined
from course.exercise import exercises
from course.sheets import LECTURES, SHEET, SHEETS, sheets
from tests.support.book import each_chapter
from tools.run import lectures

PAGE = LECTURES.read_text("utf-8")
PROSE = {chapter.number: chapter.prose for chapter in chapters()}
SECTIONS = {chapter: re.findall(r"^##+ (.+)$", prose, re.MULTILINE)
            for chapter, prose in PROSE.items()}
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
def test_a_sheet_has_a_goal_for_each_exercise(chapter):
    sheet = sheets()[chapter.number]
    assert [*sheet.goals] == [each.number for each in exercises(chapter)]
    assert all(len(goal.split()) > 2 for goal in sheet.goals.values())
    assert len(sheet.beliefs) > 2


@each_chapter
def test_an_exercise_gives_the_points_that_it_states(chapter):
    for exercise in exercises(chapter):
        assert exercise.points == exercise.stated_points > 0


def test_every_row_of_a_sheet_is_read():
    pages = {sheet[1]: sheet[0]
             for sheet in SHEET.finditer(SHEETS.read_text("utf-8"))}
    assert [*pages] == [*PROSE]
    for number, sheet in sheets().items():
        rows = re.findall(r"(?m)^\| ", pages[number])
        assert len(rows) - 2 == len(sheet.goals) + len(sheet.beliefs)


SHOWN = [(f"{number} {name}", number, spans)
         for name, named in lectures.lectures(PAGE).items()
         for number, spans in named.items()]


@pytest.mark.parametrize("number, spans", [pytest.param(*rest, id=name)
                                           for name, *rest in SHOWN])
def test_a_lecture_defines_what_it_uses(number, spans):
    cells = course_chapter(number).cells
    assert undefined(cells, lectures.chosen(cells, spans)) == []


@each_chapter
def test_a_chapter_defines_what_it_uses(chapter):
    assert undefined(chapter.cells, chapter.code) == []


def table(first):
    """The rows of the page's table whose first head is `first`, as cells."""
    [rows] = re.findall(rf"(?ms)^\| {first} \|.*?(?=\n\n)", PAGE)
    return [[cell.strip() for cell in row.removesuffix("|")[1:].split(" |")]
            for row in rows.splitlines()[2:]]


def test_every_lecture_is_read():
    named = "".join(map("".join, table("lecture")))
    spans = sum(len(spans) for _, _, spans in SHOWN)
    assert len(SHOWN) >= len(table("lecture")) > 2
    assert 2 * spans == (named.count('"') - 2 * named.count('" to "'))


def test_a_term_reads_chapters_in_order_and_none_twice():
    read = [number for row in table("week")
            for number in re.findall(r"\b\d\d\b(?!\))", row[2])]
    assert len(read) > 20 and read == sorted({*read} & {*PROSE})


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
