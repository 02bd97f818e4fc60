"""What the page for students promises: times, chapters, packages, answers."""

import ast
import re

from packaging.requirements import Requirement

from course.chapter import chapters
from course.paths import BOOK, ROOT

PAGE = (BOOK / "students.md").read_text("utf-8")

def required(name):
    lines = (ROOT / name).read_text("utf-8").splitlines()
    found = [Requirement(line.partition("#")[0]) for line in lines
             if re.match(r"\w", line)]
    return {each.name: each.specifier for each in found}


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
    numbers = re.findall(r"(?m)^(\d)\. ", asked)
    assert len(numbers) > 3
    assert numbers == re.findall(
        r"(?m)^(\d)\. ", answered.partition("</details>")[0])
    advice = answered.partition("| you missed |")[2].partition("\n\n")[0]
    named = re.findall(r"\d(?=,| or|\s\|)", "\n".join(
        row.split("|")[1] + "|" for row in advice.splitlines()[2:]))
    assert sorted(named) == numbers
