"""What the page for students promises: times, chapters, packages, answers."""

import ast
import re

import pytest
from packaging.requirements import Requirement

from course.chapter import chapters
from course.paths import BOOK, ROOT

PAGE = (BOOK / "students.md").read_text("utf-8")
OPENING = {chapter.number: chapter.cells[0].source
           for chapter in chapters()}
JOIN = {chapter: row for chapter, *row in re.findall(
    r"(?m)^\| \[(\d\d)\]\(.*?\), .*? \| (.*?) \| (\d+) \| (\d+) \|$", PAGE)}


def required(name):
    lines = (ROOT / name).read_text("utf-8").splitlines()
    found = [Requirement(line.partition("#")[0]) for line in lines
             if re.match(r"\w", line)]
    return {each.name: each.specifier for each in found}


def test_the_table_for_those_behind_is_read():
    assert len(JOIN) == PAGE.partition("To join at")[2].count("\n| [") == 5


@pytest.mark.parametrize("chapter", JOIN)
def test_a_way_back_is_what_a_chapter_needs(chapter):
    before, minutes, short = JOIN[chapter]
    needs = OPENING[chapter].partition("**You need**")[2]
    needed = sorted(set(re.findall(r"\((\d\d)_\w+\.ipynb", needs)))
    assert before.split(", ") == needed
    assert int(minutes) == sum(int(re.search(
        r"\*\*Time\*\*:? (\d+) minutes", OPENING[each])[1]) for each in needed)
    assert int(short) == 15 * len(needed)


def test_the_packages_are_those_of_the_notebooks():
    imported = {name.partition(".")[0] for chapter in chapters()
                for cell in chapter.code
                for node in ast.walk(ast.parse(cell.source))
                for name in (
                    [node.module] if isinstance(node, ast.ImportFrom) else
                    [alias.name for alias in node.names]
                    if isinstance(node, ast.Import) else [])}
    wanted = required("requirements-student.txt")
    ours = required("requirements.txt")
    assert {*ours} & imported == {*wanted} - {"jupyterlab"}
    for name in {*wanted} & {*ours}:
        [pinned] = ours[name]
        assert wanted[name].contains(pinned.version), name


def test_each_question_for_oneself_has_an_answer():
    asked, _, answered = PAGE.partition("## Do you")[2].partition("<details>")
    for text in asked, answered.partition("</details>")[0]:
        assert re.findall(r"(?m)^(\d)\. ", text) == [*"12345678"]
    advice = answered.partition("| you missed |")[2].partition("\n\n")[0]
    named = re.findall(r"\d(?=,| or|\s\|)", "\n".join(
        row.split("|")[1] + "|" for row in advice.splitlines()[2:]))
    assert sorted(named) == [*"12345678"]
