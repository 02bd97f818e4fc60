"""Chapter 21's functions against PyTorch's layers, a clock and closed forms."""

import math
from contextlib import contextmanager

import numpy as np
import pytest
import torch
from chapters import functions
from torch import nn
from torch.nn import functional as F

CHAPTER = functions("21")
INSIDE = CHAPTER.llama.__globals__                  # where its functions look
READERS = [("attention", 0), ("attention", 1), ("attention", 2), ("ffn", 0),
           ("ffn", 1)]


def close(got, want, bound=1e-12):
    """Every row within bound of its own length."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape
    off = np.linalg.norm(got - want, axis=-1)
    assert (off <= bound * np.linalg.norm(want, axis=-1)).all(), off.max()


def draw(seed=0, h=4, h_kv=2, n_vocab=23, n_layers=2, d=14, d_k=6, d_ff=17):
    """A small Llama with signed gains, no two of them alike."""
    rng = np.random.default_rng(seed)
    return CHAPTER.new_llama(rng, lambda d: rng.normal(size=d) + 0.1, n_vocab,
                             d, n_layers, h, h_kv, d_k, d_ff)


def some(front=(3, 8), n_vocab=23, seed=1):
    return np.random.default_rng(seed).integers(n_vocab, size=front)


def flat(weights):
    """Every array of a model with the way to it."""
    if isinstance(weights, dict):
        weights = weights.items()
    elif isinstance(weights, list | tuple):
        weights = enumerate(weights)
    else:
        return {(): weights}
    return {(name, *way): w for name, part in weights
            for way, w in flat(part).items()}


def same(got, want):
    """The same arrays at the same places."""
    got, want = flat(got), flat(want)
    assert got.keys() == want.keys()
    for way, w in want.items():
        np.testing.assert_allclose(got[way], w, rtol=1e-14, atol=0,
                                   err_msg=str(way))


def copied(weights):
    return CHAPTER.on_each(np.copy, weights)


def turned(x):
    """RoPE by complex numbers, pairs (i, i + d_k / 2), one token at a time."""
    n, half = x.shape[-2], x.shape[-1] // 2
    z = torch.view_as_complex(torch.stack([x[..., :half], x[..., half:]], -1)
                              .double().contiguous())
    rows = [z[..., t, :] * torch.polar(
        torch.ones(half, dtype=torch.float64),
        t / 10_000 ** (torch.arange(half, dtype=torch.float64) / half))
        for t in range(n)]
    z = torch.stack(rows, -2)
    return torch.cat([z.real, z.imag], -1).to(x.dtype)


def linear(W):
    """An nn.Linear that holds W (d_in, d_out)."""
    layer = nn.Linear(*W.shape, bias=False, dtype=W.dtype)
    layer.weight = nn.Parameter(W.T, requires_grad=False)
    return layer


def norm(gain, eps):
    layer = nn.RMSNorm(len(gain), eps, dtype=gain.dtype)
    layer.weight = nn.Parameter(gain, requires_grad=False)
    return layer


def looked(q, k, v, W_O):
    """Causal attention in groups, head by head, key by key."""
    n, y = q.shape[-2], 0
    group = len(W_O) // k.shape[1]
    for i, W in enumerate(W_O):
        scores = torch.einsum("bqd,bkd->bqk", q[:, i], k[:, i // group])
        scores = scores / q.shape[-1] ** 0.5
        hidden = torch.arange(n)[:, None] < torch.arange(n)
        shares = scores.masked_fill(hidden, -torch.inf).softmax(-1)
        y = y + linear(W)(shares @ v[:, i // group])
    return y


def attended(z, W_Q, W_K, W_V, W_O):
    q, k, v = (torch.stack([linear(W)(z) for W in heads], 1)
               for heads in (W_Q, W_K, W_V))
    return looked(turned(q), turned(k), v, W_O)


def swiglu(z, gate, up, down):
    g = linear(gate)(z)
    return linear(down)(g / (1 + torch.exp(-g)) * linear(up)(z))


def theirs(ids, weights, eps=1e-5, post=False):
    """Llama from nn.Embedding, nn.Linear and nn.RMSNorm; a tensor."""
    w = CHAPTER.on_each(torch.as_tensor, weights)
    x = nn.Embedding.from_pretrained(w["E"])(torch.as_tensor(ids))
    for layer in w["layers"]:
        first, second = (norm(layer[name], eps)
                         for name in ("norm_1", "norm_2"))
        if post:
            x = first(x + attended(x, *layer["attention"]))
            x = second(x + swiglu(x, *layer["ffn"]))
        else:
            x = x + attended(first(x), *layer["attention"])
            x = x + swiglu(second(x), *layer["ffn"])
    return linear(w["W_U"])(x if post else norm(w["norm"], eps)(x))


@pytest.mark.parametrize("h, h_kv", [(4, 4), (6, 2), (6, 3), (3, 1)])
def test_attention_in_groups(h, h_kv):
    rng = np.random.default_rng(h)
    Q, K, V = (rng.normal(size=(2, m, 7, d))
               for m, d in ((h, 6), (h_kv, 6), (h_kv, 5)))
    W_O = rng.normal(size=(h, 5, 9))
    heads = F.scaled_dot_product_attention(
        *map(torch.tensor, (Q, K, V)), is_causal=True, enable_gqa=True)
    want = np.einsum("bhnk,hkd->bnd", heads.numpy(), W_O)
    close(CHAPTER.look_back(Q, K, V, W_O), want)
    close(CHAPTER.look_back(Q[0], K[0], V[0], W_O), want[0])
    X = rng.normal(size=(2, 7, 9))
    weights = [rng.normal(size=(m, 9, d)) / 3
               for m, d in ((h, 6), (h_kv, 6), (h_kv, 5))] + [W_O]
    tables = CHAPTER.rope_tables(np.arange(7), 6)
    x, *w = map(torch.tensor, (X, *weights))
    close(CHAPTER.llama_attention(X, *weights, *tables), attended(x, *w))
    close(CHAPTER.llama_attention(X[1], *weights, *tables),
          attended(x, *w)[1])
    size = rng.normal(size=(2, 7, 1)) ** 2 + 0.1
    raw = X * np.sqrt(1 / (X**2).mean(-1, keepdims=True)) * size
    x = torch.tensor(raw / np.sqrt((raw**2).mean(-1, keepdims=True) + 0.3))
    got = CHAPTER.deferred_llama_attention(raw, *weights, *tables, 0.3)
    close(got, attended(x, *w))
    close(CHAPTER.deferred_llama_attention(raw[1], *weights, *tables, 0.3),
          got[1])


def test_turning_in_complex_numbers():
    x = torch.tensor(np.random.default_rng(3).normal(size=(2, 3, 9, 8)))
    close(CHAPTER.complex_turn(x), turned(x), 1e-14)
    close(CHAPTER.complex_turn(x), CHAPTER.rope_half_split(
        x.numpy(), *CHAPTER.rope_tables(np.arange(9), 8)), 1e-14)
    late = torch.ones(1000, 2)                      # an angle of 999
    want = math.sqrt(2) * math.cos(999 + math.pi / 4)
    got = CHAPTER.complex_turn(late)
    assert got.dtype == torch.float32
    assert got[-1, 0].item() == pytest.approx(want, abs=1e-6)
    for dtype in (np.float32, np.float64):
        weights = CHAPTER.on_each(dtype, draw(d_k=10))
        cos, sin = CHAPTER.turn_tables(some((4, 3, 7)), weights)
        assert cos.dtype == sin.dtype == dtype
        want = CHAPTER.rope_tables(np.arange(7), 10)
        np.testing.assert_allclose([cos, sin], want, atol=1e-7)


@pytest.mark.parametrize("seed, h, h_kv", [(0, 4, 2), (5, 3, 3), (6, 6, 1)])
def test_llama(seed, h, h_kv):
    weights, ids = draw(seed, h, h_kv), some()
    want = theirs(ids, weights)
    kept = copied(weights)
    small = CHAPTER.on_each(np.float32, weights)
    close(theirs(ids, small), want, 1e-4)
    for eps, given in ((1e-5, ()), (1e-3, (1e-3,))):
        want = theirs(ids, weights, eps)
        close(CHAPTER.llama(ids, weights, *given), want)
        close(CHAPTER.llama(ids[0], weights, *given), want[0])
        bare = CHAPTER.fold_model(weights)
        for f in (CHAPTER.weightless_llama, CHAPTER.deferred_llama):
            close(f(ids, bare, *given), want)
            close(f(ids[0], bare, *given), want[0])
            got = f(ids, CHAPTER.fold_model(small), *given)
            assert got.dtype == np.float32
            close(got, want, 1e-4)
        got = CHAPTER.llama(ids, small, *given)
        assert got.dtype == np.float32
        close(got, want, 1e-4)
    for f in (CHAPTER.llama, CHAPTER.weightless_llama, CHAPTER.deferred_llama):
        with pytest.raises(ValueError, match="token numbers"):
            f(ids + 9, bare)
    same(weights, kept)


def test_the_model_of_torch():
    weights, ids = draw(7, 6, 2), some((2, 9))
    tensors = CHAPTER.on_each(torch.tensor, weights)
    for w, wide in ((tensors, 1e-12), (CHAPTER.on_each(
            torch.Tensor.float, tensors), 1e-4)):
        got = CHAPTER.torch_llama(torch.tensor(ids), w)
        assert got.dtype == w["E"].dtype
        close(got, theirs(ids, weights), wide)
    bare = CHAPTER.on_each(torch.tensor, CHAPTER.fold_model(weights))
    close(CHAPTER.torch_llama(torch.tensor(ids), bare), theirs(ids, weights))
    asked = []

    def read(X, gain, W):
        asked.append((gain, W))
        return CHAPTER.norm_and_read(X, gain, W, 1e-3)

    close(CHAPTER.torch_llama(torch.tensor(ids), tensors, read),
          theirs(ids, weights, 1e-3))
    want = [(gain, W) for layer in tensors["layers"] for gain, W in (
        *((layer["norm_1"], W) for W in layer["attention"][:3]),
        *((layer["norm_2"], W) for W in layer["ffn"][:2]))]
    want.append((tensors["norm"], tensors["W_U"]))
    assert len(asked) == len(want)
    assert all(a is b for pair, others in zip(asked, want, strict=True)
               for a, b in zip(pair, others, strict=True))


def test_a_newborn():
    asked = []

    def gain(d):
        asked.append(np.full(d, len(asked) + 1.0))
        return asked[-1]

    w = CHAPTER.new_llama(np.random.default_rng(4), gain, 700, 80, 2, 6, 3, 40,
                          90)
    assert len(asked) == 5 and len({id(g) for g in CHAPTER.tensors(w)}) == 21
    assert sorted(CHAPTER.gains_of(w)[::80]) == [1, 2, 3, 4, 5]
    sizes = {"E": ((700, 80), 0.02), "W_U": ((80, 700), 80**-0.5)}
    for name, (shape, size) in sizes.items():
        assert w[name].shape == shape
        assert w[name].std() == pytest.approx(size, rel=0.05)
    for layer in w["layers"]:
        for W, shape, size in zip(
                layer["attention"] + layer["ffn"],
                [(6, 80, 40), (3, 80, 40), (3, 80, 40), (6, 40, 80), (80, 90),
                 (80, 90), (90, 80)],
                [80**-0.5] * 3 + [(4 * 40 * 6) ** -0.5] + [80**-0.5] * 2
                + [(4 * 90) ** -0.5], strict=True):
            assert W.shape == shape
            assert W.std() == pytest.approx(size, rel=0.05)
            assert abs(W.mean()) < 0.05 * size
    w = CHAPTER.new_llama(np.random.default_rng(4), np.ones)
    shapes = [a.shape for a in CHAPTER.tensors(w)]
    layer = [(48,), (6, 48, 10), (2, 48, 10), (2, 48, 10), (6, 10, 48), (48,),
             (48, 100), (48, 100), (100, 48)]
    assert shapes == [(61, 48), *3 * layer, (48,), (48, 61)]


def test_trees():
    tree = {"a": [1, (2, 3)], "b": {"c": 4, "d": []}, "e": ()}
    assert CHAPTER.on_each(lambda x: x * 10, tree) == {
        "a": [10, (20, 30)], "b": {"c": 40, "d": []}, "e": ()}
    assert tree["a"] == [1, (2, 3)]
    assert CHAPTER.tensors(tree) == [1, 2, 3, 4]
    assert CHAPTER.tensors(7) == [7]
    w = draw()
    assert CHAPTER.gains_of(w).tolist() == [
        g for gain in (w["norm"], w["layers"][0]["norm_1"],
                       w["layers"][0]["norm_2"], w["layers"][1]["norm_1"],
                       w["layers"][1]["norm_2"]) for g in gain]
    kept = copied(w)
    new = CHAPTER.with_gains(lambda gain: 3 * gain, w)
    same(w, kept)
    same(new, {**w, "norm": 3 * w["norm"], "layers": [
        {**layer, "norm_1": 3 * layer["norm_1"],
         "norm_2": 3 * layer["norm_2"]} for layer in w["layers"]]})


@pytest.mark.parametrize("steps, warm_up", [(1, 20), (4, 2)])
def test_training_is_adam_step_by_step(steps, warm_up):
    """By Kingma and Ba's algorithm 1, with gradients of the other model."""
    weights = draw(8, n_vocab=7, d=8, h=2, h_kv=1, d_k=4, d_ff=9)
    kept = copied(weights)
    got = CHAPTER.train_llama(weights, steps, 0.02, warm_up, seed=5)
    same(weights, kept)
    w = {name: weights[name] for name in ("E", "layers", "norm")}
    data = CHAPTER.noisy_sums(16 * steps, 17, np.random.default_rng(5))
    m = v = [0.0] * len(CHAPTER.tensors(w))
    for t in range(1, steps + 1):
        leaf = CHAPTER.on_each(
            lambda a: torch.tensor(a, requires_grad=True), w)
        ids = torch.tensor(data[16 * (t - 1): 16 * t])
        logits = CHAPTER.torch_llama(ids[:, :-1], {**leaf, "W_U": leaf["E"].T})
        close(logits.detach(), theirs(ids[:, :-1], {**w, "W_U": w["E"].T}))
        shares = logits.log_softmax(-1).gather(-1, ids[:, 1:, None])
        g = torch.autograd.grad(-shares.mean(), CHAPTER.tensors(leaf))
        m = [0.9 * a + 0.1 * b.numpy() for a, b in zip(m, g, strict=True)]
        v = [0.98 * a + 0.02 * b.numpy() ** 2
             for a, b in zip(v, g, strict=True)]
        rate = 0.02 * min(t / warm_up, 1) * (1 - (t - 1) / steps)
        moves = iter([rate * a / (1 - 0.9**t) / (
            np.sqrt(b / (1 - 0.98**t)) + 1e-8)
            for a, b in zip(m, v, strict=True)])
        w = CHAPTER.on_each(lambda a, moves=moves: a - next(moves), w)
    want = flat({**w, "W_U": w["E"].T})
    assert flat(got).keys() == want.keys()
    for way, a in flat(got).items():
        assert isinstance(a, np.ndarray)
        np.testing.assert_allclose(a, want[way], atol=1e-7, err_msg=str(way))
    assert not np.shares_memory(got["E"], got["W_U"])


def test_loss_spread_and_favourites():
    rng = np.random.default_rng(9)
    logits, ids = rng.normal(size=(3, 5, 7)) * 2, some((3, 6), 7)
    want = -np.mean([np.log(np.exp(row)[i] / np.exp(row).sum()) for rows, line
                     in zip(logits, ids, strict=True)
                     for row, i in zip(rows, line[1:], strict=True)])
    assert CHAPTER.loss_of(logits, ids) == pytest.approx(want, rel=1e-12)
    shift = rng.normal(size=(3, 5, 1))
    spread = np.mean([np.var(row) for rows in logits for row in rows]) ** 0.5
    off = rng.normal(size=logits.shape)
    off -= off.mean(axis=-1, keepdims=True)
    want = (off**2).mean() ** 0.5 / spread
    error = CHAPTER.spread_error
    assert error(logits + off, logits) == pytest.approx(want)
    assert error(logits + off + shift, logits) == pytest.approx(want)
    assert error(logits + off, logits + shift) == pytest.approx(
        error(logits + off - shift, logits)) == pytest.approx(want)
    assert error(4 * logits, logits) == pytest.approx(3)
    assert error(logits + shift, logits) < 1e-14
    got = np.eye(4)[[[0, 1, 2, 3, 3], [1, 1, 1, 1, 0]]]
    want = np.eye(4)[[[3, 1, 2, 0, 3], [2, 1, 1, 1, 1]]]
    assert CHAPTER.share_changed(got, want) == 2 / 8   # token 0 is not asked
    assert CHAPTER.share_changed(want, want) == 0


def test_writing_digits():
    def run(ids, step):
        nexts = (ids[:, -1] + ids[:, -2] + step) % 7
        logits = np.tile(np.eye(7)[0], (*ids.shape, 1))
        logits[:, -1] = 5 * np.eye(7)[nexts] - 9
        return logits

    start = np.array([[1, 1], [6, 5], [0, 3]])
    written = CHAPTER.write_digits(run, 2, start, 9)
    for line, (a, b) in zip(written, start, strict=True):
        want = [a, b]
        while len(want) < 9:
            want.append((want[-1] + want[-2] + 2) % 7)
        assert line.tolist() == want
    assert start.shape == (3, 2)
    assert CHAPTER.write_digits(run, 2, written, 5).shape == (3, 9)


def test_folding_a_model():
    weights = draw(10)
    kept = copied(weights)
    folded = CHAPTER.fold_model(weights)
    same(weights, kept)

    def scaled(gain, W):
        return np.einsum("de,...ef->...df", np.diag(gain), W)

    same(folded, {"E": weights["E"], "W_U": scaled(weights["norm"],
                                                   weights["W_U"]),
                  "layers": [{
        "attention": (*(scaled(layer["norm_1"], W)
                        for W in layer["attention"][:3]),
                      layer["attention"][3]),
        "ffn": (*(scaled(layer["norm_2"], W) for W in layer["ffn"][:2]),
                layer["ffn"][2])} for layer in weights["layers"]]})
    with pytest.raises(KeyError):
        CHAPTER.fold_model(folded)
    for part, k in READERS:
        wrong = CHAPTER.unfolded(weights, part, k)
        want = copied(folded)
        for new, old in zip(want["layers"], weights["layers"], strict=True):
            new[part] = tuple(old[part][k] if i == k else W
                              for i, W in enumerate(new[part]))
        same(wrong, want)
    same(CHAPTER.unfolded(weights, "attention", 3), folded)
    twice = CHAPTER.with_gains(np.square, weights)
    same(CHAPTER.folded_twice(weights), CHAPTER.fold_model(twice))
    same(CHAPTER.folded_in_the_table(weights),
         {**folded, "E": folded["W_U"].T})
    same(weights, kept)


def test_fold_error_finds_each_wrong_fold():
    weights, ids = draw(11), some((2, 6))
    kept, asked = copied(weights), []

    def gain(shape):
        asked.append(shape)
        return np.random.default_rng(len(asked)).normal(size=shape)

    def off(fold):
        asked.clear()
        return CHAPTER.fold_error(fold, weights, ids, gain)

    assert off(CHAPTER.fold_model) < 1e-12
    assert asked == 5 * [(14,)]
    wrong = [lambda w, at=at: CHAPTER.unfolded(w, *at) for at in READERS]
    wrong += [CHAPTER.folded_twice, CHAPTER.folded_in_the_table, lambda w: w,
              lambda w: {**CHAPTER.fold_model(w), "W_U": w["W_U"]},
              lambda w: CHAPTER.fold_model(CHAPTER.with_gains(
                  lambda gain: 1 + gain, w))]
    assert min(map(off, wrong)) > 0.05
    for fold in wrong[:-1]:                         # gains of 1 hide it
        assert CHAPTER.fold_error(fold, weights, ids, np.ones) < (
            1e-12 if fold is not CHAPTER.folded_in_the_table else np.inf)
    asked.clear()
    drawn = CHAPTER.with_gains(lambda old: gain(old.shape), weights)
    dropped = CHAPTER.fold_model(CHAPTER.with_gains(np.ones_like, drawn))
    got, want = (theirs(ids, w) for w in (
        {**dropped, "norm": np.ones(14), "layers": [
            {**layer, "norm_1": np.ones(14), "norm_2": np.ones(14)}
            for layer in dropped["layers"]]}, drawn))
    assert off(lambda w: w) == pytest.approx(
        ((got - want).norm(dim=-1) / want.norm(dim=-1)).max().item())
    same(weights, kept)


def test_post_norm():
    weights, ids = draw(12), some()
    kept = copied(weights)
    want = theirs(ids, weights, post=True)
    close(CHAPTER.post_norm_llama(ids, weights), want)
    close(CHAPTER.post_norm_llama(ids, weights, 0.1),
          theirs(ids, weights, 0.1, post=True))
    close(CHAPTER.post_norm_llama(ids, CHAPTER.fold_last_norm(weights)), want)
    first = CHAPTER.fold_first_norms(weights)
    same(weights, kept)
    ones = np.ones(14)
    same(first, {**weights, "layers": [
        {**layer, "norm_1": ones, "ffn": (
            *(np.diag(layer["norm_1"]) @ W for W in layer["ffn"][:2]),
            layer["ffn"][2])} for layer in weights["layers"]]})
    close(CHAPTER.llama(ids, {**first, "layers": [
        {**layer, "norm_1": old["norm_1"], "norm_2": layer["norm_1"]}
        for layer, old in zip(first["layers"], weights["layers"],
                              strict=True)]}),
          theirs(ids, {**weights, "layers": [
              {**layer, "norm_2": layer["norm_1"]}
              for layer in weights["layers"]]}))
    last = CHAPTER.fold_last_norm(weights)
    assert (last["layers"][-1]["norm_2"] == 1).all()
    same(last["layers"][0], weights["layers"][0])
    assert CHAPTER.spread_error(CHAPTER.post_norm_llama(ids, first),
                                want.numpy()) > 0.1


def test_the_spy(monkeypatch):
    gain, W = np.arange(1.0, 5), np.arange(12.0).reshape(4, 3)
    for name, value in (("kept", {}), ("seen", {}),
                        ("names", {id(gain): "g", id(W): "W"})):
        monkeypatch.setitem(INSIDE, name, value)
    tensors = [CHAPTER.noted(a) for a in (gain, W)]
    assert [t.tolist() for t in tensors] == [gain.tolist(), W.tolist()]
    X = torch.tensor(np.random.default_rng(0).normal(size=(2, 4)))
    close(CHAPTER.spy(X, *tensors), F.rms_norm(X, (4,), tensors[0],
                                               1e-5) @ tensors[1])
    CHAPTER.spy(X, *tensors)
    assert INSIDE["seen"] == {"g": {"W"}}


@pytest.mark.parametrize("dtype, bits", [(torch.bfloat16, 8),
                                         (torch.float16, 11)])
def test_a_stored_product_is_divided_in_float32(dtype, bits):
    rng = np.random.default_rng(13)
    X = torch.tensor(rng.integers(-15, 16, (400, 16)) * 64.0)
    W = torch.tensor(rng.integers(-200, 201, (16, 9)) / 64.0)
    for x, eps, given in ((X, 1e-5, ()), (X / 2**15, 1e-3, (1e-3,))):
        s = (x.square().mean(-1, keepdim=True) + eps) ** -0.5
        want = (x @ W).to(dtype).double() * s       # stored: rounded here
        got = CHAPTER.read_then_divide(x.to(dtype), W.to(dtype), *given)
        assert got.dtype == dtype
        off = (got.double() - want).abs()
        assert (off <= 1.001 * 2.0**-bits * want.abs()).all()
        assert off.mean() < 0.9 * (got - x @ W * s).abs().mean()
    s = CHAPTER.reciprocal_size((X * 1e3).to(dtype))
    assert s.dtype == torch.float32 and s.shape == (400, 1)


def test_three_ways():
    weights = CHAPTER.with_gains(abs, draw(14, d=16, d_ff=20))
    ids = torch.tensor(some((6, 9)))
    exact, ways = CHAPTER.three_ways(ids, weights, torch.float64)
    close(exact, theirs(ids, weights))
    assert list(ways) == ["as it was", "folded", "deferred"]
    for name, bound in (("as it was", 1e-12), ("folded", 1e-12),
                        ("deferred", 1e-3)):
        close(ways[name], exact, bound)             # divides in float32
    for dtype, bound in ((torch.float32, 1e-5), (torch.float16, 0.02),
                         (torch.bfloat16, 0.1)):
        exact, ways = CHAPTER.three_ways(ids, weights, dtype)
        stored = CHAPTER.on_each(
            lambda a, dtype=dtype: torch.tensor(a).to(dtype).double(), weights)
        close(exact, theirs(ids, stored))
        off = [((way - exact).norm() / exact.norm()).item()
               for way in ways.values()]
        assert len(set(off)) == 3 and 1e-8 < min(off) and max(off) < bound
        assert all(way.dtype == torch.float64 for way in ways.values())
    error = torch.tensor(np.random.default_rng(0).normal(size=(3, 4, 5)))
    assert CHAPTER.size_of(error) == pytest.approx(
        math.sqrt(sum(x**2 for x in error.flatten().tolist()) / 60))


def test_gains_to_powers_of_two_and_counts():
    got = CHAPTER.power_of_2(np.array([0.3, 0.7, 1.4, 1.5, 2.8, 2.9, 3, 96]))
    assert got.tolist() == [0.25, 0.5, 1, 2, 2, 4, 4, 128]
    for n_layers in (1, 3):
        weights = draw(n_layers=n_layers, d=10)
        everything = CHAPTER.gains_of(weights).size
        left = sum(w.size for w in CHAPTER.tensors(
            CHAPTER.fold_model(weights)))
        gone = sum(w.size for w in CHAPTER.tensors(weights)) - left
        assert CHAPTER.norm_numbers(n_layers, 10, False) == (everything, gone)
        assert CHAPTER.norm_numbers(n_layers, 10, True) == (everything,
                                                            gone - 10)


def torch_stack(seed=0, n_layers=2, d=12, h=3, d_ff=22):
    torch.manual_seed(seed)

    def bend(X):
        root = math.sqrt(2 / math.pi)
        return X / 2 * (1 + torch.tanh(root * (X + 0.044715 * X**3)))

    stack = [nn.TransformerEncoderLayer(
        d, h, d_ff, dropout=0, activation=bend, batch_first=True,
        norm_first=True, dtype=torch.float64) for _ in range(n_layers)]
    for w in (w for block in stack for w in block.parameters()):
        nn.init.normal_(w, std=1 if w.ndim == 1 else w.shape[1] ** -0.5)
    return stack


def gpt_params(stack, h=3, d=12, n_vocab=23):
    rng = np.random.default_rng(15)
    return {"E": rng.normal(size=(n_vocab, d)) + 0.5,
            "P": rng.normal(size=(11, d)) - 0.3,
            "layers": [CHAPTER.gpt_layer_from_torch(block, h)
                       for block in stack],
            "norm": (rng.normal(size=d), rng.normal(size=d)),
            "W_U": rng.normal(size=(d, n_vocab)), "c": rng.normal(size=n_vocab)}


def test_gpt(monkeypatch):
    stack, ids = torch_stack(), some((3, 8))
    params = gpt_params(stack)
    kept = copied(params)
    hidden = ~torch.ones(8, 8, dtype=torch.bool).tril()
    with torch.no_grad():
        x = torch.tensor(params["E"][ids] + params["P"][:8])
        heads = stack[0].self_attn(x, x, x, attn_mask=hidden)[0]
        close(CHAPTER.biased_attention(
            x.numpy(), *params["layers"][0]["attention"],
            CHAPTER.causal_mask(8)), heads)
        close(CHAPTER.tanh_gelu(x), stack[0].activation(x))
        for block in stack:
            x = block(x, src_mask=hidden)
        x = F.layer_norm(x, (12,), *map(torch.tensor, params["norm"]))
        want = x.numpy() @ params["W_U"] + params["c"]
    close(CHAPTER.gpt(ids, params, CHAPTER.layer_norm), want)
    close(CHAPTER.gpt(ids[1], params, CHAPTER.layer_norm), want[1])
    with torch.no_grad():                           # copies, not views
        for w in stack[0].parameters():
            w.zero_()
    same(params, kept)
    centred = CHAPTER.centre_writers(params)
    bare = CHAPTER.fold_norms(centred)
    same(params, kept)
    close(CHAPTER.gpt(ids, centred, CHAPTER.layer_norm), want)
    close(CHAPTER.gpt(ids, centred, CHAPTER.shifted_rms_norm), want)
    close(CHAPTER.gpt(ids, bare, CHAPTER.bare_norm), want)
    writers = {("E",): 0, ("P",): 0} | {
        ("layers", i, part, k): 0 for i in range(2)
        for part, k in (("attention", -2), ("attention", -1), ("ffn", -2),
                        ("ffn", -1))}
    for way, w in flat(centred).items():
        *there, k = way
        last = (*there, k - len(params["layers"][0][there[-1]])
                ) if there and there[-1] in ("attention", "ffn") else way
        old = flat(params)[way]
        if last in writers:
            np.testing.assert_allclose(w.mean(axis=-1), 0, atol=1e-15)
            np.testing.assert_allclose(
                w, old - np.broadcast_to(np.expand_dims(
                    old.mean(axis=-1), -1), old.shape), atol=1e-15)
            writers.pop(last)
        else:
            assert np.array_equal(w, old), way
    assert not writers
    for k in ("E", "P"):
        off = CHAPTER.gpt(ids, {**centred, k: params[k]},
                          CHAPTER.shifted_rms_norm)
        assert CHAPTER.worst_token(off, want) > 1e-3
    for name, value in (("plain", params), ("centred_gpt", centred)):
        monkeypatch.setitem(INSIDE, name, value)
    for part, k, put in (("attention", -2, 2), ("ffn", -1, 1)):
        got = flat(CHAPTER.put_back(part, k))
        assert got.keys() == flat(params).keys()
        n = len(params["layers"][1][part])
        for way, w in got.items():                  # the last layer's writers
            old = way[:3] == ("layers", 1, part) and way[-1] >= n - put
            assert np.array_equal(w, flat(params if old else centred)[way])
    assert bare["norm"] == () and all(
        layer["norm_1"] == layer["norm_2"] == () for layer in bare["layers"])
    for old, new in zip(centred["layers"], bare["layers"], strict=True):
        for part in ("attention", "ffn"):           # what writes stays
            same(old[part][-2:], new[part][-2:])


def test_norms_of_a_gpt():
    rng = np.random.default_rng(16)
    X, gain, bias = rng.normal(size=(4, 9)) / 300, *rng.normal(size=(2, 9))
    x = F.rms_norm(torch.tensor(X), (9,), None, 1e-5).numpy()
    close(CHAPTER.bare_norm(X), x)
    close(CHAPTER.shifted_rms_norm(X, gain, bias), gain * x + bias)
    M = rng.normal(size=(2, 4, 9))
    np.testing.assert_allclose(CHAPTER.mean_free(M),
                               M @ (np.eye(9) - 1 / 9), atol=1e-15)
    np.testing.assert_allclose(CHAPTER.mean_free(bias),
                               bias - sum(bias) / 9, atol=1e-15)


def test_a_likely_peak():
    for size, column in ((1, 1), (3.0, 0.25), (40, 10)):
        for n in (300, 960, 61_440):
            got = CHAPTER.likely_peak(size, column, n)
            beyond = math.erfc(got / (size * column) / math.sqrt(2))
            chance = -math.expm1(n * math.log1p(-beyond))
            assert 0.05 < chance < 0.1              # below 1 in 10
    rng = np.random.default_rng(17)
    tokens, W = rng.normal(size=(2000, 64)), rng.normal(size=(64, 400))
    tokens *= 8 / np.linalg.norm(tokens, axis=1, keepdims=True) * 5
    W *= 3 / np.linalg.norm(W, axis=0)
    peaks = abs(tokens @ W).max(axis=1)
    over = (peaks > CHAPTER.likely_peak(5, 3, 400)).mean()
    assert 0.02 < over < 0.1
    assert CHAPTER.likely_peak(10, 10, 61_440) == pytest.approx(
        100 * math.sqrt(2 * math.log(122_880)))


def test_what_a_format_holds():
    held = {torch.float16: [1.0, 65504, 2.0**-24, 1e-6],
            torch.bfloat16: [1.0, 3e38, 1e-38],
            torch.float8_e4m3fn: [1.0, 448, 2.0**-9],
            torch.float8_e5m2: [1.0, 57344, 2.0**-16]}
    lost = {torch.float16: [66000, 1e6, 2.0**-26, 1.4 * 2.0**-24],
            torch.bfloat16: [3.4e38 * 2, 1e-42],
            torch.float8_e4m3fn: [900, 1e5, 2.0**-11],
            torch.float8_e5m2: [80_000, 2.0**-18]}
    for want, cases in ((True, held), (False, lost)):
        for dtype, numbers in cases.items():
            for number in numbers:
                assert CHAPTER.stored_well(number, dtype) == want, (number,
                                                                    dtype)


def test_four_places_for_the_division():
    rng = np.random.default_rng(18)
    X = torch.tensor(rng.integers(-8, 9, (200, 16)) * 1.0)
    W = torch.tensor(rng.integers(-9, 10, (16, 7)) * 4.0)
    x, w = X.half(), W.half()
    s = X.square().mean(-1, keepdim=True) ** -0.5
    close(CHAPTER.reciprocal_size(x * 2.0**-12), s * 2**12, 1e-6)
    close(CHAPTER.reciprocal_size(x * 2**9), s / 2**9, 1e-6)
    assert CHAPTER.reciprocal_size(x).dtype == torch.float32
    want, u = X @ W * s, 1.001 * 2.0**-11           # one rounding
    for power, given in ((0, ()), (6, (6,)), (-1, (-1,)), (14, (14,))):
        stored = (X @ W * 2.0**-power).half().double() * 2.0**power
        got = CHAPTER.stored_then_divided(x, w, *given)
        assert got.dtype == torch.float16
        assert ((got - stored * s).abs() <= u * (stored * s).abs()).all()
    big = x * 2**9                                  # sizes of about 2,500
    exact = CHAPTER.divided_then_stored(big, w)
    assert exact.dtype == torch.float16
    assert ((exact - want).abs() <= u * want.abs()).all()
    assert torch.isinf(CHAPTER.stored_then_divided(big, w)).any()
    close(CHAPTER.stored_then_divided(big, w, 6), want, 1e-3)
    for tokens in (x, big, x * 2.0**-12):
        got = CHAPTER.norm_first(tokens, w)
        assert got.dtype == torch.float16
        close(got, want, 2e-3)
        z = (X * s).half().double() @ W             # rounded, multiplied
        close(got, z, 8e-4)
        assert (got - z).abs().mean() < 0.85 * (got - want).abs().mean()


def test_error_in_float16(monkeypatch):
    rng = np.random.default_rng(19)
    X, W = torch.tensor(rng.normal(size=(20, 16))), torch.tensor(
        rng.normal(size=(16, 5))).half()
    monkeypatch.setitem(INSIDE, "X", X)
    monkeypatch.setitem(INSIDE, "W_10", W)
    given = []

    def program(tokens, matrix):
        given.append(tokens)
        assert matrix is W
        x = tokens.double()
        exact = x @ W.double() / x.square().mean(1, True).sqrt()
        return exact * (1 + torch.arange(12.0)[:, None] ** 2 / 100)

    got = CHAPTER.float16_error(program, 30.0)
    assert torch.equal(given[0], (30 * X[:12]).half())
    assert got == pytest.approx(0.25)               # torch: the lower median
    assert CHAPTER.float16_error(CHAPTER.norm_first, 30.0) < 1e-3


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
@pytest.mark.parametrize("levels", [127, 7])
def test_on_a_grid(axis, levels):
    A = np.random.default_rng(20).normal(size=(6, 9, 4)) ** 3
    given = (A, axis) if levels == 127 else (A, axis, levels)
    got = CHAPTER.on_a_grid(*given)
    assert got.shape == A.shape
    largest = np.broadcast_to(abs(A).max(axis=axis, keepdims=True), A.shape)
    steps = got / (largest / levels)
    np.testing.assert_allclose(steps, np.rint(steps), atol=1e-9)
    assert (abs(got - A) <= largest / levels / 2 * (1 + 1e-9)).all()
    at = abs(A) == largest
    np.testing.assert_allclose(got[at], A[at])
    assert CHAPTER.off_by(A + 0.5 * A[::-1], A) == pytest.approx(0.5)
    assert CHAPTER.off_by(A, 3 * A) == pytest.approx(2 / 3)


def test_a_gain_folded_before_it_is_rounded():
    rng = np.random.default_rng(24)
    X, W = rng.normal(size=(30, 24)), rng.normal(size=(24, 7))
    assert CHAPTER.folded_error(np.ones(24), W, X) == 1
    assert CHAPTER.folded_error(np.full(24, 4.0), W, X) == pytest.approx(1)
    for g in (np.exp(rng.normal(size=24)), rng.normal(size=24)):
        off = []
        for tokens, M in ((X, np.diag(g) @ W), (X @ np.diag(g), W)):
            rough = np.array([np.rint(w / max(abs(w)) * 127) * max(abs(w))
                              for w in M.T]).T / 127
            off.append(((tokens @ rough - (X * g) @ W) ** 2).sum() ** 0.5)
        assert CHAPTER.folded_error(g, W, X) == pytest.approx(off[0] / off[1])


def test_whole_numbers_have_degree_0():
    X = np.random.default_rng(21).normal(size=(2, 5, 9))
    q, step = CHAPTER.whole_numbers(X)
    assert step.shape == (2, 5, 1) and (abs(q).max(axis=-1) == 127).all()
    assert (q == np.rint(q)).all()
    assert (abs(q * step - X) <= step / 2 * (1 + 1e-9)).all()
    sizes = np.geomspace(0.01, 1000, 10).reshape(2, 5, 1)
    larger, steps = CHAPTER.whole_numbers(sizes * X)
    assert np.array_equal(larger, q)
    np.testing.assert_allclose(steps, sizes * step)


def by_the_clock(tasks):
    """Cycle by cycle: each unit takes the first of its queue, or waits."""
    queues, started = {}, {}
    for name, (unit, needs) in tasks.items():
        queues.setdefault(unit, []).append((name, needs))
    for now in range(10_000):
        for queue in queues.values():
            if queue and all(started.get(need, now) < now
                             for need in queue[0][1]):
                started[queue.pop(0)[0]] = now
        if not any(queues.values()):
            return started
    raise AssertionError


def test_each_task_starts_when_it_can():
    rng = np.random.default_rng(22)
    for _ in range(60):
        tasks = {i: (f"unit {rng.integers(3)}",
                     [int(j) for j in rng.permutation(i)[:rng.integers(3)]])
                 for i in range(rng.integers(1, 25))}
        got = CHAPTER.start_cycles(tasks)
        assert got == by_the_clock(tasks)
        assert CHAPTER.cycles(tasks) == max(got.values()) + 1
    with pytest.raises(KeyError, match="later"):
        CHAPTER.start_cycles({"a": ("u", ["later"]), "later": ("u", [])})


@pytest.mark.parametrize("C, K", [(1, 1), (1, 4), (2, 3), (3, 2), (5, 1),
                                  (4, 6), (7, 7)])
def test_three_programs(C, K):
    square = [("square", 9, i) for i in range(C)]
    scale = [("scale", 9, i) for i in range(C)]
    tiles = {("tile", 9, i, j) for i in range(C) for j in range(K)}
    norm = CHAPTER.norm_tasks(C, 9)
    assert list(norm) == square + scale
    assert all(needs == [square[-1]] for name, (_, needs) in norm.items()
               if name in scale)
    assert {unit for unit, _ in norm.values()} == {"vector"}
    assert CHAPTER.cycles(norm) == 2 * C
    programs = {CHAPTER.waiting_tasks: C * K + 2 * C,
                CHAPTER.chunkwise_tasks: C * K + C + 1,
                CHAPTER.deferred_tasks: C * K + 1}
    for make, closed in programs.items():
        assert CHAPTER.cycles(make(C, K)) == closed
        tasks = make(C, K, 9)
        outputs = {("scale", 9, j) for j in range(K)}
        assert tasks.keys() == tiles | {*square} | (
            outputs if make is CHAPTER.deferred_tasks else {*scale})
        assert all((unit == "matrix") == (name in tiles)
                   for name, (unit, _) in tasks.items())
        start = CHAPTER.start_cycles(tasks)
        for B in (1, 2, 5):
            line = CHAPTER.several(make, C, K, B)
            assert len(line) == B * len(tasks)
            assert CHAPTER.start_cycles(line) == by_the_clock(line)
            if C > 1 and K > 1:                     # the matrix never waits
                assert CHAPTER.cycles(line) == closed + (B - 1) * C * K
            assert {name[1] for name in line} == {*range(B)}
        if make is CHAPTER.waiting_tasks:
            assert min(start[t] for t in tiles) == 2 * C
        elif make is CHAPTER.chunkwise_tasks:
            assert all(start[t] > start["scale", 9, t[2]] for t in tiles)
            assert start["tile", 9, 0, 0] == C + 1
            assert all(tasks[t][1] == [("scale", 9, t[2])] for t in tiles)
        else:
            for j in range(K):
                assert {*tasks["scale", 9, j][1]} == {
                    ("tile", 9, C - 1, j), ("square", 9, C - 1)}
                assert start["scale", 9, j] > max(
                    start["square", 9, C - 1],
                    *(start["tile", 9, i, j] for i in range(C)))


def test_what_deferring_saves():
    for C, B in ((1, 1), (2, 3), (4, 1), (4, 64), (7, 2)):
        assert CHAPTER.cycles_saved(C, B) == pytest.approx(
            (2 * C - 1) / (B * C * C + 2 * C))
    assert CHAPTER.cycles_saved(4, 1) == pytest.approx(7 / 24)
    with pytest.raises(AssertionError):             # here the vectors wait
        CHAPTER.cycles_saved(1, 2)


def test_amdahl_and_bytes():
    for share, part in ((0.2, 1.0), (0.3, 0.5), (0.75, 0.2)):
        left = (1 - share) + share * (1 - part)
        saved = CHAPTER.most_saved(share, part)
        assert saved == pytest.approx(1 - left)
        assert CHAPTER.faster(saved) == pytest.approx(1 / left)
    assert CHAPTER.most_saved(0.4) == 0.4
    for n, k, tokens, unfused in ((576, 960, 4096, 13), (40, 7, 3, 2)):
        given = () if unfused == 13 else (unfused, 1e9)
        passes = unfused * n * tokens * 2           # bytes, of 2 each
        scaling = 2 * k * tokens * 2
        rate = 320e9 if unfused == 13 else 1e9      # bytes a second
        assert CHAPTER.passes_saved(n, k, tokens, *given) == pytest.approx(
            1000 * (passes - scaling) / rate)


def test_pairs_in_a_drawn_order(monkeypatch):
    """On a clock that a run moves: a second call costs 1, 3, 0.5 of the mood.

    A first call costs 1000, the mood of a round drifts, and every fifth round
    of the last run is disturbed.
    """
    clock, calls = [0.0], []
    monkeypatch.setitem(INSIDE, "perf_counter", lambda: clock[0])

    def run(i, cost):
        def step():
            warm = len(calls) % 2 == 0
            now = len(calls) // 6                   # the round
            calls.append(i)
            disturbed = 50 if i == 2 and now % 5 == 0 else 1
            clock[0] += 1000 if warm else cost * (1 + now) * disturbed
        return step

    runs = [run(i, cost) for i, cost in enumerate((1, 3, 0.5))]
    np.random.seed(0)
    got = CHAPTER.paired_ratios(runs, 15)
    np.testing.assert_allclose(got, [1, 3, 0.5])
    rounds = np.reshape(calls, (15, 3, 2))
    assert (rounds[..., 0] == rounds[..., 1]).all()
    assert (np.sort(rounds[..., 0]) == [0, 1, 2]).all()
    assert len({tuple(order) for order in rounds[..., 0]}) > 2
    calls.clear()
    assert CHAPTER.paired_ratios(runs[:1]) == 1 and len(calls) == 120


def test_a_line_for_each_program(monkeypatch, capsys):
    runs = {"first": abs, "the second one": max}
    monkeypatch.setitem(INSIDE, "paired_ratios", lambda given: [
        1.0, 0.456] if given == [abs, max] else None)
    CHAPTER.print_ratios(runs)
    assert capsys.readouterr().out.splitlines() == [
        "first            1.00", "the second one   0.46"]


def test_contenders():
    rng = np.random.default_rng(23)
    X, W, W_2, gain = (torch.tensor(rng.normal(size=size)).float()
                       for size in ((5, 8), (8, 3), (8, 3), 8))
    X *= torch.tensor([[1e-2], [1], [30], [0.1], [3]])
    kept = [a.clone() for a in (X, W, gain, W_2)]
    runs = CHAPTER.contenders(X, W, gain, W_2)      # W_2: not the folded one
    assert list(runs) == ["norm, product", "the same (A/A)", "weightless",
                          "deferred", "product alone"]
    assert runs["norm, product"] is runs["the same (A/A)"]
    x, w, g, w_2 = (a.double() for a in kept)
    mean = x.square().mean(1, True)
    size = (mean + 1e-6).sqrt()
    want = x / size * g @ w
    for _ in range(2):                              # nothing wears out
        for name, what in (("norm, product", want),
                           ("weightless", x / size @ w_2),
                           ("deferred", x @ w_2 / mean.sqrt()),
                           ("product alone", x @ w)):
            close(runs[name](), what, 1e-5)
    folded = CHAPTER.contenders(X[1:3], W, gain, torch.diag(gain) @ W)
    for name in list(folded)[:4]:
        close(folded[name](), want[1:3], 1e-5)
    assert all(map(torch.equal, (X, W, gain, W_2), kept))
    close(CHAPTER.unfused(X, W, gain, 0.5), x * (mean + 0.5).rsqrt() * g @ w,
          1e-5)
    close(CHAPTER.unfused(X, W, gain), want, 1e-5)
    large = (300 * X[1:2]).half()                   # squares pass 65,504
    got = CHAPTER.unfused(large, W.half(), gain.half())
    assert got.dtype == torch.float16
    close(got, want[1:2], 0.01)


def test_the_worst_token_of_each_program():
    want = torch.tensor([[3.0, 4], [0, 0.001]])
    runs = {"unfused": lambda: want.half(), "norm, product": lambda: want,
            "deferred": lambda: want * torch.tensor([[1.1], [1]]),
            "weightless": lambda: want + torch.tensor([[0.0], [0.0001]]),
            "product alone": lambda: 9 * want}
    got = CHAPTER.furthest_apart(runs)
    assert got == pytest.approx({
        "unfused": 0, "norm, product": 0, "deferred": 0.1,
        "weightless": 0.1 * 2**0.5}, rel=1e-3, abs=1e-3)
    assert not CHAPTER.gpu_contenders(*map(torch.ones, (
        (2, 3), (3, 4), 3, (3, 4)))).keys() ^ {*runs, "the same (A/A)"}


def test_a_race_on_the_cpu(monkeypatch):
    torch.manual_seed(1)
    assert CHAPTER.gpu_race(40, 24, 6, "cpu") is None
    honest, given = CHAPTER.reciprocal_size, []
    for name, where, broken in (
            ("unfused", "unfused", lambda X, W, gain: X @ W),
            ("deferred", "reciprocal_size", lambda X: 1.01 * honest(X)),
            ("weightless", "contenders", lambda *given: {
                **CHAPTER.contenders(*given), "weightless": lambda: F.rms_norm(
                    given[0], (40,), eps=0) @ given[1]})):
        with monkeypatch.context() as patch:
            patch.setitem(INSIDE, where, broken)
            with pytest.raises(AssertionError) as found:
                CHAPTER.gpu_race(40, 24, 6, "cpu")
        [off] = found.value.args
        assert max(off, key=off.get) == name
    monkeypatch.setitem(INSIDE, "contenders", lambda *now: given.append(
        now) or {**CHAPTER.contenders(*now), "product alone": lambda: now[0]
                 [:, :1].expand(-1, 24)})           # it may be anything
    assert CHAPTER.gpu_race(40, 24, 6, "cpu") is None
    [(X, W, gain, W_folded)] = given
    assert X.dtype == W.dtype == gain.dtype == W_folded.dtype == torch.float16
    assert X.shape == (6, 40) and W.shape == (40, 24) and len(set(
        gain.tolist())) > 1
    close(W_folded, torch.diag(gain.float()) @ W.float(), 1e-3)
    size = X.float().square().mean(1).sqrt()
    assert size[-1] > 5 * size[0]


@pytest.fixture
def cuda(monkeypatch):
    """A torch.cuda that tells what it is asked, and a clock to move.

    Here is no GPU; on one, a wait that is missing shows in a result only now
    and then. What has to come before what is asserted, no other order.
    """
    told, clock = [], [0.0]

    class Stream:
        def __init__(self, name="aside"):
            self.name = name

        def wait_stream(self, other):
            told.append(f"{self.name} waits for {other.name}")

    class Event:
        def __init__(self, enable_timing=False):
            assert enable_timing

        def record(self):
            self.time = clock[0]
            told.append("record")

        def elapsed_time(self, other):
            assert told[-1] == "synchronize"
            return other.time - self.time

    @contextmanager
    def inside(stream):
        told.append(f"on {stream.name}")
        yield
        told.append(f"off {stream.name}")

    for name, stub in (("Stream", Stream), ("Event", Event),
                       ("current_stream", lambda: Stream("here")),
                       ("stream", inside),
                       ("synchronize", lambda: told.append("synchronize"))):
        monkeypatch.setattr(torch.cuda, name, stub)
    monkeypatch.setattr(torch.Tensor, "is_cuda", True)
    monkeypatch.setattr(torch.Tensor, "record_stream", lambda tensor, stream:
                        told.append(f"{list(tensor.shape)} {stream.name}"))
    return told, clock


def test_two_streams_wait_for_each_other(cuda, monkeypatch):
    told, _ = cuda
    X, W = torch.randn(5, 8), torch.randn(8, 3)
    kept, want = X.clone(), X @ W / X.square().mean(1, True).sqrt()
    product, size = torch.Tensor.__matmul__, INSIDE["reciprocal_size"]
    scale = torch.Tensor.mul_
    monkeypatch.setattr(torch.Tensor, "__matmul__", lambda *given: told.append(
        "product") or product(*given))
    monkeypatch.setattr(torch.Tensor, "mul_", lambda *given: told.append(
        "scale") or scale(*given))
    monkeypatch.setitem(INSIDE, "reciprocal_size", lambda *given: told.append(
        "size") or size(*given))
    got = CHAPTER.side_by_side(X, W, torch.cuda.Stream())
    close(got, want, 1e-5)
    assert torch.equal(X, kept)

    def comes_in_order(*steps):
        assert all(told.count(step) == 1 for step in steps), told
        assert sorted(steps, key=told.index) == list(steps), told

    comes_in_order("aside waits for here", "on aside", "size", "off aside",
                   "here waits for aside", "scale")
    comes_in_order("product", "scale")
    assert not told.index("on aside") < told.index("product") < told.index(
        "off aside")
    assert "[5, 1] here" in told                    # its memory is kept


def test_the_gpu_s_own_clock(cuda):
    told, clock = cuda

    def run():
        clock[0] += 7 if told else 1000             # the first call is warm
        told.append("run")

    assert CHAPTER.gpu_milliseconds(run) == 7       # the first was not timed
    told.clear()
    assert CHAPTER.gpu_milliseconds(run, 3) == 7
    assert told.count("run") == 4


def test_a_race_on_a_gpu(cuda, monkeypatch):
    told, clock = cuda
    torch.manual_seed(2)
    cost = {"unfused": 9, "norm, product": 2, "the same (A/A)": 2,
            "weightless": 1, "deferred": 3, "product alone": 0.5}
    started = []

    def timed(name, run):
        def step():
            clock[0] += cost[name] * (1 + len(started) // 147)
            started.append(name)
            return run()
        return step

    honest = CHAPTER.contenders
    asked = []

    def watched(*given):
        asked.append(given)
        return {name: timed(name, run) for name, run in honest(*given).items()}

    monkeypatch.setitem(INSIDE, "contenders", watched)
    monkeypatch.setitem(INSIDE, "unfused", lambda *given: timed(
        "unfused", lambda: CHAPTER.unfused(*given))())
    cost["two streams"] = 4
    two = CHAPTER.side_by_side
    monkeypatch.setitem(INSIDE, "side_by_side", lambda *given: timed(
        "two streams", lambda: two(*given))())
    got = CHAPTER.gpu_race(40, 24, 6, "cpu", rounds=5)
    assert list(got) == ["unfused", "norm, product", "the same (A/A)",
                         "weightless", "deferred", "product alone",
                         "two streams"]
    for name, ratio in got.items():
        assert ratio == pytest.approx(cost[name] / 2, rel=0.3)
    rounds = np.reshape(started[7:], (5, 7, 21))    # six, and what is wanted
    assert (rounds == rounds[..., :1]).all()
    assert all(set(order) == set(cost) for order in rounds[..., 0])
    assert len({tuple(order) for order in rounds[..., 0]}) > 1
    _, (X, W, gain, W_folded) = asked               # one matrix in the cache
    assert W_folded is W and (gain == 1).all()
    monkeypatch.setitem(INSIDE, "side_by_side", lambda X, W, aside: X @ W)
    with pytest.raises(AssertionError) as found:
        CHAPTER.gpu_race(40, 24, 6, "cpu", rounds=1)
    [off] = found.value.args
    assert max(off, key=off.get) == "two streams"


def test_blocks_and_turns():
    for rounds in (80, 200, 500):
        given = () if rounds == 200 else (rounds,)
        # 1 to 1.2 in a line: the halves' means are 1.05 and 1.15
        assert CHAPTER.seems("blocks", *given) == pytest.approx(
            1.15 / 1.05, abs=0.005)
        assert CHAPTER.seems("turns", *given) == pytest.approx(1, abs=0.01)


def test_products_that_float32_holds():
    b = torch.tensor([3.0, 2.0**-20 + 1, 1 / 3, 0.5])
    a = torch.tensor([2.0**-10 + 1, 2.0**-10 + 1, 2.0**-10 + 1, 5])
    assert CHAPTER.share_exact(a, b) == 0.5         # 1/3 and 2^-30 are lost
    rng = torch.Generator().manual_seed(3)
    x, y = torch.randn(2, 5000, generator=rng)
    assert CHAPTER.share_exact(x.bfloat16(), y.bfloat16()) == 1
    assert CHAPTER.share_exact(x.half(), y.half()) == 1
    assert CHAPTER.share_exact(x.bfloat16(), y) < 0.05
