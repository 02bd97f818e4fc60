"""Chapter 3's functions against oracles that share no code with them."""

import math

import numpy as np
import pytest
import torch

from course.chapter import functions
from experiments import kite
from experiments.experiment import load

CHAPTER = functions("03")


@pytest.mark.parametrize("d_model", [1, 2, 5, 64])
def test_log_growth_is_an_integral(d_model):
    """E[log chi_d] by integrating its density, not by digamma."""
    r = (np.arange(1_000_000) + 0.5) / 25_000       # midpoints, 0 to 40
    density = r ** (d_model - 1) * np.exp(-(r**2) / 2)
    density /= np.sum(density)
    log_chi = np.sum(density * np.log(r))
    for scale in (0.5, 1.0, 2.0):
        want = np.log(scale) + log_chi - np.log(d_model) / 2
        assert abs(CHAPTER.log_growth(scale, d_model) - want) < 1e-4


def test_rms():
    X = np.random.default_rng(0).normal(size=(2, 3, 5)) * [[[1], [9], [0.1]]]
    np.testing.assert_allclose(
        CHAPTER.rms(X), np.linalg.norm(X, axis=-1) / 5**0.5)
    assert CHAPTER.rms(np.array([1, -1, 5, 3])) == 3


def test_rms_through_layers():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(3, 5)) * [[1], [10], [0.1]]
    values = CHAPTER.rms_through(X, 2.0, 4, np.random.default_rng(4))
    rng = np.random.default_rng(4)
    for t in range(5):
        np.testing.assert_allclose(
            values[t], np.linalg.norm(X, axis=-1) / 5**0.5)
        W = 2 * rng.normal(size=(3, 5, 5)) / 5**0.5
        X = np.stack([x @ w for x, w in zip(X, W, strict=True)])
    assert values.shape == (5, 3)


@pytest.mark.parametrize("name", ["tanh", "relu"])
def test_signals_by_hand(name):
    """Forward in NumPy, backward by the chain rule, the draws in one order."""
    f = {"tanh": np.tanh, "relu": lambda z: np.maximum(z, 0)}[name]
    slope = {"tanh": lambda z: 1 - np.tanh(z)**2, "relu": lambda z: z > 0}[name]
    got = CHAPTER.signals(getattr(torch, name), 1.3, 3, n=4, d=5, seed=6)
    rng = np.random.default_rng(6)
    x = rng.normal(size=(4, 5))
    x /= np.sqrt(np.mean(x**2, axis=-1, keepdims=True))
    W = [rng.normal(size=(4, 5, 5)) * 1.3 / 5**0.5 for _ in range(3)]
    end = rng.normal(size=(4, 5))
    for i in range(4):
        xs, zs = [x[i]], []
        for W_l in W:
            zs.append(xs[-1] @ W_l[i])
            xs.append(f(zs[-1]))
        dxs, dWs = [end[i]], []
        for W_l, z, before in zip(W[::-1], zs[::-1], xs[-2::-1], strict=True):
            dz = dxs[0] * slope(z)
            dWs.insert(0, np.outer(before, dz))
            dxs.insert(0, W_l[i] @ dz)
        for values, want in zip(got, (xs, dxs, dWs), strict=True):
            np.testing.assert_allclose(
                values[:, i], [np.sqrt(np.mean(a**2)) for a in want])


def test_jacobian_values():
    rng = np.random.default_rng(7)
    values = CHAPTER.jacobian_values(CHAPTER.gaussian, 3, 4, 5, rng)
    rng = np.random.default_rng(7)
    W = [rng.normal(size=(5, 4, 4)) / 2 for _ in range(3)]
    for i in range(5):
        J = W[0][i] @ W[1][i] @ W[2][i]
        np.testing.assert_allclose(
            values[i] ** 2, np.linalg.eigvalsh(J @ J.T)[::-1], atol=1e-12)


WORDS = CHAPTER.over_rms(CHAPTER.anna_and_tom())


def test_the_rows_are_those_of_the_kite_model():
    model, (ids,) = kite.load(), kite.word_ids([["Anna", "Tom"]])
    want = model.E.detach().numpy()[ids]
    assert np.abs(CHAPTER.anna_and_tom() - want).max() < 0.0051
    assert np.linalg.matrix_rank(want) == 2


@pytest.mark.parametrize("seed", range(5))
def test_words_merge_before_training(seed):
    """With other first weights, too."""
    words = load("03_two_words")
    start, *_, end = words.streams("untrained", False, seed)
    assert words.alike(start) < 0.15 and words.alike(end) > 0.65


def test_cosine():
    X = np.random.default_rng(9).normal(size=(7, 2, 5)) * [[[3], [0.1]]]
    want = [a @ b / np.linalg.norm(a) / np.linalg.norm(b) for a, b in X]
    np.testing.assert_allclose(CHAPTER.cosine(X), want)


def test_pair_through():
    """Both tokens meet the same matrices, and each network has its own."""
    pair = np.random.default_rng(1).normal(size=(2, 6))
    sizes, cosines = CHAPTER.pair_through(pair, np.tanh, 1.7, 3, n=4, seed=2)
    rng = np.random.default_rng(2)
    W = [rng.normal(size=(4, 6, 6)) for _ in range(3)]
    for i in range(4):
        a, b = pair
        for W_l in W:
            a, b = (np.tanh(x @ W_l[i] * 1.7 / 6**0.5) for x in (a, b))
        np.testing.assert_allclose(sizes[-1, i], np.sqrt(np.mean(a**2)))
        np.testing.assert_allclose(
            cosines[-1, i], a @ b / np.linalg.norm(a) / np.linalg.norm(b))
    assert sizes.shape == cosines.shape == (4, 4)


@pytest.mark.parametrize("kind", ["no stream", "plain", "normalized", "scaled"])
def test_stream(kind, monkeypatch):
    monkeypatch.setitem(CHAPTER.stream.__globals__, "words", WORDS)
    sizes, cosines = CHAPTER.stream(kind, n_layers=2, n=3, seed=8)
    rng = np.random.default_rng(8)
    W = [(rng.normal(size=(3, 48, 48)) / 24**0.5,
          rng.normal(size=(3, 48, 48)) / 48**0.5) for _ in range(2)]
    for i in range(3):
        anna, tom = WORDS
        for W_1, W_2 in W:
            both = []
            for x in (anna, tom):
                z = x / np.sqrt(np.mean(x**2)) if kind == "normalized" else x
                note = np.maximum(z @ W_1[i], 0) @ W_2[i]
                note = note / 2**0.5 if kind == "scaled" else note
                both.append(note if kind == "no stream" else x + note)
            anna, tom = both
        np.testing.assert_allclose(sizes[-1, i], np.sqrt(np.mean(anna**2)))
        np.testing.assert_allclose(cosines[-1, i], anna @ tom / np.linalg.norm(
            anna) / np.linalg.norm(tom))


@pytest.mark.parametrize("kind", ["He", "default", "tanh, rotations"])
def test_learn_starts_by_guessing(kind):
    """Without steps to speak of, the loss is that of a guess or more."""
    loss = CHAPTER.learn(kind, 3, lr=0.0, n_layers=50, steps=3)
    assert math.log(32) - 0.1 < 20 / 3 * loss < 6


def test_the_demonstration_of_exercise_3_3():
    """With the same matrices two tokens merge, with others they stay at 1/pi;
    layer by layer as the loop of the statement does it."""
    rng = np.random.default_rng(5)
    X = np.linalg.qr(rng.normal(size=(256, 2)))[0].T * [[16.0], [0.3]]
    W, V = rng.normal(size=(2, 50, 256, 256)) * (2 / 256)**0.5
    meant, slip = CHAPTER.demo_alike(X, W, V)
    assert abs(meant[0] - 1 / math.pi) < 0.1 and meant[-1] > 0.95
    assert np.abs(slip - 1 / math.pi).max() < 0.2
    a, b, c = X[0], X[1], X[1]
    for A, B, *want in zip(W, V, meant, slip, strict=True):
        a, b, c = (np.maximum(x @ M, 0) for x, M in ((a, A), (b, A), (c, B)))
        np.testing.assert_allclose(want, [
            1 - np.sum((x - a / np.linalg.norm(a))**2) / 2
            for x in (y / np.linalg.norm(y) for y in (b, c))])


def test_over_rms_is_torchs_rms_norm():
    X = np.random.default_rng(6).normal(size=(2, 3, 7)) * [[[0.1], [1], [99]]]
    want = torch.nn.functional.rms_norm(torch.tensor(X), (7,), eps=0.0)
    np.testing.assert_allclose(CHAPTER.over_rms(X), want, rtol=1e-12)
