"""Answers to the exercises of chapter 19: the lines between the solution marks.

RIGHT   exercise, how it is written, body
WRONG   exercise, the mistake, words that the check must print, body
HIDDEN  exercise, the mistake, words that only the grade says, body
DOMAIN  exercise: a function that draws arguments as its statement allows them
PRECISE exercise: the students' kinds (battery.py) that it refuses, and why
VARIANTS exercise: what a homework sheet changes (tools/homework/variants.py)
"""

import numpy as np

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
CONV = """
width, n = len(W), Z.shape[-2]
X = np.concatenate([past, Z], axis=-2)
Y = np.zeros(Z.shape)
for i in range(width):
    Y = Y + W[i] * X[..., i : i + n, :]
return Y, X[..., n:, :]
"""
KEPT = """
states = n_layers * h * d_k * 2 * d_k * nu
per_token = n_layers * h * d_k * 2
return states, per_token, states // per_token + 1
"""


def rows(rng, *shape, size=4):
    """Signed numbers, rows up to 10^size apart from 1."""
    return rng.normal(size=shape) * 10 ** rng.uniform(
        -size, size, size=(*shape[:-1], 1))


def draw_19_1(rng):
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


def draw_19_2(rng):
    return (rng.integers(2, size=rng.integers(1, 40)),)


def draw_19_3(rng):
    *front, n, d = map(int, rng.permutation(np.arange(1, 8))[
        :rng.integers(2, 5)])
    width = int(rng.integers(2, 7))
    return (rows(rng, *front, n, d), rng.normal(size=(width, d)),
            rows(rng, *front, width - 1, d))


def draw_19_4(rng):
    return tuple(map(int, rng.integers(1, 50, size=4)))


DOMAIN = {"19.1": draw_19_1, "19.2": draw_19_2, "19.3": draw_19_3,
          "19.4": draw_19_4}
PRECISE = {}

RIGHT = [
    ("19.1", "head by head", STEP),
    ("19.1", "by chapter 16's functions", """
q, k = (unit_length(dpfp((x @ W), 1)) for W in (W_Q, W_K))
v = x @ W_V
new = write_delta(state, k, v, sigmoid(x @ W_beta + b_beta))
return (read_memory(new, q)[:, None] @ W_O).sum(axis=(0, 1)), new
"""),
    ("19.1", "a list of two", STEP.replace("y, new\n", "[y, new]\n")),
    ("19.1", "by erasing first", """
q, k = (unit_length(dpfp(np.einsum("d,hdk->hk", x, W), 1)) for W in (W_Q, W_K))
b = sigmoid(x @ W_beta + b_beta)[:, None, None]
new = state - b * (state @ k[:, :, None]) @ k[:, None, :]
new += b * (x @ W_V)[:, :, None] * k[:, None, :]
return np.einsum("hvk,hk,hvd->d", new, q, W_O), new
"""),
    ("19.2", "ones, zeros and twos", PARITY),
    ("19.2", "keys of either sign", PARITY.replace(
        "np.ones((n, 1)), np.zeros",
        "np.where(bits, -1.0, 1.0)[:, None], np.zeros")),
    ("19.2", "a list of five", PARITY.replace("Q, K, V, beta, state\n",
                                             "[Q, K, V, beta, state]\n")),
    ("19.2", "bit by bit", """
rows = [(1.0, 1.0, 0.0, 2.0 if bit else 0.0) for bit in bits]
Q, K, V, beta = (np.array(column) for column in zip(*rows, strict=True))
return Q[:, None], K[:, None], V[:, None], beta, [[1.0]]
"""),
    ("19.2", "a loud memory, read with a soft voice", """
n = len(bits)
alternate = np.where(bits, -1.0, 1.0)[:, None]      # the sign of a key is free
return (np.full((n, 1), -0.5), alternate, np.zeros((n, 1)),
        np.where(bits, 2.0, 0.0), np.full((1, 1), -2.0))
"""),
    ("19.3", "a sum of shifted inputs", CONV),
    ("19.3", "a list of two", CONV.replace("Y, X[..., n:, :]\n",
                                           "[Y, X[..., n:, :]]\n")),
    ("19.3", "by windows", """
X = np.concatenate([past, Z], axis=-2)
windows = np.lib.stride_tricks.sliding_window_view(X, len(W), axis=-2)
return np.einsum("...ndw,wd->...nd", windows, W), X[..., Z.shape[-2]:, :]
"""),
    ("19.3", "by torch", """
X = torch.tensor(np.concatenate([past, Z], axis=-2))
*front, m, d = X.shape
Y = torch.nn.functional.conv1d(X.reshape(-1, m, d).mT,
                               torch.tensor(W).T[:, None], groups=d).mT
return Y.reshape(*front, -1, d).numpy(), X[..., Z.shape[-2]:, :].numpy()
"""),
    ("19.4", "as counted", KEPT),
    ("19.4", "the short way", """
return 2 * n_layers * h * nu * d_k**2, 2 * n_layers * h * d_k, d_k * nu + 1
"""),
    ("19.4", "a list", KEPT.replace("return states, per_token, "
                                   "states // per_token + 1",
                                   "return [states, per_token, "
                                   "states // per_token + 1]")),
]

WRONG = [
    ("19.1", "not begun", "19.1 not done yet", "raise NotImplementedError"),
    ("19.1", "nothing returned", "return its result",
     STEP.replace("return y, new", "")),
    ("19.1", "the output alone", "two things",
     STEP.replace("return y, new", "return y")),
    ("19.1", "read before write", "is it read after the write",
     STEP.replace("new[i] @ q", "state[i] @ q")),
    ("19.1", "beta on the write only", "is only the difference written",
     STEP.replace("(v - old, k)", "(v, k)")),
    ("19.1", "the old value removed without beta", "does each beta scale all",
     STEP.replace("beta[i] * np.outer(v - old, k)",
                  "np.outer(beta[i] * v - old, k)")),
    ("19.1", "a decay of everything", "does each beta scale all",
     STEP.replace("beta[i] * np.outer(v - old, k)",
                  "beta[i] * np.outer(v - old, k) - (1 - beta[i]) * state[i]")),
    ("19.1", "all that is there fades by beta", "does all of the first pair",
     STEP.replace("state[i] + beta[i] * np.outer(v - old, k)",
                  "(1 - beta[i]) * state[i] + beta[i] * np.outer(v, k)")),
    ("19.1", "features of two shifts", "with d_phi = 2 d_k",
     STEP.replace(", 1))", ", 2))")),
    ("19.1", "a query without features", "with d_phi = 2 d_k",
     STEP.replace("dpfp(x @ W_Q[i], 1)", "x @ W_Q[i]")),
    ("19.1", "a row instead of a vector", "are they (d_model,)",
     STEP.replace("return y,", "return y[None],")),
    ("19.1", "old value under the query", "is only the difference written",
     STEP.replace("state[i] @ k", "state[i] @ q")),
    ("19.1", "transposed state", "are they (d_model,) and (h, d_v",
     STEP.replace("return y, new", "return y, new.swapaxes(1, 2)")),
    ("19.1", "keys in rows", "is the state (h, d_v, d_phi)", """
q, k = (unit_length(dpfp(np.einsum("d,hdk->hk", x, W), 1)) for W in (W_Q, W_K))
v = np.einsum("d,hdv->hv", x, W_V)
old = np.einsum("hkv,hk->hv", state, k)
beta = sigmoid(x @ W_beta + b_beta)[:, None]
state = state + np.einsum("hk,hv->hkv", k, beta * (v - old))
return np.einsum("hkv,hk,hvd->d", state, q, W_O), state
"""),
    ("19.1", "unnormalized keys", "does the key, of length 1",
     STEP.replace("k = unit_length(dpfp(x @ W_K[i], 1))",
                  "k = dpfp(x @ W_K[i], 1)")),
    ("19.1", "keys that sum to 1", "does the key, of length 1",
     STEP.replace("k = unit_length(dpfp(x @ W_K[i], 1))",
                  "k = dpfp(x @ W_K[i], 1)\n    k = k / k.sum()")),
    ("19.1", "length first, features after", "does the key, of length 1",
     STEP.replace("unit_length(dpfp(x @ W_K[i], 1))",
                  "dpfp(unit_length(x @ W_K[i]), 1)")),
    ("19.1", "unnormalized queries", "the first token: queries",
     STEP.replace("q = unit_length(dpfp(x @ W_Q[i], 1))",
                  "q = dpfp(x @ W_Q[i], 1)")),
    ("19.1", "read with the key", "the first token: queries",
     STEP.replace("new[i] @ q", "new[i] @ k")),
    ("19.1", "heads averaged", "the first token: queries, sum over heads",
     STEP.replace("return y,", "return y / len(W_Q),")),
    ("19.1", "heads side by side", "are they (d_model,)", STEP.replace(
        "y = y + new[i] @ q @ W_O[i]",
        "y = np.concatenate([y, new[i] @ q]) if i else new[i] @ q")),
    ("19.1", "one beta for all heads", "does each beta scale all",
     STEP.replace("beta[i]", "beta.mean()")),
    ("19.1", "the first head's beta for all", "does each beta scale all",
     STEP.replace("beta[i]", "beta[0]")),
    ("19.1", "the bias alone", "by W_beta too",
     STEP.replace("x @ W_beta + b_beta", "b_beta")),
    ("19.1", "the bias forgotten", "the sigmoid of 40",
     STEP.replace("x @ W_beta + b_beta", "x @ W_beta")),
    ("19.1", "no sigmoid", "the sigmoid of 40",
     STEP.replace("sigmoid(x @ W_beta + b_beta)", "x @ W_beta + b_beta")),
    ("19.1", "old state changed in place", "leave the old state as it was",
     STEP.replace("np.zeros_like(state)", "state")),
    ("19.1", "a weight changed in place", "weights as they were",
     STEP.replace("new, y =", "W_O *= 1.5\nnew, y =")),
    ("19.1", "a key without features", "features are all 0",
     STEP.replace("k = unit_length(dpfp(x @ W_K[i], 1))",
                  "k = dpfp(x @ W_K[i], 1)\n    k = k / np.linalg.norm(k)")),
    ("19.1", "three heads expected", "it stops with IndexError",
     STEP.replace("range(len(W_Q))", "range(3)")),
    ("19.1", "d_k and d_v fixed", "shapes clash", STEP.replace(
        "np.zeros_like(state)", "np.zeros((len(W_Q), 5, 8))")),
    ("19.2", "not begun", "19.2 not done yet", "raise NotImplementedError"),
    ("19.2", "nothing returned", "return its result",
     PARITY.replace("return ", "")),
    ("19.2", "the state left out", "and the first state",
     PARITY.replace("beta, state\n", "beta\n")),
    ("19.2", "beta standing up", "shapes (n, 1) three times",
     PARITY.replace("2.0 * bits", "2.0 * bits[:, None]")),
    ("19.2", "rows without a width", "shapes (n, 1) three times",
     PARITY.replace("np.zeros((n, 1))", "np.zeros(n)")),
    ("19.2", "beta = 1 for ones", "does a write keep the size",
     PARITY.replace("2.0 * bits", "1.0 * bits")),
    ("19.2", "beta = 2 for zeros", "does a one turn the state round",
     PARITY.replace("2.0 * bits", "2.0 * (1 - bits)")),
    ("19.2", "beta = 2 for both", "does a one turn the state round",
     PARITY.replace("2.0 * bits", "np.full(n, 2.0)")),
    ("19.2", "beta = 3 for ones", "is beta between 0 and 2",
     PARITY.replace("2.0 * bits", "3.0 * bits")),
    ("19.2", "a negative beta", "is beta between 0 and 2",
     PARITY.replace("2.0 * bits", "-2.0 * bits")),
    ("19.2", "bits cumulated in V", "depend on its own bit alone", """
parity = 1 - 2.0 * (np.cumsum(bits) % 2)
ones = np.ones((len(bits), 1))
return ones, ones, parity[:, None], np.ones(len(bits)), np.ones((1, 1))
"""),
    ("19.2", "bits cumulated in Q", "depend on its own bit alone", """
parity = 1 - 2.0 * (np.cumsum(bits) % 2)
ones = np.ones((len(bits), 1))
return parity[:, None], ones, 0 * ones, np.zeros(len(bits)), np.ones((1, 1))
"""),
    ("19.2", "value 1 instead of 0", "does a one turn the state round",
     PARITY.replace("V = np.ones((n, 1)), np.ones((n, 1)), np.zeros(",
                    "V = np.ones((n, 1)), np.ones((n, 1)), np.ones(")),
    ("19.2", "the last bit alone", "does a one turn the state round", """
ones = np.ones((len(bits), 1))
return ones, ones, 1 - 2.0 * bits[:, None], np.ones(len(bits)), np.ones((1, 1))
"""),
    ("19.2", "a written -1", "does a write keep the size",
     PARITY.replace("np.zeros((n, 1))", "-np.ones((n, 1))")),
    ("19.2", "no key for zeros", "has each key length 1",
     PARITY.replace("K, V = np.ones((n, 1)), np.ones((n, 1))",
                    "K, V = np.ones((n, 1)), 1.0 * bits[:, None]")),
    ("19.2", "an empty memory", "start from a state that reads +1",
     PARITY.replace("np.ones((1, 1))", "np.zeros((1, 1))")),
    ("19.2", "bits changed in place", "leave the bits",
     "bits *= 2\n" + PARITY.replace("2.0 * bits", "1.0 * bits")),
    ("19.2", "the first bit told to the state", "whatever the first bit",
     PARITY.replace("np.ones((1, 1))", "np.full((1, 1), 1 - 2.0 * bits[0])")),
    ("19.2", "odd is +1", "is it the other way round",
     PARITY.replace("np.ones((1, 1))", "-np.ones((1, 1))")),
    ("19.3", "not begun", "19.3 not done yet", "raise NotImplementedError"),
    ("19.3", "nothing returned", "return its result",
     CONV.replace("return Y", "Y = Y")),
    ("19.3", "the outputs alone", "two things",
     CONV.replace("return Y, X[..., n:, :]", "return Y")),
    ("19.3", "weights turned round", "last row of W",
     CONV.replace("W[i]", "W[-1 - i]")),
    ("19.3", "past behind the inputs", "does a token see a later one",
     CONV.replace("[past, Z]", "[Z, past]")),
    ("19.3", "zeros for the past", "see the past",
     CONV.replace("[past, Z]", "[0 * past, Z]")),
    ("19.3", "the first inputs handed on", "is the new past the last inputs",
     CONV.replace("X[..., n:, :]", "X[..., :width - 1, :]")),
    ("19.3", "outputs handed on", "is the new past the last inputs",
     CONV.replace("X[..., n:, :]", "Y[..., n - width + 1:, :]")),
    ("19.3", "the inputs' tail alone", "shorter than the window",
     CONV.replace("X[..., n:, :]", "Z[..., 1 - width:, :]")),
    ("19.3", "one input too many handed on", "are they (n, d)",
     CONV.replace("X[..., n:, :]", "X[..., n - 1:, :]")),
    ("19.3", "the token itself left out", "are the outputs 5, 4.5, 8",
     CONV.replace("range(width)", "range(width - 1)")),
    ("19.3", "features mixed", "over its own last four inputs",
     CONV.replace("W[i] * X[..., i : i + n, :]",
                  "X[..., i : i + n, :] @ np.outer(W[i], np.ones(len(W[i])))")),
    ("19.3", "the same weights for all features", "its own last four inputs",
     CONV.replace("W[i] *", "W[i, 0] *")),
    ("19.3", "width 2 fixed", "its own last four inputs",
     CONV.replace("range(width)", "(0, 1)")),
    ("19.3", "inputs changed in place", "as they were",
     CONV.replace("return Y", "past += 1.0\nreturn Y")),
    ("19.3", "one axis in front", "is each sequence",
     CONV.replace("n = len(W), Z.shape[-2]", "n = len(W), len(Z)")),
    ("19.4", "not begun", "19.4 not done yet", "raise NotImplementedError"),
    ("19.4", "nothing returned", "return its result",
     KEPT.replace("return ", "answer = ")),
    ("19.4", "two numbers", "three numbers",
     KEPT.replace(", states // per_token + 1", "")),
    ("19.4", "features of width d_k", "is each counted once",
     KEPT.replace("h * d_k * 2 * d_k", "h * d_k * d_k")),
    ("19.4", "one layer", "has each block its states",
     KEPT.replace("states = n_layers * h * d_k * 2", "states = h * d_k")),
    ("19.4", "keys alone", "is each counted once",
     KEPT.replace("h * d_k * 2\nreturn", "h * d_k\nreturn")),
    ("19.4", "equal is not more", "which is the first token with more",
     KEPT.replace(" + 1", "")),
    ("19.4", "nu forgotten", "is not",
     KEPT.replace(" * nu", "")),
    ("19.4", "a product instead of a ratio", "which is the first token",
     KEPT.replace("states // per_token + 1", "states * per_token")),
    ("19.4", "the answer for 16", "first token is not",
     KEPT.replace("states // per_token + 1", "17")),
]

HIDDEN = [
    ("19.1", "a bounded token", "very different size",
     "x = x.clip(-50, 50)\n" + STEP),
    ("19.2", "a beta just below 2", "3000 bits",
     PARITY.replace("2.0 * bits", "(2 - 1e-6) * bits")),
    ("19.3", "a bounded token", "one token at a time",
     "Z = Z.clip(-50, 50)\n" + CONV),
    ("19.4", "a bounded answer", "are all three right", KEPT.replace(
        "states // per_token + 1", "min(states // per_token + 1, 193)")),
]

VARIANTS = {
    "19.1": {
        "asks": "order",
        "one of": {"c": [0.5, 0.6, 0.7, 1.5, 1.6, 1.75, 2]},
        "says": """A head's $\\beta$ is {c} times this sigmoid. The layer reads
            before it writes: the output comes from the state that was
            given.""",
        "edits": [("state = write_delta(state, k, v, sigmoid(x",
                   "after = write_delta(state, k, v, {c} * sigmoid(x"),
                  ("W_O), state", "W_O), after")]},
    "19.3": {
        "asks": "order",
        "one of": {"c": [2, 3, 4, 5, 0.5, -1]},
        "says": """The *first* row of `W` belongs to the token itself, the next
            one to the token before, and so on. A shortcut adds {c} times `Z`
            to the outputs.""",
        "edits": [("Y = sum(W[i] *", "Y = sum(W[-1 - i] *"),
                  ("return Y, Z[..., n:, :]",
                   "return Y + {c} * Z[..., width - 1:, :], Z[..., n:, :]")]},
}
