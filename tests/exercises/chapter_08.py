"""Answers to the exercises of chapter 08: the lines between the solution marks.

RIGHT   exercise, how it is written, body
WRONG   exercise, the mistake, words that the check must print, body
HIDDEN  exercise, the mistake, words that only the grade says, body
DOMAIN  exercise: a function that draws arguments as its statement allows them
PRECISE exercise: the students' kinds (battery.py) that it refuses, and why
VARIANTS exercise: what a homework sheet changes (tools/homework/variants.py)
"""

import numpy as np


def draw_8_1(rng):
    """Scaled scores of 1 to 9 keys, and a number."""
    size = 10 ** rng.uniform(-2, 1)
    return size * rng.uniform(-2, 2, size=rng.integers(1, 10)), rng.normal()


def draw_8_2(rng):
    """A width and two standard deviations; number 2 at most 50."""
    d_k = int(rng.integers(1, 600))
    s_q = min(10 ** rng.uniform(-2, 0.5), (50 / d_k**0.5) ** 0.5)
    return d_k, float(s_q), float(10 ** rng.uniform(-2, 1))


def draw_8_3(rng):
    lead = rng.integers(1, 4, size=rng.integers(0, 4))
    n, m, d_k, d_v = rng.integers(1, 7, size=4)
    size = 10 ** rng.uniform(-3, 3, size=3)
    scores = 10 ** rng.uniform(-1, 1)
    return (size[0] * rng.normal(size=(*lead, n, d_v)),
            size[1] * rng.normal(size=(*lead, n, d_k)),
            scores / size[1] * rng.normal(size=(*lead, m, d_k)),
            size[2] * rng.normal(size=(*lead, m, d_v)))


def draw_8_4(rng):
    """Random scores, cycles of one row, and cycles with an offset."""
    n, m = rng.integers(1, 7, size=2)
    scale = 10 ** rng.uniform(-1, 2)
    if rng.random() < 0.4:
        return (scale * rng.normal(size=(n, m)),)
    row = rng.permutation(n) + rng.uniform(0, 0.3, size=n)
    S = np.array([np.roll(row, i) for i in range(n)])
    if rng.random() < 0.4:
        S[rng.integers(n)] += 1.7
    return (scale * S + rng.normal(),)


DOMAIN = {"8.1": draw_8_1, "8.2": draw_8_2, "8.3": draw_8_3, "8.4": draw_8_4}
PRECISE = {}

RIGHT = [
    ("8.1", "by the odds", """
odds = sum(np.exp(s[1:] - s[0]))
own = 1 / (1 + odds)
return own, own, 1 / sum(np.exp(2 * s - 2 * s[0])), 2 / (2 + odds), t
"""),
    ("8.1", "by torch, as an array", """
own = torch.as_tensor(s).softmax(0)[0].item()
sharp = torch.as_tensor(s + s).softmax(0)[0].item()
return np.array([own, own, sharp, 2 / (1 + 1 / own), t])
"""),
    ("8.2", "by the variance", """
variance, own = d_k * s_q**2 * s_k**2, d_k * s_q**2 / d_k**0.5
return np.sqrt(variance), own, np.exp(own)
"""),
    ("8.2", "as an array", """
root = np.sqrt(d_k)
return np.array([root * s_q * s_k, root * s_q**2, np.e ** (root * s_q**2)])
"""),
    ("8.3", "by autograd", """
leaves = [torch.tensor(a, requires_grad=True) for a in (Q, K, V)]
Y = F.scaled_dot_product_attention(*leaves)
return torch.autograd.grad(Y, leaves, torch.tensor(dY))
"""),
    ("8.3", "by einsum, with the answer's own product", """
A, root = attention_weights(Q, K), Q.shape[-1] ** 0.5
dA = np.einsum("...nv,...mv->...nm", dY, V)
along = np.einsum("...nv,...nv->...n", dY, A @ V)[..., None]
dS = A * (dA - along) / root
return [np.einsum("...nm,...mk->...nk", dS, K),
        np.einsum("...nm,...nk->...mk", dS, Q),
        np.einsum("...nm,...nv->...mv", A, dY)]
"""),
    ("8.3", "row by row, with the Jacobian", """
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
    ("8.4", "by log-sum-exps", """
S = torch.as_tensor(S)
columns = (S - S.logsumexp(0)).exp()
return [1 if columns.allclose(S.softmax(1), 0, 1e-4) else 0, 9 / 81, 0]
"""),
    ("8.4", "by torch, and two of two chances", """
S = torch.as_tensor(S)
same = torch.allclose(S.softmax(0), S.softmax(1), rtol=0, atol=1e-4)
return np.array([1 if same else 0, (1 / 3)**2, 0])
"""),
]

WRONG = [
    ("8.1", "not begun", "not done yet", "raise NotImplementedError"),
    ("8.1", "nothing returned", "return its result", "a = softmax(s)"),
    ("8.1", "four numbers", "five numbers", """
a = softmax(s)
return a[0], a[0], softmax(2 * s)[0], 2 * a[0] / (1 + a[0])
"""),
    ("8.1", "the vector reaches key 0 alone", "1: the vector", """
a, more = softmax(s), s.copy()
more[0] += t
return softmax(more)[0], a[0], softmax(2 * s)[0], 2 * a[0] / (1 + a[0]), t
"""),
    ("8.1", "four times the scores", "2: does the product", """
a = softmax(s)
return a[0], softmax(2 * s)[0], softmax(2 * s)[0], 2 * a[0] / (1 + a[0]), t
"""),
    ("8.1", "the weight doubles", "3: a doubled weight", """
a = softmax(s)
return a[0], a[0], 2 * a[0], 2 * a[0] / (1 + a[0]), t
"""),
    ("8.1", "a scale cancels", "common offset", """
a = softmax(s)
return a[0], a[0], a[0], 2 * a[0] / (1 + a[0]), t
"""),
    ("8.1", "two weights, and the rest as before", "still sum to 1", """
a = softmax(s)
return a[0], a[0], softmax(2 * s)[0], 2 * a[0], t
"""),
    ("8.1", "one copy", "one copy", """
a = softmax(s)
return a[0], a[0], softmax(2 * s)[0], a[0] / (1 + a[0]), t
"""),
    ("8.1", "the values count as often as there are keys", "5: t, times", """
a = softmax(s)
return a[0], a[0], softmax(2 * s)[0], 2 * a[0] / (1 + a[0]), t * len(s)
"""),
    ("8.1", "in place", "leave s as it was", """
a = softmax(s)
s *= 2
return a[0], a[0], softmax(s)[0], 2 * a[0] / (1 + a[0]), t
"""),
    ("8.2", "not begun", "not done yet", "raise NotImplementedError"),
    ("8.2", "nothing returned", "return its result", "own = d_k"),
    ("8.2", "two numbers", "three numbers",
     "return s_q * s_k * d_k**0.5, d_k**0.5 * s_q**2"),
    ("8.2", "the variance", "1: this is the variance", """
own = d_k**0.5 * s_q**2
return s_q**2 * s_k**2 * d_k, own, np.exp(own)
"""),
    ("8.2", "variance 1", "right for s_q = s_k = 1", """
own = d_k**0.5 * s_q**2
return d_k**0.5, own, np.exp(own)
"""),
    ("8.2", "standard deviations add", "d_k variances", """
own = d_k**0.5 * s_q**2
return s_q * s_k * d_k, own, np.exp(own)
"""),
    ("8.2", "mean 0, as for two vectors", "is its mean 0",
     "return s_q * s_k * d_k**0.5, 0, 1"),
    ("8.2", "unscaled", "divided by the root", """
own = d_k * s_q**2
return s_q * s_k * d_k**0.5, own, np.exp(own)
"""),
    ("8.2", "a standard deviation", "mean of q_i^2", """
own = d_k**0.5 * s_q
return s_q * s_k * d_k**0.5, own, np.exp(own)
"""),
    ("8.2", "no exponential", "3: the exponential", """
own = d_k**0.5 * s_q**2
return s_q * s_k * d_k**0.5, own, own
"""),
    ("8.3", "a softmax without its shift", "what does exp do", """
root = Q.shape[-1] ** 0.5
A = np.exp(Q @ np.swapaxes(K, -1, -2) / root)
A, dA = A / A.sum(axis=-1, keepdims=True), dY @ np.swapaxes(V, -1, -2)
dS = A * (dA - (A * dA).sum(axis=-1, keepdims=True)) / root
return dS @ K, np.swapaxes(dS, -1, -2) @ Q, np.swapaxes(A, -1, -2) @ dY
"""),
    ("8.3", "the root of 4 put in by hand", "d_k, d_v = 3, 8, 9, 2", """
A = attention_weights(Q, K)
dA = dY @ np.swapaxes(V, -1, -2)
dS = A * (dA - (A * dA).sum(axis=-1, keepdims=True)) / 2
return dS @ K, np.swapaxes(dS, -1, -2) @ Q, np.swapaxes(A, -1, -2) @ dY
"""),
    ("8.3", "keys by their first axis", "in front", """
A, root = attention_weights(Q, K), Q.shape[-1] ** 0.5
dA = dY @ V.swapaxes(-1, -2)
dS = A * (dA - (A * dA).sum(axis=1, keepdims=True)) / root
return dS @ K, dS.swapaxes(-1, -2) @ Q, A.swapaxes(-1, -2) @ dY
"""),
    ("8.3", "not begun", "not done yet", "raise NotImplementedError"),
    ("8.3", "nothing returned", "return its result",
     "A = attention_weights(Q, K)"),
    ("8.3", "no sum in the softmax", "sum to 0 over the keys", """
A, root = attention_weights(Q, K), Q.shape[-1] ** 0.5
dS = A * (dY @ np.swapaxes(V, -1, -2)) / root
return dS @ K, np.swapaxes(dS, -1, -2) @ Q, np.swapaxes(A, -1, -2) @ dY
"""),
    ("8.3", "a (1 - a) alone", "sum to 0 over the keys", """
A, root = attention_weights(Q, K), Q.shape[-1] ** 0.5
dS = A * (1 - A) * (dY @ np.swapaxes(V, -1, -2)) / root
return dS @ K, np.swapaxes(dS, -1, -2) @ Q, np.swapaxes(A, -1, -2) @ dY
"""),
    ("8.3", "summed over the queries", "sum to 0 over the keys", """
A, root = attention_weights(Q, K), Q.shape[-1] ** 0.5
dA = dY @ np.swapaxes(V, -1, -2)
dS = A * (dA - (A * dA).sum(axis=-2, keepdims=True)) / root
return dS @ K, np.swapaxes(dS, -1, -2) @ Q, np.swapaxes(A, -1, -2) @ dY
"""),
    ("8.3", "no scale on the way back", "dQ is 2 times what", """
A = attention_weights(Q, K)
dA = dY @ np.swapaxes(V, -1, -2)
dS = A * (dA - (A * dA).sum(axis=-1, keepdims=True))
return dS @ K, np.swapaxes(dS, -1, -2) @ Q, np.swapaxes(A, -1, -2) @ dY
"""),
    ("8.3", "scale in dQ alone", "dK is 2 times what", """
A = attention_weights(Q, K)
dA = dY @ np.swapaxes(V, -1, -2)
dS = A * (dA - (A * dA).sum(axis=-1, keepdims=True))
return dS @ K / 2, np.swapaxes(dS, -1, -2) @ Q, np.swapaxes(A, -1, -2) @ dY
"""),
    ("8.3", "no scale on the way forward", "with which weight", """
A, root = softmax(Q @ np.swapaxes(K, -1, -2)), Q.shape[-1] ** 0.5
dA = dY @ np.swapaxes(V, -1, -2)
dS = A * (dA - (A * dA).sum(axis=-1, keepdims=True)) / root
return dS @ K, np.swapaxes(dS, -1, -2) @ Q, np.swapaxes(A, -1, -2) @ dY
"""),
    ("8.3", "a sign lost", "opposite way", """
A, root = attention_weights(Q, K), Q.shape[-1] ** 0.5
dA = dY @ np.swapaxes(V, -1, -2)
dS = A * ((A * dA).sum(axis=-1, keepdims=True) - dA) / root
return dS @ K, np.swapaxes(dS, -1, -2) @ Q, np.swapaxes(A, -1, -2) @ dY
"""),
    ("8.3", "dQ and dK swapped", "has dQ the shape of Q", """
A, root = attention_weights(Q, K), Q.shape[-1] ** 0.5
dA = dY @ np.swapaxes(V, -1, -2)
dS = A * (dA - (A * dA).sum(axis=-1, keepdims=True)) / root
return np.swapaxes(dS, -1, -2) @ Q, dS @ K, np.swapaxes(A, -1, -2) @ dY
"""),
    ("8.3", "a matrix only", "batch and heads", """
A, root = attention_weights(Q, K), Q.shape[-1] ** 0.5
dA = dY @ np.swapaxes(V, -1, -2)
dS = A * (dA - (A * dA).sum(axis=-1, keepdims=True)) / root
if Q.ndim > 2:
    dS = dS[:1]
return dS @ K, np.swapaxes(dS, -1, -2) @ Q, np.swapaxes(A, -1, -2) @ dY
"""),
    ("8.3", "the plain mean taken off", "dS by (8.4)", """
A, root = attention_weights(Q, K), Q.shape[-1] ** 0.5
dS = A * (dY @ np.swapaxes(V, -1, -2)) / root
dS = dS - dS.mean(axis=-1, keepdims=True)
return dS @ K, np.swapaxes(dS, -1, -2) @ Q, np.swapaxes(A, -1, -2) @ dY
"""),
    ("8.3", "in place", "stay as they were", """
A, root = attention_weights(Q, K), Q.shape[-1] ** 0.5
dA = dY @ np.swapaxes(V, -1, -2)
dS = A * (dA - (A * dA).sum(axis=-1, keepdims=True))
Q /= root
return dS @ K / root, np.swapaxes(dS, -1, -2) @ Q, np.swapaxes(A, -1, -2) @ dY
"""),
    ("8.4", "not begun", "not done yet", "raise NotImplementedError"),
    ("8.4", "nothing returned", "return its result", "a = softmax(S)"),
    ("8.4", "two numbers", "three numbers", "return 1, 1 / 9"),
    ("8.4", "symmetric scores pass", "symmetric", """
same = S.shape == S.T.shape and np.allclose(S, S.T)
return int(same), 1 / 9, 0
"""),
    ("8.4", "no shift", "what does exp do", """
e = np.exp(S)
same = np.allclose(e / e.sum(0), e / e.sum(1, keepdims=True), rtol=0, atol=1e-4)
return int(same), 1 / 9, 0
"""),
    ("8.4", "equal sums of scores", "1, S of shape", """
sums = np.concatenate([S.sum(axis=0), S.sum(axis=1)])
return int(np.ptp(sums) < 1e-4), 1 / 9, 0
"""),
    ("8.4", "all symmetric matrices", "are all symmetric", """
same = np.allclose(softmax(S), softmax(S.T).T, rtol=0, atol=1e-4)
return int(same), 1 / 3, 0
"""),
    ("8.4", "all numbers equal", "must all four", """
same = np.allclose(softmax(S), softmax(S.T).T, rtol=0, atol=1e-4)
return int(same), 1 / 27, 0
"""),
    ("8.4", "half of them", "which scores give them", """
same = np.allclose(softmax(S), softmax(S.T).T, rtol=0, atol=1e-4)
return int(same), 1 / 2, 0
"""),
    ("8.4", "equal scores pass", "sum to 2", """
same = np.allclose(softmax(S), softmax(S.T).T, rtol=0, atol=1e-4)
return int(same), 1 / 9, 1 / 243
"""),
    ("8.4", "in place", "leave S as it was", """
S -= S.max()
same = np.allclose(softmax(S), softmax(S.T).T, rtol=0, atol=1e-4)
return int(same), 1 / 9, 0
"""),
    ("8.4", "yes and no swapped", "do they pass", """
same = np.allclose(softmax(S), softmax(S.T).T, rtol=0, atol=1e-4)
return 1 - int(same), 1 / 9, 0
"""),
]

HIDDEN = [
    ("8.1", "at most nine keys", "right for 40 keys", """
a, b = softmax(s[:9]), softmax(2 * s[:9])
return a[0], a[0], b[0], 2 * a[0] / (1 + a[0]), t
"""),
    ("8.2", "no wider than 512", "right for d_k = 1000", """
d_k = min(d_k, 512)
own = d_k**0.5 * s_q**2
return s_q * s_k * d_k**0.5, own, np.exp(own)
"""),
    ("8.3", "a batch and heads at most", "with (2, 1, 3) in front", """
A, root = attention_weights(Q, K), Q.shape[-1] ** 0.5
if Q.ndim > 4:
    A = A[:1]
dA = dY @ np.swapaxes(V, -1, -2)
dS = A * (dA - (A * dA).sum(axis=-1, keepdims=True)) / root
return dS @ K, np.swapaxes(dS, -1, -2) @ Q, np.swapaxes(A, -1, -2) @ dY
"""),
    ("8.4", "an exact comparison in two digits", "right for S of shape", """
same = np.allclose(softmax(S), softmax(S.T).T, rtol=0, atol=0.05)
return int(same), 1 / 9, 0
"""),
]

TENTHS = [0.3, 0.4, 0.6, 0.7, 0.8, 0.9]
VARIANTS = {
    "8.1": {
        "asks": "number",
        "one of": {"c": [3, 4, 5, 6], "n": [3, 4, 5, 6, 7]},
        "says": """In 3, the query is multiplied by {c}. In 4, key 0 is listed
            {n} times, with its value: the weight of these copies together.""",
        "edits": [("softmax(2 * s)[0], 2 * a[0] / (1 + a[0])",
                   "softmax({c} * s)[0], {n} * a[0] / (1 + ({n} - 1) * a[0])")
                  ]},
    "8.2": {
        "asks": "formula",
        "one of": {"c": [0.2, 0.3, 0.4, 0.5, 0.6]},
        "says": """The entries of the queries have the mean {c}, in 1 and in 2;
            those of the keys in 1 have the mean 0 as before. `s_q` stays their
            standard deviation. (Number 2 can be larger than 50.)""",
        "edits": [("own = math.sqrt(d_k) * s_q**2",
                   "square = s_q**2 + {c}**2\n"
                   "    own = math.sqrt(d_k) * square"),
                  ("return s_q * s_k *", "return math.sqrt(square) * s_k *")
                  ]},
    "8.3": {
        "asks": "formula",
        "one of": {"c": [*TENTHS, 1.5, 2.0]},
        "says": """The scores are $ {c} \\, Q K^\\top / \\sqrt{{d_k}}$.""",
        "edits": [("attention_weights(Q, K), math.sqrt(Q.shape[-1])",
                   "attention_weights({c} * Q, K), math.sqrt(Q.shape[-1])"
                   " / {c}")]},
}
