"""What the sections of a page say: its prose.

Without code, pictures, and what a reader should not meet elsewhere: the
answers, which are folded, and the choices of a question, of which most are
wrong.
"""

import re
from html.entities import html5
from typing import NamedTuple

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from tools.website.notebook_cells import is_cell

# A sentence ends before a capital; what follows ":" or ";" may stand alone.
END = re.compile(r'(?<=[.?!:;])\s+(?=[A-Z0-9("“])')
CHOICE = re.compile(r"\([A-D]\) ")
SILENT = (nodes.section, nodes.title, nodes.literal_block, nodes.math_block,
          nodes.image, nodes.comment, nodes.system_message, addnodes.glossary)
COMMAND = re.compile(r"\\([A-Za-z]+)\s*")
STYLE = re.compile(r"\\(?:mathrm|mathbf|text|operatorname)(?=\{)|[{}]|\\[,;! ]")
SIGNS = {"cdot": "·", "infty": "∞"} | {
    name: name + " " for name in ("exp", "ln", "max", "min", "tanh")}


class Section(NamedTuple):
    """What the search and the glossary know of a section."""

    anchor: str
    title: str
    sentences: list[str]
    bold: set[str]


def formula(tex: str) -> str:
    """A formula in plain text where it is simple, otherwise three dots."""
    def sign(command):
        name = command[1]
        return SIGNS.get(name, html5.get(f"{name};", "\\"))

    plain = re.sub(r" (?=[(_^])", "", COMMAND.sub(sign, STYLE.sub("", tex)))
    return "…" if "\\" in plain or len(plain) > 24 else plain


def plain(node: nodes.Node) -> str:
    """The text of a node, its formulas as text, too."""
    if isinstance(node, nodes.math):
        return formula(node.astext())
    if isinstance(node, nodes.Text):
        return node.astext()
    if isinstance(node, nodes.raw):
        return ""
    return "".join(plain(child) for child in node.children)


def line(node: nodes.Node) -> str:
    """The text of a node in one line, its spaces single."""
    return " ".join(plain(node).split())


def sentences(section: nodes.section) -> list[str]:
    """What a section itself says; a row of a table is a sentence, too."""
    texts, folds = [], 0

    def walk(node):
        nonlocal folds
        for child in node.children:
            if isinstance(child, nodes.raw):
                html = child.astext()
                folds += html.count("<details") - html.count("</details")
            elif folds or isinstance(child, SILENT) or is_cell(child):
                continue
            elif isinstance(child, nodes.row):
                texts.append(" · ".join(filter(None, map(line, child))))
            elif isinstance(child, nodes.paragraph | nodes.term):
                text = line(child)
                if not CHOICE.match(text):
                    texts.extend(END.split(text))
            else:
                walk(child)

    walk(section)
    return texts


def sections(env: BuildEnvironment, page: str) -> list[Section]:
    """The sections of a page, in order."""
    return env.metadata[page]["sections"]


def keep(app: Sphinx, doctree: nodes.document) -> None:
    """Keep what the sections say: reading the page again takes longer."""
    app.env.metadata[app.env.docname]["sections"] = [
        Section(
            anchor=node["ids"][0], title=line(node.next_node(nodes.title)),
            sentences=sentences(node),
            bold={line(strong) for child in node
                  if not isinstance(child, nodes.section)
                  for strong in child.findall(nodes.strong)})
        for node in doctree.findall(nodes.section)]


def setup(app: Sphinx) -> None:
    app.connect("doctree-read", keep)
