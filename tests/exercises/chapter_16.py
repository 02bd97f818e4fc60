"""Answers to the exercises of chapter 16: the lines between the solution marks.

RIGHT   exercise, how it is written, body
WRONG   exercise, the mistake, words that the check must print, body
HIDDEN  exercise, the mistake, words that only the grade says, body
DOMAIN  exercise: a function that draws arguments as its statement allows them
PRECISE exercise: the students' kinds (battery.py) that it refuses, and why
VARIANTS exercise: what a homework sheet changes (tools/homework/variants.py)
"""

import numpy as np

CUMSUM = """
pairs = V[..., :, None] * phi_K[..., None, :]
states, z = pairs.cumsum(axis=-3), phi_K.cumsum(axis=-2)
read = np.einsum("...nvk,...nk->...nv", states, phi_Q)
return read / (z * phi_Q).sum(axis=-1, keepdims=True)
"""
PAIRS = """
i = np.tile(np.arange(2 * d_k), nu)
shift = np.repeat(np.arange(1, nu + 1), 2 * d_k)
return np.stack([i, (i + shift) % (2 * d_k)], axis=-1)
"""
BACKWARD = """
def past(A, B):
    return np.tril(A @ np.swapaxes(B, -1, -2))

def future(A, B):
    return np.triu(A @ np.swapaxes(B, -1, -2))

return past(dY, V) @ K, future(V, dY) @ Q, future(K, Q) @ dY
"""
LOUD = """
z = elu_plus_one(K).sum(axis=0)
feature = share / (1 - share) * z.max()
return feature - 1 if feature > 1 else math.log(feature)
"""


def shapes(rng):
    """Up to two axes in front, n, and two widths, no two of them alike."""
    sizes = rng.permutation(np.arange(1, 9))
    return tuple(sizes[:rng.integers(0, 3)]), *map(int, sizes[3:6])


def rows(rng, front, n, width, size=4):
    """Signed numbers (..., n, width), rows up to 10^size apart from 1."""
    return rng.normal(size=(*front, n, width)) * 10 ** rng.uniform(
        -size, size, size=(*front, n, 1))


def draw_16_1(rng):
    front, n, d_phi, d_v = shapes(rng)
    phi_Q, phi_K = (abs(rows(rng, front, n, d_phi)) + 1e-5 for _ in "QK")
    return phi_Q, phi_K, rows(rng, front, n, d_v)


def draw_16_2(rng):
    d_k = int(rng.integers(2, 12))
    return d_k, int(rng.integers(1, d_k))


def draw_16_3(rng):
    front, n, d_k, d_v = shapes(rng)
    return (rows(rng, front, n, d_v), rows(rng, front, n, d_k),
            rows(rng, front, n, d_k), rows(rng, front, n, d_v))


def draw_16_4(rng):
    """Keys of very different size, fractions from small to nearly 1."""
    n, d_k = (int(size) for size in rng.integers(1, 9, size=2))
    K = 10 ** rng.uniform(-1, 2) * rng.normal(size=(n, d_k))
    K += rng.choice([0, -5, 5])
    return K, float(1 / (1 + np.exp(-rng.normal(scale=3))))


DOMAIN = {"16.1": draw_16_1, "16.2": draw_16_2, "16.3": draw_16_3,
          "16.4": draw_16_4}
PRECISE = {}

RIGHT = [
    ("16.1", "by the mask", """
similar = np.tril(np.einsum("...nk,...mk->...nm", phi_Q, phi_K))
return similar / similar.sum(-1, keepdims=True) @ V
"""),
    ("16.1", "by torch", """
q, k, v = map(torch.tensor, (phi_Q, phi_K, V))
states = torch.cumsum(v[..., None] * k[..., None, :], dim=-3)
z = torch.cumsum(k, dim=-2)
return ((states @ q[..., None])[..., 0] / (z * q).sum(-1, keepdim=True)).numpy()
"""),
    ("16.1", "the normalizer as one more value", """
V = np.concatenate([V, np.ones((*V.shape[:-1], 1))], axis=-1)
states = np.cumsum(np.einsum("...nv,...nk->...nvk", V, phi_K), axis=-3)
read = (states * phi_Q[..., None, :]).sum(-1)
return read[..., :-1] / read[..., -1:]
"""),
    ("16.2", "by loops, as a list", """
ring = 2 * d_k
return [(i, (i + s) % ring) for s in range(1, nu + 1) for i in range(ring)]
"""),
    ("16.2", "by np.roll", """
ring = np.arange(2 * d_k)
return np.concatenate([np.stack([ring, np.roll(ring, -s)], axis=1)
                       for s in range(1, nu + 1)])
"""),
    ("16.3", "by masked products", BACKWARD),
    ("16.3", "by torch, each gradient as one product", """
dY, Q, K, V = map(torch.tensor, (dY, Q, K, V))
scores, dscores = (Q @ K.mT).tril(), (dY @ V.mT).tril()
return dscores @ K, dscores.mT @ Q, scores.mT @ dY
"""),
    ("16.3", "token by token", """
dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
for t in range(Q.shape[-2]):
    for j in range(t + 1):
        q, k, v = Q[..., t, :], K[..., j, :], V[..., j, :]
        dy = dY[..., t, :]
        score = (q * k).sum(-1, keepdims=True)
        dscore = (dy * v).sum(-1, keepdims=True)
        dV[..., j, :] += score * dy
        dQ[..., t, :] += dscore * k
        dK[..., j, :] += dscore * q
return dQ, dK, dV
"""),
    ("16.4", "by the inverse of elu + 1", """
features = np.exp(K.clip(max=0)) + K.clip(min=0)
y = features.sum(axis=0).max() / (1 / share - 1)
return np.log(y) if y < 1 else y - 1
"""),
    ("16.4", "one query for each feature, by torch", """
X = torch.tensor(K)
z = torch.where(X > 0, X + 1, X.exp()).sum(dim=0)
y = max(share * number / (1 - share) for number in z.tolist())
return y - 1 if y >= 1 else math.log(y)
"""),
]

WRONG = [
    ("16.1", "not begun", "16.1 not done yet", "raise NotImplementedError"),
    ("16.1", "nothing returned", "return its result",
     CUMSUM.replace("return ", "")),
    ("16.1", "one state for all", "moved earlier answers", """
state = np.einsum("...nv,...nk->...vk", V, phi_K)
z = phi_K.sum(axis=-2, keepdims=True)
read = np.einsum("...vk,...nk->...nv", state, phi_Q)
return read / (z * phi_Q).sum(axis=-1, keepdims=True)
"""),
    ("16.1", "z over all keys", "its own z",
     CUMSUM.replace("phi_K.cumsum(axis=-2)", "phi_K.sum(-2, keepdims=True)")),
    ("16.1", "no normalizer", "all values were 3",
     CUMSUM.replace(" / (z * phi_Q).sum(axis=-1, keepdims=True)", "")),
    ("16.1", "the mean", "all values were 3", CUMSUM.replace(
        "(z * phi_Q).sum(axis=-1, keepdims=True)",
        "np.arange(1, V.shape[-2] + 1)[:, None]")),
    ("16.1", "along the features", "all values were 3",
     CUMSUM.replace("pairs.cumsum(axis=-3)", "pairs.cumsum(axis=-2)")),
    ("16.1", "along the batch", "the axis before the last",
     CUMSUM.replace("axis=-3", "axis=0").replace("cumsum(axis=-2)",
                                                 "cumsum(axis=0)")),
    ("16.1", "read before write", "all values were 3",
     CUMSUM.replace("states, phi_Q)", "states - pairs, phi_Q)")),
    ("16.1", "both before write", "0 / 0",
     CUMSUM.replace("states, phi_Q)", "states - pairs, phi_Q)")
     .replace("(z * phi_Q)", "((z - phi_K) * phi_Q)")),
    ("16.1", "queries written, keys read", "which key meets",
     "phi_Q, phi_K = phi_K, phi_Q" + CUMSUM),
    ("16.1", "the lesson's function", "can you write it yourself",
     "return linear_attention(phi_Q, phi_K, V)"),
    ("16.1", "the lesson's function by state", "can you write it yourself",
     "return linear_attention_by_state(phi_Q, phi_K, V)[0]"),
    ("16.1", "keys summed in place", "as they were",
     CUMSUM.replace("phi_K.cumsum(axis=-2)",
                    "phi_K.cumsum(axis=-2, out=phi_K)")),
    ("16.1", "axis 1", "2 axes in front",
     "axis = 1 if V.ndim > 2 else 0" + CUMSUM.replace("axis=-3", "axis=axis")
     .replace("axis=-2", "axis=axis")),
    ("16.1", "three axes expected", "it stops with", """
pairs = np.einsum("bnv,bnk->bnvk", V, phi_K)
read = np.einsum("bnvk,bnk->bnv", pairs.cumsum(1), phi_Q)
return read / (phi_K.cumsum(1) * phi_Q).sum(-1, keepdims=True)
"""),
    ("16.2", "not begun", "16.2 not done yet", "raise NotImplementedError"),
    ("16.2", "nothing returned", "return its result",
     PAIRS.replace("return ", "")),
    ("16.2", "lying down", "so (16, 2)", PAIRS.replace("axis=-1", "axis=0")),
    ("16.2", "no ring", "where does place 8 lie",
     PAIRS.replace(" % (2 * d_k)", "")),
    ("16.2", "clipped", "occur twice", PAIRS.replace(
        "(i + shift) % (2 * d_k)", "np.minimum(i + shift, 2 * d_k - 1)")),
    ("16.2", "from shift 0", "meet itself",
     PAIRS.replace("np.arange(1, nu + 1)", "np.arange(nu)")),
    ("16.2", "one shift only", "occur twice",
     PAIRS.replace("np.arange(1, nu + 1)", "np.full(nu, nu)")),
    ("16.2", "a ring of d_k", "occur twice",
     PAIRS.replace("% (2 * d_k)", "% d_k").replace("stack([i,",
                                                   "stack([i % d_k,")),
    ("16.2", "two rings", "occur twice", PAIRS.replace(
        "(i + shift) % (2 * d_k)", "(i + shift) % d_k + d_k * (i >= d_k)")),
    ("16.2", "shifts 2 and 3", "shifts 1 to nu",
     PAIRS.replace("np.arange(1, nu + 1)", "np.arange(2, nu + 2)")),
    ("16.2", "the other way round", "another order",
     PAIRS.replace("i + shift", "i - shift")),
    ("16.2", "feature after feature", "another order", """
return np.array([(i, (i + s) % (2 * d_k)) for i in range(2 * d_k)
                 for s in range(1, nu + 1)])
"""),
    ("16.2", "made for a width of 4", "d_k = 2 and nu = 1", """
return np.array([(i, (i + s) % 8) for s in range(1, nu + 1) for i in range(8)])
"""),
    ("16.2", "the ring as long as the features", "where does place 8 lie",
     PAIRS.replace("% (2 * d_k)", "% (d_k * nu * 2)")),
    ("16.2", "the ring of d_k nu", "d_k = 2 and nu = 1",
     PAIRS.replace("% (2 * d_k)", "% (d_k * nu)")),
    ("16.2", "the partner first", "the place i first",
     PAIRS.replace("[i, (i + shift) % (2 * d_k)]",
                   "[(i + shift) % (2 * d_k), i]")),
    ("16.2", "the smaller place first", "the place i first", """
ring = 2 * d_k
return np.sort([(i, (i + s) % ring) for s in range(1, nu + 1)
                for i in range(ring)], axis=-1)
"""),
    ("16.2", "places as floats", "are they integers",
     PAIRS.replace("axis=-1)", "axis=-1) * 1.0")),
    ("16.3", "not begun", "16.3 not done yet", "raise NotImplementedError"),
    ("16.3", "nothing returned", "return its result",
     BACKWARD.replace("return past(dY", "past(dY")),
    ("16.3", "dV only", "three gradients",
     BACKWARD.replace("past(dY, V) @ K, future(V, dY) @ Q, ", "")),
    ("16.3", "another order", "dV stands where dQ should",
     BACKWARD.replace("past(dY, V) @ K, future(V, dY) @ Q, future(K, Q) @ dY",
                      "future(K, Q) @ dY, past(dY, V) @ K, future(V, dY) @ Q")),
    ("16.3", "all from the past", "run from the end",
     BACKWARD.replace("np.triu", "np.tril")),
    ("16.3", "no mask", "a later pair", BACKWARD.replace("np.tril", "")
     .replace("np.triu", "")),
    ("16.3", "own pair left out", "find its own pair",
     BACKWARD.replace("1, -2))", "1, -2), 1)").replace("1, -2), 1)",
                                                       "1, -2), -1)", 1)),
    ("16.3", "dQ and dK exchanged", "dK stands where dQ should",
     BACKWARD.replace("past(dY, V) @ K, future(V, dY) @ Q",
                      "future(V, dY) @ Q, past(dY, V) @ K")),
    ("16.3", "scores of the values", "dQ is not autograd's",
     BACKWARD.replace("past(dY, V)", "past(dY, dY)")),
    ("16.3", "dV from the other side", "dV is not autograd's",
     BACKWARD.replace("future(K, Q) @ dY", "future(Q, K) @ dY")),
    ("16.3", "by autograd", "lean on autograd", """
leaves = [torch.tensor(a, requires_grad=True) for a in (Q, K, V)]
Y = (leaves[0] @ leaves[1].mT).tril() @ leaves[2]
return torch.autograd.grad(Y, leaves, torch.tensor(dY))
"""),
    ("16.3", "downhill", "which sign has dQ",
     BACKWARD.replace("past(dY, V) @ K", "-past(dY, V) @ K")),
    ("16.3", "dV without its own pair", "one token: dV is 0",
     BACKWARD.replace("future(K, Q) @ dY",
                      "future(K, Q) @ dY - (Q * K).sum(-1)[..., None] * dY")),
    ("16.3", "dY masked in place", "as they were",
     BACKWARD.replace("return past", "dY *= 1.5\nreturn past")),
    ("16.3", "one axis in front", "it stops with",
     BACKWARD.replace("np.swapaxes(B, -1, -2)", "B.transpose(0, 2, 1)")),
    ("16.3", "told apart by width", "is dQ right", BACKWARD.replace(
        "return past(dY, V) @ K", """
if Q.shape == V.shape:
    Q, V = V, Q
return past(dY, V) @ K""")),
    ("16.4", "not begun", "16.4 not done yet", "raise NotImplementedError"),
    ("16.4", "nothing returned", "return its result",
     LOUD.replace("return feature - 1 if feature > 1 else math.log(feature)",
                  "feature")),
    ("16.4", "the whole key", "one number",
     LOUD.replace("return feature - 1 if feature > 1 else math.log(feature)",
                  "return np.full(K.shape[1], feature - 1)")),
    ("16.4", "one c for each column", "one number", """
z = np.where(K > 0, K + 1, np.exp(np.minimum(K, 0))).sum(axis=0)
return share / (1 - share) * z - 1
"""),
    ("16.4", "the sum of z", "the largest average",
     LOUD.replace("z.max()", "z.sum()")),
    ("16.4", "the mean of z", "right for a query with equal features",
     LOUD.replace("z.max()", "z.mean()")),
    ("16.4", "the smallest entry of z", "the smallest entry of z",
     LOUD.replace("z.max()", "z.min()")),
    ("16.4", "the loudest old key", "one old key alone",
     LOUD.replace(".sum(axis=0)", "")),
    ("16.4", "the fraction of the others", "the others and the new key",
     LOUD.replace("share / (1 - share)", "share")),
    ("16.4", "divided by the width", "drop out",
     LOUD.replace("z.max()", "z.max() / K.shape[1]")),
    ("16.4", "the feature", "that is elu(c) + 1", LOUD.replace(
        "feature - 1 if feature > 1 else math.log(feature)", "feature")),
    ("16.4", "always the upper branch", "a feature below 1", LOUD.replace(
        "feature - 1 if feature > 1 else math.log(feature)", "feature - 1")),
    ("16.4", "softmax's features", "just the fraction",
     LOUD.replace("elu_plus_one(K)", "np.exp(K)")),
    ("16.4", "keys, not features", "just the fraction",
     LOUD.replace("elu_plus_one(K)", "K")),
    ("16.4", "in place", "leave K as it was", """
K[K <= 0] = np.exp(K[K <= 0]) - 1
K += 1
feature = share / (1 - share) * K.sum(axis=0).max()
return feature - 1 if feature > 1 else math.log(feature)
"""),
    ("16.4", "made for a fraction of 0.8", "share = 0.6", """
feature = 4 * elu_plus_one(K).sum(0).max()
if share < 0.5:
    feature *= share / (1 - share) / 4
return feature - 1 if feature > 1 else math.log(feature)
"""),
]

HIDDEN = [
    ("16.1", "an epsilon below", "very different size", CUMSUM.replace(
        "(z * phi_Q).sum(axis=-1, keepdims=True)",
        "((z * phi_Q).sum(axis=-1, keepdims=True) + 1e-6)")),
    ("16.2", "places in eight bits", "d_k = 70",
     PAIRS.replace("axis=-1)", "axis=-1).astype(np.int8)")),
    ("16.3", "gradients bounded", "very different size",
     "dY = dY.clip(-50, 50)\n" + BACKWARD),
    ("16.4", "c bounded", "share = 0.999",
     LOUD.replace("return feature - 1", "return min(feature - 1, 1e4)")),
]

SMALL = [2, 3, 4, 5, 6, 7, 8, 9]
VARIANTS = {
    "16.1": {
        "asks": "formula",
        "one of": {"w": [2, 3, 4]},
        "says": """A token reads itself and the tokens just before it, {w} in
            all; at the beginning of a text, those that are there. A running
            sum need not be how.""",
        "words": [("""The check notices a call of `linear_attention` or
            `linear_attention_by_state` (both in the last folded cell of the
            section on (16.4)), but it does not notice a loop. """, "")],
        "edits": [("as a running sum over all outer products.",
                   "over a window of {w} tokens."),
                  ("states, z = pairs.cumsum(axis=-3), phi_K.cumsum(axis=-2)",
                   """i = np.arange(V.shape[-2])
    near = np.tril(i[:, None] - i < {w}) * 1.0       # (n, n)
    states = np.einsum("nm,...mvk->...nvk", near, pairs)
    z = near @ phi_K""")]},
    "16.4": {
        "asks": "formula",
        "one of": {"m": SMALL},
        "says": """{m} equal keys are added, not one, and `share` is what they
            get together.""",
        "edits": [("* z.max()  ", "* z.max() / {m}  ")]},
}
