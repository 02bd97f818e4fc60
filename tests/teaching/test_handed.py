"""What was handed out stays: no upstream change takes it from a term."""

import copy
import json
import shutil

import nbformat
import pytest
from nbformat.v4 import new_code_cell

from course.chapter import chapters
from course.edition import version
from course.exercise import trio
from course.paths import ROOT
from tools.grading import cells, handed
from tools.homework import editions

NAME = chapters()[0].name
STUDENTS = "answered by the student"


def points(made):
    trio(made.cells, "0.2")[2].metadata.nbgrader["points"] = 5


def check(made):
    trio(made.cells, "0.1")[1].source += "\n# stricter"


def added(made):
    for cell in copy.deepcopy(made.cells):
        if cell.id.endswith("-0-4"):
            text = json.dumps(cell).replace("0-4", "0-9").replace("0.4", "0.9")
            made.cells.append(nbformat.from_dict(json.loads(text)))


def removed(made):
    made.cells = [cell for cell in made.cells if not cell.id.endswith("-0-3")]


def words(made):
    made.cells[0].source += "\n\nA sentence more in the lesson."
    made.cells[1].source += "\n%time"


@pytest.fixture
def course(tmp_path):
    """A course folder with an edition of the first chapter, answered."""
    editions.make_editions(tmp_path, {NAME: chapters()[0].notebook})
    answer = tmp_path / "submitted" / "s01" / NAME / f"{NAME}.ipynb"
    answer.parent.mkdir(parents=True)
    answer.write_text(STUDENTS, "utf-8")
    return tmp_path


def again(course, change, new=False):
    made = copy.deepcopy(chapters()[0].notebook)
    change(made)
    return editions.make_editions(course, {NAME: made}, new)


def everything(course):
    return {path.relative_to(course): path.read_bytes()
            for path in course.rglob("*") if path.is_file()}


@pytest.mark.parametrize("change, said", [
    (points, "0.2 has other points"),
    (check, "0.1 has other check"), (added, "0.9 is new"),
    (removed, "0.3 is gone")])
def test_a_change_under_students_is_refused(course, change, said):
    before = everything(course)
    with pytest.raises(handed.Refused, match=f"(?s){said}.*NEW=1"):
        again(course, change)
    assert everything(course) == before
    shutil.rmtree(course / "submitted")                 # nobody is hurt
    again(course, change)


def test_what_is_graded_as_before_is_made(course):
    first, = handed.editions(course, NAME)
    [path] = again(course, words)
    assert "A sentence more" in path.read_text("utf-8")
    second = cells.GradedChapter(path).edition
    assert [*handed.editions(course, NAME)] == [first, second] != [first] * 2


def test_a_second_edition_stands_beside_the_first(course):
    (first, kept), = handed.editions(course, NAME).items()
    before = {path: path.read_bytes() for path in kept.parent.iterdir()}
    again(course, points, new=True)
    assert [*handed.editions(course, NAME)][0] == first
    assert before.items() <= {path: path.read_bytes() for path
                              in kept.parent.iterdir()}.items()
    assert (course / "submitted" / "s01" / NAME
            / f"{NAME}.ipynb").read_text("utf-8") == STUDENTS


def test_where_making_fails_nothing_is_lost(course):
    """The second of two notebooks has an answer between broken marks."""
    def breaks(made):
        made.cells[-1] = new_code_cell("### BEGIN SOLUTION", id="odd")

    good, bad = (copy.deepcopy(chapters()[0].notebook) for _ in range(2))
    words(good)
    breaks(bad)
    before = everything(course)
    with pytest.raises(ValueError, match="cell odd"):
        editions.make_editions(course, {NAME: good, "01_odd": bad})
    assert everything(course) == before


def test_an_edition_says_which_it_is(course):
    (label, kept), = handed.editions(course, NAME).items()
    assert label.startswith(f"{version(ROOT)}-")
    assert set(handed.made(kept)) == {"commit", "made"}
    release = course / "release" / NAME / f"{NAME}.ipynb"
    assert cells.stamp(cells.read(release.read_bytes())) == label


def test_which_edition_grades(course):
    first, = handed.editions(course, NAME)
    again(course, words)
    second = [*handed.editions(course, NAME)][-1]

    def chosen(*said, asked=None):
        return handed.choose(course, "00", said, asked).parent.name

    assert chosen() == chosen("", "unknown") == second
    assert chosen(first, first, second, "", "", "") == first
    assert chosen(first, first, asked=second) == second
    assert handed.choose(course, "01", [first]) is None
    with pytest.raises(ValueError, match=f"no edition x .*: {first}"):
        chosen(asked="x")
