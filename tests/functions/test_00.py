"""Chapter 00: products and einsum by loops, FLOPs, comparisons, a drawing."""

from itertools import product

import matplotlib
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course.chapter import functions

CHAPTER = functions("00")
SIZE = dict(zip("abcde", (2, 3, 4, 5, 1), strict=True))


@st.composite
def einsums(draw):
    """A string on one to three arrays of one to three axes, and the arrays."""
    letters = st.text("abcde", min_size=1, max_size=3)
    groups = draw(st.lists(letters, min_size=1, max_size=3))
    used = sorted(set("".join(groups)))
    output = "".join(draw(st.permutations(used)))[:draw(st.integers(0, 3))]
    rng = np.random.default_rng(draw(st.integers(0, 9)))
    arrays = [rng.normal(size=[SIZE[c] for c in group]) for group in groups]
    return ",".join(groups) + "->" + output, arrays


@settings(deadline=None, max_examples=50)
@given(einsums())
def test_loops_are_einsum(case):
    spec, arrays = case
    got = CHAPTER.einsum_by_loops(spec, *arrays)
    want = np.einsum(spec, *arrays)
    assert got.shape == want.shape and np.allclose(got, want)


@pytest.mark.parametrize("spec", ["n->nn", "n->m", "n->nm"])
def test_right_hand_letters_are_refused(spec):
    """A letter doubled on the right, or new there: as np.einsum refuses it."""
    for einsum in (CHAPTER.einsum_by_loops, np.einsum):
        with pytest.raises(ValueError):
            einsum(spec, np.ones(3))


@pytest.mark.parametrize("types", [(int, int), (int, float), (np.float32,) * 2])
def test_loops_keep_the_type_of_numbers(types):
    operands = [np.array([1, 2], kind) for kind in types]
    got = CHAPTER.einsum_by_loops("n,n->", *operands)
    assert got == 5 and got.dtype == np.einsum("n,n->", *operands).dtype


def test_loops_are_torch():
    rng = np.random.default_rng(0)
    X, W = rng.normal(size=(2, 3, 5)), rng.normal(size=(5, 4, 6))
    got = CHAPTER.einsum_by_loops("bnd,dhk->bhnk", X, W)
    want = torch.einsum(
        "bnd,dhk->bhnk", torch.tensor(X), torch.tensor(W)).numpy()
    assert np.allclose(got, want)


def test_matmul_by_loops():
    rng = np.random.default_rng(0)
    X, W = rng.normal(size=(3, 4)), rng.normal(size=(4, 5))
    assert np.allclose(CHAPTER.matmul_by_loops(X, W), X @ W)


@pytest.mark.parametrize("spec, shapes", [
    ("nd,dk->nk", [(3, 8), (6, 8)]),
    ("nd,dk->nk", [(3, 1), (8, 6)]),
    ("nn->n", [(3, 4)]),
    ("nd,dk->nk", [(3, 8, 4), (8, 6)]),
    ("nd->n", [(3,)]),
    ("nd,dk->nk", [(3, 8)]),
    ("nd->n", [(3, 8), (8, 6)]),
])
def test_sizes_that_clash_are_refused(spec, shapes):
    with pytest.raises(ValueError):
        CHAPTER.sizes_of(spec, *shapes)
    with pytest.raises(ValueError):
        CHAPTER.einsum_by_loops(spec, *map(np.ones, shapes))


def test_sizes_by_letter():
    assert CHAPTER.sizes_of("hnk,hmk->hnm", (4, 3, 6), (4, 5, 6)) == {
        "h": 4, "n": 3, "k": 6, "m": 5}


class Counted(float):
    """A number that counts how often it is multiplied."""

    count = 0

    def __mul__(self, other):
        Counted.count += 1
        return Counted(float(self) * float(other))

    __rmul__ = __mul__


@pytest.mark.parametrize("spec, lengths", [
    ("nd,dk->nk", {"n": 2, "d": 3, "k": 4}), ("n,m->nm", {"n": 3, "m": 4}),
    ("hnk,hmk->hnm", {"h": 2, "n": 3, "m": 4, "k": 5}),
])
def test_flops_are_twice_the_multiplications_of_the_loops(spec, lengths):
    Counted.count = 0
    for _ in product(*map(range, lengths.values())):
        Counted(1) * Counted(1)
    assert CHAPTER.flops(spec, **lengths) == 2 * Counted.count


def test_flops_do_not_overflow():
    n = 10**6
    assert CHAPTER.flops("ij,jk->ik", i=n, j=n, k=10**9) == 2 * n**2 * 10**9


def test_comparisons_are_counted_or_named(capsys):
    CHAPTER.ok({"one": True, "two": np.True_})
    assert capsys.readouterr().out == "ok: 2 comparisons\n"
    with pytest.raises(AssertionError, match="two"):
        CHAPTER.ok({"one": True, "two": False})


@pytest.fixture
def axes():
    matplotlib.use("agg")
    figure, ax = matplotlib.pyplot.subplots()
    yield ax
    matplotlib.pyplot.close(figure)


@pytest.mark.parametrize("spec, inputs, sums", [
    ("nd,dk->nk", 2, 1), ("nd->dn", 1, 0), ("nn->", 1, 1),
    ("hnm,hmv->nv", 2, 2),
])
def test_drawing_follows_the_string(axes, spec, inputs, sums):
    """A box for each letter, a sigma for each sum, a wire for the rest."""
    names = [f"array {i}" for i in range(inputs)] + ["result"]
    CHAPTER.draw_einsum(axes, spec, names)

    groups, output = spec.split("->")
    groups, letters = groups.replace(",", ""), spec.replace(",", "")
    letters = letters.replace("->", "")
    drawn = [text.get_text() for text in axes.texts]
    assert sum("Sigma" in text for text in drawn) == sums
    assert len(axes.patches) == len(letters)

    inside = {}                         # (height, place) of a box -> its letter
    for text in axes.texts:
        if len(text.get_text()) == 1 and text.get_text() in letters:
            x, y = text.get_position()
            inside[int(y > 1), x] = text.get_text()
    places = sorted(inside)
    assert "".join(inside[p] for p in places if not p[0]) == output
    assert "".join(inside[p] for p in places if p[0]) == groups

    white = (1.0, 1.0, 1.0, 1.0)
    for box in axes.patches:
        letter = inside[int(box.get_y() > 1), box.get_x() + 0.5]
        assert (box.get_facecolor() == white) == (letter not in output)
    wires = [line.get_xdata() for line in axes.lines
             if line.get_color() == "C0"]
    ends = sorted(inside[1, top] + inside[0, end] for top, end in wires)
    assert ends == sorted(c + c for c in groups if c in output)
