"""What was handed out stays: no upstream change takes it from a term."""

import copy
import json
import shutil

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from course.chapter import chapters
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
    made.cells[5].source += "\n\nA sentence more in the lesson."


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course folder with an edition of the first chapter, answered.

    A program that copies stands for nbgrader: tests/test_editions.py has the
    real one.
    """
    def copies(folder, *command):
        if command[0] == "generate_assignment":
            shutil.copytree(folder / "source", folder / "release")
            (folder / "gradebook.db").write_text("new")
        else:
            (folder / "gradebook.db").write_text("emptied")

    monkeypatch.setattr(editions, "nbgrader", copies)
    shutil.copy(ROOT / "grading" / "nbgrader_config.py", tmp_path)
    editions.make_editions(tmp_path, [NAME])
    answer = tmp_path / "submitted" / "s01" / NAME / f"{NAME}.ipynb"
    answer.parent.mkdir(parents=True)
    answer.write_text(STUDENTS)
    return tmp_path


def again(course, change, new=False):
    made = copy.deepcopy(chapters()[0].notebook)
    change(made)
    return editions.make_editions(course, [NAME], [made], new)


def everything(course):
    return {path.relative_to(course): path.read_bytes()
            for path in course.rglob("*") if path.is_file()}


@pytest.mark.parametrize("change, said", [
    (points, "0.2 has 5 points instead of 2"),
    (check, "0.1 has another check"), (added, "0.9 is new"),
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
    second = cells.Chapter(path).edition
    assert [*handed.editions(course, NAME)] == [first, second] != [first] * 2


def test_a_second_edition_stands_beside_the_first(course):
    (first, kept), = handed.editions(course, NAME).items()
    before = {path: path.read_bytes() for path in kept.parent.iterdir()}
    again(course, points, new=True)
    assert [*handed.editions(course, NAME)][0] == first
    assert before.items() <= {path: path.read_bytes() for path
                              in kept.parent.iterdir()}.items()
    assert (kept.parent / "gradebook.db").read_text() == "new"
    assert (course / "submitted" / "s01" / NAME
            / f"{NAME}.ipynb").read_text() == STUDENTS


def test_where_nbgrader_fails_nothing_is_lost(course, monkeypatch):
    def fails(folder, *command):
        shutil.rmtree(folder / "source")
        raise SystemExit("no")

    before = everything(course)
    monkeypatch.setattr(editions, "nbgrader", fails)
    with pytest.raises(SystemExit):
        again(course, words)
    assert everything(course) == before
    assert not [*course.glob(".making-*")]


def test_an_edition_says_which_it_is(course):
    (label, kept), = handed.editions(course, NAME).items()
    facts = json.loads((kept.parent / "edition.json").read_text())
    cited = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"version: {facts['version']}\n" in cited
    assert label.startswith(facts["version"]) and facts["commit"]
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


@pytest.mark.parametrize("site, want", [
    ("https://x.org/a/", "read [signals](https://x.org/a/book/03_signals"
     ".html), [one](https://x.org/a/book/intro.html#b), [paper](https://y.z/)"),
    ("", "read signals, one, [paper](https://y.z/)")])
def test_links_lead_to_the_site(tmp_path, monkeypatch, site, want):
    made = new_notebook(cells=[new_markdown_cell(
        "read [signals](03_signals.ipynb), [one](intro.md#b),"
        " [paper](https://y.z/)")])
    monkeypatch.setenv("SITE_URL", site)
    editions.write(made, tmp_path / "made" / "x.ipynb")
    text = nbformat.read(tmp_path / "made" / "x.ipynb", as_version=4)
    assert text.cells[0].source.partition("\n")[0] == want
