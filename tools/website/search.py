"""Search by section, without a server: one script, loaded at first use.

The script is search.js behind the sections of the book as data: their titles,
the terms of the glossary that they explain, sentences by which one looks for
them, and their other words. Sphinx's own index, which knows pages only, is not
written.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from tools.website.glossary import GLOSSARY, Entry, entries, home, numbered
from tools.website.section_text import Section, line, sections

# A word that more sections say tells none of them; a test holds the script,
# as a server sends it, to 120 kB: where it is larger, make this smaller.
LIMIT = 25
SCRIPT = "_static/search.js"
Pages = list[tuple[str, str, list[Section]]]           # name, title, sections
WORD = re.compile(r"[^\W\d_]{3,}")
LOADER = f"""addEventListener("focusin", function load(event) {{
  if (!event.target.closest("form.bd-search")) return
  removeEventListener("focusin", load)
  const script = document.createElement("script")
  script.src = document.documentElement.dataset.content_root + "{SCRIPT}"
  document.head.append(script) }})"""


@cache
def words(text: str) -> frozenset[str]:
    """The words of a text, in small letters."""
    return frozenset(WORD.findall(text.lower()))


def kept(own: list[Section], rare: set[str], terms: set[str],
         names: dict[str, list[str]]) -> Iterator[list[str]]:
    """For each section of a page the sentences that a reader can find.

    They are the first to say a word that no other section says, or a name of
    what their section explains, and the first of their page to say a term.
    """
    page = frozenset()
    for section in own:
        known, sentences = words(section.title), []
        page |= known
        explained = set(names.get(section.anchor, ()))
        for sentence in section.sentences:
            here = words(sentence)
            named = {name for name in explained if name in sentence.lower()}
            if named or here & rare - known or here & terms - page:
                sentences.append(sentence)
                explained -= named
                known |= here
                page |= here
        yield sentences or section.sentences[:1]


def explained(terms: list[Entry], pages: Pages
              ) -> dict[str, dict[str, list[int]]]:
    """Which terms a section explains: {page: {anchor: [place in terms]}}."""
    own = {page: sections for page, _, sections in pages}
    chapters = numbered(own)
    places = {page: {} for page in own}
    for place, term in enumerate(terms):
        for number in term.chapters:
            page = chapters[number]
            if section := home(term.names, own[page]):
                places[page].setdefault(section.anchor, []).append(place)
    return places


def index(pages: Pages, terms: list[Entry]) -> dict[str, Any]:
    """The book as search.js reads it.

    A word that more than LIMIT sections say is found in the titles, in the
    terms and in the sentences that are kept for other words.
    """
    spread = Counter(word for _, _, own in pages for section in own
                     for word in words(" ".join(section.sentences)))
    rare = {word for word, times in spread.items() if times == 1}
    common = {word for word, times in spread.items() if times > LIMIT}
    single = {name.lower() for term in terms for name in term.names}
    homes = explained(terms, pages)

    def compact(page: str, own: list[Section]) -> list[list]:
        names = {anchor: [terms[place].names[0].lower() for place in places]
                 for anchor, places in homes[page].items()}
        texts = map("\n".join, kept(own, rare, single, names))
        return [[section.anchor, section.title,
                 homes[page].get(section.anchor, []), text,
                 " ".join(sorted(words(" ".join(section.sentences)) - common
                                 - words(section.title) - words(text)))]
                for section, text in zip(own, texts, strict=True)]

    return {"names": [term.names for term in terms],
            "pages": [[page, title, compact(page, own)]
                      for page, title, own in pages]}


def script(env: BuildEnvironment) -> str:
    """The search, behind its index."""
    root = env.config.root_doc
    pages = [(page, line(env.titles[page]), sections(env, page))
             for page in (root, *env.toctree_includes[root])]
    terms = [*entries(env.get_doctree(GLOSSARY))]
    book = json.dumps(index(pages, terms), ensure_ascii=False,
                      separators=(",", ":"))
    code = Path(__file__).with_name("search.js").read_text("utf-8")
    return f"const BOOK = {book}\n{code}"


def turn_off(app: Sphinx) -> None:
    """Sphinx writes no index, and no page for its search."""
    if app.builder.format == "html":
        app.builder.search = False


def write(app: Sphinx) -> Iterator[tuple[str, dict, str]]:
    """Write the search, and the page that finds what its address asks for."""
    if app.builder.format == "html":
        Path(app.outdir, SCRIPT).write_text(script(app.env), "utf-8")
        yield "search", {"title": "Search"}, "search.html"


def load(app: Sphinx, page: str, template: str, context: dict[str, Any],
         doctree: nodes.document | None) -> None:
    """Load the search where one searches, elsewhere when somebody begins."""
    if page == "search":
        app.add_js_file("search.js", loading_method="defer")
    else:
        app.add_js_file(None, body=LOADER, id="search")


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", turn_off)
    app.connect("html-collect-pages", write)
    app.connect("html-page-context", load)
