"""Chapter 14's functions against PyTorch's layers, loops and closed forms."""

import ast
import urllib.error
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from course.chapter import chapter, functions
from experiments.experiment import read_table
from tests.support.scenes import FORGED, SCENE, pass_for_the_play
from tests.support.torch_oracle import draw, oracle, stream_by_torch

CHAPTER = functions("14")
rarely = settings(deadline=None, max_examples=25)
seeds, few = st.integers(0, 10**6), st.integers(1, 3)
leads = st.sampled_from([(), (1,), (4,), (2, 3)])
PARTS = ("token", "position", "attention 1", "FFN 1", "attention 2", "FFN 2")


def close(ours, want, bound=1e-11):
    return abs(ours - want).max() <= bound * abs(want).max()


def tokens(seed, lead, n, n_vocab=11):
    return np.random.default_rng(seed).integers(n_vocab, size=(*lead, n))


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


@rarely
@given(seeds, leads, st.integers(1, 9), few)
def test_updates_are_steps_of_the_stream(seed, lead, n, h):
    params, ids = draw(seed, h), tokens(seed, lead, n)
    terms = CHAPTER.updates(ids, params)
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
        assert close(stream[i + 1], half + terms[f"FFN {i + 1}"])


@rarely
@given(seeds, st.integers(1, 9))
def test_contributions_add_up_to_the_logits(seed, n):
    params, ids = draw(seed), tokens(seed, (3,), n)
    terms = CHAPTER.updates(ids, params)
    votes = CHAPTER.contributions(terms, params)
    want = CHAPTER.transformer(ids, params) - params["norm"][1] @ params["W_U"]
    want = want - want.mean(axis=-1, keepdims=True)
    assert close(sum(votes.values()), want, 1e-10)
    assert not close(sum(list(votes.values())[:-1]), want, 1e-3)
    louder = {**terms, "none": np.zeros_like(terms["token"])}
    assert not CHAPTER.contributions(louder, params)["none"].any()
    for vote in votes.values():
        assert abs(vote.mean(axis=-1)).max() < 1e-9


def test_loss_on_shifts_by_one():
    """A model that says which digit it has just read."""
    ids = torch.tensor([[0, 1, 2, 3], [3, 3, 3, 3]])
    loss = CHAPTER.loss_on(lambda ids: 100.0 * F.one_hot(ids, 7), ids)
    assert loss.item() == pytest.approx(50)         # three right, three wrong


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


@pytest.mark.parametrize("warm_up", [0, 1, 4])
def test_schedule_climbs_and_falls(warm_up):
    rates = [CHAPTER.schedule(step, 9, warm_up) for step in range(9)]
    climb = [(step + 1) / max(warm_up, 1) for step in range(warm_up)]
    fall = 1 + np.cos(np.pi * np.linspace(0, 1, 9 - warm_up, endpoint=False))
    assert rates == pytest.approx([*climb, *fall / 2])


@pytest.mark.parametrize("warm_up", [0, 3])
def test_train_is_pytorchs_own_schedule(warm_up):
    """Against torch's LambdaLR, and clipping by hand."""
    torch.manual_seed(0)
    ours = CHAPTER.TorchTransformer(std=1.0, d_model=4, d_ff=4)
    theirs = CHAPTER.TorchTransformer(std=1.0, d_model=4, d_ff=4)
    theirs.load_state_dict(ours.state_dict())
    for model in (ours, theirs):
        model.P.requires_grad_(False)
    batches = CHAPTER.streams(6, seed=3)
    losses = CHAPTER.train(ours, batches, lr=0.1, warm_up=warm_up)
    weights = [w for w in theirs.parameters() if w.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=0.1, betas=(0.9, 0.98))
    rates = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: CHAPTER.schedule(step, 6, warm_up)
        if step < 6 else 0)
    clipped = 0
    for loss, ids in zip(losses, batches, strict=True):
        now = F.cross_entropy(theirs(ids[:, :-1]).mT, ids[:, 1:])
        assert loss == pytest.approx(now.item(), rel=1e-4)
        optimizer.zero_grad()
        now.backward()
        norm = sum(w.grad.square().sum() for w in weights).sqrt()
        clipped += norm > 1
        for w in weights:
            w.grad *= min(1, 1 / norm)
        optimizer.step()
        rates.step()
    assert clipped                                  # else it tests nothing
    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert torch.allclose(a, b, rtol=1e-3, atol=1e-4)


@rarely
@given(seeds, st.floats(0, 0.5), st.floats(1e-4, 1))
def test_adamw_is_pytorchs(seed, decay, lr):
    rng = np.random.default_rng(seed)
    w, m, v = rng.normal(size=(3, 2)), 0, 0
    weight = torch.tensor(w, requires_grad=True)
    optimizer = torch.optim.AdamW([weight], lr, (0.9, 0.98),
                                  weight_decay=decay)
    for t in range(1, 8):
        g = rng.normal(size=w.shape) * 10 ** rng.uniform(-4, 4)
        w, m, v = CHAPTER.adamw_step(w, g, m, v, t, lr, decay=decay)
        weight.grad = torch.tensor(g)
        optimizer.step()
    assert np.allclose(w, weight.detach(), rtol=1e-6, atol=1e-7)


def test_losses_at_by_a_loop():
    """Position by position, with dropout off."""
    torch.manual_seed(0)
    model = CHAPTER.TorchTransformer(wire=CHAPTER.WithDropout(0.5))
    ids = torch.tensor(tokens(0, (5,), 9, 7))
    got = CHAPTER.losses_at(model.train(), ids)
    log_p = model.eval()(ids[:, :-1]).log_softmax(dim=-1)
    want = [-sum(log_p[b, t, ids[b, t + 1]] for b in range(5)).item() / 5
            for t in range(8)]
    assert got.tolist() == pytest.approx(want, rel=1e-5)


def test_streams_are_batches_of_noisy_sums():
    got = CHAPTER.streams(4, seed=5)
    want = CHAPTER.noisy_sums(128, 17, np.random.default_rng(5))
    assert got.shape == (4, 32, 17)
    assert np.array_equal(got.reshape(128, 17), want)


def test_dropout_is_off_in_evaluation():
    wire, X = CHAPTER.WithDropout(0.25), torch.ones(4000)
    dropped = wire(X, lambda Z: 3 * Z, lambda Z: Z)
    assert set(dropped.tolist()) == {1.0, 5.0}      # 1 + 0 or 1 + 3 / 0.75
    assert dropped.mean().item() == pytest.approx(4, abs=0.15)
    assert (wire.eval()(X, lambda Z: 3 * Z, lambda Z: Z) == 4).all()


def test_share_of_sums_by_a_loop():
    ids = np.random.default_rng(4).integers(7, size=(30, 9))
    sums = [(row[t - 1] + row[t - 2]) % 7 == row[t]
            for row in ids for t in range(2, 9)]
    assert CHAPTER.share_of_sums(ids) == pytest.approx(np.mean(sums))


def test_greedy_appends_the_favourite():
    """A model that loves the number one above the last."""
    def next_up(ids):
        return F.one_hot((ids + 1) % 7, 7).double()

    got = CHAPTER.greedy(next_up, torch.tensor([[3, 5], [0, 1]]), 6)
    assert got.tolist() == [[3, 5, 6, 0, 1, 2], [0, 1, 2, 3, 4, 5]]


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
    before = CHAPTER.deep_model(CHAPTER.pre_norm, 4)
    after = CHAPTER.deep_model(CHAPTER.post_norm, 4)
    assert len(before.blocks) == len(after.blocks) == 3
    assert isinstance(before.norm, nn.LayerNorm)
    assert isinstance(after.norm, nn.Identity)
    assert torch.equal(before.E, after.E)           # the same start


def in_the_cell(name, target):
    """The literal that a cell of the chapter assigns to a name."""
    cell = chapter("14").cell(name)
    return next(ast.literal_eval(node.value)
                for node in ast.parse(cell.source).body
                if isinstance(node, ast.Assign)
                and getattr(node.targets[0], "id", "") == target)


def test_the_figure_of_the_ablation_draws_the_table():
    drawn = in_the_cell("ablation-figure", "rows")
    assert drawn == {name: (*row[:3], *row[4:]) for name, row
                     in read_table("14_ablation").numbers.items()}


def test_the_figure_of_the_warm_up_draws_the_table():
    drawn = in_the_cell("warm-figure", "ends")
    stored = read_table("14_warm_up").numbers
    for name, (without, with_it) in drawn.items():
        norm, rate = name.split("-norm, ")
        assert without == stored[f"{norm}, {rate}, none"]
        assert with_it == stored[f"{norm}, {rate}, 100"]
    assert 2 * len(drawn) == len(stored)


# the text


def names():
    return CHAPTER.course_text.__globals__


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """An empty folder to work in, no $COURSE_TEXT, no network."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COURSE_TEXT", raising=False)
    real, asked = urllib.request.urlopen, []

    def urlopen(address, timeout):
        asked.append(address)
        if not address.startswith("file:"):
            raise urllib.error.URLError("no network here")
        return real(address, timeout=timeout)

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    return SimpleNamespace(path=tmp_path, asked=asked)


@pytest.fixture
def play(monkeypatch):
    """A scene that passes for the whole play while a test lasts."""
    pass_for_the_play(CHAPTER, SCENE, monkeypatch)
    return SCENE


def test_is_shakespeare_by_its_hash(play):
    assert CHAPTER.is_shakespeare(play) is True
    assert CHAPTER.is_shakespeare(FORGED) is False
    assert CHAPTER.is_shakespeare(play[:-1]) is False


TEXTS = [("14", "text-data"), ("19", "text-run")]       # who reads one, where


@pytest.mark.parametrize("number, cell_id", TEXTS)
def test_the_cells_of_both_chapters_read_the_text(desk, monkeypatch, number,
                                                  cell_id):
    names = functions(number)
    pass_for_the_play(names, SCENE, monkeypatch)
    Path("scene.txt").write_bytes(SCENE)
    monkeypatch.setenv("COURSE_TEXT", "scene.txt")
    inside = names.course_text.__globals__
    inside["text"], inside["title"] = names.course_text()
    exec(chapter(number).cell(cell_id).source, inside)
    assert inside["title"] == "Tiny Shakespeare" and not desk.asked
    read = "".join(inside["letters"][i] for i in inside["ids"])
    assert read == SCENE.decode()
    parts = inside["train_ids"], inside["test_ids"]
    assert torch.equal(torch.cat(parts), inside["ids"])
    assert len(parts[0]) == 9 * len(read) // 10
    assert inside["n_vocab"] == len(set(read))


@pytest.mark.parametrize("number", dict(TEXTS))
def test_both_chapters_refuse_a_text_with_another_hash(desk, monkeypatch,
                                                       number):
    """In the folder data/ and from the network; short ones by name, too."""
    chapter, home = functions(number), Path("data/scene.txt")
    pass_for_the_play(chapter, SCENE, monkeypatch)
    home.parent.mkdir()
    home.write_bytes(FORGED)
    text, title = chapter.course_text(home.absolute().as_uri(), home)
    assert title == "Python's help texts" and text != FORGED.decode()
    monkeypatch.setenv("COURSE_TEXT", str(home))
    with pytest.raises(ValueError, match="too few to learn from"):
        chapter.course_text()


def test_help_texts_are_every_topic():
    from pydoc_data.topics import topics
    got = CHAPTER.help_texts()
    assert len(got) == sum(map(len, topics.values())) + len(topics) - 1
    assert all(topic in got for topic in topics.values())
    assert len(got) > 300_000


def test_course_text_takes_the_file_that_is_named(desk, play, monkeypatch):
    mine = "Grüße".encode() * 20_000
    for name, data, title in (("mine.txt", mine, "mine.txt"),
                              ("x.txt", play, "Tiny Shakespeare")):
        Path(name).write_bytes(data)
        monkeypatch.setenv("COURSE_TEXT", name)
        assert CHAPTER.course_text() == (data.decode(), title)
    assert not desk.asked


def test_course_text_refuses_a_name_of_nothing(desk, play, monkeypatch):
    home = Path("play.txt")
    home.write_bytes(play)                          # would do, but is not asked
    for name in ("absent.txt", str(desk.path)):
        monkeypatch.setenv("COURSE_TEXT", name)
        with pytest.raises(FileNotFoundError, match="COURSE_TEXT names"):
            CHAPTER.course_text(home=home)
    monkeypatch.setenv("COURSE_TEXT", "")           # as good as unset
    assert CHAPTER.course_text(home=home) == (play.decode(), "Tiny Shakespeare")
    assert not desk.asked


@pytest.mark.parametrize("data, hint", [
    (b"To be", "5 bytes are too few"), (b"\xff" * 200_000, "codec")])
def test_course_text_refuses_what_nobody_can_learn_from(desk, monkeypatch, data,
                                                        hint):
    Path("mine.txt").write_bytes(data)
    monkeypatch.setenv("COURSE_TEXT", "mine.txt")
    with pytest.raises(ValueError, match=hint):
        CHAPTER.course_text()


@pytest.mark.parametrize("work", [".", "book"])
def test_course_text_finds_its_home_or_the_one_above(desk, play, monkeypatch,
                                                     work):
    home = Path("data/play.txt")
    home.parent.mkdir()
    home.write_bytes(play)
    Path("book").mkdir()
    monkeypatch.chdir(work)
    assert CHAPTER.course_text(home=home) == (play.decode(), "Tiny Shakespeare")
    assert not desk.asked


def test_course_text_downloads_once(desk, play):
    source, home = desk.path / "source.txt", Path("data/play.txt")
    source.write_bytes(play)
    for _ in range(2):
        assert CHAPTER.course_text(source.as_uri(), home) == (
            play.decode(), "Tiny Shakespeare")
        assert home.read_bytes() == play
    assert desk.asked == [source.as_uri()]
    home.write_bytes(b"damaged")                    # then it is fetched again
    CHAPTER.course_text(source.as_uri(), home)
    assert home.read_bytes() == play and len(desk.asked) == 2


@pytest.mark.parametrize("at_home", [None, b"damaged"])
def test_a_wrong_download_is_not_kept(desk, play, capsys, at_home):
    source, home = desk.path / "source.txt", Path("data/play.txt")
    source.write_bytes(b"404, and a page about it")
    if at_home:
        home.parent.mkdir()
        home.write_bytes(at_home)
    got = CHAPTER.course_text(source.as_uri(), home)
    assert got == (CHAPTER.help_texts(), "Python's help texts")
    assert "not the one that was expected" in capsys.readouterr().out
    assert home.read_bytes() == at_home if at_home else not home.exists()


def test_without_network_the_help_texts(desk, capsys):
    assert CHAPTER.course_text() == (CHAPTER.help_texts(),
                                     "Python's help texts")
    [asked] = desk.asked
    assert asked.endswith("/data/tinyshakespeare/input.txt")
    assert "no network here" in capsys.readouterr().out
    assert not any(desk.path.iterdir())
