"""Answers to the exercises of chapter 16: the lines between the solution marks.

RIGHT   exercise, how it is written, body
WRONG   exercise, the mistake, words that the check must print, body
HIDDEN  exercise, the mistake, words that only the grade says, body
DOMAIN  exercise: a function that draws arguments as its statement allows them
PRECISE exercise: the students' kinds (battery.py) that it refuses, and why
"""

import numpy as np

CUMSUM = """
pairs = V[..., :, None] * phi_K[..., None, :]
states, z = pairs.cumsum(axis=-3), phi_K.cumsum(axis=-2)
read = np.einsum("...nvk,...nk->...nv", states, phi_Q)
return read / (z * phi_Q).sum(axis=-1, keepdims=True)
"""
REMEMBER = """
K = K / np.linalg.norm(K, axis=-1, keepdims=True)
state = empty_state(K, V)
for t in range(K.shape[-2]):
    state = write_delta(state, K[..., t, :], V[..., t, :], beta[..., t])
return state
"""
# the same with the write spelled out: v_old, then what is added
SPELLED = """
K = K / np.linalg.norm(K, axis=-1, keepdims=True)
state = empty_state(K, V)
for t in range(K.shape[-2]):
    k, v, b = K[..., t, :], V[..., t, :], beta[..., t, None]
    old = read_memory(state, k)
    state = write_sum(state, k, b * (v - old))
return state
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
return np.tile([1.0, -1, 1, 1], (40, 1))
"""


def shapes(rng):
    """Up to two axes in front, n, and two widths, no two of them alike."""
    sizes = rng.permutation(np.arange(1, 9))
    return tuple(sizes[:rng.integers(0, 3)]), *map(int, sizes[3:6])


def rows(rng, front, n, width, size=4):
    """Signed numbers (..., n, width), rows up to 10^size apart from 1."""
    return rng.normal(size=(*front, n, width)) * 10 ** rng.uniform(
        -size, size, size=(*front, n, 1))


def draw_16_2(rng):
    front, n, d_phi, d_v = shapes(rng)
    phi_Q, phi_K = (abs(rows(rng, front, n, d_phi)) + 1e-5 for _ in "QK")
    return phi_Q, phi_K, rows(rng, front, n, d_v)


def draw_16_3(rng):
    front, n, d_k, d_v = shapes(rng)
    K = rng.normal(size=(*front, n, d_k))
    K *= 10 ** rng.uniform(-1, 4, size=(*front, n, 1)) / np.linalg.norm(
        K, axis=-1, keepdims=True)
    beta = rng.uniform(size=(*front, n)) * rng.choice([1, 1e-3])
    beta[rng.uniform(size=beta.shape) < 0.1] = rng.integers(0, 2)
    return K, rows(rng, front, n, d_v), beta


def draw_16_4(rng):
    d_k = int(rng.integers(2, 12))
    return d_k, int(rng.integers(1, d_k))


def draw_16_5(rng):
    front, n, d_k, d_v = shapes(rng)
    return (rows(rng, front, n, d_v), rows(rng, front, n, d_k),
            rows(rng, front, n, d_k), rows(rng, front, n, d_v))


DOMAIN = {"16.2": draw_16_2, "16.3": draw_16_3, "16.4": draw_16_4,
          "16.5": draw_16_5, "16.7": lambda rng: ()}
PRECISE = {}

RIGHT = [
    ("16.2", "by the mask", """
similar = np.tril(np.einsum("...nk,...mk->...nm", phi_Q, phi_K))
return similar / similar.sum(-1, keepdims=True) @ V
"""),
    ("16.2", "by torch", """
q, k, v = map(torch.tensor, (phi_Q, phi_K, V))
states = torch.cumsum(v[..., None] * k[..., None, :], dim=-3)
z = torch.cumsum(k, dim=-2)
return ((states @ q[..., None])[..., 0] / (z * q).sum(-1, keepdim=True)).numpy()
"""),
    ("16.2", "the normalizer as one more value", """
V = np.concatenate([V, np.ones((*V.shape[:-1], 1))], axis=-1)
states = np.cumsum(np.einsum("...nv,...nk->...nvk", V, phi_K), axis=-3)
read = (states * phi_Q[..., None, :]).sum(-1)
return read[..., :-1] / read[..., -1:]
"""),
    ("16.3", "spelled out", SPELLED),
    ("16.3", "by erasing first", """
U = unit_length(K)
F = np.zeros((*K.shape[:-2], V.shape[-1], K.shape[-1]))
for t in range(K.shape[-2]):
    u, b = U[..., t, :], beta[..., t, None, None]
    outer = u[..., :, None] * u[..., None, :]
    F = F - b * (F @ outer) + b * V[..., t, :, None] * u[..., None, :]
return F
"""),
    ("16.4", "by loops, as a list", """
ring = 2 * d_k
return [(i, (i + s) % ring) for s in range(1, nu + 1) for i in range(ring)]
"""),
    ("16.4", "by np.roll", """
ring = np.arange(2 * d_k)
return np.concatenate([np.stack([ring, np.roll(ring, -s)], axis=1)
                       for s in range(1, nu + 1)])
"""),
    ("16.5", "by masked products", BACKWARD),
    ("16.5", "by torch, each gradient as one product", """
dY, Q, K, V = map(torch.tensor, (dY, Q, K, V))
scores, dscores = (Q @ K.mT).tril(), (dY @ V.mT).tril()
return dscores @ K, dscores.mT @ Q, scores.mT @ dY
"""),
    ("16.5", "token by token", """
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
    ("16.7", "all ones", "return np.ones((40, 4))"),
    ("16.7", "the sign turns", """
return np.tile([[1.0, 1, 1, 1], [-1, -1, -1, -1]], (20, 1))
"""),
]

WRONG = [
    ("16.2", "not begun", "16.2 not done yet", "raise NotImplementedError"),
    ("16.2", "nothing returned", "return its result",
     CUMSUM.replace("return ", "")),
    ("16.2", "one state for all", "moved earlier answers", """
state = np.einsum("...nv,...nk->...vk", V, phi_K)
z = phi_K.sum(axis=-2, keepdims=True)
read = np.einsum("...vk,...nk->...nv", state, phi_Q)
return read / (z * phi_Q).sum(axis=-1, keepdims=True)
"""),
    ("16.2", "z over all keys", "its own z",
     CUMSUM.replace("phi_K.cumsum(axis=-2)", "phi_K.sum(-2, keepdims=True)")),
    ("16.2", "no normalizer", "all values were 3",
     CUMSUM.replace(" / (z * phi_Q).sum(axis=-1, keepdims=True)", "")),
    ("16.2", "the mean", "all values were 3", CUMSUM.replace(
        "(z * phi_Q).sum(axis=-1, keepdims=True)",
        "np.arange(1, V.shape[-2] + 1)[:, None]")),
    ("16.2", "along the features", "all values were 3",
     CUMSUM.replace("pairs.cumsum(axis=-3)", "pairs.cumsum(axis=-2)")),
    ("16.2", "along the batch", "the axis before the last",
     CUMSUM.replace("axis=-3", "axis=0").replace("cumsum(axis=-2)",
                                                 "cumsum(axis=0)")),
    ("16.2", "read before write", "all values were 3",
     CUMSUM.replace("states, phi_Q)", "states - pairs, phi_Q)")),
    ("16.2", "both before write", "0 / 0",
     CUMSUM.replace("states, phi_Q)", "states - pairs, phi_Q)")
     .replace("(z * phi_Q)", "((z - phi_K) * phi_Q)")),
    ("16.2", "queries written, keys read", "which key meets",
     "phi_Q, phi_K = phi_K, phi_Q" + CUMSUM),
    ("16.2", "the lesson's function", "can you write it yourself",
     "return linear_attention(phi_Q, phi_K, V)"),
    ("16.2", "the lesson's function by state", "can you write it yourself",
     "return linear_attention_by_state(phi_Q, phi_K, V)[0]"),
    ("16.2", "keys summed in place", "as they were",
     CUMSUM.replace("phi_K.cumsum(axis=-2)",
                    "phi_K.cumsum(axis=-2, out=phi_K)")),
    ("16.2", "axis 1", "2 axes in front",
     "axis = 1 if V.ndim > 2 else 0" + CUMSUM.replace("axis=-3", "axis=axis")
     .replace("axis=-2", "axis=axis")),
    ("16.2", "three axes expected", "it stops with", """
pairs = np.einsum("bnv,bnk->bnvk", V, phi_K)
read = np.einsum("bnvk,bnk->bnv", pairs.cumsum(1), phi_Q)
return read / (phi_K.cumsum(1) * phi_Q).sum(-1, keepdims=True)
"""),
    ("16.3", "not begun", "16.3 not done yet", "raise NotImplementedError"),
    ("16.3", "nothing returned", "return its result",
     REMEMBER.replace("return state", "state")),
    ("16.3", "keys as they are", "length of the key",
     REMEMBER.replace("K = K / np.linalg.norm(K, axis=-1, keepdims=True)", "")),
    ("16.3", "keys that sum to 1", "length of the key", REMEMBER.replace(
        "np.linalg.norm(K, axis=-1, keepdims=True)",
        "K.sum(axis=-1, keepdims=True)")),
    ("16.3", "divided by the square", "length of the key", REMEMBER.replace(
        "np.linalg.norm(K, axis=-1, keepdims=True)",
        "(K**2).sum(axis=-1, keepdims=True)")),
    ("16.3", "one length for all keys", "each key by its own length",
     REMEMBER.replace("np.linalg.norm(K, axis=-1, keepdims=True)",
                      "np.linalg.norm(K)")),
    ("16.3", "beta forgotten", "does a quarter arrive",
     SPELLED.replace("b * (v - old)", "v - old")),
    ("16.3", "beta twice", "does a quarter arrive",
     SPELLED.replace("b * (v", "b * b * (v")),
    ("16.3", "beta on the erase only", "does a quarter arrive",
     SPELLED.replace("b * (v - old)", "v - b * old")),
    ("16.3", "the removal forgotten", "replace the first",
     SPELLED.replace("b * (v - old)", "b * v + (1 - b) * old")),
    ("16.3", "the sum rule", "replace the first",
     SPELLED.replace("b * (v - old)", "b * v")),
    ("16.3", "all at once", "replace the first", """
U = unit_length(K)
return np.einsum("...nv,...nk->...vk", beta[..., None] * V, U)
"""),
    ("16.3", "beta on the write only", "erase nothing",
     SPELLED.replace("b * (v - old)", "b * v - old")),
    ("16.3", "a gate", "a perpendicular one", SPELLED.replace(
        "write_sum(state, k, b * (v - old))",
        "write_sum((1 - b[..., None]) * state, k, b * v)")),
    ("16.3", "transposed", "value first, key second",
     REMEMBER.replace("return state", "return np.swapaxes(state, -1, -2)")),
    ("16.3", "the lesson's function", "can you write it yourself", """
K = unit_length(K)
return delta_rule(K, K, V, beta)[1]
"""),
    ("16.3", "keys changed in place", "as they were",
     REMEMBER.replace("K = K /", "K /=")),
    ("16.3", "one axis in front", "shapes clash", """
K = K / np.linalg.norm(K, axis=-1, keepdims=True)
if K.ndim == 2:
    return remember(K[None], V[None], beta[None])[0]
state = np.zeros((len(K), V.shape[2], K.shape[2]))
for t in range(K.shape[1]):
    old = np.einsum("bvk,bk->bv", state, K[:, t])
    new = beta[:, t, None] * (V[:, t] - old)
    state += np.einsum("bv,bk->bvk", new, K[:, t])
return state
"""),
    ("16.4", "not begun", "16.4 not done yet", "raise NotImplementedError"),
    ("16.4", "nothing returned", "return its result",
     PAIRS.replace("return ", "")),
    ("16.4", "lying down", "so (16, 2)", PAIRS.replace("axis=-1", "axis=0")),
    ("16.4", "no ring", "where does place 8 lie",
     PAIRS.replace(" % (2 * d_k)", "")),
    ("16.4", "clipped", "occur twice", PAIRS.replace(
        "(i + shift) % (2 * d_k)", "np.minimum(i + shift, 2 * d_k - 1)")),
    ("16.4", "from shift 0", "meet itself",
     PAIRS.replace("np.arange(1, nu + 1)", "np.arange(nu)")),
    ("16.4", "one shift only", "occur twice",
     PAIRS.replace("np.arange(1, nu + 1)", "np.full(nu, nu)")),
    ("16.4", "a ring of d_k", "occur twice",
     PAIRS.replace("% (2 * d_k)", "% d_k").replace("stack([i,",
                                                   "stack([i % d_k,")),
    ("16.4", "two rings", "occur twice", PAIRS.replace(
        "(i + shift) % (2 * d_k)", "(i + shift) % d_k + d_k * (i >= d_k)")),
    ("16.4", "shifts 2 and 3", "shifts 1 to nu",
     PAIRS.replace("np.arange(1, nu + 1)", "np.arange(2, nu + 2)")),
    ("16.4", "the other way round", "another order",
     PAIRS.replace("i + shift", "i - shift")),
    ("16.4", "feature after feature", "another order", """
return np.array([(i, (i + s) % (2 * d_k)) for i in range(2 * d_k)
                 for s in range(1, nu + 1)])
"""),
    ("16.4", "made for a width of 4", "d_k = 2 and nu = 1", """
return np.array([(i, (i + s) % 8) for s in range(1, nu + 1) for i in range(8)])
"""),
    ("16.4", "the ring as long as the features", "where does place 8 lie",
     PAIRS.replace("% (2 * d_k)", "% (d_k * nu * 2)")),
    ("16.4", "the ring of d_k nu", "d_k = 2 and nu = 1",
     PAIRS.replace("% (2 * d_k)", "% (d_k * nu)")),
    ("16.4", "the partner first", "the place i first",
     PAIRS.replace("[i, (i + shift) % (2 * d_k)]",
                   "[(i + shift) % (2 * d_k), i]")),
    ("16.4", "the smaller place first", "the place i first", """
ring = 2 * d_k
return np.sort([(i, (i + s) % ring) for s in range(1, nu + 1)
                for i in range(ring)], axis=-1)
"""),
    ("16.4", "places as floats", "are they integers",
     PAIRS.replace("axis=-1)", "axis=-1) * 1.0")),
    ("16.5", "not begun", "16.5 not done yet", "raise NotImplementedError"),
    ("16.5", "nothing returned", "return its result",
     BACKWARD.replace("return past(dY", "past(dY")),
    ("16.5", "dV only", "three gradients",
     BACKWARD.replace("past(dY, V) @ K, future(V, dY) @ Q, ", "")),
    ("16.5", "another order", "dV stands where dQ should",
     BACKWARD.replace("past(dY, V) @ K, future(V, dY) @ Q, future(K, Q) @ dY",
                      "future(K, Q) @ dY, past(dY, V) @ K, future(V, dY) @ Q")),
    ("16.5", "all from the past", "run from the end",
     BACKWARD.replace("np.triu", "np.tril")),
    ("16.5", "no mask", "a later pair", BACKWARD.replace("np.tril", "")
     .replace("np.triu", "")),
    ("16.5", "own pair left out", "find its own pair",
     BACKWARD.replace("1, -2))", "1, -2), 1)").replace("1, -2), 1)",
                                                       "1, -2), -1)", 1)),
    ("16.5", "dQ and dK exchanged", "dK stands where dQ should",
     BACKWARD.replace("past(dY, V) @ K, future(V, dY) @ Q",
                      "future(V, dY) @ Q, past(dY, V) @ K")),
    ("16.5", "scores of the values", "dQ is not autograd's",
     BACKWARD.replace("past(dY, V)", "past(dY, dY)")),
    ("16.5", "dV from the other side", "dV is not autograd's",
     BACKWARD.replace("future(K, Q) @ dY", "future(Q, K) @ dY")),
    ("16.5", "by autograd", "lean on autograd", """
leaves = [torch.tensor(a, requires_grad=True) for a in (Q, K, V)]
Y = (leaves[0] @ leaves[1].mT).tril() @ leaves[2]
return torch.autograd.grad(Y, leaves, torch.tensor(dY))
"""),
    ("16.5", "downhill", "which sign has dQ",
     BACKWARD.replace("past(dY, V) @ K", "-past(dY, V) @ K")),
    ("16.5", "dV without its own pair", "one token: dV is 0",
     BACKWARD.replace("future(K, Q) @ dY",
                      "future(K, Q) @ dY - (Q * K).sum(-1)[..., None] * dY")),
    ("16.5", "dY masked in place", "as they were",
     BACKWARD.replace("return past", "dY *= 1.5\nreturn past")),
    ("16.5", "one axis in front", "it stops with",
     BACKWARD.replace("np.swapaxes(B, -1, -2)", "B.transpose(0, 2, 1)")),
    ("16.5", "told apart by width", "is dQ right", BACKWARD.replace(
        "return past(dY, V) @ K", """
if Q.shape == V.shape:
    Q, V = V, Q
return past(dY, V) @ K""")),
    ("16.7", "not begun", "16.7 not done yet", "raise NotImplementedError"),
    ("16.7", "nothing returned", "return its result",
     LOUD.replace("return ", "")),
    ("16.7", "unit keys", "is 1 minus it beyond -1",
     "return np.tile([1.0, 0, 0, 0], (40, 1))"),
    ("16.7", "too large", "between -1 and 1", "return np.full((40, 4), 3.0)"),
    ("16.7", "too many", "40 keys of width 4", "return np.ones((100, 4))"),
    ("16.7", "too few", "40 keys of width 4", "return np.ones((5, 4))"),
    ("16.7", "directions of their own", "memory stays small", """
return np.sign(np.random.default_rng(0).normal(size=(40, 4)))
"""),
    ("16.7", "silenced from the other end", "from the last key", """
return np.concatenate([np.ones((39, 4)), np.full((1, 4), 1 / 3)])
"""),
    ("16.7", "silenced at the end", "memory stays small", """
return np.concatenate([np.ones((39, 4)), np.full((1, 4), 1 / 3**0.5)])
"""),
]

HIDDEN = [
    ("16.2", "an epsilon below", "very different size", CUMSUM.replace(
        "(z * phi_Q).sum(axis=-1, keepdims=True)",
        "((z * phi_Q).sum(axis=-1, keepdims=True) + 1e-6)")),
    ("16.3", "values bounded", "very different size",
     "V = V.clip(-50, 50)\n" + REMEMBER),
    ("16.4", "places in eight bits", "d_k = 70",
     PAIRS.replace("axis=-1)", "axis=-1).astype(np.int8)")),
    ("16.5", "gradients bounded", "very different size",
     "dY = dY.clip(-50, 50)\n" + BACKWARD),
    ("16.7", "loud in both directions only", "shuffled", """
block, spike = np.ones((12, 4)), np.tile([1.0, 0, 0, 0], (16, 1))
return np.concatenate([block, spike, block])
"""),
]
