"""A table that lost its head, or a cell, is shown as a line of bars.

A column without a name is one that a screen reader cannot announce.
"""

import re

import pytest
from chapters import BOOK, ROOT, cells

RULE = re.compile(r"\|(\s*:?-+:?\s*\|)+")
TEXTS = {path.name: path.read_text("utf-8")
         for path in [*BOOK.glob("*.md"), ROOT / "README.md",
                      ROOT / "CONTRIBUTING.md"]}
TEXTS |= {path.stem: "\n\n".join(cell.source
                                 for cell in cells(path, "markdown"))
          for path in BOOK.glob("*.ipynb")}


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


def test_a_lost_head_is_seen():
    broken = "| a | b |\n|---|---|\n| 1 | 2 |\n\n| 3 | 4 |\n"
    whole, rest = tables(broken)
    assert len(whole) == 3 and len(rest) == 1
