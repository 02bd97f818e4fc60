"""Answers to the exercises of chapter 13: the lines between the solution marks.

RIGHT   exercise, how it is written, body
WRONG   exercise, the mistake, words that the check must print, body
HIDDEN  exercise, the mistake, words that only the grade says, body
DOMAIN  exercise: a function that draws arguments as its statement allows them
PRECISE exercise: the students' kinds (battery.py) that it refuses, and why
VARIANTS exercise: what a homework sheet changes (tools/homework/variants.py)
"""



def draw_13_1(rng):
    n_vocab, d_k, h, d_ff, n = (rng.permutation(range(2, 8))[:5]).tolist()
    d_k, d = 2 * d_k, 2 * d_k * h
    shapes = {"E": (n_vocab, d), "norm.weight": (d,),
              "W_U.weight": (n_vocab, d)}
    for b in range(2):
        shapes |= {f"blocks.{b}.{name}.weight": shape for name, shape in (
            ("norm_1", (d,)), ("norm_2", (d,)),
            *((f"attention.W_{M}", (d, d)) for M in "QKVO"),
            ("ffn.gate", (d_ff, d)), ("ffn.up", (d_ff, d)),
            ("ffn.down", (d, d_ff)))}
    weights = {name: 10 ** rng.uniform(-1, 0.3) * rng.normal(size=shape)
               for name, shape in shapes.items()}
    weights["E"] *= 10 ** rng.uniform(-3, 2)
    word, rival = rng.choice(n_vocab, 2, replace=False).tolist()
    return (int(rng.integers(1, 3)), int(rng.integers(h)), word, rival,
            rng.integers(n_vocab, size=n), weights, h)


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
NEEDED = """
name = f"blocks.{b - 1}.attention.W_O.weight"
W_O = weights[name].copy()
d_k = W_O.shape[1] // h
W_O[:, i * d_k:(i + 1) * d_k] = 0
parts = additions(ids, weights, h)
left = additions(ids, {**weights, name: W_O}, h)
X, Y = sum(parts.values())[-1], sum(left.values())[-1]
part = parts[f"{b} head {i}"][-1]
W_U, gain = weights["W_U.weight"], weights["norm.weight"]
u = W_U[word] - W_U[rival]
wrote = reciprocal_rms(X) * part @ (gain * u)
lead, rest = (reciprocal_rms(A) * A @ (gain * u) for A in (X, Y))
return wrote, lead - rest
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
    ("13.1", "one sum after the other", NEEDED),
    ("13.1", "all logits, by rms_norm", """
def logits(weights):
    X = sum(additions(ids, weights, h).values())
    return rms_norm(X, weights["norm.weight"]) @ weights["W_U.weight"].T

parts = additions(ids, weights, h)
s = 1 / np.sqrt(np.mean(sum(parts.values())[-1] ** 2) + 1e-6)
share = s * (weights["norm.weight"] * parts[f"{b} head {i}"][-1]
             ) @ weights["W_U.weight"].T
name = f"blocks.{b - 1}.attention.W_O.weight"
d = len(weights["norm.weight"])
keep = np.arange(d) // (d // h) != i
fall = (logits(weights) - logits({**weights, name: weights[name] * keep}))[-1]
return share[word] - share[rival], fall[word] - fall[rival]
"""),
    ("13.1", "by PyTorch's model", """
model = Transformer(*weights["E"].shape, h, sum(
    name.endswith("norm_1.weight") for name in weights),
    len(weights["blocks.0.ffn.up.weight"])).double()
model.load_state_dict({name: torch.tensor(w) for name, w in weights.items()})
seen = {}
model.blocks[b - 1].attention.W_O.register_forward_pre_hook(
    lambda module, args: seen.update(Y=args[0].squeeze(0)[-1]))
model.norm.register_forward_pre_hook(
    lambda module, args: seen.update(X=args[0].squeeze(0)[-1]))
with torch.no_grad():
    full = model(torch.tensor(ids)[None]).squeeze(0)[-1]
    X, Y = seen["X"], seen["Y"]
    less = switched_off(model, b, i)(torch.tensor(ids)[None]).squeeze(0)[-1]
d_k = len(Y) // h
cut = slice(i * d_k, (i + 1) * d_k)
part = model.blocks[b - 1].attention.W_O.weight[:, cut] @ Y[cut]
share = model.W_U((X.square().mean() + 1e-6).rsqrt() * part * model.norm.weight)
fall = full - less
return ((share[word] - share[rival]).item(), (fall[word] - fall[rival]).item())
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
     NEEDED.replace("return ", "")),
    ("13.1", "the share only", "two numbers",
     NEEDED.replace("return wrote, lead - rest", "return wrote")),
    ("13.1", "the weights zeroed in place", "unchanged",
     NEEDED.replace("weights[name].copy()", "weights[name]")),
    ("13.1", "norm's factor forgotten", "factor s of the last norm",
     NEEDED.replace("wrote = reciprocal_rms(X) * part", "wrote = part")),
    ("13.1", "gain forgotten", "the gain of the last norm",
     NEEDED.replace("part @ (gain * u)", "part @ u")),
    ("13.1", "a factor for each part", "the sum of all parts",
     NEEDED.replace("wrote = reciprocal_rms(X)",
                    "wrote = reciprocal_rms(part)")),
    ("13.1", "rival not subtracted", "rival's logit subtracted",
     NEEDED.replace("wrote = reciprocal_rms(X) * part @ (gain * u)",
                    "wrote = reciprocal_rms(X) * part @ (gain * W_U[word])")),
    ("13.1", "mean of all words subtracted", "not a mean", NEEDED.replace(
        "wrote = reciprocal_rms(X) * part @ (gain * u)",
        "wrote = reciprocal_rms(X) * part @ (gain * (W_U[word] - W_U.mean(0)))"
    )),
    ("13.1", "the first row", "is it the last row?", NEEDED.replace(
        'head {i}"][-1]', 'head {i}"][0]')),
    ("13.1", "a mean of rows", "the last row alone", NEEDED.replace(
        'head {i}"][-1]', 'head {i}"].mean(0)')),
    ("13.1", "rival minus word", "word minus rival",
     NEEDED.replace("W_U[word] - W_U[rival]", "W_U[rival] - W_U[word]")),
    ("13.1", "heads from 1", "share of head 2", NEEDED.replace(
        'head {i}"]', 'head {max(i - 1, 0)}"]')),
    ("13.1", "what is lost, twice", "what the head wrote",
     NEEDED.replace("return wrote,", "return lead - rest,")),
    ("13.1", "the share is what is lost", "model run again",
     NEEDED.replace("return wrote, lead - rest", "return wrote, wrote")),
    ("13.1", "subtracted from the sum", "later parts read what is left",
     NEEDED.replace("sum(left.values())[-1]", "sum(parts.values())[-1] - "
                    'parts[f"{b} head {i}"][-1]')),
    ("13.1", "what is left", "how much does it fall",
     NEEDED.replace("lead - rest", "rest")),
    ("13.1", "the old factor", "the sum without the head",
     NEEDED.replace("lead, rest = (reciprocal_rms(A)",
                    "lead, rest = (reciprocal_rms(X)")),
    ("13.1", "the fall of one logit", "rival's logit subtracted, too",
     NEEDED.replace("* A @ (gain * u)", "* A @ (gain * W_U[word])")),
    ("13.1", "rows of W_O", "columns of W_O",
     NEEDED.replace("W_O[:, i * d_k:(i + 1) * d_k]",
                    "W_O[i * d_k:(i + 1) * d_k]")),
    ("13.1", "without minus with", "with the head minus without",
     NEEDED.replace("lead - rest", "rest - lead")),
    ("13.1", "all heads of the block", "no others",
     NEEDED.replace("W_O[:, i * d_k:(i + 1) * d_k]", "W_O[:]")),
    ("13.1", "d_k columns from the start", "all columns of head",
     NEEDED.replace("W_O[:, i * d_k:(i + 1) * d_k]", "W_O[:, :d_k]")),
    ("13.1", "another block", "of this block",
     NEEDED.replace("{b - 1}", "{b % 2}")),
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
    ("13.1", "two blocks of the check", "right?", NEEDED.replace(
        "X, Y =", "left = left if len(parts) < 12 else parts\nX, Y =")),
    ("13.1", "width of a head of the check", "right?", NEEDED.replace(
        "d_k = W_O.shape[1] // h", "d_k = 4 if h > 2 else W_O.shape[1] // h")),
    ("13.1", "small weights lost", "weights of sizes", NEEDED.replace(
        "u = W_U", "W_U = W_U * (abs(W_U) > 1e-3)\nu = W_U")),
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
