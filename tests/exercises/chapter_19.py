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
CONTROL = """
n, d_k, d_v = *K.shape, V.shape[1]
V = beta[:, None] * V
if friend == "Anna":
    return V
if friend == "Tom":
    return np.tril(Q @ K.T) @ V
size, Y = d_k * d_v // (d_k + d_v), np.empty(V.shape)
for t in range(n):
    first = max(0, t + 1 - size)
    shares = np.exp(8 * K[first:t + 1] @ Q[t])
    Y[t] = shares @ V[first:t + 1] / shares.sum()
return Y
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
    n = int(rng.integers(1, 30))
    d_k, d_v = map(int, rng.permutation(np.arange(2, 12))[:2])
    Q, K = rng.normal(size=(2, n, d_k))
    return (str(rng.choice(["Anna", "Tom", "Eva"])),
            Q / np.sqrt((Q**2).sum(axis=1, keepdims=True)),
            K / np.sqrt((K**2).sum(axis=1, keepdims=True)),
            rng.normal(size=(n, d_v)) * 10 ** rng.uniform(-5, 4),
            rng.uniform(size=n))


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
    ("19.4", "query by query", CONTROL),
    ("19.4", "a list", CONTROL.replace("return Y", "return Y.tolist()")),
    ("19.4", "by a loop with a state and a queue", """
d_v, d_k = V.shape[1], K.shape[1]
state, queue, Y = np.zeros((d_v, d_k)), [], []
for q, k, v, b in zip(Q, K, V, beta):
    state = state + b * np.outer(v, k)
    queue = [*queue, (k, b * v)][-(d_v * d_k // (d_v + d_k)):]
    keys, values = map(np.array, zip(*queue))
    shares = np.exp(8 * keys @ q)
    Y.append({"Anna": b * v, "Tom": state @ q,
              "Eva": shares @ values / shares.sum()}[friend])
return np.array(Y)
"""),
    ("19.4", "by torch", """
Q, K, V = map(torch.tensor, (Q, K, beta[:, None] * V))
if friend == "Anna":
    return V.numpy()
if friend == "Tom":
    return ((Q @ K.mT).tril() @ V).numpy()
w = V.shape[1] * K.shape[1] // (V.shape[1] + K.shape[1])
seen = torch.ones(len(Q), len(Q), dtype=torch.bool).tril().triu(1 - w)
scores = (8 * Q @ K.mT).masked_fill(~seen, -torch.inf)
return (scores.softmax(dim=-1) @ V).numpy()
"""),
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
     CONTROL.replace("return ", "answer = ")),
    ("19.4", "values changed in place", "as they were",
     CONTROL.replace("V = beta[:, None] * V", "V *= beta[:, None]")),
    ("19.4", "the answer to the last token alone", "are they (n, d_v)",
     CONTROL.replace("return Y", "return Y[-1]")),
    ("19.4", "Anna and Tom changed places", "Anna: this control could refute "
     "Tom", CONTROL.replace('"Tom"', '"x"').replace('"Anna"', '"Tom"').replace(
         '"x"', '"Anna"')),
    ("19.4", "Tom and Eva changed places", "Tom: this control could refute "
     "Eva", CONTROL.replace('"Tom"', '"Eva"')),
    ("19.4", "Anna and Eva changed places", "Anna: this control could refute "
     "Eva", CONTROL.replace('"Anna"', '"Eva"')),
    ("19.4", "the sum for all", "Anna: this control could refute Tom",
     "return np.tril(Q @ K.T) @ (beta[:, None] * V)"),
    ("19.4", "beta forgotten", "Anna: is the value of each token beta times v",
     CONTROL.replace("beta[:, None] * V", "V")),
    ("19.4", "beta forgotten in the window", "Eva: is the value of each token",
     CONTROL.replace("return np.tril(Q @ K.T) @ V\n",
                     "return np.tril(Q @ K.T) @ V\nV = V / beta[:, None]\n")),
    ("19.4", "own values taken out, too", "is a token's own value left",
     CONTROL.replace("    return V\n", "    return 0 * V\n")),
    ("19.4", "the token before", "does each token get its own value",
     CONTROL.replace("    return V\n",
                     "    return np.concatenate([0 * V[:1], V[:-1]])\n")),
    ("19.4", "own values by q and k", "does each token get its own value",
     CONTROL.replace("    return V\n",
                     "    return (Q * K).sum(axis=1)[:, None] * V\n")),
    ("19.4", "the delta rule as its own control", "this is the delta rule "
     "itself", CONTROL.replace("return np.tril(Q @ K.T) @ V",
                               "return delta_rule(Q, K, V / beta[:, None], "
                               "beta)[0]")),
    ("19.4", "a sum over all tokens", "what later tokens write",
     CONTROL.replace("np.tril(Q @ K.T)", "Q @ K.T")),
    ("19.4", "read before the write", "own write read, too",
     CONTROL.replace("np.tril(Q @ K.T)", "np.tril(Q @ K.T, -1)")),
    ("19.4", "a mean in place of the sum", "Tom: is each answer the sum",
     CONTROL.replace("np.tril(Q @ K.T) @ V",
                     "np.tril(Q @ K.T) @ V / np.arange(1, n + 1)[:, None]")),
    ("19.4", "a sum with a softmax", "Tom: is each answer the sum",
     CONTROL.replace("np.tril(Q @ K.T)", "np.tril(np.exp(8 * Q @ K.T))")),
    ("19.4", "a window that holds all", "let go of older tokens",
     CONTROL.replace("d_k * d_v // (d_k + d_v)", "n")),
    ("19.4", "keys alone counted", "12 tokens; does each need a key and",
     CONTROL.replace("// (d_k + d_v)", "// d_k")),
    ("19.4", "values alone counted", "6 tokens; does each need a key and",
     CONTROL.replace("// (d_k + d_v)", "// d_v")),
    ("19.4", "one token too many", "are its numbers no more than 72",
     CONTROL.replace("(d_k + d_v), np", "(d_k + d_v) + 1, np")),
    ("19.4", "one token too few", "does one more fit",
     CONTROL.replace("(d_k + d_v), np", "(d_k + d_v) - 1, np")),
    ("19.4", "no factor 8", "are the scores 8 times q . k",
     CONTROL.replace("8 * K", "K")),
    ("19.4", "chapter 08's scale", "are the scores 8 times q . k",
     CONTROL.replace("8 * K[", "d_k**-0.5 * K[")),
    ("19.4", "itself not seen", "does each see itself", CONTROL.replace(
        "first:t + 1", "first:max(t, 1)")),
    ("19.4", "shares do not sum to 1", "by shares that sum to 1",
     CONTROL.replace(" / shares.sum()", "")),
    ("19.4", "older tokens with the score 0", "by shares that sum to 1", """
n, d_k, d_v = *K.shape, V.shape[1]
V = beta[:, None] * V
if friend == "Anna":
    return V
if friend == "Tom":
    return np.tril(Q @ K.T) @ V
seen = np.triu(np.tril(np.ones((n, n))), 1 - d_k * d_v // (d_k + d_v))
shares = np.exp(8 * Q @ K.T * seen)
return shares / shares.sum(axis=1, keepdims=True) @ V
"""),
    ("19.4", "pieces in place of a window", "does each see the last four",
     CONTROL.replace("max(0, t + 1 - size)", "t // size * size")),
    ("19.4", "four tokens fixed", "is Eva's control right",
     CONTROL.replace("d_k * d_v // (d_k + d_v)", "4")),
    ("19.4", "equal widths taken for granted", "does one more fit",
     CONTROL.replace("d_k * d_v // (d_k + d_v)", "d_k // 2")),
]

HIDDEN = [
    ("19.1", "a bounded token", "very different size",
     "x = x.clip(-50, 50)\n" + STEP),
    ("19.2", "a beta just below 2", "3000 bits",
     PARITY.replace("2.0 * bits", "(2 - 1e-6) * bits")),
    ("19.3", "a bounded token", "one token at a time",
     "Z = Z.clip(-50, 50)\n" + CONV),
    ("19.4", "bounded values", "values of size 10000",
     "V = V.clip(-50, 50)\n" + CONTROL),
    ("19.4", "small values taken for zero", "values of size 1e-06",
     "V = np.where(abs(V) < 1e-5, 0, V)\n" + CONTROL),
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
