"""Chapter 4's functions against PyTorch, closed forms and own promises."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from course.chapter import functions
from tests.support.strategies import (
    leads,
    rarely,
    seeds,
    tokens_gain_bias,
    widths,
)

CHAPTER = functions("04")


@rarely
@given(seeds, leads, widths, st.sampled_from([1e-5, 0.5]))
def test_layer_norm_is_pytorchs(seed, lead, d_model, eps):
    X, gain, bias = tokens_gain_bias(seed, lead, d_model)
    want = F.layer_norm(torch.tensor(X), (d_model,), torch.tensor(gain),
                        torch.tensor(bias), eps)
    assert np.allclose(CHAPTER.layer_norm(X, gain, bias, eps), want)


def test_layer_norm_has_pytorchs_default_eps():
    X, gain, bias = tokens_gain_bias(0, (3,), 5)
    norm = torch.nn.LayerNorm(5, dtype=torch.float64)
    with torch.no_grad():
        norm.weight.copy_(torch.tensor(gain))
        norm.bias.copy_(torch.tensor(bias))
        want = norm(torch.tensor(1e-3 * X))
    assert np.allclose(CHAPTER.layer_norm(1e-3 * X, gain, bias), want)


@rarely
@given(seeds, leads, widths)
def test_standardize(seed, lead, d_model):
    X = tokens_gain_bias(seed, lead, d_model)[0]
    Y = CHAPTER.standardize(X)
    assert np.allclose(Y.mean(axis=-1), 0)
    assert np.allclose(np.mean(Y**2, axis=-1), 1)
    assert np.allclose(CHAPTER.standardize(-3 * X + 7), -Y, atol=1e-6)
    assert np.allclose(Y, F.layer_norm(torch.tensor(X), (d_model,), eps=0))


@pytest.mark.parametrize("axis", [0, 1, (0, 1), (1, 2)])
def test_standardize_along_other_axes(axis):
    X = tokens_gain_bias(1, (2, 3), 5)[0]
    Y = CHAPTER.standardize(X, axis)
    assert np.allclose(Y.mean(axis=axis), 0)
    assert np.allclose(np.mean(Y**2, axis=axis), 1)


def test_median_cosine():
    X = np.array([[2.0, 0], [0, 3], [-1, 0]])       # cosines 0, -1, 0
    assert CHAPTER.median_cosine(X) == 0
    assert np.isclose(CHAPTER.median_cosine([[1, 1], [9, 9.0]]), 1)
    X = tokens_gain_bias(3, (5,), 7)[0]
    T = torch.tensor(X)
    want = [F.cosine_similarity(T[i], T[j], dim=0).item()
            for i in range(5) for j in range(5) if i != j]
    assert np.isclose(CHAPTER.median_cosine(X), np.median(want))


def test_cosine_by_layer():
    """One cosine more than layers; a rotation keeps them; seeds differ."""
    once = CHAPTER.cosine_by_layer(lambda Z: Z, 3, 400, 0)
    assert once.shape == (4,) and abs(once[0]) < 0.1
    same = CHAPTER.cosine_by_layer(lambda Z: 0 * Z + 1, 2, 6, 0)
    assert np.allclose(same[1:], 1)
    scaled = CHAPTER.cosine_by_layer(lambda Z: 5 * Z, 3, 400, 0)
    assert np.allclose(once, scaled)
    assert not np.allclose(once, CHAPTER.cosine_by_layer(
        lambda Z: Z, 3, 400, 1))


@pytest.mark.parametrize("shape", [(8, 4, 4), (9, 3, 5)])
def test_loss_and_gradient(shape):
    """The gradient by differences; W stays as it was."""
    n, d_in, d_out = shape
    rng = np.random.default_rng(n)
    X, W, T = (torch.tensor(rng.normal(size=size)) for size in
               ((n, d_in), (d_in, d_out), (n, d_out)))
    before = W.clone()
    loss, G = CHAPTER.loss_and_gradient(W, X, T)
    Y = CHAPTER.standardize((X @ W).numpy())
    assert np.isclose(loss, np.mean((Y - T.numpy()) ** 2))
    assert torch.equal(W, before) and not W.requires_grad
    for i, j in np.ndindex(d_in, d_out):
        step = torch.zeros_like(W)
        step[i, j] = 1e-6
        up, down = (CHAPTER.loss_and_gradient(W + sign * step, X, T)[0]
                    for sign in (1, -1))
        assert np.isclose((up - down) / 2e-6, G[i, j], atol=1e-6)


def test_descend():
    """The first step by hand; the norm grows as (4.9) says."""
    norms, slopes, losses = CHAPTER.descend(1, 4, n_steps=6, d=5)
    assert norms.shape == (7,) and slopes.shape == losses.shape == (6,)
    assert np.allclose(np.diff(norms**2), slopes**2)
    twice = CHAPTER.descend(2, 4, n_steps=1, d=5)
    assert np.isclose(twice[0][0], 2 * norms[0])
    assert np.isclose(twice[1][0], slopes[0] / 2)
    assert np.isclose(twice[2][0], losses[0])
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("name, passed", [
    ("norm_over_tokens", [0, 0, 0, 0]), ("norm_unbiased", [1, 0, 0, 1]),
    ("norm_eps_outside", [1, 1, 0, 1]), ("norm_one_pass", [1, 1, 1, 0])])
def test_gallery(name, passed):
    with np.errstate(all="ignore"):
        assert CHAPTER.norm_tests(getattr(CHAPTER, name)) == passed
        assert CHAPTER.norm_tests(
            lambda X: CHAPTER.layer_norm(X, 1, 0)) == [1] * 4


def test_gallery_is_what_it_says():
    X = tokens_gain_bias(5, (4,), 6)[0]
    T = torch.tensor(X)
    centred = T - T.mean(-1, keepdim=True)
    for name, want in (
            ("norm_over_tokens", F.layer_norm(T.mT, (4,), eps=0).mT),
            ("norm_unbiased", centred / T.std(-1, keepdim=True)),
            ("norm_eps_outside",
             centred / (centred.square().mean(-1, keepdim=True).sqrt() + 1e-5)),
            ("norm_one_pass", F.layer_norm(T, (6,)))):
        assert np.allclose(getattr(CHAPTER, name)(X), want), name


@pytest.mark.parametrize("lead, d_model", [((), 1), ((3,), 5), ((2, 4), 8)])
def test_module(lead, d_model):
    torch.manual_seed(len(lead))
    ours = CHAPTER.LayerNorm(d_model, eps=0.1).double()
    theirs = torch.nn.LayerNorm(d_model, eps=0.1).double()
    for part in theirs.parameters():
        torch.nn.init.normal_(part)
    ours.load_state_dict(theirs.state_dict())
    X = 3 * torch.randn(*lead, d_model, dtype=torch.float64) + 1
    assert torch.allclose(ours(X), theirs(X))
    assert CHAPTER.LayerNorm(2).eps == torch.nn.LayerNorm(2).eps
