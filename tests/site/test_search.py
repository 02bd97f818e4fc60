"""The search: what it knows of the book, and what a reader finds with it."""

import csv
import gzip
import re
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from docutils.core import publish_doctree

from course.chapter import chapters
from tests.site.browsing import (
    AXE,
    PAGES,
    TURNED,
    listening,
    load_axe,
    violations,
)
from tools.website import search, section_text

HERE = Path(__file__).parent
SCRIPT = "_static/search.js"
# Of the 40 terms; an opening may say a term before its section does.
PAGE_FIRST, SECTION_FIRST = 38, 36
SECTION = re.compile(r'<section[^>]* id="([^"]+)">')
PAGE = r"""
One
===

It says. And more: Rest here

::

  code = "silent"

\(A) a wrong choice

.. raw:: html

   <details><summary>Answer</summary>

folded

.. raw:: html

   </details>

open **bold** `ital`

- of a list

Two
---

**own** words
"""


def test_sections_say_their_prose_alone():
    env = SimpleNamespace(docname="page", metadata={"page": {}})
    section_text.keep(SimpleNamespace(env=env), publish_doctree(
        PAGE, settings_overrides={"doctitle_xform": False}))
    one, two = section_text.sections(env, "page")
    assert (one.anchor, one.title, one.bold) == ("one", "One", {"bold"})
    assert one.sentences == ["It says.", "And more:", "Rest here",
                             "open bold ital", "of a list"]
    assert (two.title, two.sentences, two.bold) == ("Two", ["own words"],
                                                    {"own"})


@pytest.mark.parametrize("tex, shown", [
    (r"d_\mathrm{model}", "d_model"), (r"\beta_t\le1", "β_t≤1"),
    (r"q\cdot k", "q·k"), (r"\ln (x)", "ln(x)"), (r"\max_i x", "max_i x"),
    (r"\begin{pmatrix}1\end{pmatrix}", "…"), ("a+" * 20 + "a", "…")])
def test_a_simple_formula_is_text(tex, shown):
    assert section_text.formula(tex) == shown


def section(anchor, title, *sentences, bold=()):
    return SimpleNamespace(anchor=anchor, title=title, bold=set(bold),
                           sentences=[*sentences])


def test_sentences_stay_that_say_something_first():
    own = [section("a", "Rare words", "common", "zebra common", "zebra again",
                   "the long name"),
           section("b", "Next", "zebra", "token", "token twice"),
           section("c", "Last", "token", "common"), section("d", "Empty")]
    kept = search.kept(own, {"zebra"}, {"token"}, {"a": ["long name"]})
    assert [*kept] == [["zebra common", "the long name"], ["zebra", "token"],
                       ["token"], []]


def test_the_index_has_every_section_and_what_it_explains():
    pages = [("book/01_one", "01. One", [
        section("a", "A: what?", "**x** is it"),
        section("b", "B", "an x", bold=["x"])])]
    terms = [SimpleNamespace(names=["x", "ex"], chapters=["01"])]
    assert search.index(pages, terms, 9) == {
        "names": [["x", "ex"]], "pages": [["book/01_one", "01. One", [
            ["a", "A: what?", [], "**x** is it"], ["b", "B", [0], "an x"]]]]}


@pytest.fixture(scope="module")
def finder(site, browser):
    """The search page, and what it finds: addresses, the best first."""
    tab = browser.new_page()
    tab.goto((site / "search.html").as_uri() + "?q=softmax")
    tab.locator("#search-results li").first.wait_for()
    tab.find = partial(tab.evaluate, "query => findSections(query).hits"
                                     ".map(hit => hit.section.url)")
    yield tab
    tab.close()


def test_search_ranks_the_section_that_explains_a_term_first(finder):
    with (HERE / "search_terms.csv").open(encoding="utf-8") as lines:
        rows = [*csv.DictReader(lines)]
    assert len({row["term"] for row in rows}) == len(rows) == 40
    first = {row["term"]: finder.find(row["term"])[:1] for row in rows}
    right = {row["term"]: f"book/{row['page']}.html#{row['section']}"
             for row in rows}
    wrong = {term: found for term, found in first.items()
             if found != [right[term]]}
    lost = {term: found for term, found in wrong.items()
            if [url.partition("#")[0] for url in found]
            != [right[term].partition("#")[0]]}
    assert len(rows) - len(wrong) >= SECTION_FIRST, wrong
    assert len(rows) - len(lost) >= PAGE_FIRST, lost


def test_search_knows_every_section_and_no_more(finder, site):
    known = finder.evaluate("""() => BOOK.pages.flatMap(([page, , own]) =>
        own.map(([anchor]) => `${page}.html#${anchor}`))""")
    assert len(set(known)) == len(known)
    assert set(known) == {
        f"{page}.html#{anchor}" for page in PAGES
        for anchor in SECTION.findall(
            (site / f"{page}.html").read_text("utf-8"))}


def test_search_finds_every_chapter_that_says_softmax(finder):
    def prose(chapter):
        return re.sub(r"(?s)<details>.*?</details>|- \([A-D]\)[^\n]*", "",
                      chapter.prose)

    found = " ".join(finder.find("softmax"))
    said = [chapter.name for chapter in chapters()
            if "softmax" in prose(chapter)]
    assert len(said) > 5
    assert not [stem for stem in said if stem not in found]


@pytest.mark.parametrize("typed, same", [
    ("Pre-Norm", "prenorm"), ("KV cache", "kvcache"),
    ("grouped-query attention", "GQA"), ("perplexity", "perplex")])
def test_search_folds_what_is_typed(finder, typed, same):
    assert finder.find(typed)[0] == finder.find(same)[0]


def test_search_folds_plurals(finder):
    assert finder.find("experts router") == finder.find("expert routers")


def test_search_is_small_and_the_only_one(site):
    assert len(gzip.compress((site / SCRIPT).read_bytes())) <= 100_000
    assert not (site / "searchindex.js").exists()
    for page in PAGES:
        assert "searchtools" not in (site / f"{page}.html").read_text("utf-8")


def test_search_by_keyboard(site, tab):
    asked = []
    with listening(tab, request=lambda request: asked.append(request.url)):
        tab.goto((site / "book/04_layer_normalization.html").as_uri())
        tab.wait_for_load_state("networkidle")
        assert not [url for url in asked if url.endswith(SCRIPT)]
        tab.keyboard.press("Control+k")
        tab.keyboard.type("loss scaling")
        links = tab.locator("#search-results a")
        links.first.wait_for()
        assert [url for url in asked if url.endswith(SCRIPT)]
    focused = "document.activeElement"
    tab.keyboard.press("ArrowDown")
    assert tab.evaluate(f"{focused}.textContent").startswith("Mixed precision")
    tab.keyboard.press("ArrowUp")
    assert tab.evaluate(f"{focused}.name") == "q"
    tab.keyboard.press("Escape")
    assert not tab.locator("#pst-search-dialog").is_visible()
    tab.keyboard.press("Control+k")
    tab.keyboard.press("Enter")                  # Escape has cleared the field
    tab.keyboard.type("loss scaling")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/book/02_sums_and_variances.html#mixed-precision-*")


def test_search_marks_the_hit_and_counts(finder):
    finder.fill(".bd-search-container input", "nucleus")
    results = finder.locator("#search-results")
    count = results.locator("li").count()
    assert results.locator("[role=status]").inner_text() == f"{count} sections"
    assert {*results.locator("mark").all_inner_texts()} == {"nucleus"}
    finder.fill(".bd-search-container input", "nothing like xyzzy")
    assert "No section says all of it" in results.inner_text()
    finder.fill(".bd-search-container input", "xyzzy")
    assert "Try one word of it" in results.inner_text()
    assert results.locator("a").all_inner_texts() == ["Glossary",
                                                      "Table of chapters"]


def test_everybody_can_search(finder):
    finder.fill(".bd-search-container input", "attention")
    load_axe(finder)
    for mode in ("light", "dark"):
        finder.emulate_media(color_scheme=mode)
        finder.wait_for_function(TURNED, arg=mode)
        assert not violations(finder, AXE)


def test_search_says_that_it_needs_a_script(site, browser):
    tab = browser.new_page(java_script_enabled=False)
    tab.goto((site / "search.html").as_uri())
    said = tab.locator("#main-content")
    assert "Search needs JavaScript" in said.inner_text()
    assert not said.locator("input").is_visible()
    for link in said.locator("noscript a").all():
        name, _, anchor = link.get_attribute("href").partition("#")
        assert (site / name).exists()
        html = (site / name).read_text("utf-8")
        assert not anchor or f'id="{anchor}"' in html
    tab.close()
