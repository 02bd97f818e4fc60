"""Chapter 1's functions against oracles that share no code with them."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
import torch
from chapters import functions
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

CHAPTER = functions("01")
thorough = settings(deadline=None, max_examples=50)
rows = arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 6)),
              elements=st.floats(-1e6, 1e6))
FORMATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


def exact_softmax(row):
    """Shares in 60 digits, as the textbook prints them."""
    with localcontext() as context:
        context.prec = 60
        powers = [Decimal(float(x)).exp() for x in row]
        return [float(p / sum(powers)) for p in powers]


def test_softmax_in_sixty_digits():
    for row in ([1000, 1001, 1002], [-800.0, -801, 3, 4], [0.1, -0.2, 0.3]):
        want = exact_softmax(row)
        got = CHAPTER.softmax(np.array(row, dtype=float))
        np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-320)


@thorough
@given(rows, st.floats(-1e3, 1e3))
def test_softmax_is_shares_that_ignore_a_shift(scores, c):
    before = scores.copy()
    weights = CHAPTER.softmax(scores)
    assert np.array_equal(scores, before)
    assert np.all(weights >= 0)
    np.testing.assert_allclose(weights.sum(axis=-1), 1)
    np.testing.assert_allclose(
        CHAPTER.softmax(scores + c), weights, rtol=1e-8, atol=1e-12)
    for row, want in zip(scores, weights, strict=True):
        assert np.array_equal(CHAPTER.softmax(row), want)  # rows do not meet


def test_softmax_keeps_its_format_and_hides_minus_infinity():
    for dtype in (np.float16, np.float32):
        scores = np.array([[1e4, -np.inf, 1e4]], dtype=dtype)
        weights = CHAPTER.softmax(scores)
        assert weights.dtype == dtype
        assert weights.tolist() == [[0.5, 0, 0.5]]


def test_naive_softmax_is_right_where_exp_is():
    scores = np.random.default_rng(0).normal(size=(2, 3, 4))
    want = torch.softmax(torch.tensor(scores), -1).numpy()
    np.testing.assert_allclose(CHAPTER.naive_softmax(scores), want)
    with np.errstate(all="ignore"):
        assert np.isnan(CHAPTER.naive_softmax(scores + 1000)).all()
        assert np.isnan(CHAPTER.naive_softmax(scores - 1000)).all()
        wrong = CHAPTER.global_max_softmax(scores * [[[1]], [[1e3]]])
    assert np.isnan(wrong).any()


@thorough
@given(rows)
def test_log_softmax_and_logsumexp_are_torchs(scores):
    tensor = torch.tensor(scores)
    np.testing.assert_allclose(
        CHAPTER.log_softmax(scores), torch.log_softmax(tensor, -1),
        rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(
        CHAPTER.logsumexp(scores), torch.logsumexp(tensor, -1),
        rtol=1e-12, atol=1e-9)


def test_logsumexp_of_nothing():
    X = np.array([[-np.inf, -np.inf], [0, -np.inf]])
    assert CHAPTER.logsumexp(X).tolist() == [-np.inf, 0]


def test_toy_numbers_are_what_two_and_three_bits_make():
    want = sorted(
        2.0 ** (max(power, 1) - 3) * ((power > 0) + fraction / 4)
        for power in range(7) for fraction in range(4))
    assert CHAPTER.toy_numbers().tolist() == want


@thorough
@given(st.floats(-20, 20))
def test_toy_rounds_to_the_nearest(x):
    got, numbers = CHAPTER.toy(x), CHAPTER.toy_numbers()
    assert math.copysign(1, got) == math.copysign(1, x)
    if math.isinf(got):
        assert abs(x) >= 15
    else:
        assert abs(got) in numbers
        assert abs(abs(x) - abs(got)) == np.abs(numbers - abs(x)).min()


def test_toy_ties_go_to_the_even_fraction():
    ties = {9: 8, 11: 12, 13: 12, 4.5: 4, 5.5: 6, 1 / 32: 0, 3 / 32: 1 / 8}
    assert {x: CHAPTER.toy(x) for x in ties} == ties
    assert CHAPTER.toy(15) == math.inf and CHAPTER.toy(14.9) == 14


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_edge_is_the_last_that_works(dtype):
    limit = 3.3
    last = CHAPTER.edge(lambda x: x.item() < limit, 0.0, 100.0, dtype)
    after = torch.nextafter(torch.tensor(last, dtype=dtype),
                            torch.tensor(100.0, dtype=dtype))
    assert last < limit <= after.item()
    first = CHAPTER.edge(lambda x: x.item() > -limit, 0.0, -100.0, dtype)
    assert first == -last


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_exp_and_the_table_that_the_summary_recites(dtype):
    info = torch.finfo(dtype)
    high = CHAPTER.edge(lambda x: torch.exp(x) < torch.inf, 0, 1024, dtype)
    assert 0 <= math.log(info.max) - high <= high * info.eps + 1e-9
    top = info.max ** 0.5
    square = CHAPTER.edge(lambda x: x * x < torch.inf, 1.0, info.max, dtype)
    assert abs(square / top - 1) <= info.eps


@thorough
@given(st.integers(1, 30), st.integers(0, 2**32 - 1))
def test_variances_are_exact_in_fractions(n, seed):
    X = np.random.default_rng(seed).normal(size=(3, n)) * [[1e-1], [1], [10]]
    want = []
    for row in X:
        row = [Fraction(float(x)) for x in row]
        mean = sum(row) / n
        want.append(float(sum((x - mean) ** 2 for x in row) / n))
    for way in ("one_pass_variance", "streamed_variance",
                "two_pass_variance", "welford_variance"):
        got = getattr(CHAPTER, way)(X)
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-11)


def test_only_one_pass_cancels():
    X = 1e8 + np.random.default_rng(1).normal(size=(5, 300))
    want = (X - 1e8).var(axis=-1)
    np.testing.assert_allclose(CHAPTER.two_pass_variance(X), want, rtol=1e-6)
    np.testing.assert_allclose(CHAPTER.welford_variance(X), want, rtol=1e-6)
    assert not np.allclose(CHAPTER.one_pass_variance(X), want, rtol=0.5)
    assert not np.allclose(CHAPTER.streamed_variance(X), want, rtol=0.5)


def test_streamed_adds_one_after_another():
    x = np.random.default_rng(3).normal(size=999).astype(np.float32) + 50
    n = np.float32(x.size)
    mean, squares = (CHAPTER.running_sum(y) / n for y in (x, x * x))
    got = CHAPTER.streamed_variance(np.stack([x, x[::-1]]))
    assert got.dtype == np.float32 and got[0] == squares - mean * mean
    assert got[0] != CHAPTER.one_pass_variance(x)


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_three_shares(dtype):
    c = torch.tensor(-2.0, dtype=dtype)
    got = CHAPTER.three_shares(c)
    want = exact_softmax([1, 2, 3])
    assert got.dtype == dtype
    np.testing.assert_allclose(
        got.double(), want, rtol=4 * torch.finfo(dtype).eps)


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
    x = np.random.default_rng(2).uniform(size=1001).astype(dtype)
    exact, eps = math.fsum(x), np.finfo(dtype).eps
    for name, bound in (("kahan_sum", 2), ("pairwise_sum", 12),
                        ("running_sum", 1001)):
        got = getattr(CHAPTER, name)(x)
        assert got.dtype == dtype
        assert abs(got / exact - 1) <= bound * eps
    assert CHAPTER.running_sum(np.ones(3000, np.float16)) == 2048
    assert CHAPTER.kahan_sum(np.ones(3000, np.float16)) == 3000
    assert CHAPTER.pairwise_sum(np.ones(3000, np.float16)) == 3000


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


def test_sizes_through_layers():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(3, 5)) * [[1], [10], [0.1]]
    sizes = CHAPTER.sizes_through(X, 2.0, 4, np.random.default_rng(4))
    rng = np.random.default_rng(4)
    for t in range(5):
        np.testing.assert_allclose(
            sizes[t], np.linalg.norm(X, axis=-1) / 5 ** 0.5)
        W = 2 * rng.normal(size=(3, 5, 5)) / 5 ** 0.5
        X = np.stack([x @ w for x, w in zip(X, W, strict=True)])
    assert sizes.shape == (5, 3)


def test_dies_at_the_edge():
    class Same:
        """Draws that make each layer multiply a row of ones by scale."""
        def normal(self, scale=None, size=None):
            return np.ones(size) if scale is None else scale * np.eye(size[0])

    for std, dtype, want in ((2.0, torch.float16, (16, "inf")),
                             (0.5, torch.float16, (25, "0")),
                             (16.0, torch.float32, (32, "inf")),
                             (1 / 16, torch.bfloat16, (34, "0")),
                             (1 / 16, torch.float32, (38, "0")),
                             (4.0, torch.float64, (512, "inf"))):
        assert CHAPTER.dies_at(std, dtype, Same()) == want


def test_repeated_tells_the_two_products_apart():
    star, at = (
        CHAPTER.repeated(product, 1.0, np.random.default_rng(5), d_model=9,
                         steps=6, draws=30)
        for product in (np.multiply, np.matmul))
    for rms, typical in (star, at):
        assert rms.shape == typical.shape == (7,)
        assert abs(rms[0] - 1) < 0.1 and abs(typical[0] - 0.6745) < 0.05
    assert star[1][-1] < 0.1 and abs(at[0][-1] / 27**2 - 1) < 0.5
    twice = CHAPTER.repeated(np.matmul, 2.0, np.random.default_rng(5),
                             d_model=9, steps=6, draws=30)
    np.testing.assert_allclose(twice[0], at[0] * 2.0 ** np.arange(7))


def test_over_rms_is_torchs_rms_norm():
    X = np.random.default_rng(6).normal(size=(2, 3, 7)) * [[[0.1], [1], [99]]]
    want = torch.nn.functional.rms_norm(torch.tensor(X), (7,), eps=0.0)
    np.testing.assert_allclose(CHAPTER.over_rms(X), want, rtol=1e-12)
    with np.errstate(over="ignore"):
        zeros = CHAPTER.over_rms(np.float16([1, 300]))
    assert zeros.dtype == np.float16 and not zeros.any()



def test_paper_answer_1_1_in_e4m3():
    info = torch.finfo(torch.float8_e4m3fn)
    assert (info.eps, info.max) == (1 / 8, 448)
    assert info.smallest_normal * info.eps == 2**-9
    low, high = math.log(2**-10), math.log(448)
    assert (round(low, 2), round(high, 2)) == (-6.93, 6.10)
    assert 2 / info.eps == 16 and round(math.sqrt(448), 1) == 21.2
    total = 1 + math.exp(-1) + math.exp(-2)
    assert round(total, 3) == 1.503
    assert round(high - 3 - math.log(total), 2) == 2.70
    assert round(high - 3, 2) == 3.10
    zeros, nan = (
        torch.tensor(scores).exp().to(torch.float8_e4m3fn).tolist()
        for scores in ([4.0, 5, 6], [4.5, 5.5, 6.5]))
    assert zeros == [56, 144, 416] and sum(zeros) > 448
    assert nan[-1] == 448 < math.exp(6.5)           # torch stops at the end
    halves = torch.arange(256, dtype=torch.uint8).view(torch.float8_e4m3fn)
    halves = halves.float()
    halves = halves[(halves >= 4) & (halves <= 8)]
    assert halves.tolist() == [4 + i / 2 for i in range(9)]


def test_paper_answer_1_4():
    best = math.exp(-CHAPTER.log_growth(1.0, 64))
    assert round(best, 3) == 1.008
    assert round(math.exp(-CHAPTER.log_growth(1.0, 1)), 2) == 1.89
    assert round(math.exp(1 / 2), 2) == 1.65
    x = np.random.default_rng(7).normal(size=(2000, 200))
    W = np.random.default_rng(8).normal(size=(200, 200)) * (2 / 200) ** 0.5
    assert abs(np.mean(np.maximum(x @ W, 0) ** 2) - 1) < 0.03


def test_paper_answer_1_5():
    grid = np.arange(2**15, dtype=np.uint16).view(np.float16)   # in order
    grid = grid[grid < 20]                          # all of fp16 up to 20
    pairs = np.stack([np.zeros_like(grid), grid], axis=-1)
    shares = CHAPTER.softmax(pairs)
    loser, winner = shares.T
    assert float(grid[np.argmax(winner == 1)]) == 7.625
    gone = grid[np.argmax(loser == 0)]
    assert gone == np.float16(17.34) and round(float(gone), 2) == 17.34
    assert float(np.nextafter(gone, np.float16(0))) < 25 * math.log(2)
    between = (winner == 1) & (loser > 0)
    assert np.array_equal(between, (grid >= 7.625) & (grid < gone))
    exact = shares[between].astype(float).sum(axis=-1)
    assert np.all(exact > 1) and round(exact.max(), 4) == 1.0005
    assert np.all(shares[between].sum(axis=-1) == 1)
    assert np.all(winner[grid >= gone] == 1) and not loser[grid >= gone].any()
