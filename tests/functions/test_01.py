"""Chapter 1's functions against oracles that share no code with them."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from course.chapter import functions

CHAPTER = functions("01")
thorough = settings(deadline=None, max_examples=50)
rows = arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 6)),
              elements=st.floats(-1e6, 1e6))
FORMATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


def exact_softmax(row):
    """Softmax in 60 digits, as the textbook prints it."""
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
def test_softmax_ignores_a_shift(scores, c):
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


def by_the_bits(code, e, m):
    """IEEE 754 read from the string of bits, in fractions."""
    bits = f"{code:0{1 + e + m}b}"
    sign, field, mantissa = bits[0], bits[1:e + 1], bits[e + 1:]
    if "0" not in field:
        return "nan" if "1" in mantissa else "-inf" if sign == "1" else "inf"
    power = int(field, 2) - (2 ** (e - 1) - 1)
    first = "1" if "1" in field else "0"
    power += first == "0"
    value = Fraction(int(first + mantissa, 2), 2**m) * Fraction(2) ** power
    return -value if sign == "1" else value


@pytest.mark.parametrize("e, m", [(3, 2), (5, 2), (4, 3), (2, 5), (6, 1),
                                  (5, 10)])
def test_decode_reads_the_bits(e, m):
    for code in range(2 ** (1 + e + m)):
        got, want = CHAPTER.decode(code, e, m), by_the_bits(code, e, m)
        if isinstance(want, str):
            assert str(got) == want
        else:
            assert Fraction(got) == want == Fraction(
                CHAPTER.finite_number(code, e, m))


def test_e4m3_has_numbers_in_place_of_infinity():
    for code in range(256):
        got = CHAPTER.decode_e4m3(code)
        if code in (127, 255):
            assert math.isnan(got)
        else:
            assert got == CHAPTER.finite_number(code, 4, 3)
            want = by_the_bits(code, 4, 3)
            assert isinstance(want, str) or got == want
    top = [CHAPTER.decode_e4m3(code) for code in range(120, 127)]
    assert top == [256, 288, 320, 352, 384, 416, 448]


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
    limit, edge = 3.3, CHAPTER.edge
    last = edge(lambda x: x.item() < limit, 0.0, 100.0, dtype)
    after = torch.nextafter(torch.tensor(last, dtype=dtype),
                            torch.tensor(100.0, dtype=dtype))
    assert last < limit <= after.item()
    assert edge(lambda x: x.item() > -limit, 0.0, -100.0, dtype) == -last


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_exp_and_squares_end_where_the_table_says(dtype):
    info = torch.finfo(dtype)
    high = CHAPTER.edge(lambda x: torch.exp(x) < torch.inf, 0, 1024, dtype)
    assert 0 <= math.log(info.max) - high <= high * info.eps + 1e-9
    top = info.max ** 0.5
    square = CHAPTER.edge(lambda x: x * x < torch.inf, 1.0, info.max, dtype)
    assert abs(square / top - 1) <= info.eps


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_three_probabilities(dtype):
    c = torch.tensor(-2.0, dtype=dtype)
    got = CHAPTER.three_probabilities(c)
    want = exact_softmax([1, 2, 3])
    assert got.dtype == dtype
    np.testing.assert_allclose(
        got.double(), want, rtol=4 * torch.finfo(dtype).eps)


def test_over_rms_is_torchs_rms_norm():
    X = np.random.default_rng(6).normal(size=(2, 3, 7)) * [[[0.1], [1], [99]]]
    want = torch.nn.functional.rms_norm(torch.tensor(X), (7,), eps=0.0)
    np.testing.assert_allclose(CHAPTER.over_rms(X), want, rtol=1e-12)
    with np.errstate(over="ignore"):
        zeros = CHAPTER.over_rms(np.float16([1, 300]))
    assert zeros.dtype == np.float16 and not zeros.any()


@pytest.mark.parametrize("name", ["naive_norm", "scaled_norm"])
def test_norms(name):
    norm = getattr(CHAPTER, name)
    X = np.random.default_rng(7).normal(size=(3, 4, 5))
    X *= [[[1e-3]], [[1]], [[9]]]
    np.testing.assert_allclose(norm(X), np.linalg.norm(X, axis=-1))
    half = norm(np.float16([[3, -4], [0.75, 1]]))
    assert half.dtype == np.float16 and half.tolist() == [5, 1.25]


def test_only_one_norm_overflows():
    big = 1e200 * np.random.default_rng(8).normal(size=(20, 6))
    with np.errstate(over="ignore"):
        assert np.isinf(CHAPTER.naive_norm(big)).all()
    want = [float(sum(Fraction(float(x)) ** 2 for x in row) / Fraction(10)**400
                  ) ** 0.5 for row in big]
    np.testing.assert_allclose(CHAPTER.scaled_norm(big) / 1e200, want)


def test_answer_1_1_by_torch():
    for dtype, e, m in ((torch.float8_e5m2, 5, 2), (torch.float16, 5, 10),
                        (torch.bfloat16, 8, 7), (torch.float32, 8, 23)):
        info = torch.finfo(dtype)
        smallest = info.smallest_normal * info.eps
        top = torch.tensor(info.max, dtype=torch.float64)
        got = CHAPTER.limits(e, m)
        assert got[:3] == [info.max, smallest, info.eps / 2]
        assert got[3] == info.eps * 2.0 ** math.floor(math.log2(info.max))
        assert math.isclose(got[4], top.log().item())
        assert math.isclose(math.exp(got[5]) * 2, smallest, rel_tol=1e-12)
    assert CHAPTER.limits(3, 4)[:4] == [15.5, 2**-6, 2**-5, 0.5]


def test_answer_1_3_by_every_float16():
    one, zero, gradient = CHAPTER.saturation()
    grid = np.arange(2**15, dtype=np.uint16).view(np.float16)   # in order
    grid = grid[grid < 20]                          # all of float16 up to 20
    loser = np.exp(-grid.astype(float)).astype(np.float16)
    total = (1 + loser.astype(float)).astype(np.float16)
    assert one == grid[np.argmax(total == 1)] == 7.625
    assert zero == grid[np.argmax(loser == 0)] == 17.34375
    assert gradient == 0 < loser[grid == 10]
    assert np.all(total[grid >= 7.625] == 1)


def test_answer_1_4_by_trying():
    def first_row(g):
        scores = np.array([[0, 1], [g, g + 1]], dtype=np.float16)
        with np.errstate(invalid="ignore"):
            return CHAPTER.global_max_softmax(scores)[0].astype(float)

    want = exact_softmax([0, 1])
    nan_from, off_from, larger = CHAPTER.quiet_failure()
    rows = [first_row(g) for g in range(40)]
    assert nan_from == min(g for g in range(40) if np.isnan(rows[g]).any())
    assert off_from == min(g for g in range(40)
                           if np.abs(rows[g] - want).max() > 0.1)
    assert np.isfinite(rows[off_from]).all()
    assert abs(larger - rows[16].max()) < 1e-3
