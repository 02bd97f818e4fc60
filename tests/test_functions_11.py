"""Chapter 11's functions against PyTorch, loops and their own promises."""

import math

import numpy as np
import pytest
import torch
from chapters import functions
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

CHAPTER = functions("11")
rarely = settings(deadline=None, max_examples=50)
seeds, few = st.integers(0, 10**6), st.integers(1, 4)
leads = st.sampled_from([(), (1,), (4,), (2, 3)])


def draw(seed, lead, n, h, d_model=7, d_k=5, d_v=2, h_kv=None):
    """Signed tokens of different sizes, weights of five different widths."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(*lead, n, d_model)) + rng.normal()
    X *= 10 ** rng.uniform(-1, 1, size=(*lead, n, 1))
    h_kv = h_kv or h
    return X, (rng.normal(size=(h, d_model, d_k)) / math.sqrt(d_model),
               rng.normal(size=(h_kv, d_model, d_k)) / math.sqrt(d_model),
               rng.normal(size=(h_kv, d_model, d_v)),
               rng.normal(size=(h, d_v, d_model)))


def one_head_at_a_time(X, W_Q, W_K, W_V, W_O, mask=None):
    """PyTorch's attention in a loop over query heads; h_kv may be smaller."""
    group, total = len(W_Q) // len(W_K), 0
    mask = None if mask is None else torch.tensor(mask)
    for i in range(len(W_Q)):
        j = i // group
        Q, K, V = (torch.tensor(X @ W)[None]
                   for W in (W_Q[i], W_K[j], W_V[j]))
        Y = F.scaled_dot_product_attention(Q, K, V, attn_mask=mask)[0]
        total = total + Y.numpy() @ W_O[i]
    return total


@rarely
@given(seeds, leads, st.integers(1, 6), few, st.booleans())
def test_multi_head_attention_is_pytorchs(seed, lead, n, h, causal):
    X, W = draw(seed, lead, n, h)
    mask = CHAPTER.causal_mask(n) if causal else None
    assert np.allclose(CHAPTER.multi_head_attention(X, *W, mask),
                       one_head_at_a_time(X, *W, mask))


def test_a_mask_for_each_head():
    X, W = draw(1, (), 5, 3)
    mask = np.random.default_rng(1).random((3, 5, 5)) < 0.5
    mask |= np.eye(5, dtype=bool)
    want = sum(one_head_at_a_time(X, *(w[i : i + 1] for w in W), mask[i])
               for i in range(3))
    assert np.allclose(CHAPTER.multi_head_attention(X, *W, mask), want)


def test_float32_stays_float32():
    X, W = draw(2, (), 5, 3)
    X, *W = (a.astype(np.float32) for a in (X, *W))
    cache = CHAPTER.empty_cache(W[1], W[2])
    output, cache = CHAPTER.cached_attention(X, cache, *W)
    for made in (CHAPTER.multi_head_attention(X, *W), output, *cache,
                 CHAPTER.grouped_query_attention(X, *W)):
        assert made.dtype == np.float32


@pytest.mark.parametrize("h", [1, 2, 4])
def test_weights_come_from_nn_multihead_attention(h):
    torch.manual_seed(h)
    theirs = nn.MultiheadAttention(8, h, bias=False, batch_first=True,
                                   dtype=torch.float64)
    X = torch.randn(2, 5, 8, dtype=torch.float64)
    for mask in (CHAPTER.causal_mask(5), np.ones((5, 5), dtype=bool)):
        with torch.no_grad():
            want, _ = theirs(X, X, X, attn_mask=torch.tensor(~mask))
        got = CHAPTER.multi_head_attention(
            X.numpy(), *CHAPTER.heads_from_torch(theirs), mask)
        assert np.abs(got - want.numpy()).max() < 1e-13


@rarely
@given(seeds, leads, few, st.booleans())
def test_heads_add_up(seed, lead, h, causal):
    X, W = draw(seed, lead, 5, h)
    mask = CHAPTER.causal_mask(5) if causal else None
    terms = CHAPTER.head_outputs(X, *W, mask)
    assert terms.shape == (*lead, h, 5, 7)
    assert np.allclose(terms.sum(axis=-3),
                       CHAPTER.multi_head_attention(X, *W, mask))
    alone = one_head_at_a_time(X, *(w[-1:] for w in W), mask)
    assert np.allclose(terms[..., -1, :, :], alone)


@rarely
@given(seeds, few, st.lists(st.integers(1, 4), min_size=1, max_size=5))
def test_cached_attention_in_any_chunks(seed, h, chunks):
    n = sum(chunks)
    X, W = draw(seed, (), n, h)
    cache, outputs = CHAPTER.empty_cache(W[1], W[2]), []
    for X_new in np.split(X, np.cumsum(chunks)[:-1]):
        output, cache = CHAPTER.cached_attention(X_new, cache, *W)
        outputs.append(output)
    want = one_head_at_a_time(X, *W, CHAPTER.causal_mask(n))
    assert np.allclose(np.concatenate(outputs), want)
    assert cache[0].shape == (h, n, 5) and cache[1].shape == (h, n, 2)
    assert np.allclose(cache[0], X @ W[1]) and np.allclose(cache[1], X @ W[2])


@rarely
@given(seeds, leads, st.sampled_from([(1, 1), (2, 1), (4, 2), (6, 2), (6, 3)]),
       st.booleans())
def test_grouped_query_attention_is_pytorchs(seed, lead, sizes, causal):
    h, h_kv = sizes
    X, W = draw(seed, lead, 5, h, h_kv=h_kv)
    mask = CHAPTER.causal_mask(5) if causal else None
    got = CHAPTER.grouped_query_attention(X, *W, mask)
    assert np.allclose(got, one_head_at_a_time(X, *W, mask))
    Q, K, V = (torch.tensor(X[..., None, :, :] @ w) for w in W[:3])
    Y = F.scaled_dot_product_attention(
        Q, K, V, None if mask is None else torch.tensor(mask), enable_gqa=True)
    assert np.allclose(got, (Y.numpy() @ W[3]).sum(axis=-3))


def test_groups_that_do_not_divide_are_refused():
    X, W = draw(3, (), 5, 4, h_kv=3)
    with pytest.raises(ValueError, match="3 key heads do not divide 4"):
        CHAPTER.grouped_query_attention(X, *W)


def test_random_heads():
    rng = np.random.default_rng(0)
    for h in (1, 2, 3, 6):
        W_Q, W_K, W_V, W_O = CHAPTER.random_heads(6, h, rng)
        assert W_Q.shape == W_K.shape == W_V.shape == (h, 6, 6 // h)
        assert W_O.shape == (h, 6 // h, 6)
        numbers = np.stack([W.ravel() for W in (W_Q, W_K, W_V, W_O)])
        assert len(np.unique(numbers)) == 4 * 36
    with pytest.raises(ValueError, match="4 heads do not divide"):
        CHAPTER.random_heads(6, 4, rng)


@rarely
@given(seeds, st.integers(1, 5), few)
def test_two_ways_to_cut(seed, n, h):
    Y = np.random.default_rng(seed).normal(size=(n, 3 * h))
    right, wrong = CHAPTER.cut_columns(Y, h), CHAPTER.cut_list(Y, h)
    assert right.shape == wrong.shape == (h, n, 3)
    assert all((right[i] == Y[:, 3 * i : 3 * i + 3]).all() for i in range(h))
    assert (wrong.ravel() == Y.ravel()).all()
    assert (CHAPTER.join_columns(right) == Y).all()
    assert (CHAPTER.join_list(wrong) == Y).all()
    assert (right == wrong).all() == (n == 1 or h == 1)


def test_the_probes_see_what_they_are_for():
    X = np.random.default_rng(0).normal(size=(6, 3))
    past, near = np.tri(6), np.eye(6) + np.eye(6, k=1)
    assert (CHAPTER.hears(lambda X: past @ X, X) == (past > 0)).all()
    assert (CHAPTER.hears(lambda X: near @ X, X) == (near > 0)).all()
    assert CHAPTER.worst_leak(lambda X: past @ X, X) == 0
    assert np.isclose(CHAPTER.worst_leak(lambda X: near @ X, X), 1)
    assert CHAPTER.permutation_error(lambda X: X - X.mean(0), X) < 1e-12
    assert CHAPTER.permutation_error(lambda X: past @ X, X) > 0.1


def test_the_task_asks_for_what_it_says():
    places = torch.zeros(8, 4)
    X, target = CHAPTER.draw_task(3, torch.Generator().manual_seed(0), places)
    assert X.shape == (3, 8, 6) and target.shape == (3, 5, 2)
    for t in range(3, 8):
        assert torch.equal(target[:, t - 3, 0], X[:, t - 1, -2])
        assert torch.equal(target[:, t - 3, 1], X[:, t - 3, -1])


def test_heads_in_torch_are_the_numpy_ones():
    weights = CHAPTER.draw_heads(3, 6, torch.Generator().manual_seed(0))
    X = torch.randn(2, 5, 6, generator=torch.Generator().manual_seed(1))
    mask = CHAPTER.causal_mask(5)
    got, shares = CHAPTER.heads_in_torch(X, *weights, torch.tensor(mask))
    want = CHAPTER.multi_head_attention(
        X.numpy(), *(W.numpy() for W in weights), mask)
    assert np.allclose(got, want, atol=1e-5)
    assert torch.allclose(shares.sum(dim=-1), torch.tensor(1.0))


@pytest.mark.parametrize("t, d, h", [(1, 8, 2), (7, 12, 3), (20, 16, 4)])
def test_multiplications(t, d, h):
    for n_new in (1, t):
        assert CHAPTER.multiplications_for(n_new, t, d, h) == (
            4 * n_new * d**2 + 2 * n_new * t * d)


@pytest.mark.parametrize("name", ["in_proj_bias", "out_proj.bias"])
def test_biases_that_would_be_left_out_are_refused(name):
    module = nn.MultiheadAttention(6, 2)            # biases of 0
    assert len(CHAPTER.heads_from_torch(module)) == 4
    nn.init.constant_(module.get_parameter(name), 1)
    with pytest.raises(ValueError, match="bias=False"):
        CHAPTER.heads_from_torch(module)


@pytest.mark.parametrize("h_kv", [1, 2, 4])
def test_a_cache_with_fewer_key_heads_is_right_or_refused(h_kv):
    rng = np.random.default_rng(h_kv)
    X, W_Q = rng.normal(size=(5, 6)), rng.normal(size=(4, 6, 3))
    W_K, W_V = rng.normal(size=(2, h_kv, 6, 3))
    W_O = rng.normal(size=(4, 3, 6))
    cache = CHAPTER.empty_cache(W_K, W_V)
    if h_kv == 2:
        with pytest.raises(ValueError, match="2 key heads for 4 heads"):
            CHAPTER.cached_attention(X, cache, W_Q, W_K, W_V, W_O)
        return
    got, _ = CHAPTER.cached_attention(X, cache, W_Q, W_K, W_V, W_O)
    each = [W.repeat(4 // h_kv, axis=0) for W in (W_K, W_V)]
    assert np.allclose(got, CHAPTER.multi_head_attention(
        X, W_Q, *each, W_O, CHAPTER.causal_mask(5, 5)))


@rarely
@given(seeds, few, few)
def test_reference_11_3_is_what_pytorch_stores(seed, h, d_k):
    rng, d_model = np.random.default_rng(seed), h * d_k
    weights = CHAPTER.weights_11_3(rng, h, d_k)
    X = rng.normal(size=(5, d_model))
    module = nn.MultiheadAttention(d_model, h, bias=False).double()
    with torch.no_grad():
        packed, out = map(torch.tensor, CHAPTER.reference_11_3(*weights))
        module.in_proj_weight.copy_(packed)
        module.out_proj.weight.copy_(out)
        theirs, _ = module(*[torch.tensor(X)] * 3)
    assert np.allclose(theirs, CHAPTER.multi_head_attention(X, *weights))
    back = CHAPTER.heads_from_torch(module)
    assert all(map(np.array_equal, back, weights))


@rarely
@given(seeds, few, few)
def test_reference_11_5_keeps_heads_that_are_equal_in_their_group(
        seed, h_kv, group):
    X, (W_Q, W_K, W_V, W_O) = draw(seed, (), 4, h_kv * group, h_kv=h_kv)
    pooled = []
    for W in (W_K, W_V):
        alike = np.repeat(W, group, axis=0)
        noise = np.random.default_rng(seed).normal(size=alike.shape)
        noise -= np.repeat(CHAPTER.reference_11_5(noise, h_kv), group, axis=0)
        pooled.append(CHAPTER.reference_11_5(alike + noise, h_kv))
    assert np.allclose(
        CHAPTER.grouped_query_attention(X, W_Q, *pooled, W_O),
        CHAPTER.grouped_query_attention(X, W_Q, W_K, W_V, W_O))
