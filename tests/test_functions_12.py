"""Chapter 12's functions against PyTorch, closed forms and each other."""

import math

import numpy as np
import pytest
import torch
from chapters import functions
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch.nn import functional as F

CHAPTER = functions("12")
NUMBERS = arrays(float, st.integers(1, 40), elements=st.floats(-1e3, 1e3))
ACTIVATIONS = {
    "relu": F.relu, "sigmoid": torch.sigmoid, "silu": F.silu, "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "gelu_sigmoid": lambda x: x * torch.sigmoid(1.702 * x),
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


def test_recall_error_of_a_linear_memory():
    """One fact is recalled exactly; n facts as far off as (n - 1) / d."""
    rng = np.random.default_rng(4)

    def plain(S):
        return S

    assert CHAPTER.recall_error(1, plain, 0, rng) < 1e-30
    errors = [CHAPTER.recall_error(33, plain, 0, rng, d=16) for _ in range(40)]
    assert math.isclose(np.mean(errors), 32 / 16, rel_tol=0.1)
    blurred = CHAPTER.recall_error(1, CHAPTER.relu, 0.5, rng, d=4096, blur=0.5)
    lost = 1 - (1 / math.sqrt(1.25) - 0.5) / 0.5    # of the value
    assert math.isclose(blurred, lost**2, rel_tol=0.2)


def test_weights_of_block_count_arrays():
    block = torch.nn.TransformerEncoderLayer(24, 2, 60)
    count = {name: p.numel() for name, p in block.named_parameters()
             if p.ndim == 2}
    ffn = count["linear1.weight"] + count["linear2.weight"]
    assert CHAPTER.weights_of_block(24, 60) == (sum(count.values()) - ffn, ffn)


def test_listens_finds_who_hears_whom():
    X = np.random.default_rng(5).normal(size=(4, 3))
    heard = CHAPTER.listens(lambda X: np.cumsum(X, axis=0), X)
    np.testing.assert_allclose(heard, np.tril(np.ones((4, 4))), atol=1e-6)
    with np.errstate(all="raise"):
        alone = CHAPTER.listens(lambda X: 3 * X, X)
    np.testing.assert_allclose(alone, 3 * np.eye(4), atol=1e-6)


def test_misfit_is_relative_and_per_token():
    X = np.array([[1.0, 2], [300, -400]])
    c = np.array([[2.0], [10]])
    assert CHAPTER.misfit(lambda X: X, 1, X, c) == 0
    assert math.isclose(CHAPTER.misfit(lambda X: X, 2, X, c), 0.9)


@pytest.mark.parametrize("version, passes", [
    ("bend_right", True), ("bend_missing", False), ("bend_late", False),
    ("bend_twice", False), ("bend_tanh", False), ("bend_flipped", False)])
def test_versions_are_as_wrong_as_they_say(version, passes):
    X, W_1, b_1, W_2, b_2 = draw(np.random.default_rng(6), (5, 4), (4, 4), (4,),
                                 (4, 4), (4,))
    arrays = X, W_1, b_1, W_2, b_2
    right = CHAPTER.feed_forward(*arrays, CHAPTER.gelu)
    ours = getattr(CHAPTER, version)(*arrays, CHAPTER.gelu)
    assert ours.shape == right.shape
    assert np.allclose(ours, right, atol=1e-9) is passes


def test_in_torch_hands_over_its_own_weights():
    net, weights = CHAPTER.in_torch(3, 5, torch.nn.ReLU(), True, torch.float64)
    assert [w.shape for w in weights] == [(3, 5), (5,), (5, 3), (3,)]
    X = np.random.default_rng(7).normal(size=(4, 3))
    ours = CHAPTER.feed_forward(X, *weights, CHAPTER.relu)
    np.testing.assert_allclose(ours, net(torch.tensor(X)).detach())


def test_plain_layer_has_no_biases():
    X, W_1, W_2 = draw(np.random.default_rng(8), (5, 4), (4, 7), (7, 3))
    ours = CHAPTER.plain_layer(CHAPTER.gelu, W_1, W_2)(X)
    theirs = CHAPTER.feed_forward(X, W_1, np.zeros(7), W_2, 0, CHAPTER.gelu)
    np.testing.assert_allclose(ours, theirs, rtol=1e-13)


@pytest.mark.parametrize("bias, share", [(100, 1), (-100, 0)])
def test_share_that_moves_is_all_awake_or_none(bias, share):
    X, W_1 = draw(np.random.default_rng(9), (20, 6), (6, 10))
    relu = torch.nn.ReLU()
    assert CHAPTER.share_that_moves(relu, X, W_1, bias, steps=2) == share


def test_distance_is_from_torchs_answer():
    def off(*arrays):
        return CHAPTER.bend_right(*arrays) + 3

    rng = np.random.default_rng(10)
    how = rng.standard_normal, CHAPTER.gelu, F.gelu, (4, 6)
    assert CHAPTER.distance(CHAPTER.bend_right, *how) < 1e-12
    assert math.isclose(CHAPTER.distance(off, *how), 3)
    assert CHAPTER.distance(CHAPTER.bend_flipped, *how) == np.inf
