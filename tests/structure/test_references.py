"""Every paper that a page names stands in the bibliography, once."""

import re

import pytest

from course.paths import BOOK

NUMBER = re.compile(r"(?:arXiv:|arxiv\.org/abs/)(\d{4}\.\d{4,5})", re.I)
ENTRIES = (BOOK / "references.bib").read_text("utf-8")
LISTED = re.findall(r"eprint\s*=\s*[{\"](\d{4}\.\d{4,5})", ENTRIES)
PAGES = sorted([*BOOK.glob("*.ipynb"), *BOOK.glob("*.md")])


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_named_papers_are_listed(path):
    named = set(NUMBER.findall(path.read_text("utf-8")))
    assert named <= set(LISTED)


def test_listed_once():
    keys = re.findall(r"^@\w+\{([^,]+),", ENTRIES, re.MULTILINE)
    assert keys
    assert len(keys) == len({*keys}) and len(LISTED) == len({*LISTED})


def test_links_name_the_paper_that_they_open():
    """[arXiv:1607.06450](https://arxiv.org/abs/1607.06450), the same twice."""
    for path in PAGES:
        text = path.read_text("utf-8")
        for said, opened in re.findall(
                r"\[arXiv:([\d.]+)[^\]]*\]\(https://arxiv\.org/abs/([\d.]+)\)",
                text):
            assert said == opened, path.name
