"""Every wrong answer is told its mistake; right ones pass, however written."""

from collections import Counter
from copy import deepcopy

import pytest

from course.answers import AnsweredExercise, stored
from course.chapter import chapter, chapters
from course.exercise import faults, numbers
from tests.support.book import each_chapter

RIGHT, WRONG, HIDDEN = (
    [pytest.param(chapter, *row, id=f"{chapter.number} {row[0]} {row[1]}")
     for chapter in chapters() for row in stored(chapter.number)[kind]]
    for kind in ("RIGHT", "WRONG", "HIDDEN"))


def verdicts(chapter, number, body):
    exercise = AnsweredExercise(chapter, number)
    return exercise.says(exercise.names(body))


@each_chapter
def test_an_exercise_has_one_number(chapter):
    assert not faults(chapter.notebook, chapter.number)


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
    book = deepcopy(chapter("04").notebook)
    first, last = ([cell.id for cell in book.cells].index(f"{kind}-4-3")
                   for kind in ("exercise", "grade"))
    book.cells = book.cells[first:last + 1]
    assert not faults(book, "04")
    harm(book.cells)
    assert numbers(book) == found
    assert complaint in faults(book, "04")


@each_chapter
def test_every_exercise_has_answers_enough(chapter):
    exercises = set(numbers(chapter.notebook))
    for kind, least in (("RIGHT", 2), ("WRONG", 4), ("HIDDEN", 1)):
        rows = stored(chapter.number)[kind]
        count = Counter(row[0] for row in rows)
        if least == 1:                  # numbers leave the grade nothing more
            count.update(number for number in exercises if "exact numbers"
                         in AnsweredExercise(chapter, number).promises)
        assert set(count) == exercises
        assert min(count.values(), default=least) >= least
        assert len({row[:2] for row in rows}) == len(rows)


@pytest.mark.parametrize("chapter, exercise, how, body", RIGHT)
def test_right_answers_pass(chapter, exercise, how, body):
    said, raised = verdicts(chapter, exercise, body)
    assert said.startswith(f"{exercise} correct")
    assert raised is None


@pytest.mark.parametrize("chapter, exercise, mistake, words, body", WRONG)
def test_wrong_answers_are_told_why(chapter, exercise, mistake, words, body):
    printed, raised = verdicts(chapter, exercise, body)
    assert printed == raised
    assert words in printed
    assert printed.startswith(f"{exercise} not ")


@pytest.mark.parametrize("chapter, exercise, mistake, words, body", HIDDEN)
def test_hidden_tests_see_more(chapter, exercise, mistake, words, body):
    printed, raised = verdicts(chapter, exercise, body)
    assert printed.startswith(f"{exercise} correct")
    assert raised.startswith(f"{exercise} not yet: ")
    assert words in raised
