"""The form of a chapter: faults(cells) lists what breaks it.

Only what is gross breaks it: before "Deeper", without exercises, summary and
references, more than 6,000 words, 250 visible lines of code, or nine sections
on topics. Smaller numbers are for the author to see, not for a test.
"""

import ast
import re

from course import prediction
from course.chapter import is_folded, sections

FOLDED = re.compile(
    r"# @title (Check: \S|How we know: \S|Plot|Schematic|"
    r"From earlier chapters|Solution \d|Check \d|Grade \d|"
    r"How comparisons are counted|"
    r"How an answer is judged|The text)")
CLOSING = "What we have, and what still hurts"
ENDING = "Pitfalls", "Exercises", "Summary", "References"
MAY_END = "In PyTorch", CLOSING, "Deeper"
OWN = re.compile(r"(solution|check|grade)-\d+-\d+|verdict")


def bounded(what, number, most, least=0):
    if not least <= number <= most:
        yield f"{what}: {number}, not {least} to {most}"


def faults_of_length(parts):
    body = [part for part in parts if part.counts]
    yield from bounded("words", sum(p.words() for p in body), 6000)
    yield from bounded("lines of code", sum(p.lines() for p in body), 250)
    yield from bounded("sections", sum(p.is_topic for p in parts), 9, 3)


def faults_of_opening(parts):
    text = parts[0].cells[0].source
    goals = re.search(
        r"(?s)\*\*After this chapter you can\*\*(.*?)\*\*You need", text)
    if not goals:
        yield "no **After this chapter you can**, then **You need**"
    else:
        yield from bounded("goals", len(re.findall(r"(?m)^- ", goals[1])), 5, 3)
    needs = re.search(r"(?s)\*\*You need\*\*:?(.*?)\*\*Time\*\*", text)
    if not (needs and ("](" in needs[1] or "nothing" in needs[1].lower())):
        yield "**You need** links to no chapter"
    if not re.search(r"\*\*Time\*\*:? (about )?\d+ minutes", text):
        yield "no **Time** in minutes"


def faults_of_order(parts):
    """Setup is first; what ends a chapter ends it in one order."""
    names = [part.heading.split(":")[0] for part in parts[1:]]
    there = [name for name in names if name in (*ENDING, *MAY_END)]
    order = [name for name in ("In PyTorch", CLOSING, *ENDING[:3], "Deeper",
                               "References")
             if name in ENDING or name in there]
    if names[:1] != ["Setup"]:
        yield "the first heading is not Setup"
    if there != order or names[-len(there):] != there:
        yield f"the last headings are not {', '.join(order)}"
    summary = "".join(p.prose() for p in parts if p.heading == "Summary")
    yield from bounded("points of the summary",
                       len(re.findall(r"(?m)^- ", summary)), 8, 1)


def faults_of_predictions(parts, chapter):
    texts = [cell.source for part in parts for cell in part.cells
             if cell.cell_type == "markdown" and "**Predict" in cell.source
             and not part.heading.startswith("Deeper")]
    yield from bounded("predictions", len(texts), 99, 2)
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
            if is_folded(cell) and not FOLDED.match(title):
                yield f"{cell.id}: folded, and its title says no reason"
            if not is_folded(cell) and any(isinstance(node, ast.Assert) for node
                                        in ast.walk(ast.parse(cell.source))):
                yield f"{cell.id}: an assert in a visible cell"
            if re.match("# @title (Check|How we know):", title):
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


def faults(cells, chapter):
    """All that breaks the form, in words. chapter: its number."""
    parts = sections(cells)
    return [*faults_of_length(parts), *faults_of_opening(parts),
            *faults_of_order(parts),
            *faults_of_predictions(parts, chapter), *faults_of_code(parts),
            *faults_of_exercises(parts, chapter)]
