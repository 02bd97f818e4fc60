"""Chapter 18's functions against chapter 17's loop, formulas and PyTorch."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from course.chapter import functions

CHAPTER = functions("18")
BEFORE = functions("17")
rarely = settings(deadline=None, max_examples=30)
seeds, leads = st.integers(0, 10**6), st.sampled_from([(), (1,), (3,), (2, 3)])


def sequences(seed, lead=(), n=11, d_k=5, d_v=4):
    """Signed Q, K, V, beta and a state; keys no longer than 1."""
    rng = np.random.default_rng(seed)
    Q, K = rng.normal(size=(2, *lead, n, d_k))
    Q *= 10 ** rng.uniform(-1, 1, size=(*lead, n, 1))
    K *= rng.uniform(0.3, 1, size=(*lead, n, 1))
    K /= np.linalg.norm(K, axis=-1, keepdims=True).clip(1)
    V = rng.normal(size=(*lead, n, d_v)) + 1
    return Q, K, V, rng.uniform(size=(*lead, n)), rng.normal(
        size=(*lead, d_v, d_k))


def tensors(arrays, dtype=torch.float64):
    return [torch.tensor(a, dtype=dtype) for a in arrays]


def close(ours, want, bound, size=0.0):
    """Within `bound`, in units of the largest number or of `size`."""
    want = torch.as_tensor(want)
    assert ours.shape == want.shape
    return (ours - want).abs().max() <= bound * max(want.abs().max(), size)


def sizes(Q, K, V, beta, state=0.0):
    """How large outputs and states can be before anything cancels."""
    held = abs(V).max() + np.abs(state).max()
    return np.linalg.norm(Q, axis=-1).max() * held, held


@pytest.mark.parametrize("lead", [(), (3,), (2, 3)])
def test_delta_step_is_write_then_read(lead):
    Q, K, V, beta, state = sequences(1, lead)
    q, k, v, b = Q[..., 0, :], K[..., 0, :], V[..., 0, :], beta[..., 0]
    held = torch.tensor(state)
    y, new = CHAPTER.delta_step(*tensors([q, k, v, b[..., None]]), held)
    want = BEFORE.write_delta(state, k, v, b)
    assert close(new, want, 1e-14) and torch.equal(held, torch.tensor(state))
    assert close(y, BEFORE.read_memory(want, q), 1e-14)


@rarely
@given(seeds, leads, st.integers(1, 12), st.integers(1, 5), st.integers(1, 5))
def test_loops_are_chapter_17s(seed, lead, n, d_k, d_v):
    *arrays, state = sequences(seed, lead, n, d_k, d_v)
    loud, full = sizes(*arrays)
    want, last = BEFORE.delta_rule(*arrays)
    Y, held = CHAPTER.delta_rule_by_rows(*tensors(arrays))
    assert close(Y, want, 1e-12, loud) and close(held, last, 1e-12, full)
    want, last = BEFORE.delta_rule(*arrays, state)
    Y, held = CHAPTER.delta_rule_by_rows(*tensors([*arrays, state]))
    assert close(Y, want, 1e-12, loud) and close(held, last, 1e-12, full)


@settings(deadline=None, max_examples=60)
@given(seeds, leads, st.integers(1, 40), st.integers(1, 45), st.integers(1, 6),
       st.integers(1, 6), st.booleans())
def test_chunks_are_the_loop(seed, lead, n, chunk, d_k, d_v, started):
    arrays = sequences(seed, lead, n, d_k, d_v)[:4 + started]
    want, last = BEFORE.delta_rule(*arrays)
    loud, full = sizes(*arrays)
    for dtype, bound in ((torch.float64, 1e-12), (torch.float32, 1e-5)):
        Y, state = CHAPTER.delta_rule_chunkwise(*tensors(arrays, dtype),
                                                chunk=chunk)
        assert Y.dtype == state.dtype == dtype
        assert close(Y, want, bound, loud) and close(state, last, bound, full)


@rarely
@given(seeds, st.sampled_from([(), (2,)]), st.integers(1, 14),
       st.integers(1, 15))
def test_chunks_have_the_gradients_of_the_loop(seed, lead, n, chunk):
    leaves = [a.requires_grad_() for a in tensors(sequences(seed, lead, n))]
    rng = np.random.default_rng(seed)
    weights = tensors([rng.normal(size=(*lead, n, 4)),
                       rng.normal(size=(*lead, 4, 5))])
    for rule in (CHAPTER.delta_rule_by_rows, lambda *given:
                 CHAPTER.delta_rule_chunkwise(*given, chunk=chunk)):
        got = torch.autograd.grad(rule(*leaves), leaves, weights)
        if rule is CHAPTER.delta_rule_by_rows:
            want = got
    assert all(close(a, b, 1e-11, size=10)
               for a, b in zip(got, want, strict=True))


def test_gradients_are_slopes():
    leaves = [a.requires_grad_() for a in tensors(sequences(3, n=5))]
    for rule in (CHAPTER.delta_rule_by_rows, lambda *given:
                 CHAPTER.delta_rule_chunkwise(*given, chunk=2)):
        assert torch.autograd.gradcheck(rule, leaves)


def test_a_chunk_of_64_is_meant_if_none_is_said():
    arrays = tensors(sequences(4, n=150))
    for a, b in zip(CHAPTER.delta_rule_chunkwise(*arrays),
                    CHAPTER.delta_rule_chunkwise(*arrays, chunk=64),
                    strict=True):
        assert torch.equal(a, b)


def test_chunks_leave_their_inputs_alone():
    arrays = tensors(sequences(5))
    kept = [a.clone() for a in arrays]
    CHAPTER.delta_rule_chunkwise(*arrays, chunk=4)
    assert all(map(torch.equal, arrays, kept))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_memory_inputs_are_what_they_say(dtype):
    leaves = CHAPTER.memory_inputs(300, h=3, d=7, dtype=dtype)
    Q, K, V, beta = leaves
    assert Q.shape == K.shape == V.shape == (3, 300, 7)
    assert beta.shape == (3, 300)
    assert 0 <= beta.min() < 0.05 and 0.95 < beta.max() <= 1
    for X in (Q, K):
        assert torch.allclose(X.norm(dim=-1), torch.ones(3, 300, dtype=dtype))
    assert abs(V.std() - 1) < 0.05 and abs(V.mean()) < 0.1
    assert not torch.allclose(Q, K, atol=0.1)
    again = CHAPTER.memory_inputs(300, h=3, d=7, dtype=dtype)
    for leaf, same in zip(leaves, again, strict=True):
        assert leaf.is_leaf and leaf.requires_grad and leaf.dtype == dtype
        assert torch.equal(leaf, same)
    assert CHAPTER.memory_inputs(5)[0].shape == (4, 5, 64)


def test_kept_for_backward_counts_each_storage_once():
    size = 4 * 9 * 64 * 4
    for rule, want in ((lambda Q, K, V, b: V.exp(), size),
                       (lambda Q, K, V, b: V * V, size),
                       (lambda Q, K, V, b: K * V, 2 * size),
                       (lambda Q, K, V, b: V.exp() * V, 2 * size),
                       (lambda Q, K, V, b: [v * v for v in V.unbind()], size),
                       (lambda Q, K, V, b: V + V, 0),
                       (lambda Q, K, V, b: b.exp(), size // 64)):
        assert CHAPTER.kept_for_backward(rule, 9) == want


def test_softmax_rule_is_chapter_09s():
    Q, K, V, beta, _ = sequences(6, (3,), 9, 5, 5)
    chapter_09 = functions("09")
    want = chapter_09.attention(Q, K, V, chapter_09.causal_mask(9))
    [got] = CHAPTER.softmax_rule(*tensors([Q, K, V, beta]))
    assert close(got, want, 1e-12)


def test_with_gradients_of_a_rule_known_by_hand():
    X, b = torch.randn(2, 3, dtype=torch.float64), torch.tensor(3.0).double()
    seen = {}

    def rule(X, b, **kwargs):
        seen.update(kwargs)
        return 2 * X, b * X.sum()

    Y, state, dX, db = CHAPTER.with_gradients(rule, [X, b], chunk=5)
    total = X.sum()
    weight = torch.tensor([[-1, -0.6, -0.2], [0.2, 0.6, 1]]).double()
    assert torch.equal(Y, 2 * X) and torch.isclose(state, 3 * total)
    assert torch.allclose(dX, 2 * weight + 2 * 9 * total)
    assert torch.isclose(db, 2 * 3 * total**2) and seen == {"chunk": 5}
    assert X.grad is None and not X.requires_grad
    assert not Y.requires_grad and not state.requires_grad


def test_furthest_is_the_worst_of_all():
    a, b = torch.tensor([1.0, -200]), torch.tensor([[4.0], [0.0]])
    assert CHAPTER.furthest([a, b], [a, b]) == 0
    assert CHAPTER.furthest([a + 10, b], [a, b]) == pytest.approx(0.05)
    assert CHAPTER.furthest([a + 10, b - 1], [a, b]) == pytest.approx(0.25)
    assert CHAPTER.furthest([a - 100, b - 1], [a, b]) == pytest.approx(0.5)
    with pytest.raises(ValueError):
        CHAPTER.furthest([a], [a, b])


@pytest.mark.parametrize("seed", range(5))
def test_attention_written_out_is_the_fused_one(seed):
    torch.manual_seed(seed)
    Q, K, V = torch.randn(3, 2, 9, 5, dtype=torch.float64)
    want = F.scaled_dot_product_attention(Q, K, V, is_causal=True)
    got, nothing = CHAPTER.attention_written_out(Q, K, V, None)
    assert nothing is None and close(got, want, 1e-12)


# the series


@pytest.mark.parametrize("C", [1, 2, 3, 4, 5, 8, 13, 16])
def test_series_is_the_inverse_in_float64(C):
    rng = np.random.default_rng(C)
    A = torch.tensor(np.tril(rng.normal(size=(3, C, C)), -1) / 2)
    got = CHAPTER.inverse_by_series(A)
    assert got.dtype == torch.float64
    assert close(got, torch.linalg.inv(torch.eye(C) + A), 1e-11)
    assert CHAPTER.inverse_by_series(A.float()).dtype == torch.float32


@pytest.mark.parametrize("cosine", [0, 0.25, 0.5, 0.9, 1])
def test_similar_keys_have_length_1_and_the_cosine(cosine):
    K = CHAPTER.similar_keys(400, cosine, seed=3)
    assert K.shape == (400, 64)
    np.testing.assert_allclose((K**2).sum(axis=-1), 1)
    pairs = (K @ K.T)[np.tril_indices(400, -1)]
    assert abs(pairs.mean() - cosine) < 0.02 and pairs.std() < 0.2
    assert CHAPTER.similar_keys(3, cosine, 0, d=5).shape == (3, 5)


def test_errors_of_both_by_fractions_of_the_largest():
    K = CHAPTER.similar_keys(64, 0.9, seed=0)
    series, solver = CHAPTER.errors_of_both(K, 0)
    assert solver < 2e-6 and series > 1e3
    series, solver = CHAPTER.errors_of_both(K, 0, beta=np.zeros((64, 1)))
    assert series < 1e-7 and solver < 1e-7
    series, solver = CHAPTER.errors_of_both(K[:2], 0)
    assert max(series, solver) < 1e-6 and math.isfinite(series)


# the module and the pitfall


@pytest.mark.parametrize("d_model, h, n, chunk", [(12, 3, 13, 4), (8, 2, 5, 64),
                                                  (10, 1, 16, 16)])
def test_module_is_chapter_17s(d_model, h, n, chunk):
    torch.manual_seed(n)
    slow = BEFORE.DeltaRule(d_model, h).double()
    fast = CHAPTER.ChunkwiseDeltaRule(d_model, h, chunk=chunk).double()
    fast.load_state_dict(slow.state_dict())
    X = torch.randn(2, n, d_model, dtype=torch.float64, requires_grad=True)
    (Y, state), (want, last) = fast(X), slow(X)
    assert close(Y, want, 1e-12) and close(state, last, 1e-12)
    for got, right in zip(
            torch.autograd.grad(Y.square().sum(), [X, *fast.parameters()]),
            torch.autograd.grad(want.square().sum(), [X, *slow.parameters()]),
            strict=True):
        assert close(got, right, 1e-10)


def test_chunks_that_forget_are_right_for_one_chunk_only():
    for n, right in ((7, True), (8, True), (9, False), (24, False)):
        leaves = [leaf.detach() for leaf in CHAPTER.memory_inputs(n, 2, 6)]
        Y = CHAPTER.chunks_that_forget(*leaves)
        want = CHAPTER.delta_rule_by_rows(*leaves)[0]
        assert Y.shape == want.shape
        assert torch.allclose(Y, want, atol=1e-5) == right
