"""The pages for teachers, and what a chapter's sheet says."""

import re
from dataclasses import dataclass
from pathlib import Path

BOOK = Path(__file__).resolve().parents[1] / "book"
GRADING = BOOK / "teaching_grades.md"
HOMEWORK = BOOK / "teaching_homework.md"
LECTURES = BOOK / "teaching_lectures.md"
SHEETS = BOOK / "teaching_chapters.md"
SHEET = re.compile(r"(?ms)^## (\d\d)\. .*?(?=^## |\Z)")
GOAL = re.compile(r"(?m)^\| (.+?) \| (\d+\.\d+) \| (\d+) \| (\d+) \|$")
BELIEF = re.compile(r'(?m)^\| (.+?) \| (.+?) \| "([^"]+)".*\|$')


@dataclass
class Sheet:
    """A chapter's goals by exercise, and its wrong beliefs."""

    goals: dict         # {"4.1": what a student can do after it}
    beliefs: list       # [(belief, what is the case, heading), ...]


def sheets():
    """{"04": its sheet, ...}"""
    return {found[1]: Sheet({number: goal for goal, number, *_
                             in GOAL.findall(found[0])},
                            BELIEF.findall(found[0]))
            for found in SHEET.finditer(SHEETS.read_text("utf-8"))}
