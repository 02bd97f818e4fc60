"""Explorables: behind a figure, the same idea for a reader to move.

EXPLORABLES says which figure is continued, by which script of
_static/explorables, and with which numbers: they are those that the page's own
code gives. Without scripts, on paper and in Colab the figure stays alone.
"""

import ast
import json
import math
from html import escape
from typing import Any, NamedTuple

import nbformat
import numpy as np
from docutils import nodes
from nbformat import NotebookNode
from sphinx.application import Sphinx

from tools.website.notebook_cells import is_cell


class Explorable(NamedTuple):
    script: str
    figure: str             # the id of the cell whose figure it continues
    title: str
    attempt: str            # what to try
    outcome: str            # what one sees then
    numbers: tuple[tuple[str, str], ...] = ()   # id of a cell, what it assigns
    behind: str = ""        # a later cell, where a prediction comes before


EXPLORABLES = {
    "book/01_numerical_instability": [Explorable(
        "bits", "ticks-figure", "The bits of a number, and its neighbors",
        "switch single bits, or count up with the code. Then choose e4m3, and "
        "set the bits of E and M to 1.",
        "each step of the exponent field doubles the distance to the next "
        "number. Subnormal numbers, with E = 0, are as far apart as those "
        "with E = 1. All ones are a NaN in e4m3, and one code less is 448, its "
        "largest number.")],
    "book/04_layer_normalization": [Explorable(
        "plane", "plane-figure", "A token of width 3, standardized",
        "drag the token in both views, or move offset and factor. Make the "
        "factor negative, then 0.",
        "along its ray and at any height the token has the same output. A "
        "negative factor gives the opposite point of the circle; at 0 the "
        "token is constant and has no output.",
        (("plane-figure", "across"), ("plane-figure", "x_hat")))],
    "book/08_attention": [Explorable(
        "triangle", "triangle", "A query, three keys, and the answer",
        "turn the query from her to he (90°). Set the factor to 0, then to "
        "20, and turn again.",
        "the answer stays inside the triangle of the values. At 0 it is in "
        "the middle. At 20 it is nearly in a corner, and jumps to the next "
        "one where two scores tie.",
        (("soft-code", "K"), ("soft-code", "V"), ("soft-code", "her")))],
    "book/10_positions": [Explorable(
        "rotation", "rope-figure", "One clock, for she and both women",
        "let the story begin later. Then exchange the women. Last, put words "
        "between the sentences.",
        "wherever the story begins, all three hands move on together, and the "
        "scores with RoPE stay; those with the clock added change. After the "
        "exchange the gray hand lies on Anna. With words between, it leaves "
        "both: one hand alone knows no \"nearer\".",
        (("rope-run", "q"), ("rope-run", "k")))],
    "book/15_generation_and_caches": [Explorable(
        "sampling", "sample-figure", "Temperature, top-k and top-p",
        "raise the temperature from 0.5 to 2 after *Anna gave*, then do the "
        "same at the other two places.",
        "top-k keeps the same number of words, and top-p keeps more and more "
        "of them. Eva stays alone for longest.",
        (("sample-figure", "coin"), ("sample-figure", "either"),
         ("sample-figure", "sure")), behind="sample-check")],
    "book/22_does_it_pay": [Explorable(
        "kitchen", "programs-figure", "Four programs, by calls and trips",
        "with one token, set the microseconds per call to 0 and to 10. Then "
        "go to 4096 tokens, and make the matrix narrow and wide.",
        "for one token, calls are nearly all that differs. For many tokens, "
        "the trips are, and the wider the matrix, the less they count. "
        "Deferring shortens the last bar by one trip.",
        (("programs", "programs"),))],
}


def assignments(body: list[ast.stmt], name: str) -> list[ast.stmt]:
    """The statements that assign `name`, and what they need, in order."""
    needed, statements = {name}, []
    for statement in reversed(body):
        if isinstance(statement, ast.Assign):
            names = [node for node in ast.walk(statement)
                     if isinstance(node, ast.Name)]
            if needed & {node.id for node in names
                         if isinstance(node.ctx, ast.Store)}:
                needed |= {node.id for node in names}
                statements.insert(0, statement)
    return statements


def evaluate(notebook: NotebookNode, cell: str, name: str) -> list | float:
    """What a cell assigns to a name; runs that, and the page's functions."""
    code = {each.id: ast.parse(each.source).body for each in notebook.cells
            if each.cell_type == "code"}
    functions = [node for body in code.values() for node in body
                 if isinstance(node, ast.FunctionDef)
                 and not node.decorator_list]       # these need torch
    scope = {"math": math, "np": np}
    exec(compile(ast.Module(functions + assignments(code[cell], name), []),
                 cell, "exec"), scope)
    return np.asarray(scope[name]).tolist()


def prose(text: str) -> str:
    """No line ends within `E = 0`."""
    return escape(text).replace(" = ", "&nbsp;=&nbsp;")


def markup(explorable: Explorable, notebook: NotebookNode) -> str:
    """Hidden, until its script has built it."""
    numbers = {name: evaluate(notebook, cell, name)
               for cell, name in explorable.numbers}
    name = f"explore-{explorable.script}"
    return (f'<div class="explorable" role="group" aria-labelledby="{name}"'
            f' data-script="{explorable.script}"'
            f' data-numbers="{escape(json.dumps(numbers))}" hidden>\n'
            f'<p class="title" id="{name}">{escape(explorable.title)}</p>\n'
            f"<p><strong>Try:</strong> {prose(explorable.attempt)}</p>\n"
            f"<p><strong>See:</strong> {prose(explorable.outcome)}</p>\n</div>")


def place(app: Sphinx, doctree: nodes.document) -> None:
    """Put each explorable of a page behind its figure, or stop the build."""
    page = app.env.docname
    if page not in EXPLORABLES:
        return
    app.env.note_dependency(__file__)          # what it says is on the page
    notebook = nbformat.read(app.env.doc2path(page), as_version=4)
    shown = {notebook.cells[node["cell_index"]].id: node
             for node in doctree.findall(is_cell)}
    for explorable in EXPLORABLES[page]:
        cell = shown[explorable.behind or explorable.figure]
        cell.parent.insert(cell.parent.index(cell) + 1, nodes.raw(
            "", markup(explorable, notebook), format="html"))


def load(app: Sphinx, page: str, template: str, context: dict[str, Any],
         doctree: nodes.document | None) -> None:
    """Load scripts and styles on pages that have something to move."""
    if page not in EXPLORABLES:
        return
    app.add_css_file("explorables.css")
    for script in ["shared", *(each.script for each in EXPLORABLES[page])]:
        app.add_js_file(f"explorables/{script}.js", loading_method="defer")


def setup(app: Sphinx) -> None:
    app.connect("doctree-read", place)
    app.connect("html-page-context", load)
