"""What a page adds to its notebook for a reader: folds, names and addresses.

A check is one line, with a mark from its stored output. The parts of a
prediction have names: reading.js makes buttons of its choices. An exercise has
an address, and shows its signature above the folded solution. What is out of
form is a warning.
"""

import ast
import json
import re

from docutils import nodes
from sphinx.util import logging

TITLE = re.compile(r"# @title (.*)")
OK = re.compile(r"(?m)^ok: (\d+ comparisons?)\n*\Z")
PREDICT = re.compile(r"Predict ((\d+)\.\d+)\.$")
EXERCISE = re.compile(r"Exercise (\d+)\.(\d+)$")
CHOICE = re.compile(r"\(([A-D])\)\s")
RIGHT = re.compile(r"\(([A-D])\)$")
WRONG = re.compile(r"\(([A-D])\) If you chose \1, you\s")
ANSWER, END = "<details><summary>Answer</summary>", "</details>"
NAMELESS = ' aria-label="Toggle hidden content"'     # instead of what it says

logger = logging.getLogger(__name__)


def is_cell(node):
    return isinstance(node, nodes.container) and (
        node.get("nb_element") == "cell_code")


def source(cell):
    return cell[0].astext()


def title(cell):
    found = TITLE.match(source(cell))
    return found[1] if found else ""


def fold(cell, what, closed, opened=None):
    """Fold a cell's "input", or "all" of it, under words of our own."""
    cell.attributes.update(hide_mode=what, prompt_show=closed,
                           prompt_hide=opened or closed)


def fold_check(cell):
    """A table that a check prints above its count stays in the open."""
    said = cell[-1].astext() if len(cell) > 1 else ""
    count = OK.search(said)
    if not count:
        logger.warning("%s: its output does not end in ok: N comparisons",
                       title(cell), location=cell)
        return
    fold(cell, "input" if said[:count.start()].strip() else "all",
         f"✓ {title(cell)} · {count[1]} passed when last run")


def show_signature(cell):
    """Above a folded solution: its def, and what its docstring begins with."""
    lines = source(cell).splitlines()
    function = next((node for node in ast.parse(source(cell)).body
                     if isinstance(node, ast.FunctionDef)), None)
    purpose = function and ast.get_docstring(function)
    if not purpose:
        logger.warning("%s: no function with a docstring", title(cell),
                       location=cell)
        return
    text = "\n".join([*lines[function.lineno - 1:function.body[0].lineno - 1],
                      f'    """{purpose.splitlines()[0]}"""'])
    cell.parent.insert(cell.parent.index(cell), nodes.literal_block(
        text, text, language="python", classes=["signature"]))


def fold_cells(doctree):
    for section in doctree.findall(nodes.section):
        if section[0].astext() == "Setup":
            for imports in [*section.findall(is_cell)][:1]:
                fold(imports, "input", "Show: imports", "Hide: imports")
    for cell in [*doctree.findall(is_cell)]:
        name = title(cell)
        if name.startswith("Check: "):
            fold_check(cell)
        elif name.startswith("Solution "):
            show_signature(cell)
        elif name.startswith("Check "):
            # its "correct" is no reader's: nobody has answered yet
            fold(cell, "all", f"{name}, and what it says of the solution above")


def opening(paragraph, pattern):
    """What a paragraph's first words say, if they are bold and match."""
    first = next((node for node in paragraph if node.astext()), None)
    return pattern.match(first.astext()) if isinstance(
        first, nodes.strong) else None


def words(answer):
    """The blocks of an answer by the choice that they are on, right one first.

    A block that names no choice goes on with the one above it.
    """
    on = {}
    for block in answer:
        found = WRONG.match(block.astext()) if on else opening(block, RIGHT)
        if found and found[1] not in on:
            on[found[1]] = []
        if on:
            [*on.values()][-1].append(block)
    return on


def html(text):
    return nodes.raw("", text, format="html")


def read_prediction(paragraph):
    """Its list, its </details>, its words by choice; or None out of form."""
    after = paragraph.parent[paragraph.parent.index(paragraph) + 1:]
    tags = [node.astext().strip() if isinstance(node, nodes.raw) else ""
            for node in after]
    if tags[1:2] != [ANSWER] or END not in tags or not isinstance(
            after[0], nodes.bullet_list):
        return None
    end = tags.index(END)
    choices = [CHOICE.match(item.astext()) for item in after[0]]
    letters = "".join(choice[1] for choice in choices if choice)
    on = words(after[2:end])
    if letters not in ("ABC", "ABCD") or len(letters) < len(choices) or (
            sorted(on) != [*letters]):
        return None
    return after[0], after[end], on


def name_prediction(paragraph, number, choices, end, on):
    name = f"predict-{number.replace('.', '-')}"
    paragraph["ids"].append(name)
    choices["classes"].append("choices")

    def put(text, node, behind=False):
        parent = node.parent
        parent.insert(parent.index(node) + behind, html(text))

    put(f'<div class="predict" role="group" aria-labelledby="{name}"'
        f' data-number="{number}" data-right="{next(iter(on))}">', paragraph)
    for letter, blocks in on.items():
        put(f'<div class="word" data-on="{letter}">', blocks[0])
        put("</div>", blocks[-1], behind=True)
    put("</div>", end, behind=True)


def name_predictions(doctree):
    """Name all parts of all predictions; how many there are, by chapter."""
    counts = {}
    for paragraph in [*doctree.findall(nodes.paragraph)]:
        if not opening(paragraph, re.compile("Predict ")):
            continue
        number = opening(paragraph, PREDICT)
        found = number and read_prediction(paragraph)
        if not found:
            logger.warning("not in the grammar of predictions: %.40s",
                           paragraph.astext(), location=paragraph)
            continue
        name_prediction(paragraph, number[1], *found)
        counts[number[2]] = counts.get(number[2], 0) + 1
    return counts


def link_exercises(doctree):
    for paragraph in doctree.findall(nodes.paragraph):
        if number := opening(paragraph, EXERCISE):
            name = f"exercise-{number[1]}-{number[2]}"
            paragraph["ids"].append(name)
            paragraph["classes"].append("exercise")
            paragraph += nodes.reference(
                "", "#", refid=name, classes=["headerlink"],
                reftitle="Link to this exercise")


def read(app, doctree):
    fold_cells(doctree)
    link_exercises(doctree)
    app.env.metadata[app.env.docname]["predictions"] = name_predictions(doctree)


def write(app, page, template, context, doctree):
    """Tell each page how many predictions a chapter has, for its marks."""
    counts = {}
    for about in app.env.metadata.values():
        counts |= about.get("predictions", {})
    app.add_js_file("reading.js", loading_method="defer",
                    **{"data-predictions": json.dumps(counts)})
    if "body" in context:
        context["body"] = context["body"].replace(NAMELESS, "")


def setup(app):
    app.add_css_file("reading.css")
    app.connect("doctree-read", read)
    app.connect("html-page-context", write)
    return {"parallel_read_safe": True}
