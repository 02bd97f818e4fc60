"""Answers to the exercises of chapter 04: the lines between the solution marks.

RIGHT   exercise, how it is written, body
WRONG   exercise, the mistake, words that the check must print, body
HIDDEN  exercise, the mistake, words that only the grade says, body
DOMAIN  exercise: a function that draws arguments as its statement allows them
PRECISE exercise: the students' kinds (battery.py) that it refuses, and why
"""

import numpy as np


def tokens(rng, least=1):
    """(..., n, d), all sizes different; tokens of unequal size and mean."""
    shape = rng.permutation(6)[:rng.integers(2, 6)] + least
    size = 10 ** rng.uniform(-5, 3, size=(*shape[:-1], 1))
    return size * (rng.normal(size=shape) + rng.normal())


def draw_4_3(rng):
    X = tokens(rng)
    gain, bias = rng.normal(size=(2, X.shape[-1])) * 10 ** rng.uniform(-3, 3)
    return X, gain, bias, 10 ** rng.uniform(-8, 0)


def draw_4_4(rng):
    shape = rng.permutation(6)[:rng.integers(0, 4)] + 1
    X = rng.normal(size=(*shape, rng.integers(1, 40)))
    X = X * 10 ** rng.uniform(-5, 3.5, size=(*shape, 1))
    gain = rng.normal(size=X.shape[-1]) * 10 ** rng.uniform(-2, 1)
    return (X.astype(np.float16), gain.astype(np.float16),
            10 ** rng.uniform(-9, 0))


def draw_4_5(rng):
    X = tokens(rng, least=2)
    if rng.random() < 0.3:
        X = X[(0,) * (X.ndim - 1)]                  # one token alone
    dY = rng.normal(size=X.shape) * 10 ** rng.uniform(-5, 3)
    gain = rng.normal(size=X.shape[-1]) * 10 ** rng.uniform(-3, 3)
    return dY, X, gain, 10 ** rng.uniform(-8, 0)


def draw_4_6(rng):
    """At times with a gain of 0 in one place, or no bias, or no c."""
    d_in, d_out = rng.permutation(9)[:2] + 1
    gain, bias = rng.normal(size=(2, d_in)) * 10 ** rng.uniform(-4, 4)
    gain[rng.random(d_in) < 0.1] = 0
    W, c = rng.normal(size=(d_in, d_out)), rng.normal(size=d_out)
    return (gain, bias * (rng.random() > 0.1), W * 10 ** rng.uniform(-4, 4),
            c * (rng.random() > 0.1) * 10 ** rng.uniform(-4, 4))


DOMAIN = {"4.3": draw_4_3, "4.4": draw_4_4, "4.5": draw_4_5, "4.6": draw_4_6}
PRECISE = {}

RIGHT = [
    ("4.3", "by einsum", """
n = X.shape[-2]
centred = X - np.einsum("...nd->...d", X)[..., None, :] / n
var = np.einsum("...nd,...nd->...d", centred, centred)[..., None, :] / n
return centred / np.sqrt(var + eps) * gain + bias
"""),
    ("4.3", "by torch", """
Y = torch.as_tensor(X).movedim(-2, -1)
Y = F.layer_norm(Y, (Y.shape[-1],), eps=eps).movedim(-1, -2)
return Y * torch.as_tensor(gain) + torch.as_tensor(bias)
"""),
    ("4.3", "feature by feature, as specified", """
Y = np.empty_like(X)
for *sequence, f in np.ndindex(*X.shape[:-2], X.shape[-1]):
    column = (*sequence, slice(None), f)
    Y[column] = layer_norm(X[column], gain[f], bias[f], eps)
return Y
"""),
    ("4.4", "by torch", """
return F.rms_norm(torch.as_tensor(X), gain.shape, torch.as_tensor(gain),
                  eps).numpy()
"""),
    ("4.4", "a tensor returned", """
X, gain = torch.tensor(X), torch.tensor(gain)
s = torch.rsqrt(X.float().square().mean(-1, keepdim=True) + eps)
return (X.float() * s).half() * gain
"""),
    ("4.4", "in float64, token by token", """
Y = np.empty_like(X)
for token in np.ndindex(X.shape[:-1]):
    x = X[token].astype(float)
    Y[token] = gain * x / (x @ x / x.size + eps) ** 0.5
return Y
"""),
    ("4.4", "the gain after rounding", """
X32 = X.astype(np.float32)
rms = np.sqrt(np.mean(X32 * X32, axis=-1, keepdims=True) + eps)
return (X32 / rms).astype(np.float16) * gain
"""),
    ("4.5", "by autograd", """
leaves = [torch.tensor(a, requires_grad=True) for a in (X, gain)]
Y = F.rms_norm(leaves[0], gain.shape, leaves[1], eps)
return torch.autograd.grad(Y, leaves, torch.tensor(dY))
"""),
    ("4.5", "token by token, with the Jacobian", """
dX, dgain, d = np.empty_like(X), np.zeros_like(gain), X.shape[-1]
for token in np.ndindex(X.shape[:-1]):
    x, dy = X[token], dY[token]
    s = (x @ x / d + eps) ** -0.5
    dX[token] = (s * np.eye(d) - s**3 * np.outer(x, x) / d) @ (gain * dy)
    dgain += dy * x * s
return dX, dgain
"""),
    ("4.5", "by einsum, as a list", """
d = X.shape[-1]
s = (np.einsum("...d,...d->...", X, X) / d + eps)[..., None] ** -0.5
u = dY * gain
along = np.einsum("...d,...d->...", u, X)[..., None]
dgain = (dY * X * s).reshape(-1, d).sum(axis=0)
return [s * u - s**3 * X * along / d, dgain]
"""),
    ("4.6", "by einsum", """
return np.einsum("i,ij->ij", gain, W), np.einsum("i,ij->j", bias, W) + c
"""),
    ("4.6", "with a diagonal matrix, in torch", """
gain, bias, W, c = (torch.tensor(a) for a in (gain, bias, W, c))
return torch.diag(gain) @ W, W.mT @ bias + c
"""),
    ("4.6", "row by row", """
W_folded, c_folded = np.empty_like(W), c.copy()
for i, row in enumerate(W):
    W_folded[i] = gain[i] * row
    c_folded += bias[i] * row
return W_folded, c_folded
"""),
]

WRONG = [
    ("4.3", "layer normalization", "taken over the tokens", """
return layer_norm(X, gain, bias, eps)
"""),
    ("4.3", "batch normalization", "only sequence 1 did", """
axes = tuple(range(X.ndim - 1))
mean, var = X.mean(axes, keepdims=True), X.var(axes, keepdims=True)
return gain * (X - mean) / np.sqrt(var + eps) + bias
"""),
    ("4.3", "over the batch", "only sequence 1 did", """
mean, var = X.mean(0, keepdims=True), X.var(0, keepdims=True)
return gain * (X - mean) / np.sqrt(var + eps) + bias
"""),
    ("4.3", "over the whole sequence", "one for each feature", """
mean, var = X.mean((-2, -1), keepdims=True), X.var((-2, -1), keepdims=True)
return gain * (X - mean) / np.sqrt(var + eps) + bias
"""),
    ("4.3", "no mean", "is the mean taken", """
return gain * X / np.sqrt(np.mean(X**2, -2, keepdims=True) + eps) + bias
"""),
    ("4.3", "unbiased variance", "not by n - 1", """
mean, var = X.mean(-2, keepdims=True), X.var(-2, ddof=1, keepdims=True)
return gain * (X - mean) / np.sqrt(var + eps) + bias
"""),
    ("4.3", "no root", "its own standard deviation", """
mean, var = X.mean(-2, keepdims=True), X.var(-2, keepdims=True)
return gain * (X - mean) / (var + eps) + bias
"""),
    ("4.3", "one variance for all features", "its own standard deviation", """
mean, var = X.mean(-2, keepdims=True), X.var((-2, -1), keepdims=True)
return gain * (X - mean) / np.sqrt(var + eps) + bias
"""),
    ("4.3", "eps outside the root", "inside the square root", """
mean, std = X.mean(-2, keepdims=True), X.std(-2, keepdims=True)
return gain * (X - mean) / (std + eps) + bias
"""),
    ("4.3", "eps left out", "the eps it is given", """
mean, std = X.mean(-2, keepdims=True), X.std(-2, keepdims=True)
return gain * (X - mean) / std + bias
"""),
    ("4.3", "no gain", "its own gain", """
mean, var = X.mean(-2, keepdims=True), X.var(-2, keepdims=True)
return (X - mean) / np.sqrt(var + eps) + bias
"""),
    ("4.3", "a gain around 1", "its own", """
mean, var = X.mean(-2, keepdims=True), X.var(-2, keepdims=True)
return (1 + gain) * (X - mean) / np.sqrt(var + eps) + bias
"""),
    ("4.3", "gain times bias", "bias added last", """
mean, var = X.mean(-2, keepdims=True), X.var(-2, keepdims=True)
return gain * ((X - mean) / np.sqrt(var + eps) + bias)
"""),
    ("4.3", "gain and bias swapped", "each other's place", """
mean, var = X.mean(-2, keepdims=True), X.var(-2, keepdims=True)
return bias * (X - mean) / np.sqrt(var + eps) + gain
"""),
    ("4.3", "eps 1e-5, whatever was given", "the eps it is given", """
mean, var = X.mean(-2, keepdims=True), X.var(-2, keepdims=True)
return gain * (X - mean) / np.sqrt(var + 1e-5) + bias
"""),
    ("4.3", "1e-5 beside the eps", "still an eps", """
mean, var = X.mean(-2, keepdims=True), X.var(-2, keepdims=True)
return gain * (X - mean) / np.sqrt(var + eps + 1e-5) + bias
"""),
    ("4.3", "gain without its sign", "sign included", """
mean, var = X.mean(-2, keepdims=True), X.var(-2, keepdims=True)
return abs(gain) * (X - mean) / np.sqrt(var + eps) + bias
"""),
    ("4.3", "gain in the wrong order", "its own gain", """
mean, var = X.mean(-2, keepdims=True), X.var(-2, keepdims=True)
return gain[::-1] * (X - mean) / np.sqrt(var + eps) + bias
"""),
    ("4.3", "layer_norm of X transposed", "why scale rows", """
return layer_norm(X.mT, gain, bias, eps).mT
"""),
    ("4.3", "rows sorted", "slow specification", """
mean, var = X.mean(-2, keepdims=True), X.var(-2, keepdims=True)
X = np.sort(X, axis=-2)
return gain * (X - mean) / np.sqrt(var + eps) + bias
"""),
    ("4.3", "second axis", "(5, 4)", """
mean, var = X.mean(1, keepdims=True), X.var(1, keepdims=True)
return gain * (X - mean) / np.sqrt(var + eps) + bias
"""),
    ("4.3", "no bias", "bias", """
mean, var = X.mean(-2, keepdims=True), X.var(-2, keepdims=True)
return gain * (X - mean) / np.sqrt(var + eps)
"""),
    ("4.3", "axis lost", "keepdims=True", """
return gain * (X - X.mean(-2)) / np.sqrt(X.var(-2) + eps) + bias
"""),
    ("4.3", "transposed", "shape of X", """
X = X.swapaxes(-1, -2)
return (X - X.mean(-1, keepdims=True)) / np.sqrt(
    X.var(-1, keepdims=True) + eps)
"""),
    ("4.3", "in place", "leave X, gain and bias", """
X -= X.mean(-2, keepdims=True)
return gain * X / np.sqrt(X.var(-2, keepdims=True) + eps) + bias
"""),
    ("4.3", "gain scaled in place", "leave X, gain and bias", """
mean, var = X.mean(-2, keepdims=True), X.var(-2, keepdims=True)
gain /= 2
return 2 * gain * (X - mean) / np.sqrt(var + eps) + bias
"""),
    ("4.3", "a batch taken for granted", "in your line", """
B, n, d = X.shape
mean = X.mean(1).reshape(B, 1, d)
var = X.var(1).reshape(B, 1, d)
return gain * (X - mean) / np.sqrt(var + eps) + bias
"""),
    ("4.3", "a width of 4 written in", "X of shape (2, 3, 4, 6)", """
Y = np.empty(X.shape)
for f in range(4):
    x = X[..., f]
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    Y[..., f] = gain[f] * (x - mean) / np.sqrt(var + eps) + bias[f]
return Y
"""),
    ("4.3", "nothing returned", "return its result", """
mean = X.mean(-2, keepdims=True)
"""),
    ("4.3", "not begun", "not done yet", """
raise NotImplementedError
"""),
    ("4.4", "all in float16", "size 300", """
s = 1 / np.sqrt(np.mean(X * X, axis=-1, keepdims=True) + np.float16(eps))
return gain * X * s
"""),
    ("4.4", "squares in float16, mean in float32", "size 300", """
mean = np.mean(X * X, axis=-1, keepdims=True, dtype=np.float32)
s = 1 / np.sqrt(mean + eps)
return (gain * (s * X.astype(np.float32))).astype(np.float16)
"""),
    ("4.4", "only the overflow mended", "size 0.0001", """
X32, squares = X.astype(np.float32), X * X
squares = np.where(np.isinf(squares), X32 * X32, squares)
s = 1 / np.sqrt(np.mean(squares, axis=-1, keepdims=True) + eps)
return (gain * (s * X32)).astype(np.float16)
"""),
    ("4.4", "clipped against overflow", "size 300", """
X32, small = X.astype(np.float32), np.clip(X, -255, 255)
s = 1 / np.sqrt(np.mean(small * small, -1, np.float32, keepdims=True) + eps)
return (gain * (s * X32)).astype(np.float16)
"""),
    ("4.4", "float32 returned", "float16 again", """
X = X.astype(np.float32)
return gain * X / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
"""),
    ("4.4", "the mean subtracted", "64 threes", """
X = X.astype(np.float32)
X = X - X.mean(axis=-1, keepdims=True)
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
return (gain * X * s).astype(np.float16)
"""),
    ("4.4", "one mean square for all tokens", "its own mean square", """
X = X.astype(np.float32)
return (gain * X / np.sqrt(np.mean(X**2) + eps)).astype(np.float16)
"""),
    ("4.4", "the sum in place of the mean", "64 ones", """
X = X.astype(np.float32)
s = 1 / np.sqrt(np.sum(X**2, axis=-1, keepdims=True) + eps)
return (gain * X * s).astype(np.float16)
"""),
    ("4.4", "no root", "64 ones", """
X = X.astype(np.float32)
s = 1 / (np.mean(X**2, axis=-1, keepdims=True) + eps)
return (gain * X * s).astype(np.float16)
"""),
    ("4.4", "eps outside the root", "inside the root", """
X = X.astype(np.float32)
s = 1 / (np.sqrt(np.mean(X**2, axis=-1, keepdims=True)) + eps)
return (gain * X * s).astype(np.float16)
"""),
    ("4.4", "no gain", "its own gain", """
X = X.astype(np.float32)
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
return (X * s).astype(np.float16)
"""),
    ("4.4", "s in float16", "more than float16 holds", """
X32 = X.astype(np.float32)
s = 1 / np.sqrt(np.mean(X32**2, axis=-1, keepdims=True) + eps)
return (gain * X * s.astype(np.float16)).astype(np.float16)
"""),
    ("4.4", "gain without its sign", "sign included", """
X = X.astype(np.float32)
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
return (np.abs(gain) * X * s).astype(np.float16)
"""),
    ("4.4", "eps 1e-6, whatever was given", "the eps it is given", """
X = X.astype(np.float32)
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + 1e-6)
return (gain * X * s).astype(np.float16)
"""),
    ("4.4", "eps left out", "the eps it is given", """
X = X.astype(np.float32)
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True))
return (gain * X * s).astype(np.float16)
"""),
    ("4.4", "gain times X in float16", "gain times X", """
X32 = X.astype(np.float32)
s = 1 / np.sqrt(np.mean(X32**2, axis=-1, keepdims=True) + eps)
return (gain * X * s).astype(np.float16)
"""),
    ("4.4", "axis lost", "keepdims=True", """
X = X.astype(np.float32)
s = 1 / np.sqrt(np.mean(X**2, axis=-1) + eps)
return (gain * X * s).astype(np.float16)
"""),
    ("4.4", "in place", "leave X and gain as they were", """
X32 = X.astype(np.float32)
s = 1 / np.sqrt(np.mean(X32**2, axis=-1, keepdims=True) + eps)
X[...] = gain * (s * X32)
return X
"""),
    ("4.4", "rows of a matrix only", "in your line", """
X = X.astype(np.float32)
s = 1 / np.sqrt(np.mean(X**2, axis=1, keepdims=True) + eps)
return (gain * (s * X)).astype(np.float16)
"""),
    ("4.4", "a width of 64 written in", "X of shape (64,)", """
X32 = X.astype(np.float32).reshape(-1, 64)
s = 1 / np.sqrt(np.mean(X32**2, axis=-1, keepdims=True) + eps)
return (gain * (s * X32)).astype(np.float16)
"""),
    ("4.4", "nothing returned", "return its result", """
X = X.astype(np.float32)
"""),
    ("4.4", "not begun", "not done yet", """
raise NotImplementedError
"""),
    ("4.5", "the layer-norm gradient", "why does dX sum to 0", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X_hat, u = s * X, gain * dY
u = u - X_hat * np.mean(u * X_hat, axis=-1, keepdims=True)
ones = np.ones_like(X) - X_hat * np.mean(X_hat, axis=-1, keepdims=True)
dX = u - ones * u.sum(-1, keepdims=True) / ones.sum(-1, keepdims=True)
return s * dX, np.sum(dY * X_hat, axis=tuple(range(X.ndim - 1)))
"""),
    ("4.5", "that of layer_norm, two thirds of it", "did the gain multiply", """
return layer_norm_backward(dY, X, gain, eps)[:2]
"""),
    ("4.5", "s taken for a constant", "a part along X", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
return s * gain * dY, (dY * X * s).reshape(-1, X.shape[-1]).sum(axis=0)
"""),
    ("4.5", "(4.9) with X for X_hat", "a part along X", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
u = gain * dY
dX = s * (u - X * np.mean(u * X, axis=-1, keepdims=True))
return dX, (dY * X * s).reshape(-1, X.shape[-1]).sum(axis=0)
"""),
    ("4.5", "sum for mean", "a part along X", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X_hat, u = s * X, gain * dY
dX = s * (u - X_hat * np.sum(u * X_hat, axis=-1, keepdims=True))
return dX, (dY * X_hat).reshape(-1, X.shape[-1]).sum(axis=0)
"""),
    ("4.5", "plus for minus", "a part along X", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X_hat, u = s * X, gain * dY
dX = s * (u + X_hat * np.mean(u * X_hat, axis=-1, keepdims=True))
return dX, (dY * X_hat).reshape(-1, X.shape[-1]).sum(axis=0)
"""),
    ("4.5", "s forgotten", "a tenth", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X_hat, u = s * X, gain * dY
dX = u - X_hat * np.mean(u * X_hat, axis=-1, keepdims=True)
return dX, (dY * X_hat).reshape(-1, X.shape[-1]).sum(axis=0)
"""),
    ("4.5", "half of it", "does its size", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X_hat, u = s * X, gain * dY
dX = s * (u - X_hat * np.mean(u * X_hat, axis=-1, keepdims=True)) / 2
return dX, (dY * X_hat).reshape(-1, X.shape[-1]).sum(axis=0)
"""),
    ("4.5", "the gain forgotten", "before any mean is taken", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X_hat = s * X
dX = s * (dY - X_hat * np.mean(dY * X_hat, axis=-1, keepdims=True))
return dX, (dY * X_hat).reshape(-1, X.shape[-1]).sum(axis=0)
"""),
    ("4.5", "the gain last", "before any mean is taken", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X_hat = s * X
dX = gain * s * (dY - X_hat * np.mean(dY * X_hat, axis=-1, keepdims=True))
return dX, (dY * X_hat).reshape(-1, X.shape[-1]).sum(axis=0)
"""),
    ("4.5", "dgain with the gain in it", "stay as it was", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X_hat, u = s * X, gain * dY
dX = s * (u - X_hat * np.mean(u * X_hat, axis=-1, keepdims=True))
return dX, (u * X_hat).reshape(-1, X.shape[-1]).sum(axis=0)
"""),
    ("4.5", "dgain from X", "did the gain multiply", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X_hat, u = s * X, gain * dY
dX = s * (u - X_hat * np.mean(u * X_hat, axis=-1, keepdims=True))
return dX, (dY * X).reshape(-1, X.shape[-1]).sum(axis=0)
"""),
    ("4.5", "dgain not summed", "summed over tokens", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X_hat, u = s * X, gain * dY
dX = s * (u - X_hat * np.mean(u * X_hat, axis=-1, keepdims=True))
return dX, dY * X_hat
"""),
    ("4.5", "eps left out", "eps", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True))
X_hat, u = s * X, gain * dY
dX = s * (u - X_hat * np.mean(u * X_hat, axis=-1, keepdims=True))
return dX, (dY * X_hat).reshape(-1, X.shape[-1]).sum(axis=0)
"""),
    ("4.5", "dgain over the first axis only", "summed over all axes", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X_hat, u = s * X, gain * dY
dX = s * (u - X_hat * np.mean(u * X_hat, axis=-1, keepdims=True))
return dX, np.sum(dY * X_hat, axis=0)
"""),
    ("4.5", "means over the second axis", "token by token", """
s = 1 / np.sqrt(np.mean(X**2, axis=1, keepdims=True) + eps)
X_hat, u = s * X, gain * dY
dX = s * (u - X_hat * np.mean(u * X_hat, axis=1, keepdims=True))
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
return dX, (dY * X * s).reshape(-1, X.shape[-1]).sum(axis=0)
"""),
    ("4.5", "the mean of u kept", "does mean(u) belong", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X_hat, u = s * X, gain * dY
dX = s * (u - u.mean(axis=-1, keepdims=True)
          - X_hat * np.mean(u * X_hat, axis=-1, keepdims=True))
return dX, (dY * X_hat).reshape(-1, X.shape[-1]).sum(axis=0)
"""),
    ("4.5", "one token alone forgotten", "AxisError", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X_hat, u = s * X, gain * dY
dX = s * (u - X_hat * np.mean(u * X_hat, axis=-1, keepdims=True))
return dX, np.sum(dY * X_hat, axis=(0, -2) if X.ndim == 3 else -2)
"""),
    ("4.5", "tokens flattened", "the shape of X", """
dY, X = dY.reshape(-1, gain.size), X.reshape(-1, gain.size)
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X_hat, u = s * X, gain * dY
dX = s * (u - X_hat * np.mean(u * X_hat, axis=-1, keepdims=True))
return dX[None], np.sum(dY * X_hat, axis=0)
"""),
    ("4.5", "tokens left flat", "is dX right for X of shape (2, 3, 5)", """
dY, X = dY.reshape(-1, gain.size), X.reshape(-1, gain.size)
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X_hat, u = s * X, gain * dY
dX = s * (u - X_hat * np.mean(u * X_hat, axis=-1, keepdims=True))
return dX, np.sum(dY * X_hat, axis=0)
"""),
    ("4.5", "dY overwritten", "stay as they were", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X_hat = s * X
dgain = np.sum(dY * X_hat, axis=tuple(range(X.ndim - 1)))
dY *= s
u = gain * dY
return u - X_hat * np.mean(u * X_hat, axis=-1, keepdims=True), dgain
"""),
    ("4.5", "X overwritten", "stay as they were", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X *= s
u = gain * dY
dX = s * (u - X * np.mean(u * X, axis=-1, keepdims=True))
return dX, (dY * X).reshape(-1, X.shape[-1]).sum(axis=0)
"""),
    ("4.5", "only dX", "two gradients", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
X_hat, u = s * X, gain * dY
return s * (u - X_hat * np.mean(u * X_hat, axis=-1, keepdims=True))
"""),
    ("4.5", "nothing returned", "return its result", """
s = 1 / np.sqrt(np.mean(X**2, axis=-1, keepdims=True) + eps)
"""),
    ("4.5", "not begun", "not done yet", """
raise NotImplementedError
"""),
    ("4.6", "columns scaled", "row i of W", """
return gain * W, bias @ W + c
"""),
    ("4.6", "gain forgotten", "row i of W", """
return W, bias @ W + c
"""),
    ("4.6", "divided by the gain", "row i of W", """
return W / gain[:, None], bias @ W + c
"""),
    ("4.6", "c forgotten", "is c still there", """
return gain[:, None] * W, bias @ W
"""),
    ("4.6", "bias left where it was", "make of the bias", """
return gain[:, None] * W, bias + c
"""),
    ("4.6", "bias forgotten", "make of the bias", """
return gain[:, None] * W, c
"""),
    ("4.6", "bias from the other side", "make of the bias", """
return gain[:, None] * W, W @ bias + c
"""),
    ("4.6", "bias through the folded W", "scaled by the gain", """
W_folded = gain[:, None] * W
return W_folded, bias @ W_folded + c
"""),
    ("4.6", "c scaled", "is c still there", """
return gain[:, None] * W, (bias + c) @ W
"""),
    ("4.6", "W returned transposed", "row i of W", """
return (gain[:, None] * W).T, bias @ W + c
"""),
    ("4.6", "in place", "stay as they were", """
W *= gain[:, None]
return W, bias @ (W / gain[:, None]) + c
"""),
    ("4.6", "c added to in place", "stay as they were", """
c += bias @ W
return gain[:, None] * W, c
"""),
    ("4.6", "widths written in", "there gain (6,)", """
return np.reshape([gain[i] * W[i] for i in range(4)], W.shape), bias @ W + c
"""),
    ("4.6", "only W", "two things", """
return gain[:, None] * W
"""),
    ("4.6", "nothing returned", "return its result", """
W = gain[:, None] * W
"""),
    ("4.6", "not begun", "not done yet", """
raise NotImplementedError
"""),
]

HIDDEN = [
    ("4.3", "one pass over the data", "two large squares cancel", """
mean = X.mean(axis=-2, keepdims=True)
var = np.mean(X**2, axis=-2, keepdims=True) - mean**2
return gain * (X - mean) / np.sqrt(var + eps) + bias
"""),
    ("4.4", "eps rounded to float16", "not rounded", """
X32 = X.astype(np.float32)
mean = np.mean(X32**2, axis=-1, keepdims=True)
s = 1 / np.sqrt(mean + np.float32(np.float16(eps)))
return (gain * (s * X32)).astype(np.float16)
"""),
    ("4.5", "a guard against small tokens", "size 1e-05", """
s = 1 / np.sqrt(np.maximum(np.mean(X**2, -1, keepdims=True), 1e-8) + eps)
X_hat, u = s * X, gain * dY
dX = s * (u - X_hat * np.mean(u * X_hat, axis=-1, keepdims=True))
return dX, np.sum(dY * X_hat, axis=tuple(range(X.ndim - 1)))
"""),
    ("4.6", "bias by division", "gain of 0", """
W_folded = gain[:, None] * W
return W_folded, (bias / gain) @ W_folded + c
"""),
]
