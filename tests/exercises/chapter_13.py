"""Answers to the exercises of chapter 13: the lines between the solution marks.

RIGHT   exercise, how it is written, body
WRONG   exercise, the mistake, words that the check must print, body
HIDDEN  exercise, the mistake, words that only the grade says, body
DOMAIN  exercise: a function that draws arguments as its statement allows them
PRECISE exercise: the students' kinds (battery.py) that it refuses, and why
VARIANTS exercise: what a homework sheet changes (tools/homework/variants.py)
"""

import numpy as np


def draw_13_1(rng):
    n, d_model, h, d_k, d_v, d_ff, *front = rng.permutation(
        range(1, 10))[:rng.integers(6, 9)]
    shapes = {"norm": [(d_model,), (d_model,)],
              "attention": [(d_model, h * d_k), (d_model, h * d_k),
                            (d_model, h * d_v), (h * d_v, d_model)],
              "ffn": [(d_model, d_ff), (d_ff,), (d_ff, d_model), (d_model,)]}
    layer = {part: tuple(10 ** rng.uniform(-4, 2) * rng.normal(size=shape)
                         for shape in given) for part, given in shapes.items()}
    layer["attention"] = *layer["attention"], int(h)
    X = 10 ** rng.uniform(-4, 3) * rng.normal(size=(*front, n, d_model))
    mask = (rng.random((n, n)) < 0.5) | np.eye(n, dtype=bool)
    return X, layer, mask


def draw_13_2(rng):
    n, m, d_model, h, d_k, d_v, d_ff, *front = rng.permutation(
        range(1, 11))[:rng.integers(7, 10)]
    d_model += 1                                    # a norm of one feature is 0
    norm = [(d_model,), (d_model,)]
    heads = [(d_model, h * d_k), (d_model, h * d_k), (d_model, h * d_v),
             (h * d_v, d_model)]
    shapes = {"norm_1": norm, "norm_2": norm, "norm_3": norm, "self": heads,
              "cross": heads, "ffn": [(d_model, d_ff), (d_ff,),
                                      (d_ff, d_model), (d_model,)]}
    layer = {part: tuple(rng.normal(size=shape) for shape in given)
             for part, given in shapes.items()}
    layer |= {part: (*layer[part], int(h)) for part in ("self", "cross")}
    X = 10 ** rng.uniform(-1, 2) * rng.normal(size=(*front, n, d_model))
    Z = 10 ** rng.uniform(-1, 1) * rng.normal(size=(*front, m, d_model))
    return X, Z, layer


def draw_13_3(rng):
    h_kv, share, d_k, n_layers, d_ff, n_vocab = rng.integers(1, 60, 6).tolist()
    h = h_kv * share
    return n_vocab, h * d_k, n_layers, h, h_kv, d_ff


def draw_13_4(rng):
    h_kv, share, d_k, n_layers, d_ff, n = rng.integers(1, 40, 6).tolist()
    h = h_kv * share
    return h * d_k, n_layers, h, h_kv, d_ff, n


DOMAIN = {"13.1": draw_13_1, "13.2": draw_13_2, "13.3": draw_13_3,
          "13.4": draw_13_4}
PRECISE = {}

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
DECODER = """
X = X + multi_head_attention(layer_norm(X, *layer["norm_1"]),
                             *layer["self"], causal_mask(X.shape[-2]))
W_Q, W_K, W_V, W_O, h = layer["cross"]
asks = layer_norm(X, *layer["norm_2"])
Q, K, V = ((A @ W).reshape(*A.shape[:-1], h, -1).swapaxes(-3, -2)
           for A, W in ((asks, W_Q), (Z, W_K), (Z, W_V)))
Y = attention(Q, K, V).swapaxes(-3, -2)
X = X + Y.reshape(*X.shape[:-1], -1) @ W_O
return X + feed_forward(layer_norm(X, *layer["norm_3"]), *layer["ffn"], relu)
"""
HEADS_OF = """
def heads_of(W_Q, W_K, W_V, W_O, h):
    reads = (np.split(W, h, axis=-1) for W in (W_Q, W_K, W_V))
    return list(zip(*reads, np.split(W_O, h)))

"""
FLOPS = """
d_kv = d_model // h * h_kv
matrices = 2 * d_model * d_model + 2 * d_model * d_kv + 3 * d_model * d_ff
return (6 * n_layers * matrices * n, 12 * n_layers * d_model * n * n,
        6 * n_layers * d_model * n * (n + 1), matrices // (2 * d_model) + 1)
"""

RIGHT = [
    ("13.1", "step by step", """
gain, bias = layer["norm"]
Z = layer_norm(X, gain, bias)
looked = multi_head_attention(Z, *layer["attention"], mask=mask)
W_1, b_1, W_2, b_2 = layer["ffn"]
thought = np.maximum(Z @ W_1 + b_1, 0) @ W_2 + b_2
return X + looked + thought
"""),
    ("13.1", "head by head", HEADS_OF + """
Z = layer_norm(X, *layer["norm"])
Y = X + feed_forward(Z, *layer["ffn"], relu)
for W_Q, W_K, W_V, W_O in heads_of(*layer["attention"]):
    Y = Y + attention(Z @ W_Q, Z @ W_K, Z @ W_V, mask) @ W_O
return Y
"""),
    ("13.2", "head by head", HEADS_OF + """
Y = layer_norm(X, *layer["norm_1"])
mask = causal_mask(X.shape[-2])
for W_Q, W_K, W_V, W_O in heads_of(*layer["self"]):
    X = X + attention(Y @ W_Q, Y @ W_K, Y @ W_V, mask) @ W_O
Y = layer_norm(X, *layer["norm_2"])
for W_Q, W_K, W_V, W_O in heads_of(*layer["cross"]):
    X = X + attention(Y @ W_Q, Z @ W_K, Z @ W_V) @ W_O
W_1, b_1, W_2, b_2 = layer["ffn"]
return X + relu(layer_norm(X, *layer["norm_3"]) @ W_1 + b_1) @ W_2 + b_2
"""),
    ("13.2", "by torch's attention", """
def look(A, B, group, mask):
    W_Q, W_K, W_V, W_O, h = group
    Q, K, V = (torch.tensor(Y @ W).unflatten(-1, (h, -1)).transpose(-3, -2)
               for Y, W in ((A, W_Q), (B, W_K), (B, W_V)))
    Y = F.scaled_dot_product_attention(Q, K, V, attn_mask=mask)
    return Y.transpose(-3, -2).flatten(-2).numpy() @ W_O

n = X.shape[-2]
A = layer_norm(X, *layer["norm_1"])
X = X + look(A, A, layer["self"], torch.ones(n, n, dtype=torch.bool).tril())
X = X + look(layer_norm(X, *layer["norm_2"]), Z, layer["cross"], None)
return X + feed_forward(layer_norm(X, *layer["norm_3"]), *layer["ffn"], relu)
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
    ("13.4", "by lists of shapes", """
d_k = d_model // h
shapes = [(d_model, d_model)] * 2 + [(d_model, h_kv * d_k)] * 2
shapes += [(d_model, d_ff)] * 3
token = 6 * sum(a * b for a, b in shapes)
allowed = n * (n + 1) // 2
return (n_layers * token * n, n_layers * 12 * d_model * n**2,
        n_layers * 12 * d_model * allowed, token // (12 * d_model) + 1)
"""),
    ("13.4", "head by head, token by token", """
d_k = d_model // h
narrow = h * d_model * d_k + h_kv * d_model * d_k
token = 2 * narrow + 3 * d_model * d_ff
pairs = sum(range(1, n + 1))
length = token // (2 * h * d_k) + 1
return (3 * 2 * token * n * n_layers, 3 * 4 * h * d_k * n * n * n_layers,
        3 * 4 * h * d_k * pairs * n_layers, length)
"""),
]

WRONG = [
    ("13.1", "not begun", "13.1 not done yet", "raise NotImplementedError"),
    ("13.1", "nothing returned", "return its result",
     PARALLEL.replace("return (", "(")),
    ("13.1", "no residual", "pass untouched",
     PARALLEL.replace("(X + ", "(")),
    ("13.1", "the normalized copy is the stream", "pass untouched",
     PARALLEL.replace("(X + ", "(Z + ")),
    ("13.1", "a residual each", "pass untouched",
     PARALLEL.replace("(X + ", "(2 * X + ")),
    ("13.1", "FFN reads the stream", "does the FFN read",
     PARALLEL.replace("feed_forward(Z", "feed_forward(X")),
    ("13.1", "mask forgotten", "see the mask",
     PARALLEL.replace(', mask)', ')')),
    ("13.1", "mask turned over", "query down, key across",
     PARALLEL.replace(", mask)", ", mask.T)")),
    ("13.1", "another activation", "use ReLU",
     PARALLEL.replace("relu", "np.tanh")),
    ("13.1", "attention reads the stream", "does attention read",
     PARALLEL.replace("attention(Z", "attention(X")),
    ("13.1", "one after the other", "same copy", """
X = X + multi_head_attention(layer_norm(X, *layer["norm"]),
                             *layer["attention"], mask)
return X + feed_forward(layer_norm(X, *layer["norm"]), *layer["ffn"], relu)
"""),
    ("13.1", "the weights taken out", "unchanged", """
norm, heads, ffn = (layer.pop(part) for part in ("norm", "attention", "ffn"))
Z = layer_norm(X, *norm)
return X + multi_head_attention(Z, *heads, mask) + feed_forward(Z, *ffn, relu)
"""),
    ("13.1", "another scale", "does attention read", """
W_Q, *rest = layer["attention"]
scaled = (W_Q / 3**0.5, *rest)
""" + PARALLEL.replace('*layer["attention"]', "*scaled")),
    ("13.1", "heads summed first", "does attention read", HEADS_OF + """
Z = layer_norm(X, *layer["norm"])
Y = X + feed_forward(Z, *layer["ffn"], relu)
for W_Q, W_K, W_V, W_O in heads_of(*layer["attention"]):
    Y = Y + attention(Z @ W_Q, Z @ W_K, Z @ W_V, mask) @ W_O
    break
return Y
"""),
    ("13.1", "a batch is demanded", "it stops with ValueError",
     "B, n, d_model = X.shape\n" + PARALLEL),
    ("13.1", "X changed in place", "unchanged", """
Z = layer_norm(X, *layer["norm"])
X += multi_head_attention(Z, *layer["attention"], mask)
X += feed_forward(Z, *layer["ffn"], relu)
return X
"""),
    ("13.2", "not begun", "13.2 not done yet", "raise NotImplementedError"),
    ("13.2", "nothing returned", "return its result",
     DECODER.replace("return ", "")),
    ("13.2", "no residual", "pass unchanged",
     DECODER.replace("return X + ", "return ")),
    ("13.2", "the norm replaces the stream", "pass unchanged",
     "X = layer_norm(X, *layer['norm_1'])\n" + DECODER),
    ("13.2", "FFN reads the wrong norm", "norm_3",
     DECODER.replace("norm_3", "norm_1")),
    ("13.2", "another activation", "use ReLU",
     DECODER.replace("relu", "np.tanh")),
    ("13.2", "no causal mask", "self-attention causal",
     DECODER.replace(', causal_mask(X.shape[-2])', "")),
    ("13.2", "mask turned over", "self-attention causal",
     DECODER.replace("causal_mask(X.shape[-2])",
                     "causal_mask(X.shape[-2]).T")),
    ("13.2", "self-attention without its norm", "norm_1",
     DECODER.replace('layer_norm(X, *layer["norm_1"])', "X")),
    ("13.2", "keys and values from X", "come from Z",
     DECODER.replace("(Z, W_K)", "(asks, W_K)").replace(
         "(Z, W_V)", "(asks, W_V)")),
    ("13.2", "Z is normalized", "as it is",
     'Z = layer_norm(Z, np.ones(Z.shape[-1]), np.zeros(Z.shape[-1]), 0)\n'
     + DECODER),
    ("13.2", "causal cross-attention", "order of Z",
     DECODER.replace("attention(Q, K, V)", "attention(Q, K, V, causal_mask("
                     "X.shape[-2], Z.shape[-2]))")),
    ("13.2", "queries without norm", "queries from norm_2",
     DECODER.replace('asks = layer_norm(X, *layer["norm_2"])', "asks = X")),
    ("13.2", "queries and keys exchanged", "queries from norm_2",
     DECODER.replace("W_Q, W_K, W_V, W_O, h = layer",
                     "W_K, W_Q, W_V, W_O, h = layer")
     ),
    ("13.2", "three branches of one input", "the one before left",
     DECODER.replace("X = X + Y.resh", "X_2 = Y.resh").replace(
         "X = X + multi", "X_1 = X + multi").replace(
             "return X +", "X = X_1 + X_2\nreturn X +")),
    ("13.2", "cross-attention first", "the one before left", """
W_Q, W_K, W_V, W_O, h = layer["cross"]
asks = layer_norm(X, *layer["norm_2"])
Q, K, V = ((A @ W).reshape(*A.shape[:-1], h, -1).swapaxes(-3, -2)
           for A, W in ((asks, W_Q), (Z, W_K), (Z, W_V)))
Y = attention(Q, K, V).swapaxes(-3, -2)
X = X + Y.reshape(*X.shape[:-1], -1) @ W_O
X = X + multi_head_attention(layer_norm(X, *layer["norm_1"]),
                             *layer["self"], causal_mask(X.shape[-2]))
return X + feed_forward(layer_norm(X, *layer["norm_3"]), *layer["ffn"], relu)
"""),
    ("13.2", "a batch is demanded", "it stops with ValueError",
     "B, n, d_model = X.shape\n" + DECODER),
    ("13.2", "X changed in place", "unchanged",
     DECODER.replace("X = X + multi", "X += multi")),
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
    ("13.4", "not begun", "13.4 not done yet", "raise NotImplementedError"),
    ("13.4", "nothing returned", "return its result",
     FLOPS.replace("return ", "")),
    ("13.4", "three numbers", "four numbers",
     FLOPS.replace(", matrices // (2 * d_model) + 1", "")),
    ("13.4", "forward only", "backward pass counted",
     FLOPS.replace("return (6", "return (2")),
    ("13.4", "backward as forward", "two gradients",
     FLOPS.replace("return (6", "return (4")),
    ("13.4", "multiplications only", "need an addition",
     FLOPS.replace("return (6", "return (3")),
    ("13.4", "per token", "for all n tokens",
     FLOPS.replace("matrices * n,", "matrices,")),
    ("13.4", "keys as wide as queries", "two of them narrow",
     FLOPS.replace("* h_kv", "* h")),
    ("13.4", "no gate", "seven matrices", FLOPS.replace("3 *", "2 *")),
    ("13.4", "scores only", "both products",
     FLOPS.replace("12 *", "6 *")),
    ("13.4", "forward scores", "backward pass counted",
     FLOPS.replace("12 *", "4 *")),
    ("13.4", "per token, scores", "n^2 pairs",
     FLOPS.replace("d_model * n * n", "d_model * n")),
    ("13.4", "half of all pairs", "on the diagonal",
     FLOPS.replace("n * (n + 1)", "n * n")),
    ("13.4", "without the diagonal", "how many tokens",
     FLOPS.replace("(n + 1)", "(n - 1)")),
    ("13.4", "rounded down", "at least equal",
     FLOPS.replace("+ 1)\n", ")\n")),
    ("13.4", "length from one factor", "are the first two equal",
     FLOPS.replace("(2 * d_model) + 1", "d_model + 1")),
]

HIDDEN = [
    ("13.1", "two heads of the check", "X of shape", HEADS_OF + """
Z = layer_norm(X, *layer["norm"])
Y = X + feed_forward(Z, *layer["ffn"], relu)
each = heads_of(*layer["attention"])
for i in range(2):
    W_Q, W_K, W_V, W_O = each[i % len(each)]
    Y = Y + attention(Z @ W_Q, Z @ W_K, Z @ W_V, mask) @ W_O
return Y
"""),
    ("13.1", "always causal", "mask that is passed", PARALLEL.replace(
        ", mask)", ", causal_mask(X.shape[-2]))")),
    ("13.2", "two heads of the check", "is the block right", HEADS_OF + """
def heads(A, B, group, mask):
    Y, each = 0, heads_of(*group)
    for i in range(2):
        W_Q, W_K, W_V, W_O = each[i % len(each)]
        Y = Y + attention(A @ W_Q, B @ W_K, B @ W_V, mask) @ W_O
    return Y

A = layer_norm(X, *layer["norm_1"])
X = X + heads(A, A, layer["self"], causal_mask(X.shape[-2]))
X = X + heads(layer_norm(X, *layer["norm_2"]), Z, layer["cross"], None)
return X + feed_forward(layer_norm(X, *layer["norm_3"]), *layer["ffn"], relu)
"""),
    ("13.2", "small weights lost", "weights of sizes", DECODER.replace(
        '= layer["cross"]\n', '= layer["cross"]\nW_V = W_V * (abs(W_V) > 1e-3)'
        '\n')),
    ("13.3", "d_k fixed by the key heads", "Llama 3 8B", """
d_k = d_model // h if h_kv < 8 else d_model // h if h_kv == h else 64
attention = 2 * d_model * d_model + 2 * d_model * h_kv * d_k
layer = attention + 3 * d_model * d_ff + 2 * d_model
return 2 * n_vocab * d_model + n_layers * layer + d_model
"""),
    ("13.3", "a division", "whole number", LLAMA.replace("//", "/")),
    ("13.4", "d_k of the check", "is it right",
     FLOPS.replace("d_model // h", "4")),
    ("13.4", "a division", "whole", FLOPS.replace(
        "6 * n_layers * d_model * n * (n + 1)",
        "12 * n_layers * d_model * n * (n + 1) / 2")),
]

SMALL = [2, 3, 4, 5, 6, 7, 8, 9]
VARIANTS = {
    "13.3": {
        "asks": "formula",
        "one of": {"e": [2, 4, 8, 16, 32, 64]},
        "says": """Each block has {e} experts in place of its SwiGLU, each of
            width $d_\\mathrm{{ff}}$, and a router without bias. Queries and
            keys are normalized by RMSNorm before their product; all query
            heads of a block share a gain, and all key heads another. (The
            number given for Llama 2 does not hold.)""",
        "edits": [("attention + 3 * d_model * d_ff + 2 * d_model",
                   "attention + {e} * (3 * d_model * d_ff + d_model)\n"
                   "    layer += 2 * d_k + 2 * d_model")]},
    "13.4": {
        "asks": "formula",
        "one of": {"c": [2, 3, 4], "b": SMALL},
        "says": """{b} sequences of $n$ tokens each are in a step. The forward
            pass of each block is computed {c} times, to save memory; the
            backward pass once.""",
        "edits": [("return (6 * n_layers * matrices * n,",
                   "return ({b} * 2 * ({c} + 2) * n_layers * matrices * n,"),
                  ("12 * n_layers * d_model * n * n,",
                   "{b} * 4 * ({c} + 2) * n_layers * d_model * n * n,"),
                  ("6 * n_layers * d_model * n * (n + 1),",
                   "{b} * 2 * ({c} + 2) * n_layers * d_model * n * (n + 1),")
                  ]},
}
