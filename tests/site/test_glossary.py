"""Every term that a chapter sets in bold has its line in the glossary.

And every line leads to the sections that say it: the build warns of others.
"""

import re

from course.paths import BOOK
from tests.support.book import each_chapter

SECTION = re.compile(r'<section[^>]* id="([^"]+)">')
STRUCTURE = re.compile(
    r"After this chapter you can|You will|You need|Time|Predict|\([A-D]\)|"
    r"Exercise \d+\.\d+|.*[.:?]")
# One name or more, the others below the first, and a definition.
TERMS = {names.splitlines()[0].lower() for names in re.findall(
    r"\n\n((?:[^\s:`].*\n)+)  \S", (BOOK / "glossary.md").read_text("utf-8"))}


@each_chapter
def test_bold_terms_are_explained(chapter):
    text = re.sub(r"(?s)```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$]*\$", "",
                  chapter.prose)
    bold = [" ".join(phrase.split())
            for phrase in re.findall(r"(?s)\*\*(.+?)\*\*", text)]
    terms = [phrase for phrase in bold if not STRUCTURE.fullmatch(phrase)]
    assert terms
    assert not [term for term in terms if term.lower() not in TERMS]


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
