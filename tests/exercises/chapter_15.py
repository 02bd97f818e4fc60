"""Answers to the exercises of chapter 15: the lines between the solution marks.

RIGHT   exercise, how it is written, body
WRONG   exercise, the mistake, words that the check must print, body
HIDDEN  exercise, the mistake, words that only the grade says, body
DOMAIN  exercise: a function that draws arguments as its statement allows them
PRECISE exercise: the students' kinds (battery.py) that it refuses, and why
VARIANTS exercise: what a homework sheet changes (tools/homework/variants.py)
"""

import numpy as np


def draw_15_1(rng):
    """Layers, query heads, key heads that divide them, width, free bytes."""
    n_layers, h_kv, group, d_k = rng.integers(1, 40, size=4).tolist()
    return n_layers, h_kv * group, h_kv, d_k, int(10 ** rng.uniform(0, 12))


def draw_15_2(rng):
    *front, n_vocab = rng.permutation(range(1, 12))[:rng.integers(1, 5)]
    if rng.random() < 0.2:                          # ties, and p at a border
        n_vocab = 2 ** rng.integers(1, 4)
        value = 10 ** rng.uniform(-3, 3) * rng.normal(size=(*front, 1))
        return (np.repeat(value, n_vocab, axis=-1),
                rng.integers(1, n_vocab) / n_vocab)
    size = 10 ** rng.uniform(-4, 3, size=(*front, 1))
    return (size * rng.normal(size=(*front, n_vocab)), rng.uniform(0.01, 0.99))


def divisor(h, rng):
    """A number that divides h, or, once in five, any number."""
    if rng.random() < 0.2:
        return int(rng.integers(1, 2 * h))
    return int(rng.choice([i for i in range(1, h + 1) if h % i == 0]))


def draw_15_3(rng):
    h, d_model, d_k = rng.integers(1, 13), *rng.integers(1, 8, size=2)
    W = rng.normal(size=(h, d_model, d_k)) * 10 ** rng.uniform(-6, 3)
    return W, divisor(h, rng)


def draw_15_4(rng):
    shape = (*rng.integers(1, 5, size=rng.integers(0, 4)),
             *rng.integers(1, 7, size=2))
    Y = rng.normal(size=(2, *shape)) * 10 ** rng.uniform(
        -5, 3, size=(*shape[:-1], 1))
    lse = 10 ** rng.uniform(-5, 3) * rng.uniform(-1, 1, size=(2, *shape[:-1]))
    nothing = rng.random(shape[:-1]) < 0.2          # one part saw nothing
    part = rng.integers(2)
    Y[part, nothing], lse[part, nothing] = 0, -np.inf
    return Y[0], lse[0], Y[1], lse[1]


DOMAIN = {"15.1": draw_15_1, "15.2": draw_15_2, "15.3": draw_15_3,
          "15.4": draw_15_4}
PRECISE = {}

TOP_P = """
order = np.argsort(-logits)
shares = np.take_along_axis(softmax(logits), order, axis=-1)
before = shares.cumsum(axis=-1) - shares
keep = np.zeros(logits.shape, dtype=bool)
np.put_along_axis(keep, order, before < p, axis=-1)
return np.where(keep, logits, -np.inf)
"""

RIGHT = [
    ("15.1", "in floats of whole numbers", """
token = 4 * n_layers * h_kv * d_k
return np.array([token, free // token, h // h_kv,
                 free // (token // (2 * h_kv))])
"""),
    ("15.1", "as a list", """
per_head = 2 * d_k * n_layers
return [2 * per_head * h_kv, free // (2 * per_head * h_kv), h // h_kv,
        free // per_head]
"""),
    ("15.2", "row by row", """
result = np.full(logits.shape, -np.inf)
for index in np.ndindex(logits.shape[:-1]):
    shares, total = softmax(logits[index]), 0.0
    for word in np.argsort(-shares):
        result[index][word] = logits[index][word]
        total += shares[word]
        if total >= p:
            break
return result
"""),
    ("15.2", "by torch", """
sorted_logits, order = torch.sort(torch.tensor(logits), descending=True)
shares = sorted_logits.softmax(-1)
late = shares.cumsum(-1) - shares >= p
back = torch.zeros_like(late).scatter(-1, order, late)
return torch.tensor(logits).masked_fill(back, -math.inf).numpy()
"""),
    ("15.2", "by how many stay", """
shares = softmax(logits)
ranked = np.sort(shares)[..., ::-1]
stay = (ranked.cumsum(axis=-1) - ranked < p).sum(axis=-1, keepdims=True)
place = np.argsort(np.argsort(-shares))
return np.where(place < stay, logits, -np.inf)
"""),
    ("15.3", "by split", """
pooled = np.empty((h_kv, *W.shape[1:]))
for j, part in enumerate(np.split(W, h_kv)):
    pooled[j] = part.mean(axis=0)
return pooled
"""),
    ("15.3", "head by head", """
group, rest = divmod(len(W), h_kv)
if rest:
    raise ValueError("groups of equal size only")
pooled = np.zeros((h_kv, *W.shape[1:]))
for i, head in enumerate(W):
    pooled[i // group] += head / group
return pooled
"""),
    ("15.3", "by einsum and torch", """
if len(W) % h_kv:
    raise ValueError
groups = torch.as_tensor(W).unflatten(0, (h_kv, -1))
return torch.einsum("jgdk->jdk", groups) / groups.shape[1]
"""),
    ("15.4", "by the larger of the two", """
top = np.maximum(lse_1, lse_2)
w_1, w_2 = np.exp(lse_1 - top), np.exp(lse_2 - top)
Y = w_1[..., None] * Y_1 + w_2[..., None] * Y_2
return Y / (w_1 + w_2)[..., None], top + np.log(w_1 + w_2)
"""),
    ("15.4", "by torch", """
Y_1, lse_1, Y_2, lse_2 = map(torch.as_tensor, (Y_1, lse_1, Y_2, lse_2))
both = torch.stack([lse_1, lse_2])
share = both.softmax(dim=0)[..., None]
return share[0] * Y_1 + share[1] * Y_2, both.logsumexp(dim=0)
"""),
    ("15.4", "softmax of the pair, by einsum", """
both = np.stack([lse_1, lse_2], axis=-1)
share = softmax(both)
Y = np.einsum("...np,p...nv->...nv", share, np.stack([Y_1, Y_2]))
top = both.max(axis=-1)
return [Y, top + np.log(np.exp(both - top[..., None]).sum(axis=-1))]
"""),
]

WRONG = [
    ("15.1", "not begun", "15.1 not done yet", "raise NotImplementedError"),
    ("15.1", "nothing returned", "return its result", "token = 2"),
    ("15.1", "three numbers", "four integers", "return 1, 2, 3"),
    ("15.1", "keys alone", "a key and a value", """
token = 2 * n_layers * h_kv * d_k
return token, free // token, h // h_kv, free // (2 * n_layers * d_k)
"""),
    ("15.1", "numbers, not bytes", "2 bytes for a number", """
token = 2 * n_layers * h_kv * d_k
return token, free // token, h // h_kv, free // (2 * n_layers * d_k)
"""),
    ("15.1", "query heads", "each query head", """
token = 4 * n_layers * h * d_k
return token, free // token, h // h_kv, free // (2 * n_layers * d_k)
"""),
    ("15.1", "float32", "float16", """
token = 8 * n_layers * h_kv * d_k
return token, free // token, h // h_kv, free // (2 * n_layers * d_k)
"""),
    ("15.1", "one layer", "which factors", """
token = 4 * h_kv * d_k
return token, free // token, h // h_kv, free // (2 * n_layers * d_k)
"""),
    ("15.1", "a part of a token", "does not count", """
token = 4 * n_layers * h_kv * d_k
return token, free / token, h // h_kv, free // (2 * n_layers * d_k)
"""),
    ("15.1", "rounded up", "does the last token still fit", """
token = 4 * n_layers * h_kv * d_k
return token, -(-free // token), h // h_kv, free // (2 * n_layers * d_k)
"""),
    ("15.1", "tokens of a layer", "free bytes over bytes", """
token = 4 * n_layers * h_kv * d_k
return token, free // (token // n_layers), h // h_kv, free // (
    2 * n_layers * d_k)
"""),
    ("15.1", "no sharing", "how many queries", """
token = 4 * n_layers * h_kv * d_k
return token, free // token, 1, free // (2 * n_layers * d_k)
"""),
    ("15.1", "FLOPs of a number", "how many bytes", """
token = 4 * n_layers * h_kv * d_k
return token, free // token, 2 * h // h_kv, free // (2 * n_layers * d_k)
"""),
    ("15.1", "the batch of heads", "FLOPs and bytes of one", """
token = 4 * n_layers * h_kv * d_k
return token, free // token, h, free // (2 * n_layers * d_k)
"""),
    ("15.1", "two bytes still", "one byte for each", """
token = 4 * n_layers * h_kv * d_k
return token, free // token, h // h_kv, free // (4 * n_layers * d_k)
"""),
    ("15.1", "no value head", "one key head, one value head", """
token = 4 * n_layers * h_kv * d_k
return token, free // token, h // h_kv, free // (n_layers * d_k)
"""),
    ("15.2", "not begun", "15.2 not done yet", "raise NotImplementedError"),
    ("15.2", "nothing returned", "return its result",
     TOP_P.replace("return ", "")),
    ("15.2", "in place", "input unchanged", TOP_P.replace(
        "return np.where(keep, logits, -np.inf)",
        "logits[~keep] = -np.inf\nreturn logits")),
    ("15.2", "zeros instead", "is a logit like others",
     TOP_P.replace("-np.inf)", "0.0)")),
    ("15.2", "a large negative number", "forbidden logit -inf",
     TOP_P.replace("-np.inf)", "-1e9)")),
    ("15.2", "nan instead", "forbidden logit -inf",
     TOP_P.replace("-np.inf)", "np.nan)")),
    ("15.2", "plus infinity", "forbidden logit -inf",
     TOP_P.replace("-np.inf)", "np.inf)")),
    ("15.2", "log-shares instead of logits", "as and where they are",
     TOP_P.replace("where(keep, logits",
                   "where(keep, np.log(softmax(logits))")),
    ("15.2", "the word that crosses p goes", "two words",
     TOP_P.replace("before < p", "before + shares <= p")),
    ("15.2", "the favourite may go", "however small p is", TOP_P.replace(
        "before < p", "(before < p) & (shares[..., :1] < p)")),
    ("15.2", "one word more", "two words", TOP_P.replace(
        "before < p", "before - 0.31 < p")),
    ("15.2", "the rare words", "most probable words stay",
     TOP_P.replace("argsort(-logits", "argsort(logits")),
    ("15.2", "in sorted order", "as and where they are", """
ranked = -np.sort(-logits, axis=-1)
shares = softmax(ranked)
return np.where(shares.cumsum(axis=-1) - shares < p, ranked, -np.inf)
"""),
    ("15.2", "shares instead of logits", "as and where they are",
     TOP_P.replace("where(keep, logits", "where(keep, softmax(logits)")),
    ("15.2", "each share against p", "crosses p stay", """
return np.where(softmax(logits) >= p, logits, -np.inf)
"""),
    ("15.2", "exponentials that were not divided", "softmax of the logits",
     TOP_P.replace("softmax(logits)", "np.exp(logits)")),
    ("15.2", "one border for all rows", "cut for itself", """
flat = logits.ravel()
order = np.argsort(-flat)
shares = softmax(flat)[order]
keep = np.zeros(flat.shape, dtype=bool)
keep[order] = shares.cumsum() - shares < p
return np.where(keep, flat, -np.inf).reshape(logits.shape)
"""),
    ("15.2", "one row only", "it stops", """
order, shares = np.argsort(-logits), np.sort(softmax(logits))[::-1]
keep = order[: int((shares.cumsum() - shares < p).sum())]
result = np.full(logits.shape, -np.inf)
result[keep] = logits[keep]
return result
"""),
    ("15.2", "two axes only", "it stops with", TOP_P.replace(
        "order = ", "rows, n_vocab = np.atleast_2d(logits).shape\norder = ")),
    ("15.2", "all equals at the border", "do two stay", """
shares = softmax(logits)
ranked = np.sort(shares)[..., ::-1]
last = (ranked.cumsum(axis=-1) - ranked < p).sum(axis=-1, keepdims=True) - 1
return np.where(shares >= np.take_along_axis(ranked, last, -1), logits, -np.inf)
"""),
    ("15.2", "one word more at the border", "do two stay",
     TOP_P.replace("before < p", "before <= p")),
    ("15.3", "strided groups", "Which queries read key head 0", """
return W.reshape(-1, h_kv, *W.shape[1:]).mean(axis=0)
"""),
    ("15.3", "summed", "that very head", """
return W.reshape(h_kv, -1, *W.shape[1:]).sum(axis=1)
"""),
    ("15.3", "the first of each group", "does every head of a group count", """
if len(W) % h_kv:
    raise ValueError
return W[:: len(W) // h_kv]
"""),
    ("15.3", "the mean of all", "one group only", """
return np.repeat(W.mean(axis=0, keepdims=True), h_kv, axis=0)
"""),
    ("15.3", "h_kv heads in a group", "is the shape (2, 5, 4)", """
return W.reshape(-1, h_kv, *W.shape[1:]).mean(axis=1)
"""),
    ("15.3", "repeated again", "is the shape (2, 5, 4)", """
pooled = W.reshape(h_kv, -1, *W.shape[1:]).mean(axis=1)
return np.repeat(pooled, len(W) // h_kv, axis=0)
"""),
    ("15.3", "unequal shares", "does each head of a group count the same", """
pooled = W.reshape(h_kv, -1, *W.shape[1:]).mean(axis=1)
return pooled + W[::3] - W[1::3]
"""),
    ("15.3", "a running mean", "does each head of a group count the same", """
pooled = []
for part in np.split(W, h_kv):
    mean = part[0]
    for head in part[1:]:
        mean = (mean + head) / 2
    pooled.append(mean)
return np.stack(pooled)
"""),
    ("15.3", "the rest dropped", "refused with a ValueError", """
group = len(W) // h_kv
return np.stack([W[j * group : (j + 1) * group].mean(axis=0)
                 for j in range(h_kv)])
"""),
    ("15.3", "medians", "count the same", """
return np.median(W.reshape(h_kv, -1, *W.shape[1:]), axis=1)
"""),
    ("15.3", "groups backwards", "Which queries read key head 0", """
return W.reshape(h_kv, -1, *W.shape[1:]).mean(axis=1)[::-1]
"""),
    ("15.3", "one head in two groups", "one group only", """
group = len(W) // h_kv
return np.stack([W[max(0, j * group - 1) : (j + 1) * group].mean(axis=0)
                 for j in range(h_kv)])
"""),
    ("15.3", "in place", "does W stay as it was", """
if len(W) % h_kv:
    raise ValueError
group = len(W) // h_kv
for i in range(1, group):
    W[::group] += W[i::group]
W[::group] /= group
return W[::group].copy()
"""),
    ("15.3", "groups of three", "are 10 heads, h_kv = 5, right", """
if len(W) % h_kv:
    raise ValueError
return np.stack([W[j : j + 3].mean(axis=0) for j in range(0, len(W), 3)])
"""),
    ("15.3", "two groups", "are 10 heads, h_kv = 5, right", """
return W.reshape(2, -1, *W.shape[1:]).mean(axis=1)
"""),
    ("15.3", "nothing returned", "return its result", """
W.reshape(h_kv, -1, *W.shape[1:]).mean(axis=1)
"""),
    ("15.3", "not begun", "not done yet", """
raise NotImplementedError
"""),
    ("15.4", "only part 2 may have seen nothing", "part 1 saw nothing", """
w_2 = np.exp(lse_2 - lse_1)
Y = (Y_1 + w_2[..., None] * Y_2) / (1 + w_2)[..., None]
return Y, lse_1 + np.log(1 + w_2)
"""),
    ("15.4", "one more axis is not foreseen", "shapes clash", """
lse = np.logaddexp(lse_1, lse_2)
w = np.exp(lse_1 - lse).reshape(-1, 1)
return w * Y_1 + (1 - w) * Y_2, lse
"""),
    ("15.4", "in place", "stay as they were", """
lse = np.logaddexp(lse_1, lse_2)
Y_1 *= np.exp(lse_1 - lse)[..., None]
Y_1 += np.exp(lse_2 - lse)[..., None] * Y_2
return Y_1, lse
"""),
    ("15.4", "the shift changes lse_1", "stay as they were", """
top = np.maximum(lse_1, lse_2)
lse_1 -= top
w_1, w_2 = np.exp(lse_1), np.exp(lse_2 - top)
Y = w_1[..., None] * Y_1 + w_2[..., None] * Y_2
return Y / (w_1 + w_2)[..., None], top + np.log(w_1 + w_2)
"""),
    ("15.4", "one axis in front", "shape (3, 1, 4, 2)", """
lse = np.logaddexp(lse_1, lse_2)
w = np.exp(lse_1 - lse)[..., None]
if Y_1.ndim > 3:
    w = w[:1]
return w * Y_1 + (1 - w) * Y_2, lse
"""),
    ("15.4", "not begun", "not done yet", "raise NotImplementedError"),
    ("15.4", "nothing returned", "return its result",
     "lse = np.logaddexp(lse_1, lse_2)"),
    ("15.4", "the answer alone", "two things", """
lse = np.logaddexp(lse_1, lse_2)
w = np.exp(lse_1 - lse)[..., None]
return (w * Y_1 + (1 - w) * Y_2)[..., None]
"""),
    ("15.4", "the mean", "three quarters",
     "return (Y_1 + Y_2) / 2, np.logaddexp(lse_1, lse_2)"),
    ("15.4", "by lse, not by its exponential", "three quarters", """
w = (lse_1 / (lse_1 + lse_2))[..., None]
return w * Y_1 + (1 - w) * Y_2, np.logaddexp(lse_1, lse_2)
"""),
    ("15.4", "the other way round", "who has more", """
lse = np.logaddexp(lse_1, lse_2)
w = np.exp(lse_1 - lse)[..., None]
return w * Y_2 + (1 - w) * Y_1, lse
"""),
    ("15.4", "answers added", "their mean",
     "return Y_1 + Y_2, np.logaddexp(lse_1, lse_2)"),
    ("15.4", "no shift", "What does exp do", """
w_1, w_2 = np.exp(lse_1), np.exp(lse_2)
Y = w_1[..., None] * Y_1 + w_2[..., None] * Y_2
return Y / (w_1 + w_2)[..., None], np.log(w_1 + w_2)
"""),
    ("15.4", "no shift in lse", "lse right", """
w_1 = 1 / (1 + np.exp(lse_2 - lse_1))[..., None]
return w_1 * Y_1 + (1 - w_1) * Y_2, np.log(np.exp(lse_1) + np.exp(lse_2))
"""),
    ("15.4", "lse added", "ln 2", """
w_1 = 1 / (1 + np.exp(lse_2 - lse_1))[..., None]
return w_1 * Y_1 + (1 - w_1) * Y_2, lse_1 + lse_2
"""),
    ("15.4", "the larger lse", "ln 2", """
w_1 = 1 / (1 + np.exp(lse_2 - lse_1))[..., None]
return w_1 * Y_1 + (1 - w_1) * Y_2, np.maximum(lse_1, lse_2)
"""),
    ("15.4", "no axis for the values", "shapes clash", """
lse = np.logaddexp(lse_1, lse_2)
return np.exp(lse_1 - lse) * Y_1 + np.exp(lse_2 - lse) * Y_2, lse
"""),
]

HIDDEN = [
    ("15.1", "free bytes in a float", "is it right for", """
token = 4 * n_layers * h_kv * d_k
whole = int(np.ceil(np.float64(free + 1) / token)) - 1
fits = whole if free < 10**14 else int(np.float32(free)) // token
return token, fits, h // h_kv, free // (2 * n_layers * d_k)
"""),
    ("15.2", "the kept logits clipped", "logits of size 600", TOP_P.replace(
        "np.where(keep, logits", "np.where(keep, logits.clip(-50, 50)")),
    ("15.3", "more groups than heads", "24 groups", """
if len(W) % h_kv and h_kv < len(W):
    raise ValueError
group = max(1, len(W) // h_kv)
return np.stack([W[i : i + group].mean(axis=0)
                 for i in range(0, len(W), group)])
"""),
    ("15.4", "one shift for all queries", "size 1000", """
top = np.max([lse_1, lse_2])
w_1, w_2 = np.exp(lse_1 - top), np.exp(lse_2 - top)
Y = w_1[..., None] * Y_1 + w_2[..., None] * Y_2
return Y / (w_1 + w_2)[..., None], top + np.log(w_1 + w_2)
"""),
]

VARIANTS = {
    "15.1": {
        "asks": "formula",
        "one of": {"k": [1, 4], "v": [2, 8]},
        "says": """Each number of a key has {k} bytes in the cache, each of a
            value {v}. Number 3 may be a fraction. Number 4 stays: one key
            head, one byte for each number.""",
        "edits": [("token = 2 * n_layers * h_kv * d_k * 2           # (15.2)"
                   " with n = 1, b = 2",
                   "token = n_layers * h_kv * d_k * ({k} + {v})"),
                  ("h // h_kv,", "4 * h / h_kv / ({k} + {v}),"),
                  ("of a KV cache in float16.", "of a KV cache.")]},
    "15.4": {
        "asks": "formula",
        "one of": {"b": [2, 3, 5, 10]},
        "says": """Each `lse`, those given and the one returned, is a logarithm
            to the base {b}: $\\log_{{{b}}} \\sum_j e^{{s_j}}$.""",
        "edits": [("lse = np.logaddexp(lse_1, lse_2)                #"
                   " (..., n)",
                   """base = math.log({b})
    lse_1, lse_2 = base * lse_1, base * lse_2
    lse = np.logaddexp(lse_1, lse_2)"""),
                  ("* Y_2, lse", "* Y_2, lse / base")]},
}
