"""The tables of experiments/ are those that the chapters print, and can be
computed again: here one row of some of them, in full by `make experiments`."""

import math
import re
import urllib.request
from collections import Counter
from itertools import pairwise
from random import Random
from runpy import run_path
from urllib.error import URLError

import pytest
from chapters import BOOK, cells, functions
from texts import SCENE, pass_for_the_play

from experiments import run, shakespeare

each_script = pytest.mark.parametrize(
    "path", run.SCRIPTS, ids=[path.stem for path in run.SCRIPTS])

SAMPLE = Random(2).sample(run.SCRIPTS, 6)       # they train models: 2 to 8 s


def told(chapter):
    """The lines of all tables in a chapter's text."""
    [path] = BOOK.glob(f"{chapter}_*.ipynb")
    prose = "\n".join(cell.source for cell in cells(path, "markdown"))
    return set(re.findall(r"(?m)^\|.*\|$", prose))


@each_script
def test_the_chapter_prints_the_table(path):
    table = path.with_suffix(".md").read_text("utf-8")
    lines = re.findall(r"(?m)^\| .*\|$", table)
    experiment = run_path(str(path))
    assert len(lines) == len(experiment["ROWS"]) + 2
    assert set(lines) <= told(path.name[:2])


@each_script
def test_the_table_shows_what_the_chapter_says(path):
    table = path.with_suffix(".md").read_text("utf-8")
    assert run.broken(run_path(str(path)), table) == []


@pytest.mark.parametrize("script, old, new", [
    ("14_warm_up", "| 1.07 |", "| 0.54 |"),
    ("14_warm_up", "| 0.76 |", "| 0.58 |"),
    ("14_ablation", "| 0.536 |", "| 0.740 |"),
    ("17_overwriting", "| 0.03 | 0.18 |", "| 0.03 | 0.31 |"),
    ("17_capacity", "| 0.13 | 0.13 |", "| 0.25 | 0.25 |")])
def test_a_table_that_shows_something_else_is_found(script, old, new):
    [path] = [path for path in run.SCRIPTS if path.stem == script]
    table = path.with_suffix(".md").read_text("utf-8")
    wrong = table.replace(old, new, 1)
    assert wrong != table and run.broken(run_path(str(path)), wrong)


@pytest.mark.parametrize("script, cell, others", [
    ("14_ablation", "ablation-says", {"0.540", "14.4"}),
    ("14_warm_up", "warm-says", {"0.003", "0.01", "0.7", "1.0"}),
    ("14_text", "text-says", set()),
    ("17_overwriting", "overwrite-table", set())])
def test_a_number_in_a_sentence_is_one_of_the_table(script, cell, others):
    [path] = BOOK.glob(f"{script[:2]}_*.ipynb")
    [words] = [c.source for c in cells(path, "markdown") if c.id == cell]
    [table] = [p.with_suffix(".md") for p in run.SCRIPTS if p.stem == script]
    stored = set(re.findall(r"[\d.]*\d", table.read_text("utf-8")))
    assert set(re.findall(r"\d+\.\d+", words)) <= stored | others


@pytest.fixture
def offline(monkeypatch):
    def urlopen(address, timeout):
        raise URLError("no test asks the network")

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)


@pytest.mark.parametrize("path", SAMPLE, ids=[path.stem for path in SAMPLE])
def test_one_row_or_number_again(path, offline):
    table = path.with_suffix(".md").read_text("utf-8")
    try:
        off = run.again(run_path(str(path)), table)
    except shakespeare.AnotherText as why:
        pytest.skip(f"{why}; COURSE_TEXT can name a file with it")
    assert off <= 1


@pytest.fixture
def scene(monkeypatch, offline):
    """Chapter 14, to which a scene is the play, where no file is at hand."""
    chapter = functions("14")
    pass_for_the_play(chapter, SCENE, monkeypatch)
    monkeypatch.setattr(shakespeare, "functions", {"14": chapter}.get)
    monkeypatch.delenv("COURSE_TEXT", raising=False)
    shakespeare.parts.cache_clear()
    yield
    shakespeare.parts.cache_clear()


def test_no_table_is_of_another_text(scene, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(shakespeare.AnotherText, match="Python's help texts"):
        shakespeare.parts()


@pytest.mark.parametrize("script, row", [
    ("14_text", "pairs"), ("19_shakespeare", "table of pairs")])
def test_the_loss_of_pairs_by_counting(scene, monkeypatch, tmp_path, script,
                                       row):
    (tmp_path / "scene.txt").write_bytes(SCENE)
    monkeypatch.setenv("COURSE_TEXT", str(tmp_path / "scene.txt"))
    [path] = [path for path in run.SCRIPTS if path.stem == script]
    [got] = run.numbers_of(run_path(str(path)), row, [0])
    text = SCENE.decode()
    cut, kinds = len(text) * 9 // 10, len(set(text))
    pairs = Counter(pairwise(text[:cut]))
    firsts = Counter(text[:cut - 1])
    losses = [-math.log((pairs[pair] + 1) / (firsts[pair[0]] + kinds))
              for pair in pairwise(text[cut:])]
    assert got == pytest.approx(sum(losses) / len(losses), rel=1e-5)


@pytest.mark.parametrize("new, off", [
    ("| a | 1.0 | 50% |", 0), ("| a | 1.1 | 50% |", 0.1),
    ("| a | 1.0 | 25% |", 0.5)])
def test_a_changed_number_is_seen(new, off):
    assert run.apart("| a | 1.0 | 50% |", new) == pytest.approx(off)


def test_a_wrong_table_is_reported(tmp_path, capsys):
    script = tmp_path / "00_ones.py"
    script.write_text(
        "QUESTION, COLUMNS, FORMATS = 'One?', ['n', 'one'], ['{:.1f}']\n"
        "ROWS, QUICK, TOLERANCE = {'a': (1,), 'b': (2,)}, 'a', 0.01\n"
        "def row(n):\n    return [n]\n", "utf-8")
    assert run.rerun(script, write=True) == 0
    store = script.with_suffix(".md")
    assert run.rerun(script, write=False) == 0
    store.write_text(store.read_text("utf-8").replace("2.0", "3.0"), "utf-8")
    assert run.rerun(script, write=False) == 1
    wrong = store.read_text("utf-8").replace("1.0", "4.0")
    assert run.again(run_path(str(script)), wrong) > 1
    assert "stored: | b | 3.0 |" in capsys.readouterr().out


def test_a_table_without_what_the_chapter_says_is_reported(tmp_path, capsys):
    script = tmp_path / "00_ones.py"
    script.write_text(
        "QUESTION, COLUMNS, FORMATS = 'One?', ['n', 'one'], ['{:.1f}']\n"
        "ROWS, QUICK, TOLERANCE = {'a': (1,), 'b': (2,)}, 'a', 9\n"
        "HOLDS = {'b is less': lambda found: found['b'] < found['a']}\n"
        "def row(n):\n    return [n]\n", "utf-8")
    assert run.rerun(script, write=True) == 1
    assert run.rerun(script, write=False) == 1
    assert "does not hold: b is less" in capsys.readouterr().out
