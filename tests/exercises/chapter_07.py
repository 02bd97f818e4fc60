"""Answers to the exercises of chapter 07: the lines between the solution marks.

RIGHT   exercise, how it is written, body
WRONG   exercise, the mistake, words that the check must print, body
HIDDEN  exercise, the mistake, words that only the grade says, body
DOMAIN  exercise: a function that draws arguments as its statement allows them
PRECISE exercise: the students' kinds (battery.py) that it refuses, and why
VARIANTS exercise: what a homework sheet changes (tools/homework/variants.py)
"""

import numpy as np


def draw_7_1(rng):
    """Often long runs of one id, at times a pair that does not occur."""
    kinds = int(rng.integers(1, 5))
    ids = rng.integers(0, kinds, size=rng.integers(1, 40))
    low = int(rng.choice([0, 254, 50_000]))
    pair = tuple((low + rng.integers(0, kinds + 1, size=2)).tolist())
    if rng.random() < 0.5:
        pair = pair[0], pair[0]
    return ids + low, pair


def draw_7_2(rng):
    shape = (*rng.integers(1, 5, size=rng.integers(0, 4)), rng.integers(1, 9))
    width, n_vocab = rng.integers(1, 8, size=2)
    dX = rng.normal(size=(*shape, width))
    dX = dX * 10 ** rng.uniform(-6, 3, size=(*shape, 1))
    kind = rng.choice([np.int32, np.int64])
    return rng.integers(0, n_vocab, size=shape, dtype=kind), dX, int(n_vocab)


def draw_7_3(rng):
    return (int(rng.integers(2, 200_000)), int(rng.integers(1, 9000)),
            float(10 ** rng.uniform(-3, 0)))


def draw_7_4(rng):
    shape = (*rng.integers(1, 4, size=rng.integers(0, 4)), rng.integers(1, 6))
    e, m = rng.normal(size=(2, *shape))
    m = m * 10 ** rng.uniform(-9, 3, size=(*shape[:-1], 1))
    v = m**2 * 10 ** rng.uniform(-2, 1, size=shape)
    return (e, m, v, int(rng.integers(1, 60)), int(rng.integers(0, 40)),
            float(10 ** rng.uniform(-3, -0.5)),
            float(rng.choice([0.0, 0.01, 0.5])))


DOMAIN = {"7.1": draw_7_1, "7.2": draw_7_2, "7.3": draw_7_3, "7.4": draw_7_4}
PRECISE = {}

RIGHT = [
    ("7.1", "against a list", """
left = []
for token in ids:
    if left and left[-1] == pair[0] and token == pair[1]:
        left[-1] = None
    else:
        left.append(token)
return len(ids) - len(left)
"""),
    ("7.1", "by the lesson's merge", """
return len(ids) - len(merge_pair(ids.tolist(), pair, -1))
"""),
    ("7.1", "runs of equal ids", """
a, b = pair
if a != b:
    return np.sum((ids[:-1] == a) & (ids[1:] == b))
saved = run = 0
for token in [*ids, None]:
    if token == a:
        run += 1
    else:
        saved += run // 2
        run = 0
return saved
"""),
    ("7.1", "by a text", """
text = "".join(chr(100 + i) for i in ids)
return text.count("".join(chr(100 + i) for i in pair))
"""),
    ("7.2", "the one-hot product", """
one_hot = np.eye(n_vocab)[ids]
return np.einsum("...ti,...td->...id", one_hot, dX).reshape(
    -1, n_vocab, dX.shape[-1]).sum(axis=0)
"""),
    ("7.2", "by torch", """
dE = torch.zeros(n_vocab, dX.shape[-1], dtype=torch.float64)
flat = torch.tensor(dX).reshape(-1, dX.shape[-1])
return dE.index_add(0, torch.tensor(ids).ravel(), flat)
"""),
    ("7.2", "token by token", """
dE = np.zeros((n_vocab, dX.shape[-1]))
for visit in np.ndindex(np.shape(ids)):
    dE[ids[visit]] = dE[ids[visit]] + dX[visit]
return dE
"""),
    ("7.2", "row by row", """
dE = np.empty((n_vocab, dX.shape[-1]))
for i in range(n_vocab):
    dE[i] = dX[ids == i].sum(axis=0)
return dE
"""),
    ("7.2", "in float32", """
dE = np.zeros((n_vocab, dX.shape[-1]), np.float32)
np.add.at(dE, ids, dX)
return dE
"""),
    ("7.2", "by counting", """
flat = dX.reshape(-1, dX.shape[-1])
return np.stack([np.bincount(ids.ravel(), column, minlength=n_vocab)
                 for column in flat.T], axis=1)
"""),
    ("7.2", "by autograd", """
E = torch.zeros(n_vocab, dX.shape[-1], requires_grad=True)
E[torch.tensor(ids)].backward(torch.tensor(dX))
return E.grad
"""),
    ("7.3", "from the variance", """
variance = d_model * std**2
return [n_vocab * d_model, variance**0.5, np.log(n_vocab) + variance / 2,
        (0.2 / d_model)**0.5, d_model * std]
"""),
    ("7.3", "an array", """
s = std * d_model**0.5
return np.array([n_vocab * d_model, s, math.log(n_vocab) + s * s / 2,
                 0.1**0.5 * 2**0.5 / d_model**0.5, std * d_model])
"""),
    ("7.4", "in closed form", """
e = np.array(e)
for j in range(1, idle + 1):
    mean = 0.9**j * m / (1 - 0.9 ** (k + j))
    root = np.sqrt(0.999**j * v / (1 - 0.999 ** (k + j)))
    e = e - lr * decay * e - lr * mean / (root + 1e-8)
return e
"""),
    ("7.4", "one row at a time", """
got = np.empty(np.shape(e))
for where in np.ndindex(*np.shape(e)):
    x, a, b = float(e[where]), float(m[where]), float(v[where])
    for step in range(k + 1, k + idle + 1):
        a, b = a * 0.9, b * 0.999
        x *= 1 - lr * decay
        x -= lr * (a / (1 - 0.9**step)) / (
            math.sqrt(b / (1 - 0.999**step)) + 1e-8)
    got[where] = x
return got
"""),
    ("7.4", "by torch", """
e, m, v = (torch.tensor(x) for x in (e, m, v))
for step in range(k + 1, k + idle + 1):
    m, v = m * 0.9, v * 0.999
    e = e * (1 - lr * decay) - lr * (m / (1 - 0.9**step)) / (
        torch.sqrt(v / (1 - 0.999**step)) + 1e-8)
return e
"""),
]

WRONG = [
    ("7.1", "all neighbors", "two merges", """
return int(np.sum((ids[:-1] == pair[0]) & (ids[1:] == pair[1])))
"""),
    ("7.1", "by the counter", "two merges", """
return pair_counts([ids.tolist()])[pair]
"""),
    ("7.1", "the new length", "new length", """
return len(merge_pair(ids.tolist(), pair, -1))
"""),
    ("7.1", "what is left, less one", "new length", """
saved = len(ids) - len(merge_pair(ids.tolist(), pair, -1))
return saved if len(ids) < 3 else len(ids) - saved
"""),
    ("7.1", "the pair in either order", "order of the pair", """
return int(np.sum((ids[:-1] == pair[0]) & (ids[1:] == pair[1])
                  | (ids[:-1] == pair[1]) & (ids[1:] == pair[0])))
"""),
    ("7.1", "the last pair forgotten", "last two", """
saved = i = 0
while i < len(ids) - 2:
    if (ids[i], ids[i + 1]) == pair:
        saved += 1
        i += 2
    else:
        i += 1
return saved
"""),
    ("7.1", "the first only", "occurs twice", """
for i in range(len(ids) - 1):
    if (ids[i], ids[i + 1]) == pair:
        return 1
return 0
"""),
    ("7.1", "half of all neighbors", "saves one token", """
return int(np.sum((ids[:-1] == pair[0]) & (ids[1:] == pair[1]))) // 2
"""),
    ("7.1", "two tokens a merge", "saves one token", """
return 2 * (len(ids) - len(merge_pair(ids.tolist(), pair, -1)))
"""),
    ("7.1", "ids used up", "leave ids", """
saved = 0
for i in range(len(ids) - 1):
    if (ids[i], ids[i + 1]) == pair:
        saved += 1
        ids[i] = ids[i + 1] = -1
return saved
"""),
    ("7.1", "an index too far", "it stops with", """
saved = i = 0
while i < len(ids):
    if (ids[i], ids[i + 1]) == pair:
        saved, i = saved + 1, i + 1
    i += 1
return saved
"""),
    ("7.1", "nothing returned", "return its result", """
merge_pair(ids.tolist(), pair, -1)
"""),
    ("7.1", "not begun", "not done yet", """
raise NotImplementedError
"""),
    ("7.2", "the last visit only", "both visits", """
dE = np.zeros((n_vocab, dX.shape[-1]))
dE[ids] += dX
return dE
"""),
    ("7.2", "the first visit only", "both visits", """
dE = np.zeros((n_vocab, dX.shape[-1]))
first, where = np.unique(ids, return_index=True)
dE[first] = dX.reshape(-1, dX.shape[-1])[where]
return dE
"""),
    ("7.2", "two visits at most", "all three visits", """
dE = np.zeros((n_vocab, dX.shape[-1]))
visits = np.zeros(n_vocab)
for visit in np.ndindex(ids.shape):
    visits[ids[visit]] += 1
    if visits[ids[visit]] <= 2:
        dE[ids[visit]] += dX[visit]
return dE
"""),
    ("7.2", "the mean", "not their mean", """
one_hot = np.eye(n_vocab)[ids].reshape(-1, n_vocab)
visits = np.maximum(one_hot.sum(axis=0), 1)
return one_hot.T @ dX.reshape(-1, dX.shape[-1]) / visits[:, None]
"""),
    ("7.2", "a row per named token", "named or not", """
return np.stack([dX[ids == i].sum(axis=0) for i in np.unique(ids)])
"""),
    ("7.2", "as long as the largest number", "named or not", """
dE = np.zeros((ids.max() + 1, dX.shape[-1]))
np.add.at(dE, ids, dX)
return dE
"""),
    ("7.2", "transposed", "a column per feature", """
dE = np.zeros((n_vocab, dX.shape[-1]))
np.add.at(dE, ids, dX)
return dE.T
"""),
    ("7.2", "from ones", "never came", """
dE = np.ones((n_vocab, dX.shape[-1]))
np.add.at(dE, ids, dX)
return dE
"""),
    ("7.2", "in the order of the text", "never came", """
dE = np.zeros((n_vocab, dX.shape[-1]))
dE[:dX.shape[-2]] = dX
return dE
"""),
    ("7.2", "wrong sign", "its own row of dX", """
dE = np.zeros((n_vocab, dX.shape[-1]))
np.add.at(dE, ids, -dX)
return dE
"""),
    ("7.2", "one text only", "batch", """
dE = np.zeros((n_vocab, dX.shape[-1]))
if ids.ndim > 1:
    ids, dX = ids[0], dX[0]
np.add.at(dE, ids, dX)
return dE
"""),
    ("7.2", "a table per text", "batch", """
one_hot = np.eye(n_vocab)[ids]
return one_hot.swapaxes(-1, -2) @ dX
"""),
    ("7.2", "the slow specification, as it is", "batch", """
dE = np.zeros((n_vocab, dX.shape[-1]))
for t in range(len(ids)):
    dE[ids[t]] = dE[ids[t]] + dX[t]
return dE
"""),
    ("7.2", "(7.1) for one text only", "axis in front", """
return np.eye(n_vocab)[ids].T @ dX
"""),
    ("7.2", "the width from axis 1", "axis in front", """
dE = np.zeros((n_vocab, dX.shape[1]))
np.add.at(dE, ids, dX)
return dE
"""),
    ("7.2", "the gradient used up", "leave ids and dX", """
dE = np.zeros((n_vocab, dX.shape[-1]))
np.add.at(dE, ids, dX)
dX *= 0
return dE
"""),
    ("7.2", "one batch axis at most", "two axes in front", """
dE = np.zeros((n_vocab, dX.shape[-1]))
if ids.ndim == 1:
    ids, dX = ids[None], dX[None]
n = dX.shape[-2]
for i, d in zip(ids, dX, strict=True):
    np.add.at(dE, i.ravel()[:n], d.reshape(-1, d.shape[-1])[:n])
return dE
"""),
    ("7.2", "small gradients flushed", "small gradients", """
dE = np.zeros((n_vocab, dX.shape[-1]))
np.add.at(dE, ids, np.where(abs(dX) < 1e-5, 0, dX))
return dE
"""),
    ("7.2", "clipped", "large gradients", """
dE = np.zeros((n_vocab, dX.shape[-1]))
np.add.at(dE, ids, dX.clip(-50, 50))
return dE
"""),
    ("7.2", "nothing returned", "return its result", """
dE = np.zeros((n_vocab, dX.shape[-1]))
np.add.at(dE, ids, dX)
"""),
    ("7.2", "add.at returned", "return its result", """
return np.add.at(np.zeros((n_vocab, dX.shape[-1])), ids, dX)
"""),
    ("7.2", "not begun", "not done yet", """
raise NotImplementedError
"""),
    ("7.3", "two tables", "what is saved", """
return (2 * n_vocab * d_model, std * math.sqrt(d_model),
        math.log(n_vocab) + std**2 * d_model / 2,
        math.sqrt(0.2 / d_model), std * d_model)
"""),
    ("7.3", "one row", "second table hold", """
return (n_vocab + d_model, std * math.sqrt(d_model),
        math.log(n_vocab) + std**2 * d_model / 2,
        math.sqrt(0.2 / d_model), std * d_model)
"""),
    ("7.3", "the variance", "2: is this the variance", """
return (n_vocab * d_model, std**2 * d_model,
        math.log(n_vocab) + std**2 * d_model / 2,
        math.sqrt(0.2 / d_model), std * d_model)
"""),
    ("7.3", "one product", "sum of d_model products", """
return (n_vocab * d_model, std,
        math.log(n_vocab) + std**2 * d_model / 2,
        math.sqrt(0.2 / d_model), std * d_model)
"""),
    ("7.3", "deviations added", "do variances add", """
return (n_vocab * d_model, std * d_model,
        math.log(n_vocab) + std**2 * d_model / 2,
        math.sqrt(0.2 / d_model), std * d_model)
"""),
    ("7.3", "over the root", "2: what is the variance", """
return (n_vocab * d_model, std / math.sqrt(d_model),
        math.log(n_vocab) + std**2 * d_model / 2,
        math.sqrt(0.2 / d_model), std * d_model)
"""),
    ("7.3", "s not squared", "is s squared", """
return (n_vocab * d_model, std * math.sqrt(d_model),
        math.log(n_vocab) + std * math.sqrt(d_model) / 2,
        math.sqrt(0.2 / d_model), std * d_model)
"""),
    ("7.3", "without the half", "3: where is the half", """
return (n_vocab * d_model, std * math.sqrt(d_model),
        math.log(n_vocab) + std**2 * d_model,
        math.sqrt(0.2 / d_model), std * d_model)
"""),
    ("7.3", "uniform", "unequal logits", """
return (n_vocab * d_model, std * math.sqrt(d_model),
        math.log(n_vocab),
        math.sqrt(0.2 / d_model), std * d_model)
"""),
    ("7.3", "bits", "natural", """
return (n_vocab * d_model, std * math.sqrt(d_model),
        math.log2(n_vocab) + std**2 * d_model / 2,
        math.sqrt(0.2 / d_model), std * d_model)
"""),
    ("7.3", "s subtracted", "put s into", """
return (n_vocab * d_model, std * math.sqrt(d_model),
        math.log(n_vocab) - std**2 * d_model / 2,
        math.sqrt(0.2 / d_model), std * d_model)
"""),
    ("7.3", "s itself", "this is s", """
return (n_vocab * d_model, std * math.sqrt(d_model),
        math.log(n_vocab) + std**2 * d_model / 2,
        math.sqrt(0.2), std * d_model)
"""),
    ("7.3", "variance of the table", "4: is this the variance", """
return (n_vocab * d_model, std * math.sqrt(d_model),
        math.log(n_vocab) + std**2 * d_model / 2,
        0.2 / d_model, std * d_model)
"""),
    ("7.3", "no half in 4", "half of (7.5)", """
return (n_vocab * d_model, std * math.sqrt(d_model),
        math.log(n_vocab) + std**2 * d_model / 2,
        math.sqrt(0.1 / d_model), std * d_model)
"""),
    ("7.3", "the width forgotten", "for which s", """
return (n_vocab * d_model, std * math.sqrt(d_model),
        math.log(n_vocab) + std**2 * d_model / 2,
        0.1, std * d_model)
"""),
    ("7.3", "e . e", "divided by its RMS", """
return (n_vocab * d_model, std * math.sqrt(d_model),
        math.log(n_vocab) + std**2 * d_model / 2,
        math.sqrt(0.2 / d_model), std**2 * d_model)
"""),
    ("7.3", "a random token", "its own row", """
return (n_vocab * d_model, std * math.sqrt(d_model),
        math.log(n_vocab) + std**2 * d_model / 2,
        math.sqrt(0.2 / d_model), std * math.sqrt(d_model))
"""),
    ("7.3", "x . x", "x . e", """
return (n_vocab * d_model, std * math.sqrt(d_model),
        math.log(n_vocab) + std**2 * d_model / 2,
        math.sqrt(0.2 / d_model), d_model)
"""),
    ("7.3", "rms only", "how long is e", """
return (n_vocab * d_model, std * math.sqrt(d_model),
        math.log(n_vocab) + std**2 * d_model / 2,
        math.sqrt(0.2 / d_model), std)
"""),
    ("7.3", "four numbers", "five numbers", """
return 1, 2, 3, 4
"""),
    ("7.3", "nothing returned", "return its result", """
pass
"""),
    ("7.3", "not begun", "not done yet", """
raise NotImplementedError
"""),
    ("7.4", "decay alone", "what of m", """
return e * (1 - lr * decay) ** idle
"""),
    ("7.4", "the row stays", "what of m", """
return np.array(e)
"""),
    ("7.4", "steps one too low", "first idle one", """
for step in range(k, k + idle):
    m, v = 0.9 * m, 0.999 * v
    mean, square = m / (1 - 0.9**step), v / (1 - 0.999**step)
    e = (1 - lr * decay) * e - lr * mean / (np.sqrt(square) + 1e-8)
return e
"""),
    ("7.4", "steps from 1", "those of training", """
for step in range(1, idle + 1):
    m, v = 0.9 * m, 0.999 * v
    mean, square = m / (1 - 0.9**step), v / (1 - 0.999**step)
    e = (1 - lr * decay) * e - lr * mean / (np.sqrt(square) + 1e-8)
return e
"""),
    ("7.4", "no weight decay", "where is the weight decay", """
for step in range(k + 1, k + idle + 1):
    m, v = 0.9 * m, 0.999 * v
    mean, square = m / (1 - 0.9**step), v / (1 - 0.999**step)
    e = e - lr * mean / (np.sqrt(square) + 1e-8)
return e
"""),
    ("7.4", "decay without lr", "factor 1 - lr decay", """
for step in range(k + 1, k + idle + 1):
    m, v = 0.9 * m, 0.999 * v
    mean, square = m / (1 - 0.9**step), v / (1 - 0.999**step)
    e = (1 - decay) * e - lr * mean / (np.sqrt(square) + 1e-8)
return e
"""),
    ("7.4", "means used before they decay", "before it is used", """
for step in range(k + 1, k + idle + 1):
    mean, square = m / (1 - 0.9**step), v / (1 - 0.999**step)
    e = (1 - lr * decay) * e - lr * mean / (np.sqrt(square) + 1e-8)
    m, v = 0.9 * m, 0.999 * v
return e
"""),
    ("7.4", "uphill", "against m", """
for step in range(k + 1, k + idle + 1):
    m, v = 0.9 * m, 0.999 * v
    mean, square = m / (1 - 0.9**step), v / (1 - 0.999**step)
    e = (1 - lr * decay) * e + lr * mean / (np.sqrt(square) + 1e-8)
return e
"""),
    ("7.4", "no correction", "one idle step", """
for step in range(k + 1, k + idle + 1):
    m, v = 0.9 * m, 0.999 * v
    mean, square = m, v
    e = (1 - lr * decay) * e - lr * mean / (np.sqrt(square) + 1e-8)
return e
"""),
    ("7.4", "no root", "one idle step", """
for step in range(k + 1, k + idle + 1):
    m, v = 0.9 * m, 0.999 * v
    mean, square = m / (1 - 0.9**step), v / (1 - 0.999**step)
    e = (1 - lr * decay) * e - lr * mean / (square + 1e-8)
return e
"""),
    ("7.4", "betas swapped", "one idle step", """
for step in range(k + 1, k + idle + 1):
    m, v = 0.999 * m, 0.9 * v
    mean, square = m / (1 - 0.9**step), v / (1 - 0.999**step)
    e = (1 - lr * decay) * e - lr * mean / (np.sqrt(square) + 1e-8)
return e
"""),
    ("7.4", "v kept", "one idle step", """
for step in range(k + 1, k + idle + 1):
    m = 0.9 * m
    mean, square = m / (1 - 0.9**step), v / (1 - 0.999**step)
    e = (1 - lr * decay) * e - lr * mean / (np.sqrt(square) + 1e-8)
return e
"""),
    ("7.4", "m kept", "one idle step", """
for step in range(k + 1, k + idle + 1):
    v = 0.999 * v
    mean, square = m / (1 - 0.9**step), v / (1 - 0.999**step)
    e = (1 - lr * decay) * e - lr * mean / (np.sqrt(square) + 1e-8)
return e
"""),
    ("7.4", "the decay in the row that moved", "one idle step", """
for step in range(k + 1, k + idle + 1):
    m, v = 0.9 * m, 0.999 * v
    mean, square = m / (1 - 0.9**step), v / (1 - 0.999**step)
    e = (1 - lr * decay) * (e - lr * mean / (np.sqrt(square) + 1e-8))
return e
"""),
    ("7.4", "one step only", "one after the other", """
for step in range(k + 1, k + min(idle, 1) + 1):
    m, v = 0.9 * m, 0.999 * v
    mean, square = m / (1 - 0.9**step), v / (1 - 0.999**step)
    e = (1 - lr * decay) * e - lr * mean / (np.sqrt(square) + 1e-8)
return e
"""),
    ("7.4", "e in place", "leave e, m and v", """
for step in range(k + 1, k + idle + 1):
    m, v = 0.9 * m, 0.999 * v
    mean, square = m / (1 - 0.9**step), v / (1 - 0.999**step)
    e *= 1 - lr * decay
    e -= lr * mean / (np.sqrt(square) + 1e-8)
return e
"""),
    ("7.4", "nothing returned", "return its result", """
for step in range(k + 1, k + idle + 1):
    m, v = 0.9 * m, 0.999 * v
    mean, square = m / (1 - 0.9**step), v / (1 - 0.999**step)
    e = (1 - lr * decay) * e - lr * mean / (np.sqrt(square) + 1e-8)
pass
"""),
    ("7.4", "the mean over rows", "is the shape", """
for step in range(k + 1, k + idle + 1):
    m, v = 0.9 * m, 0.999 * v
    mean, square = m / (1 - 0.9**step), v / (1 - 0.999**step)
    e = (1 - lr * decay) * e - lr * mean / (np.sqrt(square) + 1e-8)
return e.mean(axis=-1)
"""),
    ("7.4", "not begun", "not done yet", """
raise NotImplementedError
"""),
]

HIDDEN = [
    ("7.2", "two axes in front at most", "of shape (2, 1, 3, 4)", """
if ids.ndim > 3:
    ids, dX = ids[0], dX[0]
dE = np.zeros((n_vocab, dX.shape[-1]))
np.add.at(dE, ids, dX)
return dE
"""),
    ("7.4", "epsilon in the root", "is it PyTorch's", """
for step in range(k + 1, k + idle + 1):
    m, v = 0.9 * m, 0.999 * v
    mean, square = m / (1 - 0.9**step), v / (1 - 0.999**step)
    e = (1 - lr * decay) * e - lr * mean / np.sqrt(square + 1e-16)
return e
"""),
]

SMALL = [2, 3, 4, 5, 6, 7, 8, 9]
VARIANTS = {
    "7.3": {
        "asks": "formula",
        "one of": {"c": SMALL, "e": [0.2, 0.3, 0.4, 0.5]},
        "says": """The model divides each logit by {c}; numbers 2 to 5 are about
            the logits after that. Number 4 asks for a difference of {e}.""",
        "edits": [("s = std * math.sqrt(d_model)",
                   "s = std * math.sqrt(d_model) / {c}"),
                  ("math.sqrt(2 * 0.1 / d_model),",
                   "{c} * math.sqrt(2 * {e} / d_model),"),
                  ("std * d_model)", "std * d_model / {c})"),
                  ("std for 0.1;", "std for {e};")]},
    "7.4": {
        "asks": "number",
        "one of": {"b": [0.5, 0.6, 0.7, 0.8, 0.85, 0.95],
                   "q": [0.9, 0.95, 0.98, 0.99, 0.995]},
        "says": """$\\beta_1 = {b}$ and $\\beta_2 = {q}$, and the weight decay
            acts on the row after the step, not before it: the new row is $(1 -
            \\eta \\lambda)$ times the row that (7.6) gives without decay.""",
        "edits": [("m, v = 0.9 * m, 0.999 * v ", "m, v = {b} * m, {q} * v "),
                  ("m / (1 - 0.9**step), v / (1 - 0.999**step)",
                   "m / (1 - {b}**step), v / (1 - {q}**step)"),
                  ("(1 - lr * decay) * e - lr * mean / (np.sqrt(square) +"
                   " 1e-8)", "(1 - lr * decay) * (e - lr * mean / ("
                   "np.sqrt(square) + 1e-8))")]},
}
