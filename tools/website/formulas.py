"""Formulas as MathML, made while the book is built: a page needs no script.

pandoc reads the TeX. What it does not know of this book's TeX is said in its
words first (`\\cr`), or stands beside the formula (`\\tag`). What browsers do
not draw of its MathML is added: the spaces of TeX around ln and max.
"""

import json
import re
from collections.abc import Iterable
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pypandoc
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

TAG = re.compile(r"\s*\\tag\{([^{}]*)\}")
APPLY = "\u2061"                     # "function application", of no width
THIN = "0.167em"
SIGNS = "−", "+", "±"              # as the first of a row pandoc calls them mi
SCRIPTS = "msub", "msup", "msubsup", "munder", "mover", "munderover"
NAMES = "mi", "mn", "mrow", "msub", "msup", "msubsup", "msqrt", "mfrac"
# A formula and the punctuation at its sides stay on one line.
INLINE = re.compile(r'\(?<span class="math [^>]*><math>.*?</math></span>'
                    r"[-\u2010.,;:!?)’”]*", re.DOTALL)

Formula = tuple[str, bool]           # its TeX; is it a line of its own?

logger = logging.getLogger(__name__)


def is_function(element: Element) -> bool:
    """Is this ln, max, ..., with whatever stands below or above it?"""
    if element.tag in SCRIPTS:
        return is_function(element[0])
    return len(element) == 2 and element[1].text == APPLY


def join_letters(row: Element) -> None:
    """Letters set upright one by one become the one name that they are."""
    for first, second in zip([*row], [*row][1:], strict=False):
        if all(each.tag == "mi" and each.get("mathvariant") == "normal"
               and each.text.isalpha() for each in (first, second)):
            second.text = first.text + second.text
            row.remove(first)


def space_functions(row: Element) -> None:
    """Write `ln x` and `2 ln x`, but `ln(x)` and `-ln x`."""
    if is_function(row):
        return
    old = [*row]
    for before, this, after in zip([None, *old], old, [*old[1:], None],
                                   strict=False):
        if not is_function(this):
            continue
        if after is not None and (after.tag != "mo" or after.text in "|‖−√"):
            space = ElementTree.Element("mspace", width=THIN)
            row.insert([*row].index(this) + 1, space)
        if before is not None and before.tag in NAMES and (
                before.text not in SIGNS):
            space = ElementTree.Element("mspace", width=THIN)
            row.insert([*row].index(this), space)


def clean(html: str) -> str:
    """One formula of pandoc's as this book shows it."""
    math = ElementTree.fromstring(re.sub(' xmlns="[^"]*"', "", html, count=1))
    content = math[0][0]                     # without semantics, annotation
    math[:] = [content]
    if math.get("display") == "inline":
        del math.attrib["display"]
    for row in math.iter():
        join_letters(row)
        if row.tag in ("mrow", "mtd", "mstyle", "math"):
            space_functions(row)
    for each in math.iter():
        if each.text == "\u203e":            # the font's bar is this one
            each.text = "\u00af"
        each.attrib.pop("columnalign", None)           # stands in style, too
        if len(each.text or "") > 1 or each.tag == "mtext":
            each.attrib.pop("mathvariant", None)       # upright by itself
        style = each.attrib.pop("style", "")
        for side in ("left", "right"):
            if side in style:
                each.set("class", f"{side} at" if "padding" in style else side)
        # lines that are aligned at a sign are displayed, each of them
        if each.tag == "mtable" and "padding" in each[0][0].get("style", ""):
            each.set("displaystyle", "true")
    return ElementTree.tostring(math, encoding="unicode",
                                short_empty_elements=False)


def mathml(formulas: Iterable[Formula]) -> list[str | None]:
    """MathML of TeX formulas, in order; None for one that pandoc cannot read.
    """
    page = {"pandoc-api-version": [1, 23, 1], "meta": {}, "blocks": [
        {"t": "Para", "c": [{"t": "Math", "c": [
            {"t": "DisplayMath" if display else "InlineMath"},
            re.sub(r"\\cr(?![A-Za-z])", r"\\\\", tex)]}]}
        for tex, display in formulas]}
    html = pypandoc.convert_text(json.dumps(page), "html", format="json",
                                 extra_args=["--mathml", "--quiet"])
    return [clean(paragraph) if paragraph.startswith("<math") else None
            for paragraph in re.findall(r"<p>(.*?)</p>", html, re.DOTALL)]


def parts(node: nodes.Node) -> tuple[Formula, str | None]:
    """A node of mathematics as ((tex without its tag, display), tag)."""
    tex = node.astext()
    tag = TAG.search(tex)
    display = isinstance(node, nodes.math_block)
    return (TAG.sub("", tex).strip(), display), tag and tag[1]


class Formulas:
    """All formulas of the book, each one set once."""

    def __init__(self) -> None:
        self.set: dict[Formula, str | None] = {}

    def read(self, env: BuildEnvironment) -> None:
        """Set what the pages hold, in one call: pandoc is slow to start."""
        pages = {formula: name for name in sorted(env.found_docs)
                 for formula in env.metadata[name]["formulas"]}
        for formula, out in zip(pages, mathml(pages), strict=True):
            self.set[formula] = out
            if out is None:
                logger.warning("pandoc cannot read the formula %r", formula[0],
                               location=pages[formula])

    def write(self, translator: HTML5Translator, node: nodes.Node) -> None:
        """Write a formula, and its number beside it."""
        formula, tag = parts(node)
        if formula not in self.set:
            self.read(translator.builder.env)
        name = "div" if formula[1] else "span"
        # The theme makes such a container a stop of the Tab key if it scrolls.
        scrolls = " pst-scrollable-table-container" if formula[1] else ""
        number = f'<span class="eqno">({tag})</span>' if tag else ""
        translator.body.append(
            translator.starttag(node, name, "",
                                CLASS="math notranslate nohighlight" + scrolls)
            + (self.set[formula] or "") + number + f"</{name}>")
        raise nodes.SkipNode


def keep(app: Sphinx, doctree: nodes.document) -> None:
    """Keep the formulas of a page until all can be set."""
    app.env.metadata[app.env.docname]["formulas"] = [
        parts(node)[0] for node in doctree.findall(
            lambda node: isinstance(node, nodes.math | nodes.math_block))]


def keep_together(app: Sphinx, page: str, template: str,
                  context: dict[str, Any], doctree: nodes.document | None
                  ) -> None:
    """Let no line end between a formula and its punctuation."""
    if "body" in context:
        context["body"] = INLINE.sub(r'<span class="nowrap">\g<0></span>',
                                     context["body"])


def setup(app: Sphinx) -> None:
    formulas = Formulas()
    app.add_html_math_renderer("mathml", (formulas.write, None),
                               (formulas.write, None))
    app.connect("doctree-read", keep)
    app.connect("html-page-context", keep_together)
