"""Chapter 07's functions against PyTorch, complex numbers and closed forms."""

import math

import numpy as np
import pytest
import torch
from chapters import functions
from hypothesis import given, settings
from hypothesis import strategies as st

CHAPTER = functions("07")
rarely = settings(deadline=None, max_examples=50)
seeds, halves = st.integers(0, 10**6), st.integers(1, 9)
places = st.integers(-10**4, 10**4)
leads = st.sampled_from([(), (1,), (4,), (2, 3)])
bases = st.sampled_from([10_000.0, 50.0, 500_000.0])
layouts = pytest.mark.parametrize(
    "turn, pairs", [("rope_interleaved", lambda X: (X[..., ::2], X[..., 1::2])),
                    ("rope_half_split", lambda X: np.split(X, 2, axis=-1))])


def draw(seed, *shape):
    """Signed rows of very different sizes."""
    rng = np.random.default_rng(seed)
    return (rng.normal(size=shape)
            * 10 ** rng.uniform(-2, 2, size=(*shape[:-1], 1)))


def frequencies(half, base):
    return [base ** (-2 * i / (2 * half)) for i in range(half)]


@rarely
@given(seeds, leads, st.integers(1, 6), st.integers(1, 9))
def test_look_up_is_pytorchs_and_the_product(seed, lead, n, n_vocab):
    E = draw(seed, n_vocab, 3)
    ids = np.random.default_rng(seed).integers(0, n_vocab, size=(*lead, n))
    got = CHAPTER.look_up(ids, E)
    theirs = torch.nn.functional.embedding(torch.tensor(ids), torch.tensor(E))
    assert np.array_equal(got, theirs)
    assert np.array_equal(got, np.eye(n_vocab)[ids] @ E)
    assert np.array_equal(CHAPTER.look_up(ids.tolist(), E), got)


@pytest.mark.parametrize("ids", [[-1], [0, 5], [[0, 1], [4, -2]], [-1, 5]])
def test_look_up_refuses_numbers_outside_the_table(ids):
    with pytest.raises(ValueError, match=r"0\.\.4"):
        CHAPTER.look_up(ids, np.ones((5, 2)))
    assert CHAPTER.look_up([0, 4], np.ones((5, 2))).shape == (2, 2)


def test_look_up_of_nothing_is_empty():
    ids = np.empty((2, 0), int)
    assert CHAPTER.look_up(ids, np.ones((5, 3))).shape == (2, 0, 3)


@rarely
@given(seeds, leads, st.integers(1, 6))
def test_embed_adds_the_first_rows_of_the_table(seed, lead, n):
    E, P = draw(seed, 7, 4), draw(seed + 1, 6, 4)
    ids = np.random.default_rng(seed).integers(0, 7, size=(*lead, n))
    got = CHAPTER.embed(ids, E, P)
    for where in np.ndindex(ids.shape):
        assert np.allclose(got[where], E[ids[where]] + P[where[-1]])


def test_embed_refuses_a_text_longer_than_the_table():
    E, P = np.ones((3, 2)), np.zeros((4, 2))
    assert CHAPTER.embed([0] * 4, E, P).shape == (4, 2)
    with pytest.raises(ValueError, match="5 tokens, but positions for 4"):
        CHAPTER.embed([0] * 5, E, P)
    with pytest.raises(ValueError, match=r"0\.\.2"):
        CHAPTER.embed([3], E, P)


@rarely
@given(st.integers(1, 40), halves, bases)
def test_sinusoids_entry_by_entry(n, half, base):
    P = CHAPTER.sinusoids(n, 2 * half, base)
    assert P.shape == (n, 2 * half)
    for t in range(n):
        for i, frequency in enumerate(frequencies(half, base)):
            assert math.isclose(P[t, 2 * i], math.sin(t * frequency),
                                abs_tol=1e-12)
            assert math.isclose(P[t, 2 * i + 1], math.cos(t * frequency),
                                abs_tol=1e-12)


def test_sinusoids_have_the_papers_base():
    assert np.isclose(CHAPTER.sinusoids(2, 4)[1, 2], math.sin(0.01))
    cos, sin = CHAPTER.rope_tables([1], 4)
    assert np.allclose([cos[0, 1], sin[0, 1]], [math.cos(0.01), math.sin(0.01)])


@pytest.mark.parametrize("width", [1, 7])
def test_odd_widths_are_refused(width):
    with pytest.raises(ValueError, match=f"{width} is odd"):
        CHAPTER.sinusoids(3, width)
    with pytest.raises(ValueError, match=f"{width} is odd"):
        CHAPTER.rope_tables(range(3), width)


@layouts
@rarely
@given(seeds, leads, halves, places, bases)
def test_rope_is_a_product_of_complex_numbers(turn, pairs, seed, lead, half,
                                              first, base):
    X, t = draw(seed, *lead, 5, 2 * half), first + np.arange(5)
    got = getattr(CHAPTER, turn)(X, *CHAPTER.rope_tables(t, 2 * half, base))
    assert got.shape == X.shape
    a, b = pairs(X)
    want = (a + 1j * b) * np.exp(1j * np.outer(t, frequencies(half, base)))
    for part, theirs in zip(pairs(got), (want.real, want.imag), strict=True):
        assert np.allclose(part, theirs, atol=1e-8)


@layouts
@rarely
@given(seeds, halves, places, places)
def test_only_the_distance_counts(turn, pairs, seed, half, start, shift):
    turn = getattr(CHAPTER, turn)
    Q, K = draw(seed, 4, 2 * half), draw(seed + 1, 6, 2 * half)

    def scores(start):
        tables = (CHAPTER.rope_tables(start + np.arange(m), 2 * half)
                  for m in (4, 6))
        q, k = (turn(X, *table) for X, table in
                zip((Q, K), tables, strict=True))
        return q @ k.T, q

    (here, q), (there, _) = scores(start), scores(start + shift)
    assert np.allclose(here, there, rtol=1e-7, atol=1e-7)
    assert np.allclose(np.linalg.norm(q, axis=-1), np.linalg.norm(Q, axis=-1))


@rarely
@given(seeds, halves)
def test_the_layouts_differ_by_an_order_of_features(seed, half):
    X = draw(seed, 3, 2 * half)
    tables = CHAPTER.rope_tables([0, 3, 8], 2 * half)
    order = np.r_[0 : 2 * half : 2, 1 : 2 * half : 2]
    assert np.allclose(CHAPTER.rope_half_split(X[:, order], *tables),
                       CHAPTER.rope_interleaved(X, *tables)[:, order])


@layouts
def test_rope_keeps_float32_with_float32_tables(turn, pairs):
    X = draw(0, 3, 6).astype(np.float32)
    tables = [a.astype(np.float32) for a in CHAPTER.rope_tables(range(3), 6)]
    assert getattr(CHAPTER, turn)(X, *tables).dtype == np.float32


@rarely
@given(st.one_of(st.text(alphabet="ab Z,.'?!é_\n\t"), st.text()))
def test_split_words_loses_nothing(text):
    assert "".join(CHAPTER.split_words(text)) == text


@pytest.mark.parametrize("text, pieces", [
    ("a, b", ["a", ",", " b"]), (" a  b", [" a", " ", " b"]),
    ("a   ", ["a", " ", " ", " "]), ("it's", ["it", "'", "s"]), ("", [])])
def test_every_other_space_is_a_piece(text, pieces):
    assert CHAPTER.split_words(text) == pieces


@pytest.mark.parametrize("word, pair, want", [
    ("aaa", "aa", ["aa", "a"]), ("aaaa", "aa", ["aa", "aa"]),
    ("abcab", "ab", ["ab", "c", "ab"]), ("ba", "ab", ["b", "a"]),
    ("", "ab", []), ("a", "ab", ["a"]), ("cab", "ab", ["c", "ab"])])
def test_glue(word, pair, want):
    assert CHAPTER.glue(list(word), tuple(pair)) == want


def test_pair_counts_stay_within_words():
    counts = CHAPTER.pair_counts([list("abab"), list("ba")])
    assert counts == {("a", "b"): 2, ("b", "a"): 2}


def test_numbered_is_sorted_and_without_repeats():
    assert CHAPTER.numbered("banana") == {"a": 0, "b": 1, "n": 2}


@rarely
@given(seeds, st.integers(1, 6))
def test_blended_mean_cannot_see_the_order(seed, n):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    order = np.random.default_rng(seed + 1).permutation(n)
    assert np.allclose(CHAPTER.blended_mean(X), CHAPTER.blended_mean(X[order]))
    attention = torch.nn.functional.scaled_dot_product_attention(
        *(torch.tensor(X)[None],) * 3, scale=1.0)[0]
    assert np.allclose(CHAPTER.blended_mean(X), attention.mean(dim=0))


def test_cosines_are_pytorchs():
    X = torch.tensor(draw(3, 5, 4))
    theirs = torch.nn.functional.cosine_similarity(X[:, None], X[None], dim=-1)
    assert np.allclose(CHAPTER.cosines(X.numpy()), theirs)


@pytest.mark.parametrize("turns, kept", [
    (("turn_right", "turn_right"), [True] * 5),
    (("turn_right", "turn_neighbours"), [True, True, False, True, False]),
    (("turn_misfit", "turn_misfit"), [True, False, False, True, False]),
    (("turn_fast", "turn_fast"), [True, True, True, True, False]),
    (("turn_mirrored", "turn_mirrored"), [True, True, True, False, False])])
def test_gallery(turns, kept):
    pair = [getattr(CHAPTER, turn) for turn in turns]
    assert CHAPTER.rope_properties(*pair) == kept


def test_tables_of_several_sequences_are_those_of_each():
    positions = np.array([[0, 1, 2], [5, 3, 9]])    # n = 3 = d_k / 2
    tables = CHAPTER.rope_tables(positions, 6)
    X = draw(0, 2, 3, 6)
    for i, row in enumerate(positions):
        alone = CHAPTER.rope_tables(row, 6)
        for table, one in zip(tables, alone, strict=True):
            assert table.shape == (2, 3, 3) and (table[i] == one).all()
        for turn in CHAPTER.rope_half_split, CHAPTER.rope_interleaved:
            assert np.allclose(turn(X, *tables)[i], turn(X[i], *alone))


@rarely
@given(seeds, leads, st.integers(1, 6), st.integers(1, 9))
def test_reference_7_2_is_pytorchs(seed, lead, n, n_vocab):
    ids = np.random.default_rng(seed).integers(0, n_vocab, size=(*lead, n))
    dX, E = draw(seed, *lead, n, 3), torch.zeros(n_vocab, 3).double()
    E.requires_grad_()
    torch.nn.functional.embedding(torch.tensor(ids), E).backward(
        torch.tensor(dX))
    assert np.allclose(CHAPTER.reference_7_2(ids, dX, n_vocab), E.grad)


@rarely
@given(st.integers(-50, 50), halves, bases)
def test_reference_7_3_steps_along_the_sinusoids(k, half, base):
    P = CHAPTER.sinusoids(60, 2 * half, base)
    before, after = (P[:60 - k], P[k:]) if k > 0 else (P[-k:], P[:60 + k])
    R = CHAPTER.reference_7_3(k, 2 * half, base)
    assert np.allclose(before @ R, after)


@rarely
@given(seeds, st.integers(1, 4), halves)
def test_reference_7_4_changes_no_score(seed, h, half):
    d_k = 2 * half
    tables = CHAPTER.rope_tables(range(5), d_k)
    X, *weights = (draw(seed + i, size, h * d_k if i else 7)
                   for i, size in enumerate((5, 7, 7)))

    def scores(turn, *weights):
        Q, K = (turn((X @ W).reshape(5, h, d_k).swapaxes(0, 1), *tables)
                for W in weights)
        return Q @ K.mT

    moved = (CHAPTER.reference_7_4(W, h) for W in weights)
    want = scores(CHAPTER.rope_interleaved, *weights)
    assert np.allclose(scores(CHAPTER.rope_half_split, *moved), want,
                       atol=1e-9 * abs(want).max())
