"""Chapter 16's functions against loops over pairs, PyTorch and closed forms."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from course.chapter import functions

CHAPTER = functions("16")
FRONTS = [(), (3,), (2, 3)]


def sequences(front, seed=0, n=11, d_k=5, d_v=4):
    """Signed Q, K and V, rows of very different size."""
    rng = np.random.default_rng(seed)
    size = 10.0 ** rng.uniform(-1, 0, size=(*front, n, 1))
    Q, K = rng.normal(size=(2, *front, n, d_k)) * size
    V = rng.normal(size=(*front, n, d_v))
    return Q, K, V


def test_write_and_read_are_an_outer_and_an_inner_product():
    rng = np.random.default_rng(1)
    state, k, v = (rng.normal(size=shape) for shape in ((4, 5), 5, 4))
    before = state.copy()
    wrote = CHAPTER.write_sum(state, k, v)
    np.testing.assert_allclose(wrote, state + np.outer(v, k), atol=1e-15)
    np.testing.assert_allclose(CHAPTER.read_memory(wrote, k), wrote @ k)
    np.testing.assert_array_equal(state, before)    # nothing in place


@pytest.mark.parametrize("front", FRONTS)
def test_linear_attention_pair_by_pair(front):
    Q, K, V = sequences(front)
    Q, K = CHAPTER.elu_plus_one(Q), CHAPTER.elu_plus_one(K)
    want = np.empty_like(V)
    for at in np.ndindex(front):
        for t in range(V.shape[-2]):
            share = [K[at][j] @ Q[at][t] for j in range(t + 1)]
            want[at][t] = np.average(V[at][: t + 1], axis=0, weights=share)
    np.testing.assert_allclose(CHAPTER.linear_attention(Q, K, V), want,
                               rtol=1e-12, atol=1e-13)
    got, (state, z) = CHAPTER.linear_attention_by_state(Q, K, V)
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(state, np.swapaxes(V, -1, -2) @ K)
    np.testing.assert_allclose(z, K.sum(axis=-2))
    single = (a.astype(np.float32) for a in (Q, K, V))
    single = CHAPTER.linear_attention_by_state(*single)[0]
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, want, atol=1e-5 * abs(want).max())


@pytest.mark.parametrize("name", ["linear_attention",
                                  "linear_attention_by_state"])
def test_a_query_without_a_match_is_refused(name):
    Q, K, V = np.eye(3), np.roll(np.eye(3), 1, axis=1), np.ones((3, 2))
    with pytest.raises(ValueError, match="matches no key"):
        getattr(CHAPTER, name)(Q, K, V)


@pytest.mark.parametrize("nu", [1, 2, 4])
def test_dpfp_index_by_index(nu):
    X = np.random.default_rng(4).normal(size=(2, 30, 5))
    r = np.maximum(np.concatenate([X, -X], axis=-1), 0)
    want = np.stack([r[..., i] * r[..., (i + s) % 10]
                     for s in range(1, nu + 1) for i in range(10)], axis=-1)
    np.testing.assert_array_equal(CHAPTER.dpfp(X, nu), want)


@pytest.mark.parametrize("nu", [0, 5, 9])
def test_dpfp_refuses_shifts_that_add_nothing(nu):
    with pytest.raises(ValueError, match="shifts 1 to 4 only"):
        CHAPTER.dpfp(np.ones((3, 5)), nu)


def test_features_that_sum_to_one():
    X = abs(np.random.default_rng(5).normal(size=(2, 9, 6)))
    shares = CHAPTER.sum_normalize(X)
    np.testing.assert_allclose(shares.sum(axis=-1), 1, atol=1e-5)
    np.testing.assert_allclose(shares, X / (X.sum(-1)[..., None] + 1e-6))
    assert not CHAPTER.sum_normalize(np.zeros((2, 6))).any()


def test_values_that_are_integers_are_not_cut():
    rng = np.random.default_rng(0)
    Q, K = rng.uniform(0.1, 1, size=(2, 6, 4))
    V = rng.integers(-9, 9, size=(6, 3))
    got, want = (CHAPTER.linear_attention_by_state(Q, K, values)[0]
                 for values in (V, V.astype(float)))
    assert got.dtype == want.dtype and np.array_equal(got, want)
    assert not np.array_equal(want, np.round(want))
    small = CHAPTER.linear_attention_by_state(
        *(a.astype(np.float32) for a in (Q, K, V)))[0]
    assert small.dtype == np.float32


def test_elu_plus_one_is_torchs():
    X = np.linspace(-30, 30, 1201)
    want = F.elu(torch.tensor(X)) + 1
    np.testing.assert_allclose(CHAPTER.elu_plus_one(X), want, atol=1e-15)
    assert (CHAPTER.elu_plus_one(X) > 0).all()


@pytest.mark.parametrize("front", FRONTS)
def test_stored_pairs_and_their_error(front):
    _, K, V = sequences(front, seed=6)
    state = CHAPTER.stored(K, V)
    np.testing.assert_allclose(state, np.swapaxes(V, -1, -2) @ K, atol=1e-13)
    answers = K @ np.swapaxes(state, -1, -2)
    want = np.linalg.norm(answers - V) ** 2 / np.linalg.norm(V) ** 2
    assert np.isclose(CHAPTER.answer_error(answers, V), want)
    assert CHAPTER.answer_error(0 * V, V) == 1      # the zero predictor


@pytest.mark.parametrize("n", [7, 16, 40])
def test_errors_of_a_memory_in_closed_form(n):
    found = np.mean([CHAPTER.memory_errors(n, seed, 16, 30)
                     for seed in range(60)], axis=0)
    rho = (n - 1) / 16
    want = rho, rho / (1 + rho), max(0, 1 - 16 / n)
    np.testing.assert_allclose(found, want, rtol=0.06, atol=1e-9)


def test_the_module_decodes_what_it_trained():
    torch.manual_seed(3)
    layer = CHAPTER.LinearAttention(7, 5, 4).double()
    X = torch.randn(2, 3, 11, 7, dtype=torch.float64)
    Q, K = (F.elu(X @ W.weight.mT) + 1 for W in (layer.W_Q, layer.W_K))
    similar = (Q @ K.mT).tril()
    want = similar / similar.sum(-1, keepdim=True) @ (X @ layer.W_V.weight.mT)
    torch.testing.assert_close(layer(X), want)
    part = ()
    for t, x in enumerate(X.split(1, dim=-2)):
        y, *part = layer.step(x, *part)
        torch.testing.assert_close(y[..., 0, :], want[..., t, :])
    assert part[0].shape == (2, 3, 4, 5) and part[1].shape == (2, 3, 1, 5)


def test_positive_features_estimate_the_exponential():
    rng = np.random.default_rng(8)
    Q, K = 0.3 * rng.normal(size=(2, 4, 6))
    W = rng.normal(size=(3, 1, 60_000, 6))
    found = np.einsum("...m,...m->...", CHAPTER.positive_features(Q, W),
                      CHAPTER.positive_features(K, W))
    assert found.shape == (3, 4)
    np.testing.assert_allclose(found, np.tile(np.exp((Q * K).sum(-1)), (3, 1)),
                               rtol=0.03)


def test_recognized_is_the_nearest_by_angle():
    rng = np.random.default_rng(9)
    V = rng.normal(size=(40, 5)) * 10.0 ** rng.uniform(-2, 2, size=(40, 1))
    answers = V + 0.4 * rng.normal(size=V.shape) * np.linalg.norm(
        V, axis=-1, keepdims=True)
    near = [max(range(40), key=lambda j: F.cosine_similarity(
        torch.tensor(y), torch.tensor(V[j]), dim=0)) for y in answers]
    want = np.mean([j == i for i, j in enumerate(near)])
    assert 0.2 < want < 0.9
    sizes = rng.uniform(0.1, 9, size=(40, 1))       # turn no answer
    assert CHAPTER.recognized(answers * sizes, V) == want
    assert CHAPTER.recognized(V, V) == 1 and CHAPTER.recognized(-V, V) == 0


def test_products_of_two_are_squares_of_one():
    Q, K = np.random.default_rng(10).normal(size=(2, 9, 6))
    np.testing.assert_allclose(
        CHAPTER.all_products(Q) @ CHAPTER.all_products(K).T, (Q @ K.T) ** 2)


def test_a_norm_does_not_see_the_divisor():
    Q, K, V = sequences((), seed=11)
    Q, K = CHAPTER.elu_plus_one(Q), CHAPTER.elu_plus_one(K)
    divided = torch.tensor(CHAPTER.linear_attention(Q, K, V))
    plain = torch.tensor(np.tril(Q @ K.T) @ V)
    torch.testing.assert_close(F.rms_norm(divided, (4,), eps=0.0),
                               F.rms_norm(plain, (4,), eps=0.0))
