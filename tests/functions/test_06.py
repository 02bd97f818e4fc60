"""Functions of chapter 06, against others that share no code with them."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from course.chapter import functions

CHAPTER = functions("06")


def draw(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


@pytest.mark.parametrize("as_given", [np.asarray, torch.tensor])
def test_normed_is_a_layer_norm(as_given):
    x = 7 * draw(0, 2, 3, 6) + 2
    want = F.layer_norm(torch.tensor(x), (6,), eps=0).numpy()
    assert np.allclose(np.asarray(CHAPTER.normed(as_given(x))), want)


def test_relu_branch():
    X, W_1, W_2 = draw(1, 4, 3), draw(2, 3, 6), draw(3, 6, 5)
    want = (torch.tensor(X @ W_1).clamp(min=0) @ torch.tensor(W_2)).numpy()
    assert np.allclose(CHAPTER.relu_branch(X, W_1, W_2), want)


def test_through_sends_tokens_through_each_block_in_order():
    x, first, second = draw(4, 5, 3), (draw(5, 3, 7), draw(6, 7, 3)), (
        draw(7, 3, 7), draw(8, 7, 3))
    half = CHAPTER.relu_branch(x, *first) / 2
    assert np.allclose(
        CHAPTER.through(lambda x, f: f(x) / 2, [first, second], x),
        CHAPTER.relu_branch(half, *second) / 2)
    assert CHAPTER.through(lambda x, f: f(x), [], x) is x


def test_size_and_alike_by_pairs():
    X = draw(4, 5, 3) * np.array([1, 9, 0.1, 3, 2])[:, None]
    size, alike = CHAPTER.size_and_alike(X)
    pairs = [F.cosine_similarity(*torch.tensor(X[[i, j]]), dim=0).item()
             for i in range(5) for j in range(5) if i != j]
    assert np.isclose(alike, np.mean(pairs))
    assert np.isclose(size**2 * X.size, np.sum(X * X))


@pytest.mark.parametrize("c", [-0.9, 0.0, 0.5, 0.99])
def test_relu_cosine_is_an_integral(c):
    """E[max(0, u) max(0, v)] in polar coordinates, at cosine c."""
    t = (np.arange(200_000) + 0.5) * 2 * np.pi / 200_000
    u, v = np.cos(t), np.cos(t - np.arccos(c))
    want = np.mean(np.maximum(0, u) * np.maximum(0, v)) * 4
    assert np.isclose(CHAPTER.relu_cosine(c), want, atol=1e-8)


def test_alike_law_keeps_what_is_parallel():
    assert np.allclose(CHAPTER.alike_law([0, 0]), 0)
    one, two = CHAPTER.alike_law([0.5, 1])[1:]
    assert np.isclose(one, 1 / (2 * np.pi))
    assert np.isclose(two, CHAPTER.relu_cosine(one))
