"""Chapter 08's functions against PyTorch, float64 and their own promises."""

import math
import warnings

import numpy as np
import pytest
import torch
from chapters import functions
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

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
    mask = rng.random(size=(n, m)) < 0.5
    mask[np.arange(n), rng.integers(m, size=n)] = True
    return Q, K, V, mask


def pytorch(Q, K, V, mask=None):
    mask = None if mask is None else torch.tensor(mask)
    return F.scaled_dot_product_attention(
        *map(torch.tensor, (Q, K, V)), attn_mask=mask).numpy()


@rarely
@given(seeds, leads, sizes, sizes, sizes, sizes, scales)
def test_attention_is_pytorchs(seed, lead, n, m, d_k, d_v, scale):
    Q, K, V, mask = draw(seed, lead, n, m, d_k, d_v, scale)
    for may in (None, mask):
        got = CHAPTER.attention(Q, K, V, may)
        assert got.shape == (*lead, n, d_v)
        assert np.allclose(got, pytorch(Q, K, V, may), atol=1e-8)


@pytest.mark.parametrize("dtype, close", [(np.float32, 1e-5),
                                          (np.float64, 1e-13)])
def test_attention_keeps_its_format(dtype, close):
    Q, K, V, mask = draw(0, (2, 3), 5, 7, 4, 6)
    V /= np.abs(V).max()
    given_, wide = [a.astype(dtype) for a in (Q, K, V)], pytorch(Q, K, V, mask)
    got = CHAPTER.attention(*given_, mask)
    assert got.dtype == dtype and np.abs(got - wide).max() < close


@rarely
@given(seeds, leads, sizes, sizes, sizes, scales)
def test_shares_are_shares(seed, lead, n, m, d_k, scale):
    Q, K, V, mask = draw(seed, lead, n, m, d_k, 2, scale)
    weights = CHAPTER.attention_weights(Q, K, mask)
    assert np.allclose(weights.sum(axis=-1), 1) and (weights >= 0).all()
    assert (weights[..., ~mask] == 0).all()
    undecided = CHAPTER.entropy(weights)
    assert (undecided >= 0).all() and (undecided <= math.log(m) + 1e-12).all()
    Y = CHAPTER.attention(Q, K, V, mask)
    assert (Y <= V.max(axis=-2, keepdims=True) + 1e-9).all()
    assert (Y >= V.min(axis=-2, keepdims=True) - 1e-9).all()


def test_bad_masks_are_refused():
    Q, K, V, mask = draw(0, (2,), 3, 4, 2, 5)
    mask[1] = False
    with pytest.raises(ValueError, match="nowhere"):
        CHAPTER.attention(Q, K, V, mask)
    with pytest.raises(ValueError, match="boolean"):
        CHAPTER.attention(Q, K, V, np.ones((3, 4)))
    with pytest.raises(ValueError, match="nowhere"):
        CHAPTER.attention_by_blocks(Q[0], K[0], V[0], 2, lambda i, j: j > 9)


@pytest.mark.parametrize("n, m", [(1, 1), (4, 4), (2, 5), (1, 3)])
def test_causal_mask(n, m):
    want = [[j <= m - n + i for j in range(m)] for i in range(n)]
    got = CHAPTER.causal_mask(n, m)
    assert got.dtype == bool and np.array_equal(got, want)
    assert np.array_equal(CHAPTER.causal_mask(n), CHAPTER.causal_mask(n, n))


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
@given(seeds, st.integers(1, 40), st.integers(1, 9), st.integers(1, 50),
       st.sampled_from([1.0, 30.0]), st.integers(1, 12))
def test_blocks_are_the_whole(seed, n, d_v, block, scale, width):
    Q, K, V, _ = draw(seed, (), n, n, 4, d_v, scale)
    for may in (lambda i, j: j > -1, lambda i, j: j <= i,
                lambda i, j: (j <= i) & (j > i - width)):
        mask = np.broadcast_to(may(np.arange(n)[:, None], np.arange(n)),
                               (n, n))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            got = CHAPTER.attention_by_blocks(Q, K, V, block, may)
        assert np.allclose(got, pytorch(Q, K, V, mask), atol=1e-8)


def test_blocks_of_other_keys_and_formats():
    Q, K, V, _ = draw(0, (), 5, 23, 4, 6)
    V /= np.abs(V).max()
    got = CHAPTER.attention_by_blocks(Q, K, V, 7)
    assert np.allclose(got, pytorch(Q, K, V))
    narrow = [a.astype(np.float32) for a in (Q, K, V)]
    assert np.allclose(CHAPTER.attention_by_blocks(*narrow, 7), got, atol=1e-5)


@rarely
@given(seeds, sizes, sizes, st.integers(2, 6))
def test_one_query_alone(seed, m, d_k, d_v):
    q, K, V, _ = draw(seed, (), 1, m, d_k, d_v)
    K, q = K / 3, q[0]
    assert np.allclose(CHAPTER.blend(q, K, V),
                       pytorch(q[None] * math.sqrt(d_k), K, V)[0])
    best = max(range(m), key=lambda j: sum(q * K[j]))
    assert np.array_equal(CHAPTER.best_match(q, K, V), V[best])


def test_slope():
    A = np.random.default_rng(0).normal(size=(3, 4))
    assert np.allclose(CHAPTER.slope(lambda q: q @ A, np.ones(3)), A)
    assert np.allclose(CHAPTER.slope(lambda q: q**2, np.array([1.0, -3])),
                       [[2, 0], [0, -6]])


def test_reach_and_look_around():
    rng = np.random.default_rng(1)
    X, W = rng.normal(size=(5, 4)), rng.normal(size=(3, 4, 4))
    mask = rng.random((5, 5)) < 0.5
    mask |= np.eye(5, dtype=bool)
    Y = CHAPTER.look_around(X, *W, mask)
    assert np.allclose(Y, pytorch(*(X @ W_i for W_i in W), mask))
    got = CHAPTER.reach(lambda X: CHAPTER.look_around(X, *W, mask), X)
    assert np.array_equal(got, mask)
    assert np.array_equal(CHAPTER.reach(lambda X: X, X), np.eye(5))


@pytest.mark.parametrize("d_k, divisor", [(4, 1), (16, 4), (9, 9)])
def test_after_softmax(d_k, divisor):
    """The same draw, by PyTorch and its autograd."""
    rng = np.random.default_rng(4)
    K, Q = (torch.tensor(rng.normal(size=(n, d_k))) for n in (128, 400))
    dA = torch.tensor(rng.normal(size=(400, 128)))
    Q.requires_grad_()
    A = (Q @ K.mT / divisor).softmax(dim=-1)
    (A * dA).sum().backward()
    undecided = torch.distributions.Categorical(A.detach()).entropy().mean()
    want = (A.max(dim=-1)[0].mean().item(), undecided / math.log(128),
            np.median(Q.grad.norm(dim=-1)))
    assert np.allclose(CHAPTER.after_softmax(d_k, divisor), want)


def test_elu_plus_one():
    X = np.array([-800, -1, -1e-9, 0, 2, 800])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = CHAPTER.elu_plus_one(X)
    assert np.allclose(got, F.elu(torch.tensor(X)) + 1)


def test_answers_on_paper():
    """Exercises 8.1, 8.2 and 8.6."""
    rng = np.random.default_rng(2)
    Q, K, V, c = (rng.normal(size=s) for s in ((3, 4), (5, 4), (5, 2), 4))
    Y = CHAPTER.attention(Q, K, V)
    assert np.allclose(CHAPTER.attention(Q, K + c, V), Y)
    assert not np.allclose(CHAPTER.attention(Q + c, K, V), Y, atol=0.01)
    assert np.allclose(CHAPTER.attention(Q, K, V + c[:2]), Y + c[:2])
    assert np.allclose(CHAPTER.attention(2 * Q, K / 2, V), Y)
    twice = CHAPTER.attention(Q, K[[0, *range(5)]], V[[0, *range(5)]])
    more = Q @ K.T / 2 + [math.log(2), 0, 0, 0, 0]
    assert np.allclose(twice, CHAPTER.softmax(more) @ V)

    q, k = rng.normal(size=(2, 20_000, 64))
    assert np.isclose((3 * q * k * 5).sum(axis=-1).std(), 15 * 8, rtol=0.03)
    assert np.isclose((q * q).sum(axis=-1).mean() / 8, 8, rtol=0.01)
    assert round(math.exp(8)) == 2981

    eye, V = np.eye(2), np.array([[1.0, 2], [3, 5]])
    hers = CHAPTER.softmax((eye @ eye.T / 2**0.5).T).T @ V
    assert np.allclose(hers, pytorch(eye, eye, V))


def test_attention_takes_tensors_and_refuses_those_with_gradients():
    rng = np.random.default_rng(0)
    Q, K, V = rng.normal(size=(3, 4, 6))
    mask = np.tri(4, dtype=bool)
    given = [torch.tensor(array) for array in (Q, K, V, mask)]
    want = CHAPTER.attention(Q, K, V, mask)
    assert np.array_equal(CHAPTER.attention(*given), want)
    given[0].requires_grad_()
    with pytest.raises(RuntimeError, match="detach"):
        CHAPTER.attention(*given)


@rarely
@given(seeds, leads, sizes, sizes, scales)
def test_reference_8_4_is_attention_over_both_halves(seed, lead, n, m, scale):
    Q, K, V, _ = draw(seed, lead, n, m + 2, 4, 3, scale)
    scores = Q @ K.mT / 2

    def part(keys):
        lse = torch.tensor(scores[..., keys]).logsumexp(-1).numpy()
        return CHAPTER.attention(Q, K[..., keys, :], V[..., keys, :]), lse

    with np.errstate(over="ignore"):
        Y, lse = CHAPTER.reference_8_4(*part(slice(m)), *part(slice(m, None)))
    want, want_lse = part(slice(None))
    assert np.allclose(Y, want, atol=1e-9 * abs(V).max())
    assert np.allclose(lse, want_lse)
