"""Chapter 19's layers and models against NumPy loops and formulas."""

import math
import random

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from course.chapter import functions

CHAPTER = functions("19")
MIXERS = (CHAPTER.DeltaLayer, CHAPTER.SumLayer, CHAPTER.GatedDelta,
          CHAPTER.SoftmaxLayer)
each_mixer = pytest.mark.parametrize("mixer", MIXERS,
                                     ids=lambda m: m.__name__)


def newborn(mixer, n_vocab=11, n_layers=2):
    """A small model in float64, every weight of it random."""
    torch.manual_seed(4)
    model = CHAPTER.LanguageModel(mixer, n_vocab, d_model=12, h=3, d_ff=20,
                                  n_layers=n_layers).double()
    for weight in model.parameters():
        nn.init.normal_(weight, std=0.6)
    return model


def test_heads_are_cut_and_joined():
    X = torch.randn(2, 5, 3 * 12)
    Q, K, V = CHAPTER.heads_of(X, 3)
    assert Q.shape == K.shape == V.shape == (2, 3, 5, 4)
    assert torch.equal(Q[1, 2, 4], X[1, 4, 8:12])
    assert torch.equal(K[0, 1, 3], X[0, 3, 16:20])
    assert torch.equal(CHAPTER.joined(V), X[..., 24:])


@pytest.mark.parametrize("nu", [1, 2])
def test_delta_attention_head_by_head(nu):
    torch.manual_seed(0)
    layer = CHAPTER.DeltaAttention(12, 3, nu=nu).double()
    x = torch.randn(1, 9, 12).double()
    with torch.no_grad():
        Y, state = layer(x)
    W = layer.to_QKV.weight.detach().numpy()
    beta = 1 / (1 + np.exp(-layer.to_beta(x)[0].detach().numpy()))
    out = np.zeros((9, 12))
    for i in range(3):
        def mapped(block, i=i):
            z = x[0].numpy() @ W[12 * block + 4 * i:12 * block + 4 * i + 4].T
            return z

        def phi(z):
            r = np.maximum(np.concatenate([z, -z], -1), 0)
            f = np.concatenate([r * np.roll(r, -s, -1)
                                for s in range(1, nu + 1)], -1)
            return f / (f.sum(-1, keepdims=True) + 1e-6)
        q, k, v = phi(mapped(0)), phi(mapped(1)), mapped(2)
        held = np.zeros((4, 8 * nu))
        for t in range(9):
            held = held + beta[t, i] * np.outer(v[t] - held @ k[t], k[t])
            out[t, 4 * i:4 * i + 4] = held @ q[t]
        assert np.allclose(state[0, i], held, atol=1e-12)
    assert np.allclose(Y[0], out @ layer.to_output.weight.detach().numpy().T,
                       atol=1e-12)


@pytest.mark.parametrize("n, chunk", [(1, 4), (4, 4), (23, 8), (40, 64)])
def test_gated_by_chunks_is_the_loop(n, chunk):
    torch.manual_seed(n)
    Q, K, V = torch.randn(3, 2, 3, n, 5).double()
    K = F.normalize(K, dim=-1)
    beta, alpha = torch.rand(2, 2, 3, n).double()
    F_0 = torch.randn(2, 3, 5, 5).double()
    Y, last = CHAPTER.gated_by_chunks(Q, K, V, beta, alpha.log(), F_0, chunk)
    state, want = F_0, []
    for t in range(n):
        k, v = K[..., t, :, None], V[..., t, :, None]
        state = alpha[..., t, None, None] * state
        state = state + beta[..., t, None, None] * (v - state @ k) @ k.mT
        want.append((state @ Q[..., t, :, None])[..., 0])
    assert torch.allclose(Y, torch.stack(want, dim=-2), atol=1e-11)
    assert torch.allclose(last, state, atol=1e-11)


def test_a_gate_of_zero_forgets_all():
    Q, K, V = torch.randn(3, 1, 4, 2).double()
    beta, alpha = torch.ones(1, 4).double(), torch.tensor([[1.0, 1, 0, 1]])
    Y, _ = CHAPTER.gated_by_chunks(Q, K, V, beta, alpha.double().log())
    late, _ = CHAPTER.gated_by_chunks(Q[:, 2:], K[:, 2:], V[:, 2:],
                                      beta[:, 2:], 0 * beta[:, 2:])
    assert torch.allclose(Y[:, 2:], late, atol=1e-9)


def test_closed_gates_are_finite_in_float32():
    Q, K, V = torch.randn(3, 1, 300, 4)
    leaves = [X.requires_grad_() for X in (Q, F.normalize(K, dim=-1).detach(),
                                           V, torch.rand(1, 300),
                                           torch.full((1, 300), -20.0))]
    Y, _ = CHAPTER.gated_by_chunks(*leaves, chunk=100)
    Y.square().sum().backward()
    assert Y.isfinite().all()
    assert all(leaf.grad.isfinite().all() for leaf in leaves)


@each_mixer
def test_in_pieces_causal_and_no_idle_parameter(mixer):
    model = newborn(mixer)
    torch.manual_seed(1)
    ids = torch.randint(11, (2, 41))
    logits = model(ids)
    logits.square().sum().backward()
    assert all(w.grad.abs().max() > 0 for w in model.parameters())
    with torch.no_grad():
        memory, parts = [None, None], []
        for piece in ids.split([1, 2, 20, 18], dim=1):
            part, memory = model.read(piece, memory)
            parts.append(part)
        assert torch.allclose(torch.cat(parts, dim=1), logits, atol=1e-9)
        other = ids.clone()
        other[:, 20] = (other[:, 20] + 1) % 11
        moved = (model(other) - logits).abs().amax(dim=(0, 2))
    assert moved[:20].max() == 0 < moved[20:].max()


@pytest.mark.parametrize("window", [None, 3])
def test_softmax_layer_query_by_query(window):
    torch.manual_seed(2)
    layer = CHAPTER.SoftmaxLayer(12, 3).double()
    layer.window = window
    X, (Q, K, V) = torch.randn(1, 7, 12).double(), torch.randn(
        3, 1, 3, 7, 4).double()
    Q, K = F.normalize(Q, dim=-1), F.normalize(K, dim=-1)
    with torch.no_grad():
        Y, _ = layer.rule(X, Q, K, V, None)
        beta = layer.to_beta(X).sigmoid()[0].T      # (h, n)
    rope, t = CHAPTER.RotaryEmbedding(4, 100.0), torch.arange(7)
    Q, K = rope(Q, t)[0].numpy(), rope(K, t)[0].numpy()
    for i in range(3):
        for t in range(7):
            seen = range(max(0, t + 1 - window) if window else 0, t + 1)
            scores = np.array([math.exp(8 * Q[i, t] @ K[i, j]) for j in seen])
            V_b = np.array([(beta[i, j] * V[0, i, j]).numpy() for j in seen])
            want = scores / scores.sum() @ V_b
            assert np.allclose(Y[0, i, t], want, atol=1e-9)


def test_sum_and_no_memory_token_by_token():
    torch.manual_seed(5)
    layer = CHAPTER.SumLayer(12, 3).double()
    X, (Q, K, V) = torch.randn(1, 7, 12).double(), torch.randn(
        3, 1, 3, 7, 4).double()
    F_0 = torch.randn(1, 3, 4, 4).double()
    with torch.no_grad():
        beta = layer.to_beta(X).sigmoid().mT[..., None]
        Y, last = layer.rule(X, Q, K, V, F_0)
        own, state = CHAPTER.NoMemory.rule(layer, X, Q, K, V, None)
    held = F_0
    for t in range(7):
        held = held + (beta * V)[:, :, t, :, None] * K[:, :, t, None, :]
        read = (held @ Q[:, :, t, :, None])[..., 0]
        assert torch.allclose(Y[:, :, t], read, atol=1e-10)
    assert torch.allclose(last, held, atol=1e-10)
    assert torch.equal(own, beta * V) and state is None


def test_the_parts_look_back_and_do_not_mix():
    layer = CHAPTER.LayerParts(12, 3, d_k=2).double()
    assert layer.sizes == [6, 6, 12]
    Z = torch.randn(1, 24, 9).double()
    with torch.no_grad():
        want = sum(layer.conv.weight[:, 0, i, None] * Z[:, :, i:i + 6]
                   for i in range(4))
        assert torch.allclose(layer.conv(Z), want, atol=1e-12)


def test_the_exercise_s_controls_are_the_chapter_s(monkeypatch):
    torch.manual_seed(6)
    layer = CHAPTER.WindowLayer(12, 1).double()
    X, (Q, K, V) = torch.randn(1, 9, 12).double(), torch.randn(
        3, 1, 1, 9, 12).double()
    Q, K = F.normalize(Q, dim=-1), F.normalize(K, dim=-1)
    monkeypatch.setattr(CHAPTER.RotaryEmbedding, "forward",
                        lambda self, X, positions: X)      # no positions
    with torch.no_grad():
        given = [A[0, 0].numpy() for A in (
            Q, K, V, layer.to_beta(X).sigmoid().mT)]
        for friend, kind in (("Anna", CHAPTER.NoMemory),
                             ("Tom", CHAPTER.SumLayer),
                             ("Eva", CHAPTER.WindowLayer)):
            Y, _ = kind.rule(layer, X, Q, K, V, None)
            assert np.allclose(CHAPTER.control(friend, *given), Y[0, 0],
                               atol=1e-9)


def test_numbers_kept_and_writing():
    for mixer, each, fixed in (
            (CHAPTER.SoftmaxLayer, 2 * 2 * 12, 2 * 3 * 36),
            (CHAPTER.DeltaLayer, 0, 2 * 3 * 4 * 4 + 2 * 3 * 36)):
        model = newborn(mixer)
        start = torch.tensor([1, 2, 3])
        ids, memories = CHAPTER.write_on(model, start, 9)
        assert ids.shape == (12,) and torch.equal(ids[:3], start)
        assert CHAPTER.numbers_kept(memories) == each * 12 + fixed
        again, _ = CHAPTER.write_on(model, start, 9)
        assert torch.equal(ids, again)


def test_a_story_told_as_a_list():
    told = "Anna gave Tom a kite . he thanked her for it . then Tom gave the " \
           "kite to Eva . who has the kite? Eva . <end>".split()
    assert " ".join(CHAPTER.told_as_list(told)) == (
        "Tom has a kite . then Eva has the kite . who has the kite? Eva . "
        "<end>")


@pytest.mark.parametrize("n_things, n_facts, n_questions",
                         [(1, 3, 1), (3, 8, 4), (6, 6, 2)])
def test_lists_follow_their_owners(n_things, n_facts, n_questions):
    rng = random.Random(n_facts)
    for _ in range(50):
        words = CHAPTER.list_of_facts(rng, n_things, n_facts, n_questions)
        owner, asked = {}, 0
        for i, word in enumerate(words):
            if word == "has" and words[i - 1] != "who":
                thing = words[i + 2]
                assert words[i + 1] == ("the" if thing in owner else "a")
                assert owner.get(thing) != words[i - 1]
                owner[thing] = words[i - 1]
            elif word.endswith("?"):
                assert words[i + 1] == owner[word[:-1]]
                asked += 1
        assert len(owner) == n_things and asked == n_questions
        assert len(words) == 5 * n_facts + 6 * n_questions + 1


def test_bigram_loss_by_hand():
    train, test = torch.tensor([0, 1, 0, 1, 1]), torch.tensor([0, 1, 1])
    assert CHAPTER.bigram_loss(train, test, 2) == pytest.approx(
        -(math.log(3 / 4) + math.log(2 / 4)) / 2)


def test_windows():
    got = CHAPTER.windows(torch.arange(9), 3, torch.tensor([[0], [5]]))
    assert got.tolist() == [[[0, 1, 2, 3]], [[5, 6, 7, 8]]]
