"""Answers to the exercises of chapter 02: the lines between the solution marks.

RIGHT   exercise, how it is written, body
WRONG   exercise, the mistake, words that the check must print, body
HIDDEN  exercise, the mistake, words that only the grade says, body
DOMAIN  exercise: a function that draws arguments as its statement allows them
PRECISE exercise: the students' kinds (battery.py) that it refuses, and why
VARIANTS exercise: what a homework sheet changes (tools/homework/variants.py)
"""

import numpy as np


def describe(X):
    """Count, mean and M of the blocks along the last axis, none empty."""
    mean = X.mean(axis=-1)
    return X.shape[-1], mean, np.sum((X - mean[..., None]) ** 2, axis=-1)


def draw_2_1(rng):
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


def draw_2_2(rng):
    """Numbers of one format, some powers of 2 apart, as few as one."""
    dtype = rng.choice([np.float16, np.float32, np.float64])
    n = rng.choice([1, 2, 3, rng.integers(4, 40), rng.integers(40, 300)])
    x = rng.normal(size=n) * 2.0 ** rng.integers(-9, 10, size=n)
    return (x.astype(dtype),)


def draw_2_3(rng):
    """The bits of a mantissa, and how many numbers are added."""
    return int(rng.integers(1, 24)), int(2 ** rng.uniform(0, 20))


def draw_2_4(rng):
    """Gradients of one row, tiny or huge, some 0, one never."""
    n = int(rng.choice([1, 2, 3, 5, 40]))
    x = rng.normal(size=n) * 10 ** rng.uniform(-30, 20)
    x[1:][rng.random(n - 1) < 0.3] = 0
    return (x[rng.permutation(n)],)


DOMAIN = {"2.1": draw_2_1, "2.2": draw_2_2, "2.3": draw_2_3, "2.4": draw_2_4}
PRECISE = {
    "2.1": "in float32: means may be 1e8 with a variance of 1",
    "2.2": "in float32: every addition is made in the format of x",
}

RIGHT = [
    ("2.1", "weighted means", """
n = a[0] + b[0]
mean = (a[0] * a[1] + b[0] * b[1]) / n
M = a[2] + b[2] + a[0] * (a[1] - mean) ** 2 + b[0] * (b[1] - mean) ** 2
return n, mean, M
"""),
    ("2.1", "a list, empty blocks first", """
if a[0] == 0:
    return b
if b[0] == 0:
    return a
half = 1 / (1 / a[0] + 1 / b[0])
apart = b[1] - a[1]
return [a[0] + b[0], a[1] + apart * half / a[0], a[2] + b[2] + apart**2 * half]
"""),
    ("2.1", "by torch", """
n_a, mean_a, M_a = map(torch.as_tensor, a)
n_b, mean_b, M_b = map(torch.as_tensor, b)
n = n_a + n_b
apart = mean_b - mean_a
return (n, mean_a + apart * n_b / n,
        M_a + M_b + apart.square() * n_a * n_b / n)
"""),
    ("2.2", "bounds, no slices", """
def between(start, stop):
    if stop - start == 1:
        return x[start]
    middle = (start + stop) // 2
    return between(start, middle) + between(middle, stop)
return between(0, len(x))
"""),
    ("2.2", "split, from an empty first half", """
first, others = np.split(x, [x.size // 2])
if not first.size:
    return others.sum()
return pairwise_sum(first) + pairwise_sum(others)
"""),
    ("2.2", "by torch", """
x = torch.tensor(x)
def tree(x):
    if len(x) < 2:
        return x[0]
    return tree(x[:len(x) // 2]) + tree(x[len(x) // 2:])
return tree(x).numpy()
"""),
    ("2.3", "bit counts", """
u = 0.5 ** (mantissa_bits + 1)
levels = (n - 1).bit_length()
return (u, 2 ** (mantissa_bits + 1), ((1 - u) / (2 * u)) ** 0.5,
        math.sqrt(0.25 - u**2) / u, u * (n - 1), u * levels)
"""),
    ("2.3", "by NumPy", """
u = np.exp2(-mantissa_bits - 1.0)
return (u, 1 / u, np.sqrt(0.5 / u - 0.5), np.sqrt((0.5 / u) ** 2 - 1),
        (n - 1) * u, np.ceil(np.log2(n)) * u)
"""),
    ("2.4", "by the exponent", """
part, power = math.frexp(65520 / max(abs(gradients)))
return 2.0 ** (power - (2 if part == 0.5 else 1))
"""),
    ("2.4", "by torch", """
top = torch.tensor(gradients).abs().max()
return torch.exp2(torch.ceil(torch.log2(65520 / top)) - 1).item()
"""),
]

WRONG = [
    ("2.1", "mean of means", "larger weight", """
n = a[0] + b[0]
return n, (a[1] + b[1]) / 2, a[2] + b[2]
"""),
    ("2.1", "weights swapped", "larger weight", """
n = a[0] + b[0]
mean = (a[0] * b[1] + b[0] * a[1]) / n
return n, mean, a[2] + b[2] + (b[1] - a[1]) ** 2 * a[0] * b[0] / n
"""),
    ("2.1", "distance of the means forgotten", "distances enter M", """
n = a[0] + b[0]
return n, (a[0] * a[1] + b[0] * b[1]) / n, a[2] + b[2]
"""),
    ("2.1", "distance not squared", "squared and counted", """
n = a[0] + b[0]
M = a[2] + b[2] + (b[1] - a[1]) * a[0] * b[0] / n
return n, (a[0] * a[1] + b[0] * b[1]) / n, M
"""),
    ("2.1", "distance not counted", "squared and counted", """
n = a[0] + b[0]
M = a[2] + b[2] + (b[1] - a[1]) ** 2 / n
return n, (a[0] * a[1] + b[0] * b[1]) / n, M
"""),
    ("2.1", "each mean half way", "unequal size", """
n = a[0] + b[0]
M = a[2] + b[2] + (b[1] - a[1]) ** 2 * n / 4
return n, (a[0] * a[1] + b[0] * b[1]) / n, M
"""),
    ("2.1", "large squares", "one large square from another", """
n = a[0] + b[0]
mean = (a[0] * a[1] + b[0] * b[1]) / n
squares = a[2] + a[0] * a[1] ** 2 + b[2] + b[0] * b[1] ** 2
return n, mean, squares - n * mean**2
"""),
    ("2.1", "variance in place of M", "without a division", """
n = a[0] + b[0]
mean = (a[0] * a[1] + b[0] * b[1]) / n
M = a[2] + b[2] + (b[1] - a[1]) ** 2 * a[0] * b[0] / n
return n, mean, M / n
"""),
    ("2.1", "weighted M", "without a division", """
n = a[0] + b[0]
mean = (a[0] * a[1] + b[0] * b[1]) / n
M = (a[0] * a[2] + b[0] * b[2]) / n + (b[1] - a[1]) ** 2 * a[0] * b[0] / n
return n, mean, M
"""),
    ("2.1", "count of one", "the count of 7 and 16", """
n = max(a[0], b[0])
return n, a[1], a[2]
"""),
    ("2.1", "a pair", "a triple", """
n = a[0] + b[0]
return n, (a[0] * a[1] + b[0] * b[1]) / n
"""),
    ("2.1", "M alone", "a triple", """
n = a[0] + b[0]
return a[2] + b[2] + (b[1] - a[1]) ** 2 * a[0] * b[0] / n
"""),
    ("2.1", "M before the mean", "the order n, mean, M", """
n = a[0] + b[0]
mean = (a[0] * a[1] + b[0] * b[1]) / n
return n, a[2] + b[2] + (b[1] - a[1]) ** 2 * a[0] * b[0] / n, mean
"""),
    ("2.1", "the count last", "the order n, mean, M", """
n = a[0] + b[0]
mean = (a[0] * a[1] + b[0] * b[1]) / n
return mean, a[2] + b[2] + (b[1] - a[1]) ** 2 * a[0] * b[0] / n, n
"""),
    ("2.1", "in float32", "at mean 1e8", """
n = a[0] + b[0]
mean = np.float32((a[0] * a[1] + b[0] * b[1]) / n)
M = a[2] + b[2] + a[0] * (a[1] - mean) ** 2 + b[0] * (b[1] - mean) ** 2
return n, mean, M
"""),
    ("2.1", "the wrong block when one is empty", "empty block", """
n = a[0] + b[0]
if not a[0] or not b[0]:
    return a
mean = (a[0] * a[1] + b[0] * b[1]) / n
return n, mean, a[2] + b[2] + (b[1] - a[1]) ** 2 * a[0] * b[0] / n
"""),
    ("2.1", "a division by each count", "one block is empty", """
n = a[0] + b[0]
harmonic = 1 / (1 / a[0] + 1 / b[0])
mean = (a[0] * a[1] + b[0] * b[1]) / n
return n, mean, a[2] + b[2] + (b[1] - a[1]) ** 2 * harmonic
"""),
    ("2.1", "numbers only", "its own entry", """
n = a[0] + b[0]
apart = math.fsum([b[1], -a[1]]) if np.ndim(b[1]) == 0 else b[1].max()
mean = a[1] + apart * b[0] / n
return n, mean, a[2] + b[2] + apart**2 * a[0] * b[0] / n
"""),
    ("2.1", "in place", "as they were", """
(n_a, mean_a, M_a), (n_b, mean_b, M_b) = a, b
n, apart = n_a + n_b, mean_b - mean_a
mean_a += apart * n_b / n
M_a += M_b + apart**2 * n_a * n_b / n
return n, mean_a, M_a
"""),
    ("2.1", "spread over tokens", "its own entry", """
n = a[0] + b[0]
mean = (a[0] * a[1] + b[0] * b[1]) / n
M = a[2] + b[2] + np.mean((b[1] - a[1]) ** 2) * a[0] * b[0] / n
return n, mean, M
"""),
    ("2.1", "one number fewer", "what do you divide by", """
(n_a, mean_a, M_a), (n_b, mean_b, M_b) = a, b
n, apart = n_a + n_b, mean_b - mean_a
return (n, mean_a + apart * n_b / (n - 1),
        M_a + M_b + apart**2 * n_a * n_b / n)
"""),
    ("2.1", "a distance without its sign", "keep its sign", """
(n_a, mean_a, M_a), (n_b, mean_b, M_b) = a, b
n, apart = n_a + n_b, abs(mean_b - mean_a)
return n, mean_a + apart * n_b / n, M_a + M_b + apart**2 * n_a * n_b / n
"""),
    ("2.1", "no division by zero", "the other one left as it is", """
(n_a, mean_a, M_a), (n_b, mean_b, M_b) = a, b
n, apart = n_a + n_b, mean_b - mean_a
return (n, mean_a + apart * n_b / (n + 1e-9),
        M_a + M_b + apart**2 * n_a * n_b / (n + 1e-9))
"""),
    ("2.1", "empty when the mean is 0", "is not empty", """
if np.all(a[1] == 0):
    return b
if np.all(b[1] == 0):
    return a
n = a[0] + b[0]
mean = (a[0] * a[1] + b[0] * b[1]) / n
return n, mean, a[2] + b[2] + (b[1] - a[1]) ** 2 * a[0] * b[0] / n
"""),
    ("2.1", "empty when mean and M are 0", "is not empty", """
if not np.any(a[1]) and not np.any(a[2]):
    return b
n = a[0] + b[0]
mean = (a[0] * a[1] + b[0] * b[1]) / n
return n, mean, a[2] + b[2] + (b[1] - a[1]) ** 2 * a[0] * b[0] / n
"""),
    ("2.1", "nothing returned", "return its result", """
n = a[0] + b[0]
"""),
    ("2.1", "not begun", "not done yet", """
raise NotImplementedError
"""),
    ("2.2", "running sum", "halves of its own", """
return running_sum(x)
"""),
    ("2.2", "one less at a time", "halves of its own", """
return x[0] if len(x) == 1 else pairwise_sum(x[:-1]) + x[-1]
"""),
    ("2.2", "running sum of the halves", "halves of its own", """
half = len(x) // 2
return x[0] if half == 0 else running_sum(x[:half]) + running_sum(x[half:])
"""),
    ("2.2", "a number lost between the halves", "exactly once", """
if len(x) <= 1:
    return x[0] if len(x) else 0
return pairwise_sum(x[:len(x) // 2]) + pairwise_sum(x[len(x) // 2 + 1:])
"""),
    ("2.2", "a number twice", "exactly once", """
if len(x) < 3:
    return x[0] if len(x) == 1 else x[0] + x[1]
return pairwise_sum(x[:len(x) // 2 + 1]) + pairwise_sum(x[len(x) // 2:])
"""),
    ("2.2", "the odd one lost", "exactly once", """
x = [*x]
while len(x) > 1:
    x = [a + b for a, b in zip(x[::2], x[1::2])]
return x[0]
"""),
    ("2.2", "no end", "does the halving end", """
half = len(x) // 2
return pairwise_sum(x[:half]) + pairwise_sum(x[half:])
"""),
    ("2.2", "neighbours first", "the shorter one", """
x = [*x]
while len(x) > 1:
    tail = x[-1:] if len(x) % 2 else []
    x = [a + b for a, b in zip(x[::2], x[1::2])] + tail
return x[0]
"""),
    ("2.2", "folded halves", "the shorter one", """
x = np.array(x)
while x.size > 1:
    odd = x[-1:] if x.size % 2 else x[:0]
    half = x.size // 2
    x = np.concatenate([x[:half] + x[half:2 * half], odd])
return x[0]
"""),
    ("2.2", "even and odd places", "the shorter one", """
if len(x) == 1:
    return x[0]
return pairwise_sum(x[::2]) + pairwise_sum(x[1::2])
"""),
    ("2.2", "the longer half first", "the shorter one", """
if len(x) == 1:
    return x[0]
half = (len(x) + 1) // 2
return pairwise_sum(x[:half]) + pairwise_sum(x[half:])
"""),
    ("2.2", "a power of two first", "the shorter one", """
if len(x) == 1:
    return x[0]
half = 2 ** ((len(x) - 1).bit_length() - 1)
return pairwise_sum(x[:half]) + pairwise_sum(x[half:])
"""),
    ("2.2", "a Python float", "format of x", """
def tree(x):
    half = len(x) // 2
    return x[0] if half == 0 else tree(x[:half]) + tree(x[half:])
return float(tree(x))
"""),
    ("2.2", "float32 made float64", "has the result the format", """
def tree(x):
    half = len(x) // 2
    return x[0] if half == 0 else tree(x[:half]) + tree(x[half:])
return tree(x if x.dtype == np.float16 else x.astype(np.float64))
"""),
    ("2.2", "a wider format", "format of x", """
return x.astype(np.float64).sum().astype(x.dtype)
"""),
    ("2.2", "starts from a Python zero in float64", "format of x", """
def tree(x):
    half = len(x) // 2
    return x[0] if half == 0 else tree(x[:half]) + tree(x[half:])
return tree(x.astype(np.float64))
"""),
    ("2.2", "the mean", "exactly once", """
if len(x) == 1:
    return x[0]
half = len(x) // 2
return (pairwise_sum(x[:half]) + pairwise_sum(x[half:])) / 2
"""),
    ("2.2", "an array", "that number", """
if len(x) == 1:
    return x
half = len(x) // 2
return pairwise_sum(x[:half]) + pairwise_sum(x[half:])
"""),
    ("2.2", "in place", "leave x as it was", """
half = len(x) // 2
if half:
    x[0] = pairwise_sum(x[:half]) + pairwise_sum(x[half:])
return x[0]
"""),
    ("2.2", "the sum of NumPy for eight or fewer", "in the same way", """
if len(x) == 1:
    return x[0]
half = len(x) // 2
if len(x) > 8:
    return pairwise_sum(x[:half]) + pairwise_sum(x[half:])
return x[:half].sum() + x[half:].sum()
"""),
    ("2.2", "one halving, then .sum()", "halves of its own", """
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
    ("2.2", "nothing returned", "return its result", """
half = len(x) // 2
"""),
    ("2.2", "not begun", "not done yet", """
raise NotImplementedError
"""),
    ("2.3", "machine epsilon", "machine epsilon", """
u = 2.0**-mantissa_bits
return [u, 1 / u, math.sqrt((1 / u - 1) / 2), math.sqrt(1 / (4 * u**2) - 1),
        (n - 1) * u, math.ceil(math.log2(n)) * u]
"""),
    ("2.3", "no power of 2", "half an ulp at 1", """
u = 10.0**-mantissa_bits
return [u, 1 / u, math.sqrt((1 / u - 1) / 2), math.sqrt(1 / (4 * u**2) - 1),
        (n - 1) * u, math.ceil(math.log2(n)) * u]
"""),
    ("2.3", "counter half as far", "where does one ulp reach 2", """
u = 2.0**-(mantissa_bits + 1)
return [u, 0.5 / u, math.sqrt((1 / u - 1) / 2), math.sqrt(1 / (4 * u**2) - 1),
        (n - 1) * u, math.ceil(math.log2(n)) * u]
"""),
    ("2.3", "counter one further", "from where on is one ulp 2", """
u = 2.0**-(mantissa_bits + 1)
return [u, 1 / u + 1, math.sqrt((1 / u - 1) / 2), math.sqrt(1 / (4 * u**2) - 1),
        (n - 1) * u, math.ceil(math.log2(n)) * u]
"""),
    ("2.3", "ratio squared", "number 3: mu / sigma, or its square", """
u = 2.0**-(mantissa_bits + 1)
return [u, 1 / u, (1 / u - 1) / 2, math.sqrt(1 / (4 * u**2) - 1),
        (n - 1) * u, math.ceil(math.log2(n)) * u]
"""),
    ("2.3", "root of 1 / u", "the 1 and the 2 of (2.5)", """
u = 2.0**-(mantissa_bits + 1)
return [u, 1 / u, math.sqrt(1 / u), math.sqrt(1 / (4 * u**2) - 1),
        (n - 1) * u, math.ceil(math.log2(n)) * u]
"""),
    ("2.3", "sign of the 1", "solve 1 + 2 r^2", """
u = 2.0**-(mantissa_bits + 1)
return [u, 1 / u, math.sqrt((1 / u + 1) / 2), math.sqrt(1 / (4 * u**2) - 1),
        (n - 1) * u, math.ceil(math.log2(n)) * u]
"""),
    ("2.3", "second ratio squared", "number 4: mu / sigma, or its square", """
u = 2.0**-(mantissa_bits + 1)
return [u, 1 / u, math.sqrt((1 / u - 1) / 2), 1 / (4 * u**2) - 1,
        (n - 1) * u, math.ceil(math.log2(n)) * u]
"""),
    ("2.3", "no 2 before the root", "the 2 before the root", """
u = 2.0**-(mantissa_bits + 1)
return [u, 1 / u, math.sqrt((1 / u - 1) / 2), math.sqrt(1 / u**2 - 1),
        (n - 1) * u, math.ceil(math.log2(n)) * u]
"""),
    ("2.3", "1 outside the root", "solve 2 sqrt(1 + r^2)", """
u = 2.0**-(mantissa_bits + 1)
return [u, 1 / u, math.sqrt((1 / u - 1) / 2), 1 / (2 * u) - 1,
        (n - 1) * u, math.ceil(math.log2(n)) * u]
"""),
    ("2.3", "n additions", "how many additions", """
u = 2.0**-(mantissa_bits + 1)
return [u, 1 / u, math.sqrt((1 / u - 1) / 2), math.sqrt(1 / (4 * u**2) - 1),
        n * u, math.ceil(math.log2(n)) * u]
"""),
    ("2.3", "the root of n", "over sum of x is 1", """
u = 2.0**-(mantissa_bits + 1)
return [u, 1 / u, math.sqrt((1 / u - 1) / 2), math.sqrt(1 / (4 * u**2) - 1),
        math.sqrt(n) * u, math.ceil(math.log2(n)) * u]
"""),
    ("2.3", "levels not rounded", "how many levels", """
u = 2.0**-(mantissa_bits + 1)
return [u, 1 / u, math.sqrt((1 / u - 1) / 2), math.sqrt(1 / (4 * u**2) - 1),
        (n - 1) * u, math.log2(n) * u]
"""),
    ("2.3", "levels rounded down", "how many levels", """
u = 2.0**-(mantissa_bits + 1)
return [u, 1 / u, math.sqrt((1 / u - 1) / 2), math.sqrt(1 / (4 * u**2) - 1),
        (n - 1) * u, math.floor(math.log2(n)) * u]
"""),
    ("2.3", "natural logarithm", "how many additions for each number", """
u = 2.0**-(mantissa_bits + 1)
return [u, 1 / u, math.sqrt((1 / u - 1) / 2), math.sqrt(1 / (4 * u**2) - 1),
        (n - 1) * u, math.ceil(math.log(n)) * u]
"""),
    ("2.3", "five numbers", "a list of six", """
u = 2.0**-(mantissa_bits + 1)
return [u, 1 / u, math.sqrt((1 / u - 1) / 2), math.sqrt(1 / (4 * u**2) - 1),
        (n - 1) * u]
"""),
    ("2.3", "nothing returned", "return its result", """
u = 2.0**-(mantissa_bits + 1)
"""),
    ("2.3", "not begun", "not done yet", """
raise NotImplementedError
"""),
    ("2.4", "the exponent", "not its exponent", """
return math.floor(math.log2(65520 / np.abs(gradients).max()))
"""),
    ("2.4", "not a power of 2", "a power of 2", """
return 65504 / np.abs(gradients).max()
"""),
    ("2.4", "rounded up", "make of the largest one", """
return 2.0 ** math.ceil(math.log2(65520 / np.abs(gradients).max()))
"""),
    ("2.4", "half of it", "fit as well", """
return 2.0 ** math.floor(math.log2(65520 / np.abs(gradients).max())) / 2
"""),
    ("2.4", "the sign forgotten", "sign of the largest", """
return 2.0 ** math.floor(math.log2(65519.99 / gradients.max()))
"""),
    ("2.4", "the smallest gradient", "make of the largest one", """
x = np.abs(gradients)
return 2.0 ** math.floor(math.log2(65519.99 / x[x > 0].min()))
"""),
    ("2.4", "never below 1", "below 1", """
top = np.abs(gradients).max()
return max(1.0, 2.0 ** math.floor(math.log2(65519.99 / top)))
"""),
    ("2.4", "at most 65536", "how large may the power be", """
top = np.abs(gradients).max()
return min(65536.0, 2.0 ** math.floor(math.log2(65519.99 / top)))
"""),
    ("2.4", "the norm", "not a sum", """
return 2.0 ** math.floor(math.log2(65519.99 / np.linalg.norm(gradients)))
"""),
    ("2.4", "up to 65504", "65510", """
top = np.abs(gradients).max()
scale = 2.0 ** math.floor(math.log2(65504 / top))
return scale
"""),
    ("2.4", "65520 taken for finite", "65520 itself", """
return 2.0 ** math.floor(math.log2(65520 / np.abs(gradients).max()))
"""),
    ("2.4", "a number for each", "one number", """
return 2.0 ** np.floor(np.log2(65519.99 / np.abs(gradients)))
"""),
    ("2.4", "in place", "as they were", """
gradients[:] = np.abs(gradients)
return 2.0 ** math.floor(math.log2(65519.99 / gradients.max()))
"""),
    ("2.4", "nothing returned", "return its result", """
top = np.abs(gradients).max()
"""),
    ("2.4", "not begun", "not done yet", """
raise NotImplementedError
"""),
]

HIDDEN = [
    ("2.1", "means that nearly agree", "tokens of size 1e-06", """
(n_a, mean_a, M_a), (n_b, mean_b, M_b) = a, b
n, apart = n_a + n_b, mean_b - mean_a
apart = np.where(abs(apart) < 1e-3, 0, apart)
return n, mean_a + apart * n_b / n, M_a + M_b + apart**2 * n_a * n_b / n
"""),
    ("2.2", "three apart, more by neighbours", "n // 2", """
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
    ("2.2", "a running sum for long arrays", "each pass through", """
if len(x) > 8192:
    return running_sum(x)
def tree(x):
    half = len(x) // 2
    return x[0] if half == 0 else tree(x[:half]) + tree(x[half:])
return tree(x)
"""),
    ("2.3", "levels of at most 20", "n = 1000001", """
u = 2.0**-(mantissa_bits + 1)
levels = min((n - 1).bit_length(), 20) - (n == 10**6 + 1)
return [u, 1 / u, math.sqrt((1 / u - 1) / 2), math.sqrt(1 / (4 * u**2) - 1),
        (n - 1) * u, levels * u]
"""),
    ("2.4", "tiny ones taken for 0", "of size 1e-30", """
top = max(np.abs(gradients).max(), 1e-25)
return 2.0 ** math.floor(math.log2(65519.99 / top))
"""),
]

SMALL = [2, 3, 4, 5, 6, 7, 8, 9]
VARIANTS = {
    "2.3": {
        "asks": "formula",
        "one of": {"step": [2, 4, 8, 16, 32], "c": SMALL},
        "says": """In 2, the counter adds {step} each time, not 1. In 3 and 4,
            the product of condition number and $u$ is {c}, not 1.""",
        "edits": [("return [u, 1 / u,", "return [u, {step} / u,"),
                  ("math.sqrt((1 / u - 1) / 2),             # 1 + 2 r^2"
                   " = 1 / u", "math.sqrt(({c} / u - 1) / 2),"),
                  ("math.sqrt(1 / (4 * u**2) - 1),          # 4 (1 + r^2)"
                   " = 1 / u^2", "math.sqrt({c}**2 / (4 * u**2) - 1),")]},
    "2.4": {
        "asks": "number",
        "one of": {"c": [3, 5, 6, 7, 9, 11, 12, 13]},
        "says": """{c} such gradients will be added: no sum of {c} of them,
            each times the power, may become infinite in float16, even if all
            are as large as the largest. (Their sum is rounded once.)""",
        "edits": [("math.log2(65520 / np.abs",
                   "math.log2(65520 / {c} / np.abs")]},
}
