"""Chapter 20's functions against PyTorch, complex numbers and loops."""

import math

import numpy as np
import pytest
import torch
from chapters import functions
from torch.nn import functional as F

CHAPTER = functions("20")
FRONTS = [(), (5,), (2, 5)]
EPS = 1e-3


def tokens(front, seed=0, d=12):
    """Signed tokens with a mean, of sizes from 0.1 to 100, shuffled."""
    rng = np.random.default_rng(seed)
    size = rng.permutation(np.geomspace(0.1, 100, math.prod(front)))
    return (rng.normal(size=(*front, d)) + 0.5) * size.reshape(*front, 1)


def weights(*shapes, seed=1):
    """Random matrices that about keep sizes; vectors of numbers near 1."""
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape) / math.sqrt((1, *shape)[-2])
            for shape in shapes]


def normed(X, gain=None, eps=EPS):
    """PyTorch's RMSNorm."""
    gain = None if gain is None else torch.tensor(gain)
    return F.rms_norm(torch.tensor(X), X.shape[-1:], gain, eps).numpy()


def relu(X):
    return F.relu(torch.tensor(X)).numpy()


def silu(X):
    return F.silu(torch.tensor(X)).numpy()


def close(got, want, bound=1e-13):
    """Every row within bound of its own length."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape
    for at in np.ndindex(want.shape[:-1]):
        off = math.dist(got[at], want[at])
        assert off <= bound * math.hypot(*want[at]), (at, off)


def single(f, *given):
    """f in float32: it stays float32 and near the float64 answer."""
    got = f(*(a.astype(np.float32) for a in given))
    assert got.dtype == np.float32
    close(got, f(*given), 1e-4)


def test_worst_token_is_the_worst_row_by_its_own_length():
    want = np.array([[[3.0, 4], [0, 1e-3]], [[60, 80], [5, 12]]])
    got = want + np.array([[[0.0, 0.5], [0, 0]], [[6, 8], [0, -2.6]]])
    assert CHAPTER.worst_token(got, want) == pytest.approx(0.2)
    got[0, 1] *= -1                                 # the smallest, turned
    assert CHAPTER.worst_token(got, want) == pytest.approx(2)
    assert CHAPTER.worst_token(want, want) == 0


def test_beside_prints_both_and_refuses_what_proves_nothing(capsys):
    Y = np.ones((2, 3))
    CHAPTER.beside("name", Y, Y, "control", 1.5 * Y)
    CHAPTER.beside("name", Y, Y, "control", 102.2 * Y)
    CHAPTER.beside("name", Y, Y, "control", 4 * Y, 2 * Y)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in lines] == ["0.5", "101", "1"]
    for got, wrong in ((1.001 * Y, 2 * Y), (Y, Y), (Y, 1.005 * Y)):
        with pytest.raises(AssertionError):
            CHAPTER.beside("name", got, Y, "control", wrong)


@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize("block", [1, 5, 12, 40])
def test_pieces(front, block):
    X, [W] = tokens(front), weights((12, 7))
    close(CHAPTER.linear_by_pieces(X, W, block, EPS), normed(X) @ W)
    close(CHAPTER.linear_by_pieces(X, W, block), normed(X, eps=1e-6) @ W)
    want = np.zeros((*front, 7))
    for at in np.ndindex(front):
        for i, x in enumerate(X[at]):
            seen = X[at][: (i // block + 1) * block]
            want[at] += x / math.sqrt(sum(seen**2) / len(seen)) * W[i]
    close(CHAPTER.impatient_linear(X, W, block), want)


@pytest.mark.parametrize("front", FRONTS)
def test_figure_1(front):
    X, [W, gain, c] = tokens(front), weights((12, 7), (12,), (7,))
    W_folded = CHAPTER.fold_gain(gain, W)
    np.testing.assert_allclose(W_folded, np.diag(gain) @ W, atol=1e-15)
    [heads] = weights((3, 12, 4))
    np.testing.assert_allclose(CHAPTER.fold_gain(gain, heads),
                               np.einsum("d,hdk->hdk", gain, heads))
    for eps, given in ((EPS, (EPS,)), (1e-6, ())):
        want = normed(X, gain, eps) @ W
        for add in (c, 0.0):
            close(CHAPTER.norm_then_linear(X, gain, W, add, *given),
                  want + add)
            close(CHAPTER.weightless_linear(X, W_folded, add, *given),
                  want + add)
            close(CHAPTER.deferred_linear(X, W_folded, add, *given),
                  want + add)
    for f in (CHAPTER.weightless_linear, CHAPTER.deferred_linear):
        single(f, X, W_folded, c)
        assert (f(0 * X, W_folded, c) == c).all()   # a token of zeros


def test_flow_is_what_it_draws():
    X, [U, G] = tokens((5,), d=4), weights((4, 6), (4, 6))
    s = np.arange(1.0, 6)[:, None]
    fork = [[(1, CHAPTER.times("G", G)), (2, "s"), (3, ("f", np.tanh))],
            [(1, CHAPTER.times("U", U))]]
    close(CHAPTER.flow([(0, "s2"), (5, fork), (6, "s")], X, s),
          np.tanh(s**3 * X @ G) * (s**2 * X @ U) * s)
    close(CHAPTER.flow([], X, s), X)
    label, function = CHAPTER.times("G", G)
    assert label == "G"
    close(function(X), np.einsum("nd,df->nf", X, G))


@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize("ours, theirs", [
    (CHAPTER.relu, relu), (CHAPTER.silu, silu),
    (CHAPTER.nothing, lambda X: X)])
def test_feed_forward(front, ours, theirs):
    X, [G, U, D, gain] = tokens(front), weights((12, 20), (12, 20), (20, 9),
                                                (12,))
    g, u = CHAPTER.fold_gain(gain, G), CHAPTER.fold_gain(gain, U)
    for eps, given in ((EPS, (EPS,)), (1e-6, ())):
        x = normed(X, gain, eps)
        plain, gated = theirs(x @ U) @ D, (theirs(x @ G) * (x @ U)) @ D
        close(CHAPTER.scaled_after_up(X, u, D, ours, *given), plain)
        close(CHAPTER.gated_scaled_twice(X, g, u, D, ours, *given), gated)
        close(CHAPTER.gated_scaled_late(X, g, u, D, ours, *given), gated)
        late = (CHAPTER.scaled_after_down(X, u, D, ours, *given),
                CHAPTER.gated_scaled_once(X, g, u, D, ours, *given))
        if ours is not CHAPTER.silu:
            close(late[0], plain)
            close(late[1], gated)
    x = X.astype(np.float32)
    for f in (CHAPTER.gated_scaled_late, CHAPTER.gated_scaled_once):
        assert f(x, *(a.astype(np.float32) for a in (g, u, D)),
                 ours).dtype == np.float32


@pytest.mark.parametrize("front", FRONTS)
def test_the_programs_of_the_gallery(front):
    X, [G, U, D, gain] = tokens(front), weights((12, 12), (12, 12), (12, 9),
                                                (12,))
    x = normed(X, gain)
    given = X, gain, G, U, D, EPS
    want = (relu(x @ G) * (x @ U)) @ D
    close(CHAPTER.reglu(*given), want)
    m = (X**2).mean(axis=-1, keepdims=True)
    root, bare = np.sqrt(m + EPS), normed(X)
    close(CHAPTER.no_relu(*given), ((x @ G) * (x @ U)) @ D)
    close(CHAPTER.one_power(*given), want * root)
    close(CHAPTER.one_scale(*given), want * (m + EPS) / (m.mean() + EPS))
    close(CHAPTER.in_columns(*given),
          (relu(bare @ (G * gain)) * (bare @ (U * gain))) @ D)
    close(CHAPTER.one_reader(*given), (relu(x @ G) * (bare @ U)) @ D)
    close(CHAPTER.no_eps(*given), want * (m + EPS) / m)
    close(CHAPTER.eps_outside(*given),
          want * (m + EPS) / (np.sqrt(m) + EPS) ** 2)


@pytest.mark.parametrize("front", [(5,), (2, 5)])
def test_bare_attention_has_no_root(front):
    rng = np.random.default_rng(3)
    Q, K, V = (rng.normal(size=(*front, d)) for d in (6, 6, 4))
    Q = Q[..., :3, :]                               # n queries, m keys
    mask = rng.random((3, 5)) < 0.6
    mask[:, 1] = True
    close(CHAPTER.bare_attention(Q, K, V, mask),
          F.scaled_dot_product_attention(
              *map(torch.tensor, (Q, K, V)), attn_mask=torch.tensor(mask),
              scale=1.0))
    single(lambda *given: CHAPTER.bare_attention(*given, mask), Q, K, V)


def turned(X, positions, base=10_000.0):
    """RoPE by complex numbers, pairs interleaved."""
    d_k = X.shape[-1]
    angle = np.outer(positions, base ** (-np.arange(0, d_k, 2) / d_k))
    z = (X[..., 0::2] + 1j * X[..., 1::2]) * np.exp(1j * angle)
    return np.stack([z.real, z.imag], axis=-1).reshape(X.shape)


@pytest.mark.parametrize("front", [(5,), (2, 5)])
def test_figure_5(front):
    X = tokens(front)
    [W_Q, W_K, W_V] = weights((3, 12, 6), (3, 12, 6), (3, 12, 4))
    at = np.arange(4, 9)
    cos, sin = CHAPTER.rope_tables(at, 6)
    mask = np.tril(np.ones((5, 5), dtype=bool))
    for eps, given in ((EPS, (EPS,)), (1e-6, ())):
        x = normed(X, eps=eps)[..., None, :, :]
        Q, K = turned(x @ W_Q, at), turned(x @ W_K, at)
        want = F.scaled_dot_product_attention(
            *map(torch.tensor, (Q, K, x @ W_V)), is_causal=True)
        for f in (CHAPTER.normed_rope_heads, CHAPTER.flash_rope_heads):
            close(f(X, W_Q, W_K, W_V, cos, sin, mask, *given), want)
    for f in (CHAPTER.normed_rope_heads, CHAPTER.flash_rope_heads):
        single(lambda *given, f=f: f(*given, mask), X, W_Q, W_K, W_V, cos, sin)


@pytest.mark.parametrize("front", FRONTS)
def test_figure_6(front):
    X, [W, gain] = tokens(front), weights((12, 7), (7,))
    twice = normed(normed(X, eps=0.5) @ W, gain, eps=0.25)
    close(CHAPTER.norm_linear_norm(X, W, gain, 0.5, 0.25), twice)
    rescaled = 0.25 * ((X**2).mean(axis=-1, keepdims=True) + 0.5)
    close(CHAPTER.linear_norm(X, W, gain, rescaled), twice)
    close(CHAPTER.linear_norm(X, W, gain, 0.25), normed(X @ W, gain, 0.25))
    close(CHAPTER.linear_norm(X, W, gain, 0),
          CHAPTER.norm_linear_norm(X, W, gain, 0.5, 0))
    assert not np.allclose(CHAPTER.linear_norm(X, W, gain, 0.25), twice)


@pytest.mark.parametrize("front", [(5,), (2, 3, 5)])
def test_figure_7(front):
    X, at = tokens(front, d=8), np.arange(3, 8)
    gain = np.random.default_rng(4).normal(size=8)
    cos, sin = CHAPTER.rope_tables(at, 8)
    quarter = 1j * (X[..., 0::2] + 1j * X[..., 1::2])
    close(CHAPTER.quarter_turn(X)[..., 0::2], quarter.real)
    close(CHAPTER.quarter_turn(X)[..., 1::2], quarter.imag)
    assert CHAPTER.swap_pairs(np.arange(8)).tolist() == [1, 0, 3, 2, 5, 4, 7,
                                                         6]
    tables = CHAPTER.gained_tables(cos, sin, gain)
    assert tables[0].shape == tables[1].shape == (5, 8)
    close(CHAPTER.turn_by_tables(X, *tables), turned(gain * X, at))
    close(CHAPTER.turn_by_tables(X, *CHAPTER.gained_tables(cos, sin,
                                                           np.ones(8))),
          CHAPTER.rope_interleaved(X, cos, sin))
    one_sided = np.zeros((5, 8))                    # every column its own
    one_sided[:, 3] = 1
    assert (CHAPTER.turn_by_tables(X, one_sided, 0 * one_sided)[..., 3]
            == X[..., 3]).all()
    assert (CHAPTER.turn_by_tables(X, 0 * one_sided, one_sided)[..., 3]
            == X[..., 2]).all()
    single(lambda *given: CHAPTER.turn_by_tables(
        given[0], *CHAPTER.gained_tables(*given[1:])), X, cos, sin, gain)


@pytest.mark.parametrize("front", FRONTS)
def test_layer_norm_moved(front):
    H, [V, b, W, c] = tokens(front, d=8), weights((8, 12), (12,), (12, 7),
                                                  (7,))
    flat, deaf = CHAPTER.without_row_means(V), CHAPTER.without_column_means(W)
    np.testing.assert_allclose(flat, V @ (np.eye(12) - 1 / 12), atol=1e-15)
    np.testing.assert_allclose(deaf, (np.eye(12) - 1 / 12) @ W, atol=1e-15)
    X = H @ V + b
    for eps, given in ((EPS, (EPS,)), (1e-5, ())):
        want = F.layer_norm(torch.tensor(X), (12,), eps=eps).numpy() @ W + c
        close(CHAPTER.deferred_layer_norm(X, W, c, *given), want, 1e-12)
        close(CHAPTER.deferred_linear(H @ flat + b - b.mean(), W, c, eps),
              want, 1e-12)
    single(CHAPTER.deferred_layer_norm, X, W, c)
    for f, M in ((CHAPTER.without_row_means, V),
                 (CHAPTER.without_column_means, W)):
        kept = M.copy()
        f(M)
        np.testing.assert_array_equal(M, kept)      # nothing in place


def test_one_feature_after_another():
    X, [W] = tokens((5,)), weights((12, 7))
    close(CHAPTER.one_by_one(X, W), X @ W, 1e-12)
    single(CHAPTER.one_by_one, X, W)
    big, small = np.float32(2**24), np.float32(1)   # big + small == big
    for row, want in (((big, small, small, -big), 0),
                      ((big, -big, small, small), 2)):
        got = CHAPTER.one_by_one(np.array([row]), np.ones((4, 1), np.float32))
        assert got.item() == want


@pytest.mark.parametrize("product", [np.matmul, CHAPTER.one_by_one])
def test_float32_errors_grow_with_the_mean(product):
    few = {"d": 64, "k": 16, "n": 20}
    near, far = (CHAPTER.float32_errors(ratio, product,
                                        np.random.default_rng(5), **few)
                 for ratio in (1, 1000))
    assert near.shape == (5,) and (near < 3e-6).all() and (near > 1e-8).all()
    assert (far > 10 * near).all() and far[1] < 1.5 * far[0]
    assert far[1] < far[2] < far[3] < far[4]


@pytest.mark.parametrize("front", FRONTS)
def test_relatives(front):
    X, [gain, bias] = tokens(front), weights((12,), (12,))
    for eps, given in ((EPS, (EPS,)), (1e-6, ())):
        rss = CHAPTER.reciprocal_rss(X, *given)
        close(math.sqrt(12) * X * rss, normed(X, eps=eps))
    single(CHAPTER.reciprocal_rss, X)
    for at in np.ndindex(front):
        want = [g * math.tanh(0.7 * x) + b
                for x, g, b in zip(X[at], gain, bias, strict=True)]
        close(CHAPTER.dynamic_tanh(X, 0.7, gain, bias)[at], want)
    single(lambda *given: CHAPTER.dynamic_tanh(given[0], 0.7, *given[1:]), X,
           gain, bias)
