"""Answers to the exercises of chapter 05: the lines between the solution marks.

RIGHT   exercise, how it is written, body
WRONG   exercise, the mistake, words that the check must print, body
HIDDEN  exercise, the mistake, words that only the grade says, body
DOMAIN  exercise: a function that draws arguments as its statement allows them
PRECISE exercise: the students' kinds (battery.py) that it refuses, and why
VARIANTS exercise: what a homework sheet changes (tools/homework/variants.py)
"""

import numpy as np


def tokens(rng, least=1):
    """(..., n, d), all sizes different; tokens of unequal size and mean."""
    shape = rng.permutation(6)[:rng.integers(2, 6)] + least
    size = 10 ** rng.uniform(-5, 3, size=(*shape[:-1], 1))
    return size * (rng.normal(size=shape) + rng.normal())


def draw_5_1(rng):
    shape = rng.permutation(6)[:rng.integers(0, 4)] + 1
    X = rng.normal(size=(*shape, rng.integers(1, 40)))
    X = X * 10 ** rng.uniform(-5, 3.5, size=(*shape, 1))
    gain = rng.normal(size=X.shape[-1]) * 10 ** rng.uniform(-2, 1)
    return (X.astype(np.float16), gain.astype(np.float16),
            10 ** rng.uniform(-9, 0))


def draw_5_2(rng):
    X = tokens(rng, least=2)
    if rng.random() < 0.3:
        X = X[(0,) * (X.ndim - 1)]                  # one token alone
    dY = rng.normal(size=X.shape) * 10 ** rng.uniform(-5, 3)
    gain = rng.normal(size=X.shape[-1]) * 10 ** rng.uniform(-3, 3)
    return dY, X, gain, 10 ** rng.uniform(-8, 0)


def draw_5_3(rng):
    """At times with a gain of 0 in one place, or no bias, or no c."""
    d_in, d_out = rng.permutation(9)[:2] + 1
    gain, bias = rng.normal(size=(2, d_in)) * 10 ** rng.uniform(-4, 4)
    gain[rng.random(d_in) < 0.1] = 0
    W, c = rng.normal(size=(d_in, d_out)), rng.normal(size=d_out)
    return (gain, bias * (rng.random() > 0.1), W * 10 ** rng.uniform(-4, 4),
            c * (rng.random() > 0.1) * 10 ** rng.uniform(-4, 4))


def draw_5_4(rng):
    """One to five groups of at least three features; eps above 0."""
    sigmas = 10 ** rng.uniform(-2, 2, size=rng.integers(1, 6))
    return (sigmas, int(rng.integers(3, 50)),
            float(10 ** rng.uniform(-6, 1)))


DOMAIN = {"5.1": draw_5_1, "5.2": draw_5_2, "5.3": draw_5_3, "5.4": draw_5_4}
PRECISE = {}

RIGHT = [
    ("5.1", "by torch", """
return F.rms_norm(torch.as_tensor(X), gain.shape, torch.as_tensor(gain),
                  eps).numpy()
"""),
    ("5.1", "a tensor returned", """
X, gain = torch.tensor(X), torch.tensor(gain)
s = torch.rsqrt(X.float().square().mean(-1, keepdim=True) + eps)
return (X.float() * s).half() * gain
"""),
    ("5.1", "in float64, token by token", """
Y = np.empty_like(X)
for token in np.ndindex(X.shape[:-1]):
    x = X[token].astype(float)
    Y[token] = gain * x / (x @ x / x.size + eps) ** 0.5
return Y
"""),
    ("5.1", "the gain after rounding", """
X32 = X.astype(np.float32)
rms = np.sqrt(np.mean(X32 * X32, axis=-1, keepdims=True) + eps)
return (X32 / rms).astype(np.float16) * gain
"""),
    ("5.2", "by autograd", """
leaves = [torch.tensor(a, requires_grad=True) for a in (X, gain)]
Y = F.rms_norm(leaves[0], gain.shape, leaves[1], eps)
return torch.autograd.grad(Y, leaves, torch.tensor(dY))
"""),
    ("5.2", "token by token, with the Jacobian", """
dX, dgain, d = np.empty_like(X), np.zeros_like(gain), X.shape[-1]
for token in np.ndindex(X.shape[:-1]):
    x, dy = X[token], dY[token]
    s = (x @ x / d + eps) ** -0.5
    dX[token] = (s * np.eye(d) - s**3 * np.outer(x, x) / d) @ (gain * dy)
    dgain += dy * x * s
return dX, dgain
"""),
    ("5.2", "by einsum, as a list", """
d = X.shape[-1]
s = (np.einsum("...d,...d->...", X, X) / d + eps)[..., None] ** -0.5
u = dY * gain
along = np.einsum("...d,...d->...", u, X)[..., None]
dgain = (dY * X * s).reshape(-1, d).sum(axis=0)
return [s * u - s**3 * X * along / d, dgain]
"""),
    ("5.3", "by einsum", """
return np.einsum("i,ij->ij", gain, W), np.einsum("i,ij->j", bias, W) + c
"""),
    ("5.3", "with a diagonal matrix, in torch", """
gain, bias, W, c = (torch.tensor(a) for a in (gain, bias, W, c))
return torch.diag(gain) @ W, W.mT @ bias + c
"""),
    ("5.3", "row by row", """
W_folded, c_folded = np.empty_like(W), c.copy()
for i, row in enumerate(W):
    W_folded[i] = gain[i] * row
    c_folded += bias[i] * row
return W_folded, c_folded
"""),
    ("5.4", "as an array, from the singular values of two diagonals", """
v = np.array(sigmas) ** 2
r = (v + eps) ** -0.5
return np.array([v.size * (width - 2), v.size * (width - 1), np.max(r),
                 np.min(eps * r**3), 99**0.5 * eps**0.5])
"""),
    ("5.4", "group by group", """
ranks, values = [0, 0], []
for sigma in sigmas:
    r = 1 / np.sqrt(sigma**2 + eps)
    ranks[0] += width - 2
    ranks[1] += width - 1
    values += [r, eps * r / (sigma**2 + eps)]
return *ranks, max(values), min(values), np.sqrt(eps / 0.01 - eps)
"""),
]

WRONG = [
    ("5.1", "all in float16", "size 300", """
s = 1 / np.sqrt(np.mean(X * X, axis=-1, keepdims=True) + np.float16(eps))
return gain * X * s
"""),
    ("5.1", "squares in float16, mean in float32", "size 300", """
mean = np.mean(X * X, axis=-1, keepdims=True, dtype=np.float32)
s = 1 / np.sqrt(mean + eps)
return (gain * (s * X.astype(np.float32))).astype(np.float16)
"""),
    ("5.1", "only the overflow mended", "size 0.0001", """
X32, squares = X.astype(np.float32), X * X
squares = np.where(np.isinf(squares), X32 * X32, squares)
s = 1 / np.sqrt(np.mean(squares, axis=-1, keepdims=True) + eps)
return (gain * (s * X32)).astype(np.float16)
"""),
    ("5.1", "clipped against overflow", "size 300", """
X32, small = X.astype(np.float32), np.clip(X, -255, 255)
s = 1 / np.sqrt(np.mean(small * small, -1, np.float32, keepdims=True) + eps)
return (gain * (s * X32)).astype(np.float16)
"""),
    ("5.1", "float32 returned", "float16 again", """
X = X.astype(np.float32)
return gain * X / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
"""),
    ("5.1", "the mean subtracted", "64 threes", """
X = X.astype(np.float32)
X = X - X.mean(axis=-1, keepdims=True)
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
return (gain * X * s).astype(np.float16)
"""),
    ("5.1", "one mean square for all tokens", "its own mean square", """
X = X.astype(np.float32)
return (gain * X / np.sqrt(np.mean(X**2) + eps)).astype(np.float16)
"""),
    ("5.1", "the sum in place of the mean", "64 ones", """
X = X.astype(np.float32)
s = 1 / np.sqrt(np.sum(X**2, axis=-1, keepdims=True) + eps)
return (gain * X * s).astype(np.float16)
"""),
    ("5.1", "no root", "64 ones", """
X = X.astype(np.float32)
s = 1 / (np.mean(X**2, axis=-1, keepdims=True) + eps)
return (gain * X * s).astype(np.float16)
"""),
    ("5.1", "eps outside the root", "inside the root", """
X = X.astype(np.float32)
s = 1 / (np.sqrt(np.mean(X**2, axis=-1, keepdims=True)) + eps)
return (gain * X * s).astype(np.float16)
"""),
    ("5.1", "no gain", "its own gain", """
X = X.astype(np.float32)
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
return (X * s).astype(np.float16)
"""),
    ("5.1", "s in float16", "more than float16 holds", """
X32 = X.astype(np.float32)
s = 1 / np.sqrt(np.mean(X32**2, axis=-1, keepdims=True) + eps)
return (gain * X * s.astype(np.float16)).astype(np.float16)
"""),
    ("5.1", "gain without its sign", "sign included", """
X = X.astype(np.float32)
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
return (np.abs(gain) * X * s).astype(np.float16)
"""),
    ("5.1", "eps 1e-6, whatever was given", "the eps it is given", """
X = X.astype(np.float32)
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + 1e-6)
return (gain * X * s).astype(np.float16)
"""),
    ("5.1", "eps left out", "the eps it is given", """
X = X.astype(np.float32)
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True))
return (gain * X * s).astype(np.float16)
"""),
    ("5.1", "gain times X in float16", "gain times X", """
X32 = X.astype(np.float32)
s = 1 / np.sqrt(np.mean(X32**2, axis=-1, keepdims=True) + eps)
return (gain * X * s).astype(np.float16)
"""),
    ("5.1", "axis lost", "keepdims=True", """
X = X.astype(np.float32)
s = 1 / np.sqrt(np.mean(X**2, axis=-1) + eps)
return (gain * X * s).astype(np.float16)
"""),
    ("5.1", "in place", "leave X and gain as they were", """
X32 = X.astype(np.float32)
s = 1 / np.sqrt(np.mean(X32**2, axis=-1, keepdims=True) + eps)
X[...] = gain * (s * X32)
return X
"""),
    ("5.1", "rows of a matrix only", "in your line", """
X = X.astype(np.float32)
s = 1 / np.sqrt(np.mean(X**2, axis=1, keepdims=True) + eps)
return (gain * (s * X)).astype(np.float16)
"""),
    ("5.1", "a width of 64 written in", "X of shape (64,)", """
X32 = X.astype(np.float32).reshape(-1, 64)
s = 1 / np.sqrt(np.mean(X32**2, axis=-1, keepdims=True) + eps)
return (gain * (s * X32)).astype(np.float16)
"""),
    ("5.1", "nothing returned", "return its result", """
X = X.astype(np.float32)
"""),
    ("5.1", "not begun", "not done yet", """
raise NotImplementedError
"""),
    ("5.2", "the layer-norm gradient", "why does dX sum to 0", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X_hat, u = s * X, gain * dY
u = u - X_hat * np.mean(u * X_hat, axis=-1, keepdims=True)
ones = np.ones_like(X) - X_hat * np.mean(X_hat, axis=-1, keepdims=True)
dX = u - ones * u.sum(-1, keepdims=True) / ones.sum(-1, keepdims=True)
return s * dX, np.sum(dY * X_hat, axis=tuple(range(X.ndim - 1)))
"""),
    ("5.2", "that of layer_norm, two thirds of it", "did the gain multiply", """
return layer_norm_backward(dY, X, gain, eps)[:2]
"""),
    ("5.2", "s taken for a constant", "a part along X", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
return s * gain * dY, (dY * X * s).reshape(-1, X.shape[-1]).sum(axis=0)
"""),
    ("5.2", "(5.4) with X for X_hat", "a part along X", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
u = gain * dY
dX = s * (u - X * np.mean(u * X, axis=-1, keepdims=True))
return dX, (dY * X * s).reshape(-1, X.shape[-1]).sum(axis=0)
"""),
    ("5.2", "sum for mean", "a part along X", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X_hat, u = s * X, gain * dY
dX = s * (u - X_hat * np.sum(u * X_hat, axis=-1, keepdims=True))
return dX, (dY * X_hat).reshape(-1, X.shape[-1]).sum(axis=0)
"""),
    ("5.2", "plus for minus", "a part along X", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X_hat, u = s * X, gain * dY
dX = s * (u + X_hat * np.mean(u * X_hat, axis=-1, keepdims=True))
return dX, (dY * X_hat).reshape(-1, X.shape[-1]).sum(axis=0)
"""),
    ("5.2", "s forgotten", "a tenth", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X_hat, u = s * X, gain * dY
dX = u - X_hat * np.mean(u * X_hat, axis=-1, keepdims=True)
return dX, (dY * X_hat).reshape(-1, X.shape[-1]).sum(axis=0)
"""),
    ("5.2", "half of it", "does its size", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X_hat, u = s * X, gain * dY
dX = s * (u - X_hat * np.mean(u * X_hat, axis=-1, keepdims=True)) / 2
return dX, (dY * X_hat).reshape(-1, X.shape[-1]).sum(axis=0)
"""),
    ("5.2", "the gain forgotten", "before any mean is taken", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X_hat = s * X
dX = s * (dY - X_hat * np.mean(dY * X_hat, axis=-1, keepdims=True))
return dX, (dY * X_hat).reshape(-1, X.shape[-1]).sum(axis=0)
"""),
    ("5.2", "the gain last", "before any mean is taken", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X_hat = s * X
dX = gain * s * (dY - X_hat * np.mean(dY * X_hat, axis=-1, keepdims=True))
return dX, (dY * X_hat).reshape(-1, X.shape[-1]).sum(axis=0)
"""),
    ("5.2", "dgain with the gain in it", "stay as it was", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X_hat, u = s * X, gain * dY
dX = s * (u - X_hat * np.mean(u * X_hat, axis=-1, keepdims=True))
return dX, (u * X_hat).reshape(-1, X.shape[-1]).sum(axis=0)
"""),
    ("5.2", "dgain from X", "did the gain multiply", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X_hat, u = s * X, gain * dY
dX = s * (u - X_hat * np.mean(u * X_hat, axis=-1, keepdims=True))
return dX, (dY * X).reshape(-1, X.shape[-1]).sum(axis=0)
"""),
    ("5.2", "dgain not summed", "summed over tokens", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X_hat, u = s * X, gain * dY
dX = s * (u - X_hat * np.mean(u * X_hat, axis=-1, keepdims=True))
return dX, dY * X_hat
"""),
    ("5.2", "eps left out", "eps", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True))
X_hat, u = s * X, gain * dY
dX = s * (u - X_hat * np.mean(u * X_hat, axis=-1, keepdims=True))
return dX, (dY * X_hat).reshape(-1, X.shape[-1]).sum(axis=0)
"""),
    ("5.2", "dgain over the first axis only", "summed over all axes", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X_hat, u = s * X, gain * dY
dX = s * (u - X_hat * np.mean(u * X_hat, axis=-1, keepdims=True))
return dX, np.sum(dY * X_hat, axis=0)
"""),
    ("5.2", "means over the second axis", "token by token", """
s = 1 / np.sqrt(np.mean(X**2, axis=1, keepdims=True) + eps)
X_hat, u = s * X, gain * dY
dX = s * (u - X_hat * np.mean(u * X_hat, axis=1, keepdims=True))
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
return dX, (dY * X * s).reshape(-1, X.shape[-1]).sum(axis=0)
"""),
    ("5.2", "the mean of u kept", "does mean(u) belong", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X_hat, u = s * X, gain * dY
dX = s * (u - u.mean(axis=-1, keepdims=True)
          - X_hat * np.mean(u * X_hat, axis=-1, keepdims=True))
return dX, (dY * X_hat).reshape(-1, X.shape[-1]).sum(axis=0)
"""),
    ("5.2", "one token alone forgotten", "AxisError", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X_hat, u = s * X, gain * dY
dX = s * (u - X_hat * np.mean(u * X_hat, axis=-1, keepdims=True))
return dX, np.sum(dY * X_hat, axis=(0, -2) if X.ndim == 3 else -2)
"""),
    ("5.2", "tokens flattened", "the shape of X", """
dY, X = dY.reshape(-1, gain.size), X.reshape(-1, gain.size)
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X_hat, u = s * X, gain * dY
dX = s * (u - X_hat * np.mean(u * X_hat, axis=-1, keepdims=True))
return dX[None], np.sum(dY * X_hat, axis=0)
"""),
    ("5.2", "tokens left flat", "is dX right for X of shape (2, 3, 5)", """
dY, X = dY.reshape(-1, gain.size), X.reshape(-1, gain.size)
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X_hat, u = s * X, gain * dY
dX = s * (u - X_hat * np.mean(u * X_hat, axis=-1, keepdims=True))
return dX, np.sum(dY * X_hat, axis=0)
"""),
    ("5.2", "dY overwritten", "stay as they were", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X_hat = s * X
dgain = np.sum(dY * X_hat, axis=tuple(range(X.ndim - 1)))
dY *= s
u = gain * dY
return u - X_hat * np.mean(u * X_hat, axis=-1, keepdims=True), dgain
"""),
    ("5.2", "X overwritten", "stay as they were", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X *= s
u = gain * dY
dX = s * (u - X * np.mean(u * X, axis=-1, keepdims=True))
return dX, (dY * X).reshape(-1, X.shape[-1]).sum(axis=0)
"""),
    ("5.2", "only dX", "two gradients", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X_hat, u = s * X, gain * dY
return s * (u - X_hat * np.mean(u * X_hat, axis=-1, keepdims=True))
"""),
    ("5.2", "nothing returned", "return its result", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
"""),
    ("5.2", "not begun", "not done yet", """
raise NotImplementedError
"""),
    ("5.3", "columns scaled", "row i of W", """
return gain * W, bias @ W + c
"""),
    ("5.3", "gain forgotten", "row i of W", """
return W, bias @ W + c
"""),
    ("5.3", "divided by the gain", "row i of W", """
return W / gain[:, None], bias @ W + c
"""),
    ("5.3", "c forgotten", "is c still there", """
return gain[:, None] * W, bias @ W
"""),
    ("5.3", "bias left where it was", "make of the bias", """
return gain[:, None] * W, bias + c
"""),
    ("5.3", "bias forgotten", "make of the bias", """
return gain[:, None] * W, c
"""),
    ("5.3", "bias from the other side", "make of the bias", """
return gain[:, None] * W, W @ bias + c
"""),
    ("5.3", "bias through the folded W", "scaled by the gain", """
W_folded = gain[:, None] * W
return W_folded, bias @ W_folded + c
"""),
    ("5.3", "c scaled", "is c still there", """
return gain[:, None] * W, (bias + c) @ W
"""),
    ("5.3", "W returned transposed", "row i of W", """
return (gain[:, None] * W).T, bias @ W + c
"""),
    ("5.3", "in place", "stay as they were", """
W *= gain[:, None]
return W, bias @ (W / gain[:, None]) + c
"""),
    ("5.3", "c added to in place", "stay as they were", """
c += bias @ W
return gain[:, None] * W, c
"""),
    ("5.3", "widths written in", "there gain (6,)", """
return np.reshape([gain[i] * W[i] for i in range(4)], W.shape), bias @ W + c
"""),
    ("5.3", "only W", "two things", """
return gain[:, None] * W
"""),
    ("5.3", "nothing returned", "return its result", """
W = gain[:, None] * W
"""),
    ("5.3", "not begun", "not done yet", """
raise NotImplementedError
"""),
    ("5.4", "d - 2", "two directions of its own", """
U, V = len(sigmas) * (width - 2), len(sigmas) * (width - 1)
R, A = (min(sigmas)**2 + eps) ** -0.5, eps * (max(sigmas)**2 + eps) ** -1.5
S = (99 * eps) ** 0.5
return len(sigmas) * width - 2, V, R, A, S
"""),
    ("5.4", "only one direction", "which directions does the norm", """
U, V = len(sigmas) * (width - 2), len(sigmas) * (width - 1)
R, A = (min(sigmas)**2 + eps) ** -0.5, eps * (max(sigmas)**2 + eps) ** -1.5
S = (99 * eps) ** 0.5
return V, V, R, A, S
"""),
    ("5.4", "nothing removed", "which directions does the norm", """
U, V = len(sigmas) * (width - 2), len(sigmas) * (width - 1)
R, A = (min(sigmas)**2 + eps) ** -0.5, eps * (max(sigmas)**2 + eps) ** -1.5
S = (99 * eps) ** 0.5
return len(sigmas) * width, V, R, A, S
"""),
    ("5.4", "a wrong rank", "how many directions are left", """
U, V = len(sigmas) * (width - 2), len(sigmas) * (width - 1)
R, A = (min(sigmas)**2 + eps) ** -0.5, eps * (max(sigmas)**2 + eps) ** -1.5
S = (99 * eps) ** 0.5
return U + 1, V, R, A, S
"""),
    ("5.4", "d - 1", "a direction of its own", """
U, V = len(sigmas) * (width - 2), len(sigmas) * (width - 1)
R, A = (min(sigmas)**2 + eps) ** -0.5, eps * (max(sigmas)**2 + eps) ** -1.5
S = (99 * eps) ** 0.5
return U, len(sigmas) * width - 1, R, A, S
"""),
    ("5.4", "RMSNorm as layer norm", "does not remove the ones", """
U, V = len(sigmas) * (width - 2), len(sigmas) * (width - 1)
R, A = (min(sigmas)**2 + eps) ** -0.5, eps * (max(sigmas)**2 + eps) ** -1.5
S = (99 * eps) ** 0.5
return U, U, R, A, S
"""),
    ("5.4", "rank d", "which direction does RMSNorm", """
U, V = len(sigmas) * (width - 2), len(sigmas) * (width - 1)
R, A = (min(sigmas)**2 + eps) ** -0.5, eps * (max(sigmas)**2 + eps) ** -1.5
S = (99 * eps) ** 0.5
return U, len(sigmas) * width, R, A, S
"""),
    ("5.4", "eps left out of r", "is eps in your r", """
U, V = len(sigmas) * (width - 2), len(sigmas) * (width - 1)
R, A = (min(sigmas)**2 + eps) ** -0.5, eps * (max(sigmas)**2 + eps) ** -1.5
S = (99 * eps) ** 0.5
return U, V, 1 / min(sigmas), A, S
"""),
    ("5.4", "eps outside the root", "inside the root", """
U, V = len(sigmas) * (width - 2), len(sigmas) * (width - 1)
R, A = (min(sigmas)**2 + eps) ** -0.5, eps * (max(sigmas)**2 + eps) ** -1.5
S = (99 * eps) ** 0.5
return U, V, 1 / (min(sigmas) + eps), A, S
"""),
    ("5.4", "the largest sigma", "which group has the largest r", """
U, V = len(sigmas) * (width - 2), len(sigmas) * (width - 1)
R, A = (min(sigmas)**2 + eps) ** -0.5, eps * (max(sigmas)**2 + eps) ** -1.5
S = (99 * eps) ** 0.5
return U, V, (max(sigmas)**2 + eps) ** -0.5, A, S
"""),
    ("5.4", "the square of r", "the r of one group", """
U, V = len(sigmas) * (width - 2), len(sigmas) * (width - 1)
R, A = (min(sigmas)**2 + eps) ** -0.5, eps * (max(sigmas)**2 + eps) ** -1.5
S = (99 * eps) ** 0.5
return U, V, R**2, A, S
"""),
    ("5.4", "x-hat thought removed", "is the direction x-hat removed", """
U, V = len(sigmas) * (width - 2), len(sigmas) * (width - 1)
R, A = (min(sigmas)**2 + eps) ** -0.5, eps * (max(sigmas)**2 + eps) ** -1.5
S = (99 * eps) ** 0.5
return U, V, R, (max(sigmas)**2 + eps) ** -0.5, S
"""),
    ("5.4", "P without r", "is the factor r there", """
U, V = len(sigmas) * (width - 2), len(sigmas) * (width - 1)
R, A = (min(sigmas)**2 + eps) ** -0.5, eps * (max(sigmas)**2 + eps) ** -1.5
S = (99 * eps) ** 0.5
return U, V, R, eps / (max(sigmas)**2 + eps), S
"""),
    ("5.4", "the smallest sigma", "the smaller value along", """
U, V = len(sigmas) * (width - 2), len(sigmas) * (width - 1)
R, A = (min(sigmas)**2 + eps) ** -0.5, eps * (max(sigmas)**2 + eps) ** -1.5
S = (99 * eps) ** 0.5
return U, V, R, eps * (min(sigmas)**2 + eps) ** -1.5, S
"""),
    ("5.4", "a wrong power", "what does (5.3) leave", """
U, V = len(sigmas) * (width - 2), len(sigmas) * (width - 1)
R, A = (min(sigmas)**2 + eps) ** -0.5, eps * (max(sigmas)**2 + eps) ** -1.5
S = (99 * eps) ** 0.5
return U, V, R, eps * (max(sigmas)**2 + eps) ** -2.5, S
"""),
    ("5.4", "the variance", "not the standard deviation", """
U, V = len(sigmas) * (width - 2), len(sigmas) * (width - 1)
R, A = (min(sigmas)**2 + eps) ** -0.5, eps * (max(sigmas)**2 + eps) ** -1.5
S = (99 * eps) ** 0.5
return U, V, R, A, 99 * eps
"""),
    ("5.4", "100 for 99", "without approximation", """
U, V = len(sigmas) * (width - 2), len(sigmas) * (width - 1)
R, A = (min(sigmas)**2 + eps) ** -0.5, eps * (max(sigmas)**2 + eps) ** -1.5
S = (99 * eps) ** 0.5
return U, V, R, A, 10 * eps**0.5
"""),
    ("5.4", "the inverse", "for which variance", """
U, V = len(sigmas) * (width - 2), len(sigmas) * (width - 1)
R, A = (min(sigmas)**2 + eps) ** -0.5, eps * (max(sigmas)**2 + eps) ** -1.5
S = (99 * eps) ** 0.5
return U, V, R, A, 1 / S
"""),
    ("5.4", "the array sorted", "stay as it was", """
sigmas.sort()
low, high = sigmas[0], sigmas[-1]
return (len(sigmas) * (width - 2), len(sigmas) * (width - 1),
        (low**2 + eps) ** -0.5, eps * (high**2 + eps) ** -1.5,
        (99 * eps) ** 0.5)
"""),
    ("5.4", "four numbers", "five numbers", """
return 1, 2, 3, 4
"""),
    ("5.4", "nothing returned", "return its result", """
groups = len(sigmas)
"""),
    ("5.4", "not begun", "not done yet", """
raise NotImplementedError
"""),
]

HIDDEN = [
    ("5.1", "eps rounded to float16", "not rounded", """
X32 = X.astype(np.float32)
mean = np.mean(X32**2, axis=-1, keepdims=True)
s = 1 / np.sqrt(mean + np.float32(np.float16(eps)))
return (gain * (s * X32)).astype(np.float16)
"""),
    ("5.2", "a guard against small tokens", "size 1e-05", """
s = 1 / np.sqrt(np.maximum(np.mean(X**2, -1, keepdims=True), 1e-8) + eps)
X_hat, u = s * X, gain * dY
dX = s * (u - X_hat * np.mean(u * X_hat, axis=-1, keepdims=True))
return dX, np.sum(dY * X_hat, axis=tuple(range(X.ndim - 1)))
"""),
    ("5.3", "bias by division", "gain of 0", """
W_folded = gain[:, None] * W
return W_folded, (bias / gain) @ W_folded + c
"""),
]

SMALL = [2, 3, 4, 5, 6, 7, 8, 9]
VARIANTS = {
    "5.2": {
        "asks": "formula",
        "one of": {"c": SMALL},
        "says": """The norm divides by $\\sqrt{{{c}\\,\\text{{mean of }} x^2 +
            \\varepsilon}}$.""",
        "edits": [("s = 1 / np.sqrt(np.mean(", "s = 1 / np.sqrt({c} * np.mean("
                   ), ("(u - X_hat *", "(u - {c} * X_hat *")]},
    "5.4": {
        "asks": "formula",
        "one of": {"c": [10, 20, 25, 40, 50, 200], "g": SMALL},
        "says": """After it is standardized, each group is multiplied by {g}.
            Number 5 asks for the factor $\\tfrac1{{{c}}}$ in place of
            $\\tfrac1{{100}}$; the factor {g} does not enter there.""",
        "edits": [("(low**2 + eps) ** -0.5, eps *",
                   "{g} * (low**2 + eps) ** -0.5, {g} * eps *"),
                  ("(99 * eps)", "(({c} - 1) * eps)")]},
}
