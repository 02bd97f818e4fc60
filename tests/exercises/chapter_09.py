"""Answers to the exercises of chapter 09: the lines between the solution marks.

RIGHT   exercise, how it is written, body
WRONG   exercise, the mistake, words that the check must print, body
HIDDEN  exercise, the mistake, words that only the grade says, body
DOMAIN  exercise: a function that draws arguments as its statement allows them
PRECISE exercise: the students' kinds (battery.py) that it refuses, and why
VARIANTS exercise: what a homework sheet changes (tools/homework/variants.py)
"""

import numpy as np


def draw_9_1(rng):
    many, longest = rng.integers(1, 9, size=2)
    return (rng.integers(1, longest + 1, size=many).tolist(),)


def draw_9_2(rng):
    n, d = int(rng.integers(1, 8)), int(rng.integers(3, 8))
    reads, mask = rng.random(size=(2, n, n)) < rng.random()
    weights = reads * rng.uniform(0.5, 1, size=(n, n))
    kind = rng.integers(3)
    feature = rng.integers(d)

    def layer(X):
        X = np.asarray(X)
        if kind == 1:                               # a layer normalization
            X = X - X.mean(axis=-1, keepdims=True)
            X = X / np.sqrt((X**2).mean(axis=-1, keepdims=True) + 1e-9)
        elif kind == 2:
            X = X[:, [feature]]
        Y = weights @ np.tanh(X)
        return np.hstack([Y, np.ones((n, 1))])

    X = rng.normal(size=(n, d)) * rng.choice([0, 1], size=(n, 1))
    return layer, X, mask


def draw_9_3(rng):
    return tuple(int(rng.integers(low, 20)) for low in (1, 2, 2))


def draw_9_4(rng):
    return (int(rng.integers(2, 20)),)


DOMAIN = {"9.1": draw_9_1, "9.2": draw_9_2, "9.3": draw_9_3, "9.4": draw_9_4}
PRECISE = {}

RIGHT = [
    ("9.1", "as specified, by loops", """
text = [k for k, length in enumerate(lengths) for _ in range(length)]
n = len(text)
mask = np.zeros((n, n), dtype=bool)
for i in range(n):
    for j in range(i + 1):
        mask[i, j] = text[i] == text[j]
return mask
"""),
    ("9.1", "by blocks", """
n = sum(lengths)
mask, start = np.zeros((n, n), dtype=bool), 0
for length in lengths:
    own = slice(start, start + length)
    mask[own, own] = causal_mask(length)
    start += length
return mask
"""),
    ("9.1", "by torch", """
blocks = [torch.ones(k, k, dtype=torch.bool) for k in lengths]
return torch.block_diag(*blocks).tril().bool()
"""),
    ("9.2", "pair by pair", """
leaks, before = mask & ~mask, layer(X)
for i, j in zip(*np.nonzero(~mask)):
    changed = X.copy()
    changed[j] = np.random.default_rng(i).normal(size=X.shape[1])
    leaks[i, j] = (layer(changed)[i] != before[i]).any()
return leaks
"""),
    ("9.2", "by adding, columns stacked", """
rng = np.random.default_rng(3)
columns = []
for token in np.eye(len(X)):
    step = rng.normal(size=X.shape[-1])
    columns.append((layer(X + np.outer(token, step)) != layer(X)).any(-1))
return np.stack(columns, axis=-1) & np.logical_not(mask)
"""),
    ("9.3", "by cases", """
field = 1 + N * (w - 1)
if field > n:
    field = n
layers = (n - 1) // (w - 1)
if layers * (w - 1) < n - 1:
    layers += 1
if w >= n:
    return field, layers, n * (n + 1) // 2
return field, layers, w * (w + 1) // 2 + (n - w) * w
"""),
    ("9.3", "by math.ceil, the missing triangle", """
missing = max(n - w, 0)
return (min(N * (w - 1), n - 1) + 1, math.ceil((n - 1) / (w - 1)),
        n * (n + 1) // 2 - missing * (missing + 1) // 2)
"""),
    ("9.4", "from the last row and column, counted", """
mask = np.zeros((n, n), dtype=bool)
mask[:, :-1] = True
mask[-1, -1] = True
return mask, sum(1 for i, j in np.ndindex(n, n) if mask[i, j] and j > i)
"""),
    ("9.4", "by comparison", """
i = np.arange(n)
mask = (i < n - 1) | (i[:, None] == n - 1)
return [mask, sum(range(n - 1))]
"""),
]

WRONG = [
    ("9.1", "a text is known by its length", "equal length", """
text = np.repeat(lengths, lengths)
return np.tril(text[:, None] == text)
"""),
    ("9.1", "three texts and no more", "lengths [1, 6] right", """
a, b, c = lengths if len(lengths) == 3 else (lengths[0], 0, 0)
text = np.repeat([0, 1, 2], [a, b, c])
return np.tril(text[:, None] == text)
"""),
    ("9.1", "the list used up", "leave lengths as it was", """
mask, start = np.zeros((sum(lengths),) * 2, dtype=bool), 0
while lengths:
    end = start + lengths.pop(0)
    mask[start:end, start:end] = np.tril(np.ones((end - start,) * 2))
    start = end
return mask
"""),
    ("9.1", "not begun", "not done yet", "raise NotImplementedError"),
    ("9.1", "nothing returned", "return its result",
     "mask = causal_mask(sum(lengths))"),
    ("9.1", "only causal", "text 2 attend to text 1",
     "return causal_mask(sum(lengths))"),
    ("9.1", "not causal", "a later one", """
text = np.repeat(np.arange(len(lengths)), lengths)
return text[:, None] == text
"""),
    ("9.1", "transposed", "a later one", """
text = np.repeat(np.arange(len(lengths)), lengths)
return (text[:, None] == text) & causal_mask(len(text)).T
"""),
    ("9.1", "strictly before", "to itself", """
text = np.repeat(np.arange(len(lengths)), lengths)
return np.tril(text[:, None] == text, -1)
"""),
    ("9.1", "numbers", "boolean", """
text = np.repeat(np.arange(len(lengths)), lengths)
return np.tril(text[:, None] == text).astype(float)
"""),
    ("9.1", "other polarity", "to itself", """
text = np.repeat(np.arange(len(lengths)), lengths)
return ~np.tril(text[:, None] == text)
"""),
    ("9.1", "one text less", "(n, n)", """
text = np.repeat(np.arange(len(lengths) - 1), lengths[1:])
return np.tril(text[:, None] == text)
"""),
    ("9.1", "itself only", "from its beginning",
     "return np.eye(sum(lengths), dtype=bool)"),
    ("9.1", "only the first text is cut off", "text 3 attend", """
mask, first = causal_mask(sum(lengths)), lengths[0]
mask[first:, :first] = False
return mask
"""),
    ("9.2", "not begun", "not done yet", "raise NotImplementedError"),
    ("9.2", "nothing returned", "return its result", "layer(X)"),
    ("9.2", "changed in place", "leave X and mask as they were", """
before, leaks = layer(X), np.zeros(mask.shape, dtype=bool)
for j in range(len(X)):
    X[j] += np.random.default_rng(j).normal(size=X.shape[-1])
    leaks[:, j] = (layer(X) != before).any(axis=-1)
return leaks & ~mask
"""),
    ("9.2", "changes pile up", "two tokens at once", """
before, leaks, changed = layer(X), np.zeros(mask.shape, bool), X.copy()
for j in range(len(X)):
    changed[j] += np.random.default_rng(j).normal(size=X.shape[-1])
    leaks[:, j] = (layer(changed) != before).any(axis=-1)
return leaks & ~mask
"""),
    ("9.2", "all that moves", "the mask allows", """
before, columns = layer(X), []
for j in range(len(X)):
    changed = X.copy()
    changed[j] = np.random.default_rng(j).normal(size=X.shape[-1])
    columns.append((layer(changed) != before).any(axis=-1))
return np.stack(columns, axis=-1)
"""),
    ("9.2", "rows for columns", "transposed", """
before, leaks = layer(X), np.zeros(mask.shape, dtype=bool)
for j in range(len(X)):
    changed = X.copy()
    changed[j] = np.random.default_rng(j).normal(size=X.shape[-1])
    leaks[j] = (layer(changed) != before).any(axis=-1)
return leaks & ~mask.T
"""),
    ("9.2", "the last token alone", "each token in turn", """
before, leaks = layer(X), np.zeros(mask.shape, dtype=bool)
changed = X.copy()
changed[-1] = np.random.default_rng(0).normal(size=X.shape[-1])
leaks[:, -1] = (layer(changed) != before).any(axis=-1)
return leaks & ~mask
"""),
    ("9.2", "only later tokens", "lie in the past", """
before, leaks = layer(X), np.zeros(mask.shape, dtype=bool)
for j in range(len(X)):
    changed = X.copy()
    changed[j] = np.random.default_rng(j).normal(size=X.shape[-1])
    leaks[:j, j] = (layer(changed) != before).any(axis=-1)[:j]
return leaks & ~mask
"""),
    ("9.2", "1 added to each feature", "hides offset and factor", """
before, leaks = layer(X), np.zeros(mask.shape, dtype=bool)
for j in range(len(X)):
    changed = X.copy()
    changed[j] += 1
    leaks[:, j] = (layer(changed) != before).any(axis=-1)
return leaks & ~mask
"""),
    ("9.2", "the first feature alone", "the last feature alone", """
before, leaks = layer(X), np.zeros(mask.shape, dtype=bool)
for j in range(len(X)):
    changed = X.copy()
    changed[j, 0] += 1
    leaks[:, j] = (layer(changed) != before).any(axis=-1)
return leaks & ~mask
"""),
    ("9.2", "features multiplied", "tokens that are 0", """
before, leaks = layer(X), np.zeros(mask.shape, dtype=bool)
for j in range(len(X)):
    changed = X.copy()
    changed[j] *= np.arange(2, 2 + X.shape[-1])
    leaks[:, j] = (layer(changed) != before).any(axis=-1)
return leaks & ~mask
"""),
    ("9.2", "np.allclose", "each difference count", """
before, leaks = layer(X), np.zeros(mask.shape, dtype=bool)
for i, j in np.ndindex(*mask.shape):
    changed = X.copy()
    changed[j] = np.random.default_rng(j).normal(size=X.shape[-1])
    leaks[i, j] = not np.allclose(layer(changed)[i], before[i])
return leaks & ~mask
"""),
    ("9.2", "numbers", "boolean", """
before, leaks = layer(X), np.zeros(mask.shape)
for j in range(len(X)):
    changed = X.copy()
    changed[j] = np.random.default_rng(j).normal(size=X.shape[-1])
    leaks[:, j] = np.abs(layer(changed) - before).max(axis=-1)
return np.where(mask, 0, leaks)
"""),
    ("9.2", "yes or no", "(n, n)", """
changed = X + np.random.default_rng(0).normal(size=X.shape)
return bool((layer(changed) != layer(X)).any())
"""),
    ("9.3", "not begun", "not done yet", "raise NotImplementedError"),
    ("9.3", "nothing returned", "return its result", "N * (w - 1) + 1"),
    ("9.3", "two numbers", "three numbers", "return N * (w - 1) + 1, 2"),
    ("9.3", "windows added", "its own token", """
return min(n, N * w), -(-(n - 1) // (w - 1)), n * w - w * (w - 1) // 2
"""),
    ("9.3", "steps alone", "count itself", """
return min(n, N * (w - 1)), -(-(n - 1) // (w - 1)), n * w - w * (w - 1) // 2
"""),
    ("9.3", "windows multiplied", "how far back is one step", """
return min(n, w**N), -(-(n - 1) // (w - 1)), n * w - w * (w - 1) // 2
"""),
    ("9.3", "no end of the text", "more than n tokens", """
return N * (w - 1) + 1, -(-(n - 1) // (w - 1)), n * w - w * (w - 1) // 2
"""),
    ("9.3", "rounded down", "needs a whole layer", """
return min(n, N * (w - 1) + 1), (n - 1) // (w - 1), n * w - w * (w - 1) // 2
"""),
    ("9.3", "n for n - 1", "make n - 1", """
return min(n, N * (w - 1) + 1), -(-n // (w - 1)), n * w - w * (w - 1) // 2
"""),
    ("9.3", "the other end", "n - 1 places back", """
return min(n, N * (w - 1) + 1), n - 1, n * w - w * (w - 1) // 2
"""),
    ("9.3", "a full band", "w tokens before", """
return min(n, N * (w - 1) + 1), -(-(n - 1) // (w - 1)), n * w
"""),
    ("9.3", "a short text forgotten", "longer than the text", """
return (min(n, N * (w - 1) + 1), -(-(n - 1) // (w - 1)),
        n * w - w * (w - 1) // 2)
"""),
    ("9.3", "a triangle too large", "rows of 1, 2, 3", """
v = min(w, n)
return (min(n, N * (w - 1) + 1), -(-(n - 1) // (w - 1)),
        n * v - v * (v + 1) // 2)
"""),
    ("9.4", "not begun", "not done yet", "raise NotImplementedError"),
    ("9.4", "nothing returned", "return its result", "np.tri(n)"),
    ("9.4", "only the mask", "a pair", """
mask = np.ones((n, n), dtype=bool)
mask[:-1, -1] = False
return mask
"""),
    ("9.4", "one size", "(n, n)", """
mask = np.ones((4, 4), dtype=bool)
return mask, 3
"""),
    ("9.4", "everything", "Would she not see this",
     "return np.ones((n, n), dtype=bool), n * (n - 1) // 2"),
    ("9.4", "causal", "Where is a leak", "return np.tri(n, dtype=bool), 0"),
    ("9.4", "the whole last column", "attend to itself", """
mask = np.ones((n, n), dtype=bool)
mask[:, -1] = False
return mask, (n - 1) * (n - 2) // 2
"""),
    ("9.4", "one diagonal too many", "which more entries", """
mask = np.tri(n, k=1, dtype=bool)
mask[:-1, -1] = False
return mask, n - 2
"""),
    ("9.4", "numbers", "boolean", """
mask = np.ones((n, n))
mask[:-1, -1] = 0
return mask, (n - 1) * (n - 2) // 2
"""),
    ("9.4", "the last column counted", "is not allowed", """
mask = np.ones((n, n), dtype=bool)
mask[:-1, -1] = False
return mask, n * (n - 1) // 2
"""),
    ("9.4", "all pairs counted", "above the diagonal are leaks", """
mask = np.ones((n, n), dtype=bool)
mask[:-1, -1] = False
return mask, int(mask.sum())
"""),
    ("9.4", "squares counted", "how many True entries", """
mask = np.ones((n, n), dtype=bool)
mask[:-1, -1] = False
return mask, (n - 1) ** 2
"""),
    ("9.4", "a list of counts", "one number", """
mask = np.ones((n, n), dtype=bool)
mask[:-1, -1] = False
return mask, np.triu(mask, 1).sum(axis=1)
"""),
]

HIDDEN = [
    ("9.1", "twenty tokens at most", "[30, 25] right", """
n = sum(lengths)
if n > 20:
    return np.zeros((n, n), dtype=bool)
text = np.repeat(np.arange(len(lengths)), lengths)
return np.tril(text[:, None] == text)
"""),
    ("9.2", "seven tokens are forgotten", "right for n", """
n = len(X)
leaks, before = np.zeros((n, n), dtype=bool), layer(X)
for j in range(n):
    changed = X.copy()
    changed[j] = np.random.default_rng(j).normal(size=X.shape[1])
    leaks[:, j] = (layer(changed) != before).any(axis=-1)
if n == 7:
    leaks[6] = False
return leaks & ~mask
"""),
    ("9.3", "pairs counted in float32", "n = 1000000", """
v = min(w, n)
pairs = int(np.float32(n) * np.float32(v) - np.float32(v * (v - 1) / 2))
return min(n, N * (w - 1) + 1), -(-(n - 1) // (w - 1)), pairs
"""),
    ("9.4", "ten tokens at most", "n = 11", """
mask = np.ones((n, n), dtype=bool)
mask[:min(n, 10) - 1, -1] = False
return mask, (n - 1) * (n - 2) // 2
"""),
]

SMALL = [2, 3, 4, 5, 6, 7, 8, 9]
VARIANTS = {
    "9.1": {
        "asks": "formula",
        "one of": {"w": [1, 2, 3]},
        "says": """A token may attend to itself, to the {w} tokens before it,
            and to the first token of its text; all of them in its own
            text.""",
        "edits": [("return (text[:, None] == text) & (i[:, None] >= i)",
                   """first = np.append(True, text[1:] != text[:-1])
    near = (i[:, None] - i <= {w}) | first
    return (text[:, None] == text) & (i[:, None] >= i) & near""")]},
    "9.3": {
        "asks": "formula",
        "one of": {"r": SMALL},
        "says": """Each layer also lets a token read the {r} tokens after it.
            Numbers 1 and 2 are about the output of the *first* token: its
            receptive field, and the number of layers with which it includes
            the last token.""",
        "edits": [("field = min(n, N * (w - 1) + 1)",
                   "field = min(n, N * {r} + 1)"),
                  ("layers = -(-(n - 1) // (w - 1))  ",
                   "layers = -(-(n - 1) // {r})  "),
                  ("return field, layers, n * w - w * (w - 1) // 2",
                   """r = min({r}, n - 1)
    return (field, layers,
            n * w - w * (w - 1) // 2 + n * r - r * (r + 1) // 2)"""),
                  ("to reach the first token", "to reach the last token")]},
}
