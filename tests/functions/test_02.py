"""Chapter 2's functions against oracles that share no code with them."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course.chapter import functions

CHAPTER = functions("02")
thorough = settings(deadline=None, max_examples=50)
WAYS = ("one_pass_variance", "streamed_variance", "two_pass_variance",
        "corrected_variance", "welford_variance")


@thorough
@given(st.integers(1, 30), st.integers(0, 2**32 - 1))
def test_variances_are_exact_in_fractions(n, seed):
    X = np.random.default_rng(seed).normal(size=(3, n)) * [[1e-1], [1], [10]]
    want = []
    for row in X:
        row = [Fraction(float(x)) for x in row]
        mean = sum(row) / n
        want.append(float(sum((x - mean) ** 2 for x in row) / n))
    for way in WAYS:
        got = getattr(CHAPTER, way)(X)
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-11)


def test_only_one_pass_cancels():
    X = 1e8 + np.random.default_rng(1).normal(size=(5, 300))
    want = (X - 1e8).var(axis=-1)
    for way in WAYS[2:]:
        np.testing.assert_allclose(getattr(CHAPTER, way)(X), want, rtol=1e-6)
    for way in WAYS[:2]:
        assert not np.allclose(getattr(CHAPTER, way)(X), want, rtol=0.5)


def test_the_correction_takes_away_the_error_of_the_mean():
    """At mean 1e6 in float32 the mean is off, and the correction knows it."""
    X = (1e6 + np.random.default_rng(2).normal(size=(50, 4096))).astype(
        np.float32)
    exact = X.astype(float).var(axis=-1)
    plain, mended = (np.median(np.abs(way(X) / exact - 1)) for way in (
        CHAPTER.two_pass_variance, CHAPTER.corrected_variance))
    assert plain > 1e-5 > 1e-6 > mended


def test_the_hook_is_forced_by_rounding():
    pair = np.float32([12002, 12004])
    assert CHAPTER.one_pass_variance(pair) == -16
    assert CHAPTER.two_pass_variance(pair) == 1
    squares = pair * pair
    mean = (squares[0] + squares[1]) / np.float32(2)
    assert mean - np.float32(12003) * np.float32(12003) == -16


def test_streamed_adds_one_after_another():
    x = np.random.default_rng(3).normal(size=999).astype(np.float32) + 50
    n = np.float32(x.size)
    mean, squares = (CHAPTER.running_sum(y) / n for y in (x, x * x))
    got = CHAPTER.streamed_variance(np.stack([x, x[::-1]]))
    assert got.dtype == np.float32 and got[0] == squares - mean * mean


@thorough
@given(st.lists(st.lists(st.floats(-100, 100), min_size=1, max_size=9),
                min_size=1, max_size=6), st.sampled_from([0, 1e8]))
def test_combine_in_any_order(blocks, offset):
    total = 0, 0.0, 0.0
    backwards = total
    blocks = [np.array(block) + offset for block in blocks]
    for block, other in zip(blocks, blocks[::-1], strict=True):
        M = [np.sum((x - x.mean()) ** 2) for x in (block, other)]
        total = CHAPTER.combine(total, (block.size, block.mean(), M[0]))
        backwards = CHAPTER.combine((other.size, other.mean(), M[1]), backwards)
    numbers = np.concatenate(blocks)
    n, mean, M = total
    assert n == numbers.size
    scale = 1e-3 if offset else 1e-9
    assert math.isclose(mean, numbers.mean(), abs_tol=scale)
    assert math.isclose(M, n * numbers.var(), rel_tol=1e-3, abs_tol=scale)
    np.testing.assert_allclose(total, backwards, rtol=1e-3, atol=scale)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_sums_in_their_own_format(dtype):
    x = np.random.default_rng(2).uniform(size=1024).astype(dtype)
    exact, u = math.fsum(x), np.finfo(dtype).eps / 2
    for name, bound in (("kahan_sum", 3), ("pairwise_sum", 10),
                        ("tree_sum", 10), ("running_sum", 1023)):
        got = getattr(CHAPTER, name)(x)
        assert got.dtype == dtype
        assert abs(got / exact - 1) <= bound * u
    ones = np.ones(4096, np.float16)
    assert CHAPTER.running_sum(ones) == 2048
    for name in "kahan_sum", "pairwise_sum", "tree_sum":
        assert getattr(CHAPTER, name)(ones) == 4096


def test_sums_along_the_first_axis():
    x = np.random.default_rng(4).integers(-9, 9, size=(16, 3, 2)).astype(float)
    for name in "kahan_sum", "tree_sum", "running_sum":
        assert np.array_equal(getattr(CHAPTER, name)(x), x.sum(axis=0))


@thorough
@given(st.floats(1e-30, 1e30), st.sampled_from([-1, 1]))
def test_round_to_is_the_formats_own_rounding(x, sign):
    x = np.array([sign * x])
    assert CHAPTER.round_to(x, 23)[0] == np.float32(x)[0]
    single = x.astype(np.float32).astype(float)     # torch rounds this again
    assert CHAPTER.round_to(single, 7)[0] == torch.tensor(
        single).float().bfloat16().item()
    ulp = CHAPTER.ulp_of(x, 10)[0]
    assert ulp * 1024 <= abs(x[0]) < ulp * 2048


def test_stochastic_rounding_takes_a_neighbor_and_is_right_on_average():
    rng = np.random.default_rng(5)
    for x in (1.3, -1.3, 5.77, -0.01):
        got = CHAPTER.stochastic_round(np.full(40_000, x), 4, rng)
        ulp = CHAPTER.ulp_of(x, 4)
        assert set(got) == {np.floor(x / ulp) * ulp, np.ceil(x / ulp) * ulp}
        assert abs(got.mean() - x) < 4 * ulp / 2 / 200
    exact = np.full(100, 1.25)
    assert np.array_equal(CHAPTER.stochastic_round(exact, 4, rng), exact)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16,
                                   torch.float32])
def test_limits_are_the_formats_own(dtype):
    info = torch.finfo(dtype)
    bits = round(-math.log2(info.eps))
    u, stop, one_pass, problem, running, pairs = CHAPTER.accuracy_limits(
        bits, 4096)
    assert u == info.eps / 2
    count = torch.tensor(stop, dtype=dtype)
    assert count + 1 == count and count - 1 < count
    assert math.isclose((1 + 2 * one_pass**2) * u, 1)
    assert math.isclose(2 * math.sqrt(1 + problem**2) * u, 1)
    assert (running, pairs) == (4095 * u, 12 * u)


@thorough
@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=9).filter(
    lambda row: max(map(abs, row)) > 1e-9))
def test_loss_scale_is_the_last_that_fits(row):
    x = torch.tensor(row, dtype=torch.float64)
    scale = CHAPTER.loss_scale(np.array(row))
    assert math.frexp(scale)[0] == 0.5
    largest = (x * scale).abs().max().item()
    assert largest < 65520 <= 2 * largest
