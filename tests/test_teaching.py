"""What teachers are told to assign exists, under that name and number."""

import re

import pytest
from chapters import BOOK, CHAPTERS, cells, notebook
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools import paths

PAGE = (BOOK / "teaching.md").read_text("utf-8")
PROSE = {path.name[:2]: "\n".join(c.source for c in cells(path, "markdown"))
         for path in CHAPTERS}
SECTIONS = {chapter: re.findall(r"^##+ (.+)$", prose, re.MULTILINE)
            for chapter, prose in PROSE.items()}
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


@pytest.mark.parametrize("chapter, heading", sorted(set(quoted())))
def test_quoted_sections_exist(chapter, heading):
    assert heading in SECTIONS[chapter]


def test_goals_name_every_exercise():
    goals = PAGE.partition("What a student can do afterwards")[2]
    goals = goals.partition("## Wrong beliefs")[0]
    named = set(re.findall(r"\b(\d+\.\d+)\b", goals))
    assert named == STATED


LECTURES = [(f"{chapter} {name}", chapter, spans)
            for name, named in paths.lectures(PAGE).items()
            for chapter, spans in named.items()]


@pytest.mark.parametrize("chapter, spans", [pytest.param(*rest, id=name)
                                            for name, *rest in LECTURES])
def test_a_lecture_defines_what_it_uses(chapter, spans):
    [path] = BOOK.glob(f"{chapter}_*.ipynb")
    chosen = paths.chosen(notebook(path), spans)
    assert paths.undefined(notebook(path), chosen) == []


def test_every_lecture_is_read():
    [table] = re.findall(r"(?ms)^\| lecture \|.*?\n\n", PAGE)
    spans = sum(len(spans) for _, _, spans in LECTURES)
    assert 2 * spans == table.count('"') - 2 * table.count('" to "')


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
    chosen = paths.chosen(toy(), spans)
    assert [cell.id for cell in chosen] == cells
    assert paths.undefined(toy(), chosen) == missing


@pytest.mark.parametrize("span", [("Four", "Four"), ("Two", "One")])
def test_a_section_that_is_not_there_is_refused(span):
    with pytest.raises(ValueError, match="Four|Two"):
        paths.chosen(toy(), [span])


def test_a_stopped_cell_is_reported(tmp_path):
    chosen = paths.chosen(toy(), [("Two", "Two")])
    [first, second] = paths.run(tmp_path / "04_toy.ipynb", chosen)
    assert first == ("Two", "NameError: name 'twice' is not defined")
    assert second[0] == "Below"
