"""A table that lost its head, or a cell, is shown as a line of bars; a sentence
whose line begins with "1." is shown as a list.

A column without a name is one that a screen reader cannot announce.
"""

import re

import pytest

from course.chapter import chapters
from course.paths import BOOK, ROOT

RULE = re.compile(r"\|(\s*:?-+:?\s*\|)+")
TEXTS = {path.name: path.read_text("utf-8")
         for path in [*BOOK.glob("*.md"), ROOT / "README.md",
                      ROOT / "CONTRIBUTING.md"]}
TEXTS |= {chapter.name: chapter.prose for chapter in chapters()}


def tables(text):
    """Each run of lines that begin with a bar, as a list of rows of cells."""
    for run in re.findall(r"(?m)(?:^\|.*(?:\n|\Z))+", text):
        yield [re.split(r"(?<!\\)\|", line.strip())[1:-1]
               for line in run.splitlines()]


@pytest.mark.parametrize("name", TEXTS)
def test_every_table_has_a_head_and_full_rows(name):
    for rows in tables(TEXTS[name]):
        assert len(rows) > 2 and all(
            RULE.fullmatch(f"|{cell}|") for cell in rows[1]), rows[0]
        assert {len(row) for row in rows} == {len(rows[0])}, rows[0]
        assert all(cell.strip() for cell in rows[0]), rows[0]


def accidental_lists(text):
    """The lines within a paragraph that Markdown takes for a first item."""
    lines = re.sub(r"(?s)\$\$.*?\$\$|```.*?```", "", text).splitlines()
    return [line for before, line in zip(lines, lines[1:], strict=False)
            if re.match(r"(1[.)]|[-+*]) ", line)
            and re.match(r"[^\s\d|>#*+-]", before)
            and not before.rstrip().endswith(":")]


@pytest.mark.parametrize("name", TEXTS)
def test_no_sentence_becomes_a_list(name):
    assert accidental_lists(TEXTS[name]) == []


@pytest.mark.parametrize("text, wrong", [
    ("mean 0 and variance\n1. All texts", ["1. All texts"]),
    ("the sum, that is 2\n- 1 of them", ["- 1 of them"]),
    ("Three facts:\n1. one\n2. two", []),
    ("A paragraph.\n\n1. one\n   more of it\n2. two", []),
])
def test_a_list_by_accident_is_seen(text, wrong):
    assert accidental_lists(text) == wrong
