"""Chapter 11's functions against PyTorch, loops and their own promises."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from course.chapter import functions

CHAPTER = functions("11")
rarely = settings(deadline=None, max_examples=50)
seeds, few = st.integers(0, 10**6), st.integers(1, 4)
leads = st.sampled_from([(), (1,), (4,), (2, 3)])


def draw(seed, lead, n, h, d_model=7, d_k=5, d_v=2, h_kv=None):
    """Signed tokens of different sizes, weights of five different widths."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(*lead, n, d_model)) + rng.normal()
    X *= 10 ** rng.uniform(-1, 1, size=(*lead, n, 1))
    h_kv = h_kv or h
    return X, (rng.normal(size=(h, d_model, d_k)) / math.sqrt(d_model),
               rng.normal(size=(h_kv, d_model, d_k)) / math.sqrt(d_model),
               rng.normal(size=(h_kv, d_model, d_v)),
               rng.normal(size=(h, d_v, d_model)))


def one_head_at_a_time(X, W_Q, W_K, W_V, W_O, mask=None):
    """PyTorch's attention in a loop over query heads; h_kv may be smaller."""
    group, total = len(W_Q) // len(W_K), 0
    mask = None if mask is None else torch.tensor(mask)
    for i in range(len(W_Q)):
        j = i // group
        Q, K, V = (torch.tensor(X @ W)[None]
                   for W in (W_Q[i], W_K[j], W_V[j]))
        Y = F.scaled_dot_product_attention(Q, K, V, attn_mask=mask)[0]
        total = total + Y.numpy() @ W_O[i]
    return total


def side_by_side(W_Q, W_K, W_V, W_O):
    """Matrices of single heads, packed, and how many heads there are."""
    return (*(np.concatenate(W, axis=-1) for W in (W_Q, W_K, W_V)),
            np.concatenate(W_O), len(W_Q))


@rarely
@given(seeds, leads, st.integers(1, 6), few, st.booleans())
def test_multi_head_attention_is_pytorchs(seed, lead, n, h, causal):
    X, W = draw(seed, lead, n, h)
    mask = CHAPTER.causal_mask(n) if causal else None
    want = one_head_at_a_time(X, *W, mask)
    assert np.allclose(CHAPTER.by_heads(X, *W, mask), want)
    assert np.allclose(CHAPTER.multi_head_attention(
        X, *side_by_side(*W), mask), want)


def test_heads_that_do_not_divide_are_refused():
    *packed, _ = side_by_side(*draw(0, (), 1, 3)[1])
    for shape in ((4, 7), (8, 7), (4, 4, 7)):
        with pytest.raises(ValueError):
            CHAPTER.multi_head_attention(np.ones(shape), *packed, 4)


def test_a_mask_for_each_head():
    X, W = draw(1, (), 5, 3)
    mask = np.random.default_rng(1).random((3, 5, 5)) < 0.5
    mask |= np.eye(5, dtype=bool)
    want = sum(one_head_at_a_time(X, *(w[i : i + 1] for w in W), mask[i])
               for i in range(3))
    assert np.allclose(CHAPTER.by_heads(X, *W, mask), want)
    assert np.allclose(CHAPTER.multi_head_attention(
        X, *side_by_side(*W), mask), want)


def test_float32_stays_float32():
    X, W = draw(2, (), 5, 3)
    X, *W = (a.astype(np.float32) for a in (X, *W))
    assert CHAPTER.by_heads(X, *W).dtype == np.float32
    assert CHAPTER.multi_head_attention(
        X, *side_by_side(*W)).dtype == np.float32


@pytest.mark.parametrize("h", [1, 2, 4])
def test_weights_come_from_nn_multihead_attention(h):
    torch.manual_seed(h)
    theirs = nn.MultiheadAttention(8, h, bias=False, batch_first=True,
                                   dtype=torch.float64)
    X = torch.randn(2, 5, 8, dtype=torch.float64)
    for mask in (CHAPTER.causal_mask(5), np.ones((5, 5), dtype=bool)):
        with torch.no_grad():
            want, _ = theirs(X, X, X, attn_mask=torch.tensor(~mask))
        got = CHAPTER.multi_head_attention(
            X.numpy(), *CHAPTER.heads_from_torch(theirs), mask)
        assert np.abs(got - want.numpy()).max() < 1e-13


@rarely
@given(seeds, leads, few, st.booleans())
def test_heads_add_up(seed, lead, h, causal):
    X, W = draw(seed, lead, 5, h)
    mask = CHAPTER.causal_mask(5) if causal else None
    *reads, W_O, _ = side_by_side(*W)
    terms = []
    for rows in np.split(np.arange(len(W_O)), h):
        alone = np.zeros_like(W_O)
        alone[rows] = W_O[rows]
        terms.append(CHAPTER.multi_head_attention(X, *reads, alone, h, mask))
    assert np.allclose(sum(terms), CHAPTER.by_heads(X, *W, mask))
    last = one_head_at_a_time(X, *(w[-1:] for w in W), mask)
    assert np.allclose(terms[-1], last)


def test_random_heads():
    rng = np.random.default_rng(0)
    for h in (1, 2, 3, 6):
        W_Q, W_K, W_V, W_O = CHAPTER.random_heads(6, h, rng)
        assert W_Q.shape == W_K.shape == W_V.shape == (h, 6, 6 // h)
        assert W_O.shape == (h, 6 // h, 6)
        numbers = np.stack([W.ravel() for W in (W_Q, W_K, W_V, W_O)])
        assert len(np.unique(numbers)) == 4 * 36
    with pytest.raises(ValueError, match="4 heads do not divide"):
        CHAPTER.random_heads(6, 4, rng)
    assert CHAPTER.random_heads(6, 4, rng, 2)[3].shape == (4, 2, 6)


@pytest.mark.parametrize("name", ["in_proj_bias", "out_proj.bias"])
def test_biases_that_would_be_left_out_are_refused(name):
    module = nn.MultiheadAttention(6, 2)            # biases of 0
    assert len(CHAPTER.heads_from_torch(module)) == 5
    nn.init.constant_(module.get_parameter(name), 1)
    with pytest.raises(ValueError, match="bias=False"):
        CHAPTER.heads_from_torch(module)


@pytest.mark.parametrize("more", [
    {"add_bias_kv": True}, {"add_zero_attn": True}, {"kdim": 4}])
def test_what_our_function_has_not_is_refused(more):
    module = nn.MultiheadAttention(6, 2, bias=False, **more)
    with pytest.raises(ValueError):
        CHAPTER.heads_from_torch(module)


@rarely
@given(seeds, few, few)
def test_reference_11_3_is_what_pytorch_stores(seed, h, d_k):
    rng, d_model = np.random.default_rng(seed), h * d_k
    weights = CHAPTER.weights_11_3(rng, h, d_k)
    X = rng.normal(size=(5, d_model))
    module = nn.MultiheadAttention(d_model, h, bias=False).double()
    with torch.no_grad():
        packed, out = map(torch.tensor, CHAPTER.reference_11_3(*weights))
        module.in_proj_weight.copy_(packed)
        module.out_proj.weight.copy_(out)
        theirs, _ = module(*[torch.tensor(X)] * 3)
    assert np.allclose(theirs, CHAPTER.by_heads(X, *weights))
    back = CHAPTER.heads_from_torch(module)
    assert all(map(np.array_equal, back, side_by_side(*weights)))


@rarely
@given(seeds, few, few)
def test_view_divides_the_tokens(seed, h, per_head):
    n = h * per_head
    rng = np.random.default_rng(seed)
    X, W = rng.normal(size=(n, 3 * h)), CHAPTER.random_heads(3 * h, h, rng)
    moved = CHAPTER.reach(
        lambda X: CHAPTER.attend_by_view(X, *side_by_side(*W)), X)
    group = np.arange(n) // per_head
    assert (moved == (group[:, None] == group)).all()
    same = np.allclose(CHAPTER.attend_by_view(X, *side_by_side(*W)),
                       CHAPTER.by_heads(X, *W))
    assert same == (n == 1 or h == 1)


@pytest.mark.parametrize("n, h", [(6, 3), (5, 2), (4, 1), (3, 7), (1, 2)])
def test_reference_11_1_is_what_view_does(n, h):
    rng = np.random.default_rng(n)
    X, W = rng.normal(size=(n, 2 * h)), CHAPTER.random_heads(2 * h, h, rng)
    moved = CHAPTER.reach(
        lambda X: CHAPTER.attend_by_view(X, *side_by_side(*W)), X)
    assert (moved == CHAPTER.reference_11_1(n, h)).all()


def turn(offset, d_k):
    """The rotation of RoPE between a query and a key `offset` before it."""
    cos, sin = CHAPTER.rope_tables([offset], d_k, base=100.0)
    R = np.zeros((d_k, d_k))
    for p, (c, s) in enumerate(zip(cos[0], sin[0], strict=True)):
        R[2 * p : 2 * p + 2, 2 * p : 2 * p + 2] = [[c, s], [-s, c]]
    return R


@pytest.mark.parametrize("d_model, d_k", [(6, 2), (6, 4), (8, 6), (6, 6)])
def test_reference_11_4_is_the_rank_of_the_derivative(d_model, d_k):
    W_Q, W_K = np.random.default_rng(1).normal(size=(2, d_model, d_k))
    eye, found = np.eye(d_model), []
    for offsets in ([0], range(9)):                 # without RoPE, and with it
        rows = []
        for T in (turn(offset, d_k) for offset in offsets):
            parts = (np.einsum("ia,jk->ijak", eye, W_K @ T.T),
                     np.einsum("ja,ik->ijak", eye, W_Q @ T))
            rows.append(np.concatenate(
                [M.reshape(d_model**2, -1) for M in parts], axis=1))
        found.append(np.linalg.matrix_rank(np.concatenate(rows), tol=1e-8))
    assert CHAPTER.reference_11_4(d_model, d_k)[2:] == tuple(found)


@pytest.mark.parametrize("n", [1, 2, 5, 9, 16])
@pytest.mark.parametrize("h", [1, 2, 4, 9, 13])
def test_reference_11_5_is_a_common_divisor(n, h):
    want = n * h if 1 in (n, h) else math.gcd(n - 1, h - 1) + 1
    assert CHAPTER.reference_11_5(n, h) == want


def test_heads_in_torch_are_the_numpy_ones():
    W = CHAPTER.random_heads(6, 3, np.random.default_rng(0))
    W = [torch.tensor(w) for w in W]
    X = torch.randn(2, 5, 6, dtype=torch.float64)
    mask = CHAPTER.causal_mask(5)
    got, weights = CHAPTER.heads_in_torch(X, *W, torch.tensor(mask))
    want = CHAPTER.by_heads(X.numpy(), *(w.numpy() for w in W),
                                        mask)
    assert np.allclose(got, want) and weights.shape == (2, 3, 5, 5)
    assert torch.allclose(weights.sum(dim=-1), torch.ones(2, 3, 5).double())


def test_texts_repeat_and_the_score_finds_the_key():
    source = torch.Generator().manual_seed(0)
    ids, period = CHAPTER.repeated_texts(50, source)
    A, B = torch.zeros(2, 50, 2, 24, 24)
    for text, p, A_b, B_b in zip(ids, period[:, 0], A, B, strict=True):
        assert len(set(text[:16].tolist())) == 16 and text.max() < 20
        assert torch.equal(text[16:], text[16 - p : 24 - p])
        for t in range(16, 24):
            A_b[1, t, t - p + 1], B_b[0, t, t - p] = 1, 1
        for t in range(3, 24):
            A_b[0, t, t - 3] = 0.5
    got = CHAPTER.induction_scores([A, B], period)
    assert got.tolist() == [0, 1, 0, 0]
    got = CHAPTER.induction_scores([A, B], period, shift=0)
    assert got.tolist() == [0, 0, 1, 0]
    assert CHAPTER.looks_back([A, B]) == 3


def test_a_list_returns_in_another_order():
    ids, place = CHAPTER.name_lists(300, torch.Generator().manual_seed(5))
    for text, places in zip(ids.tolist(), place.tolist(), strict=True):
        things = dict(zip(text[:8:2], text[1:8:2], strict=True))
        assert len(things) == len({*things.values()}) == 4
        assert max(things) < 12 <= min(things.values())
        assert max(things.values()) < 24
        assert sorted(text[8::2]) == sorted(things)
        assert [things[name] for name in text[8::2]] == text[9::2]
        assert [text[at] for at in places] == text[9::2]
    assert (ids[:, :8] != ids[:, 8:]).any(dim=1).float().mean() > 0.9


def test_without_a_head_its_term_is_gone():
    weights = CHAPTER.draw_word_model(2, np.random.default_rng(3))
    ids, _ = CHAPTER.name_lists(3, torch.Generator().manual_seed(6))
    silent = CHAPTER.without(weights, 1, 0)
    assert weights[5].abs().min() > 0
    assert (silent[5] == 0).sum() == 32 * 64
    assert (silent[5][1, 0] == 0).all()
    X = torch.randn(3, 16, 64, generator=torch.Generator().manual_seed(7))
    W = [w[1] for w in weights[2:]]
    whole, rest = (CHAPTER.heads_in_torch(X, *W[:3], last)[0]
                   for last in (W[3], silent[5][1]))
    term = CHAPTER.heads_in_torch(X, *(w[:1] for w in W))[0]
    assert torch.allclose(whole - rest, term, atol=1e-5)
    maps = [CHAPTER.word_model(w, ids)[1] for w in (weights, silent)]
    assert all(map(torch.equal, *maps))             # it still looks


def test_the_sentences_of_gave():
    X, codes, want = CHAPTER.gave_texts(np.random.default_rng(0))
    assert X.shape == (792, 5, 48) and codes.shape == (18, 16)
    assert (want[:, 0] != want[:, 1]).all() and len(want.unique(dim=0)) == 792
    assert want[:, :2].max() < 12 <= want[:, 2].min() and want.max() < 18
    first = want[:, 0].argsort(stable=True)[:66]    # one giver, 66 sentences
    assert torch.equal(X[first, 0], X[first[:1], 0].expand(66, -1))


def test_weights_by_positions_alone_do_not_see_words():
    rng = np.random.default_rng(0)
    W = [torch.tensor(w).float() for w in CHAPTER.random_heads(8, 2, rng)]
    source = torch.Generator().manual_seed(0)
    X, Z, P = torch.randn(3, 4, 5, 8, generator=source)
    P = P[:1]

    def layer(X):
        return CHAPTER.gave_layers(X, W, P)
    assert torch.allclose(layer(X) + layer(Z), layer(X + Z), atol=1e-5)
    assert torch.allclose(CHAPTER.gave_layers(X, W, X),
                          CHAPTER.gave_layers(X, W), atol=1e-5)
    assert not torch.allclose(layer(X), CHAPTER.gave_layers(X, W), atol=1e-2)


def test_the_models_read_no_later_token():
    rng = np.random.default_rng(0)
    for n_layers in (1, 2, 3):
        weights = CHAPTER.draw_word_model(n_layers, rng, n_vocab=20)
        ids = torch.tensor(rng.integers(20, size=(2, 9)))
        changed = ids.clone()
        changed[:, 5] = (ids[:, 5] + 1) % 20
        one, other = (CHAPTER.word_model(weights, x) for x in (ids, changed))
        assert len(one[1]) == n_layers and one[0].shape == (2, 9, 20)
        assert torch.equal(one[0][:, :5], other[0][:, :5])
        assert not torch.isclose(one[0][:, 5:], other[0][:, 5:]).any(-1).all()


def test_the_task_of_two_places():
    def loss_of(weights):
        source = torch.Generator().manual_seed(3)
        return CHAPTER.two_places_loss(weights, source, B=4000).item()
    zero = [torch.zeros(1, 16, 16)] * 4
    assert abs(loss_of(zero) - 1) < 0.05            # the answer 0
    W = [torch.zeros(2, 16, 16) for _ in range(3)] + [torch.zeros(2, 16, 16)]
    places = torch.tensor(CHAPTER.sinusoids(8, 14))
    step = np.linalg.lstsq(CHAPTER.sinusoids(200, 14)[1:],
                           CHAPTER.sinusoids(200, 14)[:-1], rcond=None)[0]
    for i, back in enumerate((1, 3)):               # built by hand
        W[0][i, :14, :14] = 40 * torch.tensor(
            np.linalg.matrix_power(step, back))
        W[1][i, :14, :14] = torch.eye(14)
        W[2][i, 14 + i, i] = W[3][i, i, 14 + i] = 1
    assert places.shape == (8, 14) and loss_of(W) < 0.01


def test_fit_heads_is_adam_and_keeps_its_start():
    start = [torch.tensor([3.0, -2.0])]
    after = CHAPTER.fit_heads(start, lambda W, _: (W[0] ** 2).sum(), None,
                              steps=500, rate=0.1)
    assert start[0].tolist() == [3, -2] and after[0].abs().max() < 1e-2


@pytest.mark.parametrize("h", [1, 2, 4])
def test_the_module_is_pytorchs(h):
    torch.manual_seed(h)
    theirs = nn.MultiheadAttention(8, h, bias=False, batch_first=True)
    ours = CHAPTER.MultiHeadAttention(8, h)
    ours.load_state_dict({"W_QKV.weight": theirs.in_proj_weight,
                          "W_O.weight": theirs.out_proj.weight})
    X, mask = torch.randn(3, 5, 8), torch.tensor(CHAPTER.causal_mask(5))
    want, _ = theirs(X, X, X, attn_mask=~mask)
    assert torch.allclose(ours(X, mask), want, atol=1e-5)
    with pytest.raises(ValueError, match="3 heads do not divide"):
        CHAPTER.MultiHeadAttention(8, 3)
