"""Chapter 08's functions against PyTorch, float64 and their own promises."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from course.chapter import chapter, functions

CHAPTER = functions("08")
rarely = settings(deadline=None, max_examples=50)
seeds, sizes = st.integers(0, 10**6), st.integers(1, 6)
leads = st.sampled_from([(), (1,), (4,), (2, 3), (2, 1, 3)])
scales = st.sampled_from([1e-3, 1.0, 30.0, 1e4])


def draw(seed, lead, n, m, d_k, d_v, scale=1.0):
    """Signed queries of one scale, values of very different scale."""
    rng = np.random.default_rng(seed)
    Q = scale * rng.normal(size=(*lead, n, d_k))
    K = rng.normal(size=(*lead, m, d_k)) + rng.normal()
    V = rng.normal(size=(*lead, m, d_v)) * 10 ** rng.uniform(-2, 2, d_v)
    return Q, K, V


def pytorch(Q, K, V):
    return F.scaled_dot_product_attention(
        *map(torch.tensor, (Q, K, V))).numpy()


@rarely
@given(seeds, leads, sizes, sizes, sizes, sizes, scales)
def test_attention_is_pytorchs(seed, lead, n, m, d_k, d_v, scale):
    Q, K, V = draw(seed, lead, n, m, d_k, d_v, scale)
    got = CHAPTER.attention(Q, K, V)
    assert got.shape == (*lead, n, d_v)
    assert np.allclose(got, pytorch(Q, K, V), atol=1e-8)


@pytest.mark.parametrize("dtype, close", [(np.float32, 1e-5),
                                          (np.float64, 1e-13)])
def test_attention_keeps_its_format(dtype, close):
    Q, K, V = draw(0, (2, 3), 5, 7, 4, 6)
    V /= np.abs(V).max()
    given_, wide = [a.astype(dtype) for a in (Q, K, V)], pytorch(Q, K, V)
    got = CHAPTER.attention(*given_)
    assert got.dtype == dtype and np.abs(got - wide).max() < close


@rarely
@given(seeds, leads, sizes, sizes, sizes, scales)
def test_weights_are_weights(seed, lead, n, m, d_k, scale):
    Q, K, V = draw(seed, lead, n, m, d_k, 2, scale)
    weights = CHAPTER.attention_weights(Q, K)
    assert np.allclose(weights.sum(axis=-1), 1) and (weights >= 0).all()
    entropy = CHAPTER.entropy(weights)
    assert (entropy >= 0).all() and (entropy <= math.log(m) + 1e-12).all()
    Y = CHAPTER.attention(Q, K, V)
    assert (Y <= V.max(axis=-2, keepdims=True) + 1e-9).all()
    assert (Y >= V.min(axis=-2, keepdims=True) - 1e-9).all()


def test_entropy():
    weights = np.array([[1, 0, 0, 0], [0.25] * 4, [0.5, 0.5, 0, 0]])
    got = CHAPTER.entropy(weights)
    assert np.allclose(got, [0, math.log(4), math.log(2)])
    assert not np.signbit(got).any()                # 0, never -0
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.ones(6), size=(2, 3))
    want = torch.distributions.Categorical(torch.tensor(weights)).entropy()
    assert np.allclose(CHAPTER.entropy(weights), want)


@rarely
@given(seeds, sizes, sizes, st.integers(2, 6))
def test_one_query_alone(seed, m, d_k, d_v):
    q, K, V = draw(seed, (), 1, m, d_k, d_v)
    K, q = K / 3, q[0]
    assert np.allclose(CHAPTER.soft_match(q, K, V),
                       pytorch(q[None] * math.sqrt(d_k), K, V)[0])
    best = max(range(m), key=lambda j: sum(q * K[j]))
    assert np.array_equal(CHAPTER.best_match(q, K, V), V[best])


def test_slope():
    A = np.random.default_rng(0).normal(size=(3, 4))
    assert np.allclose(CHAPTER.slope(lambda q: q @ A, np.ones(3)), A)
    assert np.allclose(CHAPTER.slope(lambda q: q**2, np.array([1.0, -3])),
                       [[2, 0], [0, -6]])


@pytest.mark.parametrize("d_k, divisor", [(4, 1), (16, 4), (9, 9)])
def test_query_gradients(d_k, divisor):
    """The same draw, by PyTorch and its autograd."""
    rng = np.random.default_rng(5)
    K, Q = (torch.tensor(rng.normal(size=(n, d_k))) for n in (128, 400))
    dA = torch.tensor(rng.normal(size=(400, 128)))
    Q.requires_grad_()
    A = (Q @ K.mT / divisor).softmax(dim=-1)
    (A * dA).sum().backward()
    largest, norms = CHAPTER.query_gradients(d_k, divisor, 5)
    assert np.allclose(largest, A.detach().amax(dim=-1))
    assert np.allclose(norms, Q.grad.norm(dim=-1))


@rarely
@given(seeds, leads, sizes, sizes, sizes)
def test_module_is_attention(seed, lead, n, m, d_k):
    torch.manual_seed(seed)
    layer = CHAPTER.Attention(5, d_k, 3).double()
    X = torch.randn(*lead, n, 5).double()
    Z = torch.randn(*lead, m, 5).double()
    for of, given_ in ((Z, (X, Z)), (X, (X,))):
        Q, K, V = layer.W_Q(X), layer.W_K(of), layer.W_V(of)
        want = CHAPTER.attention(*(a.detach().numpy() for a in (Q, K, V)))
        assert np.allclose(layer(*given_).detach(), want)


@pytest.mark.parametrize("exercise", ["8_1", "8_2", "8_4"])
def test_numbers_of_exercises(exercise):
    """The references of the paper exercises, by another way."""
    rng = np.random.default_rng(0)
    if exercise == "8_1":
        Q, K, V, c = (rng.normal(size=s) for s in ((1, 4), (5, 4), (5, 2), 4))
        s, t = (Q @ K.T / 2)[0], (Q @ c)[0] / 2
        want = [CHAPTER.attention_weights(Q, K + c)[0, 0],
                CHAPTER.attention_weights(2 * Q, K / 2)[0, 0],
                CHAPTER.attention_weights(2 * Q, K)[0, 0],
                CHAPTER.attention_weights(Q, K[[0, *range(5)]])[0, :2].sum(),
                (CHAPTER.attention(Q, K, V + t) - CHAPTER.attention(Q, K, V)
                 )[0, 0]]
        assert np.allclose(CHAPTER.reference_8_1(s, t), want)
    elif exercise == "8_2":
        q, k = rng.normal(size=(2, 20_000, 64)) * [[[3]], [[5]]]
        std, own, factor = CHAPTER.reference_8_2(64, 3, 5)
        assert np.isclose((q * k).sum(axis=-1).std(), std, rtol=0.03)
        assert np.isclose((q * q).sum(axis=-1).mean() / 8, own, rtol=0.01)
        assert round(CHAPTER.reference_8_2(64, 1, 1)[2]) == 2981
    else:
        S = rng.integers(3, size=(20_000, 2, 2))
        same = (S[:, 0, 0] == S[:, 1, 1]) & (S[:, 0, 1] == S[:, 1, 0])
        assert abs(same.mean() - CHAPTER.reference_8_4(S[0])[1]) < 0.01


def test_trained_look_up():
    """The loop of 300 steps finds the nouns; the sentences are as told."""
    names = {}
    for cell in chapter("08").code:
        if cell.id in ("imports", "data", "train", "train-run"):
            exec(cell.source, names)
    assert len(names["sentences"].unique(dim=0)) == 1296
    assert names["accuracy"](names["E"], names["after"], names["test"], 4) == 1
