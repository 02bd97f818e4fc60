"""The pages for teachers, and what a chapter's sheet says."""

import re
from dataclasses import dataclass

from course.paths import BOOK

GRADING = BOOK / "teaching_grades.md"
HOMEWORK = BOOK / "teaching_homework.md"
LECTURES = BOOK / "teaching_lectures.md"
SHEETS = BOOK / "teaching_chapters.md"
SHEET = re.compile(r"(?ms)^## (\d\d)\. .*?(?=^\(sheet-|^## |\Z)")
GOAL = re.compile(r"(?m)^\| (.+?) \| (\d+\.\d+) \| (\d+) \| (\d+) \|$")
BELIEF = re.compile(r'(?m)^\| (.+?) \| (.+?) \| "([^"]+)".*\|$')


@dataclass
class Sheet:
    """A chapter's goals by exercise, and its wrong beliefs."""

    goals: dict[str, str]       # {"4.1": what a student can do after it}
    beliefs: list[tuple[str, str, str]]     # (belief, what is so, heading)


def sheets() -> dict[str, Sheet]:
    """{"04": its sheet, ...}"""
    return {sheet[1]: Sheet({number: goal for goal, number, *_
                             in GOAL.findall(sheet[0])},
                            BELIEF.findall(sheet[0]))
            for sheet in SHEET.finditer(SHEETS.read_text("utf-8"))}
