"""Chapter 18's functions against chapter 16's loop, formulas and PyTorch."""

import copy
import hashlib
import math
import urllib.error
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from chapters import functions
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

CHAPTER = functions("18")
BEFORE = functions("16")
rarely = settings(deadline=None, max_examples=30)
seeds, leads = st.integers(0, 10**6), st.sampled_from([(), (1,), (3,), (2, 3)])
MIXERS = pytest.mark.parametrize("mixer", [CHAPTER.DeltaAttention,
                                           CHAPTER.SoftmaxAttention])


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


def newborn(mixer, n_vocab=11, n_layers=2):
    """A small model in float64, every weight of it random."""
    torch.manual_seed(4)
    model = CHAPTER.LanguageModel(mixer, n_vocab, d_model=12, h=3, d_ff=20,
                                  n_layers=n_layers).double()
    for weight in model.parameters():
        nn.init.normal_(weight, std=0.6)
    return model


def text(seed, *shape):
    return torch.tensor(np.random.default_rng(seed).integers(11, size=shape))


# the rule


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
def test_loops_are_chapter_08s(seed, lead, n, d_k, d_v):
    *arrays, state = sequences(seed, lead, n, d_k, d_v)
    loud, full = sizes(*arrays)
    want, last = BEFORE.delta_rule(*arrays)
    for rule in (CHAPTER.delta_rule_by_index, CHAPTER.delta_rule_by_rows):
        Y, held = rule(*tensors(arrays))
        assert close(Y, want, 1e-12, loud) and close(held, last, 1e-12, full)
    want, last = BEFORE.delta_rule(*arrays, state)
    Y, held = CHAPTER.delta_rule_by_rows(*tensors([*arrays, state]))
    assert close(Y, want, 1e-12, loud) and close(held, last, 1e-12, full)


@settings(deadline=None, max_examples=60)
@given(seeds, leads, st.integers(1, 40), st.integers(1, 45), st.integers(1, 6),
       st.integers(1, 6), st.booleans())
def test_chunks_are_chapter_08s_loop(seed, lead, n, chunk, d_k, d_v, started):
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
    assert torch.autograd.gradcheck(CHAPTER.delta_rule_by_index, leaves[:4])


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


# what is counted


def test_bytes_made_counts_what_is_new():
    X = torch.ones(3, 4)
    for work, want in ((lambda: X + X, 48), (lambda: X.double(), 96),
                       (lambda: X.mT, 0), (lambda: X.unbind(0), 0),
                       (lambda: X[1:], 0), (lambda: X.add_(1), 0),
                       (lambda: X.sort(), 48 + 96), (lambda: X.clone(), 48),
                       (lambda: (X * X).exp(), 96), (lambda: None, 0)):
        with CHAPTER.BytesMade() as made:
            work()
        assert made.total == want
        X * X                                       # outside: not counted
        assert made.total == want


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


def test_backward_bytes_of_one_product():
    """The gradient of 2 V: one tensor as large as V, and the 1 to begin."""
    size, calls = 4 * 9 * 64 * 4, []

    def rule(Q, K, V, beta):
        calls.append(V.shape)
        return V.exp() * 1 + V.detach().exp() * 0, None

    got = CHAPTER.backward_bytes(lambda Q, K, V, beta: (2 * V, None), 9)
    assert size <= got <= size + 64
    got = CHAPTER.backward_bytes(rule, 9)
    assert 2 * size <= got <= 2 * size + 64 and calls == [(4, 9, 64)]
    rows = CHAPTER.backward_bytes(lambda Q, K, V, beta: (V[:, 3], None), 9)
    assert size <= rows <= size + 64                # zeros, of full size


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


def test_softmax_rule_is_chapter_04s():
    Q, K, V, beta, _ = sequences(6, (3,), 9, 5, 5)
    chapter_08 = functions("08")
    want = chapter_08.attention(Q, K, V, functions("09").causal_mask(9))
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


# the layers


def features(X, nu):
    phi = BEFORE.dpfp(X, nu)
    return phi / np.sqrt((phi**2).sum(axis=-1, keepdims=True) + 1e-12)


def delta_by_loop(x, layer, nu):
    """One sequence through a DeltaAttention: chapter 16, its raw weights."""
    packed, out, to_beta, bias = (w.detach().numpy() for w in (
        layer.to_QKV.weight, layer.to_output.weight, layer.to_beta.weight,
        layer.to_beta.bias))
    d = x.shape[-1]
    d_k, Y, states = d // len(bias), np.zeros(x.shape), []
    for i in range(len(bias)):
        rows = np.arange(i * d_k, (i + 1) * d_k)
        q, k, v = (x @ packed[part * d + rows].T for part in range(3))
        beta = 1 / (1 + np.exp(-(x @ to_beta[i] + bias[i])))
        read, state = BEFORE.delta_rule(features(q, nu), features(k, nu), v,
                                        beta)
        Y += read @ out[:, rows].T
        states.append(state)
    return Y, np.array(states)


@pytest.mark.parametrize("h, nu", [(1, 1), (2, 1), (3, 3), (4, 2)])
def test_delta_attention_is_the_loop(h, nu):
    torch.manual_seed(h)
    layer = CHAPTER.DeltaAttention(12, h, nu=nu).double()
    X = 3 * torch.randn(2, 70, 12, dtype=torch.float64)
    with torch.no_grad():
        Y, state = layer(X)
        pieces, memory = [], None
        for piece in X.split([1, 40, 29], dim=1):
            y, memory = layer(piece, memory)
            pieces.append(y)
    assert state.shape == (2, h, 12 // h, 24 // h * nu)
    assert close(torch.cat(pieces, dim=1), Y, 1e-11)
    assert close(memory, state, 1e-11)
    for x, y, held in zip(X.numpy(), Y, state, strict=True):
        want, states = delta_by_loop(x, layer, nu)
        assert close(y, want, 1e-10) and close(held, states, 1e-10)
        got, again = CHAPTER.delta_heads(x, *CHAPTER.delta_weights(layer),
                                         nu=nu)
        np.testing.assert_allclose(got, want, atol=1e-11)
        np.testing.assert_allclose(again, states, atol=1e-11)
    single = layer.float()(X.float())[0]
    assert single.dtype == torch.float32
    assert close(single.double(), Y, 1e-4)


def test_delta_attention_uses_all_that_it_has():
    torch.manual_seed(5)
    layer, X = CHAPTER.DeltaAttention(12, 3), torch.randn(2, 9, 12)
    layer(X)[0].square().sum().backward()
    shapes = {name: tuple(w.shape) for name, w in layer.named_parameters()}
    assert shapes == {"to_QKV.weight": (36, 12), "to_beta.weight": (3, 12),
                      "to_beta.bias": (3,), "to_output.weight": (12, 12)}
    assert all(w.grad.abs().max() > 0 for w in layer.parameters())


def test_features_have_length_1_and_zeros_stay():
    layer = CHAPTER.DeltaAttention(12, 3, nu=2)
    X = torch.randn(2, 3, 50, 4, dtype=torch.float64)
    phi = layer.features(X)
    assert phi.shape == (2, 3, 50, 16)
    assert close(phi, features(X.numpy(), 2), 1e-12)
    loud = layer.features(1e3 * X).norm(dim=-1)
    assert torch.allclose(loud, torch.ones_like(loud))
    zeros = torch.zeros(2, 4, requires_grad=True)
    layer.features(zeros).sum().backward()
    assert not layer.features(zeros).any() and zeros.grad.isfinite().all()


@MIXERS
def test_dropout_falls_on_what_is_said_only(mixer):
    torch.manual_seed(6)
    layer, X = mixer(12, 3, 0.5), torch.randn(2, 9, 12)
    quiet, memory = layer.eval()(X)
    loud, heard = layer.train()(X)
    parts = zip(heard, memory, strict=True)
    assert all(torch.equal(a, b) for a, b in parts)
    silent = loud == 0
    assert 0.3 < silent.float().mean() < 0.7
    assert torch.allclose(loud[~silent], 2 * quiet[~silent], atol=1e-6)
    assert mixer(12, 3).dropout.p == 0


def test_heads_must_divide_the_width():
    with pytest.raises(ValueError, match="5 heads do not divide a width of 12"):
        CHAPTER.DeltaAttention(12, 5)


def test_heads_of_and_joined_number_by_number():
    B, n, h, d_k = 2, 5, 3, 4
    QKV = torch.randn(B, n, 3 * h * d_k)
    parts = CHAPTER.heads_of(QKV, h)
    assert parts.shape == (3, B, h, n, d_k)
    for part, i, j in np.ndindex(3, h, d_k):
        column = part * h * d_k + i * d_k + j
        assert torch.equal(parts[part][:, i, :, j], QKV[:, :, column])
    V = CHAPTER.joined(parts[2])
    assert torch.equal(V, QKV[..., 2 * h * d_k:])


@pytest.mark.parametrize("nu", [1, 2])
def test_delta_heads_with_values_of_another_width(nu):
    rng = np.random.default_rng(7)
    h, n, d, d_k, d_v = 3, 8, 6, 4, 5
    W_Q, W_K = rng.normal(size=(2, h, d, d_k))
    W_V, W_O = rng.normal(size=(h, d, d_v)), rng.normal(size=(h, d_v, d))
    W_beta, b_beta = rng.normal(size=(d, h)), rng.normal(size=h)
    X = rng.normal(size=(n, d))
    Y, states = CHAPTER.delta_heads(X, W_Q, W_K, W_V, W_beta, b_beta, W_O,
                                    *([nu] if nu > 1 else []))
    assert states.shape == (h, d_v, 2 * d_k * nu)
    want = np.zeros((n, d))
    for i in range(h):
        F_t = np.zeros((d_v, 2 * d_k * nu))
        for t, x in enumerate(X):
            q, k = (features(x @ W[i], nu) for W in (W_Q, W_K))
            beta = 1 / (1 + math.exp(-(x @ W_beta[:, i] + b_beta[i])))
            F_t = F_t + beta * np.outer(x @ W_V[i] - F_t @ k, k)
            want[t] += F_t @ q @ W_O[i]
        np.testing.assert_allclose(states[i], F_t, atol=1e-12)
    np.testing.assert_allclose(Y, want, atol=1e-11)


def test_delta_weights_are_the_layers():
    torch.manual_seed(8)
    layer = CHAPTER.DeltaAttention(12, 3).double()
    X = torch.randn(5, 12, dtype=torch.float64)
    W_Q, W_K, W_V, W_beta, b_beta, W_O = map(torch.tensor,
                                             CHAPTER.delta_weights(layer))
    assert W_Q.shape == (3, 12, 4) and W_O.shape == (3, 4, 12)
    for want, W in zip(CHAPTER.heads_of(layer.to_QKV(X)[None], 3),
                       (W_Q, W_K, W_V), strict=True):
        assert torch.allclose(want[0], X @ W)
    assert torch.allclose(layer.to_beta(X), X @ W_beta + b_beta)
    assert torch.allclose(layer.to_output(X), sum(
        X[:, 4 * i : 4 * i + 4] @ W_O[i] for i in range(3)))


def softmax_by_chapters(x, layer):
    """One sequence through a SoftmaxAttention: chapters 08 and 10."""
    rope, chapter_08 = functions("10"), functions("08")
    packed, out = (w.detach().numpy() for w in (layer.to_QKV.weight,
                                                layer.to_output.weight))
    n, d = x.shape
    d_k, Y = d // layer.h, np.zeros(x.shape)
    angle = np.arange(n)[:, None] * 10_000.0 ** (-np.arange(0, d_k, 2) / d_k)
    for i in range(layer.h):
        rows = np.arange(i * d_k, (i + 1) * d_k)
        q, k, v = (x @ packed[part * d + rows].T for part in range(3))
        q, k = (rope.rope_half_split(a, np.cos(angle), np.sin(angle))
                for a in (q, k))
        Y += chapter_08.attention(
            q, k, v, functions("09").causal_mask(n)) @ out[:, rows].T
    return Y


@pytest.mark.parametrize("h", [1, 2, 3])
def test_softmax_attention_is_chapters_07_and_08(h):
    torch.manual_seed(h)
    layer = CHAPTER.SoftmaxAttention(12, h).double()
    X = 3 * torch.randn(2, 20, 12, dtype=torch.float64)
    with torch.no_grad():
        Y, (K, V) = layer(X)
        pieces, cache = [], None
        for piece in X.split([1, 12, 1, 6], dim=1):
            y, cache = layer(piece, cache)
            pieces.append(y)
        _, _, values = CHAPTER.heads_of(layer.to_QKV(X), h)
    assert close(torch.cat(pieces, dim=1), Y, 1e-12)
    assert close(cache[0], K, 1e-12) and close(cache[1], V, 1e-12)
    assert K.shape == (2, h, 20, 12 // h) and torch.equal(V, values)
    for x, y in zip(X.numpy(), Y, strict=True):
        assert close(y, softmax_by_chapters(x, layer), 1e-5)
    single = layer.float()(X.float())[0]
    assert single.dtype == torch.float32 and close(single.double(), Y, 1e-4)
    assert layer.to_QKV.bias is None and layer.to_output.bias is None


def test_turned_counts_from_the_start():
    layer = CHAPTER.SoftmaxAttention(12, 3)
    X = torch.randn(2, 3, 9, 4)
    whole = layer.turned(X, 0)
    assert torch.allclose(layer.turned(X[:, :, 5:], 5), whole[:, :, 5:])
    assert torch.equal(whole[:, :, 0], X[:, :, 0])
    assert torch.allclose(whole.norm(dim=-1), X.norm(dim=-1))
    assert not torch.allclose(whole[:, :, 5:], X[:, :, 5:], atol=0.1)


# the models


class Echo(nn.Module):
    """A mixer that says 3 X and counts its calls."""

    def __init__(self, d_model, h, dropout):
        super().__init__()
        self.told = (d_model, h, dropout)

    def forward(self, X, memory):
        return 3 * X, (0 if memory is None else memory) + 1


def test_memory_block_is_equation_7_2():
    torch.manual_seed(9)
    block = CHAPTER.MemoryBlock(Echo, 6, 2, 10, 0.5).double()
    assert block.mixer.told == (6, 2, 0.5)
    for norm in (block.norm_1, block.norm_2):
        nn.init.normal_(norm.weight)
        nn.init.normal_(norm.bias)
    X = 5 + torch.randn(3, 4, 6, dtype=torch.float64)
    got, memory = block.eval()(X, 7)
    gains = [(n.weight, n.bias) for n in (block.norm_1, block.norm_2)]
    up, _, down, _ = block.ffn
    half = X + 3 * F.layer_norm(X, (6,), *gains[0])
    Z = F.layer_norm(half, (6,), *gains[1])
    ffn = (Z @ up.weight.T + up.bias).clamp(min=0) @ down.weight.T + down.bias
    assert up.weight.shape == (10, 6) and memory == 8
    assert torch.allclose(got, half + ffn)
    loud = block.train()(X, 7)[0] - half
    silent = loud.abs() < 1e-12
    assert 0.2 < silent.double().mean() < 0.8
    assert torch.allclose(loud[~silent], 2 * ffn[~silent])


def test_language_model_hands_memories_on():
    model = CHAPTER.LanguageModel(Echo, 11, 6, 2, 10, n_layers=3)
    assert len(model.blocks) == 3
    ids = text(1, 2, 5)
    logits, memories = model(ids)
    assert logits.shape == (2, 5, 11) and memories == [1, 1, 1]
    assert model(ids, [4, 5, 6])[1] == [5, 6, 7]
    with pytest.raises(ValueError):
        model(ids, [4, 5])
    plain = CHAPTER.LanguageModel(Echo, 500)
    assert plain.E.shape == (500, 64) and len(plain.blocks) == 2
    assert abs(plain.E.std() - 0.02) < 0.001 and plain.blocks[0].mixer.told == (
        64, 4, 0.0)


@MIXERS
def test_language_model_is_its_stack(mixer):
    model, ids = newborn(mixer, n_layers=3), text(2, 2, 40)

    def norm(X, part):
        return F.layer_norm(X, (12,), part.weight, part.bias)

    def mix(X, layer):
        by = (softmax_by_chapters if mixer is CHAPTER.SoftmaxAttention
              else lambda x, layer: delta_by_loop(x, layer, 1)[0])
        return torch.tensor(np.stack([by(x, layer) for x in X.numpy()]))

    with torch.no_grad():
        logits, memories = model(ids)
        X = F.embedding(ids, model.E)
        for block in model.blocks:
            X = X + mix(norm(X, block.norm_1), block.mixer)
            up, _, down, _ = block.ffn
            hidden = F.relu(F.linear(norm(X, block.norm_2), up.weight, up.bias))
            X = X + F.linear(hidden, down.weight, down.bias)
        want = F.linear(norm(X, model.norm), model.E)
        bound = 1e-9 if mixer is CHAPTER.DeltaAttention else 1e-4
        assert close(logits, want, bound) and len(memories) == 3
        pieces, memory = [], None
        for piece in ids.split([1, 33, 6], dim=1):
            part, memory = model(piece, memory)
            pieces.append(part)
        assert close(torch.cat(pieces, dim=1), logits, 1e-10)
        for row, logit in zip(ids, want, strict=True):
            if mixer is CHAPTER.DeltaAttention:
                assert close(torch.tensor(
                    CHAPTER.delta_model(row.numpy(), model)), logit, 1e-9)


def test_forgetful_block_forgets_its_norm():
    torch.manual_seed(10)
    block = CHAPTER.Forgetful(Echo, 6, 2, 10, 0.0)
    X = torch.randn(2, 3, 6)
    half = 4 * X
    assert torch.allclose(block(X, None)[0],
                          half + block.ffn(block.norm_2(half)))


# the text


def names():
    return CHAPTER.course_text.__globals__


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """An empty folder to work in, no $COURSE_TEXT, no network."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COURSE_TEXT", raising=False)
    real, asked = urllib.request.urlopen, []

    def urlopen(address, timeout):
        asked.append(address)
        if not address.startswith("file:"):
            raise urllib.error.URLError("no network here")
        return real(address, timeout=timeout)

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    return SimpleNamespace(path=tmp_path, asked=asked)


@pytest.fixture
def play(monkeypatch):
    """Bytes that pass for the play while a test lasts."""
    data = "Speak, speak. \N{LEFT SINGLE QUOTATION MARK}Tis so.\n".encode()
    monkeypatch.setitem(names(), "is_shakespeare", lambda other: other == data)
    return data


def test_is_shakespeare_by_its_hash(monkeypatch):
    assert CHAPTER.is_shakespeare(b"First Citizen:\n") is False
    right = "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"
    seen, digest = [], right

    def sha256(data):
        seen.append(data)
        return SimpleNamespace(hexdigest=lambda: digest)

    monkeypatch.setitem(names(), "hashlib", SimpleNamespace(sha256=sha256))
    assert CHAPTER.is_shakespeare(b"words") is True and seen == [b"words"]
    digest = hashlib.sha256(b"").hexdigest()
    assert CHAPTER.is_shakespeare(b"words") is False


def test_help_texts_are_every_topic():
    from pydoc_data.topics import topics
    got = CHAPTER.help_texts()
    assert len(got) == sum(map(len, topics.values())) + len(topics) - 1
    assert all(topic in got for topic in topics.values())
    assert len(got) > 300_000


def test_course_text_takes_the_file_that_is_named(desk, play, monkeypatch):
    mine = "Grüße".encode() * 20_000
    for name, data, title in (("mine.txt", mine, "mine.txt"),
                              ("x.txt", play, "Tiny Shakespeare")):
        Path(name).write_bytes(data)
        monkeypatch.setenv("COURSE_TEXT", name)
        assert CHAPTER.course_text() == (data.decode(), title)
    assert not desk.asked


def test_course_text_refuses_a_name_of_nothing(desk, play, monkeypatch):
    home = Path("play.txt")
    home.write_bytes(play)                          # would do, but is not asked
    for name in ("absent.txt", str(desk.path)):
        monkeypatch.setenv("COURSE_TEXT", name)
        with pytest.raises(FileNotFoundError, match="COURSE_TEXT names"):
            CHAPTER.course_text(home=home)
    monkeypatch.setenv("COURSE_TEXT", "")           # as good as unset
    assert CHAPTER.course_text(home=home) == (play.decode(), "Tiny Shakespeare")
    assert not desk.asked


@pytest.mark.parametrize("data, hint", [
    (b"To be", "5 bytes are too few"), (b"\xff" * 200_000, "codec")])
def test_course_text_refuses_what_nobody_can_learn_from(desk, monkeypatch, data,
                                                        hint):
    Path("mine.txt").write_bytes(data)
    monkeypatch.setenv("COURSE_TEXT", "mine.txt")
    with pytest.raises(ValueError, match=hint):
        CHAPTER.course_text()


@pytest.mark.parametrize("work", [".", "book"])
def test_course_text_finds_its_home_or_the_one_above(desk, play, monkeypatch,
                                                     work):
    home = Path("data/play.txt")
    home.parent.mkdir()
    home.write_bytes(play)
    Path("book").mkdir()
    monkeypatch.chdir(work)
    assert CHAPTER.course_text(home=home) == (play.decode(), "Tiny Shakespeare")
    assert not desk.asked


def test_course_text_downloads_once(desk, play):
    source, home = desk.path / "source.txt", Path("data/play.txt")
    source.write_bytes(play)
    for _ in range(2):
        assert CHAPTER.course_text(source.as_uri(), home) == (
            play.decode(), "Tiny Shakespeare")
        assert home.read_bytes() == play
    assert desk.asked == [source.as_uri()]
    home.write_bytes(b"damaged")                    # then it is fetched again
    CHAPTER.course_text(source.as_uri(), home)
    assert home.read_bytes() == play and len(desk.asked) == 2


@pytest.mark.parametrize("at_home", [None, b"damaged"])
def test_a_wrong_download_is_not_kept(desk, play, capsys, at_home):
    source, home = desk.path / "source.txt", Path("data/play.txt")
    source.write_bytes(b"404, and a page about it")
    if at_home:
        home.parent.mkdir()
        home.write_bytes(at_home)
    got = CHAPTER.course_text(source.as_uri(), home)
    assert got == (CHAPTER.help_texts(), "Python's help texts")
    assert "not the one that was expected" in capsys.readouterr().out
    assert home.read_bytes() == at_home if at_home else not home.exists()


def test_without_network_the_help_texts(desk, capsys):
    assert CHAPTER.course_text() == (CHAPTER.help_texts(),
                                     "Python's help texts")
    [asked] = desk.asked
    assert asked.endswith("/data/tinyshakespeare/input.txt")
    assert "no network here" in capsys.readouterr().out
    assert not any(desk.path.iterdir())


# training


def test_bigram_loss_count_by_count():
    train, test = text(3, 200) % 5, text(4, 60) % 6
    counts = np.ones((7, 7))
    for a, b in zip(train[:-1], train[1:], strict=True):
        counts[a, b] += 1
    want = -np.mean([math.log(counts[a, b] / counts[a].sum())
                     for a, b in zip(test[:-1], test[1:], strict=True)])
    assert CHAPTER.bigram_loss(train, test, 7) == pytest.approx(want, rel=1e-12)


def test_windows_one_by_one():
    ids, starts = text(5, 50), torch.tensor([0, 7, 43, 7])
    got = CHAPTER.windows(ids, 6, starts)
    assert got.shape == (4, 7)
    for row, start in zip(got, starts.tolist(), strict=True):
        assert torch.equal(row, ids[start : start + 7])


class Table(nn.Module):
    """Says, whatever came before: the next token is this likely."""

    def __init__(self, loud=1.0):
        super().__init__()
        rng = np.random.default_rng(6)
        self.E = nn.Parameter(torch.tensor(loud * rng.normal(size=(11, 11))))

    def forward(self, ids):
        return self.E[ids], None


def test_text_loss_token_by_token():
    model, batch = Table(), text(7, 3, 6)
    log_p = model.E.detach().log_softmax(dim=-1).numpy()
    want = -np.mean([log_p[row[t], row[t + 1]]
                     for row in batch.numpy() for t in range(5)])
    assert CHAPTER.text_loss(model, batch).item() == pytest.approx(want)


@pytest.mark.parametrize("steps, lr", [(50, 0.5), (3, 0.1)])
def test_train_on_text_climbs_and_falls(monkeypatch, steps, lr):
    """The rates and gradients that the optimizer is given, and the data."""
    rates, seen, model, ids = [], [], Table(loud=9), text(8, 60)

    class Recorder:
        """An optimizer that changes nothing."""

        def __init__(self, weights, betas, fused):
            assert len(list(weights)) == 1 and betas == (0.9, 0.98)
            self.param_groups, self.zero_grad = [{}], model.zero_grad

        def step(self):
            rates.append(self.param_groups[0]["lr"])
            seen.append(model.E.grad.clone())

    monkeypatch.setattr(torch.optim, "Adam", Recorder)
    losses = CHAPTER.train_on_text("it", model, ids, steps, lr, n=9, B=4,
                                   seed=3)
    assert rates == pytest.approx([
        lr * min((s + 1) / 30, 1) * (steps - s) / steps for s in range(steps)])
    generator = torch.Generator().manual_seed(3)
    for loss, grad in zip(losses, seen, strict=True):
        starts = torch.randint(51, (4,), generator=generator).tolist()
        batch = torch.stack([ids[s : s + 10] for s in starts])
        want = F.cross_entropy(model.E[batch[:, :-1]].flatten(0, 1),
                               batch[:, 1:].flatten())
        assert loss == pytest.approx(want.item())
        [slope] = torch.autograd.grad(want, [model.E])
        want = slope / slope.norm().clamp(min=1)    # clipped to length 1
        assert torch.allclose(grad, want, rtol=1e-4, atol=1e-8)


def test_train_on_text_can_read_the_last_token(monkeypatch):
    """Windows from the first start to the last, none beyond."""
    starts = []

    def windows(ids, n, at):
        starts.extend(at.tolist())
        return ids[at[:, None] + torch.arange(n + 1)]

    monkeypatch.setitem(names(), "windows", windows)
    CHAPTER.train_on_text("it", Table(), text(9, 13), 20, n=9, B=4)
    assert set(starts) == {0, 1, 2, 3}


def test_train_on_text_prints_every_hundred_steps(monkeypatch, capsys):
    counted = iter(range(250))
    monkeypatch.setitem(names(), "text_loss", lambda model, batch: (
        0 * model.E.sum() + next(counted)))
    losses = CHAPTER.train_on_text("it", Table(), text(9, 20), 250, n=3, B=2)
    assert losses == list(range(250))
    assert capsys.readouterr().out.splitlines() == [
        "it: step 100/250  loss 89.50", "it: step 200/250  loss 189.50"]


@MIXERS
def test_two_steps_are_adams(mixer):
    model, ids = newborn(mixer), text(10, 90)
    theirs = copy.deepcopy(model)
    losses = CHAPTER.train_on_text("it", model, ids, 2, lr=3e-2, n=12, B=3)
    adam = torch.optim.Adam(theirs.parameters(), lr=1, betas=(0.9, 0.98))
    generator = torch.Generator().manual_seed(1)
    for rate, loss in zip((1e-3, 1e-3), losses, strict=True):
        starts = torch.randint(78, (3,), generator=generator)
        batch = torch.stack([ids[s : s + 13] for s in starts])
        logits, _ = theirs(batch[:, :-1])
        want = F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        adam.param_groups[0]["lr"] = rate
        adam.zero_grad()
        want.backward()
        nn.utils.clip_grad_norm_(theirs.parameters(), 1.0)
        adam.step()
        assert loss == pytest.approx(want.item(), rel=1e-6)
    for a, b in zip(model.parameters(), theirs.parameters(), strict=True):
        assert torch.allclose(a, b, atol=1e-7)


# writing


@MIXERS
def test_write_on_is_writing_with_everything_read_again(mixer):
    model, start = newborn(mixer), text(11, 6)
    got, memories = CHAPTER.write_on(model, start, 25, seed=5)
    generator, ids = torch.Generator().manual_seed(5), start
    with torch.no_grad():
        for _ in range(25):
            shares = model(ids[None])[0][0, -1].softmax(dim=-1)
            new = torch.multinomial(shares, 1, generator=generator)
            ids = torch.cat([ids, new])
        _, want = model(ids[None])
    assert torch.equal(got, ids) and torch.equal(got[:6], start)
    for ours, theirs in zip(memories, want, strict=True):
        if isinstance(theirs, torch.Tensor):
            ours, theirs = [ours], [theirs]
        assert all(map(lambda a, b: close(a, b, 1e-10), ours, theirs))
        assert not ours[0].requires_grad
    again, _ = CHAPTER.write_on(model, start, 25)
    assert not torch.equal(again, got)              # another seed


def test_write_on_reads_each_token_once():
    read = []

    def model(ids, memories=None):
        read.append(ids.tolist())
        assert (memories is None) == (len(read) == 1)
        return F.one_hot((ids + 1) % 7, 7) * 1e3, [len(read)]

    got, memories = CHAPTER.write_on(model, torch.tensor([2, 4]), 4)
    assert got.tolist() == [2, 4, 5, 6, 0, 1] and memories == [5]
    assert read == [[[2, 4]], [[5]], [[6]], [[0]], [[1]]]


def test_numbers_kept_counts_states_and_caches():
    X, Y = torch.zeros(1, 2, 3), torch.zeros(5)
    assert CHAPTER.numbers_kept([X, X]) == 12
    assert CHAPTER.numbers_kept([(X, Y), (X, Y), (Y, Y)]) == 32
    assert CHAPTER.numbers_kept([]) == 0


# two that are wrong on purpose


def test_chunks_that_forget_begin_anew():
    Q, K, V, beta, _ = sequences(12, (2,), 19)
    got = CHAPTER.chunks_that_forget(*tensors([Q, K, V, beta]))
    for start in (0, 8, 16):
        rows = np.s_[:, start : start + 8]
        want, _ = BEFORE.delta_rule(Q[rows], K[rows], V[rows], beta[rows])
        assert close(got[rows], want, 1e-12)
    whole, _ = BEFORE.delta_rule(Q, K, V, beta)
    assert not close(got, whole, 0.01)


def test_chunks_with_blind_writes_do_not_correct_across():
    Q, K, V, beta, _ = sequences(13, (2,), 11)
    got = CHAPTER.chunks_with_blind_writes(*tensors([Q, K, V, beta]))
    state = 0
    for start in (0, 4, 8):
        rows = np.s_[:, start : start + 4]
        inside, wrote = BEFORE.delta_rule(Q[rows], K[rows], V[rows],
                                          beta[rows])
        if start:
            inside += np.einsum("btk,bvk->btv", Q[rows], state)
        assert close(got[rows], inside, 1e-12)
        state = state + wrote
    whole, _ = BEFORE.delta_rule(Q, K, V, beta)
    assert not close(got, whole, 0.01)
