"""Chapter 13's functions against PyTorch's layers, loops and closed forms."""

import ast
import math
import re

import numpy as np
import pytest
import torch
from chapters import BOOK, ROOT, cells, functions
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from experiments.run import rows

CHAPTER = functions("13")
rarely = settings(deadline=None, max_examples=25)
seeds, few = st.integers(0, 10**6), st.integers(1, 3)
leads = st.sampled_from([(), (1,), (4,), (2, 3)])
PARTS = ("token", "position", "attention 1", "ffn 1", "attention 2", "ffn 2")


def draw(seed, h=2, n_layers=2, n_vocab=11, n_max=9, d_k=3, d_ff=10):
    """Random weights, gains and biases too; the head is not tied."""
    rng = np.random.default_rng(seed)
    d = h * d_k

    def layer():
        small = d**-0.5
        return {"norm_1": (*rng.normal(size=(2, d)),),
                "norm_2": (*rng.normal(size=(2, d)),),
                "attention": (*rng.normal(size=(3, h, d, d_k)) * small,
                              rng.normal(size=(h, d_k, d)) * small),
                "ffn": (rng.normal(size=(d, d_ff)) * small,
                        rng.normal(size=d_ff),
                        rng.normal(size=(d_ff, d)) * small,
                        rng.normal(size=d))}

    return {"E": rng.normal(size=(n_vocab, d)) * 2,
            "P": rng.normal(size=(n_max, d)),
            "layers": [layer() for _ in range(n_layers)],
            "norm": (*rng.normal(size=(2, d)),),
            "W_U": rng.normal(size=(d, n_vocab))}


def theirs(layer, norm_first):
    """A layer's weights poured into PyTorch's block."""
    W_Q, W_K, W_V, W_O = map(torch.tensor, layer["attention"])
    W_1, b_1, W_2, b_2 = map(torch.tensor, layer["ffn"])
    h, d, _ = W_Q.shape
    block = nn.TransformerEncoderLayer(
        d, h, W_1.shape[1], dropout=0, batch_first=True, dtype=torch.float64,
        norm_first=norm_first)
    packed = torch.cat([head.T for W in (W_Q, W_K, W_V) for head in W])
    block.load_state_dict({
        "self_attn.in_proj_weight": packed,
        "self_attn.in_proj_bias": torch.zeros(3 * d),
        "self_attn.out_proj.weight": W_O.flatten(0, 1).T,
        "self_attn.out_proj.bias": torch.zeros(d),
        "linear1.weight": W_1.T, "linear1.bias": b_1,
        "linear2.weight": W_2.T, "linear2.bias": b_2,
        "norm1.weight": torch.tensor(layer["norm_1"][0]),
        "norm1.bias": torch.tensor(layer["norm_1"][1]),
        "norm2.weight": torch.tensor(layer["norm_2"][0]),
        "norm2.bias": torch.tensor(layer["norm_2"][1])})
    return block


def oracle(X, layer, norm_first, mask):
    """PyTorch's block, one sequence or many, NumPy in and out."""
    tokens = torch.tensor(X).reshape(-1, *X.shape[-2:])
    with torch.no_grad():
        return theirs(layer, norm_first)(
            tokens, src_mask=torch.tensor(~mask)).numpy().reshape(X.shape)


def stream_by_torch(ids, params, norm_first):
    X = params["E"][ids] + params["P"][: ids.shape[-1]]
    stream, mask = [X], np.tri(ids.shape[-1], dtype=bool)
    for layer in params["layers"]:
        stream.append(oracle(stream[-1], layer, norm_first, mask))
    return stream


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
        assert CHAPTER.leak(logits_of, ids, t, 11) == 0
    assert abs(logits_of(ids[:, ::-1]) - logits_of(ids)).max() > 0.1


def test_leak_measures_what_moved():
    """An average over all digits moves by the step of one of them."""
    def spread(ids):
        return np.broadcast_to(ids.mean(axis=1)[:, None, None], (*ids.shape, 7))

    def late(ids):                                  # moves from t on only
        return np.repeat(ids[..., None].astype(float), 7, axis=-1)

    def once(ids):                                  # in one row alone
        return spread(ids) * (np.arange(ids.shape[1]) == 6)[:, None]

    ids = np.full((2, 10), 3)
    assert math.isclose(CHAPTER.leak(spread, ids), 0.1)
    assert math.isclose(CHAPTER.leak(once, ids), 0.1)
    assert CHAPTER.leak(late, ids) == 0
    wrapped = CHAPTER.leak(spread, ids + 3)         # 6 + 1 is 0
    assert math.isclose(wrapped, 0.6)
    assert (ids == 3).all()                         # left as it was


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
    assert all(w.any() for group in layer.values() for w in group)


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
    assert close(CHAPTER.in_numpy(model)(ids), want)
    assert close(CHAPTER.transformer(ids, params), want)
    assert CHAPTER.count(params) == sum(w.numel() for w in model.parameters())
    with torch.no_grad():
        model.E.zero_()
    assert params["E"].any() and params["W_U"].any()


def test_torch_model_wired_after():
    model, ids = torch_model(wire=CHAPTER.post_norm), tokens(2, (4,), 7, 6)
    params = CHAPTER.params_from_torch(model)
    stream = stream_by_torch(ids, params, False)
    assert close(CHAPTER.in_numpy(model)(ids), last(stream[-1], params))


@rarely
@given(seeds, leads, st.integers(1, 9), few)
def test_writes_are_steps_of_the_stream(seed, lead, n, h):
    params, ids = draw(seed, h), tokens(seed, lead, n)
    terms = CHAPTER.writes(ids, params)
    assert tuple(terms) == PARTS
    assert np.array_equal(terms["token"], params["E"][ids])
    assert np.array_equal(terms["token"] + terms["position"],
                          params["E"][ids] + params["P"][:n])
    stream, mask = stream_by_torch(ids, params, True), np.tri(n, dtype=bool)
    for i, layer in enumerate(params["layers"]):
        W_1, b_1, W_2, b_2 = layer["ffn"]
        silent = {**layer, "ffn": (W_1, b_1, 0 * W_2, 0 * b_2)}
        half = oracle(stream[i], silent, True, mask)
        assert close(half, stream[i] + terms[f"attention {i + 1}"])
        assert close(stream[i + 1], half + terms[f"ffn {i + 1}"])


@rarely
@given(seeds, st.integers(1, 9))
def test_pushes_add_up_to_the_logits(seed, n):
    params, ids = draw(seed), tokens(seed, (3,), n)
    terms = CHAPTER.writes(ids, params)
    votes = CHAPTER.pushes(terms, params)
    want = CHAPTER.transformer(ids, params) - params["norm"][1] @ params["W_U"]
    want = want - want.mean(axis=-1, keepdims=True)
    assert close(sum(votes.values()), want, 1e-10)
    assert not close(sum(list(votes.values())[:-1]), want, 1e-3)
    louder = {**terms, "none": np.zeros_like(terms["token"])}
    assert not CHAPTER.pushes(louder, params)["none"].any()
    for vote in votes.values():
        assert abs(vote.mean(axis=-1)).max() < 1e-9


@rarely
@given(seeds, leads, st.sampled_from([1, 1000]))
def test_bet_loss_is_cross_entropy(seed, lead, size):
    rng = np.random.default_rng(seed)
    logits, targets = rng.normal(size=(*lead, 5, 7)), tokens(seed, lead, 5, 7)
    want = F.cross_entropy(torch.tensor(size * logits).reshape(-1, 7),
                           torch.tensor(targets).flatten())
    assert np.isclose(CHAPTER.bet_loss(size * logits, targets), want)


def test_loss_on_shifts_by_one():
    """A model that says which digit it has just read."""
    ids = torch.tensor([[0, 1, 2, 3], [3, 3, 3, 3]])
    loss = CHAPTER.loss_on(lambda ids: 100.0 * F.one_hot(ids, 7), ids)
    assert loss.item() == pytest.approx(50)         # three right, three wrong


@pytest.mark.parametrize("warm_up", [1, 4])
def test_train_climbs_and_falls(monkeypatch, warm_up):
    """The rates that the optimizer is given, and what it may change."""
    rates, seen = [], []
    model = CHAPTER.TorchTransformer(d_model=4, d_ff=4)
    model.P.requires_grad_(False)

    class Recorder:
        """An optimizer that changes nothing."""

        def __init__(self, weights, betas, fused):
            assert len(list(weights)) == len(list(model.parameters())) - 1
            self.param_groups, self.zero_grad = [{}], model.zero_grad

        def step(self):
            rates.append(self.param_groups[0]["lr"])
            seen.append(model.E.grad.clone())

    monkeypatch.setattr(torch.optim, "Adam", Recorder)
    losses = CHAPTER.train(model, steps=6, lr=0.5, warm_up=warm_up, seed=3)
    climb = [min((step + 1) / warm_up, 1) for step in range(6)]
    fall = [1, 5 / 6, 4 / 6, 3 / 6, 2 / 6, 1 / 6]
    assert rates == pytest.approx(0.5 * np.multiply(climb, fall))
    data = CHAPTER.noisy_sums(6 * 32, 17, np.random.default_rng(3))
    for loss, ids in zip(losses, np.split(data, 6), strict=True):
        want = CHAPTER.loss_on(model, torch.tensor(ids))
        assert loss == pytest.approx(want.item(), rel=1e-5)
    model.zero_grad()                               # the last batch, alone
    want.backward()
    assert torch.allclose(seen[-1], model.E.grad, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("n_vocab", [5, 7])
@pytest.mark.parametrize("noise", [0.0, 0.3, 1.0])
def test_noisy_sums_obey_as_often_as_they_should(noise, n_vocab):
    rng = np.random.default_rng(3)
    ids = CHAPTER.noisy_sums(600, 40, rng, noise, n_vocab)
    assert ids.shape == (600, 40)
    assert set(np.unique(ids)) == set(range(n_vocab))
    right = (ids[:, :-2] + ids[:, 1:-1]) % n_vocab == ids[:, 2:]
    share = 1 - noise + noise / n_vocab
    assert abs(right.mean() - share) < 0.02
    assert (abs(np.bincount(ids[~right[:, -1], -1], minlength=n_vocab) /
                max((~right[:, -1]).sum(), 1) - 1 / n_vocab) < 0.1).all() \
        or noise == 0


def test_shares_by_a_loop():
    ids = np.random.default_rng(4).integers(7, size=(30, 9))
    sums, echoes, n = 0, 0, 0
    for row in ids:
        for t in range(2, 9):
            sums += (row[t - 1] + row[t - 2]) % 7 == row[t]
            echoes += row[t] in (row[t - 1], row[t - 2])
            n += 1
    assert CHAPTER.share_of_sums(ids) == pytest.approx(sums / n)
    assert CHAPTER.share_of_echoes(ids) == pytest.approx(echoes / n)


def test_greedy_appends_the_favourite():
    """A model that loves the number one above the last."""
    def next_up(ids):
        return F.one_hot((ids + 1) % 7, 7).double()

    got = CHAPTER.greedy(next_up, torch.tensor([[3, 5], [0, 1]]), 6)
    assert got.tolist() == [[3, 5, 6, 0, 1, 2], [0, 1, 2, 3, 4, 5]]


def test_newborn_has_the_sizes_that_it_says():
    for tied in (True, False):
        params = CHAPTER.newborn(0.3, tied, n_vocab=300, d_model=64, d_ff=96)
        assert params["E"].shape == (300, 64)
        assert abs(params["E"].std() - 0.3) < 0.01
        assert abs(params["P"].std() - 0.3) < 0.02
        assert abs(params["W_U"].std() - 0.3) < 0.01
        assert np.array_equal(params["W_U"], params["E"].T) is tied
        for layer in params["layers"]:
            W_1, b_1, W_2, b_2 = layer["ffn"]
            assert not b_1.any() and not b_2.any()
            for W in (*layer["attention"], W_1, W_2):
                assert abs(W.std() - 0.02) < 0.001
    ids = tokens(5, (2,), 8, 300)
    first, second = params["layers"]
    assert not np.array_equal(first["ffn"][0], second["ffn"][0])
    assert CHAPTER.transformer(ids, params).shape == (2, 8, 300)


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


@pytest.mark.parametrize("edit, want", [
    ("without_attention", lambda X, a, f: X + f(X)),
    ("without_ffn", lambda X, a, f: X + a(X)),
    ("without_residual", lambda X, a, f: f(a(X)))])
def test_edits_take_away_what_they_say(edit, want):
    model, X = torch_model(1), torch.randn(2, 5, 12, dtype=torch.float64)
    [block] = model.blocks
    hidden = ~torch.ones(5, 5, dtype=torch.bool).tril()

    def look(X):
        X = block.norm_1(X)
        return block.attention(X, X, X, attn_mask=hidden)[0]

    def think(X):
        return block.ffn(block.norm_2(X))

    whole = block(X, hidden)
    getattr(CHAPTER, edit)(model)
    assert torch.allclose(block(X, hidden), want(X, look, think))
    assert not torch.allclose(block(X, hidden), whole, atol=1e-2)


def test_without_norm_nothing_is_normalized():
    model, ids = torch_model(1), torch.tensor([[0, 3, 5]])
    CHAPTER.without_norm(model)
    [block] = model.blocks
    X = model.E[ids] + model.P[:3]
    X = X + block.look(X, model.mask[:3, :3])
    assert torch.allclose(model(ids), (X + block.ffn(X)) @ model.E.T)


def test_without_positions_they_stay_away():
    model = torch_model(1)
    CHAPTER.without_positions(model)
    assert not model.P.any() and not model.P.requires_grad


def test_deep_models_have_a_last_norm_where_they_need_one():
    before = CHAPTER.deep_model(CHAPTER.pre_norm)
    after = CHAPTER.deep_model(CHAPTER.post_norm)
    assert len(before.blocks) == len(after.blocks) == 3
    assert isinstance(before.norm, nn.LayerNorm)
    assert isinstance(after.norm, nn.Identity)
    assert torch.equal(before.E, after.E)           # the same newborn


def test_progress_is_the_mean_of_the_last_twenty(capsys):
    CHAPTER.progress("it", list(range(200)))
    assert capsys.readouterr().out.split() == [
        "it", "step", "100", "loss", "89.5", "step", "200", "loss", "189.5"]


def test_a_target_below_0_is_refused():
    logits = np.random.default_rng(0).normal(size=(3, 5))
    assert CHAPTER.bet_loss(logits, np.array([0, 1, 4])) > 0
    with pytest.raises(ValueError, match="-1"):     # not the last word
        CHAPTER.bet_loss(logits, np.array([0, 1, -1]))


def test_the_figure_of_the_ablation_draws_the_table():
    [path] = BOOK.glob("13_*.ipynb")
    [cell] = [cell for cell in cells(path, "code")
              if cell.id == "ablate-figure"]
    ends = next(ast.literal_eval(node.value)
                for node in ast.parse(cell.source).body
                if isinstance(node, ast.Assign)
                and getattr(node.targets[0], "id", "") == "ends")
    table = (ROOT / "experiments" / "13_ablation.md").read_text("utf-8")
    for name, line in rows(table).items():
        assert [float(number) for number in re.findall(r"\d\.\d\d", line)] == [
            *ends[name.lower()]]
