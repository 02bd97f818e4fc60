"""Numbers and titles in the pages are the chapters', written by a tool."""

import re

import pytest

from course.chapter import chapters
from course.sheets import LECTURES, SHEETS
from tools.refresh import pages
from tools.refresh.cells import book_homes


def again(path, text):
    return pages.PAGES[path](text, chapters())


@pytest.mark.parametrize("path", pages.PAGES, ids=lambda path: path.name)
def test_numbers_that_differ_are_written_anew(path):
    """And those that do not are left alone."""
    right = again(path, path.read_text("utf-8"))
    wrong = re.sub(r"(?m)\| \d+ \|$", "| 997 |", right)
    wrong = wrong.replace("about 55 minutes", "about 998 minutes")
    assert (wrong != right) == (path != pages.FRONT)
    assert again(path, right) == again(path, wrong) == right


def test_a_chapter_is_counted_as_by_hand():
    """Chapter 04: a sum of the captions, and the words of each kind."""
    captions = re.findall(
        r"\*\*Exercise 4\.\d\*\* \(\w+; (\d+) minutes.*?(\d) points?\)",
        chapters()[4].prose)
    minutes, points = (sum(map(int, column)) for column in zip(*captions,
                                                              strict=True))
    page = again(SHEETS, SHEETS.read_text("utf-8"))
    sheet = page.partition("## 04.")[2].partition("## 05.")[0]
    assert f"exercises take {minutes} and give {points} points" in sheet
    stated = re.search(r"takes about (\d+) minutes", sheet)[1]
    assert int(stated) % 5 == 0 and 20 < int(stated) < 120
    opening = pages.renewed(
        chapters()[4].path, book_homes(chapters())).cells[0].source
    assert (f"**Time** about {stated} minutes, and {minutes} more for the"
            " exercises.") in opening
    assert re.search(r"\| 04, 05 \(\d+\) \|",
                     again(LECTURES, LECTURES.read_text("utf-8")))


def test_an_exercise_without_a_goal_waits_for_one():
    """And the row of one that is gone is not lost."""
    page = SHEETS.read_text("utf-8")
    row = re.search(r"(?m)^\|.*\| 4\.2 \|.*\n", page)[0]
    changed = again(SHEETS, page.replace(row, row.replace("4.2", "4.9")))
    assert re.search(rf"(?m)^\| {re.escape(pages.WAITING)} \| 4\.2 \|", changed)
    assert row.replace("4.2", "4.9") in changed
