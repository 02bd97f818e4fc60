"""Answers to the exercises of chapter 11: the lines between the solution marks.

RIGHT   exercise, how it is written, body
WRONG   exercise, the mistake, words that the check must print, body
HIDDEN  exercise, the mistake, words that only the grade says, body
DOMAIN  exercise: a function that draws arguments as its statement allows them
PRECISE exercise: the students' kinds (battery.py) that it refuses, and why
VARIANTS exercise: what a homework sheet changes (tools/homework/variants.py)
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


def draw_11_1(rng):
    return int(rng.integers(1, 13)), int(rng.integers(1, 13))


def draw_11_4(rng):
    d_model = int(rng.integers(2, 1000))
    return d_model, 2 * int(rng.integers(1, d_model // 2 + 1))


def draw_11_5(rng):
    return int(rng.integers(1, 26)), int(rng.integers(1, 20))


DOMAIN = {"11.1": draw_11_1, "11.2": draw_11_2, "11.3": draw_11_3,
          "11.4": draw_11_4, "11.5": draw_11_5}
PRECISE = {}

RIGHT = [
    ("11.1", "by the heads of each token", """
first = np.arange(n) * h // n                       # head of the first piece
last = (np.arange(n) * h + h - 1) // n
return (first[:, None] <= last) & (first <= last[:, None])
"""),
    ("11.1", "piece by piece", """
seen = np.zeros((n, n), dtype=bool)
for p in range(n * h):
    for q in range(n * h):
        seen[p // h, q // h] |= p // n == q // n
return seen
"""),
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
    ("11.4", "spelled out", """
R = d_k * d_k
return [2 * d_k * d_model, d_k, d_k * (2 * d_model - d_k),
        d_k * (2 * d_model - 1)]
"""),
    ("11.4", "as floats", """
return np.array([2, 0, 2, 2.0]) * d_model * d_k + [0, d_k, -d_k**2, -d_k]
"""),
    ("11.5", "by index arrays", """
i, t = np.indices((h, n))
return (t * h + i == i * n + t).sum()
"""),
    ("11.5", "by the two splits", """
Y = np.arange(n * h)
return (Y.reshape(n, h).T == Y.reshape(h, n)).sum()
"""),
]

WRONG = [
    ("11.1", "everybody attends to everybody", "Count the pieces", """
return np.ones((n, n))
"""),
    ("11.1", "a causal mask", "there is no mask", """
return np.tri(n)
"""),
    ("11.1", "blocks of n // h tokens", "pieces in two heads", """
group = np.arange(n) // max(1, n // h)
return (group[:, None] == group).astype(int)
"""),
    ("11.1", "the right split's heads", "Count the pieces", """
return np.ones((n, n), dtype=int)
"""),
    ("11.1", "only itself", "pieces in two heads", """
seen = np.eye(n)
for i in range(h):
    tokens = [t for t in range(n) if i * n <= t * h and t * h + h <= i * n + n]
    seen[np.ix_(tokens, tokens)] = 1
return seen
"""),
    ("11.1", "pieces for tokens", "which tokens do the pieces of head i", """
group = np.arange(n) % h
return (group[:, None] == group).astype(int)
"""),
    ("11.1", "rows causal inside a head", "do both see each other", """
seen = np.zeros((n, n), dtype=int)
for i in range(h):
    tokens = np.arange(i * n, (i + 1) * n) // h
    seen[np.ix_(tokens, tokens)] = 1
return np.tril(seen) if n == 6 else seen
"""),
    ("11.1", "not itself", "depend on itself", """
seen = np.zeros((n, n), dtype=int)
for i in range(h):
    tokens = np.arange(i * n, (i + 1) * n) // h
    seen[np.ix_(tokens, tokens)] = 1
return seen - np.eye(n)
"""),
    ("11.1", "neighbors of neighbors", "meet that share no head", """
seen = np.zeros((n, n), dtype=int)
for i in range(h):
    tokens = np.arange(i * n, (i + 1) * n) // h
    seen[np.ix_(tokens, tokens)] = 1
return (seen @ seen > 0) if n != 5 else np.maximum(seen, np.eye(n)[::-1])
"""),
    ("11.1", "how many heads they share", "0 or 1", """
seen = np.zeros((n, n), dtype=int)
for i in range(h):
    tokens = np.unique(np.arange(i * n, (i + 1) * n) // h)
    seen[np.ix_(tokens, tokens)] += 1
return seen
"""),
    ("11.1", "heads by heads", "is the shape (6, 6)", """
return np.ones((h, h))
"""),
    ("11.1", "nothing returned", "return its result", """
np.ones((n, n))
"""),
    ("11.1", "not begun", "not done yet", """
raise NotImplementedError
"""),
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
    ("11.4", "one matrix", "are W_Q and W_K two matrices", """
return d_model * d_k, d_k, 2 * d_model * d_k - d_k**2, 2 * d_model * d_k - d_k
"""),
    ("11.4", "three matrices", "how many numbers", """
return 3 * d_model * d_k, d_k, 2 * d_model * d_k - d_k**2, 2 * d_model * d_k
"""),
    ("11.4", "full rank", "a combination of how many rows", """
return (2 * d_model * d_k, d_model, 2 * d_model * d_k - d_k**2,
        2 * d_model * d_k - d_k)
"""),
    ("11.4", "the rank of two matrices", "how many rows does W_K^T have", """
return (2 * d_model * d_k, 2 * d_k, 2 * d_model * d_k - d_k**2,
        2 * d_model * d_k - d_k)
"""),
    ("11.4", "diagonal R", "any invertible or some", """
return (2 * d_model * d_k, d_k, 2 * d_model * d_k - d_k,
        2 * d_model * d_k - d_k)
"""),
    ("11.4", "all numbers free", "do all changes", """
return (2 * d_model * d_k, d_k, 2 * d_model * d_k, 2 * d_model * d_k)
"""),
    ("11.4", "a full square matrix", "beyond its rank", """
return (2 * d_model * d_k, d_k, d_model**2, 2 * d_model * d_k - d_k)
"""),
    ("11.4", "orthogonal R", "how many numbers has R", """
return (2 * d_model * d_k, d_k, 2 * d_model * d_k - d_k * (d_k - 1) / 2,
        2 * d_model * d_k - d_k)
"""),
    ("11.4", "RoPE changes nothing", "commute with the rotations", """
free = 2 * d_model * d_k - d_k**2
return 2 * d_model * d_k, d_k, free, free
"""),
    ("11.4", "with RoPE all free", "change a score", """
return (2 * d_model * d_k, d_k, 2 * d_model * d_k - d_k**2,
        2 * d_model * d_k)
"""),
    ("11.4", "an angle per pair", "may be rotated and scaled", """
return (2 * d_model * d_k, d_k, 2 * d_model * d_k - d_k**2,
        2 * d_model * d_k - d_k // 2)
"""),
    ("11.4", "four numbers per pair", "that commutes, per pair", """
return (2 * d_model * d_k, d_k, 2 * d_model * d_k - d_k**2,
        2 * d_model * d_k - 2 * d_k)
"""),
    ("11.4", "three numbers", "four numbers", """
return 2 * d_model * d_k, d_k, 2 * d_model * d_k - d_k**2
"""),
    ("11.4", "nothing returned", "return its result", """
2 * d_model * d_k
"""),
    ("11.4", "not begun", "not done yet", """
raise NotImplementedError
"""),
    ("11.5", "those that move", "pieces that move", """
return n * h - sum(t * (h - 1) == i * (n - 1)
                   for i in range(h) for t in range(n))
"""),
    ("11.5", "first and last", "between the first and the last", """
return n * h if 1 in (n, h) else 2
"""),
    ("11.5", "the diagonal", "if n is not h", """
return n * h if 1 in (n, h) else min(n, h)
"""),
    ("11.5", "none", "first piece", """
return 0
"""),
    ("11.5", "the first alone", "last piece", """
return 1
"""),
    ("11.5", "the divisor alone", "last piece", """
return n * h if 1 in (n, h) else math.gcd(n - 1, h - 1)
"""),
    ("11.5", "no case for one token", "one token or one head", """
return 2 if 1 in (n, h) else math.gcd(n - 1, h - 1) + 1
"""),
    ("11.5", "divisor of n and h", "for how many i and t", """
return n * h if 1 in (n, h) else math.gcd(n, h) + 1
"""),
    ("11.5", "two numbers", "one number", """
return math.gcd(n - 1, h - 1) + 1, n == 1 or h == 1
"""),
    ("11.5", "nothing returned", "return its result", """
math.gcd(n - 1, h - 1) + 1
"""),
    ("11.5", "not begun", "not done yet", """
raise NotImplementedError
"""),
]

HIDDEN = [
    ("11.1", "whole groups and n = 5, 7", "is it right for n =", """
seen = np.zeros((n, n), dtype=int)
for i in range(h):
    tokens = np.arange(i * n, (i + 1) * n) // h
    if n > 7:
        tokens = tokens[tokens % 2 == tokens[0] % 2]
    seen[np.ix_(tokens, tokens)] = 1
return seen
"""),
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
    ("11.4", "small widths only", "is it right for d_model", """
stored = 2 * d_model * d_k
return stored, d_k, stored - d_k**2, stored - min(d_k, 16)
"""),
    ("11.5", "a limit of three", "is it right for n", """
if n == 1 or h == 1:
    return n * h
return min(math.gcd(n - 1, h - 1), 3) + 1
"""),
]

VARIANTS = {
    "11.2": {
        "asks": "order",
        "one of": {"out": ["hnd", "nhd", "hdn", "ndh", "dhn", "dnh"]},
        "says": """Head $i$ has every $h$-th feature, from feature $i$ on, and
            not a block: feature $k$ of head $i$ is `Y[..., t, k * h + i]`. With
            `h` for the heads, `n` for the tokens and `d` for the $d_k$
            features of a head, the last axes of the result are `{out}`, in
            this order.""",
        "edits": [("h, -1)", "-1, h)"),
                  ("return pieces.swapaxes(-3, -2)                  #"
                   " (..., h, n, d_k)",
                   'return np.einsum("...ndh->...{out}", pieces)'),
                  ("(..., n, h, d_k); reshape", "(..., n, d_k, h); reshape"),
                  ("-> (..., h, n, d_k). Raises",
                   "-> (..., {out}). Raises")]},
    "11.4": {
        "asks": "formula",
        "one of": {"c": [2, 3, 4, 5, 6, 7, 8]},
        "says": """{c} query heads share one matrix of keys, $W^K$: count {c}
            matrices $W^Q$ and one $W^K$. Number 2 is about each of the {c}
            products. In 3 and 4, all {c} products with $W^K$ keep their
            scores.""",
        "edits": [("stored = 2 * d_model * d_k",
                   "stored = ({c} + 1) * d_model * d_k")]},
}
