"""nbgrader makes the same editions, and grades them. It runs each week."""

import csv
import os
import shutil
import subprocess
from textwrap import indent

import nbformat
import pytest

from course.answers import stored
from course.chapter import chapters
from course.exercise import numbers, trio
from course.paths import ROOT
from tests.support.book import each_chapter
from tools.homework.editions import make_editions
from tools.homework.strip import STUB

PROGRAMS = ROOT / ".nbgrader" / "bin"
CONFIG = ROOT / "tools" / "homework" / "nbgrader" / "nbgrader_config.py"
GRADED = chapters()[0]
ADDED = "checksum", "cell_type"         # by nbgrader, which does without them

pytestmark = pytest.mark.skipif(
    not (PROGRAMS / "nbgrader").exists(),
    reason="nbgrader is not installed: run `make nbgrader`")


def nbgrader(folder, *command):
    """Run nbgrader in a course folder.

    Its own programs come first on the path: it calls some of them by name.
    """
    path = f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [PROGRAMS / "nbgrader", *command], cwd=folder, encoding="utf-8",
        env=os.environ | {"PATH": path},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert not done.returncode, done.stdout


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course folder with our editions in `ours`, nbgrader's in `release`."""
    folder = tmp_path_factory.mktemp("course")
    make_editions(folder, {chapter.name: chapter.notebook
                           for chapter in chapters()})
    (folder / "release").rename(folder / "ours")
    shutil.copy(CONFIG, folder)
    nbgrader(folder, "generate_assignment", "--assignment=*")
    return folder


def edition(folder, chapter):
    """The notebook of a chapter in a folder of editions."""
    return nbformat.read(folder / chapter.name / chapter.path.name, 4)


@each_chapter
def test_nbgrader_makes_the_same_edition(course, chapter):
    theirs = edition(course / "release", chapter)
    for cell in theirs.cells:
        for key in ADDED:
            cell.metadata.get("nbgrader", {}).pop(key, None)
    assert edition(course / "ours", chapter) == theirs


def submit(course, student, rows):
    """Write the first of `rows` for each exercise into our edition."""
    answered = edition(course / "ours", GRADED)
    for exercise, *_, body in {row[0]: row for row in rows[::-1]}.values():
        solution, _, _ = trio(answered.cells, exercise)
        solution.source = solution.source.replace(f"    {STUB}",
                                                  indent(body, "    "))
    target = course / "submitted" / student / GRADED.name / GRADED.path.name
    target.parent.mkdir(parents=True)
    nbformat.write(answered, target)


@pytest.fixture(scope="module")
def graded(course):
    """Two students: all right; and the first exercise as it was handed out,
    the others answered for the visible check alone, where more is hidden.
    -> the course folder."""
    right, hidden = (stored(GRADED.number)[kind]
                     for kind in ("RIGHT", "HIDDEN"))
    submit(course, "right", right)
    submit(course, "hardly",
           [row for row in hidden if row[0] != numbers(GRADED.notebook)[0]])
    nbgrader(course, "autograde", GRADED.name)
    return course


def test_submissions_earn_what_they_should(graded):
    nbgrader(graded, "export", "--to", "points.csv")
    with (graded / "points.csv").open(encoding="utf-8") as file:
        points = {row["student_id"]: (float(row["score"]),
                                      float(row["max_score"]))
                  for row in csv.DictReader(file)
                  if row["assignment"] == GRADED.name}
    most = sum(cell.metadata.nbgrader.points
               for cell in edition(graded / "ours", GRADED).cells
               if cell.id.startswith("grade-"))
    assert most > 0
    assert points == {"right": (most, most), "hardly": (0, most)}


def test_an_edition_runs_to_its_end(graded):
    cells = edition(graded / "autograded" / "hardly", GRADED).cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in code)
    exercises = numbers(GRADED.notebook)
    stopped = {cell.id for cell in code for output in cell.outputs
               if output.output_type == "error"}
    assert stopped == {trio(code, number)[2].id for number in exercises}
    lines = {number: trio(code, number)[1].outputs[0].text.strip()
             for number in exercises}
    answered = {row[0] for row in stored(GRADED.number)["HIDDEN"]}
    answered -= {exercises[0]}
    assert answered and len(answered) < len(lines)
    for number, line in lines.items():
        assert line.endswith("correct" if number in answered
                             else "not done yet")
