"""Chapter 05's functions against PyTorch, autograd and their own promises."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from course.chapter import functions
from tests.support.strategies import (
    leads,
    rarely,
    seeds,
    tokens_gain_bias,
    widths,
)

CHAPTER = functions("05")


@rarely
@given(seeds, leads, widths, st.sampled_from([1e-6, 0.5]))
def test_rms_norm_is_pytorchs(seed, lead, d_model, eps):
    X, gain, _ = tokens_gain_bias(seed, lead, d_model)
    theirs = F.rms_norm(torch.tensor(X), (d_model,), torch.tensor(gain), eps)
    assert np.allclose(CHAPTER.rms_norm(X, gain, eps), theirs)
    s = CHAPTER.reciprocal_rms(X, eps)
    assert s.shape == (*lead, 1)
    assert np.allclose(s**-2, CHAPTER.mean_square(X) + eps)
    assert np.allclose(CHAPTER.mean_square(X),
                       np.einsum("...d,...d->...", X, X)[..., None] / d_model)


def test_rms_norm_default_eps():
    X, gain, _ = tokens_gain_bias(0, (3,), 5)
    theirs = F.rms_norm(torch.tensor(1e-3 * X), (5,), torch.tensor(gain), 1e-6)
    assert np.allclose(CHAPTER.rms_norm(1e-3 * X, gain), theirs)


@rarely
@given(seeds, leads, st.integers(3, 9), st.sampled_from([1e-5, 0.5]))
def test_backward_is_autograds(seed, lead, d_model, eps):
    X, gain, bias = tokens_gain_bias(seed, lead, d_model)
    dY = np.random.default_rng(seed + 1).normal(size=X.shape)
    leaves = [torch.tensor(a, requires_grad=True) for a in (X, gain, bias)]
    Y = F.layer_norm(leaves[0], (d_model,), *leaves[1:], eps=eps)
    theirs = torch.autograd.grad(Y, leaves, torch.tensor(dY))
    ours = CHAPTER.layer_norm_backward(dY, X, gain, eps)
    for a, b in zip(ours, theirs, strict=True):
        assert np.shape(a) == b.shape
        assert np.allclose(a, b, rtol=1e-4, atol=1e-7 * float(b.abs().max()))


@rarely
@given(seeds, st.integers(3, 9), st.sampled_from([0, 1e-5, 0.5]))
def test_jacobian(seed, d_model, eps):
    x = tokens_gain_bias(seed, (), d_model)[0]
    ours = CHAPTER.norm_jacobian(x, eps)
    theirs = CHAPTER.autograd_jacobian(F.layer_norm, x, eps)

    def norm(X):
        return F.layer_norm(torch.tensor(X), (d_model,), eps=eps).numpy()

    slopes = CHAPTER.jacobian_by_differences(norm, x, 1e-6 * x.std())
    tolerance = 1e-4 / x.std()
    assert np.allclose(ours, theirs, atol=tolerance)
    assert np.allclose(ours, slopes, atol=tolerance)


def test_jacobian_by_differences_has_inputs_in_columns():
    A = np.array([[1.0, 2], [3, 5], [-1, 0]])
    J = CHAPTER.jacobian_by_differences(lambda X: X**2 @ A, np.array([1, 2, 3]))
    assert np.allclose(J, (2 * A * [[1], [2], [3]]).T)


def test_jacobian_has_eps_0_by_default():
    x = tokens_gain_bias(3, (), 6)[0]
    want = torch.autograd.functional.jacobian(
        lambda t: (t - t.mean()) / t.std(correction=0), torch.tensor(x))
    assert np.allclose(CHAPTER.norm_jacobian(x), want)
    assert np.allclose(CHAPTER.autograd_jacobian(F.layer_norm, x), want)


@rarely
@given(seeds, leads, widths, st.sampled_from([1e-6, 0.5]))
def test_the_module_is_pytorchs(seed, lead, d_model, eps):
    X, gain, _ = tokens_gain_bias(seed, lead, d_model)
    ours, theirs = CHAPTER.RMSNorm(d_model, eps), nn.RMSNorm(d_model, eps)
    for module in (ours, theirs):
        module.double().weight.data.copy_(torch.tensor(gain))
    assert torch.allclose(*(m(torch.tensor(X)) for m in (ours, theirs)))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("size", [1e-3, 1, 300, 1e4])
def test_the_module_upcasts(dtype, size):
    x = (size * torch.linspace(-2, 2, 64)).to(dtype)
    y = CHAPTER.RMSNorm(64, eps=0).to(dtype)(x)
    assert y.dtype == dtype
    assert np.isclose(CHAPTER.token_size(y.detach().double()), 1, rtol=1e-2)


def test_the_module_starts_with_gain_1_and_eps_1e_6():
    module = CHAPTER.RMSNorm(5)
    assert module.weight.dtype == torch.float32
    assert module.weight.tolist() == [1] * 5 and module.eps == 1e-6


def test_token_size():
    assert np.isclose(CHAPTER.token_size([3, -3]), 3)
    assert np.isclose(CHAPTER.token_size(np.full(9, 300, np.float16)), 300)


def test_block_errors():
    pre, post, mended = CHAPTER.block_errors(seed=99, d=12)
    assert max(pre, mended) < 1e-12 < 0.05 < post


def test_one_step():
    """Gradient descent on (output - aim)^2 with rate 0.01."""
    CHAPTER.after_one_step.__globals__["aim"] = torch.tensor([0.0])
    got = CHAPTER.after_one_step([torch.tensor([3.0])], lambda w: 2 * w)
    assert torch.allclose(got, torch.tensor([2 * (3 - 0.01 * 24)]))
