"""Chapter 13's functions against PyTorch's layers, loops and closed forms."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from course.chapter import functions
from tests.support.torch_oracle import draw, oracle, stream_by_torch

CHAPTER = functions("13")
rarely = settings(deadline=None, max_examples=25)
seeds, few = st.integers(0, 10**6), st.integers(1, 3)
leads = st.sampled_from([(), (1,), (4,), (2, 3)])


def last(X, params):
    """The last norm and the head, by torch."""
    gain, bias = map(torch.tensor, params["norm"])
    X = F.layer_norm(torch.tensor(X), X.shape[-1:], gain, bias)
    return X.numpy() @ params["W_U"]


def close(ours, want, bound=1e-11):
    return abs(ours - want).max() <= bound * abs(want).max()


def tokens(seed, lead, n, n_vocab=11):
    return np.random.default_rng(seed).integers(n_vocab, size=(*lead, n))


@rarely
@given(seeds, leads, st.integers(1, 6), few)
def test_blocks_are_pytorchs(seed, lead, n, h):
    rng = np.random.default_rng(seed)
    [layer] = draw(seed, h, n_layers=1)["layers"]
    X = rng.normal(size=(*lead, n, 3 * h)) + rng.normal()
    X *= 10 ** rng.uniform(-1, 1, size=(*lead, n, 1))
    mask = np.eye(n, dtype=bool) | (rng.random((n, n)) < 0.5)
    wired = {True: CHAPTER.pre_norm_block(X, layer, mask),
             False: CHAPTER.post_norm_block(X, layer, mask)}
    for norm_first, got in wired.items():
        assert close(got, oracle(X, layer, norm_first, mask))
        assert not close(wired[not norm_first], got, 1e-3)


@rarely
@given(seeds, leads, st.integers(1, 9), few, st.integers(0, 3))
def test_models_are_stacks_of_pytorchs(seed, lead, n, h, n_layers):
    params, ids = draw(seed, h, n_layers), tokens(seed, lead, n)
    before = stream_by_torch(ids, params, True)
    after = stream_by_torch(ids, params, False)
    for block, want in ((CHAPTER.pre_norm_block, before),
                        (CHAPTER.post_norm_block, after)):
        got = CHAPTER.residual_stream(ids, params, block)
        assert len(got) == n_layers + 1 and all(map(close, got, want))
    assert close(CHAPTER.transformer(ids, params), last(before[-1], params))
    assert close(CHAPTER.post_norm_transformer(ids, params),
                 after[-1] @ params["W_U"])


def test_a_model_refuses_what_it_has_no_row_for():
    params = draw(0)
    for ids in (tokens(0, (), 10), np.array([11])):
        with pytest.raises(ValueError):
            CHAPTER.transformer(ids, params)


@pytest.mark.parametrize("model", ["transformer", "post_norm_transformer"])
def test_nothing_leaks(model):
    params, ids = draw(1), tokens(1, (5,), 9)

    def logits_of(ids):
        return getattr(CHAPTER, model)(ids, params)

    for t in (1, 4, 8):
        touched = ids.copy()
        touched[:, t] = (touched[:, t] + 1) % 11
        moved = abs(logits_of(touched) - logits_of(ids)).max(axis=(0, 2))
        assert moved[:t].max(initial=0) == 0 and moved[t:].max() > 0
    assert abs(logits_of(ids[:, ::-1]) - logits_of(ids)).max() > 0.1


@pytest.mark.parametrize("dtype, bound", [(torch.float64, 1e-12),
                                          (torch.float32, 1e-5)])
@pytest.mark.parametrize("norm_first", [True, False])
def test_torch_block_and_its_weights(dtype, bound, norm_first):
    block, layer = CHAPTER.torch_block(norm_first, dtype)
    X = torch.randn(2, 5, 12, dtype=dtype)
    ours = (CHAPTER.pre_norm_block if norm_first else CHAPTER.post_norm_block)
    with torch.no_grad():
        want = block(X).numpy()
        got = ours(X.numpy(), layer, np.ones((5, 5), dtype=bool))
        assert got.dtype == want.dtype and close(got, want, bound)
        for weight in block.parameters():           # copies, not views
            weight.zero_()
    assert all(w.any() for group in layer.values() for w in group[:4])


def torch_model(n_layers=3, **kwargs):
    """A TorchTransformer whose gains and biases are random too."""
    torch.manual_seed(n_layers)
    model = CHAPTER.TorchTransformer(n_layers=n_layers, std=1, n_vocab=6,
                                     n_max=8, d_model=12, h=3, d_ff=20,
                                     **kwargs).double()
    for module in model.modules():
        if isinstance(module, nn.LayerNorm):
            nn.init.normal_(module.weight)
            nn.init.normal_(module.bias)
    return model


@pytest.mark.parametrize("n_layers", [1, 3])
def test_params_from_torch_are_the_model(n_layers):
    model, ids = torch_model(n_layers), tokens(2, (4,), 7, 6)
    params = CHAPTER.params_from_torch(model)
    want = last(stream_by_torch(ids, params, True)[-1], params)
    assert close(CHAPTER.transformer(ids, params), want)
    with torch.no_grad():
        assert close(model(torch.tensor(ids)).numpy(), want)
        model.E.zero_()
    assert params["E"].any() and params["W_U"].any()


def test_torch_model_wired_after():
    def post_norm(X, part, norm):
        return norm(X + part(X))

    model, ids = torch_model(wire=post_norm), tokens(2, (4,), 7, 6)
    params = CHAPTER.params_from_torch(model)
    stream = stream_by_torch(ids, params, False)
    with torch.no_grad():
        got = model(torch.tensor(ids)).numpy()
    assert close(got, last(stream[-1], params))


@rarely
@given(st.integers(1, 5), st.integers(1, 4), st.integers(1, 99), few)
def test_gpt2_parameters_by_modules(heads, n_layers, n_vocab, n_max):
    d = 4 * heads
    kinds = {"embedding": nn.Embedding(n_vocab, d),
             "positions": nn.Embedding(n_max, d),
             "attention": nn.MultiheadAttention(d, heads),
             "FFN": nn.Sequential(nn.Linear(d, 4 * d), nn.Linear(4 * d, d)),
             "norms": nn.LayerNorm(d)}
    size = {name: sum(w.numel() for w in kind.parameters())
            for name, kind in kinds.items()}
    got = CHAPTER.gpt2_parameters(d, n_layers, n_vocab, n_max)
    assert got == {"embedding": size["embedding"],
                   "positions": size["positions"],
                   "attention": n_layers * size["attention"],
                   "FFN": n_layers * size["FFN"],
                   "norms": (2 * n_layers + 1) * size["norms"]}


def test_gpt2_small_by_two_ways():
    assert sum(CHAPTER.gpt2_parameters(768, 12).values()) == 124_439_808
    assert CHAPTER.gpt2_in_torch(768, 12) == 124_439_808


@pytest.mark.parametrize("std, branch_std", [(0.3, 0.02), (0.02, 0.1)])
def test_gpt2_init_has_the_sizes_that_it_says(std, branch_std):
    torch.manual_seed(3)
    model = CHAPTER.TorchTransformer(n_layers=2, n_vocab=300, n_max=40,
                                     d_model=64, h=4, d_ff=96)
    for w in model.parameters():
        nn.init.constant_(w, 7 if w.ndim == 2 else 0.5)
    for norm in (model.norm, *(n for block in model.blocks
                               for n in (block.norm_1, block.norm_2))):
        nn.init.ones_(norm.weight)
    CHAPTER.gpt2_init(model, std, branch_std)

    def near(w, size):
        return abs(w.std().item() / size - 1) < 0.06 and w.mean().abs() < size

    assert near(model.E, std) and near(model.P, std)
    for block in model.blocks:
        assert near(block.attention.in_proj_weight, 0.02)
        assert near(block.ffn[0].weight, 0.02)
        assert near(block.attention.out_proj.weight, branch_std)
        assert near(block.ffn[2].weight, branch_std)
        for layer in (block.ffn[0], block.ffn[2], block.norm_1, block.norm_2):
            assert not layer.bias.any()
        assert (block.norm_1.weight == 1).all()
    first, second = model.blocks
    assert not torch.equal(first.ffn[0].weight, second.ffn[0].weight)


def test_untrained_measures_stream_and_loss():
    rms, loss = CHAPTER.untrained(0, branch_std=0)
    assert math.isclose(rms, 0.02 * 2**0.5, rel_tol=0.05)
    assert abs(loss - math.log(1000)) < 0.15
    assert CHAPTER.untrained(0, branch_std=0) == (rms, loss)
    assert CHAPTER.untrained(1, branch_std=0) != (rms, loss)
    assert CHAPTER.untrained(0, std=1)[1] > 80


def modern(seed, h_kv, d=24, h=6, **sizes):
    """A Transformer in float64 whose gains are random too."""
    torch.manual_seed(seed)
    model = CHAPTER.Transformer(n_vocab=11, d_model=d, h=h, h_kv=h_kv,
                                d_ff=10, **sizes).double()
    for name, w in model.named_parameters():
        if "norm" in name:
            nn.init.normal_(w)
    return model


def attention_by_heads(att, Z, base):
    """Rotations as complex numbers, a loop over heads. -> their answers."""
    n, k = Z.shape[1], Z.shape[2] // att.h
    angle = np.arange(n)[:, None] * base ** (-np.arange(0, k, 2) / k)
    turn = torch.tensor(np.exp(1j * angle))

    def rope(A):
        A = torch.complex(*A.chunk(2, dim=-1)) * turn
        return torch.cat([A.real, A.imag], dim=-1)

    for i in range(att.h):
        j = i * att.h_kv // att.h
        Q, K, V = (Z @ W.weight[s * k:(s + 1) * k].T for W, s in (
            (att.W_Q, i), (att.W_K, j), (att.W_V, j)))
        head = F.scaled_dot_product_attention(rope(Q), rope(K), V,
                                              is_causal=True)
        yield head @ att.W_O.weight[:, i * k:(i + 1) * k].T


def stream_by_hand(model, ids, base):
    """What each part adds, by formulas of their own."""
    parts = [model.E[ids]]
    for block in model.blocks:
        X, ffn = sum(parts), block.ffn
        Z = F.rms_norm(X, X.shape[-1:], block.norm_1.weight, 1e-6)
        parts += attention_by_heads(block.attention, Z, base)
        X = sum(parts)
        Z = F.rms_norm(X, X.shape[-1:], block.norm_2.weight, 1e-6)
        parts.append((F.silu(Z @ ffn.gate.weight.T)
                      * (Z @ ffn.up.weight.T)) @ ffn.down.weight.T)
    return parts


@pytest.mark.parametrize("h_kv", [None, 2, 1])
def test_the_model_by_heads(h_kv):
    model, ids = modern(3, h_kv, n_layers=3, base=50.0), torch.tensor(
        tokens(3, (4,), 7))
    with torch.no_grad():
        X = sum(stream_by_hand(model, ids, 50.0))
        want = F.rms_norm(X, (24,), model.norm.weight, 1e-6) @ (
            model.W_U.weight.T)
        assert torch.allclose(model(ids), want, atol=1e-4)  # float32 angles
        later = ids.clone()
        later[:, 4] = (later[:, 4] + 1) % 11
        moved = (model(later) - model(ids)).abs().amax(dim=(0, 2))
    assert moved[:4].max() < 1e-12 and moved[4:].min() > 1e-6


@pytest.mark.parametrize("lead, n_layers, h", [((), 1, 4), ((3,), 2, 6),
                                               ((2, 2), 3, 1)])
def test_additions_are_the_stream(lead, n_layers, h):
    model = modern(n_layers, None, h=h, n_layers=n_layers, base=50.0)
    weights = {name: w.detach().numpy()
               for name, w in model.named_parameters()}
    ids = tokens(5, lead, 6)
    parts = CHAPTER.additions(ids, weights, h, 50.0)
    flat = torch.tensor(ids.reshape(-1, 6))
    with torch.no_grad():
        want = stream_by_hand(model, flat, 50.0)
    names = ["table", *(f"{b + 1} {part}" for b in range(n_layers) for part in (
        *(f"head {i}" for i in range(h)), "FFN"))]
    assert [*parts] == names and len(want) == len(names)
    for part, right in zip(parts.values(), want, strict=True):
        assert part.shape == (*ids.shape, 24)
        assert close(part.reshape(-1, 6, 24), right.numpy(), 1e-9)


@pytest.mark.parametrize("h_kv", [None, 2])
def test_maps_are_the_attention_s(h_kv):
    model, ids = modern(1, h_kv, base=50.0), torch.tensor(tokens(1, (2,), 5))
    for block, weights in zip(model.blocks, CHAPTER.attention_maps(
            model, ids), strict=True):
        assert weights.shape == (2, 6, 5, 5)
        assert torch.allclose(weights.sum(-1), torch.ones(2, 6, 5).double())
        assert weights.triu(1).abs().max() == 0
        V = torch.zeros(2, block.attention.h_kv, 5, 4).double()
        assert V.shape[1] == (h_kv or 6)
    block, att = model.blocks[0], model.blocks[0].attention
    with torch.no_grad():
        Z = block.norm_1(model.E[ids])
        V = att.heads(Z)[2].repeat_interleave(6 // att.h_kv, dim=1)
        Y = CHAPTER.attention_maps(model, ids)[0] @ V
        assert torch.allclose(att.W_O(Y.transpose(1, 2).flatten(-2)), att(Z))


def test_a_head_switched_off_adds_zeros():
    model, ids = modern(2, None, base=50.0), tokens(2, (3,), 6)
    silent = CHAPTER.switched_off(model, 2, 4)
    before, after = (CHAPTER.additions(ids, {
        name: w.detach().numpy() for name, w in each.named_parameters()},
        6, 50.0) for each in (model, silent))
    assert not after["2 head 4"].any() and before["2 head 4"].any()
    for name in before:
        if name not in ("2 head 4", "2 FFN"):
            assert np.array_equal(before[name], after[name])
    assert not np.allclose(before["2 FFN"], after["2 FFN"])


@pytest.mark.parametrize("h_kv", [None, 2, 1])
def test_attention_maps_are_what_the_layers_use(h_kv):
    torch.manual_seed(5)
    model = CHAPTER.Transformer(d_model=48, h=4, h_kv=h_kv)
    ids = torch.tensor(tokens(1, (2,), 9, 36))
    with torch.no_grad():
        X = model.E[ids]
        maps = CHAPTER.attention_maps(model, ids)
        for block, weights in zip(model.blocks, maps, strict=True):
            assert torch.equal(weights, weights.tril())     # causal
            Z = block.norm_1(X)
            V = block.attention.heads(Z)[2]
            V = V.repeat_interleave(4 // V.shape[1], dim=1)
            Y = block.attention.W_O((weights @ V).transpose(1, 2).flatten(-2))
            assert torch.allclose(Y, block.attention(Z), atol=1e-5)
            X = block(X)


def test_first_weights_of_the_kite_model():
    """E has the standard deviation 0.3; W_V and W_O are PyTorch's, doubled."""
    torch.manual_seed(5)
    model = CHAPTER.Transformer()
    assert model.E.std().item() == pytest.approx(0.3, rel=0.1)
    for block in model.blocks:
        for name, factor in (("W_Q", 1), ("W_K", 1), ("W_V", 2), ("W_O", 2)):
            largest = getattr(block.attention, name).weight.abs().max().item()
            assert largest == pytest.approx(factor / 48 ** 0.5, rel=0.02)
