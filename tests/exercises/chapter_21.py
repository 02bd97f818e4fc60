"""Answers to the exercises of chapter 21: the lines between the solution marks.

RIGHT   exercise, how it is written, body
WRONG   exercise, the mistake, words that the check must print, body
HIDDEN  exercise, the mistake, words that only the grade says, body
"""

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
silent[gain][3] = 0.0
want = run(silent)
found = set()
for name, w in weights.items():
    if w.ndim < 2 or w.shape[-2] != len(weights[gain]):
        continue
    other = w.copy()
    other[..., 3, :] *= 7
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
    ("21.2", "written out", GEMMA),
    ("21.2", "by fold_gain, as lists", """
out = {**weights, "layers": []}
for layer in weights["layers"]:
    heads, ffn = list(layer["attention"]), list(layer["ffn"])
    heads[:3] = [fold_gain(1 + layer["norm_1"], W) for W in heads[:3]]
    ffn[:2] = [fold_gain(1 + layer["norm_2"], W) for W in ffn[:2]]
    out["layers"].append({"attention": heads, "ffn": ffn})
return out
"""),
    ("21.2", "by einsum and torch", """
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
    ("21.2", "row by row", """
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
    ("21.2", "torch tensors returned", """
def scaled(w, W):
    return torch.diag(1 + torch.tensor(w)) @ torch.tensor(W)
return {"E": torch.tensor(weights["E"]), "norm": torch.tensor(
    weights["norm"]), "layers": [{
    "attention": [*(scaled(l["norm_1"], W) for W in l["attention"][:3]),
                  torch.tensor(l["attention"][3])],
    "ffn": [*(scaled(l["norm_2"], W) for W in l["ffn"][:2]),
            torch.tensor(l["ffn"][2])]} for l in weights["layers"]]}
"""),
    ("21.3", "by loops", FOLDABLE),
    ("21.3", "by counting givers", """
givers = {}
for giver, reader in arrows:
    givers.setdefault(reader, set()).add(giver)
return [norm for norm in norms if all(
    reader in matrices and givers[reader] == {norm}
    for giver, reader in arrows if giver == norm)]
"""),
    ("21.3", "for and else", """
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
    ("21.3", "by a NumPy table", """
table = np.array(arrows)
def may(norm):
    ours = table[:, 0] == norm
    readers = table[ours, 1]
    return np.isin(readers, list(matrices)).all() and not np.isin(
        readers, table[~ours, 1]).any()
return list(filter(may, norms))
"""),
    ("21.4", "another row, multiplied", READERS),
    ("21.4", "random rows, each feature in turn", """
rng = np.random.default_rng(1)
d = len(weights[gain])
found = {name for name, w in weights.items() if w.ndim > 1
         and w.shape[-2] == d}
for i in range(d):
    silent = {**weights, gain: np.where(np.arange(d) == i, 0, weights[gain])}
    want = run(silent)
    for name in sorted(found):
        other = weights[name].copy()
        other[..., i, :] = rng.normal(size=other[..., i, :].shape)
        if not np.allclose(run({**silent, name: other}), want, atol=1e-9):
            found.discard(name)
return sorted(found)
"""),
    ("21.4", "in place, and restored", """
gains, result = weights[gain].copy(), []
weights[gain][1] = 0
want = run(weights)
for name, w in weights.items():
    if w.ndim > 1 and w.shape[-2] == len(gains):
        kept = w.copy()
        w[..., 1, :] = 3
        if np.array_equal(run(weights), want):
            result.append(name)
        w[...] = kept
weights[gain][:] = gains
return result
"""),
    ("21.6", "by a search", """
p = 0
while size * d_in**0.5 * column > largest * 2**p:
    p += 1
return p
"""),
    ("21.6", "by the length of an integer", """
times = math.ceil(size * math.sqrt(d_in) * column / largest)
return max(times - 1, 0).bit_length()
"""),
    ("21.6", "in torch, a Python float", """
bound = torch.full((d_in,), size, dtype=torch.float64).norm() * column
return float((bound / largest).log2().ceil().clamp(min=0))
"""),
    ("21.6", "by frexp", """
mantissa, exponent = math.frexp(size * math.sqrt(d_in) * column / largest)
return max(0, exponent - (mantissa == 0.5))
"""),
    ("21.6", "as a NumPy integer", """
p = np.ceil(np.log2(size) + np.log2(d_in) / 2 + np.log2(column / largest)
            - 1e-12)
return np.maximum(p, 0).astype(int)
"""),
    ("21.7", "token by token", """
rows = []
for x in X:
    step = max(abs(x)) / 127 or 1.0
    q = np.rint(x / step).astype(np.int64)
    scale = step / math.sqrt((x @ x) / len(x) + eps)
    rows.append(scale * step_W * (q @ W_q.astype(np.int64)))
return np.array(rows)
"""),
    ("21.7", "the norm first, on its own grid", """
Z = X / np.sqrt(np.square(X).mean(axis=1, keepdims=True) + eps)
step = abs(Z).max(axis=1, keepdims=True) / 127
q = np.rint(Z / np.maximum(step, 1e-300)).astype(np.int8)
return np.matmul(q, W_q, dtype=np.int32) * step * step_W
"""),
    ("21.7", "by lists", """
rows = []
for x in X.tolist():
    step = max(map(abs, x)) / 127
    q = [round(a / step) if step else 0 for a in x]
    root = (sum(a * a for a in x) / len(x) + eps) ** 0.5
    rows.append([float(sum(a * int(b) for a, b in zip(q, column)) * step
                       / root * w) for column, w in zip(W_q.T, step_W)])
return rows
"""),
    ("21.7", "by einsum, a tensor returned", """
x, w = torch.from_numpy(X), torch.from_numpy(W_q).to(torch.int32)
largest = x.abs().amax(1)
q = (x * (127 / largest.clamp(min=1e-300))[:, None]).round().int()
scale = largest / 127 * (x.square().mean(1) + eps).rsqrt()
return torch.einsum("nk,n,k->nk", (q[:, :, None] * w).sum(1).double(), scale,
                    torch.from_numpy(step_W))
"""),
    ("21.7", "in torch", """
x, w = torch.tensor(X), torch.tensor(W_q)
step = (x.abs().amax(-1, keepdim=True) / 127).clamp(min=1e-300)
q = (x / step).round()
y = (q @ w.double()) * step * torch.rsqrt(
    x.square().mean(-1, keepdim=True) + eps)
return (y * torch.tensor(step_W)).numpy()
"""),
]

WRONG = [
    ("21.2", "not begun", "21.2 not done yet", "raise NotImplementedError"),
    ("21.2", "nothing returned", "return its result",
     GEMMA.replace("return ", "")),
    ("21.2", "w in place of 1 + w", "w = 0 is a gain of 1",
     GEMMA.replace("1 + ", "")),
    ("21.2", "V forgotten", "V reads a norm too",
     GEMMA.replace("g_1 * W_V", "W_V")),
    ("21.2", "gate forgotten", "gate reads a norm too",
     GEMMA.replace("g_2 * W_gate", "W_gate")),
    ("21.2", "gain in the columns", "which row of a matrix",
     GEMMA.replace("[:, None]", "")),
    ("21.2", "W_O as well", "W_O and W_down do not read",
     GEMMA.replace(", W_O),", ", g_1 * W_O),")),
    ("21.2", "W_down in place of up", "up reads a norm too",
     GEMMA.replace("g_2 * W_up, W_down", "W_up, g_2 * W_down")),
    ("21.2", "the norms exchanged", "which of the two norms",
     GEMMA.replace("g_1 =", "g_0 =").replace("g_2 =", "g_1 =").replace(
         "g_0 =", "g_2 =")),
    ("21.2", "the last gain folded into E", "E has changed",
     GEMMA.replace('"E": weights["E"]',
                   '"E": weights["E"] * (1 + weights["norm"])')),
    ("21.2", "a head of its own", "nothing else",
     GEMMA.replace('return {', 'return {"W_U": (1 + weights["norm"])[:, None]'
                   ' * weights["E"].T, ')),
    ("21.2", "the last gain dropped", "nothing else",
     GEMMA.replace('"norm": weights["norm"], ', "")),
    ("21.2", "the last gain as 1 + w", "stored as it was",
     GEMMA.replace('"norm": weights["norm"]', '"norm": 1 + weights["norm"]')),
    ("21.2", "folded twice", "by what is row 2",
     GEMMA.replace("1 + layer", "(1 + layer").replace(
         "[:, None]", "[:, None]) ** 2")),
    ("21.2", "gains kept besides", "both of its gains",
     GEMMA.replace('layers.append({', 'layers.append({**layer, ')),
    ("21.2", "only the first layer", "as many layers",
     GEMMA.replace('weights["layers"]:', 'weights["layers"][:1]:')),
    ("21.2", "E transposed", "E has changed",
     GEMMA.replace('"E": weights["E"]', '"E": weights["E"].T')),
    ("21.2", "Q and K exchanged", "why is Q another matrix",
     GEMMA.replace("g_1 * W_Q, g_1 * W_K", "g_1 * W_K, g_1 * W_Q")),
    ("21.2", "the layers alone", "should be there",
     GEMMA.replace('return {"E": weights["E"], "norm": weights["norm"], '
                   '"layers": layers}', "return layers")),
    ("21.2", "exponential gains", "by what is row 2",
     GEMMA.replace("1 + layer", "np.exp(layer").replace(
         "[:, None]", "[:, None])")),
    ("21.2", "only the first head", "by what is row 2",
     GEMMA.replace("g_1 * W_K,", "np.concatenate([g_1 * W_K[:1], W_K[1:]]),")),
    ("21.3", "not begun", "21.3 not done yet", "raise NotImplementedError"),
    ("21.3", "nothing returned", "return its result",
     FOLDABLE.replace("return ", "")),
    ("21.3", "any in place of all", "one matrix among the readers",
     FOLDABLE.replace("if (all(r in", "if (any(r in")),
    ("21.3", "the shared matrix forgotten", "the other one who gives E",
     FOLDABLE.replace("and all(g == norm for g, r in arrows if r in readers)",
                      "")),
    ("21.3", "what the readers are is not asked", "one matrix among",
     FOLDABLE.replace("all(r in matrices for r in readers)", "True")),
    ("21.3", "the matrices returned", "names of norms", """
return [r for g, r in arrows if g in norms and r in matrices]
"""),
    ("21.3", "all but the last", "all three",
     FOLDABLE.replace("return result", "return result[:-1]")),
    ("21.3", "a reader too many refuses", "all three",
     FOLDABLE.replace("if (all", "if (len(readers) < 3 and all")),
    ("21.3", "sorted", "in which order",
     FOLDABLE.replace("return result", "return sorted(result, key=lambda n:"
                      " (n == 'norm', n))")),
    ("21.3", "a set", "a list is asked for",
     FOLDABLE.replace("return result", "return set(result)")),
    ("21.3", "a generator", "a list is asked for",
     FOLDABLE.replace("return result", "return (n for n in result)")),
    ("21.3", "the first reader only", "one matrix among",
     FOLDABLE.replace("if g == norm]", "if g == norm][:1]")),
    ("21.3", "matrices by their first letter", "all three",
     FOLDABLE.replace("r in matrices", "r[0] == 'W'")),
    ("21.4", "not begun", "21.4 not done yet", "raise NotImplementedError"),
    ("21.4", "nothing returned", "return its result",
     READERS.replace("return found", "found")),
    ("21.4", "the whole gain silenced", "all four",
     READERS.replace("[gain][3] = 0.0", "[gain][:] = 0.0")),
    ("21.4", "heard in place of silent", "can be heard",
     READERS.replace("max() < 1e-10", "max() > 1e-10")),
    ("21.4", "weights changed in place", "stay as it was",
     READERS.replace("{name: w.copy() for name, w in weights.items()}",
                     "weights")),
    ("21.4", "another row than the silent one", "nobody?",
     READERS.replace("other[..., 3, :]", "other[..., 2, :]")),
    ("21.4", "columns in place of rows", "nobody?",
     READERS.replace("other[..., 3, :]", "other[..., 3]")),
    ("21.4", "nothing silenced", "nobody?",
     READERS.replace("silent[gain][3] = 0.0", "")),
    ("21.4", "vectors too", "vectors have no rows", """
return READERS_AND_GAIN
""".replace("READERS_AND_GAIN", "{gain, 'D'}")),
    ("21.4", "a row of every gain silenced", "D alone",
     READERS.replace("silent[gain][3] = 0.0", "for w in silent.values():\n"
                     "    if w.ndim == 1:\n        w[3] = 0.0")),
    ("21.4", "the gain doubled", "nobody?",
     READERS.replace("[3] = 0.0", "[3] *= 2")),
    ("21.4", "heard with the gain, not without", "nobody?",
     READERS.replace("{**silent, name", "{**weights, name")),
    ("21.4", "the gain's own name as well", "vectors have no rows",
     READERS.replace("return found", "return found | {gain}")),
    ("21.6", "not begun", "21.6 not done yet", "raise NotImplementedError"),
    ("21.6", "nothing returned", "return its result",
     SHIFT.replace("return ", "p = ")),
    ("21.6", "the RMS taken for the length", "not its RMS",
     SHIFT.replace(" * math.sqrt(d_in)", "")),
    ("21.6", "d_in without its root", "one power less",
     SHIFT.replace("math.sqrt(d_in)", "d_in")),
    ("21.6", "rounded down", "rounded",
     SHIFT.replace("math.ceil", "math.floor")),
    ("21.6", "not rounded", "a whole number",
     SHIFT.replace("math.ceil(math.log2(bound / largest))",
                   "math.log2(bound / largest)")),
    ("21.6", "negative for small tokens", "at least 0",
     SHIFT.replace("max(0, math.ceil(math.log2(bound / largest)))",
                   "math.ceil(math.log2(bound / largest))")),
    ("21.6", "natural logarithm", "still overflows",
     SHIFT.replace("math.log2", "math.log")),
    ("21.6", "one more, to be sure", "why shift it",
     SHIFT.replace("max(0, ", "1 + max(0, ")),
    ("21.6", "the column forgotten", "all in it",
     SHIFT.replace(" * column", "")),
    ("21.6", "fp16 in place of any format", "all in it",
     SHIFT.replace("/ largest", "/ 65504")),
    ("21.6", "largest forgotten", "why shift it",
     SHIFT.replace(" / largest", "")),
    ("21.6", "two logarithms, each rounded", "left to the end", """
top, bound = math.log2(largest), size * math.sqrt(d_in) * column
return max(0, math.ceil(math.log2(bound)) - math.floor(top))
"""),
    ("21.6", "one too many at a power of two", "needs p = 2",
     SHIFT.replace("math.ceil(math.log2(bound / largest))",
                   "1 + math.floor(math.log2(bound / largest))")),
    ("21.6", "its absolute value", "why shift it",
     SHIFT.replace("max(0, math", "abs(math")),
    ("21.6", "as text", "a whole number",
     SHIFT.replace("return max", "return str(max").replace(")))", "))))")),
    ("21.7", "not begun", "21.7 not done yet", "raise NotImplementedError"),
    ("21.7", "nothing returned", "return its result",
     INT8.replace("return ", "")),
    ("21.7", "one step for all tokens", "its own step",
     INT8.replace("np.abs(X).max(axis=1, keepdims=True)",
                  "np.abs(X).max()")),
    ("21.7", "no step at the end", "step and the RMS",
     INT8.replace("(step * s)", "s")),
    ("21.7", "no norm", "step and the RMS",
     INT8.replace("(step * s)", "step")),
    ("21.7", "summed in int8", "fit int8",
     INT8.replace("np.int32", "np.int8")),
    ("21.7", "cut, not rounded", "these whole numbers",
     INT8.replace("np.round(X / step)", "(X / step)")),
    ("21.7", "steps of W left out", "where are they",
     INT8.replace(" * step_W", "")),
    ("21.7", "7 levels", "too rough", INT8.replace("/ 127", "/ 7")),
    ("21.7", "not rounded at all", "where are the tokens rounded",
     INT8.replace("np.round(X / step).astype(np.int32)", "X / step")),
    ("21.7", "the RMS of the rounded token", "as it came",
     INT8.replace("np.mean(X**2", "np.mean((q * step)**2")),
    ("21.7", "eps outside the root", "inside the root",
     INT8.replace("1 / np.sqrt(np.mean(X**2, axis=1, keepdims=True) + eps)",
                  "1 / (np.sqrt(np.mean(X**2, axis=1, keepdims=True))"
                  " + eps)")),
    ("21.7", "in float32", "should be float64",
     INT8.replace("return (", "return ((").replace(
         "* step_W", "* step_W).astype(np.float32)")),
    ("21.7", "times the RMS", "one below the line",
     INT8.replace("s = 1 / ", "s = ")),
    ("21.7", "the step twice", "once each",
     INT8.replace("(step * s)", "(step * step * s)")),
    ("21.7", "one RMS for all tokens", "its own RMS",
     INT8.replace("np.mean(X**2, axis=1, keepdims=True)", "np.mean(X**2)")),
    ("21.7", "a sum of squares", "the root of a mean",
     INT8.replace("np.mean(X", "np.sum(X")),
    ("21.7", "summed in int16", "or int16",
     INT8.replace("np.int32", "np.int16")),
    ("21.7", "the standard deviation", "standard deviation",
     INT8.replace("np.mean(X**2, axis=1", "np.var(X, axis=1")),
    ("21.7", "the largest, not the largest size", "a token's largest",
     INT8.replace("np.abs(X).max", "X.max")),
    ("21.7", "128 steps", "a token's largest", INT8.replace("127", "128")),
    ("21.7", "eps forgotten", "is eps used", INT8.replace(" + eps", "")),
]

HIDDEN = [
    ("21.2", "the original is folded in place", "inputs stay", """
for layer in weights["layers"]:
    g_1 = 1 + layer.pop("norm_1")[:, None]
    g_2 = 1 + layer.pop("norm_2")[:, None]
    W_Q, W_K, W_V, W_O = layer["attention"]
    W_gate, W_up, W_down = layer["ffn"]
    layer["attention"] = (g_1 * W_Q, g_1 * W_K, g_1 * W_V, W_O)
    layer["ffn"] = (g_2 * W_gate, g_2 * W_up, W_down)
return weights
"""),
    ("21.2", "the gains of layer 0 for all", "logits the same",
     GEMMA.replace('layer["norm_1"]', 'weights["layers"][0]["norm_1"]')
     .replace('layer["norm_2"]', 'weights["layers"][0]["norm_2"]')),
    ("21.3", "only the tie with the token numbers", "added up before", """
tied = {r for g, r in arrows if g == "ids"}
return [norm for norm in norms if all(
    r in matrices and r not in tied for g, r in arrows if g == norm)]
"""),
    ("21.3", "givers counted with repetition", "told twice", """
givers = [r for g, r in arrows]
return [norm for norm in norms if all(
    r in matrices and givers.count(r) == 1 for g, r in arrows if g == norm)]
"""),
    ("21.4", "square matrices only", "one layer", READERS.replace(
        "w.shape[-2] != len(weights[gain])",
        "w.shape != 2 * (len(weights[gain]),)")),
    ("21.4", "heads not as an axis", "one layer", READERS.replace(
        "w.ndim < 2 or", "w.ndim != 2 or")),
    ("21.6", "p at most 20", "any format",
     SHIFT.replace("return max", "return min(20, max").replace(
         "largest)))", "largest))))")),
    ("21.7", "a token of zeros is nan", "token of zeros",
     INT8.replace("step = np.where(step == 0, 1, step)\n", "").replace(
         ".astype(np.int32)\ns", "\ns")),
    ("21.7", "summed in 24 bits", "fit its type",
     INT8.replace("(q @ W_q.astype(np.int32))",
                  "np.clip(q @ W_q.astype(np.int32), -2**24, 2**24)")),
    ("21.2", "gains without their sign", "logits the same",
     GEMMA.replace("1 + layer", "abs(1 + layer").replace(
         "[:, None]", "[:, None])")),
    ("21.2", "matrices scaled in place", "inputs stay", """
layers = []
for layer in weights["layers"]:
    for part, norm in (("attention", "norm_1"), ("ffn", "norm_2")):
        for W in layer[part][:-1]:
            W *= 1 + layer[norm][:, None]
    layers.append({part: layer[part] for part in ("attention", "ffn")})
return {**weights, "layers": layers}
"""),
    ("21.3", "matrices not asked", "cosines reads", FOLDABLE.replace(
        "r in matrices", "r != 'stream' and not r.startswith('norm')")),
    ("21.3", "one reader remembered", "added up before", """
reader_of = dict(arrows)
return [norm for norm in norms if reader_of[norm] in matrices and sum(
    reader == reader_of[norm] for giver, reader in arrows) == 1]
"""),
    ("21.4", "rows not counted", "one layer", READERS.replace(
        " or w.shape[-2] != len(weights[gain])", "")),
    ("21.4", "the first axis for the rows", "one layer",
     READERS.replace("w.shape[-2]", "w.shape[0]")),
    ("21.4", "a coarse comparison", "one layer",
     READERS.replace("< 1e-10", "< 1")),
    ("21.6", "no format below 1", "any format",
     SHIFT.replace("/ largest", "/ max(largest, 1)")),
    ("21.7", "summed in float32", "fit its type",
     INT8.replace("(q @ W_q.astype(np.int32))",
                  "(q.astype(np.float32) @ W_q.astype(np.float32))")),
    ("21.7", "the tokens scaled in place", "inputs stay", """
s = 1 / np.sqrt(np.mean(X**2, axis=1, keepdims=True) + eps)
step = np.abs(X).max(axis=1, keepdims=True) / 127
X /= np.where(step == 0, 1, step)
return np.round(X).astype(int) @ W_q.astype(int) * (step * s) * step_W
"""),
    ("21.7", "tokens of zeros left out", "token of zeros", """
X = X[X.any(axis=1)]
""" + INT8),
]
