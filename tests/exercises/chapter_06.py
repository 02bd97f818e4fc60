"""Answers to the exercises of chapter 06: the lines between the solution marks.

RIGHT   exercise, how it is written, body
WRONG   exercise, the mistake, words that the check must print, body
HIDDEN  exercise, the mistake, words that only the grade says, body
DOMAIN  exercise: a function that draws arguments as its statement allows them
PRECISE exercise: the students' kinds (battery.py) that it refuses, and why
VARIANTS exercise: what a homework sheet changes (tools/homework/variants.py)
"""


def lead(rng):
    """Up to three axes in front, or none."""
    return tuple(rng.integers(1, 5, size=rng.integers(0, 4)))


def draw_6_1(rng):
    """The RMS of a branch and a number of blocks."""
    return float(10 ** rng.uniform(-1.5, 0.7)), int(rng.integers(1, 40))


def draw_6_2(rng):
    """Tokens and matrices of several sizes, signed gains, an eps."""
    d, d_ff = (int(x) for x in rng.permutation(9)[:2] + 2)
    X = rng.normal(size=(*lead(rng), d)) * 10 ** rng.uniform(-3, 3)
    W_1 = rng.normal(size=(d, d_ff)) * 10 ** rng.uniform(-2, 2)
    W_2 = rng.normal(size=(d_ff, d))
    gains = 3 * rng.normal(size=(2, d))
    return X, W_1, W_2, gains[0], gains[1], 10 ** rng.uniform(-8, 0)


def draw_6_3(rng):
    """Queries and keys of several sizes, signed gains, an eps."""
    n, m, d_k = (int(x) for x in rng.permutation(7)[:3] + 1)
    front = lead(rng)
    Q = rng.normal(size=(*front, n, d_k)) * 10 ** rng.uniform(-3, 3)
    K = rng.normal(size=(*front, m, d_k)) * 10 ** rng.uniform(-3, 3)
    gains = 3 * rng.normal(size=(2, d_k))
    return Q, K, gains[0], gains[1], 10 ** rng.uniform(-8, 0)


def draw_6_4(rng):
    """Blocks, the RMS of a branch, a fraction."""
    return (int(rng.integers(1, 200)), float(10 ** rng.uniform(-2, 2)),
            float(rng.uniform(0.01, 0.99)))


DOMAIN = {"6.1": draw_6_1, "6.2": draw_6_2, "6.3": draw_6_3, "6.4": draw_6_4}
PRECISE = {}

RIGHT = [
    ("6.1", "by powers", """
keep = 1 / (1 + a**2)
power = np.arange(N, 0, -1)                     # norms that block l passes
post = np.append(keep**N, a**2 * keep**power)
pre = np.append(1, np.full(N, a**2))
return [pre / pre.sum(), post]
"""),
    ("6.1", "block by block, as lists", """
pre, post = [1.0], [1.0]
for _ in range(N):
    pre.append(a * a)
    post = [x / (1 + a * a) for x in [*post, a * a]]
total = sum(pre)
return [x / total for x in pre], post
"""),
    ("6.2", "in torch", """
X, W_1, W_2, gain_in, gain_out = map(
    torch.tensor, (X, W_1, W_2, gain_in, gain_out))
d = W_1.shape[0]
Y = torch.relu(F.rms_norm(X, (d,), gain_in, eps) @ W_1) @ W_2
return (X + F.rms_norm(Y, (d,), gain_out, eps)).numpy()
"""),
    ("6.2", "by reciprocal roots", """
s = (np.mean(X**2, axis=-1, keepdims=True) + eps) ** -0.5
hidden = (s * X * gain_in) @ W_1
Y = np.where(hidden > 0, hidden, 0) @ W_2
t = (np.einsum("...d,...d->...", Y, Y)[..., None] / Y.shape[-1] + eps) ** -0.5
return X + gain_out * t * Y
"""),
    ("6.3", "the division behind the product", """
d_k = Q.shape[-1]
s = (np.mean(Q**2, axis=-1) + eps) ** -0.5
t = (np.mean(K**2, axis=-1) + eps) ** -0.5
scores = np.einsum("...nk,k,...mk->...nm", Q, gain_q * gain_k, K)
return scores * s[..., :, None] * t[..., None, :] / d_k**0.5
"""),
    ("6.3", "in torch", """
Q, K, gain_q, gain_k = map(torch.tensor, (Q, K, gain_q, gain_k))
d_k = Q.shape[-1]
Q = F.rms_norm(Q, (d_k,), gain_q, eps)
K = F.rms_norm(K, (d_k,), gain_k, eps)
return (Q @ K.mT / d_k**0.5).numpy()
"""),
    ("6.4", "by a logarithm", """
lost = np.expm1(-np.log(keep) / N)              # a^2 / beta^2
return a / np.sqrt(lost)
"""),
    ("6.4", "as an array", """
each = np.array(keep) ** (1 / N)
return (a**2 * each / (1 - each)) ** 0.5
"""),
]

WRONG = [
    ("6.1", "pre and post swapped", "swapped", """
keep = 1 / (1 + a**2)
post = np.append(keep**N, a**2 * keep**np.arange(N, 0, -1))
pre = np.append(1, np.full(N, a**2))
return post, pre / pre.sum()
"""),
    ("6.1", "not divided by the sum", "do the fractions sum to 1", """
keep = 1 / (1 + a**2)
post = np.append(keep**N, a**2 * keep**np.arange(N, 0, -1))
return np.append(1, np.full(N, a**2)), post
"""),
    ("6.1", "a for its square", "so that its square counts", """
keep = 1 / (1 + a**2)
post = np.append(keep**N, a**2 * keep**np.arange(N, 0, -1))
pre = np.append(1, np.full(N, a))
return pre / pre.sum(), post
"""),
    ("6.1", "post like pre", "multiplies all older parts", """
pre = np.append(1, np.full(N, a**2))
return pre / pre.sum(), pre / pre.sum()
"""),
    ("6.1", "pre like post", "stand on the shortcut", """
keep = 1 / (1 + a**2)
post = np.append(keep**N, a**2 * keep**np.arange(N, 0, -1))
return post, post
"""),
    ("6.1", "the newest block first", "the newest block", """
keep = 1 / (1 + a**2)
post = np.append(keep**N, a**2 * keep**np.arange(1, N + 1))
pre = np.append(1, np.full(N, a**2))
return pre / pre.sum(), post
"""),
    ("6.1", "amplitudes", "are these amplitudes", """
keep = 1 / (1 + a**2)
post = np.append(keep**N, a**2 * keep**np.arange(N, 0, -1))
pre = np.append(1, np.full(N, a**2))
return pre / pre.sum(), post**0.5
"""),
    ("6.1", "one norm too few", "do the fractions sum to 1", """
keep = 1 / (1 + a**2)
post = np.append(keep**N, a**2 * keep**np.arange(N - 1, -1, -1))
pre = np.append(1, np.full(N, a**2))
return pre / pre.sum(), post
"""),
    ("6.1", "x_0 left out", "N + 1 numbers", """
keep = 1 / (1 + a**2)
return np.full(N, 1 / N), a**2 * keep**np.arange(N, 0, -1)
"""),
    ("6.2", "pre-norm", "is this pre-norm", """
X_hat = gain_in * X / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
return X + np.maximum(0, X_hat @ W_1) @ W_2
"""),
    ("6.2", "branch output only", "branch's input normalized", """
Y = np.maximum(0, X @ W_1) @ W_2
return X + gain_out * Y / np.sqrt(np.mean(Y**2, axis=-1, keepdims=True) + eps)
"""),
    ("6.2", "the normalized x as shortcut", "shortcut x itself", """
def norm(A, gain):
    return gain * A / np.sqrt(np.mean(A**2, axis=-1, keepdims=True) + eps)
X = norm(X, gain_in)
return X + norm(np.maximum(0, X @ W_1) @ W_2, gain_out)
"""),
    ("6.2", "the sum normalized", "normalizes the sum", """
def norm(A, gain):
    return gain * A / np.sqrt(np.mean(A**2, axis=-1, keepdims=True) + eps)
return norm(X + np.maximum(0, norm(X, gain_in) @ W_1) @ W_2, gain_out)
"""),
    ("6.2", "no shortcut", "where is the shortcut", """
def norm(A, gain):
    return gain * A / np.sqrt(np.mean(A**2, axis=-1, keepdims=True) + eps)
return norm(np.maximum(0, norm(X, gain_in) @ W_1) @ W_2, gain_out)
"""),
    ("6.2", "gains swapped", "gains swapped", """
def norm(A, gain):
    return gain * A / np.sqrt(np.mean(A**2, axis=-1, keepdims=True) + eps)
return X + norm(np.maximum(0, norm(X, gain_out) @ W_1) @ W_2, gain_in)
"""),
    ("6.2", "no inner gain", "where is gain_in", """
def norm(A, gain):
    return gain * A / np.sqrt(np.mean(A**2, axis=-1, keepdims=True) + eps)
return X + norm(np.maximum(0, norm(X, 1) @ W_1) @ W_2, gain_out)
"""),
    ("6.2", "no outer gain", "where is gain_out", """
def norm(A, gain):
    return gain * A / np.sqrt(np.mean(A**2, axis=-1, keepdims=True) + eps)
return X + norm(np.maximum(0, norm(X, gain_in) @ W_1) @ W_2, 1)
"""),
    ("6.2", "no ReLU", "where is the ReLU", """
def norm(A, gain):
    return gain * A / np.sqrt(np.mean(A**2, axis=-1, keepdims=True) + eps)
return X + norm(norm(X, gain_in) @ W_1 @ W_2, gain_out)
"""),
    ("6.2", "LayerNorm", "subtracts no mean", """
def norm(A, gain):
    A = A - A.mean(axis=-1, keepdims=True)
    return gain * A / np.sqrt(np.mean(A**2, axis=-1, keepdims=True) + eps)
return X + norm(np.maximum(0, norm(X, gain_in) @ W_1) @ W_2, gain_out)
"""),
    ("6.2", "eps outside the root", "inside both roots", """
def norm(A, gain):
    return gain * A / (np.sqrt(np.mean(A**2, axis=-1, keepdims=True)) + eps)
return X + norm(np.maximum(0, norm(X, gain_in) @ W_1) @ W_2, gain_out)
"""),
    ("6.2", "X changed in place", "as they were", """
def norm(A, gain):
    return gain * A / np.sqrt(np.mean(A**2, axis=-1, keepdims=True) + eps)
X += norm(np.maximum(0, norm(X, gain_in) @ W_1) @ W_2, gain_out)
return X
"""),
    ("6.3", "not scaled", "root of d_k", """
Q = gain_q * Q / np.sqrt(np.mean(Q**2, axis=-1, keepdims=True) + eps)
K = gain_k * K / np.sqrt(np.mean(K**2, axis=-1, keepdims=True) + eps)
return Q @ K.swapaxes(-1, -2)
"""),
    ("6.3", "divided by d_k", "not by d_k", """
Q = gain_q * Q / np.sqrt(np.mean(Q**2, axis=-1, keepdims=True) + eps)
K = gain_k * K / np.sqrt(np.mean(K**2, axis=-1, keepdims=True) + eps)
return Q @ K.swapaxes(-1, -2) / Q.shape[-1]
"""),
    ("6.3", "divided by the norm", "not by the norm", """
Q = gain_q * Q / np.sqrt(np.sum(Q**2, axis=-1, keepdims=True) + eps)
K = gain_k * K / np.sqrt(np.sum(K**2, axis=-1, keepdims=True) + eps)
return Q @ K.swapaxes(-1, -2) / Q.shape[-1] ** 0.5
"""),
    ("6.3", "no gains", "where are the gains", """
Q = Q / np.sqrt(np.mean(Q**2, axis=-1, keepdims=True) + eps)
K = K / np.sqrt(np.mean(K**2, axis=-1, keepdims=True) + eps)
return Q @ K.swapaxes(-1, -2) / Q.shape[-1] ** 0.5
"""),
    ("6.3", "no gain of the queries", "where is gain_q", """
Q = Q / np.sqrt(np.mean(Q**2, axis=-1, keepdims=True) + eps)
K = gain_k * K / np.sqrt(np.mean(K**2, axis=-1, keepdims=True) + eps)
return Q @ K.swapaxes(-1, -2) / Q.shape[-1] ** 0.5
"""),
    ("6.3", "no gain of the keys", "where is gain_k", """
Q = gain_q * Q / np.sqrt(np.mean(Q**2, axis=-1, keepdims=True) + eps)
K = K / np.sqrt(np.mean(K**2, axis=-1, keepdims=True) + eps)
return Q @ K.swapaxes(-1, -2) / Q.shape[-1] ** 0.5
"""),
    ("6.3", "queries only", "is K normalized", """
Q = gain_q * Q / np.sqrt(np.mean(Q**2, axis=-1, keepdims=True) + eps)
return Q @ (gain_k * K).swapaxes(-1, -2) / Q.shape[-1] ** 0.5
"""),
    ("6.3", "keys only", "is Q normalized", """
K = gain_k * K / np.sqrt(np.mean(K**2, axis=-1, keepdims=True) + eps)
return gain_q * Q @ K.swapaxes(-1, -2) / Q.shape[-1] ** 0.5
"""),
    ("6.3", "LayerNorm", "subtracts no mean", """
Q, K = (A - A.mean(axis=-1, keepdims=True) for A in (Q, K))
Q = gain_q * Q / np.sqrt(np.mean(Q**2, axis=-1, keepdims=True) + eps)
K = gain_k * K / np.sqrt(np.mean(K**2, axis=-1, keepdims=True) + eps)
return Q @ K.swapaxes(-1, -2) / Q.shape[-1] ** 0.5
"""),
    ("6.3", "eps outside the root", "inside both roots", """
Q = gain_q * Q / (np.sqrt(np.mean(Q**2, axis=-1, keepdims=True)) + eps)
K = gain_k * K / (np.sqrt(np.mean(K**2, axis=-1, keepdims=True)) + eps)
return Q @ K.swapaxes(-1, -2) / Q.shape[-1] ** 0.5
"""),
    ("6.3", "keys by queries", "is the shape", """
Q = gain_q * Q / np.sqrt(np.mean(Q**2, axis=-1, keepdims=True) + eps)
K = gain_k * K / np.sqrt(np.mean(K**2, axis=-1, keepdims=True) + eps)
return K @ Q.swapaxes(-1, -2) / Q.shape[-1] ** 0.5
"""),
    ("6.4", "beta squared", "beta squared", """
each = keep ** (1 / N)
return a**2 * each / (1 - each)
"""),
    ("6.4", "the fraction of the RMS", "squared in your formula", """
each = keep ** (2 / N)
return a * math.sqrt(each / (1 - each))
"""),
    ("6.4", "the root taken twice", "fraction of the RMS", """
each = keep ** (0.5 / N)
return a * math.sqrt(each / (1 - each))
"""),
    ("6.4", "the inverse", "the inverse", """
each = keep ** (1 / N)
return math.sqrt((1 - each) / each) / a
"""),
    ("6.4", "one block only", "take the root number N", """
return a * math.sqrt(keep / (1 - keep))
"""),
    ("6.4", "no a", "where is a", """
each = keep ** (1 / N)
return math.sqrt(each / (1 - each))
"""),
    ("6.4", "a for its square", "so that its square counts", """
each = keep ** (1 / N)
return math.sqrt(a * each / (1 - each))
"""),
    ("6.4", "divided by a", "does the branch grow", """
each = keep ** (1 / N)
return math.sqrt(each / (1 - each)) / a
"""),
]

HIDDEN = [
    ("6.1", "tiny fractions become 0", "is each fraction right", """
keep = 1 / (1 + a**2)
post = np.append(keep**N, a**2 * keep**np.arange(N, 0, -1))
pre = np.append(1, np.full(N, a**2))
return pre / pre.sum(), np.where(post < 1e-7, 0, post)
"""),
    ("6.2", "eps fixed by default", "default eps", """
eps = 1e-5 if eps == 1e-6 else eps
def norm(A, gain):
    return gain * A / np.sqrt(np.mean(A**2, axis=-1, keepdims=True) + eps)
return X + norm(np.maximum(0, norm(X, gain_in) @ W_1) @ W_2, gain_out)
"""),
    ("6.3", "another default eps", "default eps", """
eps = 1e-5 if eps == 1e-6 else eps
Q = gain_q * Q / np.sqrt(np.mean(Q**2, axis=-1, keepdims=True) + eps)
K = gain_k * K / np.sqrt(np.mean(K**2, axis=-1, keepdims=True) + eps)
return Q @ K.swapaxes(-1, -2) / Q.shape[-1] ** 0.5
"""),
    ("6.4", "at most 40 blocks", "is it right for", """
each = keep ** (1 / min(N, 40))
return a * math.sqrt(each / (1 - each))
"""),
]

TENTHS = [0.3, 0.4, 0.6, 0.7, 0.8, 0.9]
SMALL = [2, 3, 4, 5, 6, 7, 8, 9]
VARIANTS = {
    "6.1": {
        "asks": "formula",
        "one of": {"c": [0.5, 0.6, 0.7, 0.8, 0.9, 1.1, 1.2]},
        "says": """The shortcut of each block has the weight {c}: the block is
            ${c}\\,x + f(\\text{{norm}}(x))$ for pre-norm, and the norm of
            ${c}\\,x + f(x)$ for post-norm.""",
        "edits": [("""
    for block in range(1, N + 1):
        post[:block + 1] /= 1 + a**2                # the norm of this block
    return pre / (1 + a**2 * N), post
""", """
    for block in range(1, N + 1):
        pre[:block] *= {c}**2
        post[:block] *= {c}**2
        post[:block + 1] /= {c}**2 + a**2
    return pre / pre.sum(), post
""")]},
    "6.4": {
        "asks": "formula",
        "one of": {"c": SMALL, "g": [*TENTHS]},
        "says": """A block has {c} such steps, each with a norm of its own, and
            each branch is multiplied by {g}: a step is $\\mathrm{{LN}}(\\beta x
            + {g} f(x))$. `N` counts the blocks.""",
        "edits": [("keep ** (1 / N)", "keep ** (1 / ({c} * N))"),
                  ("return a *", "return {g} * a *")]},
}
