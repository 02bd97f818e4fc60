"""Chapter 09's functions against PyTorch, loops and their own promises."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F
from torch.nn.attention.bias import causal_lower_right

from course.chapter import functions

CHAPTER = functions("09")
rarely = settings(deadline=None, max_examples=50)
seeds, sizes = st.integers(0, 10**6), st.integers(1, 6)
leads = st.sampled_from([(), (1,), (4,), (2, 3), (2, 1, 3)])
scales = st.sampled_from([1e-3, 1.0, 30.0, 1e4])


def draw(seed, n, d):
    """Tokens, weights and a mask in which each token sees itself."""
    rng = np.random.default_rng(seed)
    X, W = rng.normal(size=(n, d)), CHAPTER.random_weights(rng, d)
    return X, W, (rng.random((n, n)) < 0.5) | np.eye(n, dtype=bool)


def draw_pairs(seed, lead, n, m, d_k, d_v, scale=1.0):
    """Queries, keys, values of very different scale, and a mask."""
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
def test_masked_attention_is_pytorchs(seed, lead, n, m, d_k, d_v, scale):
    Q, K, V, mask = draw_pairs(seed, lead, n, m, d_k, d_v, scale)
    for may in (None, mask):
        got = CHAPTER.attention(Q, K, V, may)
        assert got.shape == (*lead, n, d_v)
        assert np.allclose(got, pytorch(Q, K, V, may), atol=1e-8)
    weights = CHAPTER.attention_weights(Q, K, mask)
    assert np.allclose(weights.sum(axis=-1), 1) and (weights >= 0).all()
    assert (weights[..., ~mask] == 0).all()


@pytest.mark.parametrize("dtype, close", [(np.float32, 1e-5),
                                          (np.float64, 1e-13)])
def test_masked_attention_keeps_its_format(dtype, close):
    Q, K, V, mask = draw_pairs(0, (2, 3), 5, 7, 4, 6)
    V /= np.abs(V).max()
    given_, wide = [a.astype(dtype) for a in (Q, K, V)], pytorch(Q, K, V, mask)
    got = CHAPTER.attention(*given_, mask)
    assert got.dtype == dtype and np.abs(got - wide).max() < close


def test_bad_masks_are_refused():
    Q, K, V, mask = draw_pairs(0, (2,), 3, 4, 2, 5)
    mask[1] = False
    with pytest.raises(ValueError, match="nowhere"):
        CHAPTER.attention(Q, K, V, mask)
    with pytest.raises(ValueError, match="boolean"):
        CHAPTER.attention(Q, K, V, np.ones((3, 4)))


def test_attention_takes_tensors_and_refuses_those_with_gradients():
    rng = np.random.default_rng(0)
    Q, K, V = rng.normal(size=(3, 4, 6))
    mask = np.tri(4, dtype=bool)
    tensors = [torch.tensor(array) for array in (Q, K, V, mask)]
    want = CHAPTER.attention(Q, K, V, mask)
    assert np.array_equal(CHAPTER.attention(*tensors), want)
    tensors[0].requires_grad_()
    with pytest.raises(RuntimeError, match="detach"):
        CHAPTER.attention(*tensors)


@pytest.mark.parametrize("n, m", [(1, 1), (4, 4), (2, 5), (1, 3)])
def test_causal_mask(n, m):
    want = [[j <= m - n + i for j in range(m)] for i in range(n)]
    got = CHAPTER.causal_mask(n, m)
    assert got.dtype == bool and np.array_equal(got, want)
    assert np.array_equal(CHAPTER.causal_mask(n), CHAPTER.causal_mask(n, n))


@rarely
@given(st.lists(st.integers(0, 7), min_size=1, max_size=5), st.integers(1, 7))
def test_padding_mask(lengths, n):
    got = CHAPTER.padding_mask(lengths, n)
    assert got.dtype == bool and got.shape == (len(lengths), 1, n)
    assert np.array_equal(got[:, 0], [[j < length for j in range(n)]
                                      for length in lengths])


@rarely
@given(st.integers(1, 9), st.integers(1, 12))
def test_window_mask(n, w):
    got = CHAPTER.window_mask(n, w)
    assert got.dtype == bool and got.diagonal().all()
    assert np.array_equal(got, CHAPTER.causal_mask(n)
                          & ~np.tri(n, k=-w, dtype=bool))


@rarely
@given(seeds, sizes, sizes)
def test_self_attention_is_pytorchs(seed, n, d):
    X, W, mask = draw(seed, n, d)
    for allowed in (None, mask):
        got = CHAPTER.self_attention(X, W, allowed)
        assert np.allclose(got, pytorch(*(X @ w for w in W), allowed))
    batch = np.stack([X, 2 * X])
    both = CHAPTER.self_attention(batch, W, mask)
    assert np.allclose(both[1], CHAPTER.self_attention(2 * X, W, mask))


def test_random_weights_keep_the_size_of_a_token():
    W = CHAPTER.random_weights(np.random.default_rng(0), 256)
    assert W.shape == (3, 256, 256)
    assert np.allclose(W.std(axis=(1, 2)), 1 / 16, rtol=0.02)


def test_movement_and_reach():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(5, 4))
    assert np.array_equal(CHAPTER.reach(lambda X: X, X), np.eye(5))
    pattern = rng.random((5, 5)) < 0.5
    kept = X.copy()
    got = CHAPTER.reach(lambda X: pattern @ X, X)
    assert got.dtype == bool and np.array_equal(got, pattern)
    assert np.array_equal(X, kept)
    move = CHAPTER.movement(lambda X: 2 * X, X, 3)
    new = np.random.default_rng(9).normal(size=4)
    assert np.allclose(move, [0, 0, 0, 2 * abs(new - X[3]).max(), 0])


@rarely
@given(seeds, st.integers(2, 6))
def test_reach_of_one_layer_is_its_mask(seed, n):
    X, W, mask = draw(seed, n, 8)
    assert np.array_equal(CHAPTER.reach(
        lambda X: CHAPTER.self_attention(X, W, mask), X), mask)


def test_wrong_layers_are_what_they_say():
    X, W, _ = draw(3, 6, 8)
    mask = np.tri(6, dtype=bool)
    Q, K, V = (torch.tensor(X @ w) for w in W)
    scores, allowed = Q @ K.mT / 8**0.5, torch.tensor(mask)
    want = (scores.softmax(dim=-1) * allowed) @ V
    assert np.allclose(CHAPTER.zeros_after(X, W, mask), want)
    want = scores.masked_fill(~allowed, -torch.inf).softmax(dim=-2) @ V
    assert np.allclose(CHAPTER.softmax_over_queries(X, W, mask), want)


def test_stacked_adds_to_the_stream():
    X, W, mask = draw(4, 5, 6)
    V = 2 * W
    middle = X + CHAPTER.self_attention(X, W, mask)
    want = middle + CHAPTER.self_attention(middle, V, mask)
    assert np.allclose(CHAPTER.residual_stack([W, V], mask)(X), want)
    assert np.array_equal(CHAPTER.residual_stack([], mask)(X), X)


def test_causal_mask_is_aligned_as_causal_lower_right():
    rng = np.random.default_rng(5)
    Q, K, V = (rng.normal(size=(1, 1, k, 4)) for k in (2, 5, 5))
    want = F.scaled_dot_product_attention(
        *map(torch.tensor, (Q, K, V)), attn_mask=causal_lower_right(2, 5))
    assert np.allclose(CHAPTER.attention(Q, K, V, CHAPTER.causal_mask(2, 5)),
                       want)


@rarely
@given(st.integers(0, 10**6), st.integers(3, 9))
def test_one_causal_layer_sees_no_order_and_two_do(seed, n):
    mask = CHAPTER.causal_mask(n)
    assert CHAPTER.last_moves(1, mask, seed, n) < 1e-12
    assert CHAPTER.last_moves(2, mask, seed, n) > 1e-7
    assert CHAPTER.last_moves(2, None, seed, n) < 1e-12


def test_ways_to_put_a_mask_in():
    scores = torch.tensor([[1.0, 2], [3, 4]])
    mask = torch.tensor([[True, False], [True, True]])
    for put in CHAPTER.filled, CHAPTER.added:
        assert put(scores, mask).tolist() == [[1, -torch.inf], [3, 4]]
    X = torch.tensor([[1.0, 2], [3, 4]])
    want = F.scaled_dot_product_attention(X, X, X, attn_mask=mask, scale=1)
    got = CHAPTER.plain(-torch.inf)(X, mask)
    assert torch.allclose(got, want)
    heads = X.T[..., None]                          # two heads of width 1
    want = F.scaled_dot_product_attention(heads, heads, heads, attn_mask=mask)
    for weights in (True, False):
        got = CHAPTER.module(weights)(X, mask)
        assert torch.allclose(got, want[..., 0].T)
