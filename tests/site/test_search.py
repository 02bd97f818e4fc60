"""The search: what a reader finds with it, in the built book."""

import csv
import gzip
import re
from functools import partial
from pathlib import Path

import pytest

from tests.site.browsing import PAGES, load_axe, violations

HERE = Path(__file__).parent
SCRIPT = "_static/search.js"
# Of the terms; an opening may say a term before its section does.
PAGE_FIRST, SECTION_FIRST = 50, 46
SECTION = re.compile(r'<section[^>]* id="([^"]+)">')


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
    assert len({row["term"] for row in rows}) == len(rows) >= 40
    first = {row["term"]: finder.find(row["term"])[0] for row in rows}
    pages = {row["term"]: f"book/{row['page']}.html" for row in rows}
    right = {row["term"]: f"{pages[row['term']]}#{row['section']}"
             for row in rows}
    wrong = {term: url for term, url in first.items() if url != right[term]}
    lost = [term for term, url in wrong.items()
            if url.partition("#")[0] != pages[term]]
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


@pytest.mark.parametrize("typed, same", [
    ("Pre-Norm", "prenorm"), ("KV cache", "kvcache"),
    ("grouped-query attention", "GQA"), ("perplexity", "perplex"),
    ("experts router", "expert routers"),
    ("how is the loss scaled?", "loss scaling"),
    ("causal mask xyzzy", "causal mask")])
def test_search_folds_what_is_typed(finder, typed, same):
    assert finder.find(typed)[0] == finder.find(same)[0]


def test_search_is_small_the_only_one_and_tells_no_answers(site):
    script = (site / SCRIPT).read_bytes()
    assert len(gzip.compress(script)) <= 120_000
    assert not re.search(rb'If you chose|[n"]\(A\) ', script)
    assert not (site / "searchindex.js").exists()


def test_search_by_keyboard(visitor):
    tab = visitor("book/04_layer_normalization")
    loaded = tab.locator(f'script[src$="{SCRIPT}"]')
    assert not loaded.count()
    tab.keyboard.press("Control+k")
    tab.keyboard.type("loss scaling")
    tab.locator("#search-results a").first.wait_for()
    assert loaded.count() == 1
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
    assert results.locator("[role=status]").inner_text() == (
        f"{count} section" + "s" * (count > 1))
    assert {*results.locator("mark").all_inner_texts()} == {"nucleus"}
    finder.fill(".bd-search-container input", "nothing like xyzzy")
    assert "No section says all of it" in results.inner_text()
    finder.fill(".bd-search-container input", "xyzzy")
    assert "Try one word of it" in results.inner_text()
    assert results.locator("a").all_inner_texts() == ["Glossary",
                                                      "Table of chapters"]


def test_an_excerpt_without_a_hit_begins_at_its_beginning(finder):
    unmarked = []
    for asked in ("parameters of attention", "BERT", "load balancing loss"):
        finder.fill(".bd-search-container input", asked)
        unmarked += finder.locator(
            "#search-results li p:not(:has(mark))").all_inner_texts()
    assert unmarked
    assert not [text for text in unmarked if text.startswith("… ")]


def test_everybody_can_search(finder):
    finder.fill(".bd-search-container input", "attention")
    load_axe(finder)
    assert not violations(finder)


def test_search_says_that_it_needs_a_script(visitor):
    tab = visitor("search", java_script_enabled=False)
    said = tab.locator("#main-content")
    assert "Search needs JavaScript" in said.inner_text()
    assert not said.locator("input").is_visible()
    assert said.locator("noscript a").count() == 2
