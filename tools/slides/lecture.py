"""A chapter's lecture, by fixed rules, as Markdown for a teacher to edit.

On slides: title and scene, map, goals; of each topic its heading with its
pictures, formulas, tables and functions; each prediction, then its answer;
pitfalls, an exercise for the room, summary. What the notebook says stands in
the notes of the slide that is on the wall then. Where all would be more than
MOST, slides of a higher rank are left out, and their notes go to the slide
before.

A cell's `slideshow.slide_type`, which JupyterLab sets, overrules this: "skip",
or "slide" (what the cell makes is never left out).
"""

import ast
import base64
import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from operator import attrgetter

from course import prediction
from course.chapter import (
    CLOSING,
    DETAILS,
    Chapter,
    Section,
    alt_text,
    chapters,
    has_picture,
    is_folded,
    printed,
)
from course.code import Cell
from course.exercise import PROMISES, TERMS
from course.sheets import sheets
from tools.slides.sentences import (
    caption,
    is_prose,
    lead,
    paragraphs,
    sentences,
    signs,
    tail,
)

MOST = 24                               # slides of a lecture
ALWAYS, FIRST, SECOND, SPARE = range(4)         # ranks
SCENE, WHY, POINTS = 420, 330, 640      # signs
LINES, COLUMNS = 16, 81                 # of code, of a table
MAP = "The map of this chapter"
GOALS, NEEDS = "**After this chapter you can**", "**You need**"
TITLE = re.compile(r"# @title (?:(?:Plot|Schematic)(?:: | of )?)?(.*)")
KEEP = re.compile(r"(?<![*\w])\*([^*]{20,}[.?!])\*$")   # ends a paragraph
DOCSTRING = re.compile(r'(?ms)^( +"""[^"\n]+?)\.?$.*?"""')
POINT = re.compile(r"(?ms)^(?:- |\d+\. )?(\S.*?)(?=\n\n|^- |^\d+\. |\Z)")


@dataclass
class Slide:
    """Title and body in Markdown; kind is its class in slides.css."""

    title: str
    body: list[str]
    section: str = ""
    rank: int = ALWAYS
    kind: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def asks(self) -> bool:
        """Does it belong to a prediction?"""
        return self.kind in ("question", "answer")

    def keep(self, sentence: str) -> None:
        """End in a sentence to remember, instead of what it ended in."""
        if self.body[1:] and is_prose(self.body[-1]):
            del self.body[-1]
        self.body.append(f"> {upper(sentence)}")
        self.rank = min(self.rank, FIRST)


@dataclass
class Lecture:
    """Its slides in order, and {file name: PNG} of what they show."""

    title: str
    slides: list[Slide]
    pictures: dict[str, bytes]


def upper(text: str) -> str:
    """With a large first letter."""
    return text[:1].upper() + text[1:]


def short(heading: str) -> str:
    """What stands before its colon."""
    return heading.partition(":")[0]


def fenced(text: str, kind: str = "") -> str:
    """Code or output as Markdown."""
    return f"```{kind}\n{text.strip()}\n```"


def fits(text: str, lines: int = LINES) -> bool:
    """Can code or output be read from the last row?"""
    rows = text.strip().split("\n")
    return len(rows) <= lines and max(map(len, rows)) <= COLUMNS


def worth(chapter: Chapter) -> Counter[str]:
    """How many later chapters call a name, or this one's prose has it."""
    found = Counter(re.findall(r"\w+", " ".join(
        re.findall(r"`([^`]+)`", chapter.prose))))
    for other in chapters():
        if other.number > chapter.number:
            found.update({*re.findall(r"\w+(?=\()", "\n".join(
                cell.source for cell in other.code))})
    found[chapter.name[3:]] += 9            # attention in 08_attention
    return found


def taught(cell: Cell) -> dict[str, str]:
    """{name: source} of its functions and classes, docstrings cut short."""
    return {node.name: DOCSTRING.sub(r'\1"""', ast.get_source_segment(
        cell.source, node) or "") for node in ast.parse(cell.source).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def is_wide_formula(text: str) -> bool:
    """Does a row of it want smaller letters?"""
    return text.startswith("$$") and any(
        signs(row.replace(r"\qquad", "mmm")) > 66
        for row in text.split(r"\cr"))


def is_small_table(text: str) -> bool:
    """Is it a table that a slide holds?"""
    rows = text.split("\n")
    return text.startswith("|") and len(rows) <= 8 and (
        max(map(signs, rows)) <= 1.2 * COLUMNS)


class Part:
    """The slides of a section, made cell by cell."""

    def __init__(self, section: Section) -> None:
        self.section, self.topic = section, short(section.heading)
        self.slides: list[Slide] = []
        self.early: list[str] = []              # said before the first one
        self.kept: list[str] = []               # sentences, likewise
        self.pictures: dict[str, bytes] = {}

    @property
    def shown(self) -> list[Slide]:
        """Its slides but those of predictions."""
        return [slide for slide in self.slides if not slide.asks]

    def add(self, title: str, rank: int, *body: str, kind: str = "") -> None:
        """A slide, with what was said before it if it is the first."""
        self.slides.append(Slide(title, [each for each in body if each],
                                 self.section.heading, rank, kind, self.early))
        self.early = []

    def note(self, *texts: str) -> None:
        """Say something while the last slide is on the wall."""
        (self.slides[-1].notes if self.slides else self.early).extend(texts)

    def prose(self, text: str) -> None:
        """Formulas and tables make slides; a sentence to keep joins one."""
        said = paragraphs(DETAILS.sub("", text))
        for before, each, after in zip(["", *said], said, [*said[1:], ""],
                                       strict=False):
            if each.startswith("$$") or is_small_table(each):
                self.add(self.topic, SPARE, tail(before), each,
                         "" if each[0] == "|" else caption(after),
                         kind="dense" * is_wide_formula(each))
            self.note(each)
            if found := KEEP.search(each):
                if self.shown:
                    min(reversed(self.shown), key=attrgetter("rank")).keep(
                        found[1])
                else:
                    self.kept.append(found[1])

    def predict(self, text: str, output: str) -> None:
        """A question, then its answer, and what the next cell prints."""
        asked = prediction.read(text)
        choices = {letter: f"({letter}) {choice}"
                   for letter, choice in asked.choices.items()}
        self.prose(asked.before)
        title = f"Predict {asked.number}"
        self.add(f"{title}. {self.topic}", ALWAYS, asked.question,
                 "\n".join(f"- {each}" for each in choices.values()),
                 kind="question")
        self.add(f"{title}: {asked.right}", ALWAYS,
                 f"> {choices[asked.right]}", lead(asked.why, WHY),
                 fenced(output) if output and fits(output, 5) else "",
                 kind="answer")
        self.note(asked.why, *(f"({letter}) {word}" for letter, word
                               in asked.words.items()))
        self.prose(text.partition(prediction.END)[2])

    def picture(self, cell: Cell, after: str) -> None:
        """Large, with the first sentence that is said of it."""
        titled, alt = TITLE.match(cell.source), alt_text(cell)
        self.pictures[f"{cell.id}.png"] = base64.b64decode(next(
            output["data"]["image/png"] for output in cell.outputs
            if "image/png" in output.get("data", {})))
        title = upper(titled[1] if titled else "") or self.topic or MAP
        self.add(title, ALWAYS,
                 f"![{alt}]({cell.id}.png)",
                 caption(*paragraphs(after)[:1]))
        self.note(f"In the picture: {alt}")

    def take(self, cell: Cell, after: Cell | None, main: str) -> None:
        """Make the slides of a cell; what stands after it may say more."""
        follows = after.source if after and after.cell_type != "code" else ""
        if cell.cell_type == "markdown":
            if prediction.MARK.search(cell.source):
                self.predict("\n\n".join(paragraphs(cell.source)),
                             printed(after) if after and not follows else "")
            else:
                self.prose(cell.source)
        elif has_picture(cell):
            self.picture(cell, follows)
        elif not is_folded(cell):
            found = taught(cell)
            shown = "\n\n\n".join(found.values())
            if main in found and not fits(shown):
                shown = found[main]
            if not shown or not fits(shown):
                return
            before = self.slides[-1:]
            if before and re.match(r"\$\$[^&]*$", before[0].body[-2:][0]) and (
                    fits(shown, 7)):
                self.slides[-1].body[-1:] = [fenced(shown, "python")]
            else:
                self.add(self.topic, SPARE, fenced(shown, "python"))
            if main in found:
                self.slides[-1].rank = ALWAYS

    def walk(self, main: str) -> list[Slide]:
        """Its slides. A topic without one of its own has a text."""
        for cell, after in pairwise([*self.section.cells, None]):
            ruled = cell.metadata.get("slideshow", {}).get("slide_type")
            made = len(self.slides)
            if ruled != "skip":
                self.take(cell, after, main)
            for slide in self.slides[made:] if ruled == "slide" else []:
                slide.rank = ALWAYS
        rank = (FIRST if self.shown == self.slides and self.section.is_topic
                else SECOND)        # else its first slide is a prediction
        if not self.shown and self.section.heading != "In PyTorch":
            self.slides.insert(0, Slide(
                self.topic, [lead(self.section.prose(), SCENE)],
                self.section.heading, rank, notes=self.early))
            self.early = []
        elif self.shown:
            first = min(self.shown, key=lambda slide: "```" in slide.body[0])
            best = min(first, *self.shown, key=attrgetter("rank"))
            best.rank = min(best.rank, rank)
            first.rank = min(first.rank, SECOND)
            for sentence in self.kept:
                first.keep(sentence)
        return self.slides


def opening(section: Section, title: str) -> Part:
    """Title with the scene and its question, the map, goals."""
    story, _, rest = DETAILS.sub("", section.prose()).partition(GOALS)
    goals, _, needs = rest.partition(NEEDS)
    scene, part = lead(story, SCENE), Part(section)
    asked = [each for text in paragraphs(story) for each in sentences(text)
             if each.endswith("?")][-1:]
    part.add(title, ALWAYS, scene, *(f"**{each}**" for each in asked
                                     if each not in scene), kind="title")
    part.note(*paragraphs(story))
    for cell in section.cells:
        if has_picture(cell):
            part.picture(cell, "")
    part.add("After this lecture you can", SECOND, *paragraphs(goals))
    part.note(*paragraphs(NEEDS + needs)[:1])
    return part


def points(section: Section) -> Part:
    """A list of its points, each as long as all have room; whole in notes."""
    said = paragraphs(section.prose())
    found = [point for each in said for point in POINT.findall(each)]
    part = Part(section)
    if len(found) > 1:
        part.add(section.heading, ALWAYS if section.heading == "Summary"
                 else SECOND, "\n".join(
                     f"- {lead(each, POINTS // len(found))}"
                     for each in found))
    part.note(*said)
    return part


def room(section: Section) -> Part:
    """The quickest exercise whose statement a slide holds."""
    found = [(int(terms["minutes"]), len(cell.source), terms,
              PROMISES.sub("", cell.source[terms.end():].lstrip(". ")))
             for cell in section.cells if (terms := TERMS.match(cell.source))]
    minutes, _, terms, statement = min(
        found, key=lambda each: (each[1] > 950, *each[:2]))
    part = Part(section)
    part.add(f"Exercise {terms['number']}: {minutes} minutes", ALWAYS,
             *paragraphs(statement), kind="dense" * (len(statement) > 500))
    part.slides[0].section = ""
    return part


def lecture(chapter: Chapter) -> Lecture:
    """The slides of a chapter, at most MOST."""
    counts = worth(chapter)
    main = max((name for section in chapter.sections if section.is_topic
                for cell in section.visible()
                for name, source in taught(cell).items() if fits(source)),
               key=lambda name: counts[name], default="")
    slides: list[Slide] = []
    pictures: dict[str, bytes] = {}
    for section in chapter.sections:
        if not section.heading:
            part = opening(section, chapter.heading)
        elif section.heading in ("Pitfalls", "Summary"):
            part = points(section)
        elif section.heading == "Exercises":
            part = room(section)
        elif section.is_topic or section.heading in ("In PyTorch", CLOSING):
            part = Part(section)
            part.walk(main)
        else:
            continue
        slides += part.slides
        slides[-1].notes += part.early
        pictures |= part.pictures
    for belief, so, heading in sheets()[chapter.number].beliefs:
        at = next((slide for slide in slides if slide.section == heading),
                  slides[-1])
        at.notes.append(f"Wrong belief: {belief}. In fact: {so}.")
    return Lecture(chapter.heading, chosen(slides), pictures)


def chosen(slides: list[Slide]) -> list[Slide]:
    """The MOST of the lowest ranks; the first of a section has its heading."""
    kept = sorted(range(len(slides)), key=lambda at: slides[at].rank)[:MOST]
    found: list[Slide] = []
    for at, slide in enumerate(slides):
        if at not in kept:
            found[-1].notes += slide.notes
            continue
        if not slide.asks and slide.section not in {
                each.section for each in found if not each.asks}:
            slide.title = slide.section or slide.title
        found.append(slide)
    return found


def source(made: Lecture) -> str:
    """The Markdown of its slides, as pandoc reads it."""
    return "\n\n".join("\n\n".join([
        f"# {slide.title}" + (f" {{.{slide.kind}}}" if slide.kind else ""),
        *slide.body, "::: notes", *slide.notes, ":::"])
        for slide in made.slides) + "\n"
