"""Answers to the exercises of chapter 17: the lines between the solution marks.

RIGHT   exercise, how it is written, body
WRONG   exercise, the mistake, words that the check must print, body
HIDDEN  exercise, the mistake, words that only the grade says, body
DOMAIN  exercise: a function that draws arguments as its statement allows them
PRECISE exercise: the students' kinds (battery.py) that it refuses, and why
VARIANTS exercise: what a homework sheet changes (tools/homework/variants.py)
"""

import numpy as np

HELD = """
by_delta = [(4, 0), (6, 0), (6, 6), (4.5, 6)]
by_gate = [(4, 0), (6, 0), (0, 6), (0, 4.5)]
return by_delta, by_gate
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
BACKWARD = """
error = v - np.einsum("...vk,...k->...v", state, k)
G_k = np.einsum("...vk,...k->...v", G, k)
b = np.asarray(beta)[..., None]
d_state = G - b[..., None] * G_k[..., None] * k[..., None, :]
d_k = b * (np.einsum("...vk,...v->...k", G, error)
           - np.einsum("...vk,...v->...k", state, G_k))
return d_state, d_k, b * G_k, (error * G_k).sum(axis=-1)
"""
LOUD = """
return np.tile([1.0, -1, 1, 1], (40, 1))
"""
CLUSTERS = """
return (1 - 1 / m) / 2, (1 - D / n) / 2, n * (1 - 2 * loss)
"""


def shapes(rng):
    """Up to two axes in front, n, and two widths, no two of them alike."""
    sizes = rng.permutation(np.arange(1, 9))
    return tuple(sizes[:rng.integers(0, 3)]), *map(int, sizes[3:6])


def rows(rng, front, n, width, size=4):
    """Signed numbers (..., n, width), rows up to 10^size apart from 1."""
    return rng.normal(size=(*front, n, width)) * 10 ** rng.uniform(
        -size, size, size=(*front, n, 1))


def draw_17_2(rng):
    front, n, d_k, d_v = shapes(rng)
    K = rng.normal(size=(*front, n, d_k))
    K *= 10 ** rng.uniform(-1, 4, size=(*front, n, 1)) / np.linalg.norm(
        K, axis=-1, keepdims=True)
    beta = rng.uniform(size=(*front, n)) * rng.choice([1, 1e-3])
    beta[rng.uniform(size=beta.shape) < 0.1] = rng.integers(0, 2)
    return K, rows(rng, front, n, d_v), beta


def draw_17_3(rng):
    front, _, d_k, d_v = shapes(rng)
    G, state = rng.normal(size=(2, *front, d_v, d_k)) * 10 ** rng.uniform(
        -2, 2, size=(2, *[1] * len(front), 1, 1))
    return (G, state, rng.normal(size=(*front, d_k)),
            rng.normal(size=(*front, d_v)),
            np.asarray(rng.uniform(0.1, 1, size=front)))


def draw_17_5(rng):
    m, n = int(rng.integers(1, 20)), int(rng.integers(2, 100))
    return m, n, int(rng.integers(1, n + 1)), float(rng.uniform(0, 0.5))


DOMAIN = {"17.1": lambda rng: (), "17.2": draw_17_2, "17.3": draw_17_3,
          "17.4": lambda rng: (), "17.5": draw_17_5}
PRECISE = {}

RIGHT = [
    ("17.1", "by loops", """
lists = [], []
delta, gate = [0, 0], [0, 0]
for key, value, b in ((0, 4, 1), (0, 8, 0.5), (1, 6, 1), (0, 0, 0.25)):
    delta = list(delta)
    delta[key] += b * (value - delta[key])
    gate = [(1 - b) * old for old in gate]
    gate[key] += b * value
    lists[0].append(delta)
    lists[1].append(gate)
return lists
"""),
    ("17.1", "as arrays", HELD.replace("return by_delta, by_gate",
                                       "return np.array([by_delta, by_gate])")),
    ("17.2", "spelled out", SPELLED),
    ("17.2", "by erasing first", """
U = unit_length(K)
F = np.zeros((*K.shape[:-2], V.shape[-1], K.shape[-1]))
for t in range(K.shape[-2]):
    u, b = U[..., t, :], beta[..., t, None, None]
    outer = u[..., :, None] * u[..., None, :]
    F = F - b * (F @ outer) + b * V[..., t, :, None] * u[..., None, :]
return F
"""),
    ("17.3", "by matrix products", """
k, v = k[..., None], v[..., None]
b = np.asarray(beta)[..., None, None]
kt = np.swapaxes(k, -1, -2)
wrong = v - state @ k
d_state = G - b * (G @ k) @ kt
d_k = b * (np.swapaxes(G, -1, -2) @ wrong - np.swapaxes(state, -1, -2) @ G @ k)
return (d_state, d_k[..., 0], (b * (G @ k))[..., 0],
        (G * (wrong @ kt)).sum((-1, -2)))
"""),
    ("17.3", "one memory after another", """
grads = [np.empty(np.shape(a)) for a in (state, k, v, beta)]
for at in np.ndindex(np.shape(beta)):
    g, key, b = G[at], k[at], beta[at]
    wrong = v[at] - state[at] @ key
    grads[0][at] = g - b * np.outer(g @ key, key)
    grads[1][at] = b * (wrong @ g - (g @ key) @ state[at])
    grads[2][at] = b * (g @ key)
    grads[3][at] = wrong @ (g @ key)
return grads
"""),
    ("17.4", "all ones", "return np.ones((40, 4))"),
    ("17.4", "the sign turns", """
return np.tile([[1.0, 1, 1, 1], [-1, -1, -1, -1]], (20, 1))
"""),
    ("17.5", "written differently", """
return 0.5 - 0.5 / m, (n - D) / (2 * n), n - 2 * n * loss
"""),
    ("17.5", "as an array", CLUSTERS.replace("return ", "return np.array([")
     .rstrip() + "])"),
]

WRONG = [
    ("17.1", "not begun", "17.1 not done yet", "raise NotImplementedError"),
    ("17.1", "nothing returned", "return its result",
     HELD.replace("return by_delta, by_gate", "by_delta, by_gate")),
    ("17.1", "one list", "two lists",
     HELD.replace("return by_delta, by_gate", "return by_delta")),
    ("17.1", "lists exchanged", "which list comes first",
     HELD.replace("return by_delta, by_gate", "return by_gate, by_delta")),
    ("17.1", "keys exchanged", "which key comes first", """
by_delta = [(0, 4), (0, 6), (6, 6), (6, 4.5)]
by_gate = [(0, 4), (0, 6), (6, 0), (4.5, 0)]
return by_delta, by_gate
"""),
    ("17.1", "the sum rule", "half of the way", """
by_delta = [(4, 0), (12, 0), (12, 6), (12, 6)]
return by_delta, [(4, 0), (6, 0), (0, 6), (0, 4.5)]
"""),
    ("17.1", "replaced at once", "half of the way",
     HELD.replace("(6, 0), (6, 6), (4.5, 6)", "(8, 0), (8, 6), (6, 6)")),
    ("17.1", "half only", "old + beta (new - old)",
     HELD.replace("(4, 0), (6, 0), (6, 6)", "(4, 0), (4, 0), (6, 6)")),
    ("17.1", "a write to key 2 clears key 1", "who changes",
     HELD.replace("(6, 6), (4.5, 6)", "(0, 6), (0, 6)")),
    ("17.1", "a quarter stays", "how much of 6 stays",
     HELD.replace("(4.5, 6)]", "(1.5, 6)]")),
    ("17.1", "cleared", "a quarter of the way from 6",
     HELD.replace("(4.5, 6)]", "(0, 6)]")),
    ("17.1", "the gate keeps key 1", "multiplies the whole memory",
     HELD.replace("(0, 6), (0, 4.5)", "(6, 6), (4.5, 4.5)")),
    ("17.1", "key 2 does not fade", "does it fade",
     HELD.replace("(0, 4.5)]", "(0, 6)]")),
    ("17.1", "the gate multiplies by beta", "multiply both numbers",
     HELD.replace("(0, 4.5)]", "(0, 1.5)]")),
    ("17.2", "not begun", "17.2 not done yet", "raise NotImplementedError"),
    ("17.2", "nothing returned", "return its result",
     REMEMBER.replace("return state", "state")),
    ("17.2", "keys as they are", "length of the key",
     REMEMBER.replace("K = K / np.linalg.norm(K, axis=-1, keepdims=True)", "")),
    ("17.2", "keys that sum to 1", "length of the key", REMEMBER.replace(
        "np.linalg.norm(K, axis=-1, keepdims=True)",
        "K.sum(axis=-1, keepdims=True)")),
    ("17.2", "divided by the square", "length of the key", REMEMBER.replace(
        "np.linalg.norm(K, axis=-1, keepdims=True)",
        "(K**2).sum(axis=-1, keepdims=True)")),
    ("17.2", "one length for all keys", "each key by its own length",
     REMEMBER.replace("np.linalg.norm(K, axis=-1, keepdims=True)",
                      "np.linalg.norm(K)")),
    ("17.2", "beta forgotten", "does a quarter arrive",
     SPELLED.replace("b * (v - old)", "v - old")),
    ("17.2", "beta twice", "does a quarter arrive",
     SPELLED.replace("b * (v", "b * b * (v")),
    ("17.2", "beta on the erase only", "does a quarter arrive",
     SPELLED.replace("b * (v - old)", "v - b * old")),
    ("17.2", "the removal forgotten", "replace the first",
     SPELLED.replace("b * (v - old)", "b * v + (1 - b) * old")),
    ("17.2", "the sum rule", "replace the first",
     SPELLED.replace("b * (v - old)", "b * v")),
    ("17.2", "all at once", "replace the first", """
U = unit_length(K)
return np.einsum("...nv,...nk->...vk", beta[..., None] * V, U)
"""),
    ("17.2", "beta on the write only", "erase nothing",
     SPELLED.replace("b * (v - old)", "b * v - old")),
    ("17.2", "a gate", "a perpendicular one", SPELLED.replace(
        "write_sum(state, k, b * (v - old))",
        "write_sum((1 - b[..., None]) * state, k, b * v)")),
    ("17.2", "transposed", "value first, key second",
     REMEMBER.replace("return state", "return np.swapaxes(state, -1, -2)")),
    ("17.2", "the lesson's function", "can you write it yourself", """
K = unit_length(K)
return delta_rule(K, K, V, beta)[1]
"""),
    ("17.2", "keys changed in place", "as they were",
     REMEMBER.replace("K = K /", "K /=")),
    ("17.2", "one axis in front", "shapes clash", """
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
    ("17.3", "not begun", "17.3 not done yet", "raise NotImplementedError"),
    ("17.3", "nothing returned", "return its result",
     BACKWARD.replace("return d_state", "d_state")),
    ("17.3", "three gradients", "four gradients",
     BACKWARD.replace(", (error * G_k).sum(axis=-1)", "")),
    ("17.3", "another order", "has the gradient of k the shape",
     BACKWARD.replace("d_state, d_k, b * G_k", "d_state, b * G_k, d_k")),
    ("17.3", "beta summed too far", "has the gradient of beta the shape",
     BACKWARD.replace("(error * G_k).sum(axis=-1)", "(error * G_k).sum()")),
    ("17.3", "downhill", "which sign has the gradient of v",
     BACKWARD.replace("d_k, b * G_k", "d_k, -b * G_k")),
    ("17.3", "nothing erased", "what does G lose",
     BACKWARD.replace("d_state = G - b[..., None] * G_k[..., None] * "
                      "k[..., None, :]", "d_state = G")),
    ("17.3", "erased without beta", "is it G times I - beta k k^T",
     BACKWARD.replace("G - b[..., None] * ", "G - ")),
    ("17.3", "v without beta", "is it beta times G k",
     BACKWARD.replace("d_k, b * G_k", "d_k, G_k")),
    ("17.3", "beta with v only", "entry by entry",
     BACKWARD.replace("(error * G_k)", "(v * G_k)")),
    ("17.3", "k once", "k occurs twice", BACKWARD.replace(
        '- np.einsum("...vk,...v->...k", state, G_k)', "- 0")),
    ("17.3", "k with the wrong sign", "minus what goes back",
     BACKWARD.replace('- np.einsum("...vk,...v->...k"',
                      '+ np.einsum("...vk,...v->...k"')),
    ("17.3", "by autograd", "lean on autograd", """
leaves = [torch.tensor(a, requires_grad=True) for a in (state, k, v, beta)]
F_0, k, v, b = leaves
new = F_0 + (b[..., None] * (v - (F_0 @ k[..., None])[..., 0]))[
    ..., None] * k[..., None, :]
return torch.autograd.grad(new, leaves, torch.tensor(G))
"""),
    ("17.3", "in place", "as they were",
     BACKWARD.replace("return d_state", "G *= 1.5\nreturn d_state")),
    ("17.3", "one axis in front", "it stops with", BACKWARD.replace(
        '"...vk,...v->...k", G', '"bvk,bv->bk", G')),
    ("17.4", "not begun", "17.4 not done yet", "raise NotImplementedError"),
    ("17.4", "nothing returned", "return its result",
     LOUD.replace("return ", "")),
    ("17.4", "unit keys", "is 1 minus it beyond -1",
     "return np.tile([1.0, 0, 0, 0], (40, 1))"),
    ("17.4", "too large", "between -1 and 1", "return np.full((40, 4), 3.0)"),
    ("17.4", "too many", "40 keys of width 4", "return np.ones((100, 4))"),
    ("17.4", "too few", "40 keys of width 4", "return np.ones((5, 4))"),
    ("17.4", "directions of their own", "memory stays small", """
return np.sign(np.random.default_rng(0).normal(size=(40, 4)))
"""),
    ("17.4", "silenced from the other end", "from the last key", """
return np.concatenate([np.ones((39, 4)), np.full((1, 4), 1 / 3)])
"""),
    ("17.4", "silenced at the end", "memory stays small", """
return np.concatenate([np.ones((39, 4)), np.full((1, 4), 1 / 3**0.5)])
"""),
    ("17.5", "not begun", "17.5 not done yet", "raise NotImplementedError"),
    ("17.5", "nothing returned", "return its result",
     CLUSTERS.replace("return ", "")),
    ("17.5", "two numbers", "three numbers",
     CLUSTERS.replace(", n * (1 - 2 * loss)", "")),
    ("17.5", "the whole square", "half the squared error",
     CLUSTERS.replace("(1 - 1 / m) / 2", "1 - 1 / m")),
    ("17.5", "its own value only", "the other values of its cluster",
     CLUSTERS.replace("(1 - 1 / m) / 2", "(1 - 1 / m) ** 2 / 2")),
    ("17.5", "another sum", "1 - 1/m at one value",
     CLUSTERS.replace("(1 - 1 / m) / 2", "(m - 1) / 2")),
    ("17.5", "not divided by n", "divided by n",
     CLUSTERS.replace("(1 - D / n) / 2", "(n - D) / 2")),
    ("17.5", "n and D exchanged", "add over clusters",
     CLUSTERS.replace("(1 - D / n) / 2", "(1 - 1 / D) / 2")),
    ("17.5", "empty clusters", "solve the mean loss for D",
     CLUSTERS.replace("n * (1 - 2 * loss)", "2 * n * loss")),
]

HIDDEN = [
    ("17.1", "rounded", "exact, not rounded",
     HELD.replace("4.5", "4.500001")),
    ("17.2", "values bounded", "very different size",
     "V = V.clip(-50, 50)\n" + REMEMBER),
    ("17.3", "gradients bounded", "very different",
     "G = G.clip(-50, 50)\n" + BACKWARD),
    ("17.4", "loud in both directions only", "shuffled", """
block, spike = np.ones((12, 4)), np.tile([1.0, 0, 0, 0], (16, 1))
return np.concatenate([block, spike, block])
"""),
    ("17.5", "rounded", "is it right for m, n, D, loss",
     "return round((1 - 1 / m) / 2, 6), (1 - D / n) / 2, n * (1 - 2 * loss)"),
]

TENTHS = [0.3, 0.4, 0.6, 0.7, 0.8, 0.9]
VARIANTS = {
    "17.2": {
        "asks": "formula",
        "one of": {"c": [0.5, 0.6, 0.7, 0.8, 1.1], "g": [*TENTHS]},
        "says": """Each key is scaled to length {c}. Before each write, the
            state is multiplied by {g}; the delta rule reads and corrects what
            is then left.""",
        "words": [("scales each key to length 1, writes",
                   "scales each key to length {c}, writes"),
                  (", without `delta_rule` and the folded `gated_delta_rule`",
                   "")],
        "edits": [("K = K / np.linalg.norm(", "K = {c} * K / np.linalg.norm("),
                  ("write_delta(state, K", "write_delta({g} * state, K")]},
    "17.3": {
        "asks": "formula",
        "one of": {"g": [*TENTHS]},
        "says": """The state forgets before it is corrected: $F' = {g} F +
            \\beta\\,(v - {g} F k)\\,k^\\top$.""",
        "words": [("The check compares with autograd, which your answer must"
                   " not call.", "Your answer must not call autograd.")],
        "edits": [("error = v - np.einsum(", "error = v - {g} * np.einsum("),
                  ("d_state = G - b[..., None] * G_k[..., None] *"
                   " k[..., None, :]",
                   "d_state = {g} * (G - b[..., None] * G_k[..., None]"
                   " * k[..., None, :])"),
                  ("- np.einsum(\"...vk,...v->...k\", state, G_k)",
                   "- {g} * np.einsum(\"...vk,...v->...k\", state, G_k)")]},
    "17.5": {
        "asks": "formula",
        "one of": {"c": [0.3, 0.4, 0.5, 0.6, 0.7]},
        "says": """The memory answers each key with {c} times the average of
            its cluster.""",
        "words": [("each key with the average of the (one-hot) values of its"
                   " cluster, as a trained memory does in *Deeper*",
                   "each key with {c} times the average of the (one-hot)"
                   " values of its cluster")],
        "edits": [("that answers with the averages of clusters.",
                   "that answers with {c} times the averages."),
                  ("# ((1 - 1/m)^2 + (m - 1) / m^2) / 2 = (1 - 1/m) / 2;"
                   " times m: (m - 1) / 2",
                   "# ((1 - {c}/m)^2 + (m - 1) {c}^2 / m^2) / 2"
                   " = (1 - s/m) / 2"),
                  ("return (1 - 1 / m) / 2, (1 - D / n) / 2,"
                   " n * (1 - 2 * loss)",
                   "s = 2 * {c} - {c}**2\n"
                   "    return ((1 - s / m) / 2, (1 - s * D / n) / 2,\n"
                   "            n * (1 - 2 * loss) / s)")]},
}
