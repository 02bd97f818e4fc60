"""Answers to the exercises of chapter 01: the lines between the solution marks.

RIGHT   exercise, how it is written, body
WRONG   exercise, the mistake, words that the check must print, body
HIDDEN  exercise, the mistake, words that only the grade says, body
DOMAIN  exercise: a function that draws arguments as its statement allows them
PRECISE exercise: the students' kinds (battery.py) that it refuses, and why
"""

import numpy as np


def draw_1_2(rng):
    """Rows, (..., m), far apart or tiny, with -inf and NaN here and there."""
    shape = rng.permutation(7)[:rng.integers(1, 5)] + 1
    size = 10 ** rng.uniform(-8, 4, size=(*shape[:-1], 1))
    X = size * (rng.normal(size=shape) + 3 * rng.normal(size=size.shape))
    X[rng.random(shape) < rng.choice([0, 0.3])] = -np.inf
    X[rng.random(shape[:-1]) < rng.choice([0, 0.3])] = -np.inf
    X[rng.random(shape) < rng.choice([0, 0, 0.1])] = np.nan
    return (X,)


def describe(X):
    """Count, mean and M of the blocks along the last axis, none empty."""
    mean = X.mean(axis=-1)
    return X.shape[-1], mean, np.sum((X - mean[..., None]) ** 2, axis=-1)


def draw_1_3(rng):
    """Two blocks for each token, (...): one at times empty, of 1, or alike."""
    shape = rng.permutation(6)[:rng.integers(0, 4)] + 1
    mean = rng.normal(size=shape)[..., None] * 10 ** rng.uniform(-3, 8)
    blocks = []
    for n in rng.permutation([1, 2, *rng.integers(1, 40, size=3)])[:2]:
        X = mean + 10 ** rng.uniform(-1, 2) * (
            rng.normal(size=(*shape, n)) + rng.normal())
        if rng.random() < 0.2:
            X = X - X.mean(axis=-1, keepdims=True)
        if rng.random() < 0.2:
            X = np.repeat(X[..., :1], n, axis=-1)
        count, mean_of_it, M = describe(X)
        blocks.append((int(count), np.asarray(mean_of_it), np.asarray(M)))
    if rng.random() < 0.3:
        empty = 0, np.zeros(shape), np.zeros(shape)
        blocks[rng.integers(2)] = empty
    return tuple(blocks)


def draw_1_6(rng):
    """Numbers of one format, some powers of 2 apart, as few as one."""
    dtype = rng.choice([np.float16, np.float32, np.float64])
    n = rng.choice([1, 2, 3, rng.integers(4, 40), rng.integers(40, 300)])
    x = rng.normal(size=n) * 2.0 ** rng.integers(-9, 10, size=n)
    return (x.astype(dtype),)


DOMAIN = {"1.2": draw_1_2, "1.3": draw_1_3, "1.6": draw_1_6}
PRECISE = {
    "1.3": "in float32: means may be 1e8 with a variance of 1",
    "1.6": "in float32: every addition is made in the format of x",
}

RIGHT = [
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
    ("1.3", "weighted means", """
n = a[0] + b[0]
mean = (a[0] * a[1] + b[0] * b[1]) / n
M = a[2] + b[2] + a[0] * (a[1] - mean) ** 2 + b[0] * (b[1] - mean) ** 2
return n, mean, M
"""),
    ("1.3", "a list, empty blocks first", """
if a[0] == 0:
    return b
if b[0] == 0:
    return a
half = 1 / (1 / a[0] + 1 / b[0])
apart = b[1] - a[1]
return [a[0] + b[0], a[1] + apart * half / a[0], a[2] + b[2] + apart**2 * half]
"""),
    ("1.3", "by torch", """
n_a, mean_a, M_a = map(torch.as_tensor, a)
n_b, mean_b, M_b = map(torch.as_tensor, b)
n = n_a + n_b
apart = mean_b - mean_a
return (n, mean_a + apart * n_b / n,
        M_a + M_b + apart.square() * n_a * n_b / n)
"""),
    ("1.6", "bounds, no slices", """
def between(start, stop):
    if stop - start == 1:
        return x[start]
    middle = (start + stop) // 2
    return between(start, middle) + between(middle, stop)
return between(0, len(x))
"""),
    ("1.6", "split, from an empty first half", """
first, others = np.split(x, [x.size // 2])
if not first.size:
    return others.sum()
return pairwise_sum(first) + pairwise_sum(others)
"""),
    ("1.6", "by torch", """
x = torch.tensor(x)
def tree(x):
    if len(x) < 2:
        return x[0]
    return tree(x[:len(x) // 2]) + tree(x[len(x) // 2:])
return tree(x).numpy()
"""),
]

WRONG = [
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
    ("1.3", "mean of means", "larger weight", """
n = a[0] + b[0]
return n, (a[1] + b[1]) / 2, a[2] + b[2]
"""),
    ("1.3", "weights swapped", "larger weight", """
n = a[0] + b[0]
mean = (a[0] * b[1] + b[0] * a[1]) / n
return n, mean, a[2] + b[2] + (b[1] - a[1]) ** 2 * a[0] * b[0] / n
"""),
    ("1.3", "distance of the means forgotten", "distances enter M", """
n = a[0] + b[0]
return n, (a[0] * a[1] + b[0] * b[1]) / n, a[2] + b[2]
"""),
    ("1.3", "distance not squared", "squared and counted", """
n = a[0] + b[0]
M = a[2] + b[2] + (b[1] - a[1]) * a[0] * b[0] / n
return n, (a[0] * a[1] + b[0] * b[1]) / n, M
"""),
    ("1.3", "distance not counted", "squared and counted", """
n = a[0] + b[0]
M = a[2] + b[2] + (b[1] - a[1]) ** 2 / n
return n, (a[0] * a[1] + b[0] * b[1]) / n, M
"""),
    ("1.3", "each mean half way", "unequal size", """
n = a[0] + b[0]
M = a[2] + b[2] + (b[1] - a[1]) ** 2 * n / 4
return n, (a[0] * a[1] + b[0] * b[1]) / n, M
"""),
    ("1.3", "large squares", "one large square from another", """
n = a[0] + b[0]
mean = (a[0] * a[1] + b[0] * b[1]) / n
squares = a[2] + a[0] * a[1] ** 2 + b[2] + b[0] * b[1] ** 2
return n, mean, squares - n * mean**2
"""),
    ("1.3", "variance in place of M", "without a division", """
n = a[0] + b[0]
mean = (a[0] * a[1] + b[0] * b[1]) / n
M = a[2] + b[2] + (b[1] - a[1]) ** 2 * a[0] * b[0] / n
return n, mean, M / n
"""),
    ("1.3", "weighted M", "without a division", """
n = a[0] + b[0]
mean = (a[0] * a[1] + b[0] * b[1]) / n
M = (a[0] * a[2] + b[0] * b[2]) / n + (b[1] - a[1]) ** 2 * a[0] * b[0] / n
return n, mean, M
"""),
    ("1.3", "count of one", "the count of 7 and 16", """
n = max(a[0], b[0])
return n, a[1], a[2]
"""),
    ("1.3", "a pair", "a triple", """
n = a[0] + b[0]
return n, (a[0] * a[1] + b[0] * b[1]) / n
"""),
    ("1.3", "M alone", "a triple", """
n = a[0] + b[0]
return a[2] + b[2] + (b[1] - a[1]) ** 2 * a[0] * b[0] / n
"""),
    ("1.3", "M before the mean", "the order n, mean, M", """
n = a[0] + b[0]
mean = (a[0] * a[1] + b[0] * b[1]) / n
return n, a[2] + b[2] + (b[1] - a[1]) ** 2 * a[0] * b[0] / n, mean
"""),
    ("1.3", "the count last", "the order n, mean, M", """
n = a[0] + b[0]
mean = (a[0] * a[1] + b[0] * b[1]) / n
return mean, a[2] + b[2] + (b[1] - a[1]) ** 2 * a[0] * b[0] / n, n
"""),
    ("1.3", "in fp32", "at mean 1e8", """
n = a[0] + b[0]
mean = np.float32((a[0] * a[1] + b[0] * b[1]) / n)
M = a[2] + b[2] + a[0] * (a[1] - mean) ** 2 + b[0] * (b[1] - mean) ** 2
return n, mean, M
"""),
    ("1.3", "the wrong block when one is empty", "empty block", """
n = a[0] + b[0]
if not a[0] or not b[0]:
    return a
mean = (a[0] * a[1] + b[0] * b[1]) / n
return n, mean, a[2] + b[2] + (b[1] - a[1]) ** 2 * a[0] * b[0] / n
"""),
    ("1.3", "a division by each count", "one block is empty", """
n = a[0] + b[0]
harmonic = 1 / (1 / a[0] + 1 / b[0])
mean = (a[0] * a[1] + b[0] * b[1]) / n
return n, mean, a[2] + b[2] + (b[1] - a[1]) ** 2 * harmonic
"""),
    ("1.3", "numbers only", "its own entry", """
n = a[0] + b[0]
apart = math.fsum([b[1], -a[1]]) if np.ndim(b[1]) == 0 else b[1].max()
mean = a[1] + apart * b[0] / n
return n, mean, a[2] + b[2] + apart**2 * a[0] * b[0] / n
"""),
    ("1.3", "in place", "as they were", """
(n_a, mean_a, M_a), (n_b, mean_b, M_b) = a, b
n, apart = n_a + n_b, mean_b - mean_a
mean_a += apart * n_b / n
M_a += M_b + apart**2 * n_a * n_b / n
return n, mean_a, M_a
"""),
    ("1.3", "spread over tokens", "its own entry", """
n = a[0] + b[0]
mean = (a[0] * a[1] + b[0] * b[1]) / n
M = a[2] + b[2] + np.mean((b[1] - a[1]) ** 2) * a[0] * b[0] / n
return n, mean, M
"""),
    ("1.3", "one number fewer", "what do you divide by", """
(n_a, mean_a, M_a), (n_b, mean_b, M_b) = a, b
n, apart = n_a + n_b, mean_b - mean_a
return (n, mean_a + apart * n_b / (n - 1),
        M_a + M_b + apart**2 * n_a * n_b / n)
"""),
    ("1.3", "a distance without its sign", "keep its sign", """
(n_a, mean_a, M_a), (n_b, mean_b, M_b) = a, b
n, apart = n_a + n_b, abs(mean_b - mean_a)
return n, mean_a + apart * n_b / n, M_a + M_b + apart**2 * n_a * n_b / n
"""),
    ("1.3", "no division by zero", "the other one left as it is", """
(n_a, mean_a, M_a), (n_b, mean_b, M_b) = a, b
n, apart = n_a + n_b, mean_b - mean_a
return (n, mean_a + apart * n_b / (n + 1e-9),
        M_a + M_b + apart**2 * n_a * n_b / (n + 1e-9))
"""),
    ("1.3", "empty when the mean is 0", "is not empty", """
if np.all(a[1] == 0):
    return b
if np.all(b[1] == 0):
    return a
n = a[0] + b[0]
mean = (a[0] * a[1] + b[0] * b[1]) / n
return n, mean, a[2] + b[2] + (b[1] - a[1]) ** 2 * a[0] * b[0] / n
"""),
    ("1.3", "empty when mean and M are 0", "is not empty", """
if not np.any(a[1]) and not np.any(a[2]):
    return b
n = a[0] + b[0]
mean = (a[0] * a[1] + b[0] * b[1]) / n
return n, mean, a[2] + b[2] + (b[1] - a[1]) ** 2 * a[0] * b[0] / n
"""),
    ("1.3", "nothing returned", "return its result", """
n = a[0] + b[0]
"""),
    ("1.3", "not begun", "not done yet", """
raise NotImplementedError
"""),
    ("1.6", "running sum", "halves of its own", """
return running_sum(x)
"""),
    ("1.6", "one less at a time", "halves of its own", """
return x[0] if len(x) == 1 else pairwise_sum(x[:-1]) + x[-1]
"""),
    ("1.6", "running sum of the halves", "halves of its own", """
half = len(x) // 2
return x[0] if half == 0 else running_sum(x[:half]) + running_sum(x[half:])
"""),
    ("1.6", "a number lost between the halves", "exactly once", """
if len(x) <= 1:
    return x[0] if len(x) else 0
return pairwise_sum(x[:len(x) // 2]) + pairwise_sum(x[len(x) // 2 + 1:])
"""),
    ("1.6", "a number twice", "exactly once", """
if len(x) < 3:
    return x[0] if len(x) == 1 else x[0] + x[1]
return pairwise_sum(x[:len(x) // 2 + 1]) + pairwise_sum(x[len(x) // 2:])
"""),
    ("1.6", "the odd one lost", "exactly once", """
x = [*x]
while len(x) > 1:
    x = [a + b for a, b in zip(x[::2], x[1::2])]
return x[0]
"""),
    ("1.6", "no end", "does the halving end", """
half = len(x) // 2
return pairwise_sum(x[:half]) + pairwise_sum(x[half:])
"""),
    ("1.6", "neighbours first", "the shorter one", """
x = [*x]
while len(x) > 1:
    tail = x[-1:] if len(x) % 2 else []
    x = [a + b for a, b in zip(x[::2], x[1::2])] + tail
return x[0]
"""),
    ("1.6", "folded halves", "the shorter one", """
x = np.array(x)
while x.size > 1:
    odd = x[-1:] if x.size % 2 else x[:0]
    half = x.size // 2
    x = np.concatenate([x[:half] + x[half:2 * half], odd])
return x[0]
"""),
    ("1.6", "even and odd places", "the shorter one", """
if len(x) == 1:
    return x[0]
return pairwise_sum(x[::2]) + pairwise_sum(x[1::2])
"""),
    ("1.6", "the longer half first", "the shorter one", """
if len(x) == 1:
    return x[0]
half = (len(x) + 1) // 2
return pairwise_sum(x[:half]) + pairwise_sum(x[half:])
"""),
    ("1.6", "a power of two first", "the shorter one", """
if len(x) == 1:
    return x[0]
half = 2 ** ((len(x) - 1).bit_length() - 1)
return pairwise_sum(x[:half]) + pairwise_sum(x[half:])
"""),
    ("1.6", "a Python float", "format of x", """
def tree(x):
    half = len(x) // 2
    return x[0] if half == 0 else tree(x[:half]) + tree(x[half:])
return float(tree(x))
"""),
    ("1.6", "fp32 made fp64", "has the result the format", """
def tree(x):
    half = len(x) // 2
    return x[0] if half == 0 else tree(x[:half]) + tree(x[half:])
return tree(x if x.dtype == np.float16 else x.astype(np.float64))
"""),
    ("1.6", "a wider format", "format of x", """
return x.astype(np.float64).sum().astype(x.dtype)
"""),
    ("1.6", "starts from a Python zero in fp64", "format of x", """
def tree(x):
    half = len(x) // 2
    return x[0] if half == 0 else tree(x[:half]) + tree(x[half:])
return tree(x.astype(np.float64))
"""),
    ("1.6", "the mean", "exactly once", """
if len(x) == 1:
    return x[0]
half = len(x) // 2
return (pairwise_sum(x[:half]) + pairwise_sum(x[half:])) / 2
"""),
    ("1.6", "an array", "that number", """
if len(x) == 1:
    return x
half = len(x) // 2
return pairwise_sum(x[:half]) + pairwise_sum(x[half:])
"""),
    ("1.6", "in place", "leave x as it was", """
half = len(x) // 2
if half:
    x[0] = pairwise_sum(x[:half]) + pairwise_sum(x[half:])
return x[0]
"""),
    ("1.6", "the sum of NumPy for eight or fewer", "in the same way", """
if len(x) == 1:
    return x[0]
half = len(x) // 2
if len(x) > 8:
    return pairwise_sum(x[:half]) + pairwise_sum(x[half:])
return x[:half].sum() + x[half:].sum()
"""),
    ("1.6", "one halving, then .sum()", "halves of its own", """
if len(x) == 1:
    return x[0]
half = len(x) // 2
def running(x):
    total = x[0]
    for number in x[1:]:
        total = total + number
    return total
return running(x[:half]) + running(x[half:])
"""),
    ("1.6", "nothing returned", "return its result", """
half = len(x) // 2
"""),
    ("1.6", "not begun", "not done yet", """
raise NotImplementedError
"""),
]

HIDDEN = [
    ("1.2", "small numbers taken for 0", "size 1e-06", """
X = np.where(abs(X) < 1e-3, 0, X)
top = np.maximum(X.max(axis=-1, keepdims=True), -1e300)
return np.log(np.exp(X - top).sum(axis=-1)) + top[..., 0]
"""),
    ("1.3", "means that nearly agree", "tokens of size 1e-06", """
(n_a, mean_a, M_a), (n_b, mean_b, M_b) = a, b
n, apart = n_a + n_b, mean_b - mean_a
apart = np.where(abs(apart) < 1e-3, 0, apart)
return n, mean_a + apart * n_b / n, M_a + M_b + apart**2 * n_a * n_b / n
"""),
    ("1.6", "three apart, more by neighbours", "n // 2", """
if len(x) <= 12 or len(x) > 3000:
    def tree(x):
        half = len(x) // 2
        return x[0] if half == 0 else tree(x[:half]) + tree(x[half:])
    return tree(x)
x = [*x]
while len(x) > 1:
    tail = x[-1:] if len(x) % 2 else []
    x = [a + b for a, b in zip(x[::2], x[1::2])] + tail
return x[0]
"""),
    ("1.6", "a running sum for long arrays", "each pass through", """
if len(x) > 8192:
    return running_sum(x)
def tree(x):
    half = len(x) // 2
    return x[0] if half == 0 else tree(x[:half]) + tree(x[half:])
return tree(x)
"""),
]
