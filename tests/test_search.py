"""What the search knows of the book: the parts that decide it, unbuilt.

What it finds, in the built site, is in test_site.
"""

import csv
import re
import sys
from types import SimpleNamespace

import pytest
from chapters import BOOK, ROOT
from docutils.core import publish_doctree
from test_links import slug
from test_toc import PAGES, text

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import finding
import sections

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
    sections.keep(SimpleNamespace(env=env), publish_doctree(
        PAGE, settings_overrides={"doctitle_xform": False}))
    one, two = sections.sections(env, "page")
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
    assert sections.formula(tex) == shown


def section(anchor, title, *sentences, bold=()):
    return SimpleNamespace(anchor=anchor, title=title, bold=set(bold),
                           sentences=[*sentences])


def test_sentences_stay_that_say_something_first():
    own = [section("a", "Rare words", "common", "zebra common", "zebra again",
                   "the long name"),
           section("b", "Next", "zebra", "token", "token twice"),
           section("c", "Last", "token", "common"), section("d", "Empty")]
    kept = finding.kept(own, {"zebra"}, {"token"}, {"a": ["long name"]})
    assert [*kept] == [["zebra common", "the long name"], ["zebra", "token"],
                       ["token"], []]


def test_the_index_has_every_section_and_what_it_explains():
    pages = [("book/01_one", "01. One", [
        section("a", "A: what?", "**x** is it"),
        section("b", "B", "an x", bold=["x"])])]
    terms = [SimpleNamespace(names=["x", "ex"], chapters=["01"])]
    assert finding.index(pages, terms, 9) == {
        "names": [["x", "ex"]], "pages": [["book/01_one", "01. One", [
            ["a", "A: what?", [], "**x** is it"], ["b", "B", [0], "an x"]]]]}


def test_the_terms_to_find_are_forty_and_lead_to_headings():
    rows = [*csv.DictReader((ROOT / "tests/search_terms.csv").open())]
    assert len({row["term"] for row in rows}) == len(rows) == 40
    headings = {path.stem: {
        re.sub("-+", "-", slug(title.replace("/", " "))).strip("-")
        for title in re.findall("(?m)^#+ (.*)$", text(path))}
        for path in PAGES if path.parent == BOOK}
    assert not [row for row in rows
                if row["section"] not in headings[row["page"]]]
