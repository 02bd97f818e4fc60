"""Answers to the exercises of chapter 03: the lines between the solution marks.

RIGHT   exercise, how it is written, body
WRONG   exercise, the mistake, words that the check must print, body
HIDDEN  exercise, the mistake, words that only the grade says, body
DOMAIN  exercise: a function that draws arguments as its statement allows them
PRECISE exercise: the students' kinds (battery.py) that it refuses, and why
VARIANTS exercise: what a homework sheet changes (tools/homework/variants.py)
"""


def draw_3_1(rng):
    """A width."""
    return (int(rng.integers(1, 500)),)


def draw_3_2(rng):
    """Gradients with up to three axes in front, some layers, a factor."""
    d, N = int(rng.integers(1, 7)), int(rng.integers(1, 6))
    lead = rng.integers(1, 5, size=rng.integers(0, 4))
    c = float(rng.choice([-1, 1]) * 10 ** rng.uniform(-2, 0.5))
    dX = rng.normal(size=(*lead, d)) * 10 ** rng.uniform(-3, 3)
    return dX, rng.normal(size=(N, d, d)), c


def draw_3_3(rng):
    """Pairs with up to three axes in front, two lists of matrices."""
    d, N = int(rng.integers(20, 30)), int(rng.integers(1, 4))
    lead = rng.integers(1, 4, size=rng.integers(0, 4))
    X = rng.normal(size=(*lead, 2, d)) * 10 ** rng.uniform(
        -2, 2, size=(*lead, 2, 1))
    W, V = rng.normal(size=(2, N, d, d)) * (2 / d)**0.5
    return X, W, V


DOMAIN = {"3.1": draw_3_1, "3.2": draw_3_2, "3.3": draw_3_3}
PRECISE = {}

RIGHT = [
    ("3.1", "by digamma", """
half = torch.tensor(d / 2, dtype=torch.float64)
log_u = torch.digamma(half).item() - math.log(d / 2)
return [math.exp(-log_u / 2), (2 / 1.01) ** 0.5, 2**-0.5]
"""),
    ("3.1", "as an array, from log_growth", """
rate = log_growth(1.0, d)
kept = np.array([np.exp(-2 * rate), 1 / (0.5 + 0.5 / 100), 1 / (0.5 * 4)])
return np.sqrt(kept)
"""),
    ("3.2", "by einsum, into an array", """
N = len(W)
out = np.empty((N + 1, *dX.shape))
out[N] = dX
for l in range(N, 0, -1):
    out[l - 1] = out[l] + c * np.einsum("...e,de->...d", out[l], W[l - 1])
return out
"""),
    ("3.2", "with I + c W", """
A = np.eye(W.shape[-1]) + c * W
rows = [dX]
for M in reversed(A):
    rows = [rows[0] @ M.T, *rows]
return np.array(rows)
"""),
    ("3.3", "by the lesson's functions", """
M = np.stack([np.stack([W, W], 1), np.stack([W, V], 1)])
T, rows = np.stack([X, X]), []
for l in range(len(W)):
    T = rectify(np.einsum("s...td,stde->s...te", T, M[:, l]))
    rows.append(cosine(T))
return np.moveaxis(rows, 0, 1)
"""),
    ("3.3", "unit vectors", """
def walk(x, matrices):
    for M in matrices:
        x = (x @ M).clip(0)
        yield x / np.sqrt(np.sum(x**2, axis=-1, keepdims=True))
a, b, c = (np.stack([*walk(x, M)]) for x, M in (
    (X[..., 0, :], W), (X[..., 1, :], W), (X[..., 1, :], V)))
return np.stack([(a * b).sum(axis=-1), (a * c).sum(axis=-1)])
"""),
]

ALIKE = """
demos, size = [], np.linalg.norm
for second in (W, V):
    a, b, row = X[..., 0, :], X[..., 1, :], []
    for A, B in zip(W, second):
        a, b = np.maximum(a @ A, 0), np.maximum(b @ B, 0)
        row.append(np.sum(a * b, axis=-1) / size(a, axis=-1) / size(
            b, axis=-1))
    demos.append(row)
return np.array(demos)
"""
WRONG = [
    ("3.1", "scale 1", "and the mean logarithm", """
return 1, (2 / 1.01) ** 0.5, 0.5**0.5
"""),
    ("3.1", "the sign of the rate", "wants a scale above 1", """
return math.exp(log_growth(1, d)), (2 / 1.01) ** 0.5, 0.5**0.5
"""),
    ("3.1", "the root forgotten", "half of that of u", """
return math.exp(-2 * log_growth(1, d)), (2 / 1.01) ** 0.5, 0.5**0.5
"""),
    ("3.1", "the approximation", "exact form", """
return math.exp(1 / (2 * d)), (2 / 1.01) ** 0.5, 0.5**0.5
"""),
    ("3.1", "the approximation once more", "exact form", """
return 1 + 1 / (2 * d), (2 / 1.01) ** 0.5, 0.5**0.5
"""),
    ("3.1", "one width only", "is the rate (3.2) zero", """
return math.exp(-log_growth(1, 1)), (2 / 1.01) ** 0.5, 0.5**0.5
"""),
    ("3.1", "ReLU", "what do the negative numbers add", """
return math.exp(-log_growth(1, d)), 2**0.5, 0.5**0.5
"""),
    ("3.1", "the slope not squared", "is the factor 1/10 squared", """
return math.exp(-log_growth(1, d)), (2 / 1.1) ** 0.5, 0.5**0.5
"""),
    ("3.1", "the square of the scale", "the square of the scale, or", """
return math.exp(-log_growth(1, d)), 2 / 1.01, 0.5**0.5
"""),
    ("3.1", "leaky by guess", "by which factor does the leaky ReLU", """
return math.exp(-log_growth(1, d)), 1.2, 0.5**0.5
"""),
    ("3.1", "dropout keeps the mean", "the mean of the squares", """
return math.exp(-log_growth(1, d)), (2 / 1.01) ** 0.5, 1
"""),
    ("3.1", "dropout as ReLU", "what of its square", """
return math.exp(-log_growth(1, d)), (2 / 1.01) ** 0.5, 2**0.5
"""),
    ("3.1", "dropout not rooted", "3: is this the square", """
return math.exp(-log_growth(1, d)), (2 / 1.01) ** 0.5, 0.5
"""),
    ("3.1", "dropout by guess", "dropout change E[z^2]", """
return math.exp(-log_growth(1, d)), (2 / 1.01) ** 0.5, 0.8
"""),
    ("3.1", "two numbers", "three numbers", """
return math.exp(-log_growth(1, d)), (2 / 1.01) ** 0.5
"""),
    ("3.1", "nothing returned", "return its result", """
math.exp(-log_growth(1, d))
"""),
    ("3.1", "not begun", "not done yet", """
raise NotImplementedError
"""),
    ("3.2", "not transposed", "transposed on the way back", """
rows = [dX]
for W_l in W[::-1]:
    rows.insert(0, rows[0] + c * rows[0] @ W_l)
return np.array(rows)
"""),
    ("3.2", "forward order of layers", "the first on the way back", """
rows = [dX]
for W_l in W:
    rows.insert(0, rows[0] + c * rows[0] @ W_l.T)
return np.array(rows)
"""),
    ("3.2", "last gradient first", "input's gradient first", """
rows = [dX]
for W_l in W[::-1]:
    rows.append(rows[-1] + c * rows[-1] @ W_l.T)
return np.array(rows)
"""),
    ("3.2", "no shortcut", "along the shortcut", """
rows = [dX]
for W_l in W[::-1]:
    rows.insert(0, c * rows[0] @ W_l.T)
return np.array(rows)
"""),
    ("3.2", "no c", "where is c", """
rows = [dX]
for W_l in W[::-1]:
    rows.insert(0, rows[0] + rows[0] @ W_l.T)
return np.array(rows)
"""),
    ("3.2", "c times both", "the branch alone", """
rows = [dX]
for W_l in W[::-1]:
    rows.insert(0, c * (rows[0] + rows[0] @ W_l.T))
return np.array(rows)
"""),
    ("3.2", "every layer from the end", "start from the one behind", """
return np.array([dX + c * dX @ W_l.T for W_l in W] + [dX])
"""),
    ("3.2", "without the last", "Which is missing", """
rows = [dX]
for W_l in W[::-1]:
    rows.insert(0, rows[0] + c * rows[0] @ W_l.T)
return np.array(rows[:-1])
"""),
    ("3.2", "in place", "as they were", """
rows = [dX.copy()]
for W_l in W[::-1]:
    dX += c * dX @ W_l.T
    rows.insert(0, dX.copy())
return np.array(rows)
"""),
    ("3.2", "only the input's", "is the shape", """
for W_l in W[::-1]:
    dX = dX + c * dX @ W_l.T
return dX
"""),
    ("3.2", "the last entry doubled", "is the last entry dX itself", """
rows = [2 * dX]
for W_l in W[::-1]:
    rows.insert(0, rows[0] + c * rows[0] @ W_l.T)
return np.array(rows)
"""),
    ("3.2", "c with the wrong sign", "one layer back", """
rows = [dX]
for W_l in W[::-1]:
    rows.insert(0, rows[0] - c * rows[0] @ W_l.T)
return np.array(rows)
"""),
    ("3.2", "nothing returned", "return its result", """
dX = dX + c * dX @ W[-1].T
"""),
    ("3.2", "not begun", "not done yet", """
raise NotImplementedError
"""),
    ("3.3", "the dot product without lengths", "divided by both lengths", """
demos, size = [], np.linalg.norm
for second in (W, V):
    a, b, row = X[..., 0, :], X[..., 1, :], []
    for A, B in zip(W, second):
        a, b = np.maximum(a @ A, 0), np.maximum(b @ B, 0)
        row.append(np.sum(a * b, axis=-1))
    demos.append(row)
return np.array(demos)
"""),
    ("3.3", "means of products", "divided by both lengths", """
demos, size = [], np.linalg.norm
for second in (W, V):
    a, b, row = X[..., 0, :], X[..., 1, :], []
    for A, B in zip(W, second):
        a, b = np.maximum(a @ A, 0), np.maximum(b @ B, 0)
        row.append(np.mean(a * b, axis=-1))
    demos.append(row)
return np.array(demos)
"""),
    ("3.3", "over the first length alone", "divided by both lengths", """
demos, size = [], np.linalg.norm
for second in (W, V):
    a, b, row = X[..., 0, :], X[..., 1, :], []
    for A, B in zip(W, second):
        a, b = np.maximum(a @ A, 0), np.maximum(b @ B, 0)
        row.append(np.sum(a * b, axis=-1) / size(a, axis=-1))
    demos.append(row)
return np.array(demos)
"""),
    ("3.3", "the RMS in place of the length", "take the same", """
demos, size = [], np.linalg.norm
for second in (W, V):
    a, b, row = X[..., 0, :], X[..., 1, :], []
    for A, B in zip(W, second):
        a, b = np.maximum(a @ A, 0), np.maximum(b @ B, 0)
        row.append(np.sum(a * b, axis=-1) / rms(a) / rms(b))
    demos.append(row)
return np.array(demos)
"""),
    ("3.3", "a mean over two lengths", "take the same",
     ALIKE.replace("sum", "mean")),
    ("3.3", "squared lengths", "root of the sum of the squares", """
demos, size = [], np.linalg.norm
for second in (W, V):
    a, b, row = X[..., 0, :], X[..., 1, :], []
    for A, B in zip(W, second):
        a, b = np.maximum(a @ A, 0), np.maximum(b @ B, 0)
        row.append(np.sum(a * b, axis=-1) / np.sum(a**2, axis=-1) / np.sum(
            b**2, axis=-1))
    demos.append(row)
return np.array(demos)
"""),
    ("3.3", "the cosine with the difference", "does their difference", """
demos, size = [], np.linalg.norm
for second in (W, V):
    a, b, row = X[..., 0, :], X[..., 1, :], []
    for A, B in zip(W, second):
        a, b = np.maximum(a @ A, 0), np.maximum(b @ B, 0)
        e = a - b
        row.append(np.sum(a * e, axis=-1) / size(a, axis=-1) / size(
            e, axis=-1))
    demos.append(row)
return np.array(demos)
"""),
    ("3.3", "one minus the cosine", "does their difference",
     ALIKE.replace("return np", "return 1 - np")),
    ("3.3", "the length of the difference", "does their difference", """
demos, size = [], np.linalg.norm
for second in (W, V):
    a, b, row = X[..., 0, :], X[..., 1, :], []
    for A, B in zip(W, second):
        a, b = np.maximum(a @ A, 0), np.maximum(b @ B, 0)
        row.append(size(a - b, axis=-1))
    demos.append(row)
return np.array(demos)
"""),
    ("3.3", "the angle", "not its cosine",
     ALIKE.replace("array", "arccos")),
    ("3.3", "the correlation", "subtracts no mean", """
demos, size = [], np.linalg.norm
for second in (W, V):
    a, b, row = X[..., 0, :], X[..., 1, :], []
    for A, B in zip(W, second):
        a, b = np.maximum(a @ A, 0), np.maximum(b @ B, 0)
        e, g = a - a.mean(-1, keepdims=True), b - b.mean(-1, keepdims=True)
        row.append(np.sum(e * g, axis=-1) / size(e, axis=-1) / size(
            g, axis=-1))
    demos.append(row)
return np.array(demos)
"""),
    ("3.3", "the mean over the batch", "do you average over the pairs",
     ALIKE.replace(
         "demos)\n",
         "demos).reshape(2, len(W), -1).mean(axis=-1)\n")),
    ("3.3", "the batch, for each pair", "do you average over the pairs", """
demos, size = [], np.linalg.norm
for second in (W, V):
    a, b, row = X[..., 0, :], X[..., 1, :], []
    for A, B in zip(W, second):
        a, b = np.maximum(a @ A, 0), np.maximum(b @ B, 0)
        row.append(np.mean(np.sum(a * b, axis=-1) / (
            size(a, axis=-1) * size(b, axis=-1))) + 0 * a[..., 0])
    demos.append(row)
return np.array(demos)
"""),
    ("3.3", "lengths of the whole batch", "do you average over the pairs", """
demos, size = [], np.linalg.norm
for second in (W, V):
    a, b, row = X[..., 0, :], X[..., 1, :], []
    for A, B in zip(W, second):
        a, b = np.maximum(a @ A, 0), np.maximum(b @ B, 0)
        row.append(np.sum(a * b, axis=-1) / size(a) / size(b))
    demos.append(row)
return np.array(demos)
"""),
    ("3.3", "the slip first", "the slip second",
     ALIKE.replace("W, V", "V, W")),
    ("3.3", "no slip", "which token meets V",
     ALIKE.replace("V", "W")),
    ("3.3", "both meet V", "which token meets V", """
def one(W, V):
    a, b, row = X[..., 0, :], X[..., 1, :], []
    for A, B in zip(W, V):
        a, b = np.maximum(a @ A, 0), np.maximum(b @ B, 0)
        row.append(cosine(np.stack([a, b], axis=-2)))
    return row
return np.array([one(W, W), one(V, V)])
"""),
    ("3.3", "the first token meets V", "which token meets V", """
def one(W, V):
    a, b, row = X[..., 0, :], X[..., 1, :], []
    for A, B in zip(W, V):
        a, b = np.maximum(a @ A, 0), np.maximum(b @ B, 0)
        row.append(cosine(np.stack([a, b], axis=-2)))
    return row
return np.array([one(W, W), one(V, W)])
"""),
    ("3.3", "without ReLU", "where is the ReLU",
     ALIKE.replace(
         "np.maximum(a @ A, 0), np.maximum(b @ B, 0)",
         "a @ A, b @ B")),
    ("3.3", "the ReLU before the matrix", "behind each layer",
     ALIKE.replace(
         "a @ A, 0), np.maximum(b @ B, 0)",
         "a, 0) @ A, np.maximum(b, 0) @ B")),
    ("3.3", "each layer from the start", "the one before it returned",
     ALIKE.replace(
         "np.maximum(a @ A, 0), np.maximum(b @ B, 0",
         "(np.maximum(X[..., i, :] @ M, 0) for i, M in ((0, A), (1, B))")),
    ("3.3", "transposed matrices", "is it x @ W",
     ALIKE.replace(
         "A, 0), np.maximum(b @ B",
         "A.T, 0), np.maximum(b @ B.T")),
    ("3.3", "the start counted", "cosine of the start",
     ALIKE.replace(
         "    a, b, row = X[..., 0, :], X[..., 1, :], []\n",
         "    a, b, row = X[..., 0, :], X[..., 1, :], [\n"
         "        cosine(X)]\n")),
    ("3.3", "in place", "as they were",
     ALIKE.replace(
         "    a, b, row = X[..., 0, :], X[..., 1, :], []\n",
         "    X /= np.linalg.norm(X, axis=-1, keepdims=True)\n"
         "    a, b, row = X[..., 0, :], X[..., 1, :], []\n")),
    ("3.3", "axes in another order", "is the shape",
     ALIKE.replace("array(demos", "moveaxis(demos, 0, -1")),
    ("3.3", "nothing returned", "return its result", """
demos = cosine(X)
"""),
    ("3.3", "not begun", "not done yet", """
raise NotImplementedError
"""),
]

HIDDEN = [
    ("3.1", "a table of the four widths of the check",
     "is it right for d = 2", """
best = {w: math.exp(-log_growth(1, w)) for w in (1, 3, 8, 64)}
return best.get(d, 1 + 1 / (2 * d)), (2 / 1.01) ** 0.5, 0.5**0.5
"""),
    ("3.2", "at most five layers", "is it autograd's", """
rows = [dX]
for i, W_l in enumerate(W[::-1]):
    rows.insert(0, rows[0] + c * (i < 5) * (rows[0] @ W_l.T))
return np.array(rows)
"""),
    ("3.3", "at most five layers", "is it right", """
demos, size = [], np.linalg.norm
for second in (W, V):
    a, b, row = X[..., 0, :], X[..., 1, :], []
    for A, B in zip(W, second):
        a, b = np.maximum(a @ A, 0), np.maximum(b @ B, 0)
        row.append((len(row) < 5) * np.sum(a * b, axis=-1) / (
            size(a, axis=-1) * size(b, axis=-1)))
    demos.append(row)
return np.array(demos)
"""),
]

TENTHS = [0.3, 0.4, 0.6, 0.7, 0.8, 0.9]
VARIANTS = {
    "3.1": {
        "asks": "formula",
        "one of": {"c": [3, 4, 5, 6, 7, 8], "p": [3, 4, 5, 6, 7, 8],
                   "m": [3, 4, 5, 6, 7]},
        "says": """In 2, the leaky ReLU multiplies negative numbers by
            $\\tfrac1{{{c}}}$. In 3, the dropout sets each number to 0 with
            probability $\\tfrac1{{{p}}}$ and multiplies the others by
            {m}.""",
        "edits": [("math.sqrt(2 / (1 + 0.1**2))             # 1 or 1/100",
                   "math.sqrt(2 / (1 + {c}**-2))"),
                  ("math.sqrt(1 / 2)                      # a half is"
                   " multiplied by 4",
                   "math.sqrt(1 / ({m}**2 * (1 - 1 / {p})))")]},
    "3.2": {
        "asks": "formula",
        "one of": {"a": [*TENTHS, 1.1, 1.2, 1.3]},
        "says": """The shortcut has a weight, and the matrices stand
            transposed: $x_\\ell = {a} \\, x_{{\\ell-1}} + c \\, x_{{\\ell-1}}
            W_\\ell^\\top$.""",
        "edits": [("dX = dX + c * dX @ W_l.T", "dX = {a} * dX + c * dX @ W_l")
                  ]},
}
