"""Chapter 21's functions against PyTorch's layers and closed forms."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from course.chapter import functions

CHAPTER = functions("21")
READERS = {"norm_1": ("W_Q", "W_K", "W_V"), "norm_2": ("W_gate", "W_up")}


def close(got, want, bound=1e-12):
    """Every row within bound of its own length."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape
    off = np.linalg.norm(got - want, axis=-1)
    assert (off <= bound * np.linalg.norm(want, axis=-1)).all(), off.max()


def draw(seed=0, h=4, n_vocab=23, n_layers=2, d=14, d_k=6, d_ff=17):
    """A small Llama with signed gains, no two of them alike."""
    rng = np.random.default_rng(seed)
    return CHAPTER.new_llama(rng, lambda d: rng.normal(size=d) + 0.1, n_vocab,
                             d, n_layers, h, d_k, d_ff)


def some(front=(3, 8), n_vocab=23, seed=1):
    return np.random.default_rng(seed).integers(n_vocab, size=front)


def flat(weights):
    """Every array of a model with the way to it."""
    return {**{name: w for name, w in weights.items() if name != "layers"},
            **{(i, name): w for i, layer in enumerate(weights["layers"])
               for name, w in layer.items()}}


def same(got, want):
    """The same arrays at the same places."""
    got, want = flat(got), flat(want)
    assert got.keys() == want.keys()
    for way, w in want.items():
        np.testing.assert_allclose(got[way], w, rtol=1e-14, atol=0,
                                   err_msg=str(way))


def changed(change, weights):
    """The same model with every array changed."""
    return {**{name: change(w) for name, w in weights.items()
               if name != "layers"},
            "layers": [{name: change(w) for name, w in layer.items()}
                       for layer in weights["layers"]]}


def turned(x):
    """RoPE by complex numbers, pairs (i, i + d_k / 2), one token at a time."""
    half = x.shape[-1] // 2
    z = torch.complex(x[..., :half].double(), x[..., half:].double())
    rows = [z[..., t, :] * torch.polar(
        torch.ones(half, dtype=torch.float64),
        t / 10_000 ** (torch.arange(half, dtype=torch.float64) / half))
        for t in range(x.shape[-2])]
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


def attended(z, layer):
    """Causal attention, head by head, key by key."""
    y = 0
    for W_Q, W_K, W_V, W_O in zip(*(layer[name] for name in (
            "W_Q", "W_K", "W_V", "W_O")), strict=True):
        q, k = turned(linear(W_Q)(z)), turned(linear(W_K)(z))
        scores = torch.einsum("bqd,bkd->bqk", q, k) / q.shape[-1] ** 0.5
        hidden = torch.arange(z.shape[1])[:, None] < torch.arange(z.shape[1])
        weights = scores.masked_fill(hidden, -torch.inf).softmax(-1)
        y = y + linear(W_O)(weights @ linear(W_V)(z))
    return y


def gated(z, layer):
    g = linear(layer["W_gate"])(z)
    return linear(layer["W_down"])(
        g / (1 + torch.exp(-g)) * linear(layer["W_up"])(z))


def theirs(ids, weights, eps=1e-5, post=False):
    """Llama from nn.Embedding, nn.Linear and nn.RMSNorm; a tensor."""
    w = changed(torch.as_tensor, weights)
    x = nn.Embedding.from_pretrained(w["E"])(torch.as_tensor(ids))
    for layer in w["layers"]:
        first, second = (norm(layer[name], eps)
                         for name in ("norm_1", "norm_2"))
        if post:
            x = first(x + attended(x, layer))
            x = second(x + gated(x, layer))
        else:
            x = x + attended(first(x), layer)
            x = x + gated(second(x), layer)
    return linear(w["W_U"])(x if post else norm(w["norm"], eps)(x))


@pytest.mark.parametrize("seed, h", [(0, 4), (5, 3), (6, 1)])
def test_llama(seed, h):
    weights, ids = draw(seed, h), some()
    kept = changed(np.copy, weights)
    small = CHAPTER.in_float32(weights)
    for eps in (1e-5, 1e-3):
        want = theirs(ids, weights, eps)
        folded = CHAPTER.fold_model(weights)
        for read, w in ((CHAPTER.norm_and_read, weights),
                        (CHAPTER.weightless_read, folded),
                        (CHAPTER.deferred_read, folded)):
            def with_eps(X, gain, W, read=read, eps=eps):
                return read(X, gain, W, eps)

            close(CHAPTER.llama(ids, w, with_eps), want, 1e-11)
            close(CHAPTER.llama(ids[0], w, with_eps), want[0], 1e-11)
            if eps == 1e-5:
                close(CHAPTER.llama(ids, w, read), want, 1e-11)
    got = CHAPTER.llama(ids, small)
    assert got.dtype == np.float32
    close(got, theirs(ids, weights), 1e-3)
    close(CHAPTER.torch_llama(ids, weights), theirs(ids, weights), 1e-11)
    with pytest.raises(ValueError, match="token numbers"):
        CHAPTER.llama(ids + 9, weights)
    same(weights, kept)


def test_a_new_llama():
    asked = []

    def gain(d):
        asked.append(np.full(d, len(asked) + 1.0))
        return asked[-1]

    w = CHAPTER.new_llama(np.random.default_rng(4), gain, 700, 80, 2, 6, 40, 90)
    assert len(asked) == 5
    shapes = {"W_Q": (6, 80, 40), "W_K": (6, 80, 40), "W_V": (6, 80, 40),
              "W_O": (6, 40, 80), "W_gate": (80, 90), "W_up": (80, 90),
              "W_down": (90, 80), "E": (700, 80), "W_U": (80, 700)}
    for layer in w["layers"]:
        assert set(layer) == set(shapes) - {"E", "W_U"} | set(READERS)
    for (*_, name), W in ((way if isinstance(way, tuple) else (way,), W)
                          for way, W in flat(w).items()):
        if name in shapes:
            assert W.shape == shapes[name]
            assert W.std() == pytest.approx(W.shape[-2] ** -0.5, rel=0.05)
    assert len({W.sum() for W in flat(w).values()}) == len(flat(w))


def test_folding_a_model():
    weights = draw(10)
    kept = changed(np.copy, weights)
    folded = CHAPTER.fold_model(weights)
    same(weights, kept)

    def scaled(gain, W):
        return np.einsum("de,...ef->...df", np.diag(gain), W)

    want = {"E": weights["E"], "W_U": scaled(weights["norm"], weights["W_U"]),
            "layers": [{name: W for name, W in layer.items()
                        if name not in READERS}
                       for layer in weights["layers"]]}
    for new, old in zip(want["layers"], weights["layers"], strict=True):
        for gain, readers in READERS.items():
            new |= {name: scaled(old[gain], old[name]) for name in readers}
    same(folded, want)
    with pytest.raises(KeyError):
        CHAPTER.fold_model(folded)
    without = CHAPTER.fold_model(weights, norm_1=("W_Q", "W_K"))
    for new, old in zip(want["layers"], weights["layers"], strict=True):
        new["W_V"] = old["W_V"]
    same(without, want)
    twice = CHAPTER.folded_twice(weights)
    np.testing.assert_allclose(twice["W_U"], scaled(
        weights["norm"] ** 2, weights["W_U"]), rtol=1e-14)
    for new, old in zip(twice["layers"], weights["layers"], strict=True):
        np.testing.assert_allclose(new["W_up"], scaled(
            old["norm_2"] ** 2, old["W_up"]), rtol=1e-14)
    tripled = CHAPTER.with_gains(lambda gain: 3 * gain, weights)
    same(tripled, {**weights, "norm": 3 * weights["norm"], "layers": [
        {**layer, **{name: 3 * layer[name] for name in READERS}}
        for layer in weights["layers"]]})
    same(weights, kept)


@pytest.mark.parametrize("seed", range(3))
def test_post_norm(seed):
    weights, ids = draw(seed, n_layers=1 + seed), some()
    kept = changed(np.copy, weights)
    want = theirs(ids, weights, post=True)
    close(CHAPTER.post_norm_llama(ids, weights), want, 1e-11)
    folded = CHAPTER.fold_post_norm(weights)
    close(CHAPTER.post_norm_llama(ids, folded), want, 1e-11)
    assert not any("norm" in name for layer in folded["layers"]
                   for name in layer)
    assert (folded["layers"][0]["shortcut_1"] == 1).all()
    same(weights, kept)


@pytest.mark.parametrize("seed, d, h", [(0, 30, 5), (1, 12, 3)])
def test_a_gpt_without_layer_norms(seed, d, h):
    model = E, P, stack, head = CHAPTER.random_gpt(seed, d, 2, h, 20)
    ids = torch.tensor(some((2, 9), 61))
    X = E[ids] + P[:9]
    hidden = torch.ones(9, 9, dtype=torch.bool).triu(1)
    with torch.no_grad():
        for block in stack.layers:
            Z = F.layer_norm(X, (d,), block.norm1.weight, block.norm1.bias)
            X = X + block.self_attn(Z, Z, Z, attn_mask=hidden)[0]
            Z = F.layer_norm(X, (d,), block.norm2.weight, block.norm2.bias)
            X = X + block.linear2(F.gelu(block.linear1(Z)))
        want = head(F.layer_norm(X, (d,), stack.norm.weight, stack.norm.bias))
    close(CHAPTER.gpt(ids, *model), want)
    CHAPTER.center_writers(E, P, stack)
    close(CHAPTER.gpt(ids, *model), want)
    for table in (E, P):
        assert abs(table.mean(1)).max() < 1e-14
    for block in stack.layers:
        for writer in (block.self_attn.out_proj, block.linear2):
            assert abs(writer.weight.mean(0)).max() < 1e-14
            assert abs(writer.bias.mean()) < 1e-14
    CHAPTER.fold_norms(stack, head)
    close(CHAPTER.gpt(ids, *model), want)
    for block in (*stack.layers, stack):
        for part in block.children():
            if isinstance(part, nn.RMSNorm):
                assert part.eps == 1e-5 and not [*part.parameters()]
            assert not isinstance(part, nn.LayerNorm)


@pytest.mark.parametrize("seed", range(3))
def test_a_tied_head_is_untied(seed):
    E = torch.tensor(np.random.default_rng(seed).normal(size=(11, 6)))
    kept, X = E.clone(), torch.ones(2, 6, dtype=torch.float64)
    head = CHAPTER.untied_head(E)
    torch.testing.assert_close(head(X), X @ E.T)
    with torch.no_grad():
        head.weight *= 2
        head.bias += 1
    assert torch.equal(E, kept)
    E += 1
    torch.testing.assert_close(head(X), 2 * X @ kept.T + 1)


def test_three_programs_in_float16():
    rng = np.random.default_rng(3)
    X = torch.tensor(rng.normal(size=(4, 60))) * torch.tensor(
        [[1e-3], [1], [30], [1000]])
    X, W = X.half(), torch.tensor(rng.normal(size=(60, 7))).half()
    size = X.double().square().mean(1, True).sqrt()
    np.testing.assert_allclose(CHAPTER.reciprocal_size(X), 1 / size, rtol=1e-6)
    want = X.double() @ W.double() / size
    for program in (CHAPTER.norm_first, CHAPTER.stored_then_divided,
                    CHAPTER.divided_then_stored):
        got = program(X, W)
        assert got.dtype == torch.float16
        close(got.double(), want, 2e-3)
    huge = torch.full((1, 60), 3e4).half()
    ones = torch.ones(60, 2).half()
    assert CHAPTER.stored_then_divided(huge, ones).isinf().all()
    assert (CHAPTER.divided_then_stored(huge, ones) == 60).all()
    [error] = CHAPTER.float16_errors(lambda X, W: 2 * CHAPTER.norm_first(X, W),
                                     [1.0], 0)
    assert error == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("axis", [0, 1, None])
def test_on_a_grid(axis):
    A = np.random.default_rng(4).normal(size=(6, 9))
    got = CHAPTER.on_a_grid(A, axis, 7)
    step = abs(A).max(axis=axis, keepdims=True) / 7
    assert np.allclose(got / step, np.round(got / step))
    assert (abs(got - A) <= step / 2 + 1e-15).all()
    assert CHAPTER.on_a_grid(np.array([[-4, 3.2], [1, 0.3]]), 1, 2).tolist() \
        == [[-4, 4], [1, 0.5]]
    first = CHAPTER.int8_errors([0, 0.5, 1], 0, 1, 64, 50, 0.0)
    assert np.ptp(first) < 1e-12                    # gains of +-1: no matter


def test_small_things():
    assert CHAPTER.norm_numbers(30, 576, True) == (35_136, 34_560)
    assert CHAPTER.norm_numbers(32, 4096, False) == (266_240, 266_240)
    want = torch.tensor([[3.0, 4.0]]).double()
    assert CHAPTER.rms_off(torch.tensor([[3.0, 9.0]]), want) == 1
    ones = torch.ones(576, dtype=torch.float64)
    assert CHAPTER.equal_bits(-4 * ones, torch.bfloat16, 3) == 1
    assert CHAPTER.equal_bits(1.3 * ones, torch.bfloat16, 3) < 1
    q, step = CHAPTER.whole_numbers(np.array([[1.0, -2.54], [0.5, 0.3]]))
    assert q.tolist() == [[50, -127], [127, 76]]
    np.testing.assert_allclose(step, [[0.02], [0.5 / 127]])
