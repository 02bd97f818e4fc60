"""Every chapter is built alike, so that a reader always knows where to look.

tests/form.py counts the second form of a chapter; tests/test_form.py shows
that each of its counts can fail. Chapters of the first form stand in a list.
"""

import ast
import re

import form
import pytest
from chapters import CHAPTERS, cells, each_chapter, notebook
from test_glossary import TERMS

TAGS = {"hide-input", "remove-cell", "nbval-ignore-output"}
LAST = ["## Pitfalls", "## Exercises", "## Summary", "## References"]
FIRST_FORM = {                          # only shrinks
    "16", "18"}


def those(chapters):
    return pytest.mark.parametrize(
        "path", chapters, ids=[path.stem for path in chapters])


first_form = those([path for path in CHAPTERS if path.name[:2] in FIRST_FORM])
second_form = those([path for path in CHAPTERS
                     if path.name[:2] not in FIRST_FORM])


@second_form
def test_second_form(path):
    number = int(path.name[:2])
    assert not form.faults(notebook(path).cells, number, TERMS)


@first_form
def test_the_list_of_the_first_form_only_shrinks(path):
    number = int(path.name[:2])
    assert form.faults(notebook(path).cells, number, TERMS), (
        "it has the second form: take it off the list")


@first_form
def test_sections(path):
    prose = [cell.source for cell in cells(path, "markdown")]
    headings = re.findall(r"^#+ .*", "\n".join(prose), re.MULTILINE)
    assert [h for h in headings if h.startswith("# ")] == headings[:1]
    sections = [h for h in headings if h.startswith("## ")]
    assert headings[1] == "## Setup" and len(sections) >= 7
    assert sections[-4:] == LAST
    assert not [h for h in headings if h.startswith("####")]


@first_form
def test_opening(path):
    question, _, promise = cells(path, "markdown")[0].source.partition(
        "**You will**")
    assert re.search(r"\d", question), "the failure has a number"
    assert "**You need**" in promise
    assert re.search(r"\*\*Time\*\* \d+ minutes", promise)


@first_form
def test_every_claim_is_checked(path):
    """A section between Setup and Exercises asserts, or prints what it says."""
    title, checked = None, {}
    for cell in notebook(path).cells:
        if cell.cell_type == "markdown":
            for heading in re.findall(r"^## (.*)", cell.source, re.MULTILINE):
                title, checked[heading] = heading, False
        elif title:
            checked[title] |= any(isinstance(node, ast.Assert) for node
                                  in ast.walk(ast.parse(cell.source)))
    bare = {"Setup", "Exercises", "Summary", "References"}
    assert not [t for t, has in checked.items() if not has and t not in bare]


@first_form
def test_summary_is_short(path):
    prose = "\n".join(cell.source for cell in cells(path, "markdown"))
    summary = re.search(r"(?s)## Summary\n(.*?)## References", prose)[1]
    assert 3 <= len(re.findall(r"^- ", summary, re.MULTILINE)) <= 5


@each_chapter
def test_folds_open_by_name(path):
    for cell in cells(path, "code"):
        tags = set(cell.metadata.get("tags", []))
        assert tags <= TAGS, cell.id
        if "hide-input" in tags:
            names = cell.metadata.get("mystnb", {})
            assert {"code_prompt_show", "code_prompt_hide"} <= set(names)


@each_chapter
def test_nothing_but_its_check_uses_an_answer(path):
    """Else a student edition, whose answers are stubs, would stop there."""
    parts = "solution", "check", "grade"
    code = cells(path, "code")
    answers = {node.name for cell in code if cell.id.startswith("solution-")
               for node in ast.parse(cell.source).body}
    for cell in code:
        if not cell.id.startswith(parts):
            names = {node.id for node in ast.walk(ast.parse(cell.source))
                     if isinstance(node, ast.Name)}
            assert not names & answers, cell.id


@each_chapter
def test_markdown_reads_well_outside_the_book(path):
    """Colab and GitHub show MyST directives and roles as raw text."""
    for cell in cells(path, "markdown"):
        assert not re.search(r"(?m)^(:::|```)\{", cell.source), cell.id
        assert not re.search(r"\{[a-z:]+\}`", cell.source), cell.id


@each_chapter
def test_no_line_of_text_is_lost(path):
    """MyST leaves out a line that begins with % (as in "36\n% faster")."""
    for cell in cells(path, "markdown"):
        assert not re.search(r"(?m)^\s*%", cell.source), cell.id
