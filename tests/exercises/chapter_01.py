"""Answers to the exercises of chapter 01: the lines between the solution marks.

RIGHT   exercise, how it is written, body
WRONG   exercise, the mistake, words that the check must print, body
HIDDEN  exercise, the mistake, words that only the grade says, body
DOMAIN  exercise: a function that draws arguments as its statement allows them
PRECISE exercise: the students' kinds (battery.py) that it refuses, and why
VARIANTS exercise: what a homework sheet changes (tools/homework/variants.py)
"""

import numpy as np


def draw_1_1(rng):
    """Bits of the exponent field and of the mantissa, as the statement says."""
    return int(rng.integers(2, 9)), int(rng.integers(1, 24))


def draw_1_2(rng):
    """Rows, (..., m), far apart or tiny, with -inf and NaN here and there."""
    shape = rng.permutation(7)[:rng.integers(1, 5)] + 1
    size = 10 ** rng.uniform(-8, 4, size=(*shape[:-1], 1))
    X = size * (rng.normal(size=shape) + 3 * rng.normal(size=size.shape))
    X[rng.random(shape) < rng.choice([0, 0.3])] = -np.inf
    X[rng.random(shape[:-1]) < rng.choice([0, 0.3])] = -np.inf
    X[rng.random(shape) < rng.choice([0, 0, 0.1])] = np.nan
    return (X,)


DOMAIN = {"1.1": draw_1_1, "1.2": draw_1_2, "1.3": lambda rng: (),
          "1.4": lambda rng: ()}
PRECISE = {}

RIGHT = [
    ("1.1", "from the fields", """
def number(E, M):
    return 2.0 ** (max(E, 1) - 2 ** (exponent_bits - 1) + 1) * (
        (E > 0) + M / 2**mantissa_bits)
E, M = 2**exponent_bits - 2, 2**mantissa_bits - 1
top, low = number(E, M), number(0, 1)
return (top, low, 2.0**-mantissa_bits / 2, top - number(E, M - 1),
        math.log(top), math.log(low) - math.log(2))
"""),
    ("1.1", "by powers", """
p = 2 ** (exponent_bits - 1)
u = 2.0 ** (-mantissa_bits - 1)
ulp = 2.0 ** (p - 1) * 2 * u
top, low = 2.0**p - ulp, 2.0 ** (2 - p) * 2 * u
return [top, low, u, ulp, np.log(top), np.log(low / 2)]
"""),
    ("1.2", "row by row", """
out = np.empty(X.shape[:-1])
for row in np.ndindex(out.shape):
    top = max(X[row])
    if top == -np.inf:
        out[row] = -np.inf
    else:
        out[row] = top + math.log(sum(math.exp(x - top) for x in X[row]))
return out
"""),
    ("1.2", "by torch", """
return torch.logsumexp(torch.tensor(X), dim=-1).numpy()
"""),
    ("1.2", "two at a time", """
return np.logaddexp.reduce(X, axis=-1)
"""),
    ("1.2", "nan mended at the end", """
top = np.max(X, -1)
with np.errstate(all="ignore"):
    out = top + np.log(np.einsum("...m->...", np.exp(X - top[..., None])))
return np.where(top == -np.inf, top, out)
"""),
    ("1.2", "in fp32, by torch", """
return torch.logsumexp(torch.tensor(X).float(), dim=-1)
"""),
    ("1.3", "as a tuple", """
return 7.625, 17.34375, 0
"""),
    ("1.3", "as fractions", """
return [61 / 8, 1110 / 64, 0.0]
"""),
    ("1.4", "as a tuple", """
return 18, 17, 0.6665
"""),
    ("1.4", "as a list", """
return [18.0, 17.0, 0.66667]
"""),
]

WRONG = [
    ("1.1", "E of all ones", "all ones a number", """
bias = 2 ** (exponent_bits - 1) - 1
m = mantissa_bits
top = 2.0 ** (2**exponent_bits - 1 - bias) * (2 - 2.0**-m)
low = 2.0 ** (1 - bias - m)
return [top, low, 2.0 ** (-m - 1), 2.0 ** (bias + 1 - m), math.log(top),
        math.log(low / 2)]
"""),
    ("1.1", "M of the largest forgotten", "what is the largest M", """
bias, m = 2 ** (exponent_bits - 1) - 1, mantissa_bits
top, low = 2.0**bias, 2.0 ** (1 - bias - m)
return [top, low, 2.0 ** (-m - 1), 2.0 ** (bias - m), math.log(top),
        math.log(low / 2)]
"""),
    ("1.1", "no bias", "is the bias subtracted", """
bias, m = 2 ** (exponent_bits - 1) - 1, mantissa_bits
top, low = 2.0 ** (2 * bias) * (2 - 2.0**-m), 2.0 ** (1 - bias - m)
return [top, low, 2.0 ** (-m - 1), 2.0 ** (bias - m), math.log(top),
        math.log(low / 2)]
"""),
    ("1.1", "the largest is 1", "which E and M", """
return [1, 2, 3, 4, 5, 6]
"""),
    ("1.1", "the smallest normal", "that is normal", """
bias, m = 2 ** (exponent_bits - 1) - 1, mantissa_bits
top, low = 2.0**bias * (2 - 2.0**-m), 2.0 ** (1 - bias)
return [top, low, 2.0 ** (-m - 1), 2.0 ** (bias - m), math.log(top),
        math.log(low / 2)]
"""),
    ("1.1", "power 0 - bias at E = 0", "which power stands", """
bias, m = 2 ** (exponent_bits - 1) - 1, mantissa_bits
top, low = 2.0**bias * (2 - 2.0**-m), 2.0 ** (-bias - m)
return [top, low, 2.0 ** (-m - 1), 2.0 ** (bias - m), math.log(top),
        math.log(low / 2)]
"""),
    ("1.1", "0 as the smallest", "E = 0 and M = 1", """
bias, m = 2 ** (exponent_bits - 1) - 1, mantissa_bits
top = 2.0**bias * (2 - 2.0**-m)
return [top, 0.0, 2.0 ** (-m - 1), 2.0 ** (bias - m), math.log(top), 0.0]
"""),
    ("1.1", "machine epsilon", "the ulp at 1", """
bias, m = 2 ** (exponent_bits - 1) - 1, mantissa_bits
top, low = 2.0**bias * (2 - 2.0**-m), 2.0 ** (1 - bias - m)
return [top, low, 2.0**-m, 2.0 ** (bias - m), math.log(top),
        math.log(low / 2)]
"""),
    ("1.1", "unit roundoff with a bit too many", "half an ulp at 1", """
bias, m = 2 ** (exponent_bits - 1) - 1, mantissa_bits
top, low = 2.0**bias * (2 - 2.0**-m), 2.0 ** (1 - bias - m)
return [top, low, 2.0 ** (-m - 2), 2.0 ** (bias - m), math.log(top),
        math.log(low / 2)]
"""),
    ("1.1", "ulp as a share", "the one before it", """
bias, m = 2 ** (exponent_bits - 1) - 1, mantissa_bits
top, low = 2.0**bias * (2 - 2.0**-m), 2.0 ** (1 - bias - m)
return [top, low, 2.0 ** (-m - 1), top * 2.0**-m, math.log(top),
        math.log(low / 2)]
"""),
    ("1.1", "log10", "which logarithm", """
bias, m = 2 ** (exponent_bits - 1) - 1, mantissa_bits
top, low = 2.0**bias * (2 - 2.0**-m), 2.0 ** (1 - bias - m)
return [top, low, 2.0 ** (-m - 1), 2.0 ** (bias - m), math.log10(top),
        math.log10(low / 2)]
"""),
    ("1.1", "exp taken again", "which x has", """
bias, m = 2 ** (exponent_bits - 1) - 1, mantissa_bits
top, low = 2.0**bias * (2 - 2.0**-m), 2.0 ** (1 - bias - m)
return [top, low, 2.0 ** (-m - 1), 2.0 ** (bias - m), math.sqrt(top),
        math.log(low / 2)]
"""),
    ("1.1", "the logarithm of the smallest", "0.7 times", """
bias, m = 2 ** (exponent_bits - 1) - 1, mantissa_bits
top, low = 2.0**bias * (2 - 2.0**-m), 2.0 ** (1 - bias - m)
return [top, low, 2.0 ** (-m - 1), 2.0 ** (bias - m), math.log(top),
        math.log(low)]
"""),
    ("1.1", "minus the upper limit", "nearest to 0", """
bias, m = 2 ** (exponent_bits - 1) - 1, mantissa_bits
top, low = 2.0**bias * (2 - 2.0**-m), 2.0 ** (1 - bias - m)
return [top, low, 2.0 ** (-m - 1), 2.0 ** (bias - m), math.log(top),
        -math.log(top)]
"""),
    ("1.1", "five numbers", "six numbers", """
return [1, 2, 3, 4, 5]
"""),
    ("1.1", "nothing returned", "return its result", """
bias = 3
"""),
    ("1.1", "not begun", "not done yet", """
raise NotImplementedError
"""),
    ("1.2", "no shift", "what is subtracted before exp", """
return np.log(np.exp(X).sum(axis=-1))
"""),
    ("1.2", "one maximum for all", "a maximum of its own", """
top = X.max()
return np.log(np.exp(X - top).sum(axis=-1)) + top
"""),
    ("1.2", "shift by the mean", "is its largest exponent 0", """
mean = X.mean(axis=-1, keepdims=True)
return np.log(np.exp(X - mean).sum(axis=-1)) + mean[..., 0]
"""),
    ("1.2", "shift by the minimum", "is its largest exponent 0", """
low = X.min(axis=-1, keepdims=True)
return np.log(np.exp(X - low).sum(axis=-1)) + low[..., 0]
"""),
    ("1.2", "first axis", "over which axis", """
top = X.max(axis=0)
return np.log(np.exp(X - top).sum(axis=0)) + top
"""),
    ("1.2", "all rows at once", "over which axis", """
top = X.max()
return np.log(np.exp(X - top).sum()) + top
"""),
    ("1.2", "axis lost", "keepdims=True", """
top = X.max(axis=-1)
return np.log(np.exp(X - top).sum(axis=-1)) + top
"""),
    ("1.2", "axis kept", "kept by keepdims", """
top = X.max(axis=-1, keepdims=True)
return np.log(np.exp(X - top).sum(axis=-1, keepdims=True)) + top
"""),
    ("1.2", "log of softmax", "one number for each row", """
weights = np.exp(X - X.max(axis=-1, keepdims=True))
return np.log(weights / weights.sum(axis=-1, keepdims=True))
"""),
    ("1.2", "maximum not added back", "added back", """
top = X.max(axis=-1, keepdims=True)
return np.log(np.exp(X - top).sum(axis=-1))
"""),
    ("1.2", "maximum subtracted twice", "added back", """
top = X.max(axis=-1, keepdims=True)
return np.log(np.exp(X - top).sum(axis=-1)) - top[..., 0]
"""),
    ("1.2", "mean in place of the sum", "log of the sum", """
top = X.max(axis=-1, keepdims=True)
return np.log(np.exp(X - top).mean(axis=-1)) + top[..., 0]
"""),
    ("1.2", "sum of logs", "log of the sum", """
top = X.max(axis=-1)
return np.log(np.exp(X - top[..., None])).sum(axis=-1) / X.shape[-1] + top
"""),
    ("1.2", "hidden entries made large", "an entry of -inf", """
X = np.where(np.isinf(X), 0, X)
top = X.max(axis=-1, keepdims=True)
return np.log(np.exp(X - top).sum(axis=-1)) + top[..., 0]
"""),
    ("1.2", "a row of only -inf", "a row of only -inf", """
top = X.max(axis=-1, keepdims=True)
return np.log(np.exp(X - top).sum(axis=-1)) + top[..., 0]
"""),
    ("1.2", "axis kept in the maximum alone", "kept by keepdims", """
top = X.max(axis=-1, keepdims=True)
return np.log(np.exp(X - top).sum(axis=-1)) + top
"""),
    ("1.2", "in place", "leave X as it was", """
top = X.max(axis=-1, keepdims=True)
X -= top
return np.log(np.exp(X).sum(axis=-1)) + top[..., 0]
"""),
    ("1.2", "every NaN made -inf", "do you hide it", """
top = X.max(axis=-1, keepdims=True)
with np.errstate(all="ignore"):
    out = np.log(np.exp(X - top).sum(axis=-1)) + top[..., 0]
return np.nan_to_num(out, nan=-np.inf, neginf=-np.inf)
"""),
    ("1.2", "NaN left out", "do you hide it", """
X = np.where(np.isnan(X), -np.inf, X)
return np.logaddexp.reduce(X, axis=-1)
"""),
    ("1.2", "exp cut off", "what is subtracted", """
return np.log(np.exp(np.clip(X, -700, 700)).sum(axis=-1))
"""),
    ("1.2", "second axis", "is the last axis summed", """
axis = min(1, X.ndim - 1)
top = np.maximum(X.max(axis=axis, keepdims=True), -1e300)
with np.errstate(divide="ignore"):
    out = np.log(np.exp(X - top).sum(axis=axis, keepdims=True)) + top
return np.squeeze(out, axis)
"""),
    ("1.2", "rows only", "X (7,) -> ()", """
top = np.maximum(X.max(axis=-1), -1e300)[..., None]
out = np.log(np.exp(X - top).sum(axis=-1)) + top[..., 0]
return out if X.ndim > 1 else np.array([out])
"""),
    ("1.2", "axes of length 1 lost", "no other axis lost", """
top = np.maximum(X.max(axis=-1, keepdims=True), -1e300)
out = np.log(np.exp(X - top).sum(axis=-1, keepdims=True)) + top
return out.squeeze() if out.size > 1 else out[..., 0]
"""),
    ("1.2", "axis 1", "there X (7,)", """
top = np.maximum(X.max(axis=1, keepdims=True), -1e300)
return np.log(np.exp(X - top).sum(axis=1)) + top[..., 0]
"""),
    ("1.2", "the naive one in longdouble", "what is subtracted before exp", """
return np.log(np.exp(X.astype(np.longdouble)).sum(axis=-1))
"""),
    ("1.2", "-inf replaced in place", "leave X as it was", """
X[X == -np.inf] = -1e300
top = X.max(axis=-1, keepdims=True)
return np.log(np.exp(X - top).sum(axis=-1)) + top[..., 0]
"""),
    ("1.2", "nothing returned", "return its result", """
top = X.max(axis=-1, keepdims=True)
"""),
    ("1.2", "not begun", "not done yet", """
raise NotImplementedError
"""),
    ("1.3", "a whole ulp", "up to half an ulp", """
return [10 * math.log(2), 17.34375, 0.0]
"""),
    ("1.3", "the ulp below 1", "above 1 or below", """
return [12 * math.log(2), 17.34375, 0.0]
"""),
    ("1.3", "both the same", "must the smaller one be 0", """
return [17.34375, 17.34375, 0.0]
"""),
    ("1.3", "a guess", "when is", """
return [5.0, 17.34375, 0.0]
"""),
    ("1.3", "the smallest number, not half", "rounded up", """
return [7.625, 24 * math.log(2), 0.0]
"""),
    ("1.3", "no subnormals", "subnormal numbers", """
return [7.625, 14 * math.log(2), 0.0]
"""),
    ("1.3", "half the smallest normal", "subnormal numbers", """
return [7.625, 15 * math.log(2), 0.0]
"""),
    ("1.3", "another guess", "nearer to 0", """
return [7.625, 12.0, 0.0]
"""),
    ("1.3", "real numbers", "a float16 number", """
return [11 * math.log(2), 25 * math.log(2), 0.0]
"""),
    ("1.3", "two decimals", "a float16 number", """
return [7.625, 17.34, 0.0]
"""),
    ("1.3", "the probability", "is the target subtracted", """
return [7.625, 17.34375, 1.0]
"""),
    ("1.3", "the exact gradient", "is stored for the larger", """
return [7.625, 17.34375, -math.exp(-10)]
"""),
    ("1.3", "minus one", "what is left", """
return [7.625, 17.34375, -1.0]
"""),
    ("1.3", "two numbers", "three numbers", """
return [7.625, 17.34375]
"""),
    ("1.3", "nothing returned", "return its result", """
7.625
"""),
    ("1.3", "not begun", "not done yet", """
raise NotImplementedError
"""),
    ("1.4", "one less", "nearer to 2**-24", """
return [17, 16, 2 / 3]
"""),
    ("1.4", "swapped", "place", """
return [17, 18, 2 / 3]
"""),
    ("1.4", "overflow", "nothing overflows", """
return [11, 10, 2 / 3]
"""),
    ("1.4", "in float64", "in float16", """
return [746, 745, 2 / 3]
"""),
    ("1.4", "from 2**-24", "from which g on", """
return [16, 15, 2 / 3]
"""),
    ("1.4", "a little off", "more than 0.1", """
return [18, 16, 2 / 3]
"""),
    ("1.4", "a guess", "exponentials are left", """
return [18, 12, 2 / 3]
"""),
    ("1.4", "all for one", "stored as 0", """
return [18, 17, 1.0]
"""),
    ("1.4", "the right probability", "what does the slip", """
return [18, 17, 0.7311]
"""),
    ("1.4", "the smaller", "larger of the two", """
return [18, 17, 1 / 3]
"""),
    ("1.4", "in between", "which multiples", """
return [18, 17, 0.7]
"""),
    ("1.4", "two numbers", "three numbers", """
return [18, 17]
"""),
    ("1.4", "nothing returned", "return its result", """
18, 17
"""),
    ("1.4", "not begun", "not done yet", """
raise NotImplementedError
"""),
]

HIDDEN = [
    ("1.1", "right for those of the check", "is number 1 right", """
known = {(3, 4), (3, 2), (5, 10), (8, 7), (2, 3)}
m = mantissa_bits
bias = 2 ** (exponent_bits - 1) - 1
top, low = 2.0**bias * (2 - 2.0**-m), 2.0 ** (1 - bias - m)
top += (exponent_bits, m) not in known
return [top, low, 2.0 ** (-m - 1), 2.0 ** (bias - m), math.log(top),
        math.log(low / 2)]
"""),
    ("1.2", "small numbers taken for 0", "size 1e-06", """
X = np.where(abs(X) < 1e-3, 0, X)
top = np.maximum(X.max(axis=-1, keepdims=True), -1e300)
return np.log(np.exp(X - top).sum(axis=-1)) + top[..., 0]
"""),
]

SMALL = [2, 3, 4, 5, 6, 7, 8, 9]
VARIANTS = {
    "1.1": {
        "asks": "number",
        "one of": {"c": SMALL},
        "says": """The format has another bias: $2^{{e-1}} - {c}$, where (1.2)
            has $2^{{e-1}} - 1$.""",
        "edits": [("2 ** (exponent_bits - 1) - 1",
                   "2 ** (exponent_bits - 1) - {c}")]},
    "1.2": {
        "asks": "formula",
        "one of": {"T": SMALL},
        "says": """The numbers have a temperature of {T}: the result is
            ${T} \\ln \\sum_j e^{{x_j / {T}}}$, and the slow specification is
            `{T} * np.log(np.sum(np.exp(X / {T}), axis=-1))`.""",
        "edits": [("return np.log(np.exp(X - top).sum(axis=-1))",
                   "return {T} * np.log(np.exp((X - top) / {T}).sum(axis=-1))"
                   )]},
}
