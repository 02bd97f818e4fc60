"""The book's predictions, and what is true or false, as questions for Moodle.

python -m tools.quiz [NN]

Writes Moodle XML to _build/questions/, by chapter and all together. The
environment's SITE_URL is the address of the book; without one, no question has
a link.
"""

import os
import sys
from itertools import groupby

from course.paths import BUILD
from tools.quiz import moodle
from tools.quiz.banks import banks
from tools.quiz.written import written

FOLDER = BUILD / "questions"


def main(*numbers: str) -> None:
    """Write the questions of the chapters named, or of all."""
    try:
        asked = [*banks(*numbers)]
    except ValueError as error:
        sys.exit(f"{error}: CHAPTER takes its number, as in CHAPTER=04")
    FOLDER.mkdir(parents=True, exist_ok=True)
    site = os.environ.get("SITE_URL", "").rstrip("/")
    made = written(asked, site)
    files = {page: [*group] for page, group in groupby(
        made, lambda bank: bank.questions[0].page)}
    if not numbers:
        files["all"] = made
    for name, group in files.items():
        moodle.write(group, FOLDER / f"{name}.xml")
        print(f"{name}.xml:",
              sum(len(bank.questions) for bank in group), "questions")
    print(f"in {FOLDER}")
