"""The questions of the book: its predictions, and its wrong beliefs.

A prediction comes with what its section says before it: the cells from the
heading on, pictures as their words. A wrong belief of a chapter is a
statement that is false, and whoever calls it true reads what is the case.
"""

import re
from dataclasses import dataclass

import nbformat
from docutils.nodes import make_id

from course.contents import parts
from course.paths import BOOK
from course.prediction import read
from course.sheets import sheets

COURSE = "Inside the Transformer"
HEADING = re.compile(r"(?m)^## (.+)\n*")
EQUATION = re.compile(r"\$\$(?:(?!\$\$).)*\\tag\{([\d.]+)\}\s*\$\$", re.DOTALL)
CITED = re.compile(r"\((\d+\.\d+)\)")
FOLDED = {"hide-input", "hide-cell", "remove-cell", "remove-input"}


@dataclass
class Place:
    """Where the book speaks of it."""

    page: str
    anchor: str
    heading: str


@dataclass
class Choice:
    text: str
    word: str = ""                      # to whoever chose it; "": it is right


@dataclass
class Question:
    """Its texts are Markdown."""

    ident: str
    title: str
    context: str                        # what its section says before it
    text: str
    choices: list[Choice]
    why: str
    place: Place


@dataclass
class Bank:
    """The predictions of a chapter, or its wrong beliefs."""

    ident: str
    path: list[str]                     # from the course's name down
    questions: list[Question]


def anchor(heading):
    """The name that Sphinx gives to a section."""
    return make_id(re.sub(r"[$`*]", "", heading))


def ident(*parts):
    """The same as long as the question is: of at most 100 characters."""
    return make_id(" ".join(["inside the transformer", *parts]))[:100]


def shown(cell):
    """A cell as Markdown: text, code and what it printed, pictures in words."""
    if cell.cell_type == "markdown":
        return cell.source
    if FOLDED & {*cell.metadata.get("tags", [])}:
        said = []
    else:
        said = [f"```\n{text.rstrip()}\n```" for text in [cell.source, *(
            output.text for output in cell.outputs
            if output.output_type == "stream")]]
    picture = cell.metadata.get("mystnb", {}).get("image", {}).get("alt")
    if picture:
        said.append(f"*Picture:* {picture}")
    return "\n\n".join(said)


def equations(notebook):
    """The numbered ones of a chapter, as Markdown."""
    return {found[1]: found[0] for cell in notebook.cells
            if cell.cell_type == "markdown"
            for found in EQUATION.finditer(cell.source)}


def cited(said, above, known):
    """The equations that a text names and that do not stand above it."""
    for number in dict.fromkeys(CITED.findall(said)):
        if number in known and known[number] not in above:
            yield known[number]


def asked(notebook, page):
    """The predictions of a chapter."""
    known = equations(notebook)
    heading, above = "", []
    for cell in notebook.cells:
        current = None
        if cell.cell_type == "markdown":
            text = cell.source
            if "**Predict " in text:
                current = read(text)
                text = current.before
            if found := HEADING.search(text):
                heading, above = found[1].strip(), []
                text = text[found.end():]
            above.append(text)
        else:
            above.append(shown(cell))
        if current:
            number = current.number
            context = "\n\n".join(filter(None, above))
            equation = cited("\n".join([
                current.question, current.why,
                *current.choices.values(), *current.words.values()]),
                context, known)
            yield Question(
                ident("predict", number), f"{number} {heading}",
                "\n\n".join([context, *equation]), current.question,
                [Choice(text, current.words.get(letter, ""))
                 for letter, text in current.choices.items()],
                current.why,
                Place(page, f"predict-{number.replace('.', '-')}", heading))


def sentence(text):
    return text if text.endswith((".", "?", "!")) else f"{text}."


def believed(notebook, page, rows):
    """The wrong beliefs of a chapter: (belief, what is the case, heading)."""
    known = equations(notebook)
    for belief, case, heading in rows:
        yield Question(
            ident(page[:2], belief), f"{page[:2]} {belief}", "",
            f"True or false? “{sentence(belief)}”",
            [Choice("True", f"False: {sentence(case)}"), Choice("False")],
            "\n\n".join([f"False: {sentence(case)}",
                         *cited(case, "", known)]),
            Place(page, anchor(heading), heading))


def banks(number=None):
    """Two banks a chapter, in the order of the book; or those of one."""
    known = sheets()
    for caption, pages in parts():
        for page in pages:
            if not re.match(rf"{number or '[0-9]{2}'}_", page):
                continue
            notebook = nbformat.read(BOOK / f"{page}.ipynb", as_version=4)
            title = notebook.cells[0].source.partition("\n")[0]
            chapter = title.partition(":")[0].removeprefix("# ")
            path = [COURSE, *filter(None, [caption]), chapter]
            for kind, questions in (
                    ("Predictions", asked(notebook, page)),
                    ("Wrong beliefs", believed(
                        notebook, page, known[page[:2]].beliefs))):
                yield Bank(ident(page[:2], kind), [*path, kind],
                           [*questions])
