"""The tables of experiments/ are those that the chapters print, and can be
computed again: here one row of some of them, in full by `make experiments`."""

import math
import urllib.request
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from random import Random
from urllib.error import URLError

import pytest

from course.chapter import chapter, functions
from experiments import __main__ as program
from experiments import shakespeare
from experiments.experiment import (
    NAMES,
    Experiment,
    Table,
    difference,
    read_experiment,
    read_table,
    table_path,
)
from tests.support.scenes import SCENE, pass_for_the_play

each_experiment = pytest.mark.parametrize("name", NAMES)
SAMPLE = Random(2).sample(NAMES, 6)             # they train models: 2 to 8 s


@each_experiment
def test_the_chapter_prints_the_table(name):
    table = read_table(name)
    assert {*table.lines} <= {*chapter(name[:2]).prose.splitlines()}


@each_experiment
def test_the_table_is_the_experiment_s(name):
    experiment, table = read_experiment(name), read_table(name)
    assert [*table.columns] == [*experiment.columns]
    assert [*table.rows] == [*experiment.rows]
    assert table_path(name).read_text("utf-8") == experiment.text(table)


@each_experiment
def test_the_table_shows_what_the_chapter_says(name):
    assert read_experiment(name).broken(read_table(name)) == []


def with_number(table, label, column, number):
    """The table with another number in one place."""
    cells = [*table.rows[label]]
    cells[column] = str(number)
    return replace(table, rows={**table.rows, label: cells})


@each_experiment
def test_one_other_number_breaks_each_claim(name):
    experiment, table = read_experiment(name), read_table(name)
    broken = {claim for label, row in table.numbers.items()
              for column, number in enumerate(row)
              for other in (number / 2, 2 * number, number + 1)
              for claim in experiment.broken(
                  with_number(table, label, column, other))}
    assert broken == {*experiment.holds}


@pytest.fixture
def offline(monkeypatch):
    def urlopen(address, timeout):
        raise URLError("no test asks the network")

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)


@pytest.mark.parametrize("name", SAMPLE)
def test_one_row_or_number_again(name, offline):
    try:
        off = read_experiment(name).quick_difference(read_table(name))
    except shakespeare.AnotherText as why:
        pytest.skip(f"{why}; COURSE_TEXT can name a file with it")
    assert off <= 1


@pytest.fixture
def scene(monkeypatch, offline):
    """Chapter 14, to which a scene is the play, where no file is at hand."""
    names = functions("14")
    pass_for_the_play(names, SCENE, monkeypatch)
    monkeypatch.setattr(shakespeare, "functions", lambda number: names)
    monkeypatch.delenv("COURSE_TEXT", raising=False)
    shakespeare.parts.cache_clear()
    yield
    shakespeare.parts.cache_clear()


def test_no_table_is_of_another_text(scene, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(shakespeare.AnotherText, match="Python's help texts"):
        shakespeare.parts()


@pytest.mark.parametrize("name, row", [
    ("14_text", "pairs"), ("19_shakespeare", "table of pairs")])
def test_the_loss_of_pairs_by_counting(scene, monkeypatch, tmp_path, name, row):
    (tmp_path / "scene.txt").write_bytes(SCENE)
    monkeypatch.setenv("COURSE_TEXT", str(tmp_path / "scene.txt"))
    [loss] = read_experiment(name).numbers(row, [0])
    text = SCENE.decode("utf-8")
    cut, kinds = len(text) * 9 // 10, len(set(text))
    pairs = Counter(pairwise(text[:cut]))
    firsts = Counter(text[:cut - 1])
    losses = [-math.log((pairs[pair] + 1) / (firsts[pair[0]] + kinds))
              for pair in pairwise(text[cut:])]
    assert loss == pytest.approx(sum(losses) / len(losses), rel=1e-5)


@pytest.mark.parametrize("new, off", [
    (["1.0", "50%"], 0), (["1.1", "50%"], 0.1), (["1.0", "25%"], 0.5),
    (["1.0"], float("inf"))])
def test_a_changed_number_is_seen(new, off):
    assert difference(["1.0", "50%"], new) == pytest.approx(off)


@pytest.mark.parametrize("cell", ["nan", "inf", "-", ""])
def test_what_is_no_number_is_refused(cell):
    with pytest.raises(ValueError, match="is not a number"):
        difference(["1.0"], [cell])


ONES = {"question": "One?", "columns": ["n", "one"], "formats": ["{:.1f}"],
        "rows": {"a": (1,), "b": (2,)}, "row": lambda n: [n],
        "quick": "a", "tolerance": 0.01}


@pytest.mark.parametrize("change, fault", [
    ({"row": None}, "either row or cell"),
    ({"cell": lambda n, column: n}, "either row or cell"),
    ({"formats": []}, "a format for each column"),
    ({"quick": "c"}, "quick is no row: 'c'"),
    ({"quick_column": 1}, "quick_column is no column: 1"),
    ({"tolerances": {"c": 1}}, "tolerances of no row: c"),
    ({"tolerance": 0}, "a tolerance is above 0")])
def test_parts_that_do_not_fit_are_refused(change, fault):
    with pytest.raises(ValueError, match=fault):
        Experiment(**ONES | change)


def test_a_row_has_all_its_numbers():
    with pytest.raises(ValueError, match="a: 2 numbers for 1 columns"):
        Experiment(**ONES | {"row": lambda n: [n, n]}).measure("a")


def test_a_wrong_table_is_reported(tmp_path, capsys):
    ones, path = Experiment(**ONES), tmp_path / "00_ones.md"
    assert program.rerun(ones, path, write=True) == 0
    assert program.rerun(ones, path, write=False) == 0
    table = Table.parse(path.read_text("utf-8"))
    assert ones.quick_difference(table) == 0
    assert ones.quick_difference(with_number(table, "a", 0, 4.0)) > 1
    wrong = "\n".join(with_number(table, "b", 0, 3.0).lines)
    path.write_text(wrong, "utf-8")
    capsys.readouterr()
    assert program.rerun(ones, path, write=False) == 1
    assert "| b | 2.0 |   stored: | b | 3.0 |" in capsys.readouterr().out


def test_a_table_without_what_the_chapter_says_is_reported(tmp_path, capsys):
    ones, path = Experiment(**ONES, holds={
        "b is less": lambda table: table["b"] < table["a"]
    }), tmp_path / "00_ones.md"
    assert program.rerun(ones, path, write=True) == 1
    assert program.rerun(ones, path, write=False) == 1
    assert "does not hold: b is less" in capsys.readouterr().out


def test_the_program_knows_what_there_is(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["experiments", "99"])
    with pytest.raises(SystemExit):
        program.main()
    assert f"no experiment 99: there are {NAMES[0]}" in capsys.readouterr().err
