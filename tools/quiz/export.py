"""The book's predictions and wrong beliefs as questions for Moodle and Canvas.

python -m tools.quiz [NN]

Writes to _build/questions/, by chapter and all together: NN_topic.xml (Moodle
XML) and NN_topic.zip (IMS QTI 1.2). The environment's SITE_URL is the address
of the book; without one, no question has a link.
"""

import os
import sys
from itertools import groupby

from course.paths import ROOT
from tools.quiz import moodle, qti
from tools.quiz.banks import banks
from tools.quiz.written import written

FOLDER = ROOT / "_build" / "questions"


def main(number=None):
    made = [*banks(number)]
    if not made:
        sys.exit("no such chapter: CHAPTER takes its number, as in CHAPTER=04")
    files = {page: [*of] for page, of in groupby(
        made, lambda bank: bank.questions[0].place.page)}
    if not number:
        files["all"] = made
    FOLDER.mkdir(parents=True, exist_ok=True)
    site = os.environ.get("SITE_URL", "").rstrip("/")
    for platform, suffix in ((moodle, ".xml"), (qti, ".zip")):
        questions = written(made, platform.formula, site)
        for name, of in files.items():
            platform.write(of, questions, FOLDER / f"{name}{suffix}")
    for name, of in files.items():
        print(f"{name}.xml, {name}.zip:",
              sum(len(bank.questions) for bank in of), "questions")
    print(f"in {FOLDER.relative_to(ROOT)}")
