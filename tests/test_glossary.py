"""Every term that a chapter sets in bold has its line in the glossary."""

import re

import pytest
from chapters import BOOK, cells, each_chapter

STRUCTURE = re.compile(
    r"You will|You need|Time|Predict|Exercise \d+\.\d+|.*[.:?]")
GLOSSARY = (BOOK / "glossary.md").read_text("utf-8")
TERMS = re.findall(r"^(\S.*)\n {2,}\S", GLOSSARY, re.MULTILINE)


def bold(text):
    """The bold phrases of a text, its code and formulas left out."""
    text = re.sub(r"(?s)```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$]*\$", "", text)
    found = re.findall(r"(?s)\*\*(.+?)\*\*", text)
    return [" ".join(phrase.split()) for phrase in found]


@each_chapter
def test_bold_terms_are_explained(path):
    known = {term.lower() for term in TERMS}
    terms = [phrase for cell in cells(path, "markdown")
             for phrase in bold(cell.source)
             if not STRUCTURE.fullmatch(phrase)]
    assert terms
    assert not [term for term in terms if term.lower() not in known]


def test_every_term_once_in_some_chapter():
    assert len({term.lower() for term in TERMS}) == len(TERMS)
    prose = "\n".join(path.read_text("utf-8").lower()
                      for path in BOOK.glob("*.ipynb"))
    words = " ".join(prose.replace("\\n\",", " ").replace('"', " ").split())
    assert not [term for term in TERMS if term.lower() not in words]


@pytest.mark.parametrize("text, terms", [
    ("a **shape**, and `x**2` or $a**b$", ["shape"]),
    ("**two\nwords**", ["two words"]),
])
def test_bold_is_found(text, terms):
    assert bold(text) == terms
