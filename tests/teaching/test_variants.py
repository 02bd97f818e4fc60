"""What a variant calls right, held against another way to the same numbers.

An oracle takes the numbers of the sentence and the arguments, and shares no
line with the edits of tests/exercises/.
"""

import math

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from course.answers import AnsweredExercise, lesson, stored
from course.chapter import chapters
from tools.homework import variants

PATHS = {str(int(path.name[:2])): path for path in chapters()}


def axes(v, Q, K):
    sizes = dict(zip("bnhm", (*Q.shape[:3], K.shape[1]), strict=True))
    want = np.zeros([sizes[letter] for letter in v["out"]])
    for place in np.ndindex(want.shape):
        b, n, h, m = (place[v["out"].index(letter)] for letter in "bnhm")
        want[place] = Q[b, n, h] @ K[b, m, h]
    return want


def flops(v, n, d, k):
    def product(a, b, c):
        return 2 * a * b * c

    keys = v["c"] * n
    return (product(n, d, k) + product(keys, d, k) + product(n, k, keys),
            product(n, d, d) + product(n, d, keys))


def gradients(function, dY, *inputs):
    """By autograd, of a function of these inputs."""
    leaves = [torch.tensor(x, dtype=torch.float64, requires_grad=True)
              for x in inputs]
    function(*leaves).backward(torch.tensor(dY, dtype=torch.float64))
    return [leaf.grad.numpy() for leaf in leaves]


def residual(v, dX, W, c):
    want = [dX]
    for W_l in W[::-1]:
        want += gradients(lambda x, W_l=W_l: v["a"] * x + c * (
            x @ torch.tensor(W_l).T), want[-1], np.zeros_like(dX))
    return np.stack(want[::-1])


def scales(v, d):
    x = np.arange(-3.0, 4.0)
    x = np.concatenate([x, -x])                         # symmetric
    leaky = np.where(x < 0, x / v["c"], x)
    kept = v["m"] * x * math.sqrt(1 - 1 / v["p"])
    rms = [math.sqrt(np.mean(y**2)) for y in (x, leaky, kept)]
    typical = lesson(PATHS["3"])["log_growth"](1, d)
    return math.exp(-typical), rms[0] / rms[1], rms[0] / rms[2]


def by_two_features(v, a, sigma, eps):
    def norm(z):
        return (z - z.mean()) / (z.std() + eps)

    x = np.array([-sigma, sigma])
    k = norm(a * x + 1)[1] / norm(x)[1]
    low, high = -60.0, 60.0
    for _ in range(200):
        middle = (low + high) / 2
        above = norm(10**middle * x).std() > 1 / v["c"]
        low, high = (low, middle) if above else (middle, high)
    return k, 1 / norm(x)[1], 1, 10**low


def by_power(v, X, gain, bias, eps):
    off = X - X.mean(-2, keepdims=True)
    size = (np.sum(abs(off) ** v["p"], -2, keepdims=True) / X.shape[-2] + eps)
    return off * gain * size ** (-1 / v["p"]) + bias


def rms_backward(v, dY, X, gain, eps=1e-6):
    return gradients(lambda X, gain: gain * X / torch.sqrt(
        v["c"] * (X**2).mean(-1, keepdim=True) + eps), dY, X, gain)


def groups(v, sigmas, width, eps):
    rng, blocks = np.random.default_rng(0), []
    for sigma in sigmas:
        x = rng.normal(size=width)
        x = torch.tensor(sigma * (x - x.mean()) / x.std())
        blocks.append(torch.autograd.functional.jacobian(lambda x: v["g"] * (
            x - x.mean()) / torch.sqrt(x.var(correction=0) + eps), x))
    values = np.concatenate([np.linalg.svd(J.numpy())[1] for J in blocks])
    values = values[values > 1e-12 * values.max()]
    n = len(sigmas)
    s = np.sqrt((v["c"] - 1) * eps)
    assert np.isclose(eps / (s**2 + eps), 1 / v["c"])
    return n * (width - 2), n * (width - 1), values.max(), values.min(), s


def streams(v, a, N):
    """Each part as an axis of its own: uncorrelated, and added."""
    pre, post = [np.eye(N + 1)[0] for _ in range(2)]
    for block in range(1, N + 1):
        own = np.eye(N + 1)[block] * a
        pre = v["c"] * pre + own                        # of a normed input
        post = v["c"] * post + own
        post = post / np.sqrt((post**2).sum())
    return pre**2 / (pre**2).sum(), post**2


def shortcut(v, N, a, keep):
    low, high = -30.0, 30.0
    for _ in range(200):
        beta = math.exp((low + high) / 2)
        step = beta**2 / (beta**2 + (v["g"] * a) ** 2)
        low, high = ((low + high) / 2, high) if (
            v["c"] * N * math.log(step) < math.log(keep)) else (
            low, (low + high) / 2)
    return math.exp(low)


def table_facts(v, n_vocab, d_model, std):
    s = std * math.sqrt(d_model) / v["c"]
    at = math.sqrt(2 * v["e"])                          # s of the fourth
    return (n_vocab * d_model, s, math.log(n_vocab) + s * s / 2,
            at * v["c"] / math.sqrt(d_model), d_model * std / v["c"])


def adamw(v, e, m, w, k, idle, lr, decay):
    e = e.copy()
    for step in range(k + 1, k + idle + 1):
        m, w = v["b"] * m, v["q"] * w
        e -= lr * (m / (1 - v["b"] ** step)) / (
            np.sqrt(w / (1 - v["q"] ** step)) + 1e-8)
        e *= 1 - lr * decay
    return e


def changes_of_keys(v, s, t):
    def first(s, copies=1):
        p = np.exp(np.concatenate([[s[0]] * copies, s[1:]]) - s.max())
        return p[:copies].sum() / p.sum()

    return first(s), first(s), first(v["c"] * s), first(s, v["n"]), t


def scores(v, d_k, s_q, s_k):
    own = math.sqrt(d_k) * (s_q * s_q + v["c"] * v["c"])
    return (math.sqrt(d_k * (s_q**2 + v["c"] ** 2)) * s_k, own,
            math.exp(own))


def attends(v, dY, Q, K, V):
    return gradients(lambda Q, K, V: torch.softmax(
        v["c"] * Q @ K.mT / math.sqrt(Q.shape[-1]), -1) @ V, dY, Q, K, V)


def packed(v, lengths):
    mask = np.zeros((sum(lengths),) * 2, dtype=bool)
    start = 0
    for n in lengths:
        for i in range(n):
            for j in range(i + 1):
                mask[start + i, start + j] = j == 0 or i - j <= v["w"]
        start += n
    return mask


def windows(v, N, w, n):
    i = np.arange(n)
    mask = (i[:, None] - i < w) & (i - i[:, None] <= v["r"])
    seen, layers, fields = i == 0, 0, []
    while not seen[-1] or len(fields) < N:
        seen = mask[seen].any(axis=0)
        fields.append(int(seen.sum()))
        layers += len(fields) == 1 or fields[-1] > fields[-2]
    return fields[N - 1], layers, int(mask.sum())


def turns(v, k, d_model, base=10_000.0):
    P = lesson(PATHS["10"])["sinusoids"](400, d_model, base)
    want = np.zeros((d_model, d_model))
    for j in range(0, d_model, 2):                      # t = 200 and 201
        now = np.stack([P[200, j:j + 2], P[201, j:j + 2]], axis=1)
        turn = v["c"] * k * base ** (-j / d_model)
        then = [[math.sin(a), math.cos(a)] for a in (
            turn + np.arctan2(*P[t, j:j + 2]) for t in (200, 201))]
        want[j:j + 2, j:j + 2] = np.transpose(then) @ np.linalg.inv(now)
    return want


def slowest(v, d_k, base, n):
    def omega(base):
        return base ** -((d_k - 2) / d_k)

    half, slow = (10 ** (d_k / (d_k - 2) * np.log10(x)) for x in (
        n * v["c"] / (2 * math.pi), v["g"] * n / omega(base)))
    assert np.isclose(n * omega(half), 2 * math.pi / v["c"])
    assert np.isclose(omega(slow), omega(base) / v["g"] / n)
    return v["t"] * 2 * math.pi / omega(base), half, slow


def heads(v, Y, h):
    d, n = Y.shape[-1] // h, Y.shape[-2]
    sizes = dict(h=h, n=n, d=d)
    want = np.zeros((*Y.shape[:-2], *(sizes[c] for c in v["out"])))
    for i, t, k in np.ndindex(h, n, d):
        place = dict(h=i, n=t, d=k)
        want[(..., *(place[c] for c in v["out"]))] = Y[..., t, k * h + i]
    return want


def shared_keys(v, d_model, d_k):
    held = v["c"] * d_model * d_k + d_model * d_k
    return held, d_k, held - d_k * d_k, held - 2 * (d_k // 2)


def tent(v, a, b, c, height):
    """Three kinks, and what the weights have to be from four points."""
    def leaky(x):
        return np.where(x < 0, x / v["c"], x)

    x = np.array([a - 1.0, a, (a + b) / 2, b, (b + c) / 2, c, c + 1.0])
    y = np.interp(x, [a, b, c], [0, height, 0])
    units = np.stack([leaky(x - t) for t in (a, b, c)], axis=1)
    weights, *_ = np.linalg.lstsq(units, y, rcond=None)
    assert np.allclose(units @ weights, y, atol=1e-9 * abs(y).max())
    return a, b, c, *weights


def gelu(v, X):
    return gradients(lambda x: x * torch.special.ndtr(v["c"] * x),
                     np.ones_like(X), X)[0]


def experts(v, d_model, multiple, n_experts, k):
    width = next(w for w in range(multiple, 10**9, multiple)
                 if 3 * w >= v["r"] * d_model)
    one, router = 3 * width * d_model, d_model * n_experts
    return (width, one - 8 * d_model**2,
            one * n_experts + one * v["s"] + router,
            2 * one * k + 2 * one * v["s"] + 2 * router)


def llama(v, n_vocab, d_model, n_layers, h, h_kv, d_ff):
    d_k = d_model // h
    sizes = [(n_vocab, d_model), (d_model, n_vocab), (d_model,)]
    for _ in range(n_layers):
        sizes += [(d_model,), (d_model,), (d_k,), (d_k,),
                  (d_model, h * d_k), (d_model, h_kv * d_k),
                  (d_model, h_kv * d_k), (h * d_k, d_model), (d_model, v["e"])]
        sizes += [(d_model, d_ff)] * 3 * v["e"]
    return sum(map(math.prod, sizes))


def training(v, d_model, n_layers, h, h_kv, d_ff, n):
    d_k = d_model // h
    passes = v["c"] + 2                                 # two gradients
    matrices = [d_model * d_model] * 2 + [d_model * d_k * h_kv] * 2 + [
        d_model * d_ff] * 3
    def both(pairs):
        return v["b"] * n_layers * passes * 2 * h * 2 * d_k * pairs

    first = v["b"] * n_layers * passes * 2 * n * sum(matrices)
    longer = next(m for m in range(1, 10**9)
                  if 2 * d_model * m > sum(matrices))
    return first, both(n * n), both(n * (n + 1) // 2), longer


def smoothed(v, logits, ids, real):
    return F.cross_entropy(
        torch.tensor(logits[:, :-1])[torch.tensor(real[:, 1:])],
        torch.tensor(ids[:, 1:][real[:, 1:]]), label_smoothing=v["s"]).item()


def clipped(v, gradients, most):
    given = [torch.tensor(g, dtype=torch.float64) for g in gradients]
    norm = torch.cat([g.ravel() for g in given]).norm(v["p"]).item()
    return [g.numpy() * min(1, most / norm) if norm else g.numpy()
            for g in given], norm


def steps(v, w, g, lr, decay):
    found = []
    for start, gradient in (((1 - lr * decay) * w, g), (w, g + decay * w)):
        m, square = (1 - v["b"]) * gradient, (1 - v["q"]) * gradient**2
        found.append(start - lr * m / math.sqrt(square))
    return found


def caches(v, n_layers, h, h_kv, d_k, free):
    token = n_layers * h_kv * (d_k * v["k"] + d_k * v["v"])
    flops = n_layers * h * (2 * d_k + 2 * d_k)
    return token, free // token, flops / token, free // (n_layers * d_k * 2)


def merged(v, Y_1, lse_1, Y_2, lse_2):
    base = math.log(v["b"])
    parts = torch.tensor(np.stack([lse_1, lse_2])) * base
    shares = torch.softmax(parts, 0)[..., None].numpy()
    return ((shares * np.stack([Y_1, Y_2])).sum(0),
            torch.logsumexp(parts, 0).numpy() / base)


def by_tokens(weight, phi_Q, phi_K, V):
    want = np.zeros(V.shape)
    for t in range(V.shape[-2]):
        above, below = 0, 0
        for j in range(t + 1):
            a = weight(t - j) * (phi_Q[..., t, :] * phi_K[..., j, :]).sum(
                -1, keepdims=True)
            above, below = above + a * V[..., j, :], below + a
        want[..., t, :] = above / below
    return want


def loud(v, K, share):
    z = np.where(K > 0, K + 1, np.exp(np.minimum(K, 0))).sum(0).max()
    low, high = -700.0, 1e12
    for _ in range(300):
        c = (low + high) / 2
        phi = v["m"] * (c + 1 if c > 0 else math.exp(c))
        low, high = (c, high) if phi / (phi + z) < share else (low, c)
    return high


def forgets(v, K, V, beta):
    state = np.zeros((*K.shape[:-2], V.shape[-1], K.shape[-1]))
    for t in range(K.shape[-2]):
        k = v["c"] * K[..., t, :] / np.sqrt((K[..., t, :] ** 2).sum(
            -1, keepdims=True))
        state = v["g"] * state
        error = V[..., t, :] - (state * k[..., None, :]).sum(-1)
        state = state + (beta[..., t, None] * error)[..., None] * k[
            ..., None, :]
    return state


def write_backward(v, G, state, k, value, beta):
    def write(state, k, value, beta):
        old = v["g"] * state
        error = value - (old * k[..., None, :]).sum(-1)
        return old + (beta[..., None] * error)[..., None] * k[..., None, :]

    return gradients(write, G, state, k, value, beta)


def averages(v, m, n, D, loss):
    def one(keys):
        off = np.eye(keys) - v["c"] * np.full((keys, keys), 1 / keys)
        return (off**2).sum(axis=1).mean() / 2

    rest = n - D + 1                                    # all others alone
    mean = ((D - 1) * one(1) + rest * one(rest)) / n
    saved = n * (0.5 - one(n))                          # by each cluster
    return one(m), mean, n * (0.5 - loss) / saved


def decode(v, x, state, W_Q, W_K, W_V, W_beta, b_beta, W_O):
    names, out, after = lesson(PATHS["19"]), 0, []
    for i, memory in enumerate(state):
        q, k = (names["unit_length"](names["dpfp"](x @ W[i], 1))
                for W in (W_Q, W_K))
        beta = v["c"] / (1 + math.exp(-(x @ W_beta + b_beta)[i]))
        out = out + memory @ q @ W_O[i]
        after.append(memory + beta * np.outer(x @ W_V[i] - memory @ k, k))
    return out, np.stack(after)


def convolved(v, Z, W, past):
    all_of_it, width = np.concatenate([past, Z], axis=-2), len(W)
    want = v["c"] * Z.astype(float)
    for t in range(Z.shape[-2]):
        for back in range(width):
            want[..., t, :] += W[back] * all_of_it[..., t + width - 1 - back, :]
    return want, all_of_it[..., Z.shape[-2]:, :]


def finished(v, products, squares, d_in, c, eps):
    products, squares = v["c"] * products.sum(0), v["c"] ** 2 * squares.sum(0)
    return products / np.sqrt(squares / d_in + eps)[:, None] + c


def tables(v, X, cos, sin, eps):
    root = math.sqrt(v["c"] * math.sqrt(2 * cos.shape[-1]))
    rms = np.sqrt((X * X).sum(-1, keepdims=True) / X.shape[-1] + eps)
    return cos / rms / root, sin / rms / root


def shift(v, size, column, d_in, largest):
    p = 0
    while v["m"] * size * column * math.sqrt(d_in) / 2**p > largest:
        p += 1
    return p


def int8(v, X, W_q, step_W, eps):
    want = np.zeros((len(X), W_q.shape[1]))
    for i, x in enumerate(X):
        if x.any():
            step = max(abs(x)) / v["L"]
            q = np.rint(x / step)
            want[i] = q @ W_q.astype(float) * step * step_W / math.sqrt(
                x @ x / len(x) + eps)
    return want


def intensity(v, d, k, ridge):
    def of(T):
        return 2 * T * d * k / (2 * T * d + v["w"] * d * k + 2 * T * k)

    tokens = 0
    if of(1e15) > ridge * (1 + 1e-9):
        low, high = 0, 10**15
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if of(middle) >= ridge else (
                middle, high)
        tokens = high
    return v["f"] / 8, of(1), tokens


def loads(v, C, K, load):
    """Tile after tile, a cycle each; norm first waits for 2 C cycles."""
    ready = [v["s"] + load * (t + 1) for t in range(C * K)]
    ends = []
    for start in (2 * C, 0):
        now = start
        for at in ready:
            now = max(now, at) + 1
        ends.append(now)
    return ends[0], ends[1] + 1                         # divided at the end


def format_limits(v, e, m):
    """From all exponents that a format has."""
    bias = 2 ** (e - 1) - v["c"]
    powers = [stored - bias for stored in range(1, 2**e - 1)]
    top = 2.0 ** powers[-1]
    largest, smallest = 2 * top - top * 2.0**-m, 2.0 ** (powers[0] - m)
    return [largest, smallest, 2.0**-m / 2, top * 2.0**-m, math.log(largest),
            math.log(smallest) - math.log(2)]


def warm_sum(v, X):
    return v["T"] * torch.logsumexp(torch.tensor(X) / v["T"], -1).numpy()


def accuracy(v, mantissa_bits, n):
    u, c = 0.5 ** (mantissa_bits + 1), v["c"]
    one_pass, two = (math.sqrt((c / u - 1) / 2),
                     math.sqrt((c / u / 2) ** 2 - 1))
    assert np.isclose((1 + 2 * one_pass**2) * u, c)
    assert np.isclose(2 * math.sqrt(1 + two**2) * u, c)
    levels = next(i for i in range(64) if 2**i >= n)
    return [u, v["step"] * 2 ** (mantissa_bits + 1), one_pass, two,
            (n - 1) * u, levels * u]


def headroom(v, gradients):
    largest, power = v["c"] * abs(gradients).max(), 2.0**-40
    while largest * power >= 65520:
        power /= 2
    while largest * power * 2 < 65520:
        power *= 2
    return power


ORACLES = {
    "0.1": axes, "0.4": flops, "1.1": format_limits, "1.2": warm_sum,
    "2.3": accuracy, "2.4": headroom, "3.1": scales, "3.2": residual,
    "4.2": by_two_features, "4.3": by_power, "5.2": rms_backward,
    "5.4": groups, "6.1": streams, "6.4": shortcut, "7.3": table_facts,
    "7.4": adamw, "8.1": changes_of_keys, "8.2": scores, "8.3": attends,
    "9.1": packed, "9.3": windows, "10.2": turns, "10.4": slowest,
    "11.2": heads, "11.4": shared_keys, "12.1": tent, "12.3": gelu,
    "12.5": experts, "13.3": llama, "13.4": training, "14.1": smoothed,
    "14.2": clipped, "14.3": steps, "15.1": caches, "15.4": merged,
    "16.1": lambda v, *given: by_tokens(lambda back: back < v["w"], *given),
    "16.4": loud, "17.2": forgets, "17.3": write_backward, "17.5": averages,
    "18.1": lambda v, Q, K, V, chunk: by_tokens(
        lambda back: v["g"] ** back, Q, K, V),
    "18.2": lambda v, A: np.linalg.inv(A + v["c"] * np.eye(A.shape[-1])),
    "19.1": decode, "19.3": convolved, "20.2": finished, "20.3": tables,
    "21.4": shift, "21.5": int8, "22.1": intensity, "22.3": loads}


def test_each_variant_has_an_oracle():
    varied = [number for path in chapters()
              for number in stored(path.number).get("VARIANTS", ())]
    assert varied == [*ORACLES]


@pytest.mark.parametrize("number", ORACLES)
def test_what_a_variant_calls_right(number):
    exercise = AnsweredExercise(PATHS[number.partition(".")[0]], number)
    published, variant = exercise.solution.source, exercise.variant
    for key in "ab":
        numbers = variants.values(variant, key)
        names = exercise.run(variants.solution(variant, published, numbers))
        cases = variants.cases(
            exercise, names, exercise.run(published)[exercise.name], key)
        hint = variants.first_wrong(
            lambda *given, numbers=numbers: ORACLES[number](numbers, *given),
            cases, np.allclose)
        assert hint is None, (numbers, hint, cases)
