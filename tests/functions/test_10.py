"""Chapter 10's functions against PyTorch, complex numbers and closed forms."""

import math
from itertools import permutations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course.chapter import functions

CHAPTER = functions("10")
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
def test_only_the_offset_counts(turn, pairs, seed, half, start, shift):
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
@given(st.integers(-50, 50), halves, bases)
def test_reference_10_2_steps_along_the_sinusoids(k, half, base):
    P = CHAPTER.sinusoids(60, 2 * half, base)
    before, after = (P[:60 - k], P[k:]) if k > 0 else (P[-k:], P[:60 + k])
    R = CHAPTER.reference_10_2(k, 2 * half, base)
    assert np.allclose(before @ R, after)


@rarely
@given(seeds, st.integers(1, 4), halves)
def test_reference_10_3_changes_no_score(seed, h, half):
    d_k = 2 * half
    tables = CHAPTER.rope_tables(range(5), d_k)
    X, *weights = (draw(seed + i, size, h * d_k if i else 7)
                   for i, size in enumerate((5, 7, 7)))

    def scores(turn, *weights):
        Q, K = (turn((X @ W).reshape(5, h, d_k).swapaxes(0, 1), *tables)
                for W in weights)
        return Q @ K.mT

    moved = (CHAPTER.reference_10_3(W, h) for W in weights)
    want = scores(CHAPTER.rope_interleaved, *weights)
    assert np.allclose(scores(CHAPTER.rope_half_split, *moved), want,
                       atol=1e-9 * abs(want).max())


@rarely
@given(seeds, st.integers(1, 5), st.integers(1, 9), st.integers(1, 12))
def test_offset_bias_entry_by_entry(seed, h, n, size):
    table = draw(seed, h, size)
    bias = CHAPTER.offset_bias(table, n)
    assert bias.shape == (h, n, n)
    for r, i, j in np.ndindex(h, n, n):
        assert bias[r, i, j] == table[r, min(max(i - j, 0), size - 1)]


def test_alibi_has_the_papers_slopes():
    """For 8 heads 1/2, 1/4, ..., 1/256; for 16 heads the root of 1/2 first."""
    slopes = -CHAPTER.alibi_bias(2, 8)[:, 1, 0]
    assert np.array_equal(slopes, 2.0 ** -np.arange(1, 9))
    assert np.isclose(-CHAPTER.alibi_bias(2, 16)[0, 1, 0], 2**-0.5)


@rarely
@given(st.integers(1, 5), st.integers(1, 9))
def test_alibi_is_linear_in_the_offset(h, n):
    bias = CHAPTER.alibi_bias(n, h)
    for r, i, j in np.ndindex(h, n, n):
        assert math.isclose(bias[r, i, j], -(2 ** (-8 * (r + 1) / h)) * (i - j))


@pytest.mark.parametrize("d_k, base", [(2, 10_000.0), (6, 50.0), (64, 5e5)])
def test_the_module_is_half_split(d_k, base):
    X, t = draw(0, 2, 3, 5, d_k), np.arange(100, 105)
    theirs = CHAPTER.RotaryEmbedding(d_k, base)(torch.tensor(X),
                                                torch.tensor(t))
    ours = CHAPTER.rope_half_split(X, *CHAPTER.rope_tables(t, d_k, base))
    assert theirs.dtype == torch.float64
    assert np.allclose(theirs, ours, atol=1e-4 * abs(X).max())


def test_the_module_refuses_an_odd_width():
    with pytest.raises(ValueError, match="d_k = 7"):
        CHAPTER.RotaryEmbedding(7)


def test_the_module_learns_nothing_and_is_cast_without_harm():
    module = CHAPTER.RotaryEmbedding(8).bfloat16()
    assert not [*module.parameters(), *module.buffers()]
    X = torch.ones(1, 8, dtype=torch.float64)
    far = module(X, torch.tensor([4091]))
    assert np.allclose(far, CHAPTER.rope_half_split(
        X.numpy(), *CHAPTER.rope_tables([4091], 8)), atol=1e-3)


@pytest.mark.parametrize("base", [10_000.0, 50.0])
def test_rotate_is_interleaved_at_stretched_positions(base):
    X, t = draw(1, 2, 4, 16), np.arange(4) * 0.25
    theirs = CHAPTER.rotate(torch.tensor(X).float(),
                            torch.tensor(t).float(), base)
    ours = CHAPTER.rope_interleaved(X, *CHAPTER.rope_tables(t, 16, base))
    assert np.allclose(theirs, ours, atol=1e-4 * abs(X).max())


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_reference_10_1_by_counting(n):
    """With torch's attention; see the exercise for the five layers."""
    X, P = torch.randn(2, n, 64, dtype=torch.float64,
                       generator=torch.Generator().manual_seed(0))
    orders = torch.stack([X[list(order)] for order in permutations(range(n))])
    attend = torch.nn.functional.scaled_dot_product_attention
    one = attend(orders, orders, orders, is_causal=True)
    two = attend(one, one, one, is_causal=True)
    results = ((orders + P).mean(1), (orders + P).relu().mean(1),
               attend(orders, orders, orders).mean(1), one[:, -1], two[:, -1])
    counted = [len(np.unique(r.numpy().round(8), axis=0)) for r in results]
    assert counted == list(CHAPTER.reference_10_1(n))


@pytest.mark.parametrize("d_k, base, n", [(4, 50.0, 7), (64, 1e4, 1000)])
def test_reference_10_4_by_frequencies(d_k, base, n):
    turn, half, slow = CHAPTER.reference_10_4(d_k, base, n)

    def slowest(base):
        return min(frequencies(d_k // 2, base))

    assert math.isclose(turn * slowest(base), 2 * math.pi)
    assert math.isclose(n * slowest(half), math.pi)
    assert math.isclose(slowest(base) / slowest(slow), n)


@pytest.mark.parametrize("between", [0, 1, 7])
def test_every_woman_gives_every_other_one_each_thing(between):
    ids = CHAPTER.gift_stories(between, torch.Generator().manual_seed(0))
    assert ids.shape == (180, 10 + between)
    givers, receivers, things = ids[:, 0], ids[:, 2], ids[:, 4]
    assert (givers != receivers).all()
    assert max(givers.max(), receivers.max()) < 6 <= things.min()
    assert len({*zip(*(x.tolist() for x in (givers, receivers, things)),
                     strict=True)}) == 180
    assert (ids[:, -5:] == torch.arange(14, 19)).all()
    assert ((ids[:, 5:-5] >= 19) & (ids[:, 5:-5] < 29)).all()


def layer_of(seed, d_model=64):
    """Stories, their rows, and two matrices."""
    g = torch.Generator().manual_seed(seed)
    E = torch.randn(29, d_model, generator=g).double()
    W = torch.randn(2, d_model, d_model, generator=g).double() / d_model**0.5
    return E, E[CHAPTER.gift_stories(4, g)], W


@pytest.mark.parametrize("first", [0, 9])
def test_scores_of_the_stories_are_those_of_numpy(first):
    _, X, W = layer_of(0)
    n, asks = X.shape[1], [9, 11, 13]               # she, her, it
    x, (W_Q, W_K) = X.numpy(), W.numpy()
    P = CHAPTER.sinusoids(first + n, 64)[first:]
    want = ((x + P) @ W_Q)[:, asks] @ ((x + P) @ W_K).swapaxes(1, 2) / 8
    assert np.allclose(CHAPTER.with_sinusoids(X, W, first), want)
    parts = CHAPTER.four_parts(X, W, first)
    assert len(parts) == 4 and np.allclose(sum(parts.values()), want)
    assert np.allclose(parts["word with place"],
                       (x @ W_Q)[:, asks] @ (P @ W_K).T / 8)
    tables = CHAPTER.rope_tables(first + np.arange(n), 64, 500.0)
    Q, K = (CHAPTER.rope_interleaved(x @ w, *tables) for w in (W_Q, W_K))
    assert np.allclose(CHAPTER.with_rope(X, W, first, base=500.0),
                       Q[:, asks] @ K.swapaxes(1, 2) / 8)
    assert np.allclose(CHAPTER.words_alone(X, W),
                       (x @ W_Q)[:, asks] @ (x @ W_K).swapaxes(1, 2) / 8)


def test_one_part_alone_comes_from_elsewhere():
    _, X, W = layer_of(1)
    here, there = (CHAPTER.four_parts(X, W, first) for first in (0, 6))
    for moved in here:
        want = sum(here.values()) - here[moved] + there[moved]
        assert np.allclose(CHAPTER.exchanged(X, W, moved, 6), want)


def test_speed_of_one_hand_turns_its_pair_alone():
    X, t = torch.tensor(draw(3, 5, 8)), torch.arange(5)
    speed = torch.tensor([1, 1, 0.5, 1])
    slow, full, half = (CHAPTER.rotate(X, t, speed=by)
                        for by in (speed, 1.0, 0.5))
    kept = [0, 1, 2, 3, 6, 7]
    assert torch.allclose(slow[:, kept], full[:, kept])
    assert torch.allclose(slow[:, 4:6], half[:, 4:6])


def test_right_answers_counts_the_nearest_nouns():
    """A layer that looks at the receiver is right for she, not for her."""
    E, *_ = layer_of(2)

    def at_the_receiver(X, W):
        return torch.full((len(X), 3, X.shape[1]), -1e3, dtype=X.dtype
                          ).index_fill(2, torch.tensor(2), 0.0)

    layer = E, None, torch.arange(40)
    right = [CHAPTER.right_answers(layer, at_the_receiver, who=(who,))
             for who in range(3)]
    assert right == [1, 0, 0]


def test_a_hand_s_parts_make_the_score():
    E, _, W = layer_of(3)
    parts = CHAPTER.parts_by_hand((E, W, None), 0, [3, 4],
                                  torch.tensor([2, 9]))
    assert parts.shape == (2, 2, 32)
    for i, offset in enumerate((2, 9)):
        q = CHAPTER.rotate((E[:1] @ W[0]), torch.tensor([offset + 5]))
        k = CHAPTER.rotate(E[3:5, None] @ W[1], torch.tensor([5]))[:, 0]
        assert torch.allclose(parts[i].sum(-1), (k @ q[0]) / 8)
