"""Numbers and titles in the pages are the chapters', written by a tool."""

import copy
import re

from course.chapter import chapters
from course.sheets import LECTURES, SHEETS
from tools.refresh import pages
from tools.refresh.cells import book_homes


def again(path, text):
    return pages.PAGES[path](text, chapters())


def test_a_second_refresh_changes_nothing():
    for path in pages.PAGES:
        once = again(path, path.read_text("utf-8"))
        assert again(path, once) == once, path.name


def test_numbers_that_differ_are_written_anew():
    for path in pages.PAGES:
        right = again(path, path.read_text("utf-8"))
        wrong = re.sub(r"(?m)\| \d+ \|$", "| 997 |", right)
        wrong = wrong.replace("about 55 minutes", "about 998 minutes")
        if path != pages.FRONT:
            assert wrong != right
        assert again(path, wrong) == right, path.name


def test_a_chapter_is_counted_as_by_hand():
    """Chapter 04: a sum of the captions, and the words of each kind."""
    four = chapters()[4]
    captions = re.findall(
        r"\*\*Exercise 4\.\d\*\* \(\w+; (\d+) minutes.*?(\d) points?\)",
        four.prose)
    minutes, points = (sum(map(int, column)) for column in zip(*captions,
                                                              strict=True))
    page = again(SHEETS, SHEETS.read_text("utf-8"))
    sheet = page.partition("## 04.")[2].partition("## 05.")[0]
    assert f"exercises take {minutes} and give {points} points" in sheet
    stated = int(re.search(r"takes about (\d+) minutes", sheet)[1])
    assert stated % 5 == 0 and 20 < stated < 120
    week = again(LECTURES, LECTURES.read_text("utf-8"))
    assert re.search(r"\| 04, 05 \(\d+\) \|", week)


def test_an_exercise_without_a_goal_waits_for_one():
    """And the row of one that is gone is not lost."""
    page = SHEETS.read_text("utf-8")
    row = re.search(r"(?m)^\|.*\| 4\.2 \|.*\n", page)[0]
    changed = again(SHEETS, page.replace(row, row.replace("4.2", "4.9")))
    assert re.search(rf"(?m)^\| {re.escape(pages.WAITING)} \| 4\.2 \|", changed)
    assert row.replace("4.2", "4.9") in changed


def test_an_opening_says_its_minutes():
    path = chapters()[4].path
    fresh = pages.renewed(path, book_homes(chapters()))
    line = pages.TIME.search(fresh.cells[0].source)[0]
    assert re.fullmatch(r"\*\*Time\*\* about \d+ minutes, and 50 more for the"
                        r" exercises\.", line)
    other = copy.deepcopy(fresh.cells[0].source).replace(line, "**Time** 3.")
    assert pages.TIME.sub(line, other) == fresh.cells[0].source
