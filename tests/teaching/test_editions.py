"""Student editions hold no answer, run to their end, and are graded fairly."""

import ast
import csv
import shutil
from pathlib import Path
from textwrap import indent

import nbformat
import pytest

from course.answers import stored
from course.chapter import chapters
from course.exercise import faults, numbers, trio
from course.paths import ROOT
from tests.support.book import each_chapter
from tests.support.optional import absent
from tools.homework.editions import PROGRAMS, make_editions, nbgrader

STUB = "    raise NotImplementedError  # yours"
GRADED = chapters()[0]                    # run and graded from end to end


def harm(chapter):
    """What nbgrader could stop at, and with it the editions of all chapters:
    for each chapter, tests/test_exercises.py tells."""
    return faults(chapter.notebook, chapter.number)


@pytest.fixture(scope="module")
def grading(tmp_path_factory, request):
    """A course folder of its own: no invented student enters the teacher's."""
    if not (PROGRAMS / "nbgrader").exists():
        absent("nbgrader", "run `make .nbgrader/ready`")
    folder = tmp_path_factory.mktemp("grading")
    shutil.copy(ROOT / "grading" / "nbgrader_config.py", folder)
    asked = {test.callspec.params["chapter"] if hasattr(test, "callspec")
             else GRADED for test in request.session.items
             if test.path == Path(__file__)}
    sound = [chapter.name for chapter in asked if not harm(chapter)]
    if sound:
        make_editions(folder, sound)
    return folder


def edition(grading, chapter):
    if found := harm(chapter):
        pytest.fail(f"no edition of {chapter}: {found[0]}", pytrace=False)
    release = grading / "release" / chapter.name / chapter.path.name
    return nbformat.read(release, as_version=4)


@each_chapter
def test_edition_has_no_answers(grading, chapter):
    release = edition(grading, chapter)
    text = nbformat.writes(release)
    for trace in ("### BEGIN", "### END", "<details>", "@title Solution"):
        assert trace not in text
    assert not any(cell.get("outputs") for cell in release.cells)
    for exercise in numbers(chapter.notebook):
        solution, _, grade = trio(release.cells, exercise)
        assert solution.source.endswith(STUB)
        assert "hide-input" not in solution.metadata.get("tags", [])
        assert "assert" not in grade.source


@each_chapter
def test_no_other_cell_needs_an_answer(grading, chapter):
    """So the cells that nbval runs with answers run without them as well."""
    def others(code):
        numbered = {cell.id for exercise in numbers(chapter.notebook)
                    for cell in trio(code, exercise)}
        return [cell.source for cell in code if cell.id not in numbered]

    theirs, ours = edition(grading, chapter).cells, chapter.code
    theirs = [cell for cell in theirs if cell.cell_type == "code"]
    assert others(theirs) == others(ours)

    answered = {node.name for exercise in numbers(chapter.notebook)
                for node in ast.parse(trio(theirs, exercise)[0].source).body
                if isinstance(node, ast.FunctionDef)}
    assert len(answered) == len(numbers(chapter.notebook))
    trees = map(ast.parse, others(theirs))
    named = {getattr(node, "id", getattr(node, "name", None))
             for tree in trees for node in ast.walk(tree)}
    assert not answered & named


@each_chapter
def test_untouched_exercises_are_not_done_yet(grading, chapter, capsys):
    names = {}
    exec(chapter.definitions, names)
    release = edition(grading, chapter)
    for exercise in numbers(chapter.notebook):
        for cell in trio(release.cells, exercise):
            exec(cell.source, names)
        assert capsys.readouterr().out == f"{exercise} not done yet\n"


def submit(grading, student, rows):
    """Write the first of `rows` for each exercise into the student edition."""
    release = edition(grading, GRADED)
    for exercise, *_, body in {row[0]: row for row in rows[::-1]}.values():
        solution, _, _ = trio(release.cells, exercise)
        solution.source = solution.source.replace(STUB, indent(body, "    "))
    target = grading / "submitted" / student / GRADED.name / GRADED.path.name
    target.parent.mkdir(parents=True)
    nbformat.write(release, target)


@pytest.fixture(scope="module")
def graded(grading):
    """Two students: all right; and the first exercise as it was handed out,
    the others answered for the visible check alone, where more is hidden.
    -> the course folder."""
    right, hidden = (stored(GRADED.number)[kind]
                     for kind in ("RIGHT", "HIDDEN"))
    submit(grading, "right", right)
    submit(grading, "hardly",
           [row for row in hidden if row[0] != numbers(GRADED.notebook)[0]])
    nbgrader(grading, "autograde", GRADED.name)
    return grading


def test_submissions_earn_what_they_should(graded):
    nbgrader(graded, "export", "--to", "points.csv")
    rows = list(csv.DictReader((graded / "points.csv").open()))
    points = {row["student_id"]: (float(row["score"]), float(row["max_score"]))
              for row in rows if row["assignment"] == GRADED.name}
    most = sum(cell.metadata.nbgrader.points
               for cell in edition(graded, GRADED).cells
               if cell.id.startswith("grade-"))
    assert most > 0
    assert points == {"right": (most, most), "hardly": (0, most)}


def test_an_edition_runs_to_its_end(graded):
    path = graded / "autograded" / "hardly" / GRADED.name / GRADED.path.name
    code = [cell for cell in nbformat.read(path, as_version=4).cells
            if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in code)
    stopped = {cell.id for cell in code for output in cell.outputs
               if output.output_type == "error"}
    assert stopped == {trio(code, exercise)[2].id
                       for exercise in numbers(GRADED.notebook)}
    said = {exercise: trio(code, exercise)[1].outputs[0].text.strip()
            for exercise in numbers(GRADED.notebook)}
    answered = {row[0] for row in stored(GRADED.number)["HIDDEN"]} - {*list(said)[:1]}
    assert answered and len(answered) < len(said)
    for exercise, line in said.items():
        assert line.endswith("correct" if exercise in answered
                             else "not done yet")
