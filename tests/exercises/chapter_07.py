"""Answers to the exercises of chapter 07: the lines between the solution marks.

RIGHT   exercise, how it is written, body
WRONG   exercise, the mistake, words that the check must print, body
HIDDEN  exercise, the mistake, words that only the grade says, body
DOMAIN  exercise: a function that draws arguments as its statement allows them
PRECISE exercise: the students' kinds (battery.py) that it refuses, and why
"""

import numpy as np


def draw_7_2(rng):
    shape = (*rng.integers(1, 5, size=rng.integers(0, 4)), rng.integers(1, 9))
    width, n_vocab = rng.integers(1, 8, size=2)
    dX = rng.normal(size=(*shape, width))
    dX = dX * 10 ** rng.uniform(-6, 3, size=(*shape, 1))
    kind = rng.choice([np.int32, np.int64])
    return rng.integers(0, n_vocab, size=shape, dtype=kind), dX, int(n_vocab)


def draw_7_3(rng):
    far = 10 ** rng.uniform(0, 3)
    return (int(rng.integers(-far, far + 1)), 2 * int(rng.integers(1, 9)),
            float(10 ** rng.uniform(0.5, 6)))


def draw_7_4(rng):
    d_model, h, pairs = rng.integers(1, 8, size=3)
    W = rng.normal(size=(d_model, 2 * h * pairs))
    return W * 10 ** rng.uniform(-6, 3, size=(d_model, 1)), int(h)


DOMAIN = {"7.2": draw_7_2, "7.3": draw_7_3, "7.4": draw_7_4}
PRECISE = {}

RIGHT = [
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
    ("7.3", "without a loop", """
even = np.arange(0, d_model, 2)
turn = k * base ** (-even / d_model)
R = np.diag(np.repeat(np.cos(turn), 2))
R[even, even + 1] = -np.sin(turn)
R[even + 1, even] = np.sin(turn)
return R
"""),
    ("7.3", "by torch", """
blocks = []
for i in range(d_model // 2):
    turn = k * base ** (-2 * i / d_model)
    c, s = math.cos(turn), math.sin(turn)
    blocks.append(torch.tensor([[c, -s], [s, c]]))
return torch.block_diag(*blocks)
"""),
    ("7.3", "in float32", """
R = torch.zeros(d_model, d_model)
for j in range(0, d_model, 2):
    turn = torch.tensor(k * base ** (-j / d_model))
    R[j:j + 2, j:j + 2] = torch.tensor([[turn.cos(), -turn.sin()],
                                        [turn.sin(), turn.cos()]])
return R
"""),
    ("7.3", "by turning the identity", """
cos, sin = rope_tables([-k], d_model, base)
return rope_interleaved(np.eye(d_model), cos, sin)
"""),
    ("7.3", "by RoPE of k, transposed", """
cos, sin = rope_tables([k], d_model, base)
return rope_interleaved(np.eye(d_model), cos, sin).T
"""),
    ("7.4", "by slices", """
heads = np.split(W, h, axis=1)
return np.concatenate([part for head in heads
                       for part in (head[:, ::2], head[:, 1::2])], axis=1)
"""),
    ("7.4", "by indices", """
d_k = W.shape[1] // h
order = [head * d_k + j for head in range(h)
         for j in (*range(0, d_k, 2), *range(1, d_k, 2))]
return W[:, order]
"""),
    ("7.4", "by torch", """
d_model, width = W.shape
pairs = torch.tensor(W).view(d_model, h, width // h // 2, 2)
return pairs.transpose(2, 3).reshape(d_model, width)
"""),
    ("7.4", "column by column", """
d_k, Y = W.shape[1] // h, np.empty_like(W)
for head in range(h):
    for j in range(d_k // 2):
        Y[:, head * d_k + j] = W[:, head * d_k + 2 * j]
        Y[:, head * d_k + d_k // 2 + j] = W[:, head * d_k + 2 * j + 1]
return Y
"""),
]

WRONG = [
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
    ("7.3", "transposed", "which direction", """
R = np.zeros((d_model, d_model))
for j in range(0, d_model, 2):
    turn = k * base ** (-j / d_model)
    R[j:j + 2, j:j + 2] = [[np.cos(turn), np.sin(turn)],
                           [-np.sin(turn), np.cos(turn)]]
return R
"""),
    ("7.3", "both signs minus", "rotation", """
R = np.zeros((d_model, d_model))
for j in range(0, d_model, 2):
    turn = k * base ** (-j / d_model)
    R[j:j + 2, j:j + 2] = [[np.cos(turn), -np.sin(turn)],
                           [-np.sin(turn), np.cos(turn)]]
return R
"""),
    ("7.3", "half split", "make a pair", """
half = d_model // 2
turn = k * base ** (-np.arange(0, d_model, 2) / d_model)
c, s = np.diag(np.cos(turn)), np.diag(np.sin(turn))
return np.block([[c, -s], [s, c]])
"""),
    ("7.3", "no factor 2", "its own speed", """
R = np.zeros((d_model, d_model))
for i in range(d_model // 2):
    turn = k * base ** (-i / d_model)
    R[2 * i:2 * i + 2, 2 * i:2 * i + 2] = [[np.cos(turn), -np.sin(turn)],
                                           [np.sin(turn), np.cos(turn)]]
return R
"""),
    ("7.3", "hands counted from 1", "fastest hand", """
R = np.zeros((d_model, d_model))
for j in range(0, d_model, 2):
    turn = k * base ** (-(j + 2) / d_model)
    R[j:j + 2, j:j + 2] = [[np.cos(turn), -np.sin(turn)],
                           [np.sin(turn), np.cos(turn)]]
return R
"""),
    ("7.3", "degrees", "k radians", """
R = np.zeros((d_model, d_model))
for j in range(0, d_model, 2):
    turn = np.radians(k * base ** (-j / d_model))
    R[j:j + 2, j:j + 2] = [[np.cos(turn), -np.sin(turn)],
                           [np.sin(turn), np.cos(turn)]]
return R
"""),
    ("7.3", "all hands at one speed", "its own speed", """
block = [[np.cos(k), -np.sin(k)], [np.sin(k), np.cos(k)]]
return np.kron(np.eye(d_model // 2), block)
"""),
    ("7.3", "base forgotten", "base it is given", """
R = np.zeros((d_model, d_model))
for j in range(0, d_model, 2):
    turn = k * 10_000 ** (-j / d_model)
    R[j:j + 2, j:j + 2] = [[np.cos(turn), -np.sin(turn)],
                           [np.sin(turn), np.cos(turn)]]
return R
"""),
    ("7.3", "mirror", "identity", """
R = np.zeros((d_model, d_model))
for j in range(0, d_model, 2):
    turn = k * base ** (-j / d_model)
    R[j:j + 2, j:j + 2] = [[np.cos(turn), np.sin(turn)],
                           [np.sin(turn), -np.cos(turn)]]
return R
"""),
    ("7.3", "one block only", "square", """
return np.array([[np.cos(k), -np.sin(k)], [np.sin(k), np.cos(k)]])
"""),
    ("7.3", "backwards, and no factor 2", "forwards", """
R = np.zeros((d_model, d_model))
for i in range(d_model // 2):
    turn = k * base ** (-i / d_model)
    R[2 * i:2 * i + 2, 2 * i:2 * i + 2] = [[np.cos(turn), np.sin(turn)],
                                           [-np.sin(turn), np.cos(turn)]]
return R
"""),
    ("7.3", "only forwards", "negative k", """
R, k = np.zeros((d_model, d_model)), abs(k)
for j in range(0, d_model, 2):
    turn = k * base ** (-j / d_model)
    R[j:j + 2, j:j + 2] = [[np.cos(turn), -np.sin(turn)],
                           [np.sin(turn), np.cos(turn)]]
return R
"""),
    ("7.3", "the width 6", "d_model and base", """
R = np.zeros((d_model, d_model))
for j in range(0, d_model, 2):
    turn = k * base ** (-j / 6)
    R[j:j + 2, j:j + 2] = [[np.cos(turn), -np.sin(turn)],
                           [np.sin(turn), np.cos(turn)]]
return R
"""),
    ("7.3", "nothing returned", "return its result", """
R = np.eye(d_model)
"""),
    ("7.3", "not begun", "not done yet", """
raise NotImplementedError
"""),
    ("7.4", "heads run together", "keep its own columns", """
return np.concatenate([W[:, ::2], W[:, 1::2]], axis=1)
"""),
    ("7.4", "the other way", "from half split to interleaved", """
d_model, width = W.shape
halves = W.reshape(d_model, h, 2, width // h // 2)
return halves.swapaxes(-1, -2).reshape(d_model, width)
"""),
    ("7.4", "rows", "rows move", """
order = np.r_[0:len(W):2, 1:len(W):2]
return W[order]
"""),
    ("7.4", "second members first", "turn backwards", """
heads = np.split(W, h, axis=1)
return np.concatenate([part for head in heads
                       for part in (head[:, 1::2], head[:, ::2])], axis=1)
"""),
    ("7.4", "slow hands first", "order of their speed", """
heads = np.split(W, h, axis=1)
return np.concatenate([part for head in heads
                       for part in (head[:, -2::-2], head[:, ::-2])], axis=1)
"""),
    ("7.4", "second half reversed", "order of their speed", """
heads = np.split(W, h, axis=1)
return np.concatenate([part for head in heads
                       for part in (head[:, ::2], head[:, ::-2])], axis=1)
"""),
    ("7.4", "nothing changed", "one member of every pair", """
return W.copy()
"""),
    ("7.4", "first members only", "shape of W", """
return W[:, ::2]
"""),
    ("7.4", "a column twice", "exactly once", """
heads = np.split(W, h, axis=1)
return np.concatenate([part for head in heads
                       for part in (head[:, ::2], head[:, ::2])], axis=1)
"""),
    ("7.4", "h taken for d_k", "one member of every pair", """
pairs = W.reshape(len(W), -1, h // 2, 2)
return pairs.swapaxes(-1, -2).reshape(W.shape)
"""),
    ("7.4", "a minus sign", "numbers change", """
heads = np.split(W, h, axis=1)
return np.concatenate([part for head in heads
                       for part in (-head[:, 1::2], head[:, ::2])], axis=1)
"""),
    ("7.4", "rows turned", "numbers change", """
return rope_half_split(W, *rope_tables(range(len(W)), W.shape[1]))
"""),
    ("7.4", "heads in reverse", "its own columns", """
heads = np.split(W, h, axis=1)[::-1]
return np.concatenate([part for head in heads
                       for part in (head[:, ::2], head[:, 1::2])], axis=1)
"""),
    ("7.4", "in place", "leave W as it was", """
for head in np.split(W, h, axis=1):
    head[:] = np.concatenate([head[:, ::2], head[:, 1::2]], axis=1)
return W
"""),
    ("7.4", "heads of width 8", "h = 2, d_k = 10", """
order = np.array([0, 2, 4, 6, 1, 3, 5, 7])
order = np.concatenate([order + 8 * head for head in range(W.shape[1] // 8)])
return np.concatenate([W[:, order], W[:, len(order):]], axis=1)
"""),
    ("7.4", "three heads", "h = 2, d_k = 10", """
pairs = W.reshape(len(W), 3, -1, 2) if W.shape[1] % 6 == 0 else (
    W.reshape(len(W), 1, -1, 2))
return pairs.swapaxes(-1, -2).reshape(W.shape)
"""),
    ("7.4", "nothing returned", "return its result", """
W = W[:, np.r_[0:W.shape[1]:2, 1:W.shape[1]:2]]
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
    ("7.3", "a table of 64 steps", "for k = 70", """
R, k = np.zeros((d_model, d_model)), min(max(k, -64), 64)
for j in range(0, d_model, 2):
    turn = k * base ** (-j / d_model)
    R[j:j + 2, j:j + 2] = [[np.cos(turn), -np.sin(turn)],
                           [np.sin(turn), np.cos(turn)]]
return R
"""),
    ("7.4", "six heads at most", "h = 7 and d_k = 10", """
d_k, Y = W.shape[1] // h, W.copy()
for head in range(min(h, 6)):
    own = slice(head * d_k, (head + 1) * d_k)
    Y[:, own] = np.hstack([W[:, own][:, ::2], W[:, own][:, 1::2]])
return Y
"""),
]
