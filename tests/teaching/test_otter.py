"""Tests for otter-grader: what they say of known answers, in it and alone."""

import ast
import inspect
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import types

import nbformat
import pytest

from course.answers import AnsweredExercise
from course.chapter import chapters
from course.code import reads_and_defines
from course.exercise import numbers, trio, with_body
from course.paths import ROOT
from tools.homework import editions, otter

GRADED = "08"
SAMPLED = "08", "16"                    # 16 watches who is called; GRADE_ALL=1


class Case:
    """otter's decorator of a test, as far as a test file shows it."""

    def __init__(self, name, points, hidden=False):
        self.points, self.hidden = points, hidden

    def __call__(self, function):
        self.function = function
        return self


@pytest.fixture
def without_otter(monkeypatch):
    stand_in = types.ModuleType("otter.test_files")
    stand_in.test_case = Case
    monkeypatch.setitem(sys.modules, "otter", types.ModuleType("otter"))
    monkeypatch.setitem(sys.modules, "otter.test_files", stand_in)


def export(course, chapter):
    """Its folder for otter, below the course folder `course`."""
    editions.main([chapter.number, "--for", "otter", "--course", str(course)])
    [folder] = (course / "otter").glob(f"{chapter.number}_*")
    return folder


def passed(case, names):
    try:
        case.function(names)
    except Exception:
        return False
    return True


def by_reference(exercise):
    """An answer that calls what its check compares with; or None."""
    given = inspect.getfullargspec(exercise.names("pass")[exercise.name]).args
    found = re.search(r"def (reference_\w+)", exercise.check.source)
    return found and f"return {found[1]}({', '.join(given)})"


def notebook_of(exercise, body):
    """What otter has run before a test: no check, so no reference."""
    names = exercise.names(body)
    for name in reads_and_defines(
            f"{exercise.check.source}\n{exercise.grade.source}")[1]:
        names.pop(name, None)
    return names


@pytest.mark.parametrize("chapter", chapters(
    *() if "GRADE_ALL" in os.environ else SAMPLED), ids=str)
def test_a_test_knows_each_answer(without_otter, chapter, tmp_path):
    """Right, wrong, wrong where only hidden tests look, and a reference."""
    folder = export(tmp_path, chapter)
    for number in numbers(chapter.notebook):
        exercise = AnsweredExercise(chapter, number)
        made = runpy.run_path(str(
            folder / "tests" / f"exercise_{number.replace('.', '_')}.py"))
        assert (made["name"], made["OK_FORMAT"]) == (number, False)
        assert made["all_or_nothing"]
        check, hidden = made["check"], made["hidden"]
        assert (check.points, check.hidden) == (0, False)
        assert (hidden.points, hidden.hidden) == (exercise.points, True)
        assert not passed(check, {})
        wrong, subtle = exercise.mistakes()
        rows = [*((row[1], True, True) for row in exercise.right),
                *((row[1], False, False) for row in wrong),
                *((row[1], True, False) for row in subtle),
                ("raise NotImplementedError", False, False),
                ("raise SystemExit", False, False)]
        if reference := by_reference(exercise):
            rows.append((reference, False, False))
        for body, *wanted in rows:
            names = notebook_of(exercise, body)
            assert [passed(check, names), passed(hidden, names)] == wanted, (
                number, body)


def test_what_is_written_is_what_was_read(tmp_path):
    source = "s = r'a\\n' + \"\"\"b\n\"\"\""
    for text in (source, "'\u00e9'", "x = \'\'\'1\'\'\'"):
        assert ast.literal_eval(otter.literal(text)).strip() == text
    folder = export(tmp_path, chapters(GRADED)[0])
    ignored = {cell.id for cell in nbformat.read(
        folder / f"{folder.name}.ipynb", 4).cells
        if "otter_ignore" in cell.metadata.get("tags", ())}
    assert ignored == {f"{part}-8-{i}" for part in ("check", "grade")
                       for i in (1, 2, 3, 4)}
    pins = (folder / "requirements.txt").read_text("utf-8").split()
    assert {*pins} < {*(ROOT / "requirements.txt").read_text("utf-8").split()}
    assert len(pins) == len(otter.NEEDED)
    editions.main([GRADED, "--only", "8.2", "--for", "otter",
                   "--course", str(tmp_path)])
    assert [path.name for path in (folder / "tests").iterdir()] == [
        "exercise_8_2.py"]


@pytest.fixture(scope="module")
def zipped(tmp_path_factory):
    """The folder of a chapter, in which otter made its autograder.zip."""
    if not shutil.which("otter"):
        pytest.skip("otter-grader is not installed: it is tried each week")
    folder = export(tmp_path_factory.mktemp("course"), chapters(GRADED)[0])
    subprocess.run(["otter", "generate"], cwd=folder, check=True)
    return folder


def earned(folder, bodies):
    """{exercise: points} by `otter run` of a notebook with these answers."""
    notebook = nbformat.read(folder / f"{folder.name}.ipynb", 4)
    for number, body in bodies.items():
        solution, _, _ = trio(notebook.cells, number)
        solution.source = with_body(
            AnsweredExercise(chapters(GRADED)[0], number).solution.source,
            body)
    nbformat.write(notebook, folder / "submission.ipynb")
    subprocess.run(["otter", "run", "--no-logo", "submission.ipynb"],
                   cwd=folder, check=True)
    results = json.loads((folder / "results.json").read_text("utf-8"))
    return {one["name"]: one["score"] for one in results["tests"]
            if "score" in one}


def test_otter_gives_the_points(zipped):
    """The book's answers; none; one that is wrong and one by the reference."""
    exercises = [AnsweredExercise(chapters(GRADED)[0], number)
                 for number in numbers(chapters(GRADED)[0].notebook)]
    most = {each.number: each.points for each in exercises}
    right = {each.number: each.body for each in exercises}
    assert earned(zipped, right) == most
    assert earned(zipped, {}) == dict.fromkeys(most, 0)
    first, second, *_ = exercises
    (_, subtle), *_ = first.mistakes()[1]
    assert earned(zipped, right | {first.number: subtle, second.number:
                                   by_reference(second)}) == most | {
        first.number: 0, second.number: 0}
