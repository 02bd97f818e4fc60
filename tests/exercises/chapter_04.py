"""Answers to the exercises of chapter 04: the lines between the solution marks.

RIGHT   exercise, how it is written, body
WRONG   exercise, the mistake, words that the check must print, body
HIDDEN  exercise, the mistake, words that only the grade says, body
DOMAIN  exercise: a function that draws arguments as its statement allows them
PRECISE exercise: the students' kinds (battery.py) that it refuses, and why
VARIANTS exercise: what a homework sheet changes (tools/homework/variants.py)
"""

import numpy as np


def draw_4_1(rng):
    """A width."""
    return (int(rng.integers(2, 400)),)


def draw_4_2(rng):
    """A factor of either sign, at times 0; sigma and eps above 0."""
    a = rng.normal() * 10 ** rng.uniform(-2, 2) * (rng.random() > 0.1)
    return (float(a), *map(float, 10 ** rng.uniform(-3, 3, size=2)))


def tokens(rng, least=1):
    """(..., n, d), all sizes different; tokens of unequal size and mean."""
    shape = rng.permutation(6)[:rng.integers(2, 6)] + least
    size = 10 ** rng.uniform(-5, 3, size=(*shape[:-1], 1))
    return size * (rng.normal(size=shape) + rng.normal())


def draw_4_3(rng):
    X = tokens(rng)
    gain, bias = rng.normal(size=(2, X.shape[-1])) * 10 ** rng.uniform(-3, 3)
    return X, gain, bias, 10 ** rng.uniform(-8, 0)


def draw_4_4(rng):
    """Random matrices, cycles of one row, and cycles with one number off."""
    n, d = rng.integers(2, 7, size=2)
    scale = 10 ** rng.uniform(-2, 2)
    if rng.random() < 0.4:
        return (scale * rng.normal(size=(n, d)),)
    row = rng.permutation(n) + rng.uniform(0, 0.3, size=n)
    X = np.array([np.roll(row, i) for i in range(n)])
    if rng.random() < 0.4:
        X[tuple(rng.integers(n, size=2))] += 1.7
    return (scale * (X + rng.normal()),)


DOMAIN = {"4.1": draw_4_1, "4.2": draw_4_2, "4.3": draw_4_3, "4.4": draw_4_4}
PRECISE = {}

RIGHT = [
    ("4.1", "through numpy", """
y = np.eye(d)[0] - 1 / d
y = y / y.std()
return [d - 2, 2 * np.sqrt(d), y.max(), y.min()]
"""),
    ("4.1", "as an array", """
root = np.sqrt(d - 1)
return np.array([d - 2, np.sqrt(4 * d), root, -1 / root])
"""),
    ("4.2", "with sign and absolute value", """
out = sigma / np.sqrt(sigma**2 + eps)
big = abs(a) * sigma / np.sqrt((a * sigma)**2 + eps)
return [np.sign(a) * big / out, 1 / out, 1, np.sqrt(eps / (3 * sigma**2))]
"""),
    ("4.2", "by a token of two features", """
x = np.array([-sigma, sigma])
k = layer_norm(a * x, 1, 0, eps)[1] / layer_norm(x, 1, 0, eps)[1]
return k, (1 + eps / sigma**2) ** 0.5, 1, (eps / 3) ** 0.5 / sigma
"""),
    ("4.3", "by einsum", """
n = X.shape[-2]
centred = X - np.einsum("...nd->...d", X)[..., None, :] / n
var = np.einsum("...nd,...nd->...d", centred, centred)[..., None, :] / n
return centred / np.sqrt(var + eps) * gain + bias
"""),
    ("4.3", "by torch", """
Y = torch.as_tensor(X).movedim(-2, -1)
Y = F.layer_norm(Y, (Y.shape[-1],), eps=eps).movedim(-1, -2)
return Y * torch.as_tensor(gain) + torch.as_tensor(bias)
"""),
    ("4.3", "feature by feature, as specified", """
Y = np.empty_like(X)
for *sequence, f in np.ndindex(*X.shape[:-2], X.shape[-1]):
    column = (*sequence, slice(None), f)
    Y[column] = layer_norm(X[column], gain[f], bias[f], eps)
return Y
"""),
    ("4.4", "by the lesson's functions", """
off = standardize(X) - standardize(X, axis=-2)
if np.abs(off).max() > 1e-4:
    return 0, 1 / 3, 0
return 1, 1 / 3, 0
"""),
    ("4.4", "by torch, in lists", """
X = torch.as_tensor(X)
rows = F.layer_norm(X, X.shape[1:], eps=0)
columns = F.layer_norm(X.mT.contiguous(), X.shape[:1], eps=0).mT
return [1 if (rows - columns).abs().max() < 1e-4 else 0, 8 / 24, 0]
"""),
]

WRONG = [
    ("4.1", "the sphere alone", "what does the plane take", """
return d - 1, 2 * d**0.5, (d - 1) ** 0.5, -1 / (d - 1) ** 0.5
"""),
    ("4.1", "all of space", "costs a dimension", """
return d, 2 * d**0.5, (d - 1) ** 0.5, -1 / (d - 1) ** 0.5
"""),
    ("4.1", "the radius", "is this the radius", """
return d - 2, d**0.5, (d - 1) ** 0.5, -1 / (d - 1) ** 0.5
"""),
    ("4.1", "radius d", "radius root d", """
return d - 2, 2 * d, (d - 1) ** 0.5, -1 / (d - 1) ** 0.5
"""),
    ("4.1", "one feature holds all", "and the sum", """
return d - 2, 2 * d**0.5, d**0.5, -1 / (d - 1) ** 0.5
"""),
    ("4.1", "no root", "square of the value", """
return d - 2, 2 * d**0.5, d - 1, -1 / (d - 1) ** 0.5
"""),
    ("4.1", "the spike's partner alone", "share what balances", """
return d - 2, 2 * d**0.5, (d - 1) ** 0.5, -(d - 1) ** 0.5
"""),
    ("4.1", "a zero stays", "subtracted from a feature of 0", """
return d - 2, 2 * d**0.5, (d - 1) ** 0.5, 0
"""),
    ("4.1", "above the mean", "below the mean negative", """
return d - 2, 2 * d**0.5, (d - 1) ** 0.5, 1 / (d - 1) ** 0.5
"""),
    ("4.1", "not divided", "divided by the standard deviation", """
return d - 2, 2 * d**0.5, (d - 1) ** 0.5, -8 / d
"""),
    ("4.1", "three numbers", "four numbers", """
return d - 2, 2 * d**0.5, (d - 1) ** 0.5
"""),
    ("4.1", "of width 3", "1: a sphere has", """
return 1, 2 * 3**0.5, 2**0.5, -1 / 2**0.5
"""),
    ("4.1", "nothing returned", "return its result", """
y = d - 2
"""),
    ("4.1", "not begun", "not done yet", """
raise NotImplementedError
"""),
    ("4.2", "as without eps", "the answer for eps = 0", """
return np.sign(a), (sigma**2 + eps) ** 0.5 / sigma, 1, (eps / 3) ** 0.5 / sigma
"""),
    ("4.2", "sign lost", "where is its sign", """
root = (sigma**2 + eps) ** 0.5
k = abs(a) * root / (a**2 * sigma**2 + eps) ** 0.5
return k, root / sigma, 1, (eps / 3) ** 0.5 / sigma
"""),
    ("4.2", "eps outside", "inside the root", """
root = (sigma**2 + eps) ** 0.5
k = a * (sigma + eps) / (abs(a) * sigma + eps)
return k, root / sigma, 1, (eps / 3) ** 0.5 / sigma
"""),
    ("4.2", "right side without eps", "its own eps", """
root = (sigma**2 + eps) ** 0.5
k = a * sigma / (a**2 * sigma**2 + eps) ** 0.5
return k, root / sigma, 1, (eps / 3) ** 0.5 / sigma
"""),
    ("4.2", "a not squared", "which deviations", """
root = (sigma**2 + eps) ** 0.5
k = a * root / (abs(a) * sigma**2 + eps) ** 0.5
return k, root / sigma, 1, (eps / 3) ** 0.5 / sigma
"""),
    ("4.2", "limit 1", "which RMS has LN(x)", """
root = (sigma**2 + eps) ** 0.5
k = a * root / (a**2 * sigma**2 + eps) ** 0.5
return k, 1, 1, (eps / 3) ** 0.5 / sigma
"""),
    ("4.2", "limit upside down", "not the other way round", """
root = (sigma**2 + eps) ** 0.5
k = a * root / (a**2 * sigma**2 + eps) ** 0.5
return k, sigma / root, 1, (eps / 3) ** 0.5 / sigma
"""),
    ("4.2", "limit squared", "2: is this the square", """
root = (sigma**2 + eps) ** 0.5
k = a * root / (a**2 * sigma**2 + eps) ** 0.5
return k, root**2 / sigma**2, 1, (eps / 3) ** 0.5 / sigma
"""),
    ("4.2", "two numbers a", "a = -1 changes the sign", """
root = (sigma**2 + eps) ** 0.5
k = a * root / (a**2 * sigma**2 + eps) ** 0.5
return k, root / sigma, 2, (eps / 3) ** 0.5 / sigma
"""),
    ("4.2", "infinitely many a", "grow strictly", """
root = (sigma**2 + eps) ** 0.5
k = a * root / (a**2 * sigma**2 + eps) ** 0.5
return k, root / sigma, np.inf, (eps / 3) ** 0.5 / sigma
"""),
    ("4.2", "the slip's half", "the slip's answer", """
root = (sigma**2 + eps) ** 0.5
k = a * root / (a**2 * sigma**2 + eps) ** 0.5
return k, root / sigma, 1, eps / sigma
"""),
    ("4.2", "the deviation of the scaled token", "and a?", """
root = (sigma**2 + eps) ** 0.5
k = a * root / (a**2 * sigma**2 + eps) ** 0.5
return k, root / sigma, 1, (eps / 3) ** 0.5
"""),
    ("4.2", "half without a root", "is a root missing", """
root = (sigma**2 + eps) ** 0.5
k = a * root / (a**2 * sigma**2 + eps) ** 0.5
return k, root / sigma, 1, eps / 3 / sigma**2
"""),
    ("4.2", "a third forgotten", "solve s", """
root = (sigma**2 + eps) ** 0.5
k = a * root / (a**2 * sigma**2 + eps) ** 0.5
return k, root / sigma, 1, eps ** 0.5 / sigma
"""),
    ("4.2", "one number", "four numbers", """
return a * ((sigma**2 + eps) / (a**2 * sigma**2 + eps)) ** 0.5
"""),
    ("4.2", "nothing returned", "return its result", """
k = a
"""),
    ("4.2", "not begun", "not done yet", """
raise NotImplementedError
"""),
    ("4.3", "layer normalization", "taken over the tokens", """
return layer_norm(X, gain, bias, eps)
"""),
    ("4.3", "batch normalization", "only sequence 1 did", """
axes = tuple(range(X.ndim - 1))
mean, var = X.mean(axes, keepdims=True), X.var(axes, keepdims=True)
return gain * (X - mean) / np.sqrt(var + eps) + bias
"""),
    ("4.3", "over the batch", "only sequence 1 did", """
mean, var = X.mean(0, keepdims=True), X.var(0, keepdims=True)
return gain * (X - mean) / np.sqrt(var + eps) + bias
"""),
    ("4.3", "over the whole sequence", "one for each feature", """
mean, var = X.mean((-2, -1), keepdims=True), X.var((-2, -1), keepdims=True)
return gain * (X - mean) / np.sqrt(var + eps) + bias
"""),
    ("4.3", "no mean", "is the mean taken", """
return gain * X / np.sqrt(np.mean(X**2, -2, keepdims=True) + eps) + bias
"""),
    ("4.3", "unbiased variance", "not by n - 1", """
mean, var = X.mean(-2, keepdims=True), X.var(-2, ddof=1, keepdims=True)
return gain * (X - mean) / np.sqrt(var + eps) + bias
"""),
    ("4.3", "no root", "its own standard deviation", """
mean, var = X.mean(-2, keepdims=True), X.var(-2, keepdims=True)
return gain * (X - mean) / (var + eps) + bias
"""),
    ("4.3", "one variance for all features", "its own standard deviation", """
mean, var = X.mean(-2, keepdims=True), X.var((-2, -1), keepdims=True)
return gain * (X - mean) / np.sqrt(var + eps) + bias
"""),
    ("4.3", "eps outside the root", "inside the square root", """
mean, std = X.mean(-2, keepdims=True), X.std(-2, keepdims=True)
return gain * (X - mean) / (std + eps) + bias
"""),
    ("4.3", "eps left out", "the eps it is given", """
mean, std = X.mean(-2, keepdims=True), X.std(-2, keepdims=True)
return gain * (X - mean) / std + bias
"""),
    ("4.3", "no gain", "its own gain", """
mean, var = X.mean(-2, keepdims=True), X.var(-2, keepdims=True)
return (X - mean) / np.sqrt(var + eps) + bias
"""),
    ("4.3", "a gain around 1", "its own", """
mean, var = X.mean(-2, keepdims=True), X.var(-2, keepdims=True)
return (1 + gain) * (X - mean) / np.sqrt(var + eps) + bias
"""),
    ("4.3", "gain times bias", "bias added last", """
mean, var = X.mean(-2, keepdims=True), X.var(-2, keepdims=True)
return gain * ((X - mean) / np.sqrt(var + eps) + bias)
"""),
    ("4.3", "gain and bias swapped", "each other's place", """
mean, var = X.mean(-2, keepdims=True), X.var(-2, keepdims=True)
return bias * (X - mean) / np.sqrt(var + eps) + gain
"""),
    ("4.3", "eps 1e-5, whatever was given", "the eps it is given", """
mean, var = X.mean(-2, keepdims=True), X.var(-2, keepdims=True)
return gain * (X - mean) / np.sqrt(var + 1e-5) + bias
"""),
    ("4.3", "1e-5 beside the eps", "still an eps", """
mean, var = X.mean(-2, keepdims=True), X.var(-2, keepdims=True)
return gain * (X - mean) / np.sqrt(var + eps + 1e-5) + bias
"""),
    ("4.3", "gain without its sign", "sign included", """
mean, var = X.mean(-2, keepdims=True), X.var(-2, keepdims=True)
return abs(gain) * (X - mean) / np.sqrt(var + eps) + bias
"""),
    ("4.3", "gain in the wrong order", "its own gain", """
mean, var = X.mean(-2, keepdims=True), X.var(-2, keepdims=True)
return gain[::-1] * (X - mean) / np.sqrt(var + eps) + bias
"""),
    ("4.3", "layer_norm of X transposed", "why scale rows", """
return layer_norm(X.mT, gain, bias, eps).mT
"""),
    ("4.3", "rows sorted", "slow specification", """
mean, var = X.mean(-2, keepdims=True), X.var(-2, keepdims=True)
X = np.sort(X, axis=-2)
return gain * (X - mean) / np.sqrt(var + eps) + bias
"""),
    ("4.3", "second axis", "(5, 4)", """
mean, var = X.mean(1, keepdims=True), X.var(1, keepdims=True)
return gain * (X - mean) / np.sqrt(var + eps) + bias
"""),
    ("4.3", "no bias", "bias", """
mean, var = X.mean(-2, keepdims=True), X.var(-2, keepdims=True)
return gain * (X - mean) / np.sqrt(var + eps)
"""),
    ("4.3", "axis lost", "keepdims=True", """
return gain * (X - X.mean(-2)) / np.sqrt(X.var(-2) + eps) + bias
"""),
    ("4.3", "transposed", "shape of X", """
X = X.swapaxes(-1, -2)
return (X - X.mean(-1, keepdims=True)) / np.sqrt(
    X.var(-1, keepdims=True) + eps)
"""),
    ("4.3", "in place", "leave X, gain and bias", """
X -= X.mean(-2, keepdims=True)
return gain * X / np.sqrt(X.var(-2, keepdims=True) + eps) + bias
"""),
    ("4.3", "gain scaled in place", "leave X, gain and bias", """
mean, var = X.mean(-2, keepdims=True), X.var(-2, keepdims=True)
gain /= 2
return 2 * gain * (X - mean) / np.sqrt(var + eps) + bias
"""),
    ("4.3", "a batch taken for granted", "in your line", """
B, n, d = X.shape
mean = X.mean(1).reshape(B, 1, d)
var = X.var(1).reshape(B, 1, d)
return gain * (X - mean) / np.sqrt(var + eps) + bias
"""),
    ("4.3", "a width of 4 written in", "X of shape (2, 3, 4, 6)", """
Y = np.zeros(X.shape)
for f in range(4):
    x = X[..., f]
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    Y[..., f] = gain[f] * (x - mean) / np.sqrt(var + eps) + bias[f]
return Y
"""),
    ("4.3", "nothing returned", "return its result", """
mean = X.mean(-2, keepdims=True)
"""),
    ("4.3", "not begun", "not done yet", """
raise NotImplementedError
"""),
    ("4.4", "symmetry", "the colleague's matrix", """
return int(X.shape[0] == X.shape[1] and np.allclose(X, X.T)), 1 / 3, 0
"""),
    ("4.4", "equal means", "the colleague's matrix", """
same = X.shape[0] == X.shape[1] and np.allclose(X.mean(0), X.mean(1))
return int(same), 1 / 3, 0
"""),
    ("4.4", "2 x 2 fools", "rows become (-1, 1)", """
return int(X.shape == (2, 2)), 1 / 3, 0
"""),
    ("4.4", "squares only", "is X square", """
if X.shape[0] != X.shape[1]:
    return 0, 1 / 3, 0
rows = (X - X.mean(1, keepdims=True)) / X.std(1, keepdims=True)
columns = (X - X.mean(0)) / X.std(0)
return int(np.allclose(rows, columns, rtol=0, atol=1e-4)), 1 / 3, 0
"""),
    ("4.4", "centered only", "the colleague's matrix", """
return int(np.allclose(X.mean(1, keepdims=True) + 0 * X, X.mean(0))), 1 / 3, 0
"""),
    ("4.4", "negated", "the colleague's matrix", """
rows = (X - X.mean(1, keepdims=True)) / X.std(1, keepdims=True)
columns = (X - X.mean(0)) / X.std(0)
return int(not np.allclose(rows, columns, rtol=0, atol=1e-4)), 1 / 3, 0
"""),
    ("4.4", "a difference", "the colleague's matrix", """
rows = (X - X.mean(1, keepdims=True)) / X.std(1, keepdims=True)
columns = (X - X.mean(0)) / X.std(0)
return np.abs(rows - columns).max(), 1 / 3, 0
"""),
    ("4.4", "the diagonal is larger", "or both the smaller", """
rows = (X - X.mean(1, keepdims=True)) / X.std(1, keepdims=True)
columns = (X - X.mean(0)) / X.std(0)
return int(np.allclose(rows, columns, rtol=0, atol=1e-4)), 1 / 6, 0
"""),
    ("4.4", "never by chance", "numbers are all different", """
rows = (X - X.mean(1, keepdims=True)) / X.std(1, keepdims=True)
columns = (X - X.mean(0)) / X.std(0)
return int(np.allclose(rows, columns, rtol=0, atol=1e-4)), 0, 0
"""),
    ("4.4", "independent comparisons", "count orders", """
rows = (X - X.mean(1, keepdims=True)) / X.std(1, keepdims=True)
columns = (X - X.mean(0)) / X.std(0)
return int(np.allclose(rows, columns, rtol=0, atol=1e-4)), 1 / 4, 0
"""),
    ("4.4", "not fooled", "not fooled", """
rows = (X - X.mean(1, keepdims=True)) / X.std(1, keepdims=True)
columns = (X - X.mean(0)) / X.std(0)
return int(np.allclose(rows, columns, rtol=0, atol=1e-4)), 2 / 3, 0
"""),
    ("4.4", "a quarter of a third", "have mean 0", """
rows = (X - X.mean(1, keepdims=True)) / X.std(1, keepdims=True)
columns = (X - X.mean(0)) / X.std(0)
return int(np.allclose(rows, columns, rtol=0, atol=1e-4)), 1 / 3, 1 / 12
"""),
    ("4.4", "in place", "leave X as it was", """
rows = (X - X.mean(1, keepdims=True)) / X.std(1, keepdims=True)
X -= X.mean(0)
X /= X.std(0)
return int(np.allclose(rows, X, rtol=0, atol=1e-4)), 1 / 3, 0
"""),
    ("4.4", "two numbers", "three numbers", """
return 1, 1 / 3
"""),
    ("4.4", "nothing returned", "return its result", """
fools = 1
"""),
    ("4.4", "not begun", "not done yet", """
raise NotImplementedError
"""),
]

HIDDEN = [
    ("4.3", "one pass over the data", "two large squares cancel", """
mean = X.mean(axis=-2, keepdims=True)
var = np.mean(X**2, axis=-2, keepdims=True) - mean**2
return gain * (X - mean) / np.sqrt(var + eps) + bias
"""),
    ("4.1", "widths to 50", "d = 1000", """
d = min(d, 50)
return d - 2, 2 * d**0.5, (d - 1) ** 0.5, -1 / (d - 1) ** 0.5
"""),
    ("4.2", "eps at least 0.01", "number", """
eps = max(eps, 0.02)
root = (sigma**2 + eps) ** 0.5
k = a * root / (a**2 * sigma**2 + eps) ** 0.5
return k, root / sigma, 1, (eps / 3) ** 0.5 / sigma
"""),
    ("4.4", "a loose comparison", "number 1", """
rows = (X - X.mean(1, keepdims=True)) / X.std(1, keepdims=True)
columns = (X - X.mean(0)) / X.std(0)
return int(np.allclose(rows, columns, rtol=0, atol=0.05)), 1 / 3, 0
"""),
]

VARIANTS = {
    "4.2": {
        "asks": "formula",
        "one of": {"c": [3, 4, 5, 6, 7, 8, 9]},
        "says": """The norm divides by $\\sigma + \\varepsilon$, not by
            $\\sqrt{{\\sigma^2 + \\varepsilon}}$. Number 4 asks for the standard
            deviation $\\tfrac1{{{c}}}$.""",
        "edits": [("""
    root = (sigma**2 + eps) ** 0.5
    k = a * root / (a**2 * sigma**2 + eps) ** 0.5
""", """
    root = sigma + eps
    k = a * root / (abs(a) * sigma + eps)
"""), ("half = (eps / 3) ** 0.5 / sigma                 # 4 s^2 = s^2 + eps",
       "half = eps / ({c} - 1) / sigma"),
                  ("sqrt(a^2 sigma^2 + eps)", "(|a| sigma + eps)")]},
    "4.3": {
        "asks": "formula",
        "one of": {"p": [3, 4, 5, 6, 7, 8]},
        "says": """The size of the deviations is measured by their power {p}.
            A feature minus its mean is divided by $(\\text{{mean of }}
            |x - \\mu|^{{{p}}} + \\varepsilon)^{{1/{p}}}$; everything else is
            as before, and the slow specification does not hold.""",
        "edits": [("var = X.var(axis=-2, keepdims=True)  ",
                   "size = np.mean(abs(X - mean)**{p}, axis=-2,"
                   " keepdims=True)"),
                  ("np.sqrt(var + eps)", "(size + eps)**(1 / {p})")]},
}
