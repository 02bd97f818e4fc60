"""Chapter 20's functions against PyTorch, complex numbers and loops."""

import math

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from course.chapter import functions

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
            close(CHAPTER.deferred_linear(X, W_folded, add, *given),
                  want + add)
    single(CHAPTER.deferred_linear, X, W_folded, c)
    assert (CHAPTER.deferred_linear(0 * X, W_folded, c) == c).all()


@pytest.mark.parametrize("pieces", [1, 2, 4, 12])
def test_pieces(pieces):
    X, [W] = tokens((5,)), weights((12, 7))
    products, rms = CHAPTER.by_pieces(X, W, pieces)
    assert products.shape == (5, pieces, 7) and rms.shape == (5, pieces, 1)
    block = 12 // pieces
    for i in range(pieces):
        part = slice(i * block, (i + 1) * block)
        close(products[:, i], X[:, part] @ W[part])
        seen = X[:, :(i + 1) * block]
        close(rms[:, i], np.linalg.norm(seen, axis=1, keepdims=True)
              / math.sqrt(seen.shape[1]))


def test_powers_found():
    x, a = tokens((9,)), np.geomspace(1.5, 100, 9)[:, None]
    for f, want in ((np.square, 2), (np.abs, 1), (np.sign, 0),
                    (lambda x: x**3, 3), (np.negative, 1), (relu, 1),
                    (lambda x: 1 / x, -1)):
        for factors in (a, 1 / a):
            assert CHAPTER.powers_found(f, x, factors) == (want, want)
    lowest, highest = CHAPTER.powers_found(
        lambda x: np.stack([x[:, 0] ** 2, x[:, 1]], axis=1), x, a)
    assert (lowest, highest) == (1, 2)
    assert CHAPTER.powers_found(                    # 1 to 2, but 2 to -4
        lambda x: x * np.sign(2.5 - x), np.array([[1.0], [2]]),
        np.full((2, 1), 2.0)) == (1, np.inf)
    for f in (np.tanh, np.cosh, lambda x: x + 1):
        lowest, highest = CHAPTER.powers_found(f, x / 100, a)
        assert highest - lowest > 0.1


@pytest.mark.parametrize(("cells", "program", "want"), [
    ((1, 1, 1), "each", 3), ((1, 1, 1), "last", 2), ((1, 1, 2), "each", 5),
    ((4, 2, 1), "whole", 16), ((4, 2, 1), "each", 13), ((4, 2, 1), "last", 9),
    ((2, 1, 2), "last", 6)])
def test_toy_cycles(cells, program, want):
    assert CHAPTER.toy_cycles(*cells, program) == want


def test_toy_cycles_of_chapter_22():
    later = functions("22")
    for C in (2, 3, 4, 7):
        for program, theirs in (("whole", "norm first"),
                                ("each", "by chunks"),
                                ("last", "deferred")):
            assert (CHAPTER.toy_cycles(C, C, 1, program)
                    == later.cycles(theirs, C, C))


@pytest.mark.parametrize("front", FRONTS)
def test_gated_layer(front):
    X, [G, U, D, gain] = tokens(front), weights((12, 20), (12, 20), (20, 9),
                                                (12,))
    g, u = CHAPTER.fold_gain(gain, G), CHAPTER.fold_gain(gain, U)
    for eps, given in ((EPS, (EPS,)), (1e-6, ())):
        x = normed(X, gain, eps)
        for ours, theirs in ((CHAPTER.relu, relu), (CHAPTER.silu, silu)):
            close(CHAPTER.gated_scaled_late(X, g, u, D, ours, *given),
                  (theirs(x @ G) * (x @ U)) @ D)
    single(lambda *given: CHAPTER.gated_scaled_late(*given, CHAPTER.relu),
           X, g, u, D)


def turned(X, positions, base=10_000.0):
    """RoPE by complex numbers, pairs interleaved."""
    d_k = X.shape[-1]
    angle = np.outer(positions, base ** (-np.arange(0, d_k, 2) / d_k))
    z = (X[..., 0::2] + 1j * X[..., 1::2]) * np.exp(1j * angle)
    return np.stack([z.real, z.imag], axis=-1).reshape(X.shape)


@pytest.mark.parametrize("front", [(5,), (2, 5)])
def test_attention_whose_tables_divide(front):
    X, [W_Q, W_K, W_V] = tokens(front), weights((12, 6), (12, 6), (12, 4))
    at = np.arange(4, 9)
    cos, sin = CHAPTER.rope_tables(at, 6)
    x, mask = normed(X), np.tril(np.ones((5, 5), dtype=bool))
    Q, K = turned(x @ W_Q, at), turned(x @ W_K, at)
    want = F.scaled_dot_product_attention(
        *map(torch.tensor, (Q, K, x @ W_V)), is_causal=True)
    s = 1 / np.sqrt((X**2).mean(axis=-1, keepdims=True) + EPS)
    for r in (6**-0.25, s * 6**-0.25):              # norm first, or in tables
        given = (x, x, x) if r is not s and np.ndim(r) == 0 else (X, X, s * X)
        close(CHAPTER.rope_attention(
            *(y @ W for y, W in zip(given, (W_Q, W_K, W_V), strict=True)),
            r * cos, r * sin, mask), want)
    other = np.array([[j in (i, 1) for j in range(5)] for i in range(5)])
    close(CHAPTER.rope_attention(x @ W_Q, x @ W_K, x @ W_V, cos, sin, other),
          F.scaled_dot_product_attention(
              *map(torch.tensor, (Q, K, x @ W_V)), scale=1.0,
              attn_mask=torch.tensor(other)))


@pytest.mark.parametrize("front", [(5,), (2, 3, 5)])
def test_gained_tables(front):
    X, at = tokens(front, d=8), np.arange(3, 8)
    gain = np.random.default_rng(4).normal(size=8)
    cos, sin = CHAPTER.rope_tables(at, 8)
    tables = CHAPTER.gained_tables(cos, sin, gain)
    assert tables[0].shape == tables[1].shape == (5, 8)
    close(CHAPTER.turn_by_tables(X, *tables), turned(gain * X, at))
    close(CHAPTER.turn_by_tables(X, *CHAPTER.gained_tables(
        cos, sin, np.ones(8))), CHAPTER.rope_interleaved(X, cos, sin))
    one_sided = np.zeros((5, 8))                    # every column its own
    one_sided[:, 3] = 1
    assert (CHAPTER.turn_by_tables(X, one_sided, 0 * one_sided)[..., 3]
            == X[..., 3]).all()
    assert (CHAPTER.turn_by_tables(X, 0 * one_sided, one_sided)[..., 3]
            == X[..., 2]).all()
    single(lambda *given: CHAPTER.turn_by_tables(
        given[0], *CHAPTER.gained_tables(*given[1:])), X, cos, sin, gain)


@pytest.mark.parametrize("front", FRONTS)
def test_layer_norm_deferred(front):
    X, [W, gain, bias, c] = tokens(front), weights((12, 7), (12,), (12,), (7,))
    folded = np.diag(gain) @ W, c + bias @ W
    for eps, given in ((EPS, (EPS,)), (1e-5, ())):
        want = F.layer_norm(*map(torch.tensor, (X,)), (12,), torch.tensor(
            gain), torch.tensor(bias), eps).numpy() @ W + c
        close(CHAPTER.deferred_layer_norm(X, *folded, *given), want, 1e-12)
    single(CHAPTER.deferred_layer_norm, X, *folded)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("front", FRONTS)
def test_module(front, bias):
    norm = torch.nn.RMSNorm(12, eps=EPS, dtype=torch.float64)
    linear = torch.nn.Linear(12, 7, bias=bias, dtype=torch.float64)
    with torch.no_grad():
        norm.weight.copy_(torch.tensor(weights((12,))[0]))
    x = torch.tensor(tokens(front))
    flash = CHAPTER.FlashLinear(norm, linear)
    close(flash(x).detach(), linear(norm(x)).detach(), 1e-12)
    assert "weight" in flash.state_dict()
    assert not flash.weight.requires_grad


def test_module_of_a_norm_without_a_gain():
    norm = torch.nn.RMSNorm(12, eps=EPS, elementwise_affine=False)
    linear = torch.nn.Linear(12, 7, dtype=torch.float64)
    x = torch.tensor(tokens((5,)))
    flash = CHAPTER.FlashLinear(norm, linear)
    close(flash(x).detach(), linear(norm(x)).detach(), 1e-12)
    assert flash.weight.data_ptr() != linear.weight.data_ptr()


def test_what_the_module_refuses():
    linear = torch.nn.Linear(12, 7)
    for norm in (torch.nn.LayerNorm(12), torch.nn.RMSNorm(12)):
        with pytest.raises(ValueError, match="RMSNorm with an eps"):
            CHAPTER.FlashLinear(norm, linear)


def test_one_wrong_program_and_a_test_that_it_passes():
    rng = np.random.default_rng(0)
    X = tokens((5,), d=32)
    unit = normed(X, eps=0)
    given = unit, np.ones(32), 1e-6, rng
    assert CHAPTER.passes(1, *given)
    assert CHAPTER.passes(2, *given)
    given = X, rng.normal(size=32), EPS, rng
    assert not CHAPTER.passes(1, *given)
    assert CHAPTER.passes(2, *given)


def test_layer_norm_refuses_tensors():
    with pytest.raises(TypeError):                  # var of torch divides by
        CHAPTER.deferred_layer_norm(                # d - 1: no silent answer
            torch.ones(2, 12), np.ones((12, 7)), 0.0)


def test_wrong_programs_are_told_apart():
    X, [gain, G, U, D] = tokens((5,)), weights((12,), (12, 20), (12, 20),
                                               (20, 9))
    found = CHAPTER.tested(X, gain, G, U, D, EPS)
    assert not found.pop("right") and all(found.values()) and len(found) == 6
    alone = CHAPTER.tested(X[:1], gain, G, U, D, EPS)
    assert not alone["one s for all tokens"]
    even = CHAPTER.tested(X, np.ones(12), G, U, D, 0.0)
    assert not (even["gain in one matrix only"] or even["ε forgotten"]
                or even["ε outside the root"])
    plain = CHAPTER.tested(abs(X), abs(gain), abs(G), abs(U), D, EPS)
    assert not plain["ReLU forgotten"]


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
    assert near.shape == (4,) and (near < 3e-6).all() and (near > 1e-8).all()
    assert (far > 10 * near).all() and far[1] < 1.5 * far[0]
    assert far[1] < far[2] and far[1] < far[3]
