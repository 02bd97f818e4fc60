"""Chapter 2's functions against PyTorch, autograd and their own promises."""

import numpy as np
import pytest
import torch
from chapters import functions
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

CHAPTER = functions("04")
rarely = settings(deadline=None, max_examples=50)
seeds, widths = st.integers(0, 10**6), st.integers(2, 9)
leads = st.sampled_from([(), (1,), (4,), (2, 3), (2, 1, 3)])


def draw(seed, lead, d_model):
    """Signed tokens of very different sizes, none centred; gain and bias."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(*lead, d_model)) + rng.normal()
    X *= 10 ** rng.uniform(-3, 3, size=(*lead, 1))
    return X, *rng.normal(size=(2, d_model))


@rarely
@given(seeds, leads, widths, st.sampled_from([1e-5, 0.5]))
def test_layer_norm_is_pytorchs(seed, lead, d_model, eps):
    X, gain, bias = draw(seed, lead, d_model)
    want = F.layer_norm(torch.tensor(X), (d_model,), torch.tensor(gain),
                        torch.tensor(bias), eps)
    assert np.allclose(CHAPTER.layer_norm(X, gain, bias, eps), want)


def test_layer_norm_has_pytorchs_default_eps():
    X, gain, bias = draw(0, (3,), 5)
    norm = torch.nn.LayerNorm(5, dtype=torch.float64)
    with torch.no_grad():
        norm.weight.copy_(torch.tensor(gain))
        norm.bias.copy_(torch.tensor(bias))
        want = norm(torch.tensor(1e-3 * X))
    assert np.allclose(CHAPTER.layer_norm(1e-3 * X, gain, bias), want)


@rarely
@given(seeds, leads, widths)
def test_standardize(seed, lead, d_model):
    X = draw(seed, lead, d_model)[0]
    Y = CHAPTER.standardize(X)
    assert np.allclose(Y.mean(axis=-1), 0)
    assert np.allclose(np.mean(Y**2, axis=-1), 1)
    assert np.allclose(CHAPTER.standardize(-3 * X + 7), -Y, atol=1e-6)
    assert np.allclose(Y, F.layer_norm(torch.tensor(X), (d_model,), eps=0))


@pytest.mark.parametrize("axis", [0, 1, (0, 1), (1, 2)])
def test_standardize_along_other_axes(axis):
    X = draw(1, (2, 3), 5)[0]
    Y = CHAPTER.standardize(X, axis)
    assert np.allclose(Y.mean(axis=axis), 0)
    assert np.allclose(np.mean(Y**2, axis=axis), 1)


@rarely
@given(seeds, leads, widths, st.sampled_from([1e-6, 0.5]))
def test_rms_norm_is_pytorchs(seed, lead, d_model, eps):
    X, gain, _ = draw(seed, lead, d_model)
    theirs = F.rms_norm(torch.tensor(X), (d_model,), torch.tensor(gain), eps)
    assert np.allclose(CHAPTER.rms_norm(X, gain, eps), theirs)
    s = CHAPTER.reciprocal_rms(X, eps)
    assert s.shape == (*lead, 1)
    assert np.allclose(s**-2, CHAPTER.mean_square(X) + eps)
    assert np.allclose(CHAPTER.mean_square(X),
                       np.einsum("...d,...d->...", X, X)[..., None] / d_model)


def test_rms_norm_default_eps():
    X, gain, _ = draw(0, (3,), 5)
    theirs = F.rms_norm(torch.tensor(1e-3 * X), (5,), torch.tensor(gain), 1e-6)
    assert np.allclose(CHAPTER.rms_norm(1e-3 * X, gain), theirs)


@rarely
@given(seeds, leads, widths)
def test_over_rms(seed, lead, d_model):
    X = draw(seed, lead, d_model)[0]
    Y = CHAPTER.over_rms(X)
    assert np.allclose(Y, F.rms_norm(torch.tensor(X), (d_model,), eps=0))


@rarely
@given(seeds, leads, st.integers(3, 9), st.sampled_from([1e-5, 0.5]))
def test_backward_is_autograds(seed, lead, d_model, eps):
    X, gain, bias = draw(seed, lead, d_model)
    dY = np.random.default_rng(seed + 1).normal(size=X.shape)
    leaves = [torch.tensor(a, requires_grad=True) for a in (X, gain, bias)]
    Y = F.layer_norm(leaves[0], (d_model,), *leaves[1:], eps=eps)
    theirs = torch.autograd.grad(Y, leaves, torch.tensor(dY))
    ours = CHAPTER.layer_norm_backward(dY, X, gain, eps)
    for a, b in zip(ours, theirs, strict=True):
        assert np.shape(a) == b.shape
        assert np.allclose(a, b, rtol=1e-4, atol=1e-7 * float(b.abs().max()))


@rarely
@given(seeds, st.integers(3, 9))
def test_jacobian(seed, d_model):
    x = draw(seed, (), d_model)[0]
    ours = CHAPTER.norm_jacobian(x)
    theirs = CHAPTER.autograd_jacobian(F.layer_norm, x)
    step = 1e-6 * x.std()
    bumped = x + step * np.stack([np.eye(d_model), -np.eye(d_model)])
    up, down = CHAPTER.standardize(bumped)          # a bumped feature per row
    slopes = (up - down).T / (2 * step)
    tolerance = 1e-4 / x.std()
    assert np.allclose(ours, theirs, atol=tolerance)
    assert np.allclose(ours, slopes, atol=tolerance)


def test_sizes_by_depth():
    X = np.random.default_rng(0).normal(size=(3, 16))
    still = CHAPTER.sizes_by_depth(X, 0, lambda X: X + 2, n_layers=4)
    assert np.allclose(still, 2) and still.shape == (4,)
    one, two = (CHAPTER.sizes_by_depth(X, std, lambda X: X, 5)
                for std in (0.3, 0.6))
    assert np.allclose(two / one, 2.0 ** np.arange(1, 6))
    wide = np.random.default_rng(1).normal(size=(200, 256))
    first = CHAPTER.sizes_by_depth(wide, 1.0, lambda X: X, 1)[0]
    assert np.isclose(first, 16, rtol=0.03)


def test_relu_branch_and_tanh_layer():
    X, W_1, W_2 = (torch.tensor(draw(seed, (n,), d)[0])
                   for seed, n, d in ((1, 4, 3), (2, 3, 6), (3, 6, 5)))
    ours = CHAPTER.relu_branch(W_1, W_2)(X)
    assert torch.allclose(ours, (X @ W_1).clamp(min=0) @ W_2)
    assert torch.allclose(CHAPTER.tanh_layer(W_1)(X), torch.tanh(X @ W_1))


def test_places_of_the_norm():
    x = torch.tensor(draw(2, (4,), 6)[0])
    assert torch.allclose(CHAPTER.normed(x), F.layer_norm(x, (6,)))
    skip = CHAPTER.at_birth(lambda x, f: CHAPTER.normed(x + 0 * f(x)), 3, 7)
    assert skip.shape == (7, 4)
    assert np.allclose(skip[:, :2], [1, 0], atol=1e-4)  # none through f
    pre, deep = (np.median(CHAPTER.at_birth(
        lambda x, f: x + f(CHAPTER.normed(x)), N, 24), axis=0) for N in (1, 8))
    assert np.isclose(pre[0], 2**0.5, rtol=0.03)
    assert np.isclose(deep[0], 3, rtol=0.035)
    assert np.isclose(pre[2], pre[3])               # one block: first = last
    assert deep[3] > 1.5 * deep[2]                  # the last x is larger


def test_runs_are_networks_of_their_own():
    """A gradient is that of its own run's mean loss, however many runs."""
    one, many = (CHAPTER.at_birth(lambda x, f: x + 0 * f(x), 2, n_runs)
                 for n_runs in (1, 20))
    assert np.isclose(one[0, 2], np.median(many[:, 2]), rtol=0.1)
    assert len(np.unique(many[:, 2])) == 20


def test_gradient_ratio():
    """A layer that halves x halves the gradient, once per layer."""
    halve = CHAPTER.gradient_ratio(
        lambda x, f: x / 2 + 0 * f(x), 2, n_runs=3, n_layers=5)
    assert np.isclose(halve, 2.0**-5)
    flat = CHAPTER.gradient_ratio(lambda x, f: f(x), 0, n_runs=3, n_layers=5)
    assert flat == 0                                # gain 0: nothing passes


def test_power():
    N = np.array([2, 4, 8])
    assert np.isclose(CHAPTER.power(N, 3 * N**-0.5), -0.5)


@pytest.mark.parametrize("name, kept", [
    ("norm_right", [1, 1, 1, 1, 1]), ("norm_over_tokens", [1, 0, 0, 0, 0]),
    ("norm_unbiased", [1, 1, 0, 0, 1]), ("norm_eps_outside", [1, 1, 1, 0, 1]),
    ("norm_one_pass", [1, 1, 1, 1, 0])])
def test_gallery(name, kept):
    with np.errstate(all="ignore"):
        assert CHAPTER.properties(getattr(CHAPTER, name)) == kept


def test_step_moves_gain():
    X, norm = draw(3, (4,), 6)[0], torch.nn.LayerNorm(6).double()
    for held, moves in ((norm.weight, True), (norm.weight.clone(), False)):
        held = torch.nn.Parameter(held) if not moves else held
        optimizer = torch.optim.SGD([held], lr=0.1)
        assert CHAPTER.step_moves_gain(norm, optimizer, X) == moves


def test_stacked_and_print_statistics(capsys):
    X = np.arange(24.0).reshape(2, 3, 4)
    Y = CHAPTER.stacked(X)
    assert np.isnan(Y[3]).all()
    assert np.array_equal(np.delete(Y, 3, axis=0), X.reshape(6, 4))
    CHAPTER.print_statistics(np.array([[1.0, 3], [5, 7]]))
    assert capsys.readouterr().out.split() == (
        "mean rows [2. 6.], columns 3.00 to 5.00 "
        "std rows [1. 1.], columns 2.00 to 2.00").split()
    assert np.isclose(CHAPTER.token_size([3, -3]), 3)
