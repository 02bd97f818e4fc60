"""Chapter 15's functions against PyTorch and whole passes, at any shape."""

import math
import warnings

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from course.chapter import functions

CHAPTER = functions("15")
rarely = settings(deadline=None, max_examples=25)
seeds, few = st.integers(0, 10**6), st.integers(1, 4)
leads = st.sampled_from([(), (1,), (4,), (2, 3)])


def pytorch(Q, K, V, mask=None, **options):
    mask = None if mask is None else torch.tensor(mask)
    return F.scaled_dot_product_attention(
        *map(torch.tensor, (Q, K, V)), attn_mask=mask, **options).numpy()


@rarely
@given(seeds, leads, st.integers(1, 7))
def test_keep_top_k_keeps_what_torch_names(seed, lead, k):
    logits = np.random.default_rng(seed).normal(size=(*lead, 7))
    before = logits.copy()
    got = CHAPTER.keep_top_k(logits, k)
    best = torch.topk(torch.tensor(logits), k).indices.numpy()
    want = np.full_like(logits, -np.inf)
    np.put_along_axis(want, best, np.take_along_axis(logits, best, -1), -1)
    assert np.array_equal(got, want) and np.array_equal(logits, before)


def test_equals_at_the_border_stay():
    got = CHAPTER.keep_top_k(np.array([2.0, 1, 1, 0]), 2)
    assert np.isfinite(got).tolist() == [True, True, True, False]


@pytest.mark.parametrize("T", [0.4, 1, 3])
def test_sample_draws_each_row_by_its_probabilities(T):
    rows = np.array([[0.0, 1, 2, -np.inf], [1.0, -1, 0, 0]])
    want = torch.tensor(rows / T).softmax(-1).numpy()
    rng = np.random.default_rng(6)
    drawn = CHAPTER.sample(np.tile(rows, (20_000, 1, 1)), T, rng)
    assert drawn.shape == (20_000, 2)
    for column, p in zip(drawn.T, want, strict=True):
        got = np.bincount(column, minlength=4) / 20_000
        assert abs(got - p).max() < 0.015
    assert not (drawn[:, 0] == 3).any()


@pytest.mark.parametrize("u, want", [(np.nextafter(1, 0), 20), (0.0, 1)])
def test_sample_draws_no_forbidden_token_at_either_end(u, want):
    class Fixed:
        def random(self, shape):
            return np.full(shape, u)

    for size in (np.float32, np.float64):
        logits = np.zeros((1, 28), dtype=size)
        logits[0, 0], logits[0, 21:] = -np.inf, -np.inf
        assert CHAPTER.sample(logits, 1.0, Fixed()) == [want]


@pytest.mark.parametrize("temperature", [0, -1.0, math.nan])
def test_a_temperature_that_is_not_positive_is_refused(temperature):
    with pytest.raises(ValueError, match="argmax"):
        CHAPTER.sample(np.ones((2, 3)), temperature, np.random.default_rng(0))


def model_of(seed, h, h_kv):
    torch.manual_seed(seed)
    return CHAPTER.Transformer(11, 6 * h, h, 3, 16, h_kv=h_kv)


@rarely
@given(seeds, st.sampled_from([(1, 1), (2, 1), (4, 2), (3, 3)]),
       st.lists(st.integers(1, 4), min_size=1, max_size=5))
def test_the_cache_changes_nothing(seed, sizes, pieces):
    model = model_of(seed, *sizes)
    ids = torch.randint(11, (2, sum(pieces)))
    caches, got = CHAPTER.empty_caches(model, 2), []
    assert [K.shape for K, _ in caches] == [(2, sizes[1], 0, 6)] * 3
    for piece in ids.split(pieces, dim=1):
        logits, caches = CHAPTER.next_logits(model, piece, caches)
        assert logits.shape == (2, piece.shape[1], 11)
        got.append(logits)
    want = model(ids).detach()
    assert torch.allclose(torch.cat(got, dim=1), want, rtol=0,
                          atol=1e-4 * float(want.abs().max()))
    assert all(K.shape[2] == V.shape[2] == ids.shape[1] for K, V in caches)


def test_next_logits_leaves_the_cache_as_it_was():
    model = model_of(8, 2, 1)
    _, caches = CHAPTER.next_logits(model, torch.tensor([[1, 2, 3, 4]]),
                                    CHAPTER.empty_caches(model))
    first, _ = CHAPTER.next_logits(model, torch.tensor([[1]]), caches)
    again, _ = CHAPTER.next_logits(model, torch.tensor([[1]]), caches)
    assert torch.equal(first, again)


def test_guesses_leave_the_distribution_of_the_next_word():
    model, rng = model_of(3, 2, 2), np.random.default_rng(0)
    table = rng.dirichlet(np.full(11, 0.5), size=(11, 11))
    _, caches = CHAPTER.next_logits(model, torch.tensor([[4]]),
                                    CHAPTER.empty_caches(model))
    drawn = [CHAPTER.guess_and_verify(model, [4, 5], caches, table, 1, rng)[0]
             for _ in range(2000)]
    want = model(torch.tensor([[4, 5]]))[0, -1].softmax(-1).detach().numpy()
    got = np.bincount([ids[2] for ids in drawn], minlength=11) / 2000
    assert abs(got - want).max() < 0.05
    assert {len(ids) for ids in drawn} == {3, 4}


@rarely
@given(seeds, leads, st.sampled_from([(1, 1), (2, 1), (4, 2), (6, 2), (6, 3)]),
       st.booleans())
def test_grouped_query_attention_is_pytorchs(seed, lead, sizes, causal):
    h, h_kv = sizes
    rng = np.random.default_rng(seed)
    Q = rng.normal(size=(*lead, h, 5, 3))
    K = rng.normal(size=(*lead, h_kv, 7, 3))
    V = rng.normal(size=(*lead, h_kv, 7, 2))
    mask = np.tri(5, 7, 2, dtype=bool) if causal else None
    got = CHAPTER.grouped_query_attention(Q, K, V, mask)
    assert np.allclose(got, pytorch(Q, K, V, mask, enable_gqa=True))


def test_groups_that_do_not_divide_are_refused():
    Q, K = np.ones((4, 5, 2)), np.ones((3, 5, 2))
    with pytest.raises(ValueError, match="3 key heads do not divide 4"):
        CHAPTER.grouped_query_attention(Q, K, K)


@rarely
@given(seeds, st.integers(1, 40), st.integers(1, 9), st.integers(1, 50),
       st.sampled_from([1.0, 30.0]), st.integers(1, 12))
def test_blocks_are_the_whole(seed, n, d_v, block, scale, width):
    rng = np.random.default_rng(seed)
    Q, K = scale * rng.normal(size=(n, 4)), rng.normal(size=(n, 4))
    V = rng.normal(size=(n, d_v)) * 10 ** rng.uniform(-2, 2, d_v)
    for may in (lambda i, j: j > -1, lambda i, j: j <= i,
                lambda i, j: (j <= i) & (j > i - width)):
        mask = np.broadcast_to(may(np.arange(n)[:, None], np.arange(n)),
                               (n, n))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            got = CHAPTER.attention_by_blocks(Q, K, V, block, may)
        assert np.allclose(got, pytorch(Q, K, V, mask), atol=1e-8)


def test_blocks_of_other_keys_and_formats():
    rng = np.random.default_rng(0)
    Q, K, V = (rng.normal(size=s) for s in ((5, 4), (23, 4), (23, 6)))
    got = CHAPTER.attention_by_blocks(Q, K, V, 7)
    assert np.allclose(got, pytorch(Q, K, V))
    narrow = [a.astype(np.float32) for a in (Q, K, V)]
    assert np.allclose(CHAPTER.attention_by_blocks(*narrow, 7), got, atol=1e-5)
    with pytest.raises(ValueError, match="nowhere"):
        CHAPTER.attention_by_blocks(Q, K, V, 2, lambda i, j: j > 99)


@rarely
@given(seeds, st.integers(1, 12), st.integers(1, 20), st.integers(1, 25))
def test_backward_by_blocks_is_autograd(seed, n, m, block):
    rng = np.random.default_rng(seed)
    inputs = [torch.tensor(rng.normal(size=shape), requires_grad=True)
              for shape in ((n, 4), (m, 4), (m, 3))]
    Y = F.scaled_dot_product_attention(*inputs)
    dY = rng.normal(size=(n, 3))
    Y.backward(torch.tensor(dY))
    Q, K, V = (x.detach().numpy() for x in inputs)
    L = torch.tensor(Q @ K.T / 2).logsumexp(-1).numpy()
    got = CHAPTER.backward_by_blocks(dY, Q, K, V, Y.detach().numpy(), L, block)
    assert all(np.allclose(g, x.grad)
               for g, x in zip(got, inputs, strict=True))


@rarely
@given(seeds, few, few)
def test_reference_15_3_keeps_heads_that_are_equal_in_their_group(
        seed, h_kv, group):
    rng = np.random.default_rng(seed)
    X, W_Q = rng.normal(size=(4, 7)), rng.normal(size=(h_kv * group, 7, 5))
    pair, pooled = rng.normal(size=(2, h_kv, 7, 5)), []
    for W in pair:
        alike = np.repeat(W, group, axis=0)
        noise = rng.normal(size=alike.shape)
        noise -= np.repeat(CHAPTER.reference_15_3(noise, h_kv), group, axis=0)
        pooled.append(CHAPTER.reference_15_3(alike + noise, h_kv))
    got, want = (CHAPTER.grouped_query_attention(X @ W_Q, X @ W_K, X @ W_V)
                 for W_K, W_V in (pooled, pair))
    assert np.allclose(got, want)


@rarely
@given(seeds, leads, few, few, st.sampled_from([1e-3, 1.0, 30.0, 1e4]))
def test_reference_15_4_is_attention_over_both_parts(seed, lead, n, m, scale):
    rng = np.random.default_rng(seed)
    Q = scale * rng.normal(size=(*lead, n, 4))
    K, V = rng.normal(size=(2, *lead, m + 2, 4))
    scores = Q @ K.mT / 2

    def part(keys):
        lse = torch.tensor(scores[..., keys]).logsumexp(-1).numpy()
        return CHAPTER.attention(Q, K[..., keys, :], V[..., keys, :]), lse

    with np.errstate(over="ignore"):
        Y, lse = CHAPTER.reference_15_4(*part(slice(m)), *part(slice(m, None)))
    want, want_lse = part(slice(None))
    assert np.allclose(Y, want, atol=1e-9) and np.allclose(lse, want_lse)
