"""Answers to the exercises of chapter 18: the lines between the solution marks.

RIGHT   exercise, how it is written, body
WRONG   exercise, the mistake, words that the check must print, body
HIDDEN  exercise, the mistake, words that only the grade says, body
DOMAIN  exercise: a function that draws arguments as its statement allows them
PRECISE exercise: the students' kinds (battery.py) that it refuses, and why
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
INVERSE = """
C = A.shape[-1]
eye = np.eye(C)
inverse, power, reach = eye - A, A @ A, 2
while reach < C:
    inverse = inverse @ (eye + power)
    power, reach = power @ power, 2 * reach
return inverse
"""
STEP = """
new, y = np.zeros_like(state), np.zeros(len(x))
beta = sigmoid(x @ W_beta + b_beta)
for i in range(len(W_Q)):
    q = unit_length(dpfp(x @ W_Q[i], 1))
    k = unit_length(dpfp(x @ W_K[i], 1))
    v, old = x @ W_V[i], state[i] @ k
    new[i] = state[i] + beta[i] * np.outer(v - old, k)
    y = y + new[i] @ q @ W_O[i]
return y, new
"""
PARITY = """
n = len(bits)
Q, K, V = np.ones((n, 1)), np.ones((n, 1)), np.zeros((n, 1))
beta, state = 2.0 * bits, np.ones((1, 1))
return Q, K, V, beta, state
"""


def rows(rng, *shape, size=4):
    """Signed numbers, rows up to 10^size apart from 1."""
    return rng.normal(size=shape) * 10 ** rng.uniform(
        -size, size, size=(*shape[:-1], 1))


def draw_18_2(rng):
    *front, n, d_phi, d_v = map(int, rng.permutation(np.arange(1, 9))[
        :rng.integers(3, 6)])
    phi_Q, phi_K = (abs(rows(rng, *front, n, d_phi)) + 1e-5 for _ in "QK")
    return phi_Q, phi_K, rows(rng, *front, n, d_v), int(rng.integers(1, 12))


def draw_18_3(rng):
    *front, C = map(int, rng.permutation(np.arange(1, 10))[
        :rng.integers(1, 4)])
    if not front:
        C = int(rng.integers(1, 24))
    return (np.tril(rows(rng, *front, C, C, size=rng.uniform(0, 2)), -1),)


def draw_18_4(rng):
    """Of any size, but balanced: large tokens meet small weights."""
    h, d_model, d_k, d_v = map(int, rng.permutation(np.arange(1, 9))[:4])
    d_k = max(d_k, 2)
    s = 10 ** rng.uniform(-4, 4, size=(d_model, 1)) * 10 ** rng.uniform(-3, 3)
    r = 10 ** rng.uniform(-4, 4, size=(d_v, 1))
    offset = rng.uniform(-90, 90, size=h) * rng.integers(0, 2)
    x = rng.normal(size=d_model) / s[:, 0]
    W_beta = rng.normal(size=(d_model, h)) * s
    W_beta[0] -= offset / x[0]
    b_beta = rng.normal(size=h) * 10 ** rng.uniform(-4, 0) + offset
    W_Q, W_K = rng.normal(size=(2, h, d_model, d_k)) * s
    return (x, rng.normal(size=(h, d_v, 2 * d_k)) * r, W_Q, W_K,
            rng.normal(size=(h, d_model, d_v)) * s * r[:, 0], W_beta, b_beta,
            rng.normal(size=(h, d_v, d_model)) / r)


def draw_18_5(rng):
    return (rng.integers(2, size=rng.integers(1, 40)),)


DOMAIN = {"18.2": draw_18_2, "18.3": draw_18_3, "18.4": draw_18_4,
          "18.5": draw_18_5}
PRECISE = {}

RIGHT = [
    ("18.2", "state and normalizer", CHUNKS),
    ("18.2", "the values one column wider", """
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
    ("18.2", "by torch, all chunks at once", """
n = V.shape[-2]
q, k, v = (torch.nn.functional.pad(torch.tensor(X), (0, 0, 0, -n % chunk))
           .unflatten(-2, (-1, chunk)) for X in (phi_Q, phi_K, V))
v = torch.cat([v, torch.ones_like(v[..., :1])], dim=-1)
wrote = k.mT @ v
before = wrote.cumsum(dim=-3) - wrote
read = (q @ before + (q @ k.mT).tril() @ v).flatten(-3, -2)[..., :n, :]
return (read[..., :-1] / read[..., -1:]).numpy()
"""),
    ("18.2", "token by token inside a chunk", """
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
    ("18.3", "the series, term by term", """
*_, C = A.shape
return sum(np.linalg.matrix_power(-A, i) for i in range(C))
"""),
    ("18.3", "by torch, with factors", """
A = torch.tensor(A)
*_, C = A.shape
eye = torch.eye(C).to(A)
inverse, power = eye - A, A @ A
while power.any():
    inverse, power = inverse @ (eye + power), power @ power
return inverse
"""),
    ("18.3", "row by row", """
inverse = np.zeros_like(A)
for i, row in enumerate(np.moveaxis(A, -2, 0)):
    inverse[..., i, :] -= np.einsum("...j,...jk->...k", row, inverse)
    inverse[..., i, i] = 1
return inverse
"""),
    ("18.4", "head by head", STEP),
    ("18.4", "by chapter 16's functions", """
q, k = (unit_length(dpfp((x @ W), 1)) for W in (W_Q, W_K))
v = x @ W_V
new = write_delta(state, k, v, sigmoid(x @ W_beta + b_beta))
return (read_memory(new, q)[:, None] @ W_O).sum(axis=(0, 1)), new
"""),
    ("18.4", "a list of two", STEP.replace("y, new\n", "[y, new]\n")),
    ("18.4", "by erasing first", """
q, k = (unit_length(dpfp(np.einsum("d,hdk->hk", x, W), 1)) for W in (W_Q, W_K))
b = sigmoid(x @ W_beta + b_beta)[:, None, None]
new = state - b * (state @ k[:, :, None]) @ k[:, None, :]
new += b * (x @ W_V)[:, :, None] * k[:, None, :]
return np.einsum("hvk,hk,hvd->d", new, q, W_O), new
"""),
    ("18.5", "ones, zeros and twos", PARITY),
    ("18.5", "keys of either sign", PARITY.replace(
        "np.ones((n, 1)), np.zeros",
        "np.where(bits, -1.0, 1.0)[:, None], np.zeros")),
    ("18.5", "a list of five", PARITY.replace("Q, K, V, beta, state\n",
                                             "[Q, K, V, beta, state]\n")),
    ("18.5", "bit by bit", """
rows = [(1.0, 1.0, 0.0, 2.0 if bit else 0.0) for bit in bits]
Q, K, V, beta = (np.array(column) for column in zip(*rows, strict=True))
return Q[:, None], K[:, None], V[:, None], beta, [[1.0]]
"""),
    ("18.5", "a loud memory, read with a soft voice", """
n = len(bits)
alternate = np.where(bits, -1.0, 1.0)[:, None]      # the sign of a key is free
return (np.full((n, 1), -0.5), alternate, np.zeros((n, 1)),
        np.where(bits, 2.0, 0.0), np.full((1, 1), -2.0))
"""),
]

WRONG = [
    ("18.2", "not begun", "18.2 not done yet", "raise NotImplementedError"),
    ("18.2", "nothing returned", "return its result",
     CHUNKS.replace("return Y", "")),
    ("18.2", "non-causal sum", "is the sum causal",
     CHUNKS.replace("np.tril(", "(")),
    ("18.2", "the future instead of the past", "sees its own value alone",
     CHUNKS.replace("np.tril(", "np.triu(")),
    ("18.2", "missing normalizer", "do the shares of each row sum to 1",
     CHUNKS.replace("above / below", "above")),
    ("18.2", "the mean", "do the shares of each row sum to 1", CHUNKS.replace(
        "above / below", "above / np.arange(1, v.shape[-2] + 1)[:, None]")),
    ("18.2", "normalized by the own chunk", "do the shares of each row sum",
     CHUNKS.replace("    z = z +", "    z = 0 *")),
    ("18.2", "normalizer of the chunks before only", "shares of each row",
     CHUNKS.replace(" + near.sum(axis=-1, keepdims=True)", "")),
    ("18.2", "own chunk counted twice", "that of the chunks before", TWICE),
    ("18.2", "read before write", "does each token see itself", CHUNKS.replace(
        "1, -2))\n    above", "1, -2), -1)\n    above")),
    ("18.2", "as one matrix", "is an n x n matrix built", """
similar = np.tril(phi_Q @ np.swapaxes(phi_K, -1, -2))
return similar / similar.sum(axis=-1, keepdims=True) @ V
"""),
    ("18.2", "earlier chunks forgotten", "does the second chunk see the first",
     CHUNKS.replace("    state = state +", "    state = 0 *")
     .replace("    z = z +", "    z = 0 *")),
    ("18.2", "the chunk before only", "does the third chunk see both",
     CHUNKS.replace("    state = state + ", "    state = ")
     .replace("    z = z + ", "    z = ")),
    ("18.2", "each chunk for itself, then added", "do the shares of each row",
     CHUNKS.replace("above / below", """(
        q @ np.swapaxes(state, -1, -2) + near @ v / near.sum(-1, keepdims=True))
""")),
    ("18.2", "queries and keys exchanged", "is the first chunk right",
     "phi_Q, phi_K = phi_K, phi_Q" + CHUNKS),
    ("18.2", "in place", "as they were",
     CHUNKS.replace("Y = np.zeros(V.shape)", "Y = V")),
    ("18.2", "all chunks with the last state", "sees its own value alone", """
state = np.swapaxes(V, -1, -2) @ phi_K
z = phi_K.sum(axis=-2, keepdims=True)
return phi_Q @ np.swapaxes(state, -1, -2) / (phi_Q * z).sum(-1, keepdims=True)
"""),
    ("18.2", "the ragged end dropped", "11 tokens in chunks of 4",
     CHUNKS.replace("V.shape[-2], chunk)",
                    "V.shape[-2] // chunk * chunk, chunk)")),
    ("18.2", "cut by reshape", "cannot reshape", """
def cut(X):
    return X.reshape(*X.shape[:-2], -1, chunk, X.shape[-1])

q, k, v = map(cut, (phi_Q, phi_K, np.append(V, np.ones_like(V[..., :1]), -1)))
wrote = np.swapaxes(k, -1, -2) @ v
read = q @ (np.cumsum(wrote, axis=-3) - wrote)
read = read + np.tril(q @ np.swapaxes(k, -1, -2)) @ v
read = read.reshape(*V.shape[:-1], -1)
return read[..., :-1] / read[..., -1:]
"""),
    ("18.2", "one axis in front", "it stops with", CHUNKS.replace(
        "np.swapaxes(state, -1, -2)", "state.transpose(0, 2, 1)")
     .replace("np.zeros((*front, V.", "np.zeros((len(V), V.")),
    ("18.3", "not begun", "18.3 not done yet", "raise NotImplementedError"),
    ("18.3", "nothing returned", "return its result",
     INVERSE.replace("return inverse", "")),
    ("18.3", "wrong sign", "which sign",
     INVERSE.replace("= eye - A,", "= eye + A,")),
    ("18.3", "all terms positive", "which sign", """
return sum(np.linalg.matrix_power(A, i) for i in range(len(A)))
"""),
    ("18.3", "the signs go on alternating", "is the product with I + A",
     INVERSE.replace("(eye + power)", "(eye - power)")),
    ("18.3", "first factor alone", "C = 3: is the product with I + A",
     "return np.eye(len(A)) - A"),
    ("18.3", "too few factors", "are there enough factors",
     INVERSE.replace("while reach < C", "if C > 2")),
    ("18.3", "log2 rounded down", "C = 3: is the product with I + A", """
eye, inverse, power = np.eye(len(A)), np.eye(len(A)) - A, A
for _ in range(1, int(math.log2(len(A)))):
    power = power @ power
    inverse = inverse @ (eye + power)
return inverse
"""),
    ("18.3", "np.diag instead of eye", "is the inverse I - A",
     INVERSE.replace("np.eye(C)", "np.diag(np.diag(A))")),
    ("18.3", "ones instead of the identity", "is the inverse I - A",
     INVERSE.replace("np.eye(C)", "np.ones((C, C))")),
    ("18.3", "numbers squared, not the matrix", "A A is zero",
     INVERSE.replace("A @ A", "A**2").replace("reach < C", "reach <= C")),
    ("18.3", "the next power instead of the square", "power of each twice",
     INVERSE.replace("power @ power", "power @ A")),
    ("18.3", "numbers turned over", "is the inverse I - A", """
with np.errstate(all="ignore"):
    return np.where(np.eye(len(A)) + A == 0, 0, 1 / (np.eye(len(A)) + A))
"""),
    ("18.3", "transposed", "is the inverse I - A",
     INVERSE.replace("return inverse", "return inverse.T")),
    ("18.3", "by inv", "no solver",
     "return np.linalg.inv(np.eye(A.shape[-1]) + A)"),
    ("18.3", "inv of what is below", "no solver",
     "return np.linalg.inv(np.eye(A.shape[-1]) + np.tril(A, -1))"),
    ("18.3", "by a triangular solver", "no solver", """
A = torch.tensor(A)
return torch.linalg.solve_triangular(A, torch.eye(A.shape[-1]).to(A),
                                     upper=False, unitriangular=True)
"""),
    ("18.3", "the length for the width", "shapes clash",
     INVERSE.replace("A.shape[-1]", "len(A)")),
    ("18.3", "in place", "leave A as it was",
     INVERSE.replace("eye - A, A @ A, 2", "eye - A, A, 2")
     .replace("while", "power @= power\nwhile")),
    ("18.4", "not begun", "18.4 not done yet", "raise NotImplementedError"),
    ("18.4", "nothing returned", "return its result",
     STEP.replace("return y, new", "")),
    ("18.4", "the output alone", "two things",
     STEP.replace("return y, new", "return y")),
    ("18.4", "read before write", "is it read after the write",
     STEP.replace("new[i] @ q", "state[i] @ q")),
    ("18.4", "beta on the write only", "is only the difference written",
     STEP.replace("(v - old, k)", "(v, k)")),
    ("18.4", "the old value removed without beta", "does each beta scale all",
     STEP.replace("beta[i] * np.outer(v - old, k)",
                  "np.outer(beta[i] * v - old, k)")),
    ("18.4", "a decay of everything", "does each beta scale all",
     STEP.replace("beta[i] * np.outer(v - old, k)",
                  "beta[i] * np.outer(v - old, k) - (1 - beta[i]) * state[i]")),
    ("18.4", "all that is there fades by beta", "does all of the first pair",
     STEP.replace("state[i] + beta[i] * np.outer(v - old, k)",
                  "(1 - beta[i]) * state[i] + beta[i] * np.outer(v, k)")),
    ("18.4", "features of two shifts", "with d_phi = 2 d_k",
     STEP.replace(", 1))", ", 2))")),
    ("18.4", "a query without features", "with d_phi = 2 d_k",
     STEP.replace("dpfp(x @ W_Q[i], 1)", "x @ W_Q[i]")),
    ("18.4", "a row instead of a vector", "are they (d_model,)",
     STEP.replace("return y,", "return y[None],")),
    ("18.4", "old value under the query", "is only the difference written",
     STEP.replace("state[i] @ k", "state[i] @ q")),
    ("18.4", "transposed state", "are they (d_model,) and (h, d_v",
     STEP.replace("return y, new", "return y, new.swapaxes(1, 2)")),
    ("18.4", "keys in rows", "is the state (h, d_v, d_phi)", """
q, k = (unit_length(dpfp(np.einsum("d,hdk->hk", x, W), 1)) for W in (W_Q, W_K))
v = np.einsum("d,hdv->hv", x, W_V)
old = np.einsum("hkv,hk->hv", state, k)
beta = sigmoid(x @ W_beta + b_beta)[:, None]
state = state + np.einsum("hk,hv->hkv", k, beta * (v - old))
return np.einsum("hkv,hk,hvd->d", state, q, W_O), state
"""),
    ("18.4", "unnormalized keys", "does the key, of length 1",
     STEP.replace("k = unit_length(dpfp(x @ W_K[i], 1))",
                  "k = dpfp(x @ W_K[i], 1)")),
    ("18.4", "keys that sum to 1", "does the key, of length 1",
     STEP.replace("k = unit_length(dpfp(x @ W_K[i], 1))",
                  "k = dpfp(x @ W_K[i], 1)\n    k = k / k.sum()")),
    ("18.4", "length first, features after", "does the key, of length 1",
     STEP.replace("unit_length(dpfp(x @ W_K[i], 1))",
                  "dpfp(unit_length(x @ W_K[i]), 1)")),
    ("18.4", "unnormalized queries", "the first token: queries",
     STEP.replace("q = unit_length(dpfp(x @ W_Q[i], 1))",
                  "q = dpfp(x @ W_Q[i], 1)")),
    ("18.4", "read with the key", "the first token: queries",
     STEP.replace("new[i] @ q", "new[i] @ k")),
    ("18.4", "heads averaged", "the first token: queries, sum over heads",
     STEP.replace("return y,", "return y / len(W_Q),")),
    ("18.4", "heads side by side", "are they (d_model,)", STEP.replace(
        "y = y + new[i] @ q @ W_O[i]",
        "y = np.concatenate([y, new[i] @ q]) if i else new[i] @ q")),
    ("18.4", "one beta for all heads", "does each beta scale all",
     STEP.replace("beta[i]", "beta.mean()")),
    ("18.4", "the first head's beta for all", "does each beta scale all",
     STEP.replace("beta[i]", "beta[0]")),
    ("18.4", "the bias alone", "by W_beta too",
     STEP.replace("x @ W_beta + b_beta", "b_beta")),
    ("18.4", "the bias forgotten", "the sigmoid of 40",
     STEP.replace("x @ W_beta + b_beta", "x @ W_beta")),
    ("18.4", "no sigmoid", "the sigmoid of 40",
     STEP.replace("sigmoid(x @ W_beta + b_beta)", "x @ W_beta + b_beta")),
    ("18.4", "old state changed in place", "leave the old state as it was",
     STEP.replace("np.zeros_like(state)", "state")),
    ("18.4", "a weight changed in place", "weights as they were",
     STEP.replace("new, y =", "W_O *= 1.5\nnew, y =")),
    ("18.4", "a key without features", "features are all 0",
     STEP.replace("k = unit_length(dpfp(x @ W_K[i], 1))",
                  "k = dpfp(x @ W_K[i], 1)\n    k = k / np.linalg.norm(k)")),
    ("18.4", "three heads expected", "it stops with IndexError",
     STEP.replace("range(len(W_Q))", "range(3)")),
    ("18.4", "d_k and d_v fixed", "shapes clash", STEP.replace(
        "np.zeros_like(state)", "np.zeros((len(W_Q), 5, 8))")),
    ("18.5", "not begun", "18.5 not done yet", "raise NotImplementedError"),
    ("18.5", "nothing returned", "return its result",
     PARITY.replace("return ", "")),
    ("18.5", "the state left out", "and the first state",
     PARITY.replace("beta, state\n", "beta\n")),
    ("18.5", "beta standing up", "shapes (n, 1) three times",
     PARITY.replace("2.0 * bits", "2.0 * bits[:, None]")),
    ("18.5", "rows without a width", "shapes (n, 1) three times",
     PARITY.replace("np.zeros((n, 1))", "np.zeros(n)")),
    ("18.5", "beta = 1 for ones", "does a write keep the size",
     PARITY.replace("2.0 * bits", "1.0 * bits")),
    ("18.5", "beta = 2 for zeros", "does a one turn the state round",
     PARITY.replace("2.0 * bits", "2.0 * (1 - bits)")),
    ("18.5", "beta = 2 for both", "does a one turn the state round",
     PARITY.replace("2.0 * bits", "np.full(n, 2.0)")),
    ("18.5", "beta = 3 for ones", "is beta between 0 and 2",
     PARITY.replace("2.0 * bits", "3.0 * bits")),
    ("18.5", "a negative beta", "is beta between 0 and 2",
     PARITY.replace("2.0 * bits", "-2.0 * bits")),
    ("18.5", "bits cumulated in V", "depend on its own bit alone", """
parity = 1 - 2.0 * (np.cumsum(bits) % 2)
ones = np.ones((len(bits), 1))
return ones, ones, parity[:, None], np.ones(len(bits)), np.ones((1, 1))
"""),
    ("18.5", "bits cumulated in Q", "depend on its own bit alone", """
parity = 1 - 2.0 * (np.cumsum(bits) % 2)
ones = np.ones((len(bits), 1))
return parity[:, None], ones, 0 * ones, np.zeros(len(bits)), np.ones((1, 1))
"""),
    ("18.5", "value 1 instead of 0", "does a one turn the state round",
     PARITY.replace("V = np.ones((n, 1)), np.ones((n, 1)), np.zeros(",
                    "V = np.ones((n, 1)), np.ones((n, 1)), np.ones(")),
    ("18.5", "the last bit alone", "does a one turn the state round", """
ones = np.ones((len(bits), 1))
return ones, ones, 1 - 2.0 * bits[:, None], np.ones(len(bits)), np.ones((1, 1))
"""),
    ("18.5", "a written -1", "does a write keep the size",
     PARITY.replace("np.zeros((n, 1))", "-np.ones((n, 1))")),
    ("18.5", "no key for zeros", "has each key length 1",
     PARITY.replace("K, V = np.ones((n, 1)), np.ones((n, 1))",
                    "K, V = np.ones((n, 1)), 1.0 * bits[:, None]")),
    ("18.5", "an empty memory", "start from a state that reads +1",
     PARITY.replace("np.ones((1, 1))", "np.zeros((1, 1))")),
    ("18.5", "bits changed in place", "leave the bits",
     "bits *= 2\n" + PARITY.replace("2.0 * bits", "1.0 * bits")),
    ("18.5", "the first bit told to the state", "whatever the first bit",
     PARITY.replace("np.ones((1, 1))", "np.full((1, 1), 1 - 2.0 * bits[0])")),
    ("18.5", "odd is +1", "is it the other way round",
     PARITY.replace("np.ones((1, 1))", "-np.ones((1, 1))")),
]

HIDDEN = [
    ("18.2", "an epsilon below", "very different size",
     CHUNKS.replace("above / below", "above / (below + 1e-6)")),
    ("18.3", "factors for 16 at most", "C = 21", """
eye = np.eye(A.shape[-1])
A_2 = A @ A
A_4 = A_2 @ A_2
return (eye - A) @ (eye + A_2) @ (eye + A_4) @ (eye + A_4 @ A_4)
"""),
    ("18.4", "a bounded token", "very different size",
     "x = x.clip(-50, 50)\n" + STEP),
    ("18.5", "a beta just below 2", "3000 bits",
     PARITY.replace("2.0 * bits", "(2 - 1e-6) * bits")),
]
