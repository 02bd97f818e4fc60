"""What a page adds to its notebook for a reader: folds, names and addresses.

A folded cell is called by its `# @title`; a check is one line, with a mark from
its stored output. The parts of a prediction have names: predictions.js makes
buttons of its choices. An exercise has an address, and shows its signature
above the folded solution. A check whose output is out of form is a warning.
"""

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

from course.prediction import END, MARK, RIGHT, WRONG

TITLE = re.compile(r"# @title (.*)")
EVIDENCE = "Check: ", "How we know: "
CHECK = re.compile(r"Check \d")
OK = re.compile(r"(?m)^ok: (\d+ comparisons?)\n*\Z")
EXERCISE = re.compile(r"\*\*Exercise (\d+)\.(\d+)\*\*")
NAMELESS = ' aria-label="Toggle hidden content"'     # instead of its words

logger = logging.getLogger(__name__)


def is_cell(node: nodes.Node) -> bool:
    """Is this a code cell of a notebook?"""
    return isinstance(node, nodes.container) and (
        node.get("nb_element") == "cell_code")


def source(cell: nodes.container) -> str:
    """The code of a cell."""
    return cell[0].astext()


def title(cell: nodes.container) -> str:
    """What stands behind `# @title` in a cell's first line, if anything."""
    line = TITLE.match(source(cell))
    return line[1] if line else ""


def fold(cell: nodes.container, mode: str, closed: str,
         opened: str = "") -> None:
    """Fold a cell's "input", or "all" of it, under these words."""
    cell.attributes.update(hide_mode=mode, prompt_show=closed,
                           prompt_hide=opened or closed)


def fold_evidence(cell: nodes.container) -> None:
    """Fold a check of the text; a table above its count stays in the open."""
    output = cell[-1].astext() if len(cell) > 1 else ""
    count = OK.search(output)
    if not count:
        logger.warning("%s: its output does not end in ok: N comparisons",
                       title(cell), location=cell)
        return
    fold(cell, "input" if output[:count.start()].strip() else "all",
         f"✓ {title(cell)} · {count[1]} passed when last run")


def show_signature(cell: nodes.container) -> None:
    """Above a folded solution: its def, and what its docstring begins with."""
    lines = source(cell).splitlines()
    function = next(node for node in ast.parse(source(cell)).body
                    if isinstance(node, ast.FunctionDef))
    purpose = ast.get_docstring(function).splitlines()[0]
    text = "\n".join([*lines[function.lineno - 1:function.body[0].lineno - 1],
                      f'    """{purpose}"""'])
    cell.parent.insert(cell.parent.index(cell), nodes.literal_block(
        text, text, language="python", classes=["signature"]))


def fold_cell(cell: nodes.container) -> None:
    """Write on a folded cell what it holds."""
    name = title(cell)
    if CHECK.match(name):
        # its "correct" is no reader's: nobody has answered yet
        fold(cell, "all", f"{name}, and what it says of the solution above")
    elif name.startswith(EVIDENCE):
        fold_evidence(cell)
    else:
        words = name[0].lower() + name[1:]
        fold(cell, cell["hide_mode"], f"Show: {words}", f"Hide: {words}")
        if name.startswith("Solution "):
            show_signature(cell)


def fold_cells(doctree: nodes.document) -> None:
    """Fold the first cell of Setup, and name all that is folded."""
    for cell in [*doctree.findall(is_cell)]:
        if cell.get("hide_mode"):
            fold_cell(cell)
    for section in doctree.findall(nodes.section):
        if section[0].astext() == "Setup":
            imports = next(section.findall(is_cell))
            fold(imports, "input", "Show: imports", "Hide: imports")


def markdown(block: nodes.Element) -> str:
    """A block's text, with ** around what is bold, as course.prediction reads.
    """
    return "".join(f"**{node.astext()}**" if isinstance(node, nodes.strong)
                   else node.astext() for node in block)


def name_prediction(paragraph: nodes.paragraph, number: str) -> None:
    """Give the parts of a prediction the names that predictions.js knows.

    They are in the form of course.prediction: tools/form.py refuses others.
    """
    def html(text: str) -> nodes.raw:
        return nodes.raw("", text, format="html")

    page = paragraph.parent
    place = page.index(paragraph)
    length = next(i for i, node in enumerate(page[place:])
                  if node.astext().strip() == END)
    _, choices, fold, *answer = page[place:place + length]
    name = f"predict-{number.replace('.', '-')}"
    paragraph["ids"].append(name)
    choices["classes"].append("choices")
    words, right = [], ""
    for block in answer:
        if begins := (WRONG if right else RIGHT).match(markdown(block)):
            right = right or begins[1]
            words += [html("</div>")] if words else []
            words.append(html(f'<div class="word" data-on="{begins[1]}">'))
        words.append(block)
    page[place:place + length + 1] = [
        html(f'<div class="predict" role="group" aria-labelledby="{name}"'
             f' data-number="{number}" data-right="{right}">'),
        paragraph, choices, fold, *words, html("</div></details></div>")]


def beginning(doctree: nodes.document,
              words: str) -> Iterator[tuple[nodes.paragraph, str]]:
    """The paragraphs that begin in these bold words, with their Markdown."""
    for paragraph in [*doctree.findall(nodes.paragraph)]:
        text = markdown(paragraph)
        if text.startswith(f"**{words} "):
            yield paragraph, text


def name_predictions(doctree: nodes.document) -> dict[str, int]:
    """Name all parts of all predictions; how many there are, by chapter."""
    numbers = []
    for paragraph, text in beginning(doctree, "Predict"):
        numbers.append(MARK.match(text)[1])
        name_prediction(paragraph, numbers[-1])
    return Counter(number.partition(".")[0] for number in numbers)


def link_exercises(doctree: nodes.document) -> None:
    """Give each exercise an address, and a link to itself."""
    for paragraph, text in beginning(doctree, "Exercise"):
        if number := EXERCISE.match(text):
            name = f"exercise-{number[1]}-{number[2]}"
            paragraph["ids"].append(name)
            paragraph["classes"].append("exercise")
            paragraph += nodes.reference(
                "", "#", refid=name, classes=["headerlink"],
                reftitle="Link to this exercise")


def read(app: Sphinx, doctree: nodes.document) -> None:
    fold_cells(doctree)
    link_exercises(doctree)
    app.env.metadata[app.env.docname]["predictions"] = name_predictions(doctree)


def write(app: Sphinx, page: str, template: str, context: dict[str, Any],
          doctree: nodes.document | None) -> None:
    """Tell each page how many predictions a chapter has, for its marks."""
    counts: dict[str, int] = {}
    for about in app.env.metadata.values():
        counts |= about.get("predictions", {})
    app.add_js_file("predictions.js", loading_method="defer",
                    **{"data-predictions": json.dumps(
                        dict(sorted(counts.items())))})
    if "body" in context:
        context["body"] = context["body"].replace(NAMELESS, "")


def setup(app: Sphinx) -> None:
    app.connect("doctree-read", read)
    app.connect("html-page-context", write)
