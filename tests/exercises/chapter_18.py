"""Answers to the exercises of chapter 18: the lines between the solution marks.

RIGHT   exercise, how it is written, body
WRONG   exercise, the mistake, words that the check must print, body
HIDDEN  exercise, the mistake, words that only the grade says, body
DOMAIN  exercise: a function that draws arguments as its statement allows them
PRECISE exercise: the students' kinds (battery.py) that it refuses, and why
VARIANTS exercise: what a homework sheet changes (tools/homework/variants.py)
"""

import numpy as np

CHUNKS = """
front = V.shape[:-2]
state = np.zeros((*front, V.shape[-1], phi_K.shape[-1]))
z = np.zeros((*front, 1, phi_K.shape[-1]))
Y = np.zeros(V.shape)
for start in range(0, V.shape[-2], chunk):
    rows = np.s_[..., start : start + chunk, :]
    q, k, v = phi_Q[rows], phi_K[rows], V[rows]
    near = np.tril(q @ np.swapaxes(k, -1, -2))
    above = q @ np.swapaxes(state, -1, -2) + near @ v
    below = q @ np.swapaxes(z, -1, -2) + near.sum(axis=-1, keepdims=True)
    Y[rows] = above / below
    state = state + np.swapaxes(v, -1, -2) @ k
    z = z + k.sum(axis=-2, keepdims=True)
return Y
"""
# the two lines that hand on, moved before the read
FIRST_ON, THEN_ON = CHUNKS.splitlines()[-3:-1]
TWICE = (CHUNKS.replace(FIRST_ON + "\n", "").replace(THEN_ON + "\n", "")
         .replace("    near = ", f"{FIRST_ON}\n{THEN_ON}\n    near = "))
HALVES = """
C = A.shape[-1]
half = C // 2
inverse = A + np.eye(C)
if half:
    first = unit_triangular_inverse(A[..., :half, :half])
    last = unit_triangular_inverse(A[..., half:, half:])
    inverse[..., :half, :half], inverse[..., half:, half:] = first, last
    inverse[..., half:, :half] = -last @ A[..., half:, :half] @ first
return inverse
"""
SERIES = """
C = A.shape[-1]
eye = np.eye(C)
inverse, power, reach = eye - A, A @ A, 2
while reach < C:
    inverse = inverse @ (eye + power)
    power, reach = power @ power, 2 * reach
return inverse
"""
COSTS = """
d, n = 128, 6144
C = 3 * d / 4
return C, n / C, 1 + 4 * n / (3 * d)
"""
KEYS = """
return np.repeat(np.eye(6), 4, axis=0)
"""


def rows(rng, *shape, size=4):
    """Signed numbers, rows up to 10^size apart from 1."""
    return rng.normal(size=shape) * 10 ** rng.uniform(
        -size, size, size=(*shape[:-1], 1))


def draw_18_1(rng):
    *front, n, d_phi, d_v = map(int, rng.permutation(np.arange(1, 9))[
        :rng.integers(3, 6)])
    phi_Q, phi_K = (abs(rows(rng, *front, n, d_phi)) + 1e-5 for _ in "QK")
    return phi_Q, phi_K, rows(rng, *front, n, d_v), int(rng.integers(1, 12))


def draw_18_2(rng):
    *front, C = map(int, rng.permutation(np.arange(1, 10))[
        :rng.integers(1, 4)])
    if not front:
        C = int(rng.integers(1, 24))
    return (np.tril(rows(rng, *front, C, C, size=rng.uniform(0, 2)), -1),)


DOMAIN = {"18.1": draw_18_1, "18.2": draw_18_2, "18.3": lambda rng: (),
          "18.4": lambda rng: ()}
PRECISE = {}

RIGHT = [
    ("18.1", "state and normalizer", CHUNKS),
    ("18.1", "the values one column wider", """
V = np.concatenate([V, np.ones((*V.shape[:-1], 1))], axis=-1)
state, Y = 0, []
for start in range(0, V.shape[-2], chunk):
    q, k, v = (X[..., start : start + chunk, :] for X in (phi_Q, phi_K, V))
    near = np.tril(np.einsum("...ik,...jk->...ij", q, k))
    Y.append(near @ v + q @ state if start else near @ v)
    state = state + np.einsum("...jk,...jv->...kv", k, v)
Y = np.concatenate(Y, axis=-2)
return Y[..., :-1] / Y[..., -1:]
"""),
    ("18.1", "by torch, all chunks at once", """
n = V.shape[-2]
q, k, v = (torch.nn.functional.pad(torch.tensor(X), (0, 0, 0, -n % chunk))
           .unflatten(-2, (-1, chunk)) for X in (phi_Q, phi_K, V))
v = torch.cat([v, torch.ones_like(v[..., :1])], dim=-1)
wrote = k.mT @ v
before = wrote.cumsum(dim=-3) - wrote
read = (q @ before + (q @ k.mT).tril() @ v).flatten(-3, -2)[..., :n, :]
return (read[..., :-1] / read[..., -1:]).numpy()
"""),
    ("18.1", "token by token inside a chunk", """
Y = np.empty(V.shape)
state = np.zeros((*V.shape[:-2], V.shape[-1], phi_K.shape[-1]))
z = np.zeros((*V.shape[:-2], phi_K.shape[-1]))
for t in range(V.shape[-2]):
    state = write_sum(state, phi_K[..., t, :], V[..., t, :])
    z = z + phi_K[..., t, :]
    total = (z * phi_Q[..., t, :]).sum(axis=-1, keepdims=True)
    Y[..., t, :] = read_memory(state, phi_Q[..., t, :]) / total
return Y
"""),
    ("18.2", "by halves", HALVES),
    ("18.2", "by halves of a list of blocks", """
C = A.shape[-1]
if C == 1:
    return A + 1
cut = C // 2
top, low = A[..., :cut, :cut], A[..., cut:, cut:]
top, low = unit_triangular_inverse(top), unit_triangular_inverse(low)
X = np.einsum("...ij,...jk,...kl->...il", low, -A[..., cut:, :cut], top)
return np.concatenate([np.concatenate([top, A[..., :cut, cut:]], axis=-1),
                       np.concatenate([X, low], axis=-1)], axis=-2)
"""),
    ("18.2", "row by row", """
inverse = np.zeros_like(A)
for i, row in enumerate(np.moveaxis(A, -2, 0)):
    inverse[..., i, :] -= np.einsum("...j,...jk->...k", row, inverse)
    inverse[..., i, i] = 1
return inverse
"""),
    ("18.3", "by formula", COSTS),
    ("18.3", "as a list", "return [96, 64, 65]"),
    ("18.4", "a direction per chunk", KEYS),
    ("18.4", "by index", "return np.eye(6)[np.arange(24) // 4]"),
]

WRONG = [
    ("18.1", "not begun", "18.1 not done yet", "raise NotImplementedError"),
    ("18.1", "nothing returned", "return its result",
     CHUNKS.replace("return Y", "")),
    ("18.1", "non-causal sum", "is the sum causal",
     CHUNKS.replace("np.tril(", "(")),
    ("18.1", "the future instead of the past", "sees its own value alone",
     CHUNKS.replace("np.tril(", "np.triu(")),
    ("18.1", "missing normalizer", "do the shares of each row sum to 1",
     CHUNKS.replace("above / below", "above")),
    ("18.1", "the mean", "do the shares of each row sum to 1", CHUNKS.replace(
        "above / below", "above / np.arange(1, v.shape[-2] + 1)[:, None]")),
    ("18.1", "normalized by the own chunk", "do the shares of each row sum",
     CHUNKS.replace("    z = z +", "    z = 0 *")),
    ("18.1", "normalizer of the chunks before only", "shares of each row",
     CHUNKS.replace(" + near.sum(axis=-1, keepdims=True)", "")),
    ("18.1", "own chunk counted twice", "that of the chunks before", TWICE),
    ("18.1", "read before write", "does each token see itself", CHUNKS.replace(
        "1, -2))\n    above", "1, -2), -1)\n    above")),
    ("18.1", "as one matrix", "is an n x n matrix built", """
similar = np.tril(phi_Q @ np.swapaxes(phi_K, -1, -2))
return similar / similar.sum(axis=-1, keepdims=True) @ V
"""),
    ("18.1", "earlier chunks forgotten", "does the second chunk see the first",
     CHUNKS.replace("    state = state +", "    state = 0 *")
     .replace("    z = z +", "    z = 0 *")),
    ("18.1", "the chunk before only", "does the third chunk see both",
     CHUNKS.replace("    state = state + ", "    state = ")
     .replace("    z = z + ", "    z = ")),
    ("18.1", "each chunk for itself, then added", "do the shares of each row",
     CHUNKS.replace("above / below", """(
        q @ np.swapaxes(state, -1, -2) + near @ v / near.sum(-1, keepdims=True))
""")),
    ("18.1", "queries and keys exchanged", "is the first chunk right",
     "phi_Q, phi_K = phi_K, phi_Q" + CHUNKS),
    ("18.1", "in place", "as they were",
     CHUNKS.replace("Y = np.zeros(V.shape)", "Y = V")),
    ("18.1", "all chunks with the last state", "sees its own value alone", """
state = np.swapaxes(V, -1, -2) @ phi_K
z = phi_K.sum(axis=-2, keepdims=True)
return phi_Q @ np.swapaxes(state, -1, -2) / (phi_Q * z).sum(-1, keepdims=True)
"""),
    ("18.1", "the ragged end dropped", "11 tokens in chunks of 4",
     CHUNKS.replace("V.shape[-2], chunk)",
                    "V.shape[-2] // chunk * chunk, chunk)")),
    ("18.1", "cut by reshape", "cannot reshape", """
def cut(X):
    return X.reshape(*X.shape[:-2], -1, chunk, X.shape[-1])

q, k, v = map(cut, (phi_Q, phi_K, np.append(V, np.ones_like(V[..., :1]), -1)))
wrote = np.swapaxes(k, -1, -2) @ v
read = q @ (np.cumsum(wrote, axis=-3) - wrote)
read = read + np.tril(q @ np.swapaxes(k, -1, -2)) @ v
read = read.reshape(*V.shape[:-1], -1)
return read[..., :-1] / read[..., -1:]
"""),
    ("18.1", "one axis in front", "it stops with", CHUNKS.replace(
        "np.swapaxes(state, -1, -2)", "state.transpose(0, 2, 1)")
     .replace("np.zeros((*front, V.", "np.zeros((len(V), V.")),
    ("18.2", "not begun", "18.2 not done yet", "raise NotImplementedError"),
    ("18.2", "nothing returned", "return its result",
     HALVES.replace("return inverse", "")),
    ("18.2", "wrong sign", "which sign", HALVES.replace("= -last", "= last")),
    ("18.2", "all terms positive", "which sign", """
return sum(np.linalg.matrix_power(A, i) for i in range(len(A)))
"""),
    ("18.2", "right for two rows alone", "is the product with I + A",
     "return np.eye(len(A)) - A if len(A) < 4 else np.eye(len(A)) + A"),
    ("18.2", "X without inverses", "does X have both inverses", HALVES.replace(
        "-last @ A[..., half:, :half] @ first", "-A[..., half:, :half]")),
    ("18.2", "the order of the inverses", "both inverses, in the right order",
     HALVES.replace("-last @ A[..., half:, :half] @ first",
                    "-first @ A[..., half:, :half] @ last")),
    ("18.2", "the sign of X for blocks", "X has the wrong sign", HALVES.replace(
        "= -last @", "= (1 if C > 2 else -1) * last @")),
    ("18.2", "one inverse left out", "does X have both inverses",
     HALVES.replace("-last @ A[..., half:, :half] @ first",
                    "-last @ A[..., half:, :half]")),
    ("18.2", "the series", "do large terms cancel", SERIES),
    ("18.2", "the series, term by term", "do large terms cancel", """
*_, C = A.shape
return sum(np.linalg.matrix_power(-A, i) for i in range(C))
"""),
    ("18.2", "np.diag instead of eye", "is the inverse I - A",
     HALVES.replace("np.eye(C)", "np.diag(np.diag(A))")),
    ("18.2", "ones instead of the identity", "is the inverse I - A",
     HALVES.replace("np.eye(C)", "np.ones((C, C))")),
    ("18.2", "transposed", "is the inverse I - A",
     HALVES.replace("return inverse", "return inverse.swapaxes(-1, -2)")),
    ("18.2", "by inv", "no solver",
     "return np.linalg.inv(np.eye(A.shape[-1]) + A)"),
    ("18.2", "inv of what is below", "no solver",
     "return np.linalg.inv(np.eye(A.shape[-1]) + np.tril(A, -1))"),
    ("18.2", "by a triangular solver", "no solver", """
A = torch.tensor(A)
return torch.linalg.solve_triangular(A, torch.eye(A.shape[-1]).to(A),
                                     upper=False, unitriangular=True)
"""),
    ("18.2", "one matrix at a time", "it stops with",
     HALVES.replace("A[..., half:, :half]", "A[half:, :half]")
     .replace("A[..., :half, :half]", "A[:half, :half]")
     .replace("A[..., half:, half:]", "A[half:, half:]")),
    ("18.2", "in place", "leave A as it was",
     HALVES.replace("inverse = A + np.eye(C)",
                    "inverse = A\ninverse += np.eye(C)")),
    ("18.2", "a cut of even sizes alone", "is the product with I + A", """
C = A.shape[-1]
half = C // 2
inverse = np.zeros_like(A) + np.eye(C)
if half:
    inverse[..., :half, :half] = unit_triangular_inverse(A[..., :half, :half])
    inverse[..., half:2 * half, half:2 * half] = unit_triangular_inverse(
        A[..., half:2 * half, half:2 * half])
    inverse[..., half:2 * half, :half] = -inverse[
        ..., half:2 * half, half:2 * half] @ A[
        ..., half:2 * half, :half] @ inverse[..., :half, :half]
return inverse
"""),
    ("18.3", "not begun", "18.3 not done yet", "raise NotImplementedError"),
    ("18.3", "nothing returned", "return its result",
     COSTS.replace("return ", "")),
    ("18.3", "two numbers", "three numbers", "return 96, 64"),
    ("18.3", "turned over", "not for 1 / C",
     COSTS.replace("3 * d / 4", "4 * d / 3")),
    ("18.3", "the width", "for which C is 4 C d",
     COSTS.replace("3 * d / 4", "d")),
    ("18.3", "the steps of the loop", "how many chunks",
     COSTS.replace("n / C,", "n,")),
    ("18.3", "without the state", "products with the state counted",
     COSTS.replace("1 + 4", "4")),
    ("18.3", "the other way round", "which of both",
     COSTS.replace("1 + 4 * n / (3 * d)", "1 / (1 + 4 * n / (3 * d))")),
    ("18.3", "attention", "the row of chunks", COSTS.replace(
        "1 + 4 * n / (3 * d)", "n / d")),
    ("18.4", "not begun", "18.4 not done yet", "raise NotImplementedError"),
    ("18.4", "nothing returned", "return its result",
     KEYS.replace("return ", "")),
    ("18.4", "six keys", "24 keys of width 6", "return np.eye(6)"),
    ("18.4", "no keys", "key length 1", "return np.zeros((24, 6))"),
    ("18.4", "ones", "key length 1", "return np.ones((24, 6))"),
    ("18.4", "the directions in turn", "read 0 from what earlier",
     "return np.tile(np.eye(6), (4, 1))"),
    ("18.4", "one direction", "read 0 from what earlier",
     "return np.repeat(np.eye(6)[:1], 24, axis=0)"),
    ("18.4", "random keys", "read 0 from what earlier", """
K = np.random.default_rng(0).normal(size=(24, 6))
return K / np.linalg.norm(K, axis=1, keepdims=True)
"""),
    ("18.4", "three to a chunk", "read 0 from what earlier", """
return np.eye(6)[np.minimum(np.arange(24) // 3, 5)]
"""),
]

HIDDEN = [
    ("18.1", "an epsilon below", "very different size",
     CHUNKS.replace("above / below", "above / (below + 1e-6)")),
    ("18.2", "numbers above 100 cut off", "rows of A up to",
     "A = A.clip(-100, 100)\n" + HALVES),
    ("18.4", "right for values 1 alone", "other values and strengths", """
K = np.repeat(np.eye(6), 4, axis=0)
K[:4] = K[[0, 4, 0, 4]]
K[4:8] = [math.sqrt(0.5), -math.sqrt(0.5), 0, 0, 0, 0]
return K
"""),
]

TENTHS = [0.3, 0.4, 0.6, 0.7, 0.8, 0.9]
VARIANTS = {
    "18.1": {
        "asks": "formula",
        "one of": {"g": [*TENTHS]},
        "says": """Earlier tokens fade: in each step, what is left of all
            earlier tokens is multiplied by {g}. Token $j$ enters numerator and
            denominator of token $t \\ge j$ with the factor ${g}^{{t-j}}$.""",
        "edits": [("near = np.tril(q @ np.swapaxes(k, -1, -2))",
                   """i = np.arange(q.shape[-2])
        fade = np.tril({g} ** np.abs(i[:, None] - i))
        near = fade * (q @ np.swapaxes(k, -1, -2))
        since = {g} ** (i[:, None] + 1)             # the chunk's beginning"""
                   ),
                  ("Y.append(q @ np.swapaxes", "Y.append(since * q @"
                   " np.swapaxes"),
                  ("state = state + np.swapaxes(v, -1, -2) @ k",
                   "left = {g} ** (len(i) - 1 - i[:, None])\n"
                   "        state = {g} ** len(i) * state\n"
                   "        state = state + np.swapaxes(left * v, -1, -2)"
                   " @ k")]},
    "18.2": {
        "asks": "formula",
        "one of": {"c": [2, 3, 4, 5, 8]},
        "says": """Find the inverse of ${c} I + A$. The inverse of one row is
            $\\tfrac1{c}$, and $L_1$ and $L_2$ have {c} on their diagonals.""",
        "words": [(""" The check includes 64 tokens with similar keys of length
            1, where (18.8) fails also in float64.""", "")],
        "edits": [("inverse = A + np.eye(A.shape[-1])               # its"
                   " blocks follow",
                   "inverse = A + np.eye(A.shape[-1]) / {c}"),
                  ("inverse of I + A by", "inverse of {c} I + A by")]},
}
