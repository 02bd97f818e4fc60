"""Every wrong answer is told its mistake; right ones pass, however written."""

import io
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout

import chapters
import pytest

RIGHT, WRONG, HIDDEN = (
    [pytest.param(path, *row, id=f"{row[0]} {row[1]}")
     for path in chapters.CHAPTERS for row in chapters.answers(path)[kind]]
    for kind in range(3)
)


def verdicts(path, exercise, body):
    """What the check prints, and what the grade raises: its words, or None.

    Runs what an exercise leans on, not the chapter: imports and functions,
    then the answer, the check and the grade.
    """
    code = chapters.cells(path, "code")
    solution, check, grade = chapters.trio(code, exercise)
    names = {}
    exec(chapters.definitions(path), names)
    exec(chapters.answer(solution.source, body), names)
    with (redirect_stdout(io.StringIO()) as printed,
          redirect_stderr(io.StringIO()) as complaints):
        exec(check.source, names)
    assert not complaints.getvalue()
    said = printed.getvalue().removesuffix("\n")
    assert "\n" not in said
    try:
        exec(grade.source, names)
    except AssertionError as error:
        return said, str(error)
    return said, None


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
    assert verdicts(path, exercise, body) == (f"{exercise} correct", None)


@pytest.mark.parametrize("path, exercise, mistake, words, body", WRONG)
def test_wrong_answers_are_told_why(path, exercise, mistake, words, body):
    printed, raised = verdicts(path, exercise, body)
    assert printed == raised and words in printed
    assert printed.startswith(f"{exercise} not ")


@pytest.mark.parametrize("path, exercise, mistake, words, body", HIDDEN)
def test_hidden_tests_see_more(path, exercise, mistake, words, body):
    printed, raised = verdicts(path, exercise, body)
    assert printed == f"{exercise} correct"
    assert raised.startswith(f"{exercise} not yet: ") and words in raised
