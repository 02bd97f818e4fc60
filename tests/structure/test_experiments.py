"""The tables of experiments/ are those that the chapters print, and can be
computed again: here one row of some of them, in full by `make experiments`."""

import re
from random import Random
from runpy import run_path

import pytest

from course.chapter import chapter as course_chapter
from experiments import run
from tests.support.optional import absent

each_script = pytest.mark.parametrize(
    "path", run.SCRIPTS, ids=[path.stem for path in run.SCRIPTS])

SAMPLE = Random(2).sample(run.SCRIPTS, 6)       # they train models: 2 to 8 s


def told(chapter):
    """The lines of all tables in a chapter's text."""
    return set(re.findall(r"(?m)^\|.*\|$", course_chapter(chapter).prose))


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
    words = course_chapter(script[:2]).cell(cell).source
    [table] = [p.with_suffix(".md") for p in run.SCRIPTS if p.stem == script]
    stored = set(re.findall(r"[\d.]*\d", table.read_text("utf-8")))
    assert set(re.findall(r"\d+\.\d+", words)) <= stored | others


@pytest.mark.parametrize("path", SAMPLE, ids=[path.stem for path in SAMPLE])
def test_one_row_or_number_again(path):
    table = path.with_suffix(".md").read_text("utf-8")
    try:
        off = run.again(run_path(str(path)), table)
    except FileNotFoundError as missing:
        absent("Tiny Shakespeare", f"{missing}: let COURSE_TEXT name the file")
    assert off <= 1


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
