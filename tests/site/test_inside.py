"""The engine of "Look inside" says what PyTorch says, whatever is taken away.

tests/support/inside.py holds the models by PyTorch, and prints how far apart
they are. Here a few stories a switch; each week all 200, by EVERY_STORY=1.
"""

import gzip
import os
import re
import shutil
from functools import cache
from hashlib import sha256
from random import Random

import numpy as np
import pytest
import torch
from playwright.sync_api import Error

from course.paths import ROOT
from experiments import kite
from tests.support import inside
from tools.refresh import inside as writer

EVERY = bool(os.environ.get("EVERY_STORY"))
SOME = {"nothing": 6}                   # stories; one of each other switch
NEAR = 1e-4
SHORT = torch.tensor(kite.word_ids([
    kite.story(Random(3), **kite.SHORT | {"n_then": 0, "n_questions": 1})]))

model = cache(inside.load)
each_model = pytest.mark.parametrize("kind", inside.KINDS)


@pytest.fixture(scope="module")
def tab(browser):
    page = browser.new_page()
    inside.give_weights(page)
    return page


@cache
def expected(kind, what):
    """A short story, by PyTorch."""
    return inside.run(kind, model(kind), SHORT, inside.settings(kind)[what])


@each_model
def test_it_says_what_pytorch_says(tab, kind):
    for what, switches in inside.settings(kind).items():
        rows = range(200) if EVERY else Random(f"{kind} {what}").sample(
            range(200), SOME.get(what, 1))
        ids = inside.IDS[[*rows]]
        by_torch = inside.run(kind, model(kind), ids, switches)
        same = inside.compare(
            inside.in_browser(tab, kind, ids, switches, by_torch), by_torch)
        assert max(same.far.values()) <= NEAR, (what, same.far)
        assert not same.other_words, what


@each_model
def test_the_chapter_s_own_model_agrees(tab, kind):
    """As it stands, in float32: a memory's norm has that format's eps."""
    ids = inside.IDS[:4]
    own = kite.load() if kind == "kite" else inside.kite_memories.load(kind)
    with torch.no_grad():
        logits = {"logits": own(ids)}
    same = inside.compare(
        inside.in_browser(tab, kind, ids, None, logits), logits)
    assert same.far["logits"] <= NEAR and not same.other_words


def drawn(kind, rng):
    """Some switches off, at random."""
    def draw(on):
        if isinstance(on, list):
            return [draw(each) for each in on]
        return rng.random() < 0.6 if on is True else rng.choice(
            ["pre", "folded", "off"])
    return {name: draw(on) for name, on in inside.everything(kind).items()}


@each_model
def test_several_parts_are_taken_away_together(tab, kind):
    for seed in range(40 if EVERY else 4):
        switches = drawn(kind, Random(seed))
        by_torch = inside.run(kind, model(kind), SHORT, switches)
        same = inside.compare(
            inside.in_browser(tab, kind, SHORT, switches, by_torch), by_torch)
        assert max(same.far.values()) <= NEAR, (switches, same.far)
        assert not same.other_words, switches


@each_model
def test_a_model_says_what_it_is_and_has_everything_on_at_first(tab, kind):
    told, on = tab.evaluate("""([source, name]) => {
        const engine = new Function(source + "; return Inside")()
        engine.register(name, data[name])
        let found
        engine.load(name, ({ weights, ...model }) => {
            found = [model, engine.everything(model)] })
        return found }""", [inside.SOURCE, kind])
    _, weights, experiment = writer.MODELS[kind]
    assert on == inside.everything(kind)
    assert told == {
        "name": kind, "kind": "attention" if kind == "kite" else kind,
        "layers": inside.LAYERS, "heads": inside.HEADS,
        "words": kite.KiteWorld.words,
        "experiment": f"experiments/{experiment}",
        "hash": sha256((ROOT / "experiments" / weights).read_bytes()
                       ).hexdigest()}
    assert (ROOT / told["experiment"]).exists()


@each_model
def test_parts_add_up(tab, kind):
    for what, switches in inside.settings(kind).items():
        found = inside.in_browser(tab, kind, SHORT, switches,
                                  expected(kind, what))
        sums = np.zeros(found["parts"].shape[0:1] + found["parts"].shape[2:])
        for part in found["parts"].swapaxes(0, 1):
            sums = sums + part
        assert np.array_equal(sums, found["stream"][:, -1]) == (
            what != "shortcut"), what
        logits = found["logits"][0, -4]
        answer = SHORT[0, -3]
        others = np.delete(logits[inside.PEOPLE], answer).mean()
        assert found["contributions"].sum() == pytest.approx(
            logits[answer] - others, rel=1e-9, abs=1e-9), what


@each_model
def test_folded_is_the_same_up_to_rounding(tab, kind):
    plain, folded = (inside.in_browser(
        tab, kind, SHORT, inside.settings(kind)[what],
        {"logits": expected(kind, what)["logits"]})["logits"]
        for what in ("nothing", "norm folded"))
    assert 0 < np.abs(plain - folded).max() < 1e-10


@each_model
def test_each_switch_switches_something(kind):
    on = expected(kind, "nothing")["logits"]
    for what in inside.settings(kind):
        moved = (expected(kind, what)["logits"] - on).abs().max()
        assert (moved > 100 * NEAR) == (what not in ("nothing", "norm folded"))


# ------------------------------------------------------------------- mutations

# A function, what stands in it, what a slip would make of it, and the model
# and the switch that show it.
SLIPS = [
    ("dot", "sum += a[i] * b[i]", "sum += a[i] * a[i]", "kite", "nothing"),
    ("dot", "let i = 0; i < a.length", "let i = 1; i < a.length", "kite",
     "nothing"),
    ("times", "a.map((x, i) => x * b[i])", "a.map((x, i) => x + b[i])",
     "kite", "nothing"),
    ("scaled", "a.map(x => x * factor)", "a.map(x => x / factor)", "kite",
     "nothing"),
    ("plus", "x + B[t][i]", "x - B[t][i]", "kite", "nothing"),
    ("project", "sum += x[i] * W[at]", "sum += x[i] * W[i]", "kite",
     "nothing"),
    ("project", "let sum = 0\n      for (let i = 0; i < x",
     "let sum = 0\n      for (let i = 1; i < x", "kite", "nothing"),
    ("cut", "i * size, (i + 1) * size", "0, size", "kite", "nothing"),
    ("softmax", "Math.exp(score - top)", "Math.exp(top - score)", "kite",
     "nothing"),
    ("softmax", "power / sum", "power", "kite", "nothing"),
    ("sigmoid", "Math.exp(-x)", "Math.exp(x)", "kite", "nothing"),
    ("silu", "x * sigmoid(x)", "sigmoid(x)", "kite", "nothing"),
    ("lookUp", "cut(E, id, size)", "cut(E, id + 1, size)", "kite", "nothing"),
    ("meanSquare", "dot(x, x) / x.length", "dot(x, x)", "kite", "nothing"),
    ("reciprocalRms", "meanSquare(x) + eps", "meanSquare(x) + 1000 * eps",
     "kite", "nothing"),
    ("reciprocalRms", "1 / Math.sqrt", "Math.sqrt", "kite", "nothing"),
    ("rmsNorm", "times(scaled(x, reciprocalRms(x, eps)), gain)",
     "scaled(x, reciprocalRms(x, eps))", "kite", "nothing"),
    ("rmsNorm", "reciprocalRms(x, eps)", "reciprocalRms(x)", "sum",
     "nothing"),
    ("gatedFeedForward", "times(g.map(silu), U[t])", "times(g, U[t].map(silu))",
     "kite", "nothing"),
    ("gatedFeedForward", "g.map(silu)", "g.map(sigmoid)", "kite", "nothing"),
    ("fold", "w * gain[at % gain.length]",
     "w * gain[Math.floor(at / gain.length) % gain.length]", "kite",
     "norm folded"),
    ("fold", "w * gain[at % gain.length]", "w", "kite", "norm folded"),
    ("behindNorm", "scaled(y, s[t])", "scaled(y, s[0])", "kite",
     "norm folded"),
    ("behindNorm", 'norm === "off" ? times(x, gain)', 'norm === "off" ? x',
     "kite", "norm off"),
    ("behindNorm", 'norm === "off" ? times', 'norm === "of" ? times', "kite",
     "norm off"),
    ("causalMask", "j <= t", "j < t + 2", "kite", "nothing"),
    ("causalMask", "j <= t", "j >= t", "kite", "nothing"),
    ("ropeTables", "BASE ** (-2 * p / d_k)", "BASE ** (-p / d_k)", "kite",
     "nothing"),
    ("ropeTables", "sin: angle.map(Math.sin)", "sin: angle.map(Math.cos)",
     "kite", "nothing"),
    ("ropeHalfSplit", "? x[i] * cos[i] -", "? x[i] * cos[i] +", "kite",
     "nothing"),
    ("ropeHalfSplit", "x[i - half] * sin", "-x[i - half] * sin", "kite",
     "nothing"),
    ("attentionWeights", "Math.sqrt(q.length) : 1", "q.length : 1", "kite",
     "nothing"),
    ("attentionWeights", "divisor ?", "true ?", "kite", "divisor"),
    ("attentionWeights", "!mask || mask[t][j]", "mask[t][j]", "kite", "mask"),
    ("average", "dot(row, v)", "dot(row, v) / row.length", "kite", "nothing"),
    ("average", "V, v => v[i]", "V, v => v[0]", "kite", "nothing"),
    ("unitLength", "1 / Math.max(Math.hypot(...x), 1e-12)",
     "1 / dot(x, x)", "sum", "nothing"),
    ("readMemory", "dot(row, q)", "dot(row, q) + row[0]", "delta", "nothing"),
    ("writeSum", "x + v[i] * k[j]", "x + v[j] * k[i]", "sum", "nothing"),
    ("writeSum", "x + v[i] * k[j]", "v[i] * k[j]", "sum", "nothing"),
    ("writeDelta", "beta * (x - old[i])", "beta * x - old[i]", "delta",
     "nothing"),
    ("writeDelta", "beta * (x - old[i])", "x - beta * old[i]", "delta",
     "nothing"),
    ("writeDelta", "readMemory(state, k)", "readMemory(state, v)", "delta",
     "nothing"),
    ("fromMemory", 'kind === "delta" ? writeDelta',
     'kind !== "delta" ? writeDelta', "sum", "nothing"),
    ("fromMemory", "scaled(V[t], beta[t])", "V[t]", "sum", "nothing"),
    ("fromMemory", "K[t], V[t], beta[t])\n", "Q[t], V[t], beta[t])\n",
     "delta", "nothing"),
    ("memoryWeights", "beta[j] * dot(q, K[j])", "beta[t] * dot(q, K[j])",
     "sum", "nothing"),
    ("memoryWeights", "x - row[j] * K[j][i]", "x + row[j] * K[j][i]", "delta",
     "nothing"),
    ("memoryWeights", 'kind === "delta") q', 'kind === "sum") q', "delta",
     "nothing"),
    ("memoryWeights", "let j = t; j >= 0", "let j = t - 1; j >= 0", "sum",
     "nothing"),
    ("shortConvolution", "t + 1 - WIDTH + i", "t - i", "sum", "nothing"),
    ("shortConvolution", "positions ? 0 : WIDTH - 1", "0", "sum",
     "positions"),
    ("shortConvolution", "taps[WIDTH * f + i]", "taps[WIDTH * i + f]", "sum",
     "nothing"),
    ("shortConvolution", "from >= 0", "from > 0", "delta", "nothing"),
    ("inHeads", "cut(x, i, x.length / h)", "cut(x, h - 1 - i, x.length / h)",
     "kite", "nothing"),
    ("attend", "attentionWeights(rotate(Q[i]), rotate(K[i])",
     "attentionWeights(rotate(Q[i]), K[i]", "kite", "nothing"),
    ("attend", "average(weights, v)", "average(weights, V[0])", "kite",
     "nothing"),
    ("attend", "switches.mask &&", "true &&", "kite", "mask"),
    ("attend", "switches.positions\n      ?", "true\n      ?", "kite",
     "positions"),
    ("remember", "sigmoid(x + bias[i])", "sigmoid(x)", "delta", "nothing"),
    ("remember", ".map(z => z.map(silu))", "", "delta", "nothing"),
    ("remember", "place, WIDTH", "0, WIDTH", "delta", "nothing"),
    ("remember", "Q[i].map(unitLength)", "Q[i]", "delta", "nothing"),
    ("remember", "each => each[i]", "each => each[0]", "delta", "nothing"),
    ("headOutput", "at % d_model / d_v", "at / d_model / d_v", "kite",
     "nothing"),
    ("run", "outs.reduce(plus, X) :", "outs.reduce(plus) :", "kite",
     "nothing"),
    ("run", "switches.shortcut ? outs", "true ? outs", "kite", "shortcut"),
    ("run", "switches.heads[b][i]", "switches.heads[b][0]", "kite",
     "head 1.2"),
    ("run", "switches.heads[b][i]", "switches.heads[0][i]", "kite",
     "head 2.3"),
    ("run", "switches.ffn[b]", "switches.ffn[0]", "kite", "ffn 2"),
    ("run", 'W("norm_2.weight")', 'W("norm_1.weight")', "kite", "nothing"),
    ("run", 'kind === "attention" ?', 'kind !== "delta" ?', "sum", "nothing"),
    ("run", "rms: stream.map(each => each.map(x => Math.sqrt(meanSquare(x))))",
     "rms: stream.map(each => each.map(x => reciprocalRms(x)))", "kite",
     "nothing"),
    ("run", 'switches.norm === "off" ? 1 : ', "", "kite", "norm off"),
    ("run", 'behindNorm(X, weights["norm.weight"], switches.norm)',
     'behindNorm(X, weights["norm.weight"], "pre")', "kite", "norm off"),
    ("contributions", "result.factor[t] * g", "g", "kite", "nothing"),
    ("contributions", "rivals.length))", "(1 + rivals.length)))", "kite",
     "nothing"),
    ("contributions", "result.switches.shortcut ||", "true ||", "kite",
     "shortcut"),
    ("everything", 'norm: "pre"', 'norm: "off"', "kite", None),
    ("everything", "fill(true) })", "fill(false) })", "kite", None),
    ("decode", "1 + M / 1024", "M / 1024", "kite", "nothing"),
    ("decode", "2 ** -14 * M / 1024", "2 ** -13 * M", "kite", "nothing"),
    ("decode", "(-1) ** S *", "", "kite", "nothing"),
    ("unpacked", "at++) << 8", "at++) << 7", "kite", "nothing"),
    ("unpacked", "(a, b) => a * b))\n", "(a, b) => a + b))\n", "kite",
     "nothing"),
    ("register", "unpacked(data)", "data", "kite", "nothing"),
    ("load", "return done(models[name])", "return done()", "kite",
     "nothing")]


def is_right(tab, kind, what, source):
    """Does an engine pass for the model, on a short story?"""
    by_torch = expected(kind, what or "nothing")
    switches = what and inside.settings(kind)[what]     # None: its own
    try:
        same = inside.compare(inside.in_browser(
            tab, kind, SHORT, switches, by_torch, source), by_torch)
    except (Error, ValueError):         # it raised; another number of numbers
        return False
    return all(far <= NEAR for far in same.far.values()
               ) and not same.other_words


def test_slips_are_seen(tab):
    missed = []
    for _, old, new, kind, what in SLIPS:
        assert inside.SOURCE.count(old) == 1, old
        if is_right(tab, kind, what, inside.SOURCE.replace(old, new)):
            missed.append((old, new))
    assert not missed
    assert all(is_right(tab, kind, None, inside.SOURCE)
               for kind in inside.KINDS)


def test_each_function_has_a_slip():
    functions = {*re.findall(r"(?m)^  const (\w+) =\s+(?:\(.*?\)|\w+) =>",
                             inside.SOURCE)}
    assert len(functions) > 35
    assert functions == {name for name, *_ in SLIPS}


# ----------------------------------------------------------------------- files

def test_writing_again_changes_nothing(tmp_path, monkeypatch):
    """Else: .venv/bin/python -m tools.refresh --write-only"""
    assert [*writer.write()] == []
    monkeypatch.setattr(writer, "FOLDER", tmp_path)
    assert len([*writer.write()]) == len(inside.KINDS)
    assert [*writer.write()] == []
    for path in tmp_path.iterdir():
        path.write_text(path.read_text("utf-8").replace("A", "B", 1), "utf-8")
    assert len([*writer.write()]) == len(inside.KINDS)


@pytest.fixture
def from_disk(browser, tmp_path):
    """A page that has the engine, and beside it the sum rule, but no delta."""
    for name in ("model", "sum"):
        shutil.copy(inside.FOLDER / f"{name}.js", tmp_path)
    page = tmp_path / "page.html"
    page.write_text("<!doctype html><script src=model.js?v=1></script>",
                    "utf-8")
    tab = browser.new_page()
    tab.goto(page.as_uri())
    return tab


LOAD = """name => new Promise(done => Inside.load(name,
    model => done(model.name), () => done("failed")))"""


def test_a_model_is_loaded_once_from_disk(from_disk):
    tab = from_disk
    both = tab.evaluate(f"name => Promise.all([({LOAD})(name), "
                        f"({LOAD})(name)])", "sum")
    assert both == ["sum", "sum"] and tab.evaluate(LOAD, "sum") == "sum"
    assert tab.locator("script").count() == 2


def test_a_model_that_is_not_there_is_said_and_may_come_later(
        from_disk, tmp_path):
    assert from_disk.evaluate(LOAD, "delta") == "failed"
    shutil.copy(inside.FOLDER / "delta.js", tmp_path)
    assert from_disk.evaluate(LOAD, "delta") == "delta"


def test_scripts_are_small():
    for path in inside.FOLDER.glob("*.js"):
        limit = 160_000 if path.stem in writer.MODELS else 12_000
        assert len(gzip.compress(path.read_bytes())) <= limit, path.name
