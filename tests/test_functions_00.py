"""Chapter 00: einsum by loops, its sizes, its bill and its drawing."""

import re
from itertools import product

import matplotlib
import numpy as np
import pytest
import torch
from chapters import BOOK, cells, functions
from hypothesis import given, settings
from hypothesis import strategies as st

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
    with pytest.raises(ValueError):
        CHAPTER.multiplications(spec, *shapes)


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


@pytest.mark.parametrize("spec, shapes", [
    ("nd,dk->nk", [(2, 3), (3, 4)]),
    ("n,m->nm", [(3,), (4,)]),
    ("nk,mk,mv->nv", [(2, 3), (4, 3), (4, 5)]),
    ("nd->n", [(2, 3)]),
])
def test_multiplications_are_counted_one_by_one(spec, shapes):
    """As many as a loop nest over objects that count really makes."""
    letters = CHAPTER.sizes_of(spec, *shapes)
    Counted.count = 0
    for _ in product(*map(range, letters.values())):
        factors = [Counted(1) for _ in shapes]
        while len(factors) > 1:
            factors[:2] = [factors[0] * factors[1]]
    assert CHAPTER.multiplications(spec, *shapes) == Counted.count


def test_multiplications_do_not_overflow():
    n = 10**6
    got = CHAPTER.multiplications("ij,jk,kl->il", *[(n, n)] * 3)
    assert got == 2 * n**4


def test_attention_bill():
    assert CHAPTER.attention_bill(5, 3, 2) == (5 * 5 * 3 + 5 * 5 * 2,
                                               5 * 3 * 2 + 5 * 3 * 2)
    rng = np.random.default_rng(0)
    Q, K, V = (rng.normal(size=(300, 7)) for _ in range(3))
    for bracket, bill in zip((("nk,mk->nm", "nm,mv->nv"),
                              ("mk,mv->kv", "nk,kv->nv")),
                             CHAPTER.attention_bill(300, 7, 7), strict=True):
        operands = ((Q, K), (None, V)) if "nm" in bracket[0] else (
            (K, V), (Q, None))
        flops, middle = 0, None
        for spec, pair in zip(bracket, operands, strict=True):
            pair = [middle if A is None else A for A in pair]
            report = np.einsum_path(spec, *pair)[1]
            flops += float(report.split("FLOP count:")[1].split()[0])
            middle = np.einsum(spec, *pair)
        assert np.isclose(flops, 2 * bill, rtol=1e-3)


def test_normal_has_an_axis_per_letter():
    rng = np.random.default_rng(0)
    got = CHAPTER.normal("dan", {"a": 30, "d": 20, "n": 40}, rng)
    assert got.shape == (20, 30, 40)
    assert abs(got.mean()) < 0.05 and abs(got.std() - 1) < 0.05


@pytest.fixture
def axes():
    matplotlib.use("agg")
    figure, ax = matplotlib.pyplot.subplots()
    yield ax
    matplotlib.pyplot.close(figure)


@pytest.mark.parametrize("spec, shapes, sums", [
    ("nd,dk->nk", [(3, 8), (8, 6)], 1), ("nd->dn", [(3, 8)], 0),
    ("nn->", [(3, 3)], 1), ("hnm,hmv->nv", [(4, 3, 5), (4, 5, 7)], 2),
])
def test_drawing_follows_the_string(axes, spec, shapes, sums):
    """A box for each letter, a sigma for each sum, a wire for the rest."""
    operands = [np.ones(shape) for shape in shapes]
    names = [f"array {i}" for i in range(len(shapes))] + ["result"]
    got = CHAPTER.draw_einsum(axes, spec, names, *operands)
    assert np.allclose(got, np.einsum(spec, *operands))

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


def test_complaint():
    def refused(error):
        raise error

    assert CHAPTER.complaint(lambda: refused(ValueError("no "))) == "no"
    said = CHAPTER.complaint(lambda: refused(RuntimeError("a-b " * 40)))
    assert said.split() == ["a-b"] * 40
    assert max(map(len, said.splitlines())) <= 72
    with pytest.raises(ValueError, match="nothing was refused"):
        CHAPTER.complaint(lambda: 1)
    with pytest.raises(TypeError):
        CHAPTER.complaint(lambda: refused(TypeError("a mistake of ours")))


def test_check_of_accepts_centred_tokens_alone():
    check = CHAPTER.check_of(lambda X: X - X.mean(axis=-1, keepdims=True))
    assert check() is None
    assert CHAPTER.check_of(lambda X: X - X.mean())()


def prose(name):
    """The markdown cell of that name."""
    [path] = BOOK.glob("00_*.ipynb")
    [cell] = [cell for cell in cells(path, "markdown") if cell.id == name]
    return cell.source


def test_answers_on_paper_0_2():
    """What exercise 0.2 says of its strings, its loops and its error."""
    size = {"b": 2, "n": 3, "h": 4, "m": 5, "v": 7, "d": 8}
    rng = np.random.default_rng(0)

    def normal(letters):
        return rng.normal(size=[size[c] for c in letters])

    X, Z = normal("nd"), normal("nd")
    assert np.allclose(np.einsum("nd,nd->n", X, Z), [
        X[i] @ Z[i] for i in range(3)])
    weights = np.abs(normal("hnm"))
    weights /= weights.sum(axis=-1, keepdims=True)
    assert np.allclose(np.einsum("hnm->h", weights), [3, 3, 3, 3])
    Y, W = normal("hnv"), normal("hvd")
    assert np.allclose(np.einsum("hnv,hvd->nd", Y, W),
                       sum(Y[i] @ W[i] for i in range(4)))
    use, tokens = np.array([[1, 1, 0], [1, 0, 0]]), normal("bnd")
    assert np.allclose(np.einsum("bn,bnd->bd", use, tokens),
                       [tokens[0, :2].sum(0), tokens[1, 0]])

    V, Y = normal("hmv"), np.zeros((4, 3, 7))
    [loops] = re.findall(r"(?m)```python\n(for h in range\(size(?:.|\n)*?)```",
                         prose("exercise-0-2"))
    exec(loops, {"size": size, "Y": Y, "weights": weights, "V": V})
    assert np.allclose(Y, np.einsum("hnm,hmv->hnv", weights, V))

    with pytest.raises(ValueError) as refused:
        np.ones((4, 3, 6)) @ np.ones((7, 8))
    said = prose("exercise-0-2").split("```")[1]
    assert " ".join(said.split()) == str(refused.value)


def test_answers_on_paper_0_4():
    """The bills, the same scores, and the rows of the matrix between."""
    n, d, k = 128, 512, 64
    count = CHAPTER.multiplications
    thin = (2 * count("nd,dk->nk", (n, d), (d, k))
            + count("nk,mk->nm", (n, k), (n, k)))
    wide = (count("nd,de->ne", (n, d), (d, d))
            + count("ne,me->nm", (n, d), (n, d)))
    assert (thin, wide) == (9_437_184, 41_943_040) and wide > 4 * thin
    rng = np.random.default_rng(0)
    X, W_Q, W_K = (rng.normal(size=s) for s in ((6, 9), (9, 2), (9, 2)))
    middle = W_Q @ W_K.T
    assert np.allclose((X @ W_Q) @ (X @ W_K).T, X @ middle @ X.T)
    assert np.allclose(middle[3], sum(W_Q[3, j] * W_K[:, j] for j in (0, 1)))
