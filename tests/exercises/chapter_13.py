"""Answers to the exercises of chapter 13: the lines between the solution marks.

RIGHT   exercise, how it is written, body
WRONG   exercise, the mistake, words that the check must print, body
HIDDEN  exercise, the mistake, words that only the grade says, body
DOMAIN  exercise: a function that draws arguments as its statement allows them
PRECISE exercise: the students' kinds (battery.py) that it refuses, and why
"""

import numpy as np


def draw_13_1(rng):
    B, n, n_vocab = rng.permutation(range(2, 10))[:3]
    B = rng.choice([1, B])
    logits = 10 ** rng.uniform(-4, 3.2) * rng.normal(size=(B, n, n_vocab))
    first, last = np.sort(rng.integers(n + 1, size=(B, 2))).T[..., None]
    first[0], last[0] = 0, n
    real = (np.arange(n) >= first) & (np.arange(n) < last)
    return logits, rng.integers(n_vocab, size=(B, n)), real


def draw_13_2(rng):
    *front, n_vocab = rng.permutation(range(1, 12))[:rng.integers(1, 5)]
    if rng.random() < 0.2:                          # ties, and p at a border
        n_vocab = 2 ** rng.integers(1, 4)
        value = 10 ** rng.uniform(-3, 3) * rng.normal(size=(*front, 1))
        return (np.repeat(value, n_vocab, axis=-1),
                rng.integers(1, n_vocab) / n_vocab)
    size = 10 ** rng.uniform(-4, 3, size=(*front, 1))
    return (size * rng.normal(size=(*front, n_vocab)), rng.uniform(0.01, 0.99))


def draw_13_3(rng):
    h_kv, share, d_k, n_layers, d_ff, n_vocab = rng.integers(1, 60, 6).tolist()
    h = h_kv * share
    return n_vocab, h * d_k, n_layers, h, h_kv, d_ff


def draw_13_6(rng):
    n, d_model, h, d_k, d_v, d_ff, *front = rng.permutation(
        range(1, 10))[:rng.integers(6, 9)]
    shapes = {"norm": [(d_model,), (d_model,)],
              "attention": [(h, d_model, d_k), (h, d_model, d_k),
                            (h, d_model, d_v), (h, d_v, d_model)],
              "ffn": [(d_model, d_ff), (d_ff,), (d_ff, d_model), (d_model,)]}
    layer = {part: tuple(10 ** rng.uniform(-4, 2) * rng.normal(size=shape)
                         for shape in given) for part, given in shapes.items()}
    X = 10 ** rng.uniform(-4, 3) * rng.normal(size=(*front, n, d_model))
    mask = (rng.random((n, n)) < 0.5) | np.eye(n, dtype=bool)
    return X, layer, mask


DOMAIN = {"13.1": draw_13_1, "13.2": draw_13_2, "13.3": draw_13_3,
          "13.6": draw_13_6}
PRECISE = {}

LOSS = """
log_p = log_softmax(logits[:, :-1])
targets = ids[:, 1:, None]
losses = -np.take_along_axis(log_p, targets, axis=-1)[..., 0]
return losses[real[:, 1:]].mean()
"""
TOP_P = """
order = np.argsort(-logits)
shares = np.take_along_axis(softmax(logits), order, axis=-1)
before = shares.cumsum(axis=-1) - shares
keep = np.zeros(logits.shape, dtype=bool)
np.put_along_axis(keep, order, before < p, axis=-1)
return np.where(keep, logits, -np.inf)
"""
LLAMA = """
d_k = d_model // h
attention = 2 * d_model * h * d_k + 2 * d_model * h_kv * d_k
layer = attention + 3 * d_model * d_ff + 2 * d_model
return 2 * n_vocab * d_model + n_layers * layer + d_model
"""
PARALLEL = """
Z = layer_norm(X, *layer["norm"])
return (X + multi_head_attention(Z, *layer["attention"], mask)
        + feed_forward(Z, *layer["ffn"], relu))
"""

RIGHT = [
    ("13.1", "by loops", """
total, n = 0.0, 0
for b in range(ids.shape[0]):
    for t in range(ids.shape[1] - 1):
        if real[b, t + 1]:
            row = logits[b, t] - logits[b, t].max()
            total += np.log(np.exp(row).sum()) - row[ids[b, t + 1]]
            n += 1
return total / n
"""),
    ("13.1", "by torch, filling as -100", """
targets = torch.tensor(np.where(real, ids, -100)[:, 1:])
return F.cross_entropy(torch.tensor(logits[:, :-1]).mT, targets).item()
"""),
    ("13.1", "weights instead of an index", """
log_p = log_softmax(logits[:, :-1])
one_hot = np.eye(logits.shape[-1])[ids[:, 1:]]
count = real[:, 1:]
return -(log_p * one_hot).sum(-1).ravel() @ count.ravel() / count.sum()
"""),
    ("13.2", "row by row", """
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
    ("13.2", "by torch", """
sorted_logits, order = torch.sort(torch.tensor(logits), descending=True)
shares = sorted_logits.softmax(-1)
late = shares.cumsum(-1) - shares >= p
back = torch.zeros_like(late).scatter(-1, order, late)
return torch.tensor(logits).masked_fill(back, -math.inf).numpy()
"""),
    ("13.2", "by how many stay", """
shares = softmax(logits)
ranked = np.sort(shares)[..., ::-1]
stay = (ranked.cumsum(axis=-1) - ranked < p).sum(axis=-1, keepdims=True)
place = np.argsort(np.argsort(-shares))
return np.where(place < stay, logits, -np.inf)
"""),
    ("13.3", "by shapes", """
d_k = d_model // h
shapes = [(d_model, h * d_k), (h * d_k, d_model), (d_model, h_kv * d_k),
          (d_model, h_kv * d_k), (d_model, d_ff), (d_model, d_ff),
          (d_ff, d_model), (d_model,), (d_model,)]
layer = sum(math.prod(shape) for shape in shapes)
return n_layers * layer + 2 * n_vocab * d_model + d_model
"""),
    ("13.3", "in units of the width", """
per_layer = 2 * d_model + 2 * d_model * h_kv // h + 3 * d_ff + 2
return d_model * (2 * n_vocab + n_layers * per_layer + 1)
"""),
    ("13.6", "step by step", """
gain, bias = layer["norm"]
Z = layer_norm(X, gain, bias)
looked = multi_head_attention(Z, *layer["attention"], mask=mask)
W_1, b_1, W_2, b_2 = layer["ffn"]
thought = np.maximum(Z @ W_1 + b_1, 0) @ W_2 + b_2
return X + looked + thought
"""),
    ("13.6", "head by head", """
Z = layer_norm(X, *layer["norm"])
Y = X + feed_forward(Z, *layer["ffn"], relu)
for W_Q, W_K, W_V, W_O in zip(*layer["attention"]):
    Y = Y + attention(Z @ W_Q, Z @ W_K, Z @ W_V, mask) @ W_O
return Y
"""),
]

WRONG = [
    ("13.1", "not begun", "13.1 not done yet", "raise NotImplementedError"),
    ("13.1", "nothing returned", "return its result",
     LOSS.replace("return ", "")),
    ("13.1", "a loss per token", "one number", LOSS.replace(".mean()", "")),
    ("13.1", "no minus", "minus sign", LOSS.replace("= -np", "= np")),
    ("13.1", "bits instead of nats", "in nats",
     LOSS.replace("].mean()", "].mean() / math.log(2)")),
    ("13.1", "a sum", "mean loss", LOSS.replace("].mean()", "].sum()")),
    ("13.1", "targets not shifted", "at t + 1", """
log_p = log_softmax(logits)
losses = -np.take_along_axis(log_p, ids[..., None], axis=-1)[..., 0]
return losses[real].mean()
"""),
    ("13.1", "shifted the wrong way", "at t + 1", """
log_p = log_softmax(logits[:, 1:])
losses = -np.take_along_axis(log_p, ids[:, :-1, None], axis=-1)[..., 0]
return losses[real[:, 1:]].mean()
"""),
    ("13.1", "softmax over the positions", "ln 5",
     LOSS.replace("log_softmax(logits[:, :-1])",
                  "log_softmax(logits[:, :-1].swapaxes(1, 2)).swapaxes(1, 2)")),
    ("13.1", "filling counts", "does filling count",
     LOSS.replace("losses[real[:, 1:]]", "losses")),
    ("13.1", "the mask of the inputs", "does filling count",
     LOSS.replace("real[:, 1:]", "real[:, :-1]")),
    ("13.1", "filling counts as 0", "over all predictions of text",
     LOSS.replace("losses[real[:, 1:]]", "(losses * real[:, 1:])")),
    ("13.1", "a mean of means", "each counted once", """
log_p = log_softmax(logits[:, :-1])
losses = -np.take_along_axis(log_p, ids[:, 1:, None], axis=-1)[..., 0]
count = real[:, 1:]
return ((losses * count).sum(axis=1) / count.sum(axis=1)).mean()
"""),
    ("13.1", "the logarithm of the mean share", "mean of the losses", """
p = np.take_along_axis(softmax(logits[:, :-1]), ids[:, 1:, None], axis=-1)
return -np.log(p[..., 0][real[:, 1:]].mean())
"""),
    ("13.1", "the last targets wrap around", "at t + 1", """
log_p, targets = log_softmax(logits), np.roll(ids, -1, axis=1)
losses = -np.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0]
return losses[np.roll(real, -1, axis=1)].mean()
"""),
    ("13.1", "from probabilities", "logits of 1000", """
p = softmax(logits[:, :-1])
p = np.take_along_axis(p, ids[:, 1:, None], axis=-1)[..., 0]
return -np.log(p + 1e-12)[real[:, 1:]].mean()
"""),
    ("13.1", "filling marked in ids", "stay as they were", """
ids[~real] = -100
return F.cross_entropy(torch.tensor(logits[:, :-1]).mT,
                       torch.tensor(ids[:, 1:])).item()
"""),
    ("13.1", "logits shifted in place", "stay as they were", """
logits -= logits.max(axis=-1, keepdims=True)
""" + LOSS),
    ("13.2", "not begun", "13.2 not done yet", "raise NotImplementedError"),
    ("13.2", "nothing returned", "return its result",
     TOP_P.replace("return ", "")),
    ("13.2", "in place", "input unchanged", TOP_P.replace(
        "return np.where(keep, logits, -np.inf)",
        "logits[~keep] = -np.inf\nreturn logits")),
    ("13.2", "zeros instead", "is a logit like others",
     TOP_P.replace("-np.inf)", "0.0)")),
    ("13.2", "a large negative number", "forbidden logit -inf",
     TOP_P.replace("-np.inf)", "-1e9)")),
    ("13.2", "nan instead", "forbidden logit -inf",
     TOP_P.replace("-np.inf)", "np.nan)")),
    ("13.2", "plus infinity", "forbidden logit -inf",
     TOP_P.replace("-np.inf)", "np.inf)")),
    ("13.2", "log-shares instead of logits", "as and where they are",
     TOP_P.replace("where(keep, logits", "where(keep, log_softmax(logits)")),
    ("13.2", "the word that crosses p goes", "two words",
     TOP_P.replace("before < p", "before + shares <= p")),
    ("13.2", "the favourite may go", "however small p is", TOP_P.replace(
        "before < p", "(before < p) & (shares[..., :1] < p)")),
    ("13.2", "one word more", "two words", TOP_P.replace(
        "before < p", "before - 0.31 < p")),
    ("13.2", "the rare words", "most probable words stay",
     TOP_P.replace("argsort(-logits", "argsort(logits")),
    ("13.2", "in sorted order", "as and where they are", """
ranked = -np.sort(-logits, axis=-1)
shares = softmax(ranked)
return np.where(shares.cumsum(axis=-1) - shares < p, ranked, -np.inf)
"""),
    ("13.2", "shares instead of logits", "as and where they are",
     TOP_P.replace("where(keep, logits", "where(keep, softmax(logits)")),
    ("13.2", "each share against p", "crosses p stay", """
return np.where(softmax(logits) >= p, logits, -np.inf)
"""),
    ("13.2", "exponentials that were not divided", "softmax of the logits",
     TOP_P.replace("softmax(logits)", "np.exp(logits)")),
    ("13.2", "one border for all rows", "cut for itself", """
flat = logits.ravel()
order = np.argsort(-flat)
shares = softmax(flat)[order]
keep = np.zeros(flat.shape, dtype=bool)
keep[order] = shares.cumsum() - shares < p
return np.where(keep, flat, -np.inf).reshape(logits.shape)
"""),
    ("13.2", "one row only", "it stops", """
order, shares = np.argsort(-logits), np.sort(softmax(logits))[::-1]
keep = order[: int((shares.cumsum() - shares < p).sum())]
result = np.full(logits.shape, -np.inf)
result[keep] = logits[keep]
return result
"""),
    ("13.2", "two axes only", "it stops with", TOP_P.replace(
        "order = ", "rows, n_vocab = np.atleast_2d(logits).shape\norder = ")),
    ("13.2", "all equals at the border", "do two stay", """
shares = softmax(logits)
ranked = np.sort(shares)[..., ::-1]
last = (ranked.cumsum(axis=-1) - ranked < p).sum(axis=-1, keepdims=True) - 1
return np.where(shares >= np.take_along_axis(ranked, last, -1), logits, -np.inf)
"""),
    ("13.2", "one word more at the border", "do two stay",
     TOP_P.replace("before < p", "before <= p")),
    ("13.3", "not begun", "13.3 not done yet", "raise NotImplementedError"),
    ("13.3", "nothing returned", "return its result",
     LLAMA.replace("return ", "")),
    ("13.3", "tied", "one at the exit",
     LLAMA.replace("2 * n_vocab", "n_vocab")),
    ("13.3", "no gate", "three matrices", LLAMA.replace("3 *", "2 *")),
    ("13.3", "as many key heads as heads", "one more key head",
     LLAMA.replace("h_kv * d_k", "h * d_k")),
    ("13.3", "keys shared, values not", "one more key head", LLAMA.replace(
        "2 * d_model * h * d_k + 2 * d_model * h_kv * d_k",
        "3 * d_model * h * d_k + d_model * h_kv * d_k")),
    ("13.3", "layers that share", "three matrices in each layer",
     LLAMA.replace("n_layers * layer", "layer")),
    ("13.3", "biases in the norms", "two gains, no bias",
     LLAMA.replace("+ 2 * d_model\n", "+ 4 * d_model\n")),
    ("13.3", "biases in the attention", "two gains, no bias",
     LLAMA.replace("d_ff + 2", "d_ff + 4 * d_model + 2")),
    ("13.3", "one norm a layer", "two gains, no bias",
     LLAMA.replace("+ 2 * d_model\n", "+ d_model\n")),
    ("13.3", "no last norm", "after the last layer",
     LLAMA.replace("layer + d_model", "layer")),
    ("13.3", "positions of 4096", "after the last layer",
     LLAMA.replace("layer + d_model", "layer + 4097 * d_model")),
    ("13.6", "not begun", "13.6 not done yet", "raise NotImplementedError"),
    ("13.6", "nothing returned", "return its result",
     PARALLEL.replace("return (", "(")),
    ("13.6", "no residual", "pass untouched",
     PARALLEL.replace("(X + ", "(")),
    ("13.6", "the normalized copy is the stream", "pass untouched",
     PARALLEL.replace("(X + ", "(Z + ")),
    ("13.6", "a residual each", "pass untouched",
     PARALLEL.replace("(X + ", "(2 * X + ")),
    ("13.6", "FFN reads the stream", "does the FFN read",
     PARALLEL.replace("feed_forward(Z", "feed_forward(X")),
    ("13.6", "mask forgotten", "see the mask",
     PARALLEL.replace(', mask)', ')')),
    ("13.6", "mask turned over", "query down, key across",
     PARALLEL.replace(", mask)", ", mask.T)")),
    ("13.6", "another activation", "use ReLU",
     PARALLEL.replace("relu", "np.tanh")),
    ("13.6", "attention reads the stream", "does attention read",
     PARALLEL.replace("attention(Z", "attention(X")),
    ("13.6", "one after the other", "same copy", """
X = X + multi_head_attention(layer_norm(X, *layer["norm"]),
                             *layer["attention"], mask)
return X + feed_forward(layer_norm(X, *layer["norm"]), *layer["ffn"], relu)
"""),
    ("13.6", "the weights taken out", "unchanged", """
norm, heads, ffn = (layer.pop(part) for part in ("norm", "attention", "ffn"))
Z = layer_norm(X, *norm)
return X + multi_head_attention(Z, *heads, mask) + feed_forward(Z, *ffn, relu)
"""),
    ("13.6", "another scale", "does attention read", """
W_Q, *rest = layer["attention"]
scaled = (W_Q / 3**0.5, *rest)
""" + PARALLEL.replace('*layer["attention"]', "*scaled")),
    ("13.6", "heads summed first", "does attention read", """
Z = layer_norm(X, *layer["norm"])
Y = X + feed_forward(Z, *layer["ffn"], relu)
for W_Q, W_K, W_V, W_O in zip(*layer["attention"]):
    Y = Y + attention(Z @ W_Q, Z @ W_K, Z @ W_V, mask) @ W_O
    break
return Y
"""),
    ("13.6", "a batch is demanded", "it stops with ValueError",
     "B, n, d_model = X.shape\n" + PARALLEL),
    ("13.6", "X changed in place", "unchanged", """
Z = layer_norm(X, *layer["norm"])
X += multi_head_attention(Z, *layer["attention"], mask)
X += feed_forward(Z, *layer["ffn"], relu)
return X
"""),
]

HIDDEN = [
    ("13.1", "the first token always counts", "in front of", """
text = real.copy()
text[:, 1] = True
""" + LOSS.replace("real", "text")),
    ("13.2", "the kept logits clipped", "logits of size 600", TOP_P.replace(
        "np.where(keep, logits", "np.where(keep, logits.clip(-50, 50)")),
    ("13.1", "the filling is cut off by its length", "in front of the text", """
terms = []
for row, text, length in zip(logits, ids, real.sum(axis=1)):
    terms.extend(-log_softmax(row)[t, text[t + 1]] for t in range(length - 1))
return np.mean(terms)
"""),
    ("13.3", "d_k fixed by the key heads", "Llama 3 8B", """
d_k = d_model // h if h_kv < 8 else d_model // h if h_kv == h else 64
attention = 2 * d_model * d_model + 2 * d_model * h_kv * d_k
layer = attention + 3 * d_model * d_ff + 2 * d_model
return 2 * n_vocab * d_model + n_layers * layer + d_model
"""),
    ("13.3", "a division", "whole number", LLAMA.replace("//", "/")),
    ("13.6", "two heads of the check", "X of shape", """
Z = layer_norm(X, *layer["norm"])
Y = X + feed_forward(Z, *layer["ffn"], relu)
for i in range(2):
    W_Q, W_K, W_V, W_O = (W[i % len(W)] for W in layer["attention"])
    Y = Y + attention(Z @ W_Q, Z @ W_K, Z @ W_V, mask) @ W_O
return Y
"""),
    ("13.6", "always causal", "mask that is passed", PARALLEL.replace(
        ", mask)", ", causal_mask(X.shape[-2]))")),
]
