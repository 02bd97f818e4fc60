"""Every term that a chapter sets in bold has its line in the glossary."""

import re

import pytest
from chapters import BOOK, CHAPTERS, cells, each_chapter, notebook

STRUCTURE = re.compile(
    r"After this chapter you can|You will|You need|Time|Predict|\([A-D]\)|"
    r"Exercise \d+\.\d+|.*[.:?]")
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


def said(paths):
    """What the cells of notebooks say, in one line; not what they drew."""
    return " ".join(" ".join(cell.source for path in paths
                             for cell in notebook(path).cells).lower().split())


def missing(terms, prose):
    """The terms that no word of the prose begins with."""
    return [term for term in terms
            if not re.search(rf"(?<!\w){re.escape(term.lower())}", prose)]


def test_every_term_once_in_some_chapter():
    assert len({term.lower() for term in TERMS}) == len(TERMS)
    assert not missing(TERMS, said(CHAPTERS))


def test_a_missing_term_is_seen():
    prose = "the weights of a layer; flora"
    assert missing(["weight", "Layer", "LoRA"], prose) == ["LoRA"]
    assert "ivborw0kggo" not in said(CHAPTERS), "a picture, in base64"


@pytest.mark.parametrize("text, terms", [
    ("a **shape**, and `x**2` or $a**b$", ["shape"]),
    ("**two\nwords**", ["two words"]),
])
def test_bold_is_found(text, terms):
    assert bold(text) == terms
