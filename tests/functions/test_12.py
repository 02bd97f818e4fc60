"""Chapter 12's functions against PyTorch, closed forms and each other."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch.nn import functional as F

from course.chapter import functions

CHAPTER = functions("12")
NUMBERS = arrays(float, st.integers(1, 40), elements=st.floats(-1e3, 1e3))
ACTIVATIONS = {
    "relu": F.relu, "sigmoid": torch.sigmoid, "silu": F.silu, "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
@given(x=NUMBERS)
@settings(deadline=None, max_examples=50)
def test_activations_are_torchs(name, x):
    theirs = ACTIVATIONS[name](torch.tensor(x)).numpy()
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        ours = getattr(CHAPTER, name)(x)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", ["relu", "sigmoid", "silu"])
def test_single_precision_stays_single(name):
    x = np.float32([-30, -1, 0, 2, 30])
    ours = getattr(CHAPTER, name)(x)
    theirs = ACTIVATIONS[name](torch.tensor(x)).numpy()
    assert ours.dtype == np.float32
    np.testing.assert_allclose(ours, theirs, rtol=2e-6)


def draw(rng, *shapes):
    return [rng.normal(size=shape) for shape in shapes]


@pytest.mark.parametrize("front", [(), (5,), (2, 3, 5)])
def test_feed_forward_is_two_linears(front):
    X, W_1, b_1, W_2, b_2 = draw(np.random.default_rng(1), (*front, 6), (6, 10),
                                 (10,), (10, 4), (4,))
    t = torch.tensor
    hidden = F.gelu(F.linear(t(X), t(W_1.T), t(b_1)))
    theirs = F.linear(hidden, t(W_2.T), t(b_2))
    ours = CHAPTER.feed_forward(X, W_1, b_1, W_2, b_2, CHAPTER.gelu)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("front", [(), (5,), (2, 3, 5)])
def test_gated_feed_forward_bends_the_gate(front):
    X, W_gate, W_up, W_down = draw(np.random.default_rng(2), (*front, 6),
                                   (6, 10), (6, 10), (10, 6))
    t = torch.tensor
    theirs = (F.silu(t(X) @ t(W_gate)) * (t(X) @ t(W_up))) @ t(W_down)
    ours = CHAPTER.gated_feed_forward(X, W_gate, W_up, W_down, CHAPTER.silu)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-13)


@given(x=NUMBERS, c=st.floats(1e-3, 1e3))
@settings(deadline=None, max_examples=50)
def test_relu_lets_a_scale_through(x, c):
    np.testing.assert_allclose(CHAPTER.relu(c * x), c * CHAPTER.relu(x),
                               rtol=1e-12)


def test_directions_have_length_one():
    X = CHAPTER.directions(7, 5, np.random.default_rng(3))
    assert X.shape == (7, 5)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1)


def test_recall_of_one_fact_and_of_many():
    """One fact is recalled exactly; n facts by adding as (n - 1) / d."""
    added, best, few, each = CHAPTER.recall(1, seed=0)
    assert max(added, best, few, each) < 1e-24
    errors = np.mean([CHAPTER.recall(33, seed, d=16) for seed in range(40)], 0)
    assert math.isclose(errors[0], 32 / 16, rel_tol=0.1)
    assert math.isclose(errors[1], 17 / 33, rel_tol=0.15)
    noisy = CHAPTER.recall(1, 5, noise=0.5, d=4096)
    lost = 1 - (1 / math.sqrt(1.25) - 0.5) / 0.5    # of the value
    assert math.isclose(noisy[3], lost**2, rel_tol=0.2)


@given(scale=st.floats(1e-3, 1e3))
@settings(deadline=None, max_examples=30)
def test_spread_is_relative(scale):
    X = np.array([[3.0, 4], [3, 4], [3, 4]])
    assert CHAPTER.spread(scale * X) < 1e-12
    Y = np.array([[1.0, 0], [-1, 0]])
    assert math.isclose(CHAPTER.spread(scale * Y), 1)
    Z = np.array([[2.0, 1], [2, -1]])               # 2 of 10 is not common
    assert math.isclose(CHAPTER.spread(scale * Z), math.sqrt(0.2))


def test_layer_weights_keep_the_size():
    d = 400
    W_Q, W_K, W_V, W_1, W_2 = CHAPTER.layer_weights(
        np.random.default_rng(5), d)
    x = np.random.default_rng(6).normal(size=(20, d))
    for y in (x @ W_Q, x @ W_K, x @ W_V, np.maximum(x @ W_1, 0) @ W_2):
        assert y.shape == x.shape
        assert math.isclose(np.sqrt(np.mean(y**2)), 1, rel_tol=0.1)


def test_spreads_start_alike():
    runs = [CHAPTER.spreads(parts, 3, 5, 8, 4) for parts in (
        (), ("ffn",), ("shortcut",), ("shortcut", "norm", "swiglu"))]
    assert {len(run) for run in runs} == {5}
    assert len({run[0] for run in runs}) == 1
    assert len({run[-1] for run in runs}) == 4


def test_one_token_has_no_spread():
    found = CHAPTER.spreads(("shortcut", "norm", "ffn"), 0, 1, 8, 3)
    assert np.array_equal(found, np.zeros(4))


@pytest.mark.parametrize("n, d, E, k", [(7, 4, 5, 2), (1, 3, 2, 1),
                                        (6, 5, 3, 3)])
def test_mixture_of_experts_token_by_token(n, d, E, k):
    rng = np.random.default_rng(8)
    X, W_r = draw(rng, (n, d), (d, E))
    M = rng.normal(size=(E, d, d))
    kept = X.copy()
    Y, load = CHAPTER.mixture_of_experts(
        X, W_r, [lambda X, m=m: X @ m for m in M], k)
    want, counts = np.zeros((n, d)), [0] * E
    for i, x in enumerate(X):
        scores = {e: float(x @ W_r[:, e]) for e in range(E)}
        best = sorted(scores, key=scores.get)[-k:]
        whole = sum(math.exp(scores[e]) for e in best)
        for e in best:
            counts[e] += 1
            want[i] += math.exp(scores[e]) / whole * (x @ M[e])
    np.testing.assert_allclose(Y, want, rtol=1e-10, atol=1e-12)
    assert load.tolist() == counts
    assert np.array_equal(X, kept)


def test_modules_are_the_functions():
    torch.manual_seed(0)
    X = torch.randn(2, 3, 4)
    plain, gated = CHAPTER.FeedForward(4, 7), CHAPTER.SwiGLU(4, 7)
    assert sum(p.numel() for p in plain.parameters()) == 2 * 28 + 7 + 4
    assert sum(p.numel() for p in gated.parameters()) == 3 * 28
    H = F.gelu(X @ plain.widen.weight.T + plain.widen.bias)
    assert torch.allclose(plain(X), H @ plain.narrow.weight.T
                          + plain.narrow.bias, atol=1e-6)
    H = F.silu(X @ gated.gate.weight.T) * (X @ gated.up.weight.T)
    assert torch.allclose(gated(X), H @ gated.down.weight.T, atol=1e-6)
    assert CHAPTER.SwiGLU(4, 7, d_out=2)(X).shape == (2, 3, 2)


def test_dead_fraction_counts_units():
    model = CHAPTER.AddModel(CHAPTER.FeedForward(6, 4, F.relu), 5, 6)
    with torch.no_grad():
        model.layer.widen.weight[:] = 0
        model.layer.widen.bias[:] = torch.tensor([1.0, -1, 0, 2])
    assert CHAPTER.dead_fraction(model) == 0.5
    assert model.wanted[7] == 3                     # 1 + 2
    assert model().shape == (25, 5)


def test_dead_fraction_reads_the_gate():
    model = CHAPTER.AddModel(CHAPTER.SwiGLU(6, 4), 5, 6)
    with torch.no_grad():
        model.first.weight[:] = 1
        model.second.weight[:] = 1
        model.layer.gate.weight[:] = torch.tensor([1.0, -1, 1, -1])[:, None]
    assert CHAPTER.dead_fraction(model) == 0.5


def test_warm_up_raises_the_rate(monkeypatch):
    rates, step = [], torch.optim.Adam.step
    monkeypatch.setattr(torch.optim.Adam, "step", lambda self: (
        rates.append(self.param_groups[0]["lr"]), step(self)))
    model = CHAPTER.AddModel(CHAPTER.FeedForward(6, 4), 5, 6)
    CHAPTER.train_add(model, 0.1, steps=5, warm_up=4)
    np.testing.assert_allclose(rates, [0.025, 0.05, 0.075, 0.1, 0.1])


def test_switch_layer_balance():
    torch.manual_seed(0)
    layer = CHAPTER.SwitchLayer(6, 5, 4)
    X = torch.randn(50, 6)
    layer(X)
    P = F.softmax(X @ layer.router.weight.T, dim=-1)
    f = np.bincount(P.argmax(-1), minlength=4) / 50
    np.testing.assert_allclose(layer.load, f, atol=1e-6)
    want = 4 * sum(f[e] * P[:, e].mean().item() for e in range(4))
    assert math.isclose(layer.balance.item(), want, rel_tol=1e-5)
    layer.balance.backward()
    assert layer.router.weight.grad.abs().max() > 0
