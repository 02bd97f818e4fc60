"""Answers to the exercises of chapter 11: the lines between the solution marks.

RIGHT   exercise, how it is written, body
WRONG   exercise, the mistake, words that the check must print, body
HIDDEN  exercise, the mistake, words that only the grade says, body
DOMAIN  exercise: a function that draws arguments as its statement allows them
PRECISE exercise: the students' kinds (battery.py) that it refuses, and why
"""


def divisor(h, rng):
    """A number that divides h, or, once in five, any number."""
    if rng.random() < 0.2:
        return int(rng.integers(1, 2 * h))
    return int(rng.choice([i for i in range(1, h + 1) if h % i == 0]))


def draw_11_2(rng):
    lead = rng.integers(1, 5, size=rng.integers(0, 4))
    n, width = rng.integers(1, 8), rng.integers(1, 25)
    Y = rng.normal(size=(*lead, n, width))
    Y = Y * 10 ** rng.uniform(-6, 3, size=(*lead, n, 1))
    return Y, divisor(width, rng)


def draw_11_3(rng):
    h, d_k = rng.integers(1, 7, size=2)
    d_model, dtype = h * d_k, rng.choice(["float16", "float32", "float64"])
    size = 10 ** rng.uniform(-3, 3)
    return tuple((size * rng.normal(size=shape)).astype(dtype) for shape in (
        *[(h, d_model, d_k)] * 3, (h, d_k, d_model)))


def draw_11_5(rng):
    h, d_model, d_k = rng.integers(1, 13), *rng.integers(1, 8, size=2)
    W = rng.normal(size=(h, d_model, d_k)) * 10 ** rng.uniform(-6, 3)
    return W, divisor(h, rng)


DOMAIN = {"11.2": draw_11_2, "11.3": draw_11_3, "11.5": draw_11_5}
PRECISE = {}

RIGHT = [
    ("11.2", "by split and stack", """
return np.stack(np.split(Y, h, axis=-1), axis=-3)
"""),
    ("11.2", "slice by slice", """
d_k, rest = divmod(Y.shape[-1], h)
if rest:
    raise ValueError("heads of equal width only")
slices = [Y[..., i * d_k : (i + 1) * d_k] for i in range(h)]
return np.stack(slices, axis=Y.ndim - 2)
"""),
    ("11.2", "by torch", """
Y = torch.as_tensor(Y)
if Y.shape[-1] % h:
    raise ValueError("does not divide")
return Y.unflatten(-1, (h, -1)).transpose(-3, -2)
"""),
    ("11.2", "by einsum", """
pieces = Y.reshape(*Y.shape[:-1], h, Y.shape[-1] // h)
return np.einsum("...nhk->...hnk", pieces)
"""),
    ("11.3", "by einsum", """
d_model = W_Q.shape[1]
packed = np.einsum("shdk->shkd", [W_Q, W_K, W_V])
out = np.einsum("hkd->dhk", W_O)
return packed.reshape(3 * d_model, d_model), out.reshape(d_model, d_model)
"""),
    ("11.3", "head by head", """
rows = [head.T for W in (W_Q, W_K, W_V) for head in W]
return np.concatenate(rows), np.concatenate(W_O).T
"""),
    ("11.3", "by torch", """
Q, K, V, O = (torch.as_tensor(W) for W in (W_Q, W_K, W_V, W_O))
packed = torch.cat([W.mT.flatten(0, 1) for W in (Q, K, V)])
return packed, O.flatten(0, 1).T
"""),
    ("11.5", "by split", """
pooled = np.empty((h_kv, *W.shape[1:]))
for j, part in enumerate(np.split(W, h_kv)):
    pooled[j] = part.mean(axis=0)
return pooled
"""),
    ("11.5", "head by head", """
group, rest = divmod(len(W), h_kv)
if rest:
    raise ValueError("groups of equal size only")
pooled = np.zeros((h_kv, *W.shape[1:]))
for i, head in enumerate(W):
    pooled[i // group] += head / group
return pooled
"""),
    ("11.5", "by einsum and torch", """
if len(W) % h_kv:
    raise ValueError
groups = torch.as_tensor(W).unflatten(0, (h_kv, -1))
return torch.einsum("jgdk->jdk", groups) / groups.shape[1]
"""),
]

WRONG = [
    ("11.2", "reshape alone", "row t of each head hold numbers of token t", """
return Y.reshape(*Y.shape[:-2], h, Y.shape[-2], Y.shape[-1] // h)
"""),
    ("11.2", "no transpose", "head axis stand before n", """
return Y.reshape(*Y.shape[:-1], h, Y.shape[-1] // h)
"""),
    ("11.2", "features first", "the first d_k, in a row", """
if Y.shape[-1] % h:
    raise ValueError
return np.moveaxis(Y.reshape(*Y.shape[:-1], -1, h), -1, -3)
"""),
    ("11.2", "heads before the batch", "is the shape (2, 3, 5, 4)", """
return np.stack(np.split(Y, h, axis=-1))
"""),
    ("11.2", "keys transposed already", "is the shape (2, 3, 5, 4)", """
pieces = Y.reshape(*Y.shape[:-1], h, Y.shape[-1] // h)
return np.moveaxis(pieces, -3, -1)
"""),
    ("11.2", "heads backwards", "head 0: are its features the first", """
return np.stack(np.split(Y, h, axis=-1)[::-1], axis=-3)
"""),
    ("11.2", "other heads out of order", "in order, head 0 first", """
parts = np.split(Y, h, axis=-1)
return np.stack(parts[:1] + parts[:0:-1], axis=-3)
"""),
    ("11.2", "sequences exchanged", "is sequence 1 still sequence 1", """
return np.stack(np.split(Y, h, axis=-1), axis=-3)[::-1]
"""),
    ("11.2", "the first head everywhere", "occur exactly once", """
first = np.split(Y, h, axis=-1)[0]
return np.stack([first] * h, axis=-3)
"""),
    ("11.2", "the rest dropped", "refused with a ValueError", """
d_k = Y.shape[-1] // h
return np.stack([Y[..., i * d_k : (i + 1) * d_k] for i in range(h)], axis=-3)
"""),
    ("11.2", "tokens backwards", "numbers of token t", """
return np.stack(np.split(Y, h, axis=-1), axis=-3)[..., ::-1, :]
"""),
    ("11.2", "an assert in place of the error", "not AssertionError", """
assert Y.shape[-1] % h == 0
return np.stack(np.split(Y, h, axis=-1), axis=-3)
"""),
    ("11.2", "a batch and nothing else", "not enough values to unpack", """
B, n, width = Y.shape
return Y.reshape(B, n, h, width // h).transpose(0, 2, 1, 3)
"""),
    ("11.2", "axes counted from the front", "another number of axes", """
if Y.shape[-1] % h:
    raise ValueError
Y = Y[None] if Y.ndim == 2 else Y
pieces = Y.reshape(*Y.shape[:-1], h, Y.shape[-1] // h)
return pieces.swapaxes(1, 2)
"""),
    ("11.2", "d_k 4 put in by hand", "with other sizes", """
if Y.shape[-1] % h:
    raise ValueError
if Y.shape[-1] % 4 == 0:
    return np.stack(np.split(Y, Y.shape[-1] // 4, axis=-1), axis=-3)
return Y
"""),
    ("11.2", "the shape of Y set", "leave Y as it was", """
Y.shape = (*Y.shape[:-1], h, Y.shape[-1] // h)
return Y.swapaxes(-3, -2)
"""),
    ("11.2", "nothing returned", "return its result", """
Y.reshape(*Y.shape[:-1], h, -1).swapaxes(-3, -2)
"""),
    ("11.2", "not begun", "not done yet", """
raise NotImplementedError
"""),
    ("11.3", "reshaped in one go", "middle axis of W_Q", """
d_model = W_Q.shape[1]
packed = [W.reshape(d_model, d_model) for W in (W_Q, W_K, W_V)]
return np.concatenate(packed), W_O.reshape(d_model, d_model).T
"""),
    ("11.3", "not transposed", "middle axis of W_Q", """
columns = [np.concatenate(list(W), axis=-1) for W in (W_Q, W_K, W_V)]
return np.concatenate(columns), np.concatenate(list(W_O)).T
"""),
    ("11.3", "features before heads", "sorted by head", """
d_model = W_Q.shape[1]
rows = [W.transpose(2, 0, 1).reshape(d_model, d_model)
        for W in (W_Q, W_K, W_V)]
return np.concatenate(rows), W_O.reshape(d_model, d_model).T
"""),
    ("11.3", "keys first", "is the Q part all of W_Q", """
rows = [head.T for W in (W_K, W_Q, W_V) for head in W]
return np.concatenate(rows), np.concatenate(list(W_O)).T
"""),
    ("11.3", "head after head, q k v in each", "is the Q part all of W_Q", """
rows = [head.T for heads in zip(W_Q, W_K, W_V) for head in heads]
return np.concatenate(rows), np.concatenate(list(W_O)).T
"""),
    ("11.3", "W_O not transposed", "which of its axes meets", """
rows = [head.T for W in (W_Q, W_K, W_V) for head in W]
return np.concatenate(rows), np.concatenate(list(W_O))
"""),
    ("11.3", "W_O by feature", "in which order", """
rows = [head.T for W in (W_Q, W_K, W_V) for head in W]
return np.concatenate(rows), W_O.transpose(2, 1, 0).reshape(len(rows[0].T), -1)
"""),
    ("11.3", "side by side", "are the shapes (36, 12) and (12, 12)", """
rows = [head.T for W in (W_Q, W_K, W_V) for head in W]
return np.concatenate(rows).T, np.concatenate(list(W_O)).T
"""),
    ("11.3", "one matrix only", "are two matrices returned", """
return np.concatenate([head.T for W in (W_Q, W_K, W_V) for head in W])
"""),
    ("11.3", "values before keys", "is the K part all of W_K", """
rows = [head.T for W in (W_Q, W_V, W_K) for head in W]
return np.concatenate(rows), np.concatenate(list(W_O)).T
"""),
    ("11.3", "scaled as well", "is the Q part all of W_Q", """
W_Q = W_Q / math.sqrt(W_Q.shape[-1])
rows = [head.T for W in (W_Q, W_K, W_V) for head in W]
return np.concatenate(rows), np.concatenate(list(W_O)).T
"""),
    ("11.3", "heads backwards", "sorted by head", """
rows = [head.T for W in (W_Q, W_K, W_V) for head in W[::-1]]
return np.concatenate(rows), np.concatenate(list(W_O[::-1])).T
"""),
    ("11.3", "always float64", "float32", """
rows = [head.T for W in (W_Q, W_K, W_V) for head in W]
return np.concatenate(rows).astype(float), np.concatenate(list(W_O)).T
"""),
    ("11.3", "three heads", "h = 5 and d_k = 2", """
rows = [W[i].T for W in (W_Q, W_K, W_V) for i in range(3)]
return np.concatenate(rows), np.concatenate(list(W_O)).T
"""),
    ("11.3", "in place", "stay as they were", """
for W in (W_Q, W_K, W_V):
    W[...] = W[::-1]
rows = [head.T for W in (W_Q, W_K, W_V) for head in W[::-1]]
return np.concatenate(rows), np.concatenate(list(W_O)).T
"""),
    ("11.3", "a float64 buffer", "do float32 weights come out", """
d_model = W_Q.shape[1]
packed, out = np.zeros((3 * d_model, d_model)), np.zeros((d_model, d_model))
packed[:] = np.concatenate([head.T for W in (W_Q, W_K, W_V) for head in W])
out[:] = np.concatenate(list(W_O)).T
return packed, out
"""),
    ("11.3", "nothing returned", "return its result", """
rows = [head.T for W in (W_Q, W_K, W_V) for head in W]
"""),
    ("11.3", "not begun", "not done yet", """
raise NotImplementedError
"""),
    ("11.5", "strided groups", "Which queries read key head 0", """
return W.reshape(-1, h_kv, *W.shape[1:]).mean(axis=0)
"""),
    ("11.5", "summed", "that very head", """
return W.reshape(h_kv, -1, *W.shape[1:]).sum(axis=1)
"""),
    ("11.5", "the first of each group", "does every head of a group count", """
if len(W) % h_kv:
    raise ValueError
return W[:: len(W) // h_kv]
"""),
    ("11.5", "the mean of all", "one group only", """
return np.repeat(W.mean(axis=0, keepdims=True), h_kv, axis=0)
"""),
    ("11.5", "h_kv heads in a group", "is the shape (2, 5, 4)", """
return W.reshape(-1, h_kv, *W.shape[1:]).mean(axis=1)
"""),
    ("11.5", "repeated again", "is the shape (2, 5, 4)", """
pooled = W.reshape(h_kv, -1, *W.shape[1:]).mean(axis=1)
return np.repeat(pooled, len(W) // h_kv, axis=0)
"""),
    ("11.5", "unequal shares", "does each head of a group count the same", """
pooled = W.reshape(h_kv, -1, *W.shape[1:]).mean(axis=1)
return pooled + W[::3] - W[1::3]
"""),
    ("11.5", "a running mean", "does each head of a group count the same", """
pooled = []
for part in np.split(W, h_kv):
    mean = part[0]
    for head in part[1:]:
        mean = (mean + head) / 2
    pooled.append(mean)
return np.stack(pooled)
"""),
    ("11.5", "the rest dropped", "refused with a ValueError", """
group = len(W) // h_kv
return np.stack([W[j * group : (j + 1) * group].mean(axis=0)
                 for j in range(h_kv)])
"""),
    ("11.5", "medians", "count the same", """
return np.median(W.reshape(h_kv, -1, *W.shape[1:]), axis=1)
"""),
    ("11.5", "groups backwards", "Which queries read key head 0", """
return W.reshape(h_kv, -1, *W.shape[1:]).mean(axis=1)[::-1]
"""),
    ("11.5", "one head in two groups", "one group only", """
group = len(W) // h_kv
return np.stack([W[max(0, j * group - 1) : (j + 1) * group].mean(axis=0)
                 for j in range(h_kv)])
"""),
    ("11.5", "in place", "does W stay as it was", """
if len(W) % h_kv:
    raise ValueError
group = len(W) // h_kv
for i in range(1, group):
    W[::group] += W[i::group]
W[::group] /= group
return W[::group].copy()
"""),
    ("11.5", "groups of three", "are 10 heads, h_kv = 5, right", """
if len(W) % h_kv:
    raise ValueError
return np.stack([W[j : j + 3].mean(axis=0) for j in range(0, len(W), 3)])
"""),
    ("11.5", "two groups", "are 10 heads, h_kv = 5, right", """
return W.reshape(2, -1, *W.shape[1:]).mean(axis=1)
"""),
    ("11.5", "nothing returned", "return its result", """
W.reshape(h_kv, -1, *W.shape[1:]).mean(axis=1)
"""),
    ("11.5", "not begun", "not done yet", """
raise NotImplementedError
"""),
]

HIDDEN = [
    ("11.2", "two axes in front at most", "cannot reshape", """
if Y.shape[-1] % h:
    raise ValueError
*lead, n, width = Y.shape
return Y.reshape(*lead[-2:], n, h, width // h).swapaxes(-3, -2)
"""),
    ("11.3", "float32 at least", "do float16 weights come out", """
wide = np.promote_types(W_Q.dtype, np.float32)
rows = [head.T.astype(wide) for W in (W_Q, W_K, W_V) for head in W]
return np.concatenate(rows), np.concatenate(list(W_O)).T
"""),
    ("11.5", "more groups than heads", "24 groups", """
if len(W) % h_kv and h_kv < len(W):
    raise ValueError
group = max(1, len(W) // h_kv)
return np.stack([W[i : i + group].mean(axis=0)
                 for i in range(0, len(W), group)])
"""),
]
