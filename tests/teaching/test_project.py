"""The project for teachers: its example is what was run, and its code runs."""

import re
from dataclasses import replace

import pytest

from course.paths import BOOK, ROOT
from experiments.experiment import Table
from experiments.project_one_matrix import EXPERIMENT, PICTURE, TABLE

PAGE = (BOOK / "teaching_project.md").read_text("utf-8")
STORED = Table.parse(TABLE.read_text("utf-8"))


def rows(head):
    """The cells of the table whose first head is this one."""
    [found] = re.findall(rf"(?m)^\| {head} \|.*\n.*\n((?:\|.*\n)+)", PAGE)
    return [[cell.strip() for cell in line.strip("|").split(" |")]
            for line in found.splitlines()]


def test_the_page_shows_the_table_of_the_program():
    assert TABLE.read_text("utf-8") == EXPERIMENT.text(STORED)
    assert {*STORED.lines} <= {*PAGE.splitlines()}
    assert EXPERIMENT.broken(STORED) == []
    assert PICTURE.name in PAGE and "one matrix" in PICTURE.read_text("utf-8")


@pytest.mark.parametrize("label", EXPERIMENT.rows)
def test_another_count_breaks_what_the_report_says(label):
    *losses, count = STORED.rows[label]
    other = replace(STORED, rows={**STORED.rows, label: [
        *losses, str((int(count) + 1) % 6)]})
    assert EXPERIMENT.broken(other)


def test_the_counts_are_those_of_the_losses():
    for *losses, count in STORED.numbers.values():
        assert sum(loss < 0.41 for loss in losses) == count


def test_a_number_of_it_again():
    assert EXPERIMENT.quick_difference(STORED) <= 1


def test_the_rubric_adds_up():
    points = [[int(re.search(r"\*\*(\d+)\*\*", cell)[1]) for cell in levels]
              for _, *levels in rows("criterion")]
    assert all(a > b for row in points for a, b in zip(row, row[1:],
                                                       strict=False))
    assert {row[-1] for row in points} == {0}
    best = [row[0] for row in points]
    assert sum(best) == 40 and sum(best[1:3]) == 20     # half for the test


def test_the_example_is_marked_by_the_rubric():
    levels = {name: [int(re.search(r"\*\*(\d+)\*\*", cell)[1])
                     for cell in cells]
              for name, *cells in rows("criterion")}
    given = re.findall(r"(?m)^\| ([a-z ]+) \| ([0-3]): \*\*(\d+)\*\* \|", PAGE)
    assert [name for name, *_ in given] == [*levels]
    assert all(levels[name][3 - int(level)] == int(points)
               for name, level, points in given)
    total = sum(int(points) for *_, points in given)
    assert f"\n{total} of 40." in PAGE


def test_each_claim_has_a_control():
    claims = rows("claim")
    assert [claim.split(".")[0] for claim, *_ in claims] == [
        str(i + 1) for i in range(10)]
    for claim, chapters, run, control in claims:
        assert re.fullmatch(r"\d\d(, \d\d)*", chapters), claim
        assert run.endswith(" s") and len(control) > 10, claim


def test_the_first_lines_of_a_training_run(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    [code] = re.findall(r"(?s)```python\n(.*?)```", PAGE)
    exec(code.replace("steps, seed = 600, 0", "steps, seed = 2, 0"), {})
    assert 0 <= float(re.search(r"[\d.]+", capsys.readouterr().out)[0]) < 0.5
