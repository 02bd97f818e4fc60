"""Answers to the exercises of chapter 12: the lines between the solution marks.

RIGHT   exercise, how it is written, body
WRONG   exercise, the mistake, words that the check must print, body
HIDDEN  exercise, the mistake, words that only the grade says, body
DOMAIN  exercise: a function that draws arguments as its statement allows them
PRECISE exercise: the students' kinds (battery.py) that it refuses, and why
VARIANTS exercise: what a homework sheet changes (tools/homework/variants.py)
"""

import numpy as np


def sizes(rng, count):
    """So many lengths, no two alike, and up to two axes in front."""
    lengths = rng.permutation(range(1, 8))[:count + rng.integers(3)]
    return tuple(lengths[count:]), lengths[:count]


def draw_12_2(rng):
    front, (n, d_model, d_ff) = sizes(rng, 3)
    shapes = ((*front, n, d_model), (*front, n, d_model), (d_model, d_ff),
              (d_ff,), (d_ff, d_model))
    arrays = [10 ** rng.uniform(-6, 3) * rng.normal(size=shape)
              for shape in shapes]
    if rng.random() < 0.3:
        arrays[3][:] = 0
        arrays[1][..., 0, :] = 0                    # sums of exactly 0
    return tuple(arrays)


def draw_12_3(rng):
    shape = rng.integers(1, 6, size=rng.integers(0, 5))
    return (np.asarray(10 ** rng.uniform(-6, 3) * rng.normal(size=shape)),)


def draw_12_4(rng):
    front, (n, d_model, d_ff) = sizes(rng, 3)
    shapes = (*front, n, d_model), (d_model, 2 * d_ff), (d_ff, d_model)
    return tuple(10 ** rng.uniform(-6, 3) * rng.normal(size=shape)
                 for shape in shapes)


def draw_12_1(rng):
    """Three corners in order, and a height of either sign."""
    a, b, c = np.cumsum(rng.uniform(0.1, 5, size=3)) - 5
    return float(a), float(b), float(c), float(3 * rng.normal())


def draw_12_5(rng):
    """Width, multiple, experts and those that a token uses."""
    n_experts = int(rng.integers(1, 20))
    return (int(rng.integers(1, 3000)), int(rng.integers(1, 200)), n_experts,
            int(rng.integers(1, n_experts + 1)))


DOMAIN = {"12.1": draw_12_1, "12.2": draw_12_2, "12.3": draw_12_3,
          "12.4": draw_12_4, "12.5": draw_12_5}
PRECISE = {}

TENT = """
up, down = height / (b - a), -height / (c - b)
return a, b, c, up, down - up, -down
"""
BUDGET = """
width = -(-8 * d_model // (3 * multiple)) * multiple
layer, router = 3 * d_model * width, d_model * n_experts
return (width, layer - 8 * d_model**2, n_experts * layer + router,
        2 * (k * layer + router))
"""

BACKWARD = """
H = np.maximum(X @ W_1 + b_1, 0)
dH = (dY @ W_2.T) * (H > 0)
return (dH @ W_1.T, X.T @ dH, dH.sum(axis=0), H.T @ dY, dY.sum(axis=0))
"""
SLOPE = """
erf = np.vectorize(math.erf, otypes=[float])
share = (1 + erf(X / math.sqrt(2))) / 2
density = np.exp(-X**2 / 2) / math.sqrt(2 * math.pi)
return share + X * density
"""
LOOP = ("(1 + math.erf(x / 2**0.5)) / 2"
        " + x * math.exp(-x * x / 2) / (2 * math.pi) ** 0.5")
PACKED = """
gate, up = np.split(X @ W_in, 2, axis=-1)
return (silu(gate) * up) @ W_out
"""

RIGHT = [
    ("12.1", "by the slopes of the three pieces", """
return a, b, c, *np.diff([0, height / (b - a), height / (b - c), 0])
"""),
    ("12.1", "by solving for the values", """
units = np.subtract.outer([b, c, c + 1], [a, b, c]).clip(0)
return a, b, c, *np.linalg.solve(units, [height, 0, 0])
"""),
    ("12.5", "by a ceiling", """
width = multiple * math.ceil(8 * d_model / 3 / multiple - 1e-9)
one = 3 * width * d_model
return [width, one - 8 * d_model**2, n_experts * (one + d_model),
        2 * k * one + 2 * n_experts * d_model]
"""),
    ("12.5", "counting up", """
width = 0
while 3 * width < 8 * d_model:
    width += multiple
shapes = [(d_model, width)] * 2 + [(width, d_model)]
one = sum(rows * columns for rows, columns in shapes)
router = d_model * n_experts
return (width, one - 8 * d_model**2, n_experts * one + router,
        2 * k * one + 2 * router)
"""),
    ("12.2", "by einsum on flattened tokens", """
shape, X, dY = X.shape, X.reshape(-1, X.shape[-1]), dY.reshape(-1, dY.shape[-1])
S = X @ W_1 + b_1
dS = np.einsum("nd,fd->nf", dY, W_2) * np.heaviside(S, 0)
return [np.einsum("nf,df->nd", dS, W_1).reshape(shape),
        np.einsum("nd,nf->df", X, dS), dS.sum(0),
        np.einsum("nf,nd->fd", np.where(S > 0, S, 0), dY), dY.sum(0)]
"""),
    ("12.2", "by autograd", """
leaves = [torch.tensor(a, requires_grad=True) for a in (X, W_1, b_1, W_2)]
Y = torch.relu(leaves[0] @ leaves[1] + leaves[2]) @ leaves[3]
grads = torch.autograd.grad(Y, leaves, torch.tensor(dY))
return *grads, dY.reshape(-1, dY.shape[-1]).sum(axis=0)
"""),
    ("12.2", "token by token", """
dX, dW_1, dW_2 = np.zeros(X.shape), np.zeros(W_1.shape), np.zeros(W_2.shape)
db_1, db_2 = np.zeros(len(b_1)), np.zeros(W_2.shape[1])
for token in np.ndindex(X.shape[:-1]):
    x, dy = X[token], dY[token]
    h = np.maximum(x @ W_1 + b_1, 0)
    dh = (W_2 @ dy) * (h > 0)
    dX[token] = W_1 @ dh
    dW_1 += np.outer(x, dh)
    dW_2 += np.outer(h, dy)
    db_1 += dh
    db_2 += dy
return dX, dW_1, db_1, dW_2, db_2
"""),
    ("12.3", "by torch", """
x = torch.tensor(X)
return (torch.special.ndtr(x) + x * torch.exp(-x**2 / 2)
        / (2 * math.pi) ** 0.5).numpy()
"""),
    ("12.3", "by a central difference", """
return (gelu(X + 1e-5) - gelu(X - 1e-5)) / 2e-5
"""),
    ("12.3", "number by number, into an array", """
Y = np.empty(X.shape)
for index, x in np.ndenumerate(X):
    Y[index] = (1 + math.erf(x / 2**0.5)) / 2
    Y[index] += x * math.exp(-x * x / 2) / (2 * math.pi) ** 0.5
return Y
"""),
    ("12.4", "as specified, token by token", """
Y, d_ff = np.zeros(X.shape), len(W_out)
for token in np.ndindex(X.shape[:-1]):
    sums = X[token] @ W_in
    for i in range(d_ff):
        Y[token] += silu(sums[i]) * sums[d_ff + i] * W_out[i]
return Y
"""),
    ("12.4", "two products", """
d_ff = len(W_out)
return silu(X @ W_in[:, :d_ff]) * (X @ W_in[:, d_ff:]) @ W_out
"""),
    ("12.4", "by the chapter's function", """
return gated_feed_forward(X, *np.split(W_in, 2, axis=1), W_out, silu)
"""),
    ("12.4", "by torch", """
gate, up = (torch.tensor(X) @ torch.tensor(W_in)).chunk(2, dim=-1)
return (F.silu(gate) * up) @ torch.tensor(W_out)
"""),
]

WRONG = [
    ("12.1", "not begun", "12.1 not done yet", "raise NotImplementedError"),
    ("12.1", "nothing returned", "return its result",
     TENT.replace("return ", "")),
    ("12.1", "the values alone", "six numbers",
     TENT.replace("return a, b, c, ", "return ")),
    ("12.1", "biases for corners", "slope change",
     TENT.replace("a, b, c, up", "-a, -b, -c, up")),
    ("12.1", "the height for the slope", "what is a slope",
     TENT.replace("height / (b - a)", "height")),
    ("12.1", "the slope of the other side", "which slope",
     TENT.replace("height / (b - a)", "2 * height / (c - a)")),
    ("12.1", "slopes instead of their changes", "still active behind b",
     TENT.replace("down - up, -down", "down, 0")),
    ("12.1", "twice down, as for equal sides", "behind b",
     TENT.replace("down - up", "-2 * up")),
    ("12.1", "no third unit", "behind c",
     TENT.replace("down - up, -down", "down - up, 0")),
    ("12.1", "the third with the wrong sign", "behind c",
     TENT.replace(", -down", ", down")),
    ("12.5", "not begun", "12.5 not done yet", "raise NotImplementedError"),
    ("12.5", "nothing returned", "return its result",
     BUDGET.replace("return ", "")),
    ("12.5", "the width alone", "four numbers",
     BUDGET.replace("return (", "return width; (")),
    ("12.5", "rounded down", "Round up",
     BUDGET.replace("-(-8 * d_model // (3 * multiple))",
                    "(8 * d_model // (3 * multiple))")),
    ("12.5", "always one step more", "why one step more",
     BUDGET.replace("-(-8 * d_model // (3 * multiple))",
                    "(8 * d_model // (3 * multiple) + 1)")),
    ("12.5", "not a multiple", "and the smallest",
     BUDGET.replace("-(-8 * d_model // (3 * multiple)) * multiple",
                    "-(-8 * d_model // 3)")),
    ("12.5", "two matrices", "how many matrices",
     BUDGET.replace("3 * d_model * width", "2 * d_model * width")),
    ("12.5", "the layer, not the difference", "less 8 d_model squared",
     BUDGET.replace("layer - 8 * d_model**2", "layer")),
    ("12.5", "no router", "where is the router",
     BUDGET.replace("n_experts * layer + router", "n_experts * layer")),
    ("12.5", "active experts alone", "stored as well",
     BUDGET.replace("n_experts * layer + router", "k * layer + router")),
    ("12.5", "a router per hidden unit", "of which shape",
     BUDGET.replace("router = 3 * d_model * width, d_model * n_experts",
                    "router = 3 * d_model * width, width * n_experts")),
    ("12.5", "no factor 2", "a multiplication and an addition",
     BUDGET.replace("2 * (k * layer + router)", "k * layer + router")),
    ("12.5", "all experts computed", "meet all the experts",
     BUDGET.replace("2 * (k * layer", "2 * (n_experts * layer")),
    ("12.5", "a router for k experts", "all n_experts scores",
     BUDGET.replace("2 * (k * layer + router)",
                    "2 * k * (layer + d_model)")),
    ("12.5", "the router without its 2", "of k experts and of the router",
     BUDGET.replace("2 * (k * layer + router)", "2 * k * layer + router")),
    ("12.2", "not begun", "12.2 not done yet", "raise NotImplementedError"),
    ("12.2", "nothing returned", "return its result",
     BACKWARD.replace("return (", "(")),
    ("12.2", "no gradients of the biases", "five gradients",
     BACKWARD.replace(", dH.sum(axis=0)", "").replace(", dY.sum(axis=0)", "")),
    ("12.2", "a bias gradient for each token", "db_1 the shape",
     BACKWARD.replace("dH.sum(axis=0)", "dH")),
    ("12.2", "db_2 averaged", "collect from all",
     BACKWARD.replace("dY.sum(axis=0)", "dY.mean(axis=0)")),
    ("12.2", "dW_2 from the sums before the ReLU", "what did W_2 multiply",
     BACKWARD.replace("H.T @ dY", "(X @ W_1 + b_1).T @ dY")),
    ("12.2", "the mask forgotten", "silent on all tokens",
     BACKWARD.replace(" * (H > 0)", "")),
    ("12.2", "the mask on the sign of the gradient", "silent on all tokens",
     BACKWARD.replace("(H > 0)", "(dY @ W_2.T > 0)")),
    ("12.2", "one mask for all tokens", "only where its unit fired",
     BACKWARD.replace("(H > 0)", "(H > 0).any(axis=0)")),
    ("12.2", "the bias left out on the way forward", "what did W_2 multiply",
     BACKWARD.replace(" + b_1", "")),
    ("12.2", "multiplied by the activation", "only where its unit fired",
     BACKWARD.replace("(H > 0)", "H")),
    ("12.2", "dX from the wrong matrix", "through which matrix",
     BACKWARD.replace("dH @ W_1.T", "dH @ W_2")),
    ("12.2", "dX past silent units", "what reaches X",
     BACKWARD.replace("dH @ W_1.T", "dY @ W_2.T @ W_1.T")),
    ("12.2", "dY added to dX", "what reaches X",
     BACKWARD.replace("dH @ W_1.T", "dY + dH @ W_1.T")),
    ("12.2", "dW_1 transposed", "dW_1 the shape",
     BACKWARD.replace("X.T @ dH", "dH.T @ X")),
    ("12.2", "dW_1 averaged over tokens", "what did W_1 multiply",
     BACKWARD.replace("X.T @ dH", "X.T @ dH / len(X)")),
    ("12.2", "the order of the results", "dX the shape",
     BACKWARD.replace("dH @ W_1.T, X.T @ dH,", "X.T @ dH, dH @ W_1.T,")),
    ("12.2", "dY changed in place", "stay as they were",
     "dY *= 3\n" + BACKWARD.replace("dY", "(dY / 3)")),
    ("12.2", "X changed in place", "stay as they were", """
X, out = X.reshape(-1, X.shape[-1]), X
dY = dY.reshape(-1, dY.shape[-1])
H = np.maximum(X @ W_1 + b_1, 0)
dH = (dY @ W_2.T) * (H > 0)
dW_1 = X.T @ dH
out[...] = (dH @ W_1.T).reshape(out.shape)
return out, dW_1, dH.sum(axis=0), H.T @ dY, dY.sum(axis=0)
"""),
    ("12.2", "b_1 changed in place", "stay as they were",
     "b_1 += (X @ W_1).mean()\n" + BACKWARD),
    ("12.2", "two axes only", "it stops with ValueError", BACKWARD),
    ("12.2", "a gradient for each sequence", "two axes in front",
     BACKWARD.replace("X.T", "X.mT").replace("H.T", "H.mT")),
    ("12.2", "summed over the first axis only", "two axes in front", """
H = np.maximum(X @ W_1 + b_1, 0)
dH = (dY @ W_2.T) * (H > 0)
return (dH @ W_1.T, np.tensordot(X, dH, (range(X.ndim - 1),) * 2),
        dH.sum(axis=0), np.tensordot(H, dY, (range(X.ndim - 1),) * 2),
        dY.sum(axis=0))
"""),
    ("12.2", "a slope of 1 at 0", "which slope has ReLU there",
     BACKWARD.replace("(H > 0)", "(X @ W_1 + b_1 >= 0)")),
    ("12.3", "not begun", "12.3 not done yet", "raise NotImplementedError"),
    ("12.3", "X changed in place", "leave X as it was", """
slope = np.vectorize(math.erf)(X / 2**0.5) / 2 + 0.5
X *= np.exp(-X**2 / 2) / (2 * math.pi) ** 0.5
return slope + X
"""),
    ("12.3", "a loop over one axis", "it stops with TypeError",
     "return np.array([" + LOOP + " for x in X])"),
    ("12.3", "flat, whatever came in", "shape (3, 4, 15)",
     "return np.array([" + LOOP + " for x in X.ravel()])"),
    ("12.3", "nothing returned", "return its result",
     SLOPE.replace("return ", "")),
    ("12.3", "the share alone", "both terms",
     SLOPE.replace("share + X * density", "share")),
    ("12.3", "x forgotten in the second term", "one half there",
     SLOPE.replace("X * density", "density")),
    ("12.3", "a minus sign", "both terms",
     SLOPE.replace("share + X", "share - X")),
    ("12.3", "the function itself", "one half there", "return gelu(X)"),
    ("12.3", "a density without its root of 2 pi", "is the share Phi",
     SLOPE.replace(" / math.sqrt(2 * math.pi)", "")),
    ("12.3", "erf of x itself", "is the share Phi",
     SLOPE.replace("erf(X / math.sqrt(2))", "erf(X)")),
    ("12.3", "a square on the x", "what multiplies the density",
     SLOPE.replace("X * density", "X**2 * density")),
    ("12.3", "the size of x", "what multiplies the density",
     SLOPE.replace("X * density", "np.abs(X) * density")),
    ("12.3", "the slope of the density", "both terms",
     SLOPE.replace("X * density", "X * -X * density")),
    ("12.3", "a density a little too wide", "the density that of a normal",
     SLOPE.replace("-X**2 / 2)", "-X**2 / 2.1)")),
    ("12.3", "the tanh version", "is it the exact GELU", """
x = torch.tensor(X, requires_grad=True)
y = F.gelu(x, approximate="tanh").sum()
return torch.autograd.grad(y, x)[0].numpy()
"""),
    ("12.3", "a coarse difference", "is it the exact GELU",
     "return (gelu(X + 1e-2) - gelu(X - 1e-2)) / 2e-2"),
    ("12.3", "a forward difference", "one half there",
     "return (gelu(X + 1e-3) - gelu(X)) / 1e-3"),
    ("12.3", "one number", "the shape of X",
     SLOPE.replace("share + X * density", "(share + X * density).mean()")),
    ("12.4", "not begun", "12.4 not done yet", "raise NotImplementedError"),
    ("12.4", "nothing returned", "return its result",
     PACKED.replace("return ", "")),
    ("12.4", "X changed in place", "leave X, W_in and W_out", """
X += 1
gate, up = np.split((X - 1) @ W_in, 2, axis=-1)
return (silu(gate) * up) @ W_out
"""),
    ("12.4", "halves swapped", "up is not bent",
     PACKED.replace("gate, up =", "up, gate =")),
    ("12.4", "columns taken in turn", "why does a number pass",
     PACKED.replace("np.split(X @ W_in, 2, axis=-1)",
                    "(X @ W_in[:, 0::2], X @ W_in[:, 1::2])")),
    ("12.4", "both bent", "up is not bent",
     PACKED.replace("* up", "* silu(up)")),
    ("12.4", "the product bent", "up is not bent",
     PACKED.replace("silu(gate) * up", "silu(gate * up)")),
    ("12.4", "no activation", "which f",
     PACKED.replace("silu(gate)", "gate")),
    ("12.4", "sigmoid for silu", "why does a number pass",
     PACKED.replace("silu(gate)", "sigmoid(gate)")),
    ("12.4", "ReLU for silu", "which f",
     PACKED.replace("silu(gate)", "relu(gate)")),
    ("12.4", "a sum for the product", "why does a number pass",
     PACKED.replace("silu(gate) * up", "silu(gate) + up")),
    ("12.4", "the matrix bent in place", "leave X, W_in and W_out", """
h = W_in.shape[1] // 2
S = X @ W_in
W_in[:, h:] = 0
return (silu(S[:, :h]) * S[:, h:]) @ W_out
"""),
    ("12.4", "a width of three", "d_ff 7", """
gate, up = (X @ W_in)[..., :3], (X @ W_in)[..., -3:]
return (silu(gate) * up) @ W_out[:3]
"""),
    ("12.4", "cut in the second axis", "X (2, 3, 4, 6)", """
S = X @ W_in
return (silu(S[:, :len(W_out)]) * S[:, len(W_out):]) @ W_out
"""),
    ("12.4", "rows of the matrix cut", "it stops with ValueError",
     PACKED.replace("np.split(X @ W_in, 2, axis=-1)",
                    "(X @ half for half in np.split(W_in, 2, axis=0))")),
]

HIDDEN = [
    ("12.2", "an axis of length 1 lost", "is dX right", """
tokens = [A.reshape(-1, A.shape[-1]) for A in (X, dY)]
H = np.maximum(tokens[0] @ W_1 + b_1, 0)
dH = (tokens[1] @ W_2.T) * (H > 0)
return ((dH @ W_1.T).reshape(X.shape).squeeze(), tokens[0].T @ dH,
        dH.sum(axis=0), H.T @ tokens[1], dY.reshape(-1, len(W_2.T)).sum(axis=0))
"""),
    ("12.2", "small gradients dropped", "numbers of size 1e-06", """
leaves = [torch.tensor(a, requires_grad=True)
          for a in (X, W_1, b_1, W_2, np.zeros(W_2.shape[1]))]
Y = torch.relu(leaves[0] @ leaves[1] + leaves[2]) @ leaves[3] + leaves[4]
return [torch.where(abs(a) < 1e-9, 0, a)
        for a in torch.autograd.grad(Y, leaves, torch.tensor(dY))]
"""),
    ("12.3", "an axis of length 1 lost", "the shape of the answer",
     SLOPE.replace("share + X * density", "(share + X * density).squeeze()")),
    ("12.3", "a number is no array", "it stops with",
     "return np.array([" + LOOP + " for x in X.ravel()]).reshape("
     "len(X), *X.shape[1:])"),
    ("12.4", "a sigmoid that overflows", "numbers of size 300",
     PACKED.replace("silu(gate)", "gate * np.exp(gate) / (1 + np.exp(gate))")),
]

VARIANTS = {
    "12.1": {
        "asks": "formula",
        "one of": {"c": [3, 4, 5, 6, 7, 8, 10, 20]},
        "says": """The units have a leaky ReLU, which multiplies negative
            numbers by $\\tfrac1{{{c}}}$ and leaves the others unchanged; three
            of them compute the tent exactly.""",
        "edits": [("three ReLU units", "three leaky units"),
                  ("up, down = height / (b - a), -height / (c - b)  # the two"
                   " slopes",
                   """bend = 1 - 1 / {c}              # of a unit of weight 1
    up, down = height / (b - a) / bend, -height / (c - b) / bend""")]},
    "12.3": {
        "asks": "formula",
        "one of": {"c": [0.5, 0.6, 0.7, 0.8, 1.25, 1.5, 1.6, 1.75, 2]},
        "says": "The function is $x\\,\\Phi({c} x)$.",
        "edits": [("erf(X / math.sqrt(2))", "erf({c} * X / math.sqrt(2))"),
                  ("np.exp(-(X**2) / 2)", "np.exp(-(({c} * X)**2) / 2)"),
                  ("return share + X *", "return share + {c} * X *")]},
    "12.5": {
        "asks": "formula",
        "one of": {"r": [7, 10, 11, 13, 14], "s": [1, 2, 3, 4]},
        "says": """In 1, the width is at least $\\tfrac{{{r}}}{{3}}
            d_\\mathrm{{model}}$. The mixture has {s} more layers of the same
            width, which each token meets and no router chooses. (The numbers
            given for Llama do not hold.)""",
        "edits": [("-(-8 * d_model //", "-(-{r} * d_model //"),
                  ("n_experts * layer + router,",
                   "(n_experts + {s}) * layer + router,"),
                  ("2 * (k * layer + router)",
                   "2 * ((k + {s}) * layer + router)")]},
}
