"""Every chapter is built alike, so that a reader always knows where to look.

tools/form.py counts the form of a chapter; test_form.py shows that each of its
counts can fail.
"""

import ast
import re

from course.chapter import TITLE, is_folded
from tests.support.book import each_chapter
from tools import form

TAGS = {"hide-input", "remove-cell", "nbval-ignore-output"}


@each_chapter
def test_form(chapter):
    assert not form.faults(chapter.cells, int(chapter.number))


@each_chapter
def test_folds_open_by_name(chapter):
    for cell in chapter.code:
        tags = set(cell.metadata.get("tags", []))
        assert tags <= TAGS, cell.id
        assert TITLE.match(cell.source) or not is_folded(cell), cell.id


@each_chapter
def test_nothing_but_its_check_uses_an_answer(chapter):
    """Else a student edition, whose answers are stubs, would stop there."""
    parts = "solution", "check", "grade"
    code = chapter.code
    answers = {node.name for cell in code if cell.id.startswith("solution-")
               for node in ast.parse(cell.source).body}
    for cell in code:
        if not cell.id.startswith(parts):
            names = {node.id for node in ast.walk(ast.parse(cell.source))
                     if isinstance(node, ast.Name)}
            assert not names & answers, cell.id


@each_chapter
def test_markdown_reads_well_outside_the_book(chapter):
    """Colab and GitHub show MyST directives and roles as raw text; MyST leaves
    out a line that begins with % (as in "36\n% faster")."""
    for cell in chapter.markdown:
        assert not re.search(r"(?m)^(:::|```)\{", cell.source), cell.id
        assert not re.search(r"\{[a-z:]+\}`", cell.source), cell.id
        assert not re.search(r"(?m)^\s*%", cell.source), cell.id
