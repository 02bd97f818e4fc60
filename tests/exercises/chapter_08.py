"""Answers to the exercises of chapter 08: the lines between the solution marks.

RIGHT   exercise, how it is written, body
WRONG   exercise, the mistake, words that the check must print, body
HIDDEN  exercise, the mistake, words that only the grade says, body
DOMAIN  exercise: a function that draws arguments as its statement allows them
PRECISE exercise: the students' kinds (battery.py) that it refuses, and why
"""

import numpy as np


def draw_8_3(rng):
    many, longest = rng.integers(1, 9, size=2)
    return (rng.integers(1, longest + 1, size=many).tolist(),)


def draw_8_4(rng):
    shape = (*rng.integers(1, 5, size=rng.integers(0, 4)),
             *rng.integers(1, 7, size=2))
    Y = rng.normal(size=(2, *shape)) * 10 ** rng.uniform(
        -5, 3, size=(*shape[:-1], 1))
    lse = 10 ** rng.uniform(-5, 3) * rng.uniform(-1, 1, size=(2, *shape[:-1]))
    nothing = rng.random(shape[:-1]) < 0.2          # one part saw nothing
    part = rng.integers(2)
    Y[part, nothing], lse[part, nothing] = 0, -np.inf
    return Y[0], lse[0], Y[1], lse[1]


def draw_8_5(rng):
    lead = rng.integers(1, 4, size=rng.integers(0, 4))
    n, m, d_k, d_v = rng.integers(1, 7, size=4)
    size = 10 ** rng.uniform(-3, 3, size=3)
    scores = 10 ** rng.uniform(-1, 1)
    return (size[0] * rng.normal(size=(*lead, n, d_v)),
            size[1] * rng.normal(size=(*lead, n, d_k)),
            scores / size[1] * rng.normal(size=(*lead, m, d_k)),
            size[2] * rng.normal(size=(*lead, m, d_v)))


DOMAIN = {"8.3": draw_8_3, "8.4": draw_8_4, "8.5": draw_8_5}
PRECISE = {}

RIGHT = [
    ("8.3", "as specified, by loops", """
text = [k for k, length in enumerate(lengths) for _ in range(length)]
n = len(text)
mask = np.zeros((n, n), dtype=bool)
for i in range(n):
    for j in range(i + 1):
        mask[i, j] = text[i] == text[j]
return mask
"""),
    ("8.3", "by blocks", """
n = sum(lengths)
mask, start = np.zeros((n, n), dtype=bool), 0
for length in lengths:
    own = slice(start, start + length)
    mask[own, own] = causal_mask(length)
    start += length
return mask
"""),
    ("8.3", "by torch", """
blocks = [torch.ones(k, k, dtype=torch.bool) for k in lengths]
return torch.block_diag(*blocks).tril().bool()
"""),
    ("8.4", "by the larger of the two", """
top = np.maximum(lse_1, lse_2)
w_1, w_2 = np.exp(lse_1 - top), np.exp(lse_2 - top)
Y = w_1[..., None] * Y_1 + w_2[..., None] * Y_2
return Y / (w_1 + w_2)[..., None], top + np.log(w_1 + w_2)
"""),
    ("8.4", "by torch", """
Y_1, lse_1, Y_2, lse_2 = map(torch.as_tensor, (Y_1, lse_1, Y_2, lse_2))
both = torch.stack([lse_1, lse_2])
share = both.softmax(dim=0)[..., None]
return share[0] * Y_1 + share[1] * Y_2, both.logsumexp(dim=0)
"""),
    ("8.4", "softmax of the pair, by einsum", """
both = np.stack([lse_1, lse_2], axis=-1)
share = softmax(both)
Y = np.einsum("...np,p...nv->...nv", share, np.stack([Y_1, Y_2]))
top = both.max(axis=-1)
return [Y, top + np.log(np.exp(both - top[..., None]).sum(axis=-1))]
"""),
    ("8.5", "by autograd", """
leaves = [torch.tensor(a, requires_grad=True) for a in (Q, K, V)]
Y = F.scaled_dot_product_attention(*leaves)
return torch.autograd.grad(Y, leaves, torch.tensor(dY))
"""),
    ("8.5", "by einsum, with the answer's own product", """
A, root = attention_weights(Q, K), Q.shape[-1] ** 0.5
dA = np.einsum("...nv,...mv->...nm", dY, V)
along = np.einsum("...nv,...nv->...n", dY, A @ V)[..., None]
dS = A * (dA - along) / root
return [np.einsum("...nm,...mk->...nk", dS, K),
        np.einsum("...nm,...nk->...mk", dS, Q),
        np.einsum("...nm,...nv->...mv", A, dY)]
"""),
    ("8.5", "row by row, with the Jacobian", """
A, root = attention_weights(Q, K), Q.shape[-1] ** 0.5
dQ, dK = np.zeros_like(Q), np.zeros_like(K)
for *lead, i in np.ndindex(A.shape[:-1]):
    lead = tuple(lead)
    a = A[lead][i]
    J = np.diag(a) - np.outer(a, a)
    ds = J @ (V[lead] @ dY[lead][i]) / root
    dQ[lead][i] = ds @ K[lead]
    dK[lead] += np.outer(ds, Q[lead][i])
return dQ, dK, np.swapaxes(A, -1, -2) @ dY
"""),
]

WRONG = [
    ("8.3", "a text is known by its length", "equal length", """
text = np.repeat(lengths, lengths)
return np.tril(text[:, None] == text)
"""),
    ("8.3", "three texts and no more", "lengths [1, 6] right", """
a, b, c = lengths if len(lengths) == 3 else (lengths[0], 0, 0)
text = np.repeat([0, 1, 2], [a, b, c])
return np.tril(text[:, None] == text)
"""),
    ("8.3", "the list used up", "leave lengths as it was", """
mask, start = np.zeros((sum(lengths),) * 2, dtype=bool), 0
while lengths:
    end = start + lengths.pop(0)
    mask[start:end, start:end] = np.tril(np.ones((end - start,) * 2))
    start = end
return mask
"""),
    ("8.3", "not begun", "not done yet", "raise NotImplementedError"),
    ("8.3", "nothing returned", "return its result",
     "mask = causal_mask(sum(lengths))"),
    ("8.3", "only causal", "text 2 look into text 1",
     "return causal_mask(sum(lengths))"),
    ("8.3", "not causal", "look ahead", """
text = np.repeat(np.arange(len(lengths)), lengths)
return text[:, None] == text
"""),
    ("8.3", "transposed", "look ahead", """
text = np.repeat(np.arange(len(lengths)), lengths)
return (text[:, None] == text) & causal_mask(len(text)).T
"""),
    ("8.3", "strictly before", "at itself", """
text = np.repeat(np.arange(len(lengths)), lengths)
return np.tril(text[:, None] == text, -1)
"""),
    ("8.3", "numbers", "boolean", """
text = np.repeat(np.arange(len(lengths)), lengths)
return np.tril(text[:, None] == text).astype(float)
"""),
    ("8.3", "other polarity", "at itself", """
text = np.repeat(np.arange(len(lengths)), lengths)
return ~np.tril(text[:, None] == text)
"""),
    ("8.3", "one text less", "(n, n)", """
text = np.repeat(np.arange(len(lengths) - 1), lengths[1:])
return np.tril(text[:, None] == text)
"""),
    ("8.3", "itself only", "all of it",
     "return np.eye(sum(lengths), dtype=bool)"),
    ("8.3", "only the first text is cut off", "text 3 look", """
mask, first = causal_mask(sum(lengths)), lengths[0]
mask[first:, :first] = False
return mask
"""),
    ("8.4", "only part 2 may have seen nothing", "part 1 saw nothing", """
w_2 = np.exp(lse_2 - lse_1)
Y = (Y_1 + w_2[..., None] * Y_2) / (1 + w_2)[..., None]
return Y, lse_1 + np.log(1 + w_2)
"""),
    ("8.4", "one more axis is not foreseen", "shapes clash", """
lse = np.logaddexp(lse_1, lse_2)
w = np.exp(lse_1 - lse).reshape(-1, 1)
return w * Y_1 + (1 - w) * Y_2, lse
"""),
    ("8.4", "in place", "stay as they were", """
lse = np.logaddexp(lse_1, lse_2)
Y_1 *= np.exp(lse_1 - lse)[..., None]
Y_1 += np.exp(lse_2 - lse)[..., None] * Y_2
return Y_1, lse
"""),
    ("8.4", "the shift changes lse_1", "stay as they were", """
top = np.maximum(lse_1, lse_2)
lse_1 -= top
w_1, w_2 = np.exp(lse_1), np.exp(lse_2 - top)
Y = w_1[..., None] * Y_1 + w_2[..., None] * Y_2
return Y / (w_1 + w_2)[..., None], top + np.log(w_1 + w_2)
"""),
    ("8.4", "one axis in front", "shape (3, 1, 4, 2)", """
lse = np.logaddexp(lse_1, lse_2)
w = np.exp(lse_1 - lse)[..., None]
if Y_1.ndim > 3:
    w = w[:1]
return w * Y_1 + (1 - w) * Y_2, lse
"""),
    ("8.4", "not begun", "not done yet", "raise NotImplementedError"),
    ("8.4", "nothing returned", "return its result",
     "lse = np.logaddexp(lse_1, lse_2)"),
    ("8.4", "the answer alone", "two things", """
lse = np.logaddexp(lse_1, lse_2)
w = np.exp(lse_1 - lse)[..., None]
return (w * Y_1 + (1 - w) * Y_2)[..., None]
"""),
    ("8.4", "the mean", "three quarters",
     "return (Y_1 + Y_2) / 2, np.logaddexp(lse_1, lse_2)"),
    ("8.4", "by lse, not by its exponential", "three quarters", """
w = (lse_1 / (lse_1 + lse_2))[..., None]
return w * Y_1 + (1 - w) * Y_2, np.logaddexp(lse_1, lse_2)
"""),
    ("8.4", "the other way round", "who has more", """
lse = np.logaddexp(lse_1, lse_2)
w = np.exp(lse_1 - lse)[..., None]
return w * Y_2 + (1 - w) * Y_1, lse
"""),
    ("8.4", "answers added", "their mean",
     "return Y_1 + Y_2, np.logaddexp(lse_1, lse_2)"),
    ("8.4", "no shift", "What does exp do", """
w_1, w_2 = np.exp(lse_1), np.exp(lse_2)
Y = w_1[..., None] * Y_1 + w_2[..., None] * Y_2
return Y / (w_1 + w_2)[..., None], np.log(w_1 + w_2)
"""),
    ("8.4", "no shift in lse", "lse right", """
w_1 = 1 / (1 + np.exp(lse_2 - lse_1))[..., None]
return w_1 * Y_1 + (1 - w_1) * Y_2, np.log(np.exp(lse_1) + np.exp(lse_2))
"""),
    ("8.4", "lse added", "ln 2", """
w_1 = 1 / (1 + np.exp(lse_2 - lse_1))[..., None]
return w_1 * Y_1 + (1 - w_1) * Y_2, lse_1 + lse_2
"""),
    ("8.4", "the larger lse", "ln 2", """
w_1 = 1 / (1 + np.exp(lse_2 - lse_1))[..., None]
return w_1 * Y_1 + (1 - w_1) * Y_2, np.maximum(lse_1, lse_2)
"""),
    ("8.4", "no axis for the values", "shapes clash", """
lse = np.logaddexp(lse_1, lse_2)
return np.exp(lse_1 - lse) * Y_1 + np.exp(lse_2 - lse) * Y_2, lse
"""),
    ("8.5", "a softmax without its shift", "what does exp do", """
root = Q.shape[-1] ** 0.5
A = np.exp(Q @ np.swapaxes(K, -1, -2) / root)
A, dA = A / A.sum(axis=-1, keepdims=True), dY @ np.swapaxes(V, -1, -2)
dS = A * (dA - (A * dA).sum(axis=-1, keepdims=True)) / root
return dS @ K, np.swapaxes(dS, -1, -2) @ Q, np.swapaxes(A, -1, -2) @ dY
"""),
    ("8.5", "the root of 4 put in by hand", "d_k, d_v = 3, 8, 9, 2", """
A = attention_weights(Q, K)
dA = dY @ np.swapaxes(V, -1, -2)
dS = A * (dA - (A * dA).sum(axis=-1, keepdims=True)) / 2
return dS @ K, np.swapaxes(dS, -1, -2) @ Q, np.swapaxes(A, -1, -2) @ dY
"""),
    ("8.5", "keys by their first axis", "in front", """
A, root = attention_weights(Q, K), Q.shape[-1] ** 0.5
dA = dY @ V.swapaxes(-1, -2)
dS = A * (dA - (A * dA).sum(axis=1, keepdims=True)) / root
return dS @ K, dS.swapaxes(-1, -2) @ Q, A.swapaxes(-1, -2) @ dY
"""),
    ("8.5", "not begun", "not done yet", "raise NotImplementedError"),
    ("8.5", "nothing returned", "return its result",
     "A = attention_weights(Q, K)"),
    ("8.5", "no sum in the softmax", "sum to 0 over the keys", """
A, root = attention_weights(Q, K), Q.shape[-1] ** 0.5
dS = A * (dY @ np.swapaxes(V, -1, -2)) / root
return dS @ K, np.swapaxes(dS, -1, -2) @ Q, np.swapaxes(A, -1, -2) @ dY
"""),
    ("8.5", "a (1 - a) alone", "sum to 0 over the keys", """
A, root = attention_weights(Q, K), Q.shape[-1] ** 0.5
dS = A * (1 - A) * (dY @ np.swapaxes(V, -1, -2)) / root
return dS @ K, np.swapaxes(dS, -1, -2) @ Q, np.swapaxes(A, -1, -2) @ dY
"""),
    ("8.5", "summed over the queries", "sum to 0 over the keys", """
A, root = attention_weights(Q, K), Q.shape[-1] ** 0.5
dA = dY @ np.swapaxes(V, -1, -2)
dS = A * (dA - (A * dA).sum(axis=-2, keepdims=True)) / root
return dS @ K, np.swapaxes(dS, -1, -2) @ Q, np.swapaxes(A, -1, -2) @ dY
"""),
    ("8.5", "no scale on the way back", "dQ is 2 times what", """
A = attention_weights(Q, K)
dA = dY @ np.swapaxes(V, -1, -2)
dS = A * (dA - (A * dA).sum(axis=-1, keepdims=True))
return dS @ K, np.swapaxes(dS, -1, -2) @ Q, np.swapaxes(A, -1, -2) @ dY
"""),
    ("8.5", "scale in dQ alone", "dK is 2 times what", """
A = attention_weights(Q, K)
dA = dY @ np.swapaxes(V, -1, -2)
dS = A * (dA - (A * dA).sum(axis=-1, keepdims=True))
return dS @ K / 2, np.swapaxes(dS, -1, -2) @ Q, np.swapaxes(A, -1, -2) @ dY
"""),
    ("8.5", "no scale on the way forward", "with which share", """
A, root = softmax(Q @ np.swapaxes(K, -1, -2)), Q.shape[-1] ** 0.5
dA = dY @ np.swapaxes(V, -1, -2)
dS = A * (dA - (A * dA).sum(axis=-1, keepdims=True)) / root
return dS @ K, np.swapaxes(dS, -1, -2) @ Q, np.swapaxes(A, -1, -2) @ dY
"""),
    ("8.5", "a sign lost", "opposite way", """
A, root = attention_weights(Q, K), Q.shape[-1] ** 0.5
dA = dY @ np.swapaxes(V, -1, -2)
dS = A * ((A * dA).sum(axis=-1, keepdims=True) - dA) / root
return dS @ K, np.swapaxes(dS, -1, -2) @ Q, np.swapaxes(A, -1, -2) @ dY
"""),
    ("8.5", "dQ and dK swapped", "has dQ the shape of Q", """
A, root = attention_weights(Q, K), Q.shape[-1] ** 0.5
dA = dY @ np.swapaxes(V, -1, -2)
dS = A * (dA - (A * dA).sum(axis=-1, keepdims=True)) / root
return np.swapaxes(dS, -1, -2) @ Q, dS @ K, np.swapaxes(A, -1, -2) @ dY
"""),
    ("8.5", "a matrix only", "batch and heads", """
A, root = attention_weights(Q, K), Q.shape[-1] ** 0.5
dA = dY @ np.swapaxes(V, -1, -2)
dS = A * (dA - (A * dA).sum(axis=-1, keepdims=True)) / root
if Q.ndim > 2:
    dS = dS[:1]
return dS @ K, np.swapaxes(dS, -1, -2) @ Q, np.swapaxes(A, -1, -2) @ dY
"""),
    ("8.5", "the plain mean taken off", "dS by (8.4)", """
A, root = attention_weights(Q, K), Q.shape[-1] ** 0.5
dS = A * (dY @ np.swapaxes(V, -1, -2)) / root
dS = dS - dS.mean(axis=-1, keepdims=True)
return dS @ K, np.swapaxes(dS, -1, -2) @ Q, np.swapaxes(A, -1, -2) @ dY
"""),
    ("8.5", "in place", "stay as they were", """
A, root = attention_weights(Q, K), Q.shape[-1] ** 0.5
dA = dY @ np.swapaxes(V, -1, -2)
dS = A * (dA - (A * dA).sum(axis=-1, keepdims=True))
Q /= root
return dS @ K / root, np.swapaxes(dS, -1, -2) @ Q, np.swapaxes(A, -1, -2) @ dY
"""),
]

HIDDEN = [
    ("8.3", "a text is named by one letter", "1, 1] right", """
text = "".join(str(k) * length for k, length in enumerate(lengths))
text = np.array(list(text))[:sum(lengths)]
return np.tril(text[:, None] == text)
"""),
    ("8.4", "one shift for all queries", "size 1000", """
top = np.max([lse_1, lse_2])
w_1, w_2 = np.exp(lse_1 - top), np.exp(lse_2 - top)
Y = w_1[..., None] * Y_1 + w_2[..., None] * Y_2
return Y / (w_1 + w_2)[..., None], top + np.log(w_1 + w_2)
"""),
    ("8.5", "a batch and heads at most", "with (2, 1, 3) in front", """
A, root = attention_weights(Q, K), Q.shape[-1] ** 0.5
if Q.ndim > 4:
    A = A[:1]
dA = dY @ np.swapaxes(V, -1, -2)
dS = A * (dA - (A * dA).sum(axis=-1, keepdims=True)) / root
return dS @ K, np.swapaxes(dS, -1, -2) @ Q, np.swapaxes(A, -1, -2) @ dY
"""),
]
