"""What a student is told: correct, not yet and why, or not done yet."""

import linecache

import numpy as np
import pytest

from course.answers import lesson, program
from course.chapter import chapters
from course.verdict import close
from tests.support.book import each_chapter

NAMES = lesson(chapters()[0])
MEAN = """
def center(X):
    return X - X.mean(axis=-1)
"""


def stops(error):
    raise error


def answers(X):
    def check():
        if X is None:
            raise NotImplementedError
        return X() if callable(X) else X
    return check


@pytest.mark.parametrize("hint, line", [
    ("", "0.0 correct"),
    (None, "0.0 not done yet"),
    ("is it so?", "0.0 not yet: is it so?"),
    (" two\n  lines ", "0.0 not yet: two lines"),
    (lambda: None, "0.0 correct"),
    (lambda: None + 1, "0.0 not yet: does your function return its result?"
     " (TypeError: unsupported operand type(s) for +: 'NoneType' and 'int')"),
    (3, "0.0 not yet: 3"),
    (lambda: stops(NotImplementedError("no matmul for strings")), "0.0 not"
     " yet: it stops with NotImplementedError: no matmul for strings"),
    (lambda: {}["a"], "0.0 not yet: it stops with KeyError: 'a'"),
    (lambda: np.ones(2) + np.ones(3), "0.0 not yet: shapes clash: it stops"
     " with ValueError: operands could not be broadcast together with"
     " shapes (2,) (3,)"),
])
def test_verdict(hint, line, capfd):
    assert NAMES["verdict"]("0.0", answers(hint)) == line
    assert capfd.readouterr() == ("", "")


def test_verdict_is_silent_where_numbers_overflow(recwarn):
    def check():
        return "" if np.float32(1e38) * np.float32(1e38) == np.inf else "no"

    assert NAMES["verdict"]("0.0", check) == "0.0 correct"
    assert not recwarn.list


def said(answer, check="return None if center(np.ones((3, 4))) else 1"):
    """What verdict says when a check meets an answer, in cells of their own."""
    names = dict(NAMES)
    exec(program("<an answer>", answer), names)
    exec(program("<its check>", f"def check_0_0():\n    {check}"), names)
    return names["verdict"]("0.0", names["check_0_0"])


def test_the_line_and_the_shapes_are_told():
    line = said(MEAN)
    assert "in your line 'return X - X.mean(axis=-1)'; there X (3, 4)" in line
    assert "shapes clash, is a keepdims=True missing? it stops" in line


@pytest.mark.parametrize("answer", [
    MEAN.replace("axis=-1", "axis=-1, keepdims=True") + "    + np.ones(9)",
    "def center(X):\n    return X + np.ones(9)"])
def test_keepdims_is_named_only_where_it_is_missing(answer):
    answer = answer.replace("True)\n    +", "True) +")
    assert "shapes clash: it stops" in said(answer)


def test_a_mistake_in_a_helper_is_told_by_the_answers_own_line():
    helper = ("def help(X):\n    return X[7]\n\n"
              "def center(X):\n    return help(X)")
    assert "in your line 'return help(X)'" in said(helper)


def test_float32_is_accepted_with_a_word():
    check = "return '' if close(center(), [0.1, 1000]) else 'far off'"
    words = ", to the accuracy of float32"
    for numbers, end in (("[0.1, 1000]", "0.0 correct"),
                         ("np.float32([0.1, 1000.0001])", f"correct{words}"),
                         ("[0.1, 1001]", "far off")):
        answer = f"def center():\n    return {numbers}"
        assert said(answer, check).endswith(end)


@pytest.mark.parametrize("got, want", [
    (1, 1), ([], []), ([np.inf, 1], [np.inf, 1]), ([np.nan], [np.nan]),
    ([[0.0, 0]], [[0, 0]]), ([1e-7 + 1, 100], [1, 100])])
def test_close(got, want):
    assert close(got, want)


@pytest.mark.parametrize("got, want", [
    (1, 2), ([1.0], 1), ([np.inf], [1]), ([1], [np.inf]), ([np.nan], [1]),
    ([[1e-9, 0], [1, 1]], [[0, 0], [1, 1]]),        # a row of its own size
    ([-np.inf], [np.inf]), ([1e-3, 1], [0, 1])])
def test_not_close(got, want):
    assert not close(got, want)


@each_chapter
def test_a_students_verdict_is_put_back(chapter):
    """Locked, so that grading takes the teacher's own."""
    [cell] = [cell for cell in chapter.code if cell.id == "verdict"]
    assert cell.metadata.nbgrader.locked


def test_two_cells_of_one_name_are_quoted_from_their_own_lines():
    cells = [program("<a cell>", f"x = {n}") for n in (1, 2, 1)]
    assert [linecache.getline(cell.co_filename, 1) for cell in cells] == [
        "x = 1", "x = 2", "x = 1"]
