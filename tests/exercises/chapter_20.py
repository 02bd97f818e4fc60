"""Answers to the exercises of chapter 20: the lines between the solution marks.

RIGHT   exercise, how it is written, body
WRONG   exercise, the mistake, words that the check must print, body
HIDDEN  exercise, the mistake, words that only the grade says, body
DOMAIN  exercise: a function that draws arguments as its statement allows them
PRECISE exercise: the students' kinds (battery.py) that it refuses, and why
VARIANTS exercise: what a homework sheet changes (tools/homework/variants.py)
"""

import numpy as np


def unequal(rng, k, largest=8):
    """k sizes from 1 to largest, no two the same."""
    return (rng.permutation(largest)[:k] + 1).tolist()


def sized(rng, *shape):
    """Signed numbers; the size of the whole from tiny to far beyond 50."""
    return 10 ** rng.uniform(-5, 4) * rng.normal(size=shape)


def tokens(rng, *shape):
    """Signed tokens, each of its own size, tiny to huge, some of them 0."""
    size = 10 ** rng.uniform(-5, 4, size=(*shape[:-1], 1))
    return rng.normal(size=shape) * size * (rng.random(size.shape) < 0.95)


def angles(rng, n, half):
    """Cosines and sines at n positions of any text, (n, half) each."""
    position = rng.integers(10 ** rng.integers(1, 6), size=n)
    angle = np.outer(position, 10_000.0 ** (-np.arange(half) / half))
    return np.cos(angle), np.sin(angle)


def draw_20_1(rng):
    return tuple(int(k) for k in rng.integers(1, 9, size=2))


def draw_20_2(rng):
    p, n, d_out = unequal(rng, 3)
    d_in = p + rng.integers(20)
    cut = 1 + np.sort(rng.choice(d_in - 1, size=p - 1, replace=False))
    X, W = tokens(rng, n, d_in), sized(rng, d_in, d_out)
    parts = [*zip(np.split(X, cut, axis=1), np.split(W, cut), strict=True)]
    return (np.array([x @ w for x, w in parts]),
            np.array([(x**2).sum(axis=1) for x, w in parts]), int(d_in),
            sized(rng, d_out), 10 ** rng.uniform(-9, 0))


def draw_20_3(rng):
    n, half, d_model, *front = unequal(rng, rng.integers(3, 7))
    return (tokens(rng, *front, n, d_model), *angles(rng, n, half),
            10 ** rng.uniform(-9, 0))


def draw_20_4(rng):
    m, d, d_out = unequal(rng, 3)
    return (sized(rng, m, d), *(sized(rng, d) for _ in range(3)),
            sized(rng, d, d_out), sized(rng, d_out))


def draw_20_5(rng):
    d_latent, d_rope, d_model, *front = unequal(rng, rng.integers(3, 7))
    X, W = tokens(rng, *front, d_model), sized(rng, d_model, d_latent + d_rope)
    return (X @ W, np.mean(X**2, axis=-1, keepdims=True), sized(rng, d_latent),
            d_latent, *10 ** rng.uniform(-9, 0, size=2))


DOMAIN = {"20.1": draw_20_1, "20.2": draw_20_2, "20.3": draw_20_3,
          "20.4": draw_20_4, "20.5": draw_20_5}
PRECISE = {}

DEGREES = """
return p, p + 1, p * q, 1 if p == 1 else math.nan, 0, 2 * p
"""
FINISH = """
rms = np.sqrt(squares.sum(axis=0) / d_in + eps)
return products.sum(axis=0) / rms[:, None] + c
"""
TABLES = """
d_k = 2 * cos.shape[-1]
shrink = d_k**-0.25 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
return shrink * cos, shrink * sin
"""
ABSORB = """
return (V - V.mean(axis=1, keepdims=True), b_V - b_V.mean(),
        gain[:, None] * W, c + bias @ W)
"""
LATENT = """
latent, turning = raw[..., :d_latent], raw[..., d_latent:]
size_squared = mean_sq + eps_1
root = np.sqrt((latent**2).mean(-1, keepdims=True) + eps_2 * size_squared)
return gain * latent / root, turning / np.sqrt(size_squared)
"""

RIGHT = [
    ("20.1", "as a list", """
return [p, 1 + p, q * p, 1 if p < 2 else np.nan, 0, p + p]
"""),
    ("20.1", "the sum first", """
shortcut = np.nan
if p == 1:
    shortcut = 1
return p, p + 1, p * q, shortcut, 0, 2 * p
"""),
    ("20.2", "by einsum", """
s = (np.einsum("pn->n", squares) / d_in + eps) ** -0.5
return np.einsum("pnk,n->nk", products, s) + c
"""),
    ("20.2", "each product divided by the root of the whole", """
whole = sum(squares)
Y = np.zeros(products.shape[1:])
for product in products:
    Y = Y + product / np.sqrt(whole / d_in + eps)[:, None]
return Y + c
"""),
    ("20.2", "by torch, with the root of the sum", """
total = torch.tensor(squares).sum(0) + d_in * eps
return (torch.tensor(products).sum(0) * (d_in / total).sqrt()[:, None]
        + torch.tensor(c))
"""),
    ("20.3", "by the chapter's function", """
s = reciprocal_rms(X, eps) / (2 * cos.shape[-1]) ** 0.25
return s * cos, s * sin
"""),
    ("20.3", "by torch", """
x = torch.tensor(X)
s = torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)
s = s / math.sqrt(math.sqrt(2 * cos.shape[-1]))
return s * torch.tensor(cos), s * torch.tensor(sin)
"""),
    ("20.3", "as a list, by einsum", """
squares = np.einsum("...d,...d->...", X, X) / X.shape[-1] + eps
s = (squares * np.sqrt(2 * cos.shape[1])) ** -0.5
return [np.einsum("...n,nk->...nk", s, table) for table in (cos, sin)]
"""),
    ("20.4", "by a centring matrix", """
d = len(gain)
centre = np.eye(d) - 1 / d
return V @ centre, b_V @ centre, np.diag(gain) @ W, bias @ W + c
"""),
    ("20.4", "from row sums, as in the paper", """
d = V.shape[1]
V_new = V - V.sum(1)[:, None] @ np.ones((1, d)) / d
return [V_new, b_V - np.sum(b_V) / d, (W.T * gain).T, W.T @ bias + c]
"""),
    ("20.5", "both norms after all", """
once = raw / np.sqrt(mean_sq + eps_1)
return rms_norm(once[..., :d_latent], gain, eps_2), once[..., d_latent:]
"""),
    ("20.5", "written out", LATENT),
]

WRONG = [
    ("20.1", "not begun", "20.1 not done yet", "raise NotImplementedError"),
    ("20.1", "nothing returned", "return its result",
     DEGREES.replace("return ", "")),
    ("20.1", "five numbers", "six numbers", DEGREES.replace(", 2 * p", "")),
    ("20.1", "matrices add 1 each", "In a chain degrees multiply",
     DEGREES.replace("return p,", "return p + 2,")),
    ("20.1", "branches multiply degrees", "two branches are multiplied",
     DEGREES.replace("p + 1", "p")),
    ("20.1", "two for the other branch", "two branches are multiplied",
     DEGREES.replace("p + 1", "p + 2")),
    ("20.1", "a chain adds", "one after the other",
     DEGREES.replace("p * q", "p + q")),
    ("20.1", "f_2 alone", "what does f_2 do",
     DEGREES.replace("p * q", "q")),
    ("20.1", "q to the power p", "what does f_2 do",
     DEGREES.replace("p * q", "p ** q")),
    ("20.1", "the larger degree of a sum", "the same degree",
     DEGREES.replace("math.nan", "p")),
    ("20.1", "the smaller degree of a sum", "the same degree",
     DEGREES.replace("math.nan", "1")),
    ("20.1", "no degree for any sum", "for p = 1 both",
     DEGREES.replace("1 if p == 1 else math.nan", "math.nan")),
    ("20.1", "a sum adds degrees", "for p = 1 both",
     DEGREES.replace("1 if p", "2 if p")),
    ("20.1", "the norm has degree 1", "what does RMSNorm leave",
     DEGREES.replace("0, 2", "p + 1, 2")),
    ("20.1", "no degree behind a norm", "what does RMSNorm leave",
     DEGREES.replace("0, 2", "math.nan, 2")),
    ("20.1", "one token is multiplied", "of which power",
     DEGREES.replace("2 * p", "p")),
    ("20.1", "degree 2 whatever the layer", "of which power",
     DEGREES.replace("2 * p", "2")),
    ("20.1", "a dot product multiplies degrees", "of which power",
     DEGREES.replace("2 * p", "p * p")),
    ("20.2", "not begun", "20.2 not done yet", "raise NotImplementedError"),
    ("20.2", "the products changed in place", "as they were", """
Y = products[0]
for product in products[1:]:
    Y += product
return Y / np.sqrt(squares.sum(axis=0) / d_in + eps)[:, None] + c
"""),
    ("20.2", "squares divided in place", "as they were",
     "squares /= d_in" + FINISH.replace(" / d_in", "")),
    ("20.2", "four machines, eight features", "other tokens",
     FINISH.replace("/ d_in", "/ 8")),
    ("20.2", "five columns", "c (3,)",
     FINISH.replace("+ c", "+ c[:5] * np.ones(5)")),
    ("20.2", "nothing returned", "return its result",
     FINISH.replace("return ", "")),
    ("20.2", "a token each machine", "one row per token", """
return products / np.sqrt(squares / d_in + eps)[..., None] + c
"""),
    ("20.2", "each part by its own root", "before all the parts", """
rms = np.sqrt(squares / d_in + eps)
return (products / rms[..., None]).sum(axis=0) + c
"""),
    ("20.2", "the mean of the products", "before all the parts",
     FINISH.replace("products.sum", "products.mean")),
    ("20.2", "no root", "or its root",
     FINISH.replace("np.sqrt(squares.sum(axis=0) / d_in + eps)",
                    "(squares.sum(axis=0) / d_in + eps)")),
    ("20.2", "multiplied in place of divided", "or its root",
     FINISH.replace("/ rms[:, None]", "* rms[:, None]")),
    ("20.2", "one scale for all tokens", "its own number",
     FINISH.replace("squares.sum(axis=0) / d_in", "squares.sum(axis=0).mean()"
                    " / d_in").replace("rms[:, None]", "rms")),
    ("20.2", "not divided by d_in", "by how many",
     FINISH.replace(" / d_in", "")),
    ("20.2", "divided by the width of the output", "by how many",
     FINISH.replace("/ d_in", "/ products.shape[-1]")),
    ("20.2", "the mean over machines", "before all the parts",
     FINISH.replace("squares.sum", "squares.mean")),
    ("20.2", "the scale after the bias", "c should arrive",
     FINISH.replace("products.sum(axis=0) / rms[:, None] + c",
                    "(products.sum(axis=0) + c) / rms[:, None]")),
    ("20.2", "the bias forgotten", "c should arrive",
     FINISH.replace(" + c", "")),
    ("20.2", "the bias once for each machine", "c is not there once",
     FINISH.replace(" + c", " + len(products) * c")),
    ("20.2", "eps forgotten", "a token of zeros",
     FINISH.replace(" + eps", "")),
    ("20.2", "eps outside the root", "inside the root",
     FINISH.replace("/ d_in + eps)", "/ d_in) + eps")),
    ("20.2", "eps added to the sum", "not to the sum",
     FINISH.replace("squares.sum(axis=0) / d_in + eps",
                    "(squares.sum(axis=0) + eps) / d_in")),
    ("20.3", "not begun", "20.3 not done yet", "raise NotImplementedError"),
    ("20.3", "the tokens squared in place", "as they were",
     "X *= X" + TABLES.replace("X**2", "X")),
    ("20.3", "the tables scaled in place", "as they were", """
d_k = 2 * cos.shape[-1]
shrink = d_k**-0.25 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
for a in cos, sin:
    a *= d_k**-0.25
    shrink = shrink * d_k**0.125
return shrink * cos, shrink * sin
"""),
    ("20.3", "a batch taken for granted", "there X (5, 7)", """
B, n, d = X.shape
""" + TABLES),
    ("20.3", "axis 2 for the last", "there X (5, 7)",
     TABLES.replace("axis=-1", "axis=2")),
    ("20.3", "a batch or none", "there X (3, 2, 5, 7)", """
B, n, d = X.shape if X.ndim == 3 else (1, *X.shape)
""" + TABLES),
    ("20.3", "d_k as in the example", "0 axes in front",
     TABLES.replace("2 * cos.shape[-1]", "6")),
    ("20.3", "nothing returned", "return its result",
     TABLES.replace("return ", "")),
    ("20.3", "one table", "two arrays", TABLES.replace(", shrink * sin", "")),
    ("20.3", "the tables as they were", "tables of its own", "return cos, sin"),
    ("20.3", "only the cosine", "the angle has changed",
     TABLES.replace("shrink * sin", "sin + 0 * shrink")),
    ("20.3", "the RMS in place of its reciprocal", "which power",
     TABLES.replace("-0.25 /", "-0.25 *")),
    ("20.3", "the mean square", "which power", TABLES.replace("np.sqrt", "")),
    ("20.3", "the size forgotten", "which power",
     TABLES.replace("np.mean(X**2", "np.mean(0 * X + 1")),
    ("20.3", "one scale for the batch", "which axis",
     TABLES.replace("np.mean(X**2, axis=-1, keepdims=True)",
                    "np.mean(X**2) + 0 * X[..., :1]")),
    ("20.3", "the mean over tokens", "which axis",
     TABLES.replace("np.mean(X**2, axis=-1, keepdims=True)",
                    "np.mean(X**2, axis=(-1, -2), keepdims=True)"
                    " + 0 * X[..., :1]")),
    ("20.3", "no root of d_k", "who divides", TABLES.replace("d_k**-0.25",
                                                             "1")),
    ("20.3", "the whole root in the shared tables", "how often",
     TABLES.replace("-0.25", "-0.5")),
    ("20.3", "the number of pairs", "which width",
     TABLES.replace("2 * cos", "cos")),
    ("20.3", "the width of the model", "which width",
     TABLES.replace("2 * cos", "X")),
    ("20.3", "multiplied by the root", "which width",
     TABLES.replace("-0.25", "0.25")),
    ("20.3", "sum of squares, not mean", "which width",
     TABLES.replace("np.mean(X", "np.sum(X")),
    ("20.3", "eps forgotten", "eps inside", TABLES.replace(" + eps", "")),
    ("20.3", "eps outside the root", "eps inside",
     """
d_k = 2 * cos.shape[-1]
rms = np.sqrt(np.mean(X**2, axis=-1, keepdims=True)) + eps
return d_k**-0.25 / rms * cos, d_k**-0.25 / rms * sin
"""),
    ("20.4", "not begun", "20.4 not done yet", "raise NotImplementedError"),
    ("20.4", "V changed in place", "as they were", """
V -= V.mean(axis=1, keepdims=True)
return V, b_V - b_V.mean(), gain[:, None] * W, c + bias @ W
"""),
    ("20.4", "c changed in place", "as they were", """
c += bias @ W
""" + ABSORB.replace("c + bias @ W", "c")),
    ("20.4", "W's rows scaled in place", "as they were", """
c = c + bias @ W
for i, g in enumerate(gain):
    W[i] *= g
""" + ABSORB.replace("c + bias @ W", "c").replace("gain[:, None] * W", "W")),
    ("20.4", "keepdims forgotten, saved by a square", "V (4, 7)", """
mean = V.mean(axis=1)
mean = mean[:, None] if V.shape[0] == V.shape[1] else mean[:, None][:1]
return V - mean, b_V - b_V.mean(), gain[:, None] * W, c + bias @ W
"""),
    ("20.4", "six features", "is not square",
     ABSORB.replace("V.mean(axis=1, keepdims=True)",
                    "V.sum(axis=1, keepdims=True) / 6")),
    ("20.4", "nothing returned", "return its result",
     ABSORB.replace("return (", "(")),
    ("20.4", "two things", "four things", "return gain[:, None] * W, c"),
    ("20.4", "column means of V", "should have mean 0",
     ABSORB.replace("V.mean(axis=1, keepdims=True)", "V.mean(axis=0)")),
    ("20.4", "one mean of V", "should have mean 0",
     ABSORB.replace("V.mean(axis=1, keepdims=True)", "V.mean()")),
    ("20.4", "keepdims forgotten", "should have mean 0",
     ABSORB.replace("V.mean(axis=1, keepdims=True)", "V.mean(axis=1)")),
    ("20.4", "V left as it is", "should have mean 0",
     ABSORB.replace("V - V.mean(axis=1, keepdims=True)", "V")),
    ("20.4", "both means of V", "more than its mean", """
V_new = V - V.mean(axis=1, keepdims=True)
V_new = V_new - V_new.mean(axis=0)
return V_new, b_V - b_V.mean(), gain[:, None] * W, c + bias @ W
"""),
    ("20.4", "rows of V standardized", "more than its mean", """
V_new = (V - V.mean(axis=1, keepdims=True)) / V.std(axis=1, keepdims=True)
return V_new, b_V - b_V.mean(), gain[:, None] * W, c + bias @ W
"""),
    ("20.4", "the bias of V left as it is", "b_V is part",
     ABSORB.replace("b_V - b_V.mean()", "b_V")),
    ("20.4", "the bias of V lost", "its mean alone",
     ABSORB.replace("b_V - b_V.mean()", "0 * b_V")),
    ("20.4", "the gain in the columns", "row i of W",
     ABSORB.replace("gain[:, None] * W", "gain * W")),
    ("20.4", "the gain forgotten", "row i of W",
     ABSORB.replace("gain[:, None] * W", "W")),
    ("20.4", "c forgotten", "c should stay",
     ABSORB.replace("c + bias @ W", "bias @ W")),
    ("20.4", "c through the matrix", "c should stay",
     ABSORB.replace("c + bias @ W", "(c + bias) @ W")),
    ("20.4", "the norm's bias forgotten", "what does W make",
     ABSORB.replace("c + bias @ W", "c")),
    ("20.4", "the bias added, not multiplied", "what does W make",
     ABSORB.replace("c + bias @ W", "c + bias")),
    ("20.4", "the bias through the folded matrix", "through which matrix",
     ABSORB.replace("c + bias @ W", "c + (gain * bias) @ W")),
    ("20.5", "not begun", "20.5 not done yet", "raise NotImplementedError"),
    ("20.5", "raw changed in place", "as they were", """
raw /= np.sqrt(mean_sq + eps_1)
return rms_norm(raw[..., :d_latent], gain, eps_2), raw[..., d_latent:]
"""),
    ("20.5", "the mean squares changed in place", "as they were",
     "mean_sq += eps_1 + 1e-9" + LATENT.replace("mean_sq + eps_1", "mean_sq")),
    ("20.5", "a batch taken for granted", "there raw (9,)", """
B, n, width = raw.shape
""" + LATENT),
    ("20.5", "axis 2 for the last", "there raw (9,)",
     LATENT.replace(".mean(-1", ".mean(2")),
    ("20.5", "the width of this latent", "gain (3,)",
     LATENT.replace("d_latent", "4")),
    ("20.5", "nothing returned", "return its result",
     LATENT.replace("return ", "")),
    ("20.5", "one array", "two arrays", "return raw"),
    ("20.5", "the slice first", "two arrays", LATENT.replace(
        "return gain * latent / root, turning / np.sqrt(size_squared)",
        "return turning / np.sqrt(size_squared), gain * latent / root")),
    ("20.5", "one norm over all of it", "over which features", """
whole = raw / np.sqrt((raw**2).mean(-1, keepdims=True) + eps_2)
return gain * whole[..., :d_latent], whole[..., d_latent:]
"""),
    ("20.5", "the sum of squares", "over which features",
     LATENT.replace(".mean(-1", ".sum(-1")),
    ("20.5", "the latent only divided by the token's size",
     "over which features",
     LATENT.replace("latent / root", "latent / np.sqrt(size_squared)")),
    ("20.5", "the scale dropped on the slice", "who normalizes",
     LATENT.replace("turning / np.sqrt(size_squared)", "turning")),
    ("20.5", "the slice by the mean square", "who normalizes",
     LATENT.replace("turning / np.sqrt(size_squared)",
                    "turning / size_squared")),
    ("20.5", "the slice multiplied", "who normalizes",
     LATENT.replace("turning / np", "turning * np")),
    ("20.5", "the slice by the size of the latent", "what is yours",
     LATENT.replace("turning / np.sqrt(size_squared)", "turning / root")),
    ("20.5", "the gain forgotten", "where is the gain",
     LATENT.replace("gain * ", "")),
    ("20.5", "eps_1 forgotten", "divided by 2",
     LATENT.replace("mean_sq + eps_1", "mean_sq")),
    ("20.5", "eps_1 outside the root", "divided by 2",
     LATENT.replace("np.sqrt(size_squared)", "(np.sqrt(mean_sq) + eps_1)")),
    ("20.5", "eps_1 added to the latent's mean square", "should not change",
     LATENT.replace("eps_2 * size_squared", "eps_2 + eps_1")),
    ("20.5", "eps_2 as it was", "next to one that is not",
     LATENT.replace("eps_2 * size_squared", "eps_2")),
    ("20.5", "eps_2 divided in place of multiplied", "next to one that is not",
     LATENT.replace("eps_2 * size", "eps_2 / size")),
    ("20.5", "eps_2 times the size, not its square", "next to one that is not",
     LATENT.replace("eps_2 * size_squared", "eps_2 * np.sqrt(size_squared)")),
    ("20.5", "eps_2 forgotten", "next to one that is not",
     LATENT.replace(" + eps_2 * size_squared", "")),
]

HIDDEN = [
    ("20.1", "a table of the degrees up to 4", "p = 5",
     "p, q = min(p, 4), q" + DEGREES),
    ("20.2", "only for equal shares", "1, 2, 9 features", """
share = d_in / len(products)
if (squares.max(0) > 20 * squares.min(0)).any() and len(products) == 3:
    share = share + 1
rms = np.sqrt((squares / share).mean(axis=0) + eps)
return products.sum(axis=0) / rms[:, None] + c
"""),
    ("20.2", "tiny tokens taken for zeros", "size 0.0005", """
squares = np.where(squares < 1e-4, 0, squares)
""" + FINISH),
    ("20.2", "a bias that is kept from large numbers", "size 1000", """
c = np.clip(c, -100, 100)
""" + FINISH),
    ("20.3", "a floor under the sizes", "tokens of size 0.0003",
     TABLES.replace("np.mean(X**2, axis=-1, keepdims=True)",
                    "np.maximum(np.mean(X**2, axis=-1, keepdims=True), 1e-5)")),
    ("20.3", "what is nearly a whole turn left out", "d_k = 2", """
sin = np.where(abs(sin) < 1e-4, 0, sin)
""" + TABLES),
    ("20.3", "the tables changed in place", "inputs stay", """
if X.ndim == 2:
    cos += 1e-12
""" + TABLES),
    ("20.4", "small weights taken for 0", "weights of size 0.0003", """
W = np.where(abs(W) < 1e-3, 0, W)
""" + ABSORB),
    ("20.4", "large biases cut", "weights of size 300", """
bias = np.clip(bias, -50, 50)
""" + ABSORB),
    ("20.5", "a floor under the sizes", "size 0.0001",
     LATENT.replace("mean_sq + eps_1", "np.maximum(mean_sq, 1e-6) + eps_1")),
    ("20.5", "large gains cut", "size 10000", """
gain = gain.clip(-50, 50)
""" + LATENT),
]

SMALL = [2, 3, 4, 5, 6, 7, 8, 9]
VARIANTS = {
    "20.2": {
        "asks": "formula",
        "one of": {"c": [2, 4, 8, 16, 32, 64]},
        "says": """To stay in range, each machine has divided its features by
            {c} before it multiplied and squared them. The result is that of
            the features as they were, with their `eps`.""",
        "edits": [("rms = np.sqrt(squares.sum(axis=0) / d_in + eps)     #"
                   " (n,)",
                   "rms = np.sqrt({c}**2 * squares.sum(axis=0) / d_in + eps)"),
                  ("return products", "return {c} * products")]},
    "20.3": {
        "asks": "formula",
        "one of": {"c": SMALL},
        "says": """The scores (20.8) are divided by ${c} \\sqrt{{d_k}}$ in place
            of $\\sqrt{{d_k}}$.""",
        "edits": [("d_k**-0.25 /", "({c} * d_k**0.5) ** -0.5 /")]},
}
