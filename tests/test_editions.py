"""Student editions hold no answer, run to their end, and are graded fairly."""

import csv
import shutil
from textwrap import indent

import nbformat
import pytest
from chapters import CHAPTERS, ROOT, answers, each_chapter, exercises, trio
from nbclient import NotebookClient
from needs import absent

from tools.editions import PROGRAMS, make_edition, nbgrader

STUB = "    raise NotImplementedError  # yours"
GRADED = CHAPTERS[0]                    # one chapter end to end; the others'
                                        # grades run in test_exercises.py


@pytest.fixture(scope="module")
def grading(tmp_path_factory):
    """A course folder of its own: no invented student enters the teacher's."""
    if not (PROGRAMS / "nbgrader").exists():
        absent("nbgrader", "run `make .nbgrader/ready`")
    folder = tmp_path_factory.mktemp("grading")
    shutil.copy(ROOT / "grading" / "nbgrader_config.py", folder)
    for path in CHAPTERS:
        make_edition(folder, path.stem)
    return folder


def edition(grading, path):
    release = grading / "release" / path.stem / path.name
    return nbformat.read(release, as_version=4)


@each_chapter
def test_edition_has_no_answers(grading, path):
    notebook = edition(grading, path)
    text = nbformat.writes(notebook)
    for trace in ("### BEGIN", "### END", "<details>", "@title Solution"):
        assert trace not in text
    assert not any(cell.get("outputs") for cell in notebook.cells)
    for exercise in exercises(path):
        solution, _, grade = trio(notebook.cells, exercise)
        assert solution.source.endswith(STUB)
        assert "hide-input" not in solution.metadata.get("tags", [])
        assert "assert" not in grade.source


@each_chapter
def test_untouched_edition_runs_to_its_end(grading, path, tmp_path):
    notebook = edition(grading, path)
    NotebookClient(notebook, kernel_name="python3", timeout=600,
                   resources={"metadata": {"path": tmp_path}}).execute()
    for exercise in exercises(path):
        _, check, _ = trio(notebook.cells, exercise)
        assert check.outputs[0].text == f"{exercise} not done yet\n"


def submit(grading, student, rows):
    """Write the first of `rows` for each exercise into the student edition."""
    notebook = edition(grading, GRADED)
    for exercise, *_, body in {row[0]: row for row in rows[::-1]}.values():
        solution, _, _ = trio(notebook.cells, exercise)
        solution.source = solution.source.replace(STUB, indent(body, "    "))
    target = grading / "submitted" / student / GRADED.stem / GRADED.name
    target.parent.mkdir(parents=True)
    nbformat.write(notebook, target)


def test_submissions_earn_what_they_should(grading):
    right, _, hidden = answers(GRADED)
    submit(grading, "right", right)
    submit(grading, "untouched", [])
    submit(grading, "visible-only", hidden)
    nbgrader(grading, "autograde", GRADED.stem)
    nbgrader(grading, "export", "--to", "points.csv")

    rows = list(csv.DictReader((grading / "points.csv").open()))
    points = {row["student_id"]: (float(row["score"]), float(row["max_score"]))
              for row in rows if row["assignment"] == GRADED.stem}
    most = sum(cell.metadata.nbgrader.points
               for cell in edition(grading, GRADED).cells
               if cell.id.startswith("grade-"))
    assert most > 0
    assert points == {"right": (most, most), "untouched": (0, most),
                      "visible-only": (0, most)}
