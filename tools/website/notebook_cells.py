"""What a page adds to its notebook for a reader: folds, names and addresses.

A folded cell is called by its `# @title`; a check is one line, with a mark from
its stored output. The parts of a prediction have names: predictions.js makes
buttons of its choices. An exercise has an address, and shows its signature
above the folded solution. What is out of form is a warning.
"""

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

from course.prediction import CHOICE, END, FOLD, MARK, RIGHT, WRONG

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


def fold_cell(cell: nodes.container) -> None:
    """Write on a folded cell what it holds."""
    name = title(cell)
    if not name:
        logger.warning("a folded cell without # @title", location=cell)
        return
    if CHECK.match(name):
        # its "correct" is no reader's: nobody has answered yet
        fold(cell, "all", f"{name}, and what it says of the solution above")
        return
    words = name[0].lower() + name[1:]
    fold(cell, cell["hide_mode"], f"Show: {words}", f"Hide: {words}")
    if name.startswith(EVIDENCE):
        fold_evidence(cell)
    elif name.startswith("Solution "):
        show_signature(cell)


def fold_cells(doctree: nodes.document) -> None:
    """Fold the first cell of Setup, and name all that is folded."""
    for section in doctree.findall(nodes.section):
        if section[0].astext() == "Setup":
            for imports in [*section.findall(is_cell)][:1]:
                fold(imports, "input", "Show: imports", "Hide: imports")
    for cell in [*doctree.findall(is_cell)]:
        if cell.get("hide_mode") and cell["prompt_show"] != "Show: imports":
            fold_cell(cell)


def markdown(block: nodes.Element) -> str:
    """A block's text, with ** around what is bold, as course.prediction reads.
    """
    if isinstance(block, nodes.list_item):
        return f"- {block.astext()}"
    return "".join(f"**{node.astext()}**" if isinstance(node, nodes.strong)
                   else node.astext() for node in block)


def split_answer(blocks: list[nodes.Element]) -> dict[str, list[nodes.Element]]:
    """The blocks of an answer by the choice that they are on, right one first.

    A block that names no choice goes on with the one above it.
    """
    words = {}
    for block in blocks:
        begins = (WRONG if words else RIGHT).match(markdown(block))
        if begins and begins[1] not in words:
            words[begins[1]] = []
        if words:
            [*words.values()][-1].append(block)
    return words


def read_prediction(paragraph: nodes.paragraph) -> tuple | None:
    """Its list, its </details>, its words by choice; or None out of form."""
    after = paragraph.parent[paragraph.parent.index(paragraph) + 1:]
    tags = [node.astext().strip() if isinstance(node, nodes.raw) else ""
            for node in after]
    if tags[1:2] != [FOLD.strip()] or END not in tags or not isinstance(
            after[0], nodes.bullet_list):
        return None
    end = tags.index(END)
    choices = [CHOICE.match(markdown(item)) for item in after[0]]
    letters = "".join(choice[1] for choice in choices if choice)
    words = split_answer(after[2:end])
    if letters not in ("ABC", "ABCD") or len(letters) < len(choices) or (
            sorted(words) != [*letters]):
        return None
    return after[0], after[end], words


def name_prediction(paragraph: nodes.paragraph, number: str,
                    choices: nodes.bullet_list, end: nodes.raw,
                    words: dict[str, list[nodes.Element]]) -> None:
    """Give the parts of a prediction the names that predictions.js knows."""
    name = f"predict-{number.replace('.', '-')}"
    paragraph["ids"].append(name)
    choices["classes"].append("choices")

    def put(text: str, node: nodes.Element, behind: bool = False) -> None:
        parent = node.parent
        parent.insert(parent.index(node) + behind,
                      nodes.raw("", text, format="html"))

    put(f'<div class="predict" role="group" aria-labelledby="{name}"'
        f' data-number="{number}" data-right="{next(iter(words))}">',
        paragraph)
    for letter, blocks in words.items():
        put(f'<div class="word" data-on="{letter}">', blocks[0])
        put("</div>", blocks[-1], behind=True)
    put("</div>", end, behind=True)


def beginning(doctree: nodes.document,
              words: str) -> Iterator[tuple[nodes.paragraph, str]]:
    """The paragraphs that begin in these bold words, with their Markdown."""
    for paragraph in [*doctree.findall(nodes.paragraph)]:
        text = markdown(paragraph)
        if text.startswith(f"**{words} "):
            yield paragraph, text


def name_predictions(doctree: nodes.document) -> dict[str, int]:
    """Name all parts of all predictions; how many there are, by chapter."""
    counts: dict[str, int] = {}
    for paragraph, text in beginning(doctree, "Predict"):
        number = MARK.match(text)
        parts = number and read_prediction(paragraph)
        if not parts:
            logger.warning("not in the grammar of predictions: %.40s",
                           paragraph.astext(), location=paragraph)
            continue
        name_prediction(paragraph, number[1], *parts)
        chapter = number[1].partition(".")[0]
        counts[chapter] = counts.get(chapter, 0) + 1
    return counts


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
