"""Chapter 21's functions against PyTorch's layers and closed forms."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from course.chapter import functions

CHAPTER = functions("21")


def close(got, want, bound=1e-12):
    """Every row within bound of its own length."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape
    off = np.linalg.norm(got - want, axis=-1)
    assert (off <= bound * np.linalg.norm(want, axis=-1)).all(), off.max()


def draw(seed=0, **sizes):
    """A small Llama with signed gains, no two of them alike."""
    return CHAPTER.small_llama(seed, **sizes)


def some(front=(3, 8), n_vocab=23, seed=1):
    return torch.tensor(np.random.default_rng(seed).integers(
        n_vocab, size=front))


def theirs(ids, model, gains):
    """Logits by F.rms_norm with these gains, in the order of readers."""
    gains = iter(gains)

    def norm(X):
        return F.rms_norm(X, X.shape[-1:], next(gains), 1e-6)

    with torch.no_grad():
        X = model.E[ids]
        for block in model.blocks:
            X = X + block.attention(norm(X))
            X = X + block.ffn(norm(X))
        return model.W_U(norm(X))


def gains_of(model):
    return [getattr(owner, name).weight.detach().clone()
            for owner, name, _ in CHAPTER.wires(model)]


@pytest.mark.parametrize("sizes", [{}, dict(h=5, h_kv=1),
                                   dict(d_model=24, n_layers=1, h_kv=4)])
def test_folding_a_model(sizes):
    model, ids = draw(**sizes), some()
    kept = {name: w.clone() for name, w in model.state_dict().items()}
    gains = gains_of(model)
    with torch.no_grad():
        want = model(ids)
        folded = CHAPTER.fold_model(model)
        close(folded(ids), want)
    close(theirs(ids, model, gains), want)
    close(theirs(ids, folded, [None] * len(gains)), want)
    for name, w in model.state_dict().items():
        assert torch.equal(w, kept[name])
    pairs = list(zip(CHAPTER.wires(model), CHAPTER.wires(folded), gains,
                     strict=True))
    assert len(pairs) == 2 * len(model.blocks) + 1
    for (*_, old), (owner, name, new), g in pairs:
        assert not [*getattr(owner, name).parameters()]
        assert getattr(owner, name).eps == 1e-6
        for W, W_folded in zip(old, new, strict=True):
            close(W_folded.weight.detach(), W.weight.detach() @ torch.diag(g))
    for old, new in zip(model.blocks, folded.blocks, strict=True):
        for way in ("attention.W_O", "ffn.down"):
            assert torch.equal(old.get_submodule(way).weight,
                               new.get_submodule(way).weight)
    with pytest.raises(TypeError):
        CHAPTER.fold_model(folded)


def test_wrong_folds():
    model, ids = draw(3), some()
    gains = gains_of(model)
    with torch.no_grad():
        tripled = CHAPTER.with_gains(model, lambda g: 3 * g)
        close(tripled(ids), theirs(ids, model, [3 * g for g in gains]))
        V, right = CHAPTER.v_forgotten(model), CHAPTER.fold_model(model)
        for new, old, good in zip(V.blocks, model.blocks, right.blocks,
                                  strict=True):
            assert torch.equal(new.attention.W_V.weight,
                               old.attention.W_V.weight)
            assert torch.equal(new.attention.W_K.weight,
                               good.attention.W_K.weight)
        head = CHAPTER.head_forgotten(model)
        assert torch.equal(head.W_U.weight, model.W_U.weight)
        assert torch.equal(head.blocks[1].ffn.up.weight,
                           right.blocks[1].ffn.up.weight)
        side = CHAPTER.wrong_side(model)
        g = gains[0]
        close(side.blocks[0].attention.W_Q.weight,
              torch.diag(g) @ model.blocks[0].attention.W_Q.weight)
        close(side.blocks[0].attention.W_K.weight,
              right.blocks[0].attention.W_K.weight)     # 2 heads: not square
        close(side.W_U.weight, right.W_U.weight)


def test_unfolding():
    model, ids = draw(4), some()
    factors = torch.tensor(np.random.default_rng(0).normal(size=(7, 40)))
    with torch.no_grad():
        other = CHAPTER.unfold(model, factors)
        close(other(ids), model(ids), 1e-10)
    for got, g, r in zip(gains_of(other), gains_of(model), factors,
                         strict=True):
        torch.testing.assert_close(got, g * r)
    wild = CHAPTER.wild(3, 0.5)
    assert wild.shape == (5, 48) and (wild > 0).all()
    assert wild.log().std().item() == pytest.approx(0.5, rel=0.15)
    assert (CHAPTER.wild(3, 0) == 1).all()


def test_measures():
    want = torch.tensor([[0.0, 2.0], [1.0, -1.0]]).double()
    assert CHAPTER.logits_off(want, want) == 0
    assert CHAPTER.logits_off(want + 3, want) == pytest.approx(3 / 2**0.5)
    assert CHAPTER.worst_logits(torch.tensor([[3.0, 4], [0, 2]]),
                                torch.tensor([[3.0, 4], [0, 1]])) == 1
    model, stories = draw(5), some((6, 9))
    with torch.no_grad():
        logits = model(stories[:, :-3])[:, -1]
    assert torch.equal(CHAPTER.answer_logits(model, stories), logits)
    stories[:4, -3] = logits[:4].argmax(-1)
    stories[4:, -3] = logits[4:].argmin(-1)
    assert CHAPTER.right(model, stories) == 4
    half = CHAPTER.kept_in(model, torch.bfloat16)
    assert torch.equal(half.E, model.E.bfloat16().double())


@pytest.mark.parametrize("seed", range(3))
def test_post_norm(seed):
    model, ids = draw(seed, n_layers=1 + seed), some()
    gains = gains_of(model)
    with torch.no_grad():
        X = model.E[ids]
        for i, block in enumerate(model.blocks):
            for k, part in enumerate((block.attention, block.ffn)):
                X = F.rms_norm(X + part(X), (40,), gains[2 * i + k], 1e-6)
        want = model.W_U(X)
        close(CHAPTER.post_norm(model, ids), want)
        moved, shortcuts = CHAPTER.fold_post_norm(model)
        close(CHAPTER.post_norm(moved, ids, shortcuts), want, 1e-11)
    assert all((g == 1).all() for g in gains_of(moved)[:-1])
    assert shortcuts[0] == 1 and len(shortcuts) == 2 * len(model.blocks)


@pytest.mark.parametrize("seed", range(3))
def test_rotations(seed):
    R = CHAPTER.random_rotation(seed, 40)
    torch.testing.assert_close(R @ R.T, torch.eye(40).double())
    assert not torch.equal(R, CHAPTER.random_rotation(seed + 1, 40))
    model, ids = CHAPTER.fold_model(draw(seed)), some()
    with torch.no_grad():
        turned = CHAPTER.rotate_stream(model, R)
        close(turned(ids), model(ids), 1e-11)
        close(turned.E, model.E @ R)


def test_directions():
    model = CHAPTER.fold_model(draw(2, d_model=48))
    stories = some((5, 9))
    R = CHAPTER.quiet_last(model, stories)
    torch.testing.assert_close(R @ R.T, torch.eye(48).double())
    seen = []
    turned = CHAPTER.rotate_stream(model, R)
    for owner, name, _ in CHAPTER.wires(turned):
        getattr(owner, name).register_forward_hook(
            lambda norm, given, got: seen.append(got.flatten(0, 1)))
    CHAPTER.answer_logits(turned, stories)
    loud = torch.cat(seen).square().sum(0)
    assert (loud.diff() <= 1e-9 * loud[0]).all()
    cut = CHAPTER.left_out(model, 5)
    given = []
    cut.norm.register_forward_pre_hook(lambda norm, X: given.append(X[0]))
    CHAPTER.answer_logits(cut, stories)
    assert (given[0][..., 43:] == 0).all() and (given[0][..., :43] != 0).any()


def test_few_bits():
    A = torch.tensor(np.random.default_rng(4).normal(size=(6, 9)))
    got, step = CHAPTER.on_a_grid(A, 7), A.abs().amax(1, keepdim=True) / 7
    torch.testing.assert_close(got / step, (got / step).round())
    assert ((got - A).abs() <= step / 2 + 1e-15).all()
    model, ids = draw(6), some()
    with torch.no_grad():
        short = CHAPTER.quantized(model, 7)
        torch.testing.assert_close(short.W_U.weight, CHAPTER.on_a_grid(
            model.W_U.weight, 7))
        torch.testing.assert_close(short.E, model.E)
        X = torch.tensor(np.random.default_rng(5).normal(size=(4, 40)))
        torch.testing.assert_close(short.norm(X), CHAPTER.on_a_grid(
            model.norm(X), 7))
        close(CHAPTER.quantized(model, 2**44)(ids), model(ids), 1e-9)
    first = CHAPTER.int8_errors([0, 0.5, 1], 0, 1, 64, 50, 0.0)
    assert np.ptp(first) < 1e-12                    # gains of +-1: no matter


@pytest.mark.parametrize("seed, d, h", [(0, 30, 5), (1, 12, 3)])
def test_a_gpt_without_layer_norms(seed, d, h):
    model = E, P, stack, head = CHAPTER.random_gpt(seed, d, 2, h, 20)
    ids = some((2, 9), 61)
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


def test_small_things():
    assert CHAPTER.norm_numbers(30, 576, True) == (35_136, 34_560)
    assert CHAPTER.norm_numbers(32, 4096, False) == (266_240, 266_240)
    want = torch.tensor([[3.0, 4.0]]).double()
    assert CHAPTER.rms_off(torch.tensor([[3.0, 9.0]]), want) == 1
    ones = torch.ones(576, dtype=torch.float64)
    assert CHAPTER.equal_bits(-4 * ones, torch.bfloat16, 3) == 1
    assert CHAPTER.equal_bits(1.3 * ones, torch.bfloat16, 3) < 1
