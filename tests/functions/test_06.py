"""Chapter 6's functions against oracles that share no code with them."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from course.chapter import functions

CHAPTER = functions("06")


def draw(seed, *shape):
    return torch.tensor(np.random.default_rng(seed).normal(size=shape))


def test_normal_draws_are_each_seeds_own():
    both = CHAPTER.normal_draws((3, 8))
    first, second = both(4, 5), both(2)
    assert first.shape == (2, 4, 5) and second.shape == (2, 2)
    rng = np.random.default_rng(8)
    for got in (first[1], second[1]):
        want = rng.standard_normal(got.shape, dtype=np.float32)
        assert np.array_equal(got, want)


def test_normed():
    x = 7 * draw(0, 2, 3, 6) + 2
    y = CHAPTER.normed(x)
    assert torch.allclose(y.mean(-1), torch.zeros(2, 3).double(), atol=1e-9)
    assert torch.allclose(y.var(-1, correction=0), torch.ones(2, 3).double(),
                          atol=1e-4)


def test_relu_branch():
    X, W_1, W_2 = draw(1, 4, 3), draw(2, 3, 6), draw(3, 6, 5)
    want = (X @ W_1).clamp(min=0) @ W_2
    assert torch.allclose(CHAPTER.relu_branch(W_1, W_2)(X), want)


def test_mean_cosine_by_pairs():
    X = draw(4, 2, 5, 3) * torch.tensor([1, 9, 0.1, 3, 2])[:, None]
    for got, tokens in zip(CHAPTER.mean_cosine(X), X, strict=True):
        pairs = [F.cosine_similarity(tokens[i], tokens[j], dim=0)
                 for i in range(5) for j in range(5) if i != j]
        assert torch.isclose(got, torch.stack(pairs).mean())


def test_gradient_ratio_of_known_layers():
    """A layer that halves x halves the gradient, once per layer."""
    halves = CHAPTER.gradient_ratio(
        lambda x, W: x / 2 + 0 * (x @ W), 2, range(3), n_layers=5)
    assert halves.shape == (3,) and np.allclose(halves, 2.0**-5)
    none = CHAPTER.gradient_ratio(lambda x, W: x @ W, 0, range(3), 5)
    assert np.all(none == 0)                        # scale 0: nothing passes
    one, two = (CHAPTER.gradient_ratio(lambda x, W: x @ W, scale, range(4), 6)
                for scale in (1, 2))
    assert np.allclose(two / one, 2.0**6)


def test_gradient_ratio_takes_each_seed_alone():
    def layer(x, W):
        return torch.tanh(x @ W)

    both = CHAPTER.gradient_ratio(layer, 2, (5, 6), 4, 16)
    assert np.allclose(both[1], CHAPTER.gradient_ratio(layer, 2, (6,), 4, 16))


def test_at_initialization_without_a_branch():
    skip = CHAPTER.at_initialization(
        lambda x, f: CHAPTER.normed(x + 0 * f(x)), 3, seeds=range(7))
    assert skip.shape == (7, 5)
    assert np.allclose(skip[:, 0], 1, atol=1e-4)
    assert np.all(skip[:, 2] == 0)                  # none through f
    assert np.allclose(skip[:, 1], 0, atol=0.05)    # random tokens
    same = CHAPTER.at_initialization(
        lambda x, f: x + 0 * f(x), 4, seeds=range(7))
    assert np.allclose(same[:, 3], same[:, 4])      # first = last


def test_at_initialization_follows_the_sum_of_squares():
    pre, deep = (np.median(CHAPTER.at_initialization(
        lambda x, f: x + f(CHAPTER.normed(x)), N, seeds=range(24)), axis=0)
        for N in (1, 8))
    assert np.isclose(pre[0], 2**0.5, rtol=0.03)
    assert np.isclose(deep[0], 3, rtol=0.05)
    assert np.isclose(pre[3], pre[4])               # one block: first = last
    assert deep[4] > 1.5 * deep[3]                  # the last x is larger


def test_networks_are_their_own():
    """A gradient is that of its own network's mean loss, however many."""
    def block(x, f):
        return x + f(x) / 4

    one = CHAPTER.at_initialization(block, 2, seeds=(4,))
    many = CHAPTER.at_initialization(block, 2, seeds=range(8))
    assert np.allclose(one[0], many[4], rtol=1e-4)
    assert len(np.unique(many[:, 3])) == 8


@pytest.mark.parametrize("c", [-0.9, 0.0, 0.5, 0.99])
def test_relu_cosine_is_an_integral(c):
    """E[max(0, u) max(0, v)] in polar coordinates, at cosine c."""
    t = (np.arange(200_000) + 0.5) * 2 * np.pi / 200_000
    u, v = np.cos(t), np.cos(t - np.arccos(c))
    want = np.mean(np.maximum(0, u) * np.maximum(0, v)) * 4
    assert np.isclose(CHAPTER.relu_cosine(c), want, atol=1e-8)


def test_saturated_factor():
    """A small scale is a linear layer, factor 1; scale 1 by quadrature."""
    assert np.isclose(CHAPTER.saturated_factor(1e-3), 1, atol=1e-5)
    x, w = np.polynomial.hermite_e.hermegauss(80)
    for scale in (0.5, 1.0):
        top = np.sum(w * (1 - np.tanh(scale * x) ** 2) ** 2)
        bottom = np.sum(w * np.tanh(scale * x) ** 2)
        assert np.isclose(CHAPTER.saturated_factor(scale),
                          scale**2 * top / bottom, rtol=1e-3)
