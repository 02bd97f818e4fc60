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
    """A positive factor and a width."""
    return float(10 ** rng.uniform(-2, 2)), int(rng.integers(1, 300))


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
    ("3.3", "by digamma", """
def half_log_u(m):
    half = torch.tensor(m / 2).double()
    return (torch.digamma(half).item() - math.log(m / 2)) / 2
star, at = math.log(factor), math.log(factor) + 0.5 * math.log(d)
return np.array([star, star + half_log_u(1), at, at + half_log_u(d)])
"""),
    ("3.3", "the closed form at width 1", """
typical = -(np.euler_gamma + math.log(2)) / 2
at = math.log(factor * d**0.5)
return [math.log(factor), math.log(factor) + typical, at,
        at + log_growth(1, d)]
"""),
]

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
    ("3.3", "products exchanged", "* and @ in each other's place", """
return (math.log(factor * d**0.5), log_growth(factor * d**0.5, d),
        math.log(factor), log_growth(factor, 1))
"""),
    ("3.3", "mean and typical exchanged", "mean square and typical", """
return (log_growth(factor, 1), math.log(factor),
        log_growth(factor * d**0.5, d), math.log(factor * d**0.5))
"""),
    ("3.3", "factors", "Take their logarithms", """
s = factor * d**0.5
return (factor, math.exp(log_growth(factor, 1)), s,
        math.exp(log_growth(s, d)))
"""),
    ("3.3", "mean square, not its root", "Take its root", """
s = factor * d**0.5
return (2 * math.log(factor), log_growth(factor, 1), math.log(s),
        log_growth(s, d))
"""),
    ("3.3", "a width in *", "does d matter", """
s = factor * d**0.5
return math.log(s), log_growth(factor, 1), math.log(s), log_growth(s, d)
"""),
    ("3.3", "a guess for *", "how does factor * B change", """
s = factor * d**0.5
return 1.0, log_growth(factor, 1), math.log(s), log_growth(s, d)
"""),
    ("3.3", "typical as the mean", "lies below", """
s = factor * d**0.5
return math.log(factor), math.log(factor), math.log(s), log_growth(s, d)
"""),
    ("3.3", "the approximation at width 1", "At width 1 it is rough", """
s = factor * d**0.5
return math.log(factor), math.log(factor) - 0.5, math.log(s), log_growth(s, d)
"""),
    ("3.3", "the wrong width for *", "which width", """
s = factor * d**0.5
return (math.log(factor), log_growth(factor, d), math.log(s),
        log_growth(s, d))
"""),
    ("3.3", "@ without d", "where is d", """
s = factor * d**0.5
return (math.log(factor), log_growth(factor, 1), math.log(factor),
        log_growth(s, d))
"""),
    ("3.3", "@ with d for its root", "the root of d", """
s = factor * d**0.5
return (math.log(factor), log_growth(factor, 1), math.log(factor * d),
        log_growth(s, d))
"""),
    ("3.3", "@ divided by the root", "which weight scale", """
s = factor * d**0.5
return (math.log(factor), log_growth(factor, 1), math.log(factor / d**0.5),
        log_growth(s, d))
"""),
    ("3.3", "@ typical as the mean", "the exact form", """
s = factor * d**0.5
return math.log(factor), log_growth(factor, 1), math.log(s), math.log(s)
"""),
    ("3.3", "@ at scale factor", "which scale and which width", """
s = factor * d**0.5
return (math.log(factor), log_growth(factor, 1), math.log(s),
        log_growth(factor, d))
"""),
    ("3.3", "three numbers", "four numbers", """
return math.log(factor), log_growth(factor, 1), math.log(factor * d**0.5)
"""),
    ("3.3", "nothing returned", "return its result", """
math.log(factor)
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
    ("3.3", "wrong from width 50 on", "is it right for factor 0.1", """
s = factor * d**0.5
last = log_growth(s, d) if d < 50 else math.log(s) - 0.51 / d
return math.log(factor), log_growth(factor, 1), math.log(s), last
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
