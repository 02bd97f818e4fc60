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
    h_kv, share, d_k, n_layers, d_ff, n_vocab = rng.integers(1, 60, 6).tolist()
    h = h_kv * share
    return n_vocab, h * d_k, n_layers, h, h_kv, d_ff


def draw_13_4(rng):
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


DOMAIN = {"13.1": draw_13_1, "13.2": draw_13_2,
          "13.4": draw_13_4}
PRECISE = {}

LOSS = """
log_p = log_softmax(logits[:, :-1])
targets = ids[:, 1:, None]
losses = -np.take_along_axis(log_p, targets, axis=-1)[..., 0]
return losses[real[:, 1:]].mean()
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
    ("13.2", "by shapes", """
d_k = d_model // h
shapes = [(d_model, h * d_k), (h * d_k, d_model), (d_model, h_kv * d_k),
          (d_model, h_kv * d_k), (d_model, d_ff), (d_model, d_ff),
          (d_ff, d_model), (d_model,), (d_model,)]
layer = sum(math.prod(shape) for shape in shapes)
return n_layers * layer + 2 * n_vocab * d_model + d_model
"""),
    ("13.2", "in units of the width", """
per_layer = 2 * d_model + 2 * d_model * h_kv // h + 3 * d_ff + 2
return d_model * (2 * n_vocab + n_layers * per_layer + 1)
"""),
    ("13.4", "step by step", """
gain, bias = layer["norm"]
Z = layer_norm(X, gain, bias)
looked = multi_head_attention(Z, *layer["attention"], mask=mask)
W_1, b_1, W_2, b_2 = layer["ffn"]
thought = np.maximum(Z @ W_1 + b_1, 0) @ W_2 + b_2
return X + looked + thought
"""),
    ("13.4", "head by head", """
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
     LLAMA.replace("return ", "")),
    ("13.2", "tied", "one at the exit",
     LLAMA.replace("2 * n_vocab", "n_vocab")),
    ("13.2", "no gate", "three matrices", LLAMA.replace("3 *", "2 *")),
    ("13.2", "as many key heads as heads", "one more key head",
     LLAMA.replace("h_kv * d_k", "h * d_k")),
    ("13.2", "keys shared, values not", "one more key head", LLAMA.replace(
        "2 * d_model * h * d_k + 2 * d_model * h_kv * d_k",
        "3 * d_model * h * d_k + d_model * h_kv * d_k")),
    ("13.2", "layers that share", "three matrices in each layer",
     LLAMA.replace("n_layers * layer", "layer")),
    ("13.2", "biases in the norms", "two gains, no bias",
     LLAMA.replace("+ 2 * d_model\n", "+ 4 * d_model\n")),
    ("13.2", "biases in the attention", "two gains, no bias",
     LLAMA.replace("d_ff + 2", "d_ff + 4 * d_model + 2")),
    ("13.2", "one norm a layer", "two gains, no bias",
     LLAMA.replace("+ 2 * d_model\n", "+ d_model\n")),
    ("13.2", "no last norm", "after the last layer",
     LLAMA.replace("layer + d_model", "layer")),
    ("13.2", "positions of 4096", "after the last layer",
     LLAMA.replace("layer + d_model", "layer + 4097 * d_model")),
    ("13.4", "not begun", "13.4 not done yet", "raise NotImplementedError"),
    ("13.4", "nothing returned", "return its result",
     PARALLEL.replace("return (", "(")),
    ("13.4", "no residual", "pass untouched",
     PARALLEL.replace("(X + ", "(")),
    ("13.4", "the normalized copy is the stream", "pass untouched",
     PARALLEL.replace("(X + ", "(Z + ")),
    ("13.4", "a residual each", "pass untouched",
     PARALLEL.replace("(X + ", "(2 * X + ")),
    ("13.4", "FFN reads the stream", "does the FFN read",
     PARALLEL.replace("feed_forward(Z", "feed_forward(X")),
    ("13.4", "mask forgotten", "see the mask",
     PARALLEL.replace(', mask)', ')')),
    ("13.4", "mask turned over", "query down, key across",
     PARALLEL.replace(", mask)", ", mask.T)")),
    ("13.4", "another activation", "use ReLU",
     PARALLEL.replace("relu", "np.tanh")),
    ("13.4", "attention reads the stream", "does attention read",
     PARALLEL.replace("attention(Z", "attention(X")),
    ("13.4", "one after the other", "same copy", """
X = X + multi_head_attention(layer_norm(X, *layer["norm"]),
                             *layer["attention"], mask)
return X + feed_forward(layer_norm(X, *layer["norm"]), *layer["ffn"], relu)
"""),
    ("13.4", "the weights taken out", "unchanged", """
norm, heads, ffn = (layer.pop(part) for part in ("norm", "attention", "ffn"))
Z = layer_norm(X, *norm)
return X + multi_head_attention(Z, *heads, mask) + feed_forward(Z, *ffn, relu)
"""),
    ("13.4", "another scale", "does attention read", """
W_Q, *rest = layer["attention"]
scaled = (W_Q / 3**0.5, *rest)
""" + PARALLEL.replace('*layer["attention"]', "*scaled")),
    ("13.4", "heads summed first", "does attention read", """
Z = layer_norm(X, *layer["norm"])
Y = X + feed_forward(Z, *layer["ffn"], relu)
for W_Q, W_K, W_V, W_O in zip(*layer["attention"]):
    Y = Y + attention(Z @ W_Q, Z @ W_K, Z @ W_V, mask) @ W_O
    break
return Y
"""),
    ("13.4", "a batch is demanded", "it stops with ValueError",
     "B, n, d_model = X.shape\n" + PARALLEL),
    ("13.4", "X changed in place", "unchanged", """
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
    ("13.1", "the filling is cut off by its length", "in front of the text", """
terms = []
for row, text, length in zip(logits, ids, real.sum(axis=1)):
    terms.extend(-log_softmax(row)[t, text[t + 1]] for t in range(length - 1))
return np.mean(terms)
"""),
    ("13.2", "d_k fixed by the key heads", "Llama 3 8B", """
d_k = d_model // h if h_kv < 8 else d_model // h if h_kv == h else 64
attention = 2 * d_model * d_model + 2 * d_model * h_kv * d_k
layer = attention + 3 * d_model * d_ff + 2 * d_model
return 2 * n_vocab * d_model + n_layers * layer + d_model
"""),
    ("13.2", "a division", "whole number", LLAMA.replace("//", "/")),
    ("13.4", "two heads of the check", "X of shape", """
Z = layer_norm(X, *layer["norm"])
Y = X + feed_forward(Z, *layer["ffn"], relu)
for i in range(2):
    W_Q, W_K, W_V, W_O = (W[i % len(W)] for W in layer["attention"])
    Y = Y + attention(Z @ W_Q, Z @ W_K, Z @ W_V, mask) @ W_O
return Y
"""),
    ("13.4", "always causal", "mask that is passed", PARALLEL.replace(
        ", mask)", ", causal_mask(X.shape[-2]))")),
]
