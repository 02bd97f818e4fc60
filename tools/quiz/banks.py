"""The questions of the book: its predictions, and what is true or false.

A prediction comes with what its section says before it: the cells from the
heading on, pictures as their words. A wrong belief of a chapter is a
statement that is false, and whoever calls it true reads what is the case. The
first sentence of a point of its Summary is true, if it can stand alone. The
self-test of the page for students is answered in words.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from docutils.nodes import make_id

from course.chapter import Chapter, alt_text, chapters, is_folded
from course.code import Cell
from course.contents import parts
from course.paths import BOOK
from course.prediction import MARK, read
from course.sheets import sheets

COURSE = "Inside the Transformer"
HEADING = re.compile(r"(?m)^## (.+)\n*")
EQUATION = re.compile(r"(?s)\$\$(?:(?!\$\$).)*\\tag\{([\d.]+)\}\s*\$\$")
CITED = re.compile(r"\((\d+\.\d+)\)")
SUMMARY = re.compile(r"(?ms)^## Summary\n(.*?)(?=^## |\Z)")
POINT = re.compile(r"(?ms)^- (.*?)(?=^- |\Z)")
FIRST = re.compile(r"(?s).*?[.!?](?=\s+[A-Z$`*(]|\Z)")
NUMBERED = re.compile(r"(?ms)^\d\. (.*?)(?=^\d\. |\n\n|\Z)")
ALONE = 45                              # characters of a sentence, at least
LEANS = re.compile(                     # on the one before; or tells what to do
    r"(?:It|Its|They|This|These|So|While it|A result outside|Before training:|"
    r"Look|Multiply|Store|Subtract|Take)\b")


@dataclass
class Choice:
    """A choice, and the word to whoever takes it; "": it is right."""

    text: str
    word: str = ""


@dataclass
class Question:
    """Its texts are Markdown, and later HTML; its title is plain in the end."""

    ident: str
    title: str
    context: str                        # what its section says before it
    text: str
    choices: list[Choice]
    why: str
    page: str                           # where the book speaks of it
    anchor: str
    heading: str

    @property
    def is_true_or_false(self) -> bool:
        """Has it two choices?"""
        return len(self.choices) == 2


@dataclass
class Bank:
    """The predictions of a chapter, or what is true or false."""

    ident: str
    path: list[str]                     # from the course's name down
    questions: list[Question]


def ident(*parts: str) -> str:
    """The same as long as the question is: of at most 100 characters."""
    return make_id(" ".join(["inside the transformer", *parts]))[:100]


def shown(cell: Cell) -> str:
    """A cell as Markdown: text, code and what it printed, pictures in words."""
    if cell.cell_type == "markdown":
        return cell.source
    texts = [] if is_folded(cell) else [cell.source, *(
        output.text for output in cell.outputs
        if output.output_type == "stream")]
    blocks = [f"```\n{text.rstrip()}\n```" for text in texts]
    if alt := alt_text(cell):
        blocks.append(f"*Picture:* {alt}")
    return "\n\n".join(blocks)


def cited(text: str, above: str, chapter: Chapter) -> list[str]:
    """The equations that a text names and that do not stand above it."""
    equations = {number: match[0] for cell in chapter.markdown
                 for match in EQUATION.finditer(cell.source)
                 for number in match.groups()}
    return [equations[number] for number in dict.fromkeys(CITED.findall(text))
            if number in equations and equations[number] not in above]


def predictions(chapter: Chapter) -> Iterator[Question]:
    """A question for each prediction of a chapter."""
    heading = ""
    above: list[str] = []
    for cell in chapter.cells:
        text = shown(cell)
        asks = cell.cell_type == "markdown" and MARK.search(text)
        if asks:
            prediction = read(text)
            text = prediction.before
        if cell.cell_type == "markdown" and (match := HEADING.search(text)):
            heading, above = match[1].strip(), []
            text = text[match.end():]
        above.append(text)
        if asks:
            context = "\n\n".join(filter(None, above))
            equations = cited("\n".join([
                prediction.question, prediction.why,
                *prediction.choices.values(), *prediction.words.values()]),
                context, chapter)
            yield Question(
                ident("predict", prediction.number),
                f"{prediction.number} {heading}",
                "\n\n".join([context, *equations]), prediction.question,
                [Choice(text, prediction.words.get(letter, ""))
                 for letter, text in prediction.choices.items()],
                prediction.why, chapter.name,
                f"predict-{prediction.number.replace('.', '-')}", heading)


def sentence(text: str) -> str:
    """With a full stop, if nothing else ends it."""
    return text if text.endswith((".", "?", "!")) else f"{text}."


def beliefs(chapter: Chapter, rows: Iterable[tuple[str, str, str]]
            ) -> Iterator[Question]:
    """A question for each (belief, what is the case, heading) of a chapter."""
    for belief, case, heading in rows:
        case = f"False: {sentence(case)}"
        yield Question(
            ident(chapter.number, belief), f"{chapter.number} {belief}", "",
            f"True or false? “{sentence(belief)}”",
            [Choice("True", case), Choice("False")],
            "\n\n".join([case, *cited(case, "", chapter)]),
            chapter.name, make_id(re.sub(r"[$`*]", "", heading)), heading)


def truths(chapter: Chapter) -> Iterator[Question]:
    """A question for each point of a Summary whose beginning stands alone."""
    summary = SUMMARY.search(chapter.prose)
    for point in POINT.findall(summary[1] if summary else ""):
        point = " ".join(point.split())
        first = FIRST.match(point)
        if first is None or len(first[0]) < ALONE or LEANS.match(point):
            continue
        case = f"True: {point}"
        yield Question(
            ident(chapter.number, first[0]), f"{chapter.number} {first[0]}",
            "", f"True or false? “{first[0]}”",
            [Choice("True"), Choice("False", case)],
            "\n\n".join([case, *cited(case, "", chapter)]),
            chapter.name, "summary", "Summary")


def self_test() -> Iterator[Question]:
    """What the course needs: questions without choices, and their answers."""
    page = (BOOK / "students.md").read_text("utf-8")
    heading = "Do you have what the course needs?"
    section = page.partition(f"## {heading}")[2]
    asked, _, answers = section.partition("<details>")
    found = [[" ".join(item.split()) for item in NUMBERED.findall(text)]
             for text in (asked, answers.partition("</details>")[0])]
    for number, (question, answer) in enumerate(zip(*found, strict=True), 1):
        yield Question(ident("self-test", question), f"Self-test {number}", "",
                       question, [], answer, "students", "self-test", heading)


def banks(*numbers: str) -> Iterator[Bank]:
    """Two banks a chapter, of those named or of all; of all, the self-test.

    Raises ValueError.
    """
    if not numbers:
        yield Bank(ident("self-test"), [COURSE, "Self-test"], [*self_test()])
    captions = {page: caption for caption, pages in parts() for page in pages}
    for chapter in chapters(*numbers):
        rows = sheets()[chapter.number].beliefs
        title = chapter.heading.partition(":")[0]
        path = [COURSE, *filter(None, [captions[chapter.name]]), title]
        for kind, questions in (("Predictions", predictions(chapter)),
                                ("True or false", [
                                    *beliefs(chapter, rows),
                                    *truths(chapter)])):
            yield Bank(ident(chapter.number, kind), [*path, kind],
                       [*questions])
