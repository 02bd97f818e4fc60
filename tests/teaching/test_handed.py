"""What was handed out stays: no upstream change takes it from a term."""

import copy

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


def again(course, change):
    made = copy.deepcopy(chapters()[0].notebook)
    change(made)
    return editions.make_editions(course, {NAME: made})


def everything(course):
    return {path.relative_to(course): path.read_bytes()
            for path in course.rglob("*") if path.is_file()}


def test_a_second_edition_stands_beside_the_first(course):
    (first, kept), = handed.editions(course, NAME).items()
    before = {path: path.read_bytes() for path in kept.parent.iterdir()}
    [path] = again(course, points)
    second = cells.GradedChapter(path).edition
    assert [*handed.editions(course, NAME)] == [first, second] != [first] * 2
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
    facts = nbformat.read(kept, as_version=4).metadata.edition
    assert set(facts) == {"commit", "made"}
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
