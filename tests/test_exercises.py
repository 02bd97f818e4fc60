"""Every wrong answer is told its mistake; right ones pass, however written."""

from collections import Counter

import chapters
import pytest
from answers import Exercise

RIGHT, WRONG, HIDDEN = (
    [pytest.param(path, *row, id=f"{row[0]} {row[1]}")
     for path in chapters.CHAPTERS for row in chapters.answers(path)[kind]]
    for kind in range(3)
)


def verdicts(path, number, body):
    exercise = Exercise(path, number)
    return exercise.says(exercise.names(body))


@chapters.each_chapter
def test_every_exercise_has_answers_enough(path):
    exercises = set(chapters.exercises(path))
    for rows, least in zip(chapters.answers(path), (2, 4, 1), strict=True):
        count = Counter(row[0] for row in rows)
        assert set(count) == exercises
        assert min(count.values(), default=least) >= least
        assert len({row[:2] for row in rows}) == len(rows)


@pytest.mark.parametrize("path, exercise, how, body", RIGHT)
def test_right_answers_pass(path, exercise, how, body):
    said, raised = verdicts(path, exercise, body)
    assert said.startswith(f"{exercise} correct") and raised is None


@pytest.mark.parametrize("path, exercise, mistake, words, body", WRONG)
def test_wrong_answers_are_told_why(path, exercise, mistake, words, body):
    printed, raised = verdicts(path, exercise, body)
    assert printed == raised and words in printed
    assert printed.startswith(f"{exercise} not ")


@pytest.mark.parametrize("path, exercise, mistake, words, body", HIDDEN)
def test_hidden_tests_see_more(path, exercise, mistake, words, body):
    printed, raised = verdicts(path, exercise, body)
    assert printed.startswith(f"{exercise} correct")
    assert raised.startswith(f"{exercise} not yet: ") and words in raised
