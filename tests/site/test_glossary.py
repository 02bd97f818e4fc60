"""Every term that a chapter sets in bold has its line in the glossary.

And every line of the glossary names the chapter, of which a section says it.
"""

import re
from types import SimpleNamespace

import pytest

from course.chapter import chapters
from course.paths import BOOK
from tests.support.book import each_chapter
from tools.website import glossary

SECTION = re.compile(r'<section[^>]* id="([^"]+)">')
STRUCTURE = re.compile(
    r"After this chapter you can|You will|You need|Time|Predict|\([A-D]\)|"
    r"Exercise \d+\.\d+|.*[.:?]")
GLOSSARY = (BOOK / "glossary.md").read_text("utf-8")
# One name or more, the others below the first, and a definition.
ENTRIES = [(names.splitlines(), definition) for names, definition in re.findall(
    r"\n\n((?:[^\s:`].*\n)+)  (\S.*)", GLOSSARY)]
TERMS = [names[0] for names, _ in ENTRIES]


def bold(text):
    """The bold phrases of a text, its code and formulas left out."""
    text = re.sub(r"(?s)```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$]*\$", "", text)
    found = re.findall(r"(?s)\*\*(.+?)\*\*", text)
    return [" ".join(phrase.split()) for phrase in found]


@each_chapter
def test_bold_terms_are_explained(chapter):
    known = {term.lower() for term in TERMS}
    terms = [phrase for cell in chapter.markdown
             for phrase in bold(cell.source)
             if not STRUCTURE.fullmatch(phrase)]
    assert terms
    assert not [term for term in terms if term.lower() not in known]


def said(chapters):
    """What the cells of chapters say, in one line; not what they drew."""
    return " ".join(" ".join(cell.source for chapter in chapters
                             for cell in chapter.cells).lower().split())


def missing(terms, prose):
    """The terms that no word of the prose begins with."""
    return [term for term in terms
            if not re.search(rf"(?<!\w){re.escape(term.lower())}", prose)]


def test_every_term_once_in_some_chapter():
    assert len({term.lower() for term in TERMS}) == len(TERMS)
    assert not missing(TERMS, said(chapters()))


def test_a_missing_term_is_seen():
    prose = "the weights of a layer; flora"
    assert missing(["weight", "Layer", "LoRA"], prose) == ["LoRA"]
    assert "ivborw0kggo" not in said(chapters()), "a picture, in base64"


@pytest.mark.parametrize("text, terms", [
    ("a **shape**, and `x**2` or $a**b$", ["shape"]),
    ("**two\nwords**", ["two words"]),
])
def test_bold_is_found(text, terms):
    assert bold(text) == terms


def test_no_name_twice():
    names = [re.sub(r"\W", "", name.lower())
             for names, _ in ENTRIES for name in names]
    assert sorted(names) == sorted(set(names))


def test_the_section_that_explains_a_term():
    def section(title, text, *bold):
        return SimpleNamespace(title=title, sentences=[text], bold=[*bold])

    says = section("One", "the norm is here")
    title = section("Norm: what is it?", "said")
    bold = section("Two", "said", "Norm.")
    assert glossary.home(["norm"], [says, title, bold]) is bold
    assert glossary.home(["norm"], [says, title]) is title
    assert glossary.home(["gone", "norm"], [says]) is says
    assert glossary.home(["or"], [says]) is None


def test_every_entry_of_the_glossary_leads_to_a_section(site):
    html = (site / "book" / "glossary.html").read_text("utf-8")
    sections = {path.name: {*SECTION.findall(path.read_text("utf-8"))}
                for path in site.glob("book/[0-9]*.html")}
    definitions = re.findall("(?s)<dd>(.*?)</dd>", html)
    assert len(definitions) > 250
    for definition in definitions:
        links = re.findall('href="([^"#]+)#([^"]*)"', definition)
        assert links, definition
        assert all(anchor in sections[name] for name, anchor in links), links
        assert not re.search(r"chapters? \d\d(?!</a>)", definition)
