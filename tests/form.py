"""The form of a chapter, counted: faults(cells) lists what breaks it.

Bounds are fences, not aims. Before "Deeper" and without exercises, summary and
references: at most 2,000 words, 160 visible lines of code, 8 figures, 60
minutes, five to eight sections.
"""

import ast
import math
import re
from pathlib import Path

from course import prediction
from tools.parts import (
    DETAILS,
    TAIL,
    has_picture,
    hidden,
    reading_minutes,
    sections,
)

HERE = Path(__file__).parent
PRIVATE = [re.compile(rf"\b(?:{words})\b", re.I) for words in
           (HERE / "private_words.txt").read_text("utf-8").splitlines()
           if words and not words.startswith("#")]
FOLDED = re.compile(
    r"# @title (Check: \S|Plot|Schematic|From earlier chapters|Solution \d|"
    r"Check \d|Grade \d|How comparisons are counted|"
    r"How an answer is judged|The text)")
OWN = re.compile(r"(solution|check|grade)-\d+-\d+|verdict")


def minutes(parts):
    """Of all that counts, rounded up to 5."""
    return 5 * math.ceil(reading_minutes(
        [part for part in parts if part.counts]) / 5)


def bounded(what, number, most, least=0):
    if not least <= number <= most:
        yield f"{what}: {number}, not {least} to {most}"


def faults_of_length(parts):
    body = [part for part in parts if part.counts]
    yield from bounded("words", sum(p.words() for p in body), 2000)
    yield from bounded("lines of code", sum(p.lines() for p in body), 160)
    yield from bounded("figures", sum(p.figures() for p in body), 8)
    yield from bounded("sections", sum(p.is_topic for p in parts), 8, 5)
    yield from bounded("minutes", minutes(parts), 60)
    for part in parts:
        if part.heading.startswith("Deeper"):
            yield from bounded("words of Deeper", part.words(), 800)
            yield from bounded("lines of Deeper", part.lines(), 80)
            yield from bounded("figures of Deeper", part.figures(), 3)


def faults_of_opening(parts):
    text = parts[0].cells[0].source
    opening = text.partition("**After")[0]
    yield from bounded("words of the opening", len(opening.split()), 90, 20)
    goals = re.search(
        r"(?s)\*\*After this chapter you can\*\*(.*?)\*\*You need", text)
    if not goals:
        yield "no **After this chapter you can**, then **You need**"
    else:
        yield from bounded("goals", len(re.findall(r"(?m)^- ", goals[1])), 5, 3)
    needs = re.search(r"(?s)\*\*You need\*\*:?(.*?)\*\*Time\*\*", text)
    if not (needs and ("](" in needs[1] or "nothing" in needs[1].lower())):
        yield "**You need** links to no chapter"
    stated = re.search(r"\*\*Time\*\*:? (\d+) minutes", text)
    if not stated or int(stated[1]) != minutes(parts):
        yield f"**Time** {minutes(parts)} minutes, says the count"
    if not any(has_picture(cell) and hidden(cell)
               for cell in parts[0].cells):
        yield "no schematic, folded, above Setup"


def faults_of_order(parts):
    names = [part.heading.split(":")[0] for part in parts[1:]]
    end = [name for name in names if name in
           ("In PyTorch", "Pitfalls", *TAIL)]
    want = [name for name in ("In PyTorch", "Pitfalls", "Exercises", "Summary",
                              "Deeper", "References")
            if name in end or name not in ("In PyTorch", "Deeper")]
    if names[:1] != ["Setup"]:
        yield "the first heading is not Setup"
    if end != want or names[-len(end):] != end:
        yield f"the last headings are not {', '.join(want)}"
    pitfalls = "".join(p.prose() for p in parts if p.heading == "Pitfalls")
    yield from bounded("pitfalls", len(re.findall(
        r"(?m)^(?:- |\d\. )?\*\*", pitfalls)), 4)
    summary = "".join(p.prose() for p in parts if p.heading == "Summary")
    yield from bounded("points of the summary",
                       len(re.findall(r"(?m)^- ", summary)), 5, 3)


def faults_of_headings(parts, terms):
    """All topics but one hold a term of the glossary."""
    def plain(text):
        return re.sub(r"[$`*]", "", text.lower().replace("-", " "))

    known = [re.compile(rf"\b{re.escape(plain(term))}(s|es)?\b")
             for term in terms]
    riddles = [part.heading for part in parts if part.is_topic and not any(
        term.search(plain(part.heading)) for term in known)]
    if len(riddles) > 1:
        yield f"headings without a term of the glossary: {riddles}"


def faults_of_predictions(parts, chapter):
    texts = [cell.source for part in parts for cell in part.cells
             if cell.cell_type == "markdown" and "**Predict" in cell.source
             and not part.heading.startswith("Deeper")]
    yield from bounded("predictions", len(texts), 99, 3)
    for i, text in enumerate(texts, 1):
        if text.count("**Predict") > 1:
            yield f"two predictions in one cell, at Predict {chapter}.{i}"
        yield from prediction.faults(f"{chapter}.{i}", text)


def faults_of_code(parts):
    """Checks are folded and end in `ok: N comparisons`; the rest is open."""
    for part in parts:
        made = set()
        for cell in part.cells:
            if cell.cell_type != "code" or OWN.fullmatch(cell.id):
                continue
            title = cell.source.partition("\n")[0]
            if hidden(cell) and not FOLDED.match(title):
                yield f"{cell.id}: folded, and its title says no reason"
            if not hidden(cell) and any(isinstance(node, ast.Assert) for node
                                        in ast.walk(ast.parse(cell.source))):
                yield f"{cell.id}: an assert in a visible cell"
            if title.startswith("# @title Check:"):
                said = "".join(output.get("text", "")
                               for output in cell.get("outputs", []))
                if not re.search(r"(?m)^ok: [1-9]\d* comparisons?$\Z",
                                 said.rstrip("\n")):
                    yield f"{cell.id}: its last line is no ok: N comparisons"
            for name in shared_generators(cell.source, made):
                yield (f"{cell.id}: draws from {name} of another section; "
                       "a section makes its own generator")


def shared_generators(source, made):
    """Generators that a cell draws from and its section has not made."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            continue
        stored = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)
                  and isinstance(n.ctx, ast.Store)}
        used = {n.value.id for n in ast.walk(node)
                if isinstance(n, ast.Attribute)
                and "rng" in getattr(n.value, "id", "")}
        inner = {arg.arg for n in ast.walk(node)
                 if isinstance(n, ast.Lambda) for arg in n.args.args}
        made |= stored
        yield from sorted(used - made - inner)


def faults_of_exercises(parts, chapter):
    text = "\n\n".join(p.prose() for p in parts if p.heading == "Exercises")
    found = re.findall(r"\*\*Exercise (\d+\.\d+)\*\* \(([^)]*)\)", text)
    yield from bounded("exercises", len(found), 5, 3)
    if [number for number, _ in found] != [
            f"{chapter}.{i}" for i in range(1, len(found) + 1)]:
        yield f"exercises are numbered {[number for number, _ in found]}"
    for number, terms in found:
        if not re.search(r"\d+ minutes; difficulty [123]; \d+ points?$", terms):
            yield f"Exercise {number}: minutes, difficulty, points"


def faults_of_words(parts):
    prose = " ".join(DETAILS.sub("", part.prose())
                     for part in parts if part.counts)
    private = [found[0].lower() for word in PRIVATE
               for found in word.finditer(prose)]
    if 1000 * len(private) > len(prose.split()):
        yield f"private words: {sorted(set(private))}"


def faults(cells, chapter, terms):
    """All that breaks the form, in words. chapter: its number; terms: those
    of the glossary."""
    parts = sections(cells)
    return [*faults_of_length(parts), *faults_of_opening(parts),
            *faults_of_order(parts), *faults_of_headings(parts, terms),
            *faults_of_predictions(parts, chapter), *faults_of_code(parts),
            *faults_of_exercises(parts, chapter), *faults_of_words(parts)]
