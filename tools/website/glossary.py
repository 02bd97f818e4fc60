"""Each "chapter 04" in the glossary leads to the section that says the term.

That is the section of the chapter that sets the term in bold, or has it as its
title, or says it first. The build warns of a term that no section says.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from tools.website.section_text import Section, line, sections

GLOSSARY = "book/glossary"
CHAPTER = re.compile(r"chapter (\d\d)")

logger = logging.getLogger(__name__)


class Entry(NamedTuple):
    """A term: its names, and the chapters that its definition names."""

    names: list[str]
    definition: nodes.Element
    chapters: list[str]


def entries(page: nodes.document) -> Iterator[Entry]:
    """The entries of the glossary."""
    for glossary in page.findall(addnodes.glossary):
        for item in glossary.findall(nodes.definition_list_item):
            *terms, definition = item.children
            yield Entry([line(term) for term in terms], definition,
                        CHAPTER.findall(definition.astext()))


def home(names: Iterable[str], chapter: Iterable[Section]) -> Section | None:
    """The section of a chapter that says what a term is, or None."""
    names = [name.lower() for name in names]
    begins = re.compile("|".join(rf"(?<!\w){re.escape(name)}"
                                 for name in names))

    says = (
        lambda it: any(bold.rstrip(".:").lower() in names for bold in it.bold),
        lambda it: begins.match(it.title.lower()),
        lambda it: any(map(begins.search, map(str.lower, it.sentences))))
    return next((section for way in says for section in chapter
                 if way(section)), None)


def numbered(pages: Iterable[str]) -> dict[str, str]:
    """The page of each chapter by its number: "04"."""
    return {page[5:7]: page for page in pages
            if re.match(r"book/\d\d_", page)}


def link(app: Sphinx, page: nodes.document, name: str) -> None:
    """Make links of the chapters that the glossary names."""
    if name != GLOSSARY:
        return
    pages = numbered(app.env.found_docs)
    chapters = {number: sections(app.env, page)
                for number, page in pages.items()}
    for entry in entries(page):
        for text in [*entry.definition.findall(nodes.Text)]:
            parts = CHAPTER.split(text)
            new = [nodes.Text(parts[0])]
            for number, after in zip(parts[1::2], parts[2::2], strict=True):
                new += [reference(app, entry, number, pages, chapters),
                        nodes.Text(after)]
            text.parent.replace(text, new)


def reference(app: Sphinx, entry: Entry, number: str, pages: dict[str, str],
              chapters: dict[str, list[Section]]) -> nodes.Node:
    """The words "chapter 04", leading to where that chapter says the term."""
    words = f"chapter {number}"
    section = home(entry.names, chapters.get(number, ()))
    if section is None:
        logger.warning("glossary: no section of %s says %r", words,
                       entry.names[0], location=GLOSSARY)
        return nodes.Text(words)
    uri = app.builder.get_relative_uri(GLOSSARY, pages[number])
    return nodes.reference(words, words, internal=True,
                           refuri=f"{uri}#{section.anchor}",
                           reftitle=section.title)


def again(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Write the glossary anew: a section that it leads to may have changed."""
    return [GLOSSARY]


def setup(app: Sphinx) -> None:
    app.connect("env-updated", again)
    app.connect("doctree-resolved", link)
