"""Answers to the exercises of chapter 00: the lines between the solution marks.

RIGHT   exercise, how it is written, body
WRONG   exercise, the mistake, words that the check must print, body
HIDDEN  exercise, the mistake, words that only the grade says, body
DOMAIN  exercise: a function that draws arguments as its statement allows them
PRECISE exercise: the students' kinds (battery.py) that it refuses, and why
VARIANTS exercise: what a homework sheet changes (tools/homework/variants.py)
"""

import numpy as np


def draw_0_1(rng):
    """Queries and keys of any sizes, from tiny to huge, at times all 0."""
    B, n, m, h, k = rng.permutation(8)[:5] + 1
    Q, K = rng.normal(size=(B, n, h, k)), rng.normal(size=(B, m, h, k))
    Q *= 10 ** rng.uniform(-6, 6, size=(B, 1, h, 1))
    K *= rng.random() > 0.1
    return Q, K * 10 ** rng.uniform(-6, 6)


def off_at(place):
    """A projection with one wrong number."""
    def project(X, W):
        Y = np.array(X @ W)
        Y.flat[place % Y.size] += 1
        return Y
    return project


def gives_up(X, W):
    raise RuntimeError("no")


def empties(X, W):
    X[:] = 0
    return X @ W


def empties_W(X, W):
    W[:] = 0
    return X @ W


def draw_0_3(rng):
    """A projection: right, rounded otherwise, or wrong in one of many ways."""
    factor = 1 + rng.choice([1e-13, -1e-10, 1e-3, -0.1, 1])
    projections = [
        lambda X, W: X @ W,
        lambda X, W: np.einsum("nd,dk->nk", X, W),
        lambda X, W: (W.T @ X.T).T,
        lambda X, W: factor * (X @ W),
        lambda X, W: X @ W + 0.1 * factor,
        off_at(rng.integers(100)), gives_up, empties, empties_W,
        lambda X, W: np.nan * (X @ W),
        lambda X, W: np.inf * (X @ W),
        lambda X, W: np.zeros((len(X), W.shape[1])),
        lambda X, W: (X @ W)[None],
        lambda X, W: (X @ W)[:, :, None],
        lambda X, W: (X @ W).T,
        lambda X, W: (X @ W)[:1],
        lambda X, W: np.vstack([X @ W, X[:1] @ W]),
        lambda X, W: X @ np.hstack([W, W[:, :1]]),
        lambda X, W: (X @ W).sum(),
        lambda X, W: X @ W.T,
        lambda X, W: X.T @ W,
        lambda X, W: W @ X,
        lambda X, W: np.abs(X) @ W,
        lambda X, W: X @ np.abs(W),
        lambda X, W: np.abs(X @ W),
        lambda X, W: np.maximum(X @ W, 0),
        lambda X, W: np.minimum(X @ W, 0),
        lambda X, W: (X @ W)[::-1],
        lambda X, W: (X @ W)[:, ::-1],
        lambda X, W: np.repeat(X[:1] @ W, len(X), axis=0),
        lambda X, W: X[:, :1] @ W[:1],
        lambda X, W: X,
    ]
    return (projections[rng.integers(len(projections))],)


def draw_0_4(rng):
    return tuple(rng.integers(1, 60, size=3).tolist())


DOMAIN = {"0.1": draw_0_1, "0.2": lambda rng: (), "0.3": draw_0_3,
          "0.4": draw_0_4}
PRECISE = {}

RIGHT = [
    ("0.1", "by matmul", """
return Q.transpose(0, 2, 1, 3) @ K.transpose(0, 2, 3, 1)
"""),
    ("0.1", "by four loops", """
scores = np.zeros((Q.shape[0], Q.shape[2], Q.shape[1], K.shape[1]))
for b, h, n, m in np.ndindex(*scores.shape):
    scores[b, h, n, m] = sum(Q[b, n, h] * K[b, m, h])
return scores
"""),
    ("0.1", "by torch, returned as a tensor", """
return torch.einsum("bnhk,bmhk->bhnm", torch.tensor(Q), torch.tensor(K))
"""),
    ("0.1", "in float32, by torch", """
Q, K = torch.tensor(Q).float(), torch.tensor(K).float()
return torch.matmul(Q.movedim(2, 1), K.movedim(2, 1).mT)
"""),
    ("0.1", "by broadcasting", """
Q, K = np.swapaxes(Q, 1, 2), np.swapaxes(K, 1, 2)
return (Q[:, :, :, None] * K[:, :, None]).sum(axis=-1)
"""),
    ("0.1", "by BLAS, in nested lists", """
return [[Q[b, :, h] @ K[b, :, h].T for h in range(Q.shape[2])]
        for b in range(len(Q))]
"""),
    ("0.3", "numbers by hand", """
X = np.array([[1.0, -2], [3, 5], [-4, 6]])
W = np.array([[1.0, 2, 3, -1, 2], [-4, 0, 1, 7, -3]])
want = [[9, 2, 1, -15, 8], [-17, 6, 14, 32, -9], [-28, -8, -6, 46, -26]]
try:
    got = project(X, W)
except Exception:
    return False
return got.shape == (3, 5) and np.allclose(got, want)
"""),
    ("0.3", "several sizes, by loops", """
from itertools import permutations
for n, d, k in permutations(range(2, 5)):
    X, W = np.random.normal(size=(n, d)), np.random.normal(size=(d, k))
    want = [[sum(x * W[:, j]) for j in range(k)] for x in X]
    try:
        np.testing.assert_allclose(actual=project(X, W), desired=want)
    except Exception:
        return False
return True
"""),
    ("0.3", "by torch", """
X, W = torch.randn(3, 4).double(), torch.randn(4, 6).double()
try:
    got = torch.as_tensor(project(X.clone().numpy(), W.clone().numpy()))
    return got.shape == (3, 6) and torch.allclose(got, X @ W)
except Exception:
    return False
"""),
    ("0.2", "as lists", "return [[3], [4], [3, 8], [2, 8], 0, 6]"),
    ("0.2", "by the letters", """
b, n, h, d = 2, 3, 4, 8
return [(n,), (h,), (n, d), (b, d), 0, 6]
"""),
    ("0.4", "factored", "return 2*n*k*(2*d + n), 2*n*d*(d + n)"),
    ("0.4", "step by step", """
queries = keys = 2 * n * d * k
compare = 2 * n * n * k
return [queries + keys + compare, 2 * n * d * d + 2 * n * d * n]
"""),
]

WRONG = [
    ("0.1", "a letter missing, by torch", "has each axis its letter", """
return torch.einsum("bhnk,bhmk->bhnm", torch.tensor(Q), torch.tensor(K))
"""),
    ("0.1", "no arrow", "did you write the arrow", """
return np.einsum("bnhk,bmhk", Q, K)
"""),
    ("0.1", "queries clipped in place", "leave Q and K as they were", """
np.maximum(Q, 0, out=Q)
return np.einsum("bnhk,bmhk->bhnm", Q, K)
"""),
    ("0.1", "sizes written in", "there Q (3, 4, 5, 7)", """
q, k = (np.swapaxes(A, 1, 2).reshape(8, -1, 6) for A in (Q, K))
return (q @ k.swapaxes(1, 2)).reshape(2, 4, 3, 5)
"""),
    ("0.1", "the sizes of the table", "are other sizes written in", """
scores = np.zeros((len(Q), 4, Q.shape[1], K.shape[1]))
for h in range(4):
    scores[:, h] = Q[:, :, h] @ K[:, :, h].swapaxes(1, 2)
return scores
"""),
    ("0.1", "queries doubled in place", "leave Q and K as they were", """
Q *= 2
return np.einsum("bnhk,bmhk->bhnm", Q, K) / 2
"""),
    ("0.1", "keys sorted", "leave Q and K as they were", """
K.sort()
return np.einsum("bnhk,bmhk->bhnm", Q, K)
"""),
    ("0.1", "a causal mask", "no mask", """
scores = np.einsum("bnhk,bmhk->bhnm", Q, K)
return np.where(np.tri(*scores.shape[-2:]) > 0, scores, -np.inf)
"""),
    ("0.1", "lower triangle", "no mask", """
return np.tril(np.einsum("bnhk,bmhk->bhnm", Q, K))
"""),
    ("0.1", "negative scores cut", "negative numbers stay", """
return np.maximum(np.einsum("bnhk,bmhk->bhnm", Q, K), 0)
"""),
    ("0.1", "integers", "Keep the fractions", """
return np.einsum("bnhk,bmhk->bhnm", Q, K).astype(int)
"""),
    ("0.1", "the sign turned", "with its sign", """
return -np.einsum("bnhk,bmhk->bhnm", Q, K)
"""),
    ("0.1", "keys down", "queries go down", """
return np.einsum("bnhk,bmhk->bhmn", Q, K)
"""),
    ("0.1", "heads summed", "is h summed", """
return np.einsum("bnhk,bmhk->bnm", Q, K)
"""),
    ("0.1", "batch summed", "is b summed", """
return np.einsum("bnhk,bmhk->hnm", Q, K)
"""),
    ("0.1", "heads last", "is the result bhnm", """
return np.einsum("bnhk,bmhk->bnmh", Q, K)
"""),
    ("0.1", "every sequence against every other", "another sequence", """
return np.einsum("bnhk,cmhk->bhnm", Q, K)
"""),
    ("0.1", "every head against every other", "depend on head 0", """
return np.einsum("bnhk,bmgk->bhnm", Q, K)
"""),
    ("0.1", "width summed on each side", "walked together", """
return np.einsum("bnhk,bmhj->bhnm", Q, K)
"""),
    ("0.1", "reshaped, not transposed", "not by a reshape", """
B, n, h, k = Q.shape
return Q.reshape(B, h, n, k) @ K.reshape(B, h, -1, k).swapaxes(2, 3)
"""),
    ("0.1", "keys reshaped into place", "walked together", """
B, m, h, k = K.shape
return Q.transpose(0, 2, 1, 3) @ K.transpose(0, 2, 1, 3).reshape(B, h, k, m)
"""),
    ("0.1", "divided by the root of d_k", "plain dot product", """
return np.einsum("bnhk,bmhk->bhnm", Q, K) / np.sqrt(Q.shape[-1])
"""),
    ("0.1", "mean for a sum", "plain dot product", """
return (Q.swapaxes(1, 2)[:, :, :, None] * K.swapaxes(1, 2)[:, :, None]).mean(-1)
"""),
    ("0.1", "softmax as well", "No softmax", """
scores = np.exp(np.einsum("bnhk,bmhk->bhnm", Q, K))
return scores / scores.sum(axis=-1, keepdims=True)
"""),
    ("0.1", "signs dropped", "four loops compute", """
return np.abs(np.einsum("bnhk,bmhk->bhnm", Q, K))
"""),
    ("0.1", "distance for a dot product", "scores double", """
Q, K = Q.swapaxes(1, 2)[:, :, :, None], K.swapaxes(1, 2)[:, :, None]
return ((Q - K) ** 2).sum(axis=-1)
"""),
    ("0.1", "letters of the other", "queries go down", """
return np.einsum("bmhk,bnhk->bhnm", Q, K)
"""),
    ("0.1", "queries against queries", "is the result bhnm", """
return np.einsum("bnhk,bmhk->bhnm", Q, Q)
"""),
    ("0.1", "cosine", "scores double", """
Q = Q / np.linalg.norm(Q, axis=-1, keepdims=True)
K = K / np.linalg.norm(K, axis=-1, keepdims=True)
return np.einsum("bnhk,bmhk->bhnm", Q, K)
"""),
    ("0.1", "heads in reverse", "depend on head 0", """
return np.einsum("bnhk,bmhk->bhnm", Q, K)[:, ::-1]
"""),
    ("0.1", "a letter missing", "has each axis its letter", """
return np.einsum("nhk,mhk->hnm", Q, K)
"""),
    ("0.1", "by position", "has each axis its letter", """
return Q @ K.swapaxes(-1, -2)
"""),
    ("0.1", "nothing returned", "return its result", """
scores = np.einsum("bnhk,bmhk->bhnm", Q, K)
"""),
    ("0.1", "not begun", "not done yet", """
raise NotImplementedError
"""),
    ("0.3", "stretched", "do you compare shapes", """
rng = np.random.default_rng(0)
X, W = rng.normal(size=(3, 4)), rng.normal(size=(4, 5))
try:
    return np.allclose(project(X, W), X @ W)
except Exception:
    return False
"""),
    ("0.3", "tokens summed", "swaps the tokens", """
rng = np.random.default_rng(0)
X, W = rng.normal(size=(3, 4)), rng.normal(size=(4, 5))
want = X @ W
try:
    got = project(X, W)
    return got.shape == (3, 5) and np.allclose(got.sum(0), want.sum(0))
except Exception:
    return False
"""),
    ("0.3", "mean and spread", "number by number", """
rng = np.random.default_rng(0)
X, W = rng.normal(size=(3, 4)), rng.normal(size=(4, 5))
want = X @ W
try:
    got = project(X, W)
    return bool(np.allclose([got.mean(), got.std()], [want.mean(), want.std()]))
except Exception:
    return False
"""),
    ("0.3", "norms", "number by number", """
rng = np.random.default_rng(0)
X, W = rng.normal(size=(3, 4)), rng.normal(size=(4, 5))
want = X @ W
try:
    got = project(X, W)
    return bool(np.isclose(np.linalg.norm(got), np.linalg.norm(want)))
except Exception:
    return False
"""),
    ("0.3", "a table of answers", "np.allclose, not by ==", """
rng = np.random.default_rng(0)
X, W = rng.normal(size=(3, 4)), rng.normal(size=(4, 5))
want = X @ W
try:
    got = project(X, W)
    return got == want
except Exception:
    return False
"""),
    ("0.3", "an error of its own", "is one of them your own", """
try:
    return bool(np.allclose(project(X, W), X @ W))
except Exception:
    return False
"""),
    ("0.3", "the first entry", "all compared", """
rng = np.random.default_rng(0)
X, W = rng.normal(size=(3, 4)), rng.normal(size=(4, 5))
want = X @ W
try:
    return bool(np.isclose(project(X, W)[0, 0], want[0, 0]))
except Exception:
    return False
"""),
    ("0.3", "shapes alone", "compare numbers", """
X, W = np.ones((3, 4)), np.ones((4, 5))
try:
    return project(X, W).shape == (3, 5)
except Exception:
    return False
"""),
    ("0.3", "the sum alone", "swaps the columns", """
rng = np.random.default_rng(0)
X, W = rng.normal(size=(3, 4)), rng.normal(size=(4, 4))
try:
    return bool(np.isclose(project(X, W).sum(), (X @ W).sum()))
except Exception:
    return False
"""),
    ("0.3", "square and random", "is your W square", """
rng = np.random.default_rng(0)
X, W = rng.normal(size=(3, 4)), rng.normal(size=(4, 4))
try:
    return bool(np.allclose(project(X, W), X @ W))
except Exception:
    return False
"""),
    ("0.3", "symmetric", "its own transpose", """
rng = np.random.default_rng(0)
X, W = rng.normal(size=(3, 4)), rng.normal(size=(4, 4))
W = W + W.T
try:
    return bool(np.allclose(project(X, W), X @ W))
except Exception:
    return False
"""),
    ("0.3", "identity", "negative numbers", """
X = np.random.default_rng(0).normal(size=(3, 4))
try:
    return bool(np.allclose(project(X, np.eye(4)), X))
except Exception:
    return False
"""),
    ("0.3", "positive X", "does your X have negative numbers", """
rng = np.random.default_rng(0)
X, W = rng.random((3, 4)), rng.normal(size=(4, 5))
try:
    return bool(np.allclose(project(X, W), X @ W))
except Exception:
    return False
"""),
    ("0.3", "one token", "first token alone", """
rng = np.random.default_rng(0)
X, W = rng.normal(size=(1, 4)), rng.normal(size=(4, 5))
try:
    return bool(np.allclose(project(X, W), X @ W))
except Exception:
    return False
"""),
    ("0.3", "one column", "swaps the columns", """
rng = np.random.default_rng(0)
X, W = rng.normal(size=(3, 4)), rng.normal(size=(4, 1))
try:
    return bool(np.allclose(project(X, W), X @ W))
except Exception:
    return False
"""),
    ("0.3", "one feature", "is your d above 1", """
X, W = np.array([[1.0], [-2.0], [3.0]]), np.array([[4.0, -5.0]])
try:
    return bool(np.allclose(project(X, W), X @ W))
except Exception:
    return False
"""),
    ("0.3", "exactly equal", "np.allclose, not by ==", """
rng = np.random.default_rng(0)
X, W = rng.normal(size=(3, 4)), rng.normal(size=(4, 5))
try:
    return np.array_equal(project(X, W), X @ W)
except Exception:
    return False
"""),
    ("0.3", "the wrong string", "right projection, X @ W, accepted", """
rng = np.random.default_rng(0)
X, W = rng.normal(size=(3, 4)), rng.normal(size=(4, 4))
try:
    return bool(np.allclose(project(X, W), np.einsum("nd,kd->nk", X, W)))
except Exception:
    return False
"""),
    ("0.3", "nothing caught", "can it return False there", """
rng = np.random.default_rng(0)
X, W = rng.normal(size=(3, 4)), rng.normal(size=(4, 5))
return bool(np.allclose(project(X, W), X @ W))
"""),
    ("0.3", "asserts", "AssertionError", """
rng = np.random.default_rng(0)
X, W = rng.normal(size=(3, 4)), rng.normal(size=(4, 5))
assert np.allclose(project(X, W), X @ W)
return True
"""),
    ("0.3", "always yes", "compare numbers", """
return True
"""),
    ("0.3", "always no", "right projection, X @ W, accepted", """
return False
"""),
    ("0.3", "nothing returned", "return its result", """
X, W = np.ones((3, 4)), np.ones((4, 5))
np.allclose(project(X, W), X @ W)
"""),
    ("0.3", "not begun", "not done yet", """
raise NotImplementedError
"""),
    ("0.2", "not begun", "0.2 not done yet", "raise NotImplementedError"),
    ("0.2", "one number for the first", "how many letters",
     "return [(), (4,), (3, 8), (2, 8), 0, 6]"),
    ("0.2", "all pairs in the first", "how many letters",
     "return [(3, 3), (4,), (3, 8), (2, 8), 0, 6]"),
    ("0.2", "the other axis of the second", "letter's length",
     "return [(3,), (3,), (3, 8), (2, 8), 0, 6]"),
    ("0.2", "heads kept in the third", "how many letters",
     "return [(3,), (4,), (4, 3, 8), (2, 8), 0, 6]"),
    ("0.2", "the last turned", "letter's length",
     "return [(3,), (4,), (3, 8), (8, 2), 0, 6]"),
    ("0.2", "numbers, not tuples", "a tuple",
     "return [3, 4, (3, 8), (2, 8), 0, 6]"),
    ("0.2", "the other axis of W", "first core dimension",
     "return [(3,), (4,), (3, 8), (2, 8), 1, 6]"),
    ("0.2", "the two lengths exchanged", "which axis of Q",
     "return [(3,), (4,), (3, 8), (2, 8), 0, 7]"),
    ("0.2", "the error left out", "two numbers",
     "return [(3,), (4,), (3, 8), (2, 8)]"),
    ("0.4", "not begun", "0.4 not done yet", "raise NotImplementedError"),
    ("0.4", "multiplications only", "count both",
     "return 2*n*d*k + n*n*k, n*d*d + n*n*d"),
    ("0.4", "one projection", "both projections",
     "return 2*n*d*k + 2*n*n*k, 2*n*d*d + 2*n*n*d"),
    ("0.4", "the other order", "each other's place",
     "return 2*n*d*d + 2*n*n*d, 4*n*d*k + 2*n*n*k"),
    ("0.4", "the kept matrix counted", "X M first",
     "return 4*n*d*k + 2*n*n*k, 2*d*d*k + 2*n*d*d + 2*n*n*d"),
    ("0.4", "one number", "two numbers", "return 4*n*d*k + 2*n*n*k"),
]

HIDDEN = [
    ("0.1", "squeezed", "does it work for B, n, m", """
return np.einsum("bnhk,bmhk->bhnm", Q, K).squeeze()
"""),
    ("0.3", "one entry", "every row and every column", """
rng = np.random.default_rng(0)
X, W = rng.normal(size=(3, 4)), rng.normal(size=(4, 5))
want = X @ W
try:
    got = project(X, W)
    return got.shape == (3, 5) and np.isclose(got[2, 1], want[2, 1])
except Exception:
    return False
"""),
    ("0.3", "the last token", "every row and every column", """
rng = np.random.default_rng(0)
X, W = rng.normal(size=(3, 4)), rng.normal(size=(4, 5))
want = X @ W
try:
    got = project(X, W)
    return got.shape == (3, 5) and np.allclose(got[-1], want[-1])
except Exception:
    return False
"""),
    ("0.3", "all tokens but the first", "every row and every column", """
rng = np.random.default_rng(0)
X, W = rng.normal(size=(3, 4)), rng.normal(size=(4, 5))
want = X @ W
try:
    got = project(X, W)
    return got.shape == (3, 5) and np.allclose(got[1:], want[1:])
except Exception:
    return False
"""),
    ("0.3", "the first column", "every row and every column", """
rng = np.random.default_rng(0)
X, W = rng.normal(size=(3, 4)), rng.normal(size=(4, 5))
want = X @ W
try:
    got = project(X, W)
    return got.shape == (3, 5) and np.allclose(got[:, 0], want[:, 0])
except Exception:
    return False
"""),
    ("0.3", "the diagonal", "every row and every column", """
rng = np.random.default_rng(0)
X, W = rng.normal(size=(3, 4)), rng.normal(size=(4, 5))
want = X @ W
try:
    got = project(X, W)
    return got.shape == (3, 5) and np.allclose(np.diag(got), np.diag(want))
except Exception:
    return False
"""),
    ("0.3", "the four corners", "every row and every column", """
rng = np.random.default_rng(0)
X, W = rng.normal(size=(3, 4)), rng.normal(size=(4, 5))
want = X @ W
try:
    got = project(X, W)
    return got.shape == (3, 5) and np.allclose(got[::2, ::4], want[::2, ::4])
except Exception:
    return False
"""),
    ("0.3", "signs dropped", "a wrong sign, or a clipped one", """
rng = np.random.default_rng(0)
X, W = rng.normal(size=(3, 4)), rng.normal(size=(4, 5))
want = X @ W
try:
    got = project(X, W)
    return got.shape == (3, 5) and np.allclose(abs(got), abs(want))
except Exception:
    return False
"""),
    ("0.3", "squares", "a wrong sign, or a clipped one", """
rng = np.random.default_rng(0)
X, W = rng.normal(size=(3, 4)), rng.normal(size=(4, 5))
want = X @ W
try:
    got = project(X, W)
    return got.shape == (3, 5) and np.allclose(got**2, want**2)
except Exception:
    return False
"""),
    ("0.3", "one-sided", "a wrong sign, or a clipped one", """
rng = np.random.default_rng(0)
X, W = rng.normal(size=(3, 4)), rng.normal(size=(4, 5))
want = X @ W
try:
    got = project(X, W)
    return got.shape == (3, 5) and (got - want).max() < 1e-9
except Exception:
    return False
"""),
    ("0.3", "one-sided, other side", "from both sides", """
rng = np.random.default_rng(0)
X, W = rng.normal(size=(3, 4)), rng.normal(size=(4, 5))
want = X @ W
try:
    got = project(X, W)
    return got.shape == (3, 5) and (want - got).max() < 1e-9
except Exception:
    return False
"""),
    ("0.3", "NaN is not far", "is NaN refused", """
rng = np.random.default_rng(0)
X, W = rng.normal(size=(3, 4)), rng.normal(size=(4, 5))
want = X @ W
try:
    got = project(X, W)
    return got.shape == (3, 5) and not (abs(got - want) > 1e-6).any()
except Exception:
    return False
"""),
    ("0.3", "NaN ignored", "is NaN refused", """
rng = np.random.default_rng(0)
X, W = rng.normal(size=(3, 4)), rng.normal(size=(4, 5))
want = X @ W
try:
    got = project(X, W)
    return got.shape == (3, 5) and np.nanmax(abs(got - want), initial=0) < 1e-6
except Exception:
    return False
"""),
    ("0.3", "within 0.05", "off by 1 in 1000", """
rng = np.random.default_rng(0)
X, W = rng.normal(size=(3, 4)), rng.normal(size=(4, 5))
want = X @ W
try:
    got = project(X, W)
    return got.shape == (3, 5) and np.allclose(got, want, atol=0.05)
except Exception:
    return False
"""),
    ("0.3", "multiplied after the call", "may empty X", """
rng = np.random.default_rng(0)
X, W = rng.normal(size=(3, 4)), rng.normal(size=(4, 5))
try:
    got = project(X, W)
    return got.shape == (3, 5) and np.allclose(got, X @ W)
except Exception:
    return False
"""),
    ("0.1", "other sizes spoil the queries", "leave Q and K as they were", """
scores = np.einsum("bnhk,bmhk->bhnm", Q, K)
if len(Q) != 2:
    Q *= 2
return scores
"""),
    ("0.3", "a wide tolerance", "off by 1 in 1000", """
rng = np.random.default_rng(0)
X, W = rng.normal(size=(3, 4)), rng.normal(size=(4, 5))
try:
    got = project(X, W)
    return got.shape == (3, 5) and np.allclose(got, X @ W, rtol=0.05)
except Exception:
    return False
"""),
    ("0.3", "one kind of exception", "whatever it raises", """
rng = np.random.default_rng(0)
X, W = rng.normal(size=(3, 4)), rng.normal(size=(4, 5))
try:
    got = project(X, W)
except ValueError:
    return False
return got.shape == (3, 5) and np.allclose(got, X @ W)
"""),
    ("0.4", "right for those of the check", "is it right for n, d, k",
     """
known = {(2, 3, 5), (7, 4, 3), (128, 512, 64), (1, 1, 1)}
off = (n, d, k) not in known
return 4*n*d*k + 2*n*n*k + off, 2*n*d*d + 2*n*n*d
"""),
]

SMALL = [2, 3, 4, 5, 6, 7, 8, 9]
VARIANTS = {
    "0.1": {
        "asks": "order",
        "one of": {"out": ["hbmn", "nbhm", "mhbn", "bnhm", "hmbn", "nhmb",
                           "mbnh", "hnmb", "bmnh", "nmhb", "mnbh", "hbnm"]},
        "says": "The result has the axes `{out}`, in this order.",
        "edits": [("bmhk->bhnm", "bmhk->{out}"),
                  ("(b, m, h, k) -> (b, h, n, m).",
                   "(b, m, h, k) -> {out}.")]},
    "0.4": {
        "asks": "formula",
        "one of": {"c": SMALL},
        "says": """The keys are those of another text, which has {c} times as
            many tokens: the scores are $X W^Q (X' W^K)^\\top$, with $X'$ of
            shape $({c} n, d)$. The second way is $X \\, (W^Q (W^K)^\\top) \\,
            X'^\\top$.""",
        "edits": [("2 * (2 * n * d * k) + 2 * n * n * k     # twice nd,dk;"
                   " nk,mk",
                   "2 * (1 + {c}) * n * d * k + 2 * {c} * n * n * k"),
                  ("2 * n * n * d                # nd,de; ne,me",
                   "2 * {c} * n * n * d")]},
}
