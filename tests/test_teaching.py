"""What teachers are told to assign exists, under that name and number."""

import re

import pytest
from chapters import BOOK, CHAPTERS, cells

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
