"""The battery finds what it is built for, and a sample of it finds no hole.

All of it: `make battery`.
"""

import pytest

from course.answers import AnsweredExercise
from course.chapter import chapters
from course.exercise import numbers
from tools.battery import battery
from tools.battery.mutants import mutants

SAMPLE = 10                             # candidates an exercise
DRAWS = 100
EVERY = [pytest.param(chapter, number, id=f"{chapter} exercise {number}")
         for chapter in chapters() for number in numbers(chapter.notebook)]


@pytest.mark.parametrize("chapter, number", EVERY)
def test_statement_and_domain_are_complete(chapter, number):
    assert not list(battery.gaps(AnsweredExercise(chapter, number)))


@pytest.mark.parametrize("chapter, number", EVERY)
def test_a_sample_of_wrong_answers_is_refused(chapter, number):
    exercise = AnsweredExercise(chapter, number)
    rows = battery.tried(exercise, SAMPLE, DRAWS)
    assert len(rows) == SAMPLE
    assert not [row for row in rows if row[2] == "accepted"]


@pytest.mark.parametrize("chapter, number", EVERY)
def test_right_answers_of_students_kinds_are_accepted(chapter, number):
    assert not list(battery.refused(AnsweredExercise(chapter, number)))


@pytest.mark.parametrize("body, wrong", [
    ("return X.mean(axis=-1)", "return X.sum(axis=-1)"),
    ("return X.mean(axis=-1)", "return X.mean(axis=-2)"),
    ("return X.mean(axis=-1)", "return X.mean()"),
    ("return X - Y", "return Y - X"),
    ("return X - Y", "return X"),
    ("return X @ Y.mT", "return X @ Y"),
    ("return X @ Y", "return Y @ X"),
    ("return -X", "return X"),
    ("return f(X, Y)", "return f(Y, X)"),
    ("return X, Y", "return (Y, X)"),
    ("return X.shape[-1]", "return 4"),
    ("B, n = X.shape\nreturn n", "B, n = X.shape\nn = 3\nreturn n"),
    ("X = X + Y\nreturn X", "X += Y\nreturn X"),
    ("X = abs(X)\nreturn X", "X[...] = abs(X)\nreturn X"),
    ("return np.einsum('nd,dk->nk', X, Y)",
     "return np.einsum('nd,dk->kn', X, Y)"),
    ("return X > 0", "return X >= 0"),
    ("a = X\nb = a + 1\nreturn b", "a = X\npass\nreturn b"),
])
def test_mutants_hold_the_usual_mistakes(body, wrong):
    found = mutants(body, {"X", "Y"})
    assert wrong in found and body not in found


class Toy(AnsweredExercise):
    """The mean of tokens, with a check as good as its last argument."""

    def __init__(self, refuses):
        self.number, self.refuses = "0.0", refuses
        self.promises = {"inputs unchanged", "any leading axes"}
        self.right = [("own", "return X.mean(axis=-1)")]
        self.precise = ""

    name = "mean"

    def draw(self, rng):
        shape = rng.integers(2, 6, size=rng.integers(1, 4))
        return (100 * rng.normal(size=shape),)

    def names(self, body):
        names = {"np": battery.np}
        exec("def mean(X):\n    " + body.replace("\n", "\n    "), names)
        return names

    def says(self, names):
        try:
            wrong = self.refuses(names["mean"])
        except Exception:
            wrong = True
        return f"0.0 {'not yet' if wrong else 'correct'}", None


def loose(mean):
    return abs(mean(battery.np.ones(3)) - 1) > 0.1


def tight(mean):
    for seed in range(40):
        [X] = Toy.draw(None, battery.np.random.default_rng(seed))
        X[..., 0] += 1e-3
        before = X.copy()
        if not battery.equal(mean(X), before.mean(axis=-1)):
            return True
        if not battery.equal(X, before):
            return True
        small = 1e-5 * X
        if not battery.equal(mean(small), 1e-5 * before.mean(axis=-1)):
            return True


@pytest.mark.parametrize("first, where", [
    ("X + 1", ["line 1"]),              # a new array from line 2 on
    ("X.T", ["line 1", "line 2"]),      # still the input
])
def test_only_an_input_is_overwritten(first, where):
    body = f"X = {first}\nX = X * 2\nreturn X"
    said = [what for what in mutants(body, ("X",)).values()
            if what.endswith("overwritten")]
    assert said == [f"{line}: an input overwritten" for line in where]


def test_a_loose_check_is_found_and_a_tight_one_is_not():
    holes = {row[1] for row in battery.tried(Toy(loose))
             if row[2] == "accepted"}
    assert {"changes input 0", "wrong for 2 axes", "clip of input 0",
            "abs of input 0", "one length of axis -1 of input 0"} <= holes
    assert any("axis" in hole and "own" in hole for hole in holes)
    assert not [row for row in battery.tried(Toy(tight))
                if row[2] == "accepted"]


def test_an_endless_answer_is_refused():
    def hangs(mean):
        raise battery.Endless

    toy = Toy(hangs)
    assert battery.judged(toy, toy.names("return 1"))[1] == "it does not end"


def test_what_differs_is_not_equal():
    one = battery.np.ones(3)
    for other in (one + 1e-6, one.astype("float32"), [1.0, 1.0, 2.0], None,
                  one[:2], (one, one), [1, 1, 1]):
        assert not battery.equal(one, other)
    assert battery.equal(one, [1.0, 1.0, 1.0])
    assert battery.equal([one, one], battery.np.ones((2, 3)))
    assert battery.equal({"a": one}, {"a": one * (1 + 1e-12)})
