"""Every wrong answer is told its mistake; right ones pass, however written."""

from collections import Counter
from copy import deepcopy

import chapters
import pytest
from answers import Exercise

RIGHT, WRONG, HIDDEN = (
    [pytest.param(path, *row, id=f"{path.name[:2]} {row[0]} {row[1]}")
     for path in chapters.CHAPTERS for row in chapters.answers(path)[kind]]
    for kind in range(3)
)


def verdicts(path, number, body):
    exercise = Exercise(path, number)
    return exercise.says(exercise.names(body))


@chapters.each_chapter
def test_an_exercise_has_one_number(path):
    assert not chapters.misnamed(chapters.notebook(path), path.name[:2])


def pasted(cells):
    """As JupyterLab pastes them: new ids, all else as it was."""
    for cell in cells:
        cell.id = f"pasted-{cell.id}"


def copied(cells):
    """A second exercise, made of the first: its caption is new, no more."""
    more = deepcopy(cells)
    more[0].source = more[0].source.replace("Exercise 4.3", "Exercise 4.9")
    pasted(more)
    cells += more


def unknown_to_nbgrader(cells):
    for cell in cells:
        cell.metadata.pop("nbgrader", None)


@pytest.mark.parametrize("harm, found, complaint", [
    (pasted, ["4.3"], "id pasted-grade-4-3, but grade_id grade-4-3"),
    (copied, ["4.3", "4.9"], "grade_id grade-4-3 stands 2 times"),
    (copied, ["4.3", "4.9"],
     "under exercise 4.9: solution-4-3, check-4-3, grade-4-3"),
    (unknown_to_nbgrader, ["4.3"], "no nbgrader metadata: solution-4-3"),
    (lambda cells: cells.pop(2), ["4.3"],
     "under exercise 4.3: solution-4-3, grade-4-3"),
    (lambda cells: cells.pop(3), ["4.3"],
     "under exercise 4.3: solution-4-3, check-4-3"),
    (lambda cells: cells.pop(0), [None],
     "under exercise None: solution-4-3, check-4-3, grade-4-3"),
    (lambda cells: cells.insert(0, cells[0]), ["4.3"],
     "exercise 4.3 is stated 2 times"),
    (lambda cells: cells[0].update(source="**Exercise 5.3**"), ["5.3"],
     "exercise 5.3 in chapter 04"),
])
def test_no_exercise_is_lost(harm, found, complaint):
    [path] = [path for path in chapters.CHAPTERS if path.name[:2] == "04"]
    book = deepcopy(chapters.notebook(path))
    first, last = ([cell.id for cell in book.cells].index(f"{kind}-4-3")
                   for kind in ("exercise", "grade"))
    book.cells = book.cells[first:last + 1]
    assert not chapters.misnamed(book, "04")
    harm(book.cells)
    assert chapters.graded(book) == found
    assert complaint in chapters.misnamed(book, "04")


@chapters.each_chapter
def test_every_exercise_has_answers_enough(path):
    exercises = set(chapters.exercises(path))
    for rows, least in zip(chapters.answers(path), (2, 4, 1), strict=True):
        count = Counter(row[0] for row in rows)
        if least == 1:                  # numbers leave the grade nothing more
            count.update(number for number in exercises if "exact numbers"
                         in Exercise(path, number).promises)
        assert set(count) == exercises
        assert min(count.values(), default=least) >= least
        assert len({row[:2] for row in rows}) == len(rows)


@pytest.mark.parametrize("path, exercise, how, body", RIGHT)
def test_right_answers_pass(path, exercise, how, body):
    said, raised = verdicts(path, exercise, body)
    assert said.startswith(f"{exercise} correct")
    assert raised is None


@pytest.mark.parametrize("path, exercise, mistake, words, body", WRONG)
def test_wrong_answers_are_told_why(path, exercise, mistake, words, body):
    printed, raised = verdicts(path, exercise, body)
    assert printed == raised
    assert words in printed
    assert printed.startswith(f"{exercise} not ")


@pytest.mark.parametrize("path, exercise, mistake, words, body", HIDDEN)
def test_hidden_tests_see_more(path, exercise, mistake, words, body):
    printed, raised = verdicts(path, exercise, body)
    assert printed.startswith(f"{exercise} correct")
    assert raised.startswith(f"{exercise} not yet: ")
    assert words in raised
