"""Answers to the exercises of chapter 21: the lines between the solution marks.

RIGHT   exercise, how it is written, body
WRONG   exercise, the mistake, words that the check must print, body
HIDDEN  exercise, the mistake, words that only the grade says, body
DOMAIN  exercise: a function that draws arguments as its statement allows them
PRECISE exercise: the students' kinds (battery.py) that it refuses, and why
VARIANTS exercise: what a homework sheet changes (tools/homework/variants.py)
"""

import numpy as np


def unequal(rng, k, largest=8):
    """k sizes from 1 to largest, no two the same."""
    return (rng.permutation(largest)[:k] + 1).tolist()


def sized(rng, *shape):
    """Signed numbers; the size of the whole from tiny to far beyond 50."""
    return 10 ** rng.uniform(-5, 4) * rng.normal(size=shape)


def draw_21_1(rng):
    n_vocab, d, h_kv, d_k, d_ff = unequal(rng, 5)
    h = h_kv * int(rng.integers(1, 4))
    return ({"E": sized(rng, n_vocab, d), "norm": sized(rng, d), "layers": [
        {"norm_1": sized(rng, d),
         "attention": (sized(rng, h, d, d_k), sized(rng, h_kv, d, d_k),
                       sized(rng, h_kv, d, d_k), sized(rng, h, d_k, d)),
         "norm_2": sized(rng, d),
         "ffn": (sized(rng, d, d_ff), sized(rng, d, d_ff),
                 sized(rng, d_ff, d))}
        for _ in range(rng.integers(1, 4))]},)


def draw_21_2(rng):
    """Norms with a reader each, in any order, and other arrows at random."""
    norms = [f"norm_{i}" for i in rng.permutation(rng.integers(6))]
    matrices = ["W_Q", "W_K", "W_V", "gate", "up", "E"][:rng.integers(1, 7)]
    names = [*norms, *matrices, "ids", "stream", "cosines"]
    arrows = [(norm, str(rng.choice(matrices if rng.random() < 0.8 else names)))
              for norm in norms]
    arrows += [(str(giver), str(reader)) for giver, reader
               in rng.choice(names, size=(rng.integers(6), 2))]
    arrows += arrows[:rng.integers(3)]              # told twice
    return (norms, [arrows[i] for i in rng.permutation(len(arrows))],
            set(matrices))


def draw_21_3(rng):
    """A gated layer of h heads, a position table, a head; a gain of the two."""
    d, k, n_vocab, n, h = (1 + size for size in unequal(rng, 5))
    k = d if rng.random() < 0.2 else k
    shapes = {"P": (n, d), "g_1": (d,), "A": (h, d, k), "B": (d, k),
              "b": (k,), "C": (h, k, d), "g_2": (d,), "D": (d, n_vocab)}

    def run(w):
        Z = w["P"] / np.sqrt((w["P"] ** 2).mean(-1, keepdims=True) + 1e-6)
        Z = w["g_1"] * Z
        Z = np.tanh(Z @ w["A"]) * (Z @ w["B"] + w["b"]) @ w["C"]
        Y = w["P"] + Z.sum(axis=0)
        Z = Y / np.sqrt((Y**2).mean(-1, keepdims=True) + 1e-6)
        return (w["g_2"] * Z) @ w["D"]

    return (run, {name: rng.normal(size=size) for name, size in shapes.items()},
            ("g_1", "g_2")[rng.integers(2)])


def draw_21_4(rng):
    if rng.random() < 0.2:                          # products that just fit
        a, b, c, e = rng.integers(-5, 9, size=4).tolist()
        return 2.0**a, 2.0**b, 4 ** abs(c), 2.0**e
    size, column = 10 ** rng.uniform(-4, 4, size=2)
    return (float(size), float(column), int(rng.integers(1, 20_000)),
            float(10 ** rng.uniform(-3, 38)))


def draw_21_5(rng):
    n, d, k = unequal(rng, 3, 12)
    X = rng.normal(size=(n, d)) * 10 ** rng.uniform(-5, 4, size=(n, 1))
    X[rng.random(n) < 0.1] = 0
    return (X, rng.integers(-127, 128, size=(d, k)).astype(np.int8),
            10 ** rng.uniform(-6, 1) * rng.uniform(0.1, 1, size=k),
            10 ** rng.uniform(-9, 0))


DOMAIN = {"21.1": draw_21_1, "21.2": draw_21_2, "21.3": draw_21_3,
          "21.4": draw_21_4, "21.5": draw_21_5}
PRECISE = {}

GEMMA = """
layers = []
for layer in weights["layers"]:
    W_Q, W_K, W_V, W_O = layer["attention"]
    W_gate, W_up, W_down = layer["ffn"]
    g_1 = 1 + layer["norm_1"][:, None]
    g_2 = 1 + layer["norm_2"][:, None]
    layers.append({"attention": (g_1 * W_Q, g_1 * W_K, g_1 * W_V, W_O),
                   "ffn": (g_2 * W_gate, g_2 * W_up, W_down)})
return {"E": weights["E"], "norm": weights["norm"], "layers": layers}
"""
FOLDABLE = """
result = []
for norm in norms:
    readers = [r for g, r in arrows if g == norm]
    if (all(r in matrices for r in readers)
            and all(g == norm for g, r in arrows if r in readers)):
        result.append(norm)
return result
"""
READERS = """
silent = {name: w.copy() for name, w in weights.items()}
silent[gain][-1] = 0.0
want = run(silent)
found = set()
for name, w in weights.items():
    if w.ndim < 2 or w.shape[-2] != len(weights[gain]):
        continue
    other = w.copy()
    other[..., -1, :] *= 7
    if abs(run({**silent, name: other}) - want).max() < 1e-10:
        found.add(name)
return found
"""
SHIFT = """
bound = size * math.sqrt(d_in) * column
return max(0, math.ceil(math.log2(bound / largest)))
"""
INT8 = """
step = np.abs(X).max(axis=1, keepdims=True) / 127
step = np.where(step == 0, 1, step)
q = np.round(X / step).astype(np.int32)
s = 1 / np.sqrt(np.mean(X**2, axis=1, keepdims=True) + eps)
return (q @ W_q.astype(np.int32)) * (step * s) * step_W
"""

RIGHT = [
    ("21.1", "written out", GEMMA),
    ("21.1", "by a diagonal matrix, as lists", """
out = {**weights, "layers": []}
for layer in weights["layers"]:
    heads, ffn = list(layer["attention"]), list(layer["ffn"])
    heads[:3] = [np.diag(1 + layer["norm_1"]) @ W for W in heads[:3]]
    ffn[:2] = [np.diag(1 + layer["norm_2"]) @ W for W in ffn[:2]]
    out["layers"].append({"attention": heads, "ffn": ffn})
return out
"""),
    ("21.1", "by einsum and torch", """
def scaled(w, W):
    return np.einsum("d,...dk->...dk", 1 + w, W)
return {"E": torch.tensor(weights["E"]).numpy(), "norm": weights["norm"],
        "layers": [{
    "attention": (*(scaled(l["norm_1"], W) for W in l["attention"][:3]),
                  l["attention"][3]),
    "ffn": (scaled(l["norm_2"], l["ffn"][0]),
            scaled(l["norm_2"], l["ffn"][1]), l["ffn"][2])}
    for l in weights["layers"]]}
"""),
    ("21.1", "row by row", """
out = []
for layer in weights["layers"]:
    new = {part: [W.copy() for W in layer[part]]
           for part in ("attention", "ffn")}
    for part, norm in (("attention", "norm_1"), ("ffn", "norm_2")):
        for W in new[part][:-1]:
            for i, w in enumerate(layer[norm]):
                W[..., i, :] += w * W[..., i, :]
    out.append(new)
return dict(layers=out, norm=weights["norm"].copy(), E=weights["E"].copy())
"""),
    ("21.1", "torch tensors returned", """
E, norm = map(torch.tensor, (weights["E"], weights["norm"]))
layers = []
for layer in weights["layers"]:
    *W_QKV, W_O = map(torch.tensor, layer["attention"])
    *W_in, W_down = map(torch.tensor, layer["ffn"])
    diag_1, diag_2 = torch.diag(1 + torch.tensor(layer["norm_1"])), torch.diag(
        1 + torch.tensor(layer["norm_2"]))
    layers.append({"attention": [*(diag_1 @ W for W in W_QKV), W_O],
                   "ffn": [*(diag_2 @ W for W in W_in), W_down]})
return {"E": E, "norm": norm, "layers": layers}
"""),
    ("21.2", "by loops", FOLDABLE),
    ("21.2", "by counting givers", """
givers = {}
for giver, reader in arrows:
    givers.setdefault(reader, set()).add(giver)
return [norm for norm in norms if all(
    reader in matrices and givers[reader] == {norm}
    for giver, reader in arrows if giver == norm)]
"""),
    ("21.2", "for and else", """
result = []
for norm in norms:
    for giver, reader in arrows:
        if giver == norm and reader not in matrices:
            break
        if giver != norm and (norm, reader) in arrows:
            break
    else:
        result.append(norm)
return result
"""),
    ("21.2", "by a NumPy table", """
table = np.array(arrows)
def may(norm):
    ours = table[:, 0] == norm
    readers = table[ours, 1]
    return np.isin(readers, list(matrices)).all() and not np.isin(
        readers, table[~ours, 1]).any()
return list(filter(may, norms))
"""),
    ("21.3", "the last row, put in the place of another", """
silent = {name: w.copy() for name, w in weights.items()}
silent[gain][-1] = 0
want = run(silent)
found = []
for name, w in weights.items():
    if w.ndim > 1 and w.shape[-2] == len(weights[gain]):
        other = w.copy()
        other[..., -1, :] = other[..., 0, :]
        if abs(run({**silent, name: other}) - want).max() == 0:
            found.append(name)
return found
"""),
    ("21.3", "random rows, each feature in turn", """
d = len(weights[gain])
rng = np.random.default_rng(d)
found = {name for name, w in weights.items() if w.ndim > 1
         and w.shape[-2] == d}
for i in range(d):
    silent = {**weights, gain: np.where(np.arange(d) == i, 0, weights[gain])}
    want = run(silent)
    for name in {*found}:
        other = weights[name].copy()
        other[..., i, :] = rng.normal()
        if not np.allclose(run({**silent, name: other}), want):
            found.discard(name)
return found
"""),
    ("21.3", "in place, and restored", """
gains, result = weights[gain].copy(), []
weights[gain][0] = 0
want = run(weights)
for name, w in weights.items():
    if w.ndim > 1 and w.shape[-2] == len(gains):
        kept = w.copy()
        w[..., 0, :] = w[..., -1, :]
        if np.array_equal(run(weights), want):
            result.append(name)
        w[...] = kept
weights[gain][:] = gains
return result
"""),
    ("21.4", "by halving the token", """
if size * d_in**0.5 * column <= largest:
    return 0
return 1 + safe_shift(size / 2, column, d_in, largest)
"""),
    ("21.4", "by the length of an integer", """
times = math.ceil(size * math.sqrt(d_in) * column / largest)
return max(times - 1, 0).bit_length()
"""),
    ("21.4", "in torch, a Python float", """
bound = torch.full((d_in,), size, dtype=torch.float64).norm() * column
return (bound / largest).log2().ceil().clamp(min=0).item()
"""),
    ("21.4", "by frexp, a NumPy integer", """
mantissa, exponent = np.frexp(size * np.sqrt(d_in) * column / largest)
return np.maximum(0, exponent - (mantissa == 0.5))
"""),
    ("21.5", "token by token, a list", """
rows = []
for x in X:
    step = max(abs(x)) / 127 or 1.0
    q = np.rint(x / step).astype(np.int64)
    scale = step / math.sqrt((x @ x) / len(x) + eps)
    rows.append(scale * step_W * (q @ W_q))
return rows
"""),
    ("21.5", "the norm first, on its own grid", """
Z = X / np.sqrt(np.square(X).mean(axis=1, keepdims=True) + eps)
step = abs(Z).max(axis=1, keepdims=True) / 127
q = np.rint(Z / np.maximum(step, 1e-300)).astype(np.int8)
return np.matmul(q, W_q, dtype=np.int32) * step * step_W
"""),
    ("21.5", "in float32 at the end", """
Y = np.empty((len(X), len(step_W)), np.float32)
for y, x in zip(Y, X):
    scale = abs(x).max() / 127
    if scale:
        x, scale = np.rint(x / scale), scale / np.sqrt((x**2).mean() + eps)
    y[:] = (x @ W_q.astype(float)) * scale * step_W
return Y
"""),
    ("21.5", "by lists", """
rows = []
for x in X.tolist():
    step = max(map(abs, x)) / 127
    q = [round(a / step) if step else 0 for a in x]
    root = (sum(a * a for a in x) / len(x) + eps) ** 0.5
    rows.append([float(sum(a * int(b) for a, b in zip(q, column)) * step
                       / root * w) for column, w in zip(W_q.T, step_W)])
return rows
"""),
    ("21.5", "by einsum, a tensor returned", """
x, w = torch.from_numpy(X), torch.from_numpy(W_q).to(torch.int32)
largest = x.abs().amax(1)
q = (x * (127 / largest.clamp(min=1e-300))[:, None]).round().int()
scale = largest / 127 * (x.square().mean(1) + eps).rsqrt()
return torch.einsum("nk,n,k->nk", (q[:, :, None] * w).sum(1).double(), scale,
                    torch.from_numpy(step_W))
"""),
    ("21.5", "in torch", """
x, w = torch.tensor(X), torch.tensor(W_q)
step = (x.abs().amax(-1, keepdim=True) / 127).clamp(min=1e-300)
q = (x / step).round()
y = (q @ w.double()) * step * torch.rsqrt(
    x.square().mean(-1, keepdim=True) + eps)
return (y * torch.tensor(step_W)).numpy()
"""),
]

WRONG = [
    ("21.1", "not begun", "21.1 not done yet", "raise NotImplementedError"),
    ("21.1", "the original is folded in place", "as it was", """
for layer in weights["layers"]:
    g_1 = 1 + layer.pop("norm_1")[:, None]
    g_2 = 1 + layer.pop("norm_2")[:, None]
    W_Q, W_K, W_V, W_O = layer["attention"]
    W_gate, W_up, W_down = layer["ffn"]
    layer["attention"] = (g_1 * W_Q, g_1 * W_K, g_1 * W_V, W_O)
    layer["ffn"] = (g_2 * W_gate, g_2 * W_up, W_down)
return weights
"""),
    ("21.1", "matrices scaled in place", "as it was", """
layers = []
for layer in weights["layers"]:
    for part, norm in (("attention", "norm_1"), ("ffn", "norm_2")):
        for W in layer[part][:-1]:
            W *= 1 + layer[norm][:, None]
    layers.append({part: layer[part] for part in ("attention", "ffn")})
return {**weights, "layers": layers}
"""),
    ("21.1", "the gains of layer 0 for all", "in another layer",
     GEMMA.replace('layer["norm_1"]', 'weights["layers"][0]["norm_1"]')
     .replace('layer["norm_2"]', 'weights["layers"][0]["norm_2"]')),
    ("21.1", "gains without their sign", "w = -2",
     GEMMA.replace("1 + layer", "abs(1 + layer").replace(
         "[:, None]", "[:, None])")),
    ("21.1", "two layers", "1 layer(s)",
     GEMMA.replace('weights["layers"]:', '[weights["layers"][i]'
                   ' for i in range(2)]:').replace(
         "layers = []", 'layers = []\nif len(weights["layers"]) == 1:\n'
         '    return {**weights}')),
    ("21.1", "nothing returned", "return its result",
     GEMMA.replace("return ", "")),
    ("21.1", "w in place of 1 + w", "w = 0 is a gain of 1",
     GEMMA.replace("1 + ", "")),
    ("21.1", "V forgotten", "V reads a norm too",
     GEMMA.replace("g_1 * W_V", "W_V")),
    ("21.1", "gate forgotten", "gate reads a norm too",
     GEMMA.replace("g_2 * W_gate", "W_gate")),
    ("21.1", "gain in the columns", "which row of a matrix",
     GEMMA.replace("[:, None]", "")),
    ("21.1", "W_O as well", "W_O and W_down do not read",
     GEMMA.replace(", W_O),", ", g_1 * W_O),")),
    ("21.1", "W_down in place of up", "up reads a norm too",
     GEMMA.replace("g_2 * W_up, W_down", "W_up, g_2 * W_down")),
    ("21.1", "the norms exchanged", "which of the two norms",
     GEMMA.replace("g_1 =", "g_0 =").replace("g_2 =", "g_1 =").replace(
         "g_0 =", "g_2 =")),
    ("21.1", "the last gain folded into E", "E has changed",
     GEMMA.replace('"E": weights["E"]',
                   '"E": weights["E"] * (1 + weights["norm"])')),
    ("21.1", "a head of its own", "nothing else",
     GEMMA.replace('return {', 'return {"W_U": (1 + weights["norm"])[:, None]'
                   ' * weights["E"].T, ')),
    ("21.1", "the last gain dropped", "nothing else",
     GEMMA.replace('"norm": weights["norm"], ', "")),
    ("21.1", "the last gain as 1 + w", "stored as it was",
     GEMMA.replace('"norm": weights["norm"]', '"norm": 1 + weights["norm"]')),
    ("21.1", "folded twice", "by what is row 2",
     GEMMA.replace("1 + layer", "(1 + layer").replace(
         "[:, None]", "[:, None]) ** 2")),
    ("21.1", "gains kept besides", "both of its gains",
     GEMMA.replace('layers.append({', 'layers.append({**layer, ')),
    ("21.1", "only the first layer", "as many layers",
     GEMMA.replace('weights["layers"]:', 'weights["layers"][:1]:')),
    ("21.1", "E transposed", "E has changed",
     GEMMA.replace('"E": weights["E"]', '"E": weights["E"].T')),
    ("21.1", "Q and K exchanged", "why is Q another matrix",
     GEMMA.replace("g_1 * W_Q, g_1 * W_K", "g_1 * W_K, g_1 * W_Q")),
    ("21.1", "the layers alone", "should be there",
     GEMMA.replace('return {"E": weights["E"], "norm": weights["norm"], '
                   '"layers": layers}', "return layers")),
    ("21.1", "exponential gains", "by what is row 2",
     GEMMA.replace("1 + layer", "np.exp(layer").replace(
         "[:, None]", "[:, None])")),
    ("21.1", "only the first head", "by what is row 2",
     GEMMA.replace("g_1 * W_K,", "np.concatenate([g_1 * W_K[:1], W_K[1:]]),")),
    ("21.2", "not begun", "21.2 not done yet", "raise NotImplementedError"),
    ("21.2", "givers counted with repetition", "told twice", """
givers = [r for g, r in arrows]
return [norm for norm in norms if all(
    r in matrices and givers.count(r) == 1 for g, r in arrows if g == norm)]
"""),
    ("21.2", "one reader remembered", "told twice", """
reader_of = dict(arrows)
return [norm for norm in norms if reader_of[norm] in matrices and sum(
    reader == reader_of[norm] for giver, reader in arrows) == 1]
"""),
    ("21.2", "the arrows told twice removed in place", "as they were", """
seen = set()
for arrow in [*arrows]:
    arrows.remove(arrow)
    if arrow not in seen:
        seen.add(arrow)
""" + FOLDABLE),
    ("21.2", "the norms struck out in place", "as they were", """
for giver, reader in arrows:
    if giver in norms and reader not in matrices:
        norms.remove(giver)
norms.reverse()
norms.sort(reverse=True)
return norms
"""),
    ("21.2", "nothing returned", "return its result",
     FOLDABLE.replace("return ", "")),
    ("21.2", "any in place of all", "one matrix among the readers",
     FOLDABLE.replace("if (all(r in", "if (any(r in")),
    ("21.2", "the shared matrix forgotten", "the other one who gives E",
     FOLDABLE.replace("and all(g == norm for g, r in arrows if r in readers)",
                      "")),
    ("21.2", "what the readers are is not asked", "one matrix among",
     FOLDABLE.replace("all(r in matrices for r in readers)", "True")),
    ("21.2", "the matrices returned", "names of norms", """
return [r for g, r in arrows if g in norms and r in matrices]
"""),
    ("21.2", "all but the last", "all three",
     FOLDABLE.replace("return result", "return result[:-1]")),
    ("21.2", "a reader too many refuses", "all three",
     FOLDABLE.replace("if (all", "if (len(readers) < 3 and all")),
    ("21.2", "sorted", "in which order",
     FOLDABLE.replace("return result", "return sorted(result, key=lambda n:"
                      " (n == 'norm', n))")),
    ("21.2", "a set", "a list is asked for",
     FOLDABLE.replace("return result", "return set(result)")),
    ("21.2", "a generator", "a list is asked for",
     FOLDABLE.replace("return result", "return (n for n in result)")),
    ("21.2", "the first reader only", "one matrix among",
     FOLDABLE.replace("if g == norm]", "if g == norm][:1]")),
    ("21.2", "matrices by their first letter", "all three",
     FOLDABLE.replace("r in matrices", "r[0] == 'W'")),
    ("21.3", "not begun", "21.3 not done yet", "raise NotImplementedError"),
    ("21.3", "square matrices only", "a model of width 3", READERS.replace(
        "w.shape[-2] != len(weights[gain])",
        "w.shape != 2 * (len(weights[gain]),)")),
    ("21.3", "six features", "a model of width 3",
     READERS.replace("len(weights[gain])", "6")),
    ("21.3", "feature 3, whatever the width", "in your line",
     READERS.replace("[-1]", "[3]").replace("-1, :", "3, :")),
    ("21.3", "the gain silenced in place", "as it was", READERS.replace(
        "w.copy() for name, w in weights.items()", "w for name, w"
        " in weights.items()")),
    ("21.3", "nothing returned", "return its result",
     READERS.replace("return found", "found")),
    ("21.3", "the whole gain silenced", "all four",
     READERS.replace("[gain][-1] = 0.0", "[gain][:] = 0.0")),
    ("21.3", "heard in place of silent", "can be heard",
     READERS.replace("max() < 1e-10", "max() > 1e-10")),
    ("21.3", "weights changed in place", "as it was",
     READERS.replace("{name: w.copy() for name, w in weights.items()}",
                     "weights")),
    ("21.3", "another row than the silent one", "nobody?",
     READERS.replace("other[..., -1, :]", "other[..., 2, :]")),
    ("21.3", "columns in place of rows", "nobody?",
     READERS.replace("other[..., -1, :]", "other[..., -1]")),
    ("21.3", "nothing silenced", "nobody?",
     READERS.replace("silent[gain][-1] = 0.0", "")),
    ("21.3", "vectors too", "vectors have no rows", """
return READERS_AND_GAIN
""".replace("READERS_AND_GAIN", "{gain, 'D'}")),
    ("21.3", "a row of every gain silenced", "D alone",
     READERS.replace("silent[gain][-1] = 0.0", "for w in silent.values():\n"
                     "    if w.ndim == 1:\n        w[-1] = 0.0")),
    ("21.3", "the gain doubled", "nobody?",
     READERS.replace("[-1] = 0.0", "[-1] *= 2")),
    ("21.3", "heard with the gain, not without", "nobody?",
     READERS.replace("{**silent, name", "{**weights, name")),
    ("21.3", "the gain's own name as well", "vectors have no rows",
     READERS.replace("return found", "return found | {gain}")),
    ("21.4", "not begun", "21.4 not done yet", "raise NotImplementedError"),
    ("21.4", "nothing returned", "return its result",
     SHIFT.replace("return ", "p = ")),
    ("21.4", "the RMS taken for the length", "not its RMS",
     SHIFT.replace(" * math.sqrt(d_in)", "")),
    ("21.4", "d_in without its root", "one power less",
     SHIFT.replace("math.sqrt(d_in)", "d_in")),
    ("21.4", "rounded down", "rounded",
     SHIFT.replace("math.ceil", "math.floor")),
    ("21.4", "not rounded", "a whole number",
     SHIFT.replace("math.ceil(math.log2(bound / largest))",
                   "math.log2(bound / largest)")),
    ("21.4", "negative for small tokens", "at least 0",
     SHIFT.replace("max(0, math.ceil(math.log2(bound / largest)))",
                   "math.ceil(math.log2(bound / largest))")),
    ("21.4", "natural logarithm", "still overflows",
     SHIFT.replace("math.log2", "math.log")),
    ("21.4", "one more, to be sure", "why shift it",
     SHIFT.replace("max(0, ", "1 + max(0, ")),
    ("21.4", "the column forgotten", "all in it",
     SHIFT.replace(" * column", "")),
    ("21.4", "fp16 in place of any format", "all in it",
     SHIFT.replace("/ largest", "/ 65504")),
    ("21.4", "largest forgotten", "why shift it",
     SHIFT.replace(" / largest", "")),
    ("21.4", "two logarithms, each rounded", "left to the end", """
top, bound = math.log2(largest), size * math.sqrt(d_in) * column
return max(0, math.ceil(math.log2(bound)) - math.floor(top))
"""),
    ("21.4", "one too many at a power of two", "needs p = 2",
     SHIFT.replace("math.ceil(math.log2(bound / largest))",
                   "1 + math.floor(math.log2(bound / largest))")),
    ("21.4", "its absolute value", "why shift it",
     SHIFT.replace("max(0, math", "abs(math")),
    ("21.4", "as text", "a whole number",
     SHIFT.replace("return max", "return str(max").replace(")))", "))))")),
    ("21.5", "not begun", "21.5 not done yet", "raise NotImplementedError"),
    ("21.5", "the tokens scaled in place", "as they were", """
s = 1 / np.sqrt(np.mean(X**2, axis=1, keepdims=True) + eps)
step = np.abs(X).max(axis=1, keepdims=True) / 127
X /= np.where(step == 0, 1, step)
return np.round(X).astype(int) @ W_q.astype(int) * (step * s) * step_W
"""),
    ("21.5", "W in its steps, in place", "as they were", """
step_W *= 1 / 127
""" + INT8.replace("* step_W", "* (step_W * 127)")),
    ("21.5", "40 features", "1 feature(s)",
     INT8.replace("np.mean(X**2, axis=1, keepdims=True)",
                  "np.sum(X**2, axis=1, keepdims=True) / 40")),
    ("21.5", "nothing returned", "return its result",
     INT8.replace("return ", "")),
    ("21.5", "one step for all tokens", "its own step",
     INT8.replace("np.abs(X).max(axis=1, keepdims=True)",
                  "np.abs(X).max()")),
    ("21.5", "no step at the end", "step and the RMS",
     INT8.replace("(step * s)", "s")),
    ("21.5", "no norm", "step and the RMS",
     INT8.replace("(step * s)", "step")),
    ("21.5", "summed in int8", "fit int8",
     INT8.replace("np.int32", "np.int8")),
    ("21.5", "cut, not rounded", "these whole numbers",
     INT8.replace("np.round(X / step)", "(X / step)")),
    ("21.5", "steps of W left out", "where are they",
     INT8.replace(" * step_W", "")),
    ("21.5", "7 levels", "too rough", INT8.replace("/ 127", "/ 7")),
    ("21.5", "not rounded at all", "where are the tokens rounded",
     INT8.replace("np.round(X / step).astype(np.int32)", "X / step")),
    ("21.5", "the RMS of the rounded token", "as it came",
     INT8.replace("np.mean(X**2", "np.mean((q * step)**2")),
    ("21.5", "eps outside the root", "inside the root",
     INT8.replace("1 / np.sqrt(np.mean(X**2, axis=1, keepdims=True) + eps)",
                  "1 / (np.sqrt(np.mean(X**2, axis=1, keepdims=True))"
                  " + eps)")),
    ("21.5", "times the RMS", "one below the line",
     INT8.replace("s = 1 / ", "s = ")),
    ("21.5", "the step twice", "once each",
     INT8.replace("(step * s)", "(step * step * s)")),
    ("21.5", "one RMS for all tokens", "its own RMS",
     INT8.replace("np.mean(X**2, axis=1, keepdims=True)", "np.mean(X**2)")),
    ("21.5", "a sum of squares", "the root of a mean",
     INT8.replace("np.mean(X", "np.sum(X")),
    ("21.5", "summed in int16", "or int16",
     INT8.replace("np.int32", "np.int16")),
    ("21.5", "the standard deviation", "standard deviation",
     INT8.replace("np.mean(X**2, axis=1", "np.var(X, axis=1")),
    ("21.5", "the largest, not the largest size", "a token's largest",
     INT8.replace("np.abs(X).max", "X.max")),
    ("21.5", "128 steps", "a token's largest", INT8.replace("127", "128")),
    ("21.5", "eps forgotten", "is eps used", INT8.replace(" + eps", "")),
]

HIDDEN = [
    ("21.1", "large gains cut", "numbers of size 300",
     GEMMA.replace('layer["norm_1"]', 'layer["norm_1"].clip(-99, 99)')),
    ("21.1", "small gains taken for 0", "numbers of size 0.0003",
     GEMMA.replace('layer["norm_2"]',
                   '(layer["norm_2"] * (abs(layer["norm_2"]) > 2e-3))')),
    ("21.2", "only the tie with the token numbers", "added up before", """
tied = {r for g, r in arrows if g == "ids"}
return [norm for norm in norms if all(
    r in matrices and r not in tied for g, r in arrows if g == norm)]
"""),
    ("21.3", "heads not as an axis", "one layer", READERS.replace(
        "w.ndim < 2 or", "w.ndim != 2 or")),
    ("21.4", "p at most 20", "any format",
     SHIFT.replace("return max", "return min(20, max").replace(
         "largest)))", "largest))))")),
    ("21.5", "a token of zeros is nan", "token of zeros",
     INT8.replace("step = np.where(step == 0, 1, step)\n", "").replace(
         ".astype(np.int32)\ns", "\ns")),
    ("21.5", "summed in 24 bits", "fit its type",
     INT8.replace("(q @ W_q.astype(np.int32))",
                  "np.clip(q @ W_q.astype(np.int32), -2**24, 2**24)")),
    ("21.2", "matrices not asked", "cosines reads", FOLDABLE.replace(
        "r in matrices", "r != 'stream' and not r.startswith('norm')")),
    ("21.3", "rows not counted", "one layer", READERS.replace(
        " or w.shape[-2] != len(weights[gain])", "")),
    ("21.3", "the first axis for the rows", "one layer",
     READERS.replace("w.shape[-2]", "w.shape[0]")),
    ("21.3", "a coarse comparison", "one layer",
     READERS.replace("< 1e-10", "< 1")),
    ("21.4", "no format below 1", "any format",
     SHIFT.replace("/ largest", "/ max(largest, 1)")),
    ("21.5", "summed in float32", "to the last unit",
     INT8.replace("(q @ W_q.astype(np.int32))",
                  "(q.astype(np.float32) @ W_q.astype(np.float32))")),
    ("21.5", "tokens of zeros left out", "token of zeros", """
X = X[X.any(axis=1)]
""" + INT8),
]

VARIANTS = {
    "21.4": {
        "asks": "formula",
        "one of": {"m": [3, 5, 6, 7, 9, 10]},
        "says": """{m} such products, each with a column of this length, are
            added before the sum is multiplied and stored: the sum is what must
            be at most `largest`.""",
        "edits": [("* column  ", "* column * {m}  ")]},
    "21.5": {
        "asks": "number",
        "one of": {"L": [7, 15, 31, 63]},
        "says": """A token has fewer steps: its own step is its largest
            absolute value, divided by {L}.""",
        "edits": [("keepdims=True) / 127   #", "keepdims=True) / {L}   #")]},
}
