"""Chapter 14's functions against PyTorch's layers, loops and closed forms."""

import ast
import json
import random
import urllib.error
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from course.chapter import chapter, functions
from experiments import kite, kite_best, kite_parts
from experiments.experiment import Table, load, read_table
from tests.support.scenes import FORGED, SCENE, pass_for_the_play

CHAPTER = functions("14")
rarely = settings(deadline=None, max_examples=25)
seeds = st.integers(0, 10**6)


def tokens(seed, lead, n, n_vocab=11):
    return np.random.default_rng(seed).integers(n_vocab, size=(*lead, n))


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
    shape = {"d_model": 8, "h": 2, "d_ff": 12}
    ours, theirs = (CHAPTER.Transformer(**shape) for _ in range(2))
    theirs.load_state_dict(ours.state_dict())
    for model in (ours, theirs):
        model.E.requires_grad_(False)
    batches = CHAPTER.kite_batches(6, seed=3)
    losses = CHAPTER.train(ours, batches, lr=0.01, warm_up=warm_up)
    weights = [w for w in theirs.parameters() if w.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=0.01, betas=(0.9, 0.98))
    rates = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: CHAPTER.schedule(step, 6, warm_up)
        if step < 6 else 0)
    for loss, ids in zip(losses, batches, strict=True):
        now = F.cross_entropy(theirs(ids[:, :-1]).mT, ids[:, 1:])
        assert loss == pytest.approx(now.item(), rel=1e-3)
        optimizer.zero_grad()
        now.backward()
        norm = sum(w.grad.square().sum() for w in weights).sqrt()
        for w in weights:
            w.grad *= min(1, 1 / norm)
        optimizer.step()
        rates.step()
    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert torch.allclose(a, b, rtol=1e-2, atol=1e-3)


def test_training_is_that_of_the_kite_model():
    """The chapter's loop against that of experiments/kite.py, which watches."""
    batches = CHAPTER.kite_batches(12, seed=1004)
    assert {batch.shape for batch in batches} == {(32, 33)}     # three gifts
    models = []
    for _ in range(2):
        torch.manual_seed(4)
        models.append(kite.Transformer())
    ours = CHAPTER.train(models[0], batches, kite.RATE, 50,
                         CHAPTER.answer_loss, steps=2600)
    whole = [*batches, *[batches[0]] * 2588]
    theirs = kite.train(models[1], whole, stop=12)
    assert ours == pytest.approx(theirs, rel=1e-3)
    for a, b in zip(*(model.parameters() for model in models), strict=True):
        assert torch.allclose(a, b, rtol=1e-3, atol=1e-5)


def test_batches_of_stories():
    batches = CHAPTER.kite_batches(30, seed=7, n_short=2)
    assert [batch.shape[1] for batch in batches[:2]] == [33, 33]
    asked = {(batch.shape[1] - 60) // 6 for batch in batches[2:]}
    assert asked == {1, 2, 3, 4}                    # questions in a story
    stories = {tuple(row.tolist()) for batch in batches for row in batch}
    assert len(stories) == 32 * 30
    again = CHAPTER.kite_batches(30, seed=7, n_short=2)
    other = CHAPTER.kite_batches(30, seed=8, n_short=2)
    assert all(map(torch.equal, batches, again))
    assert not torch.equal(batches[0], other[0])


def test_answers_right_reads_the_word_behind_the_question():
    texts = kite.kite_stories(300, 7)
    fresh = torch.tensor(kite.word_ids(texts))
    with torch.no_grad():                           # a model of one answer
        oracle = torch.nn.Embedding(36, 36).requires_grad_(False)
        oracle.weight.zero_()[:, kite.KiteWorld.ids["Eva"]] = 1
    assert CHAPTER.answers_right(oracle, fresh).tolist() == [
        words[-3] == "Eva" for words in texts]



def test_without_attention_or_mask_a_model_guesses():
    """The verdict of 14_parts.py, after 60 steps."""
    fresh = torch.tensor(kite.word_ids(kite.kite_stories(400, 99)))
    for edit in (kite_parts.without_attention, kite_parts.without_mask):
        torch.manual_seed(0)
        model = kite.Transformer()
        edit(model)
        kite.train(model, kite.kite_batches(60, 1000))
        assert kite.right_answers(model, fresh).float().mean() < 0.2


TALE = (
    "Anna gave Tom a kite . he thanked her for it . Tom gave the kite to Anna "
    ". she thanked him for it . Leo gave Eva a drum . Anna gave Eva the kite "
    ". then Tom gave Max a book . then Eva gave the drum to Leo . Leo gave the "
    "drum to Max . who has the kite? Eva . <end>").split()


def test_the_best_reader_knows_what_can_be_known():
    chances = kite_best.best(TALE)
    assert len(chances) == len(TALE) == 66
    assert all(abs(sum(these.values()) - 1) < 1e-9 for these in chances)
    assert chances[-3] == {"Eva": 1.0}
    to = TALE.index("to")
    assert sorted(chances[to + 1].values()) == pytest.approx([1 / 7] * 7)
    assert "Tom" not in chances[to + 1]             # he gives
    with pytest.raises(ValueError, match="'Zoe' for one of"):
        kite_best.best([*TALE[:-3], "Zoe", *TALE[-2:]])


def test_the_best_reader_is_as_sure_as_the_stories_are():
    """What it calls p happens in a share p of the cases."""
    rng, said, came = random.Random(8), [], []
    for _ in range(300):
        words = kite.story(rng, n_questions=rng.randint(1, 4))
        for chances, word in zip(kite_best.best(words), words, strict=True):
            for each, p in chances.items():
                said.append(p)
                came.append(each == word)
    said, came = np.array(said), np.array(came)
    for low, high in ((0, 0.1), (0.1, 0.2), (0.2, 0.4), (0.4, 0.7), (0.7, 1)):
        these = (said > low) & (said <= high) & (said < 1)
        assert came[these].mean() == pytest.approx(said[these].mean(), abs=0.02)
    assert came[said == 1].all()
    costs = [kite_best.lowest_losses(words)
             for words in kite.kite_stories(9, 4)]
    assert 0.4 < np.mean(costs) < 0.8


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
    model = torch.nn.Sequential(CHAPTER.Transformer(n_vocab=7),
                                torch.nn.Dropout(0.5))
    ids = torch.tensor(tokens(0, (5,), 9, 7))
    got = CHAPTER.losses_at(model.train(), ids)
    log_p = model.eval()(ids[:, :-1]).log_softmax(dim=-1)
    want = [-sum(log_p[b, t, ids[b, t + 1]] for b in range(5)).item() / 5
            for t in range(8)]
    assert got.tolist() == pytest.approx(want, rel=1e-5)


def test_nothing_adds_zeros():
    X = torch.randn(2, 3, 4)
    assert torch.equal(CHAPTER.Nothing()(X), torch.zeros(2, 3, 4))


def in_the_cell(name, target):
    """The literal that a cell of the chapter assigns to a name."""
    cell = chapter("14").cell(name)
    return next(ast.literal_eval(node.value)
                for node in ast.parse(cell.source).body
                if isinstance(node, ast.Assign)
                and getattr(node.targets[0], "id", "") == target)


def test_the_figures_draw_the_tables():
    floor = read_table("14_floor").numbers
    drawn = in_the_cell("leak-figure", "rows")
    assert {label.replace("*", ""): (*row[1:],) for label, row
            in floor.items() if label != "all words"} == drawn
    parts = read_table("14_parts").numbers
    assert in_the_cell("parts-figure", "shares") == {
        label: (*row[1:4],) for label, row in parts.items()}
    starts = read_table("14_warm_up").numbers
    ends = in_the_cell("warm-figure", "ends")
    for name, label in (("no warm-up", "no warm-up"), ("warm-up", "warm-up"),
                        ("only the means", "only the means warm up")):
        assert ends[name][0] == starts[f"{label}, 300"]
        assert ends[name][1] == starts.get(f"{label}, 1200", [])
    lengths = in_the_cell("warm-figure", "lengths")
    for name, found in lengths.items():
        assert found[0] == pytest.approx(np.median(
            starts[f"{name}: length of the first step"]), abs=0.001)


def test_the_curve_is_the_committed_one():
    path = kite.WEIGHTS.with_name("kite_curve.json")
    curve = json.loads(path.read_text("utf-8"))
    assert in_the_cell("curve-figure", "right") == curve["right"]


def test_the_chapter_prints_the_table_of_the_kite_model():
    path = kite.WEIGHTS.with_name("kite_model.md")
    table = Table.parse(path.read_text("utf-8"))
    assert {*table.lines} <= {*chapter("14").prose.splitlines()}


def test_kinds_are_those_of_the_experiment():
    kinds = load("14_floor").kinds(TALE)
    names = in_the_cell("leak-figure", "rows")
    assert len(kinds) == 65
    assert {kind.replace("*", "") for kind in kinds} == {*names}


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
