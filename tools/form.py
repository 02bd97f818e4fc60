"""The form of a chapter: what breaks it, and what its author may want to see.

python -m tools.form [NN ...]

`faults` lists what a test refuses: parts that are missing, and gross lengths,
before "Deeper" and without exercises, summary and references. The command
prints, for each chapter, words, visible lines, sections on topics, minutes,
and a thermometer of its prose: words a sentence, the share of sentences of at
most 8 words, and words of reason in 100 sentences. Nobody tunes to it.
"""

import ast
import re
import statistics
import sys
from collections import Counter
from collections.abc import Iterable, Iterator

from course import prediction
from course.chapter import (
    CHECK,
    CLOSING,
    DETAILS,
    Chapter,
    Section,
    chapter,
    chapters,
    has_picture,
    is_folded,
    printed,
    sections,
)
from course.code import Cell
from course.minutes import DISPLAY, INLINE, stated_minutes
from course.sheets import LECTURES, SHEETS
from tools.refresh import pages

FOLDED = re.compile(
    r"# @title (Check: \S|How we know: \S|Plot|Schematic|"
    r"From earlier chapters|Solution \d|Check \d|Grade \d|"
    r"How comparisons are counted|"
    r"How an answer is judged|The text|The weights)")
ENDING = "Pitfalls", "Exercises", "Summary", "References"
MAY_END = "In PyTorch", CLOSING, "Deeper"
REASON = re.compile(r"\b(because|so that|therefore|although|but|since|however|"
                    r"that is why|for example)\b", re.I)
OWN = re.compile(r"(solution|check|grade)-\d+-\d+|verdict")


def plain(parts: Iterable[Section]) -> str:
    """Running text, without folded answers, tables and formulas."""
    text = DETAILS.sub("", "\n\n".join(part.prose() for part in parts))
    text = INLINE.sub("x", DISPLAY.sub(" ", text))
    return re.sub(r"(?m)^([|#!\[]|- |\*\*).*$", "", text)


def words(parts: Iterable[Section]) -> int:
    """Of the text that counts, lists included, tables and formulas not."""
    text = DETAILS.sub("", "\n\n".join(part.prose() for part in parts))
    text = INLINE.sub(" ", DISPLAY.sub(" ", text))
    return len(re.sub(r"(?m)^\|.*$", "", text).split())


def bounded(what: str, number: int, most: int, least: int = 0
            ) -> Iterator[str]:
    """A fault where a number is out of its bounds."""
    if not least <= number <= most:
        yield f"{what}: {number}, not {least} to {most}"


def faults_of_length(parts: list[Section]) -> Iterator[str]:
    body = [part for part in parts if part.counts]
    yield from bounded("words", words(body), 6000)
    yield from bounded("lines of code", sum(p.lines() for p in body), 250)
    yield from bounded("sections", sum(p.is_topic for p in parts), 9, 3)


def faults_of_opening(parts: list[Section]) -> Iterator[str]:
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


def faults_of_order(parts: list[Section]) -> Iterator[str]:
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


def faults_of_predictions(parts: list[Section], number: int) -> Iterator[str]:
    texts = [cell.source for part in parts for cell in part.cells
             if cell.cell_type == "markdown" and "**Predict" in cell.source
             and not part.heading.startswith("Deeper")]
    yield from bounded("predictions", len(texts), 99, 2)
    for i, text in enumerate(texts, 1):
        if text.count("**Predict") > 1:
            yield f"two predictions in one cell, at Predict {number}.{i}"
        yield from prediction.faults(f"{number}.{i}", text)


def faults_of_code(parts: list[Section]) -> Iterator[str]:
    """Checks are folded and end in `ok: N comparisons`; the rest is open."""
    for part in parts:
        made: set[str] = set()
        for cell in part.code():
            if OWN.fullmatch(cell.id):
                continue
            title = cell.source.partition("\n")[0]
            if is_folded(cell) and not FOLDED.match(title):
                yield f"{cell.id}: folded, and its title says no reason"
            if not is_folded(cell) and any(
                    isinstance(node, ast.Assert)
                    for node in ast.walk(ast.parse(cell.source))):
                yield f"{cell.id}: an assert in a visible cell"
            if CHECK.match(title) and not re.search(
                    r"(?m)^ok: [1-9]\d* comparisons?$\Z",
                    printed(cell).rstrip("\n")):
                yield f"{cell.id}: its last line is no ok: N comparisons"
            for name in shared_generators(cell.source, made):
                yield (f"{cell.id}: draws from {name} of another section; "
                       "a section makes its own generator")


def shared_generators(source: str, made: set[str]) -> Iterator[str]:
    """Generators that a cell draws from and its section has not made."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            continue
        stored = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)
                  and isinstance(n.ctx, ast.Store)}
        used = {n.value.id for n in ast.walk(node)
                if isinstance(n, ast.Attribute)
                and isinstance(n.value, ast.Name) and "rng" in n.value.id}
        inner = {arg.arg for n in ast.walk(node)
                 if isinstance(n, ast.Lambda) for arg in n.args.args}
        made |= stored
        yield from sorted(used - made - inner)


def faults_of_exercises(parts: list[Section], number: int) -> Iterator[str]:
    text = "\n\n".join(p.prose() for p in parts if p.heading == "Exercises")
    captions = re.findall(r"\*\*Exercise (\d+\.\d+)\*\* \(([^)]*)\)", text)
    yield from bounded("exercises", len(captions), 5, 3)
    numbers = [exercise for exercise, _ in captions]
    if numbers != [f"{number}.{i}" for i in range(1, len(captions) + 1)]:
        yield f"exercises are numbered {numbers}"
    for exercise, terms in captions:
        if not re.search(r"\d+ minutes; difficulty [123]; \d+ points?$", terms):
            yield f"Exercise {exercise}: minutes, difficulty, points"


def faults(cells: list[Cell], number: int) -> list[str]:
    """All that breaks the form of chapter `number`, in words."""
    parts = sections(cells)
    return [*faults_of_length(parts), *faults_of_opening(parts),
            *faults_of_order(parts), *faults_of_predictions(parts, number),
            *faults_of_code(parts), *faults_of_exercises(parts, number)]


def letters(chapter: Chapter) -> list[str]:
    """The right answers to its predictions."""
    return [prediction.read(cell.source).right for cell in chapter.markdown
            if prediction.MARK.search(cell.source)]


def thermometer(text: str) -> tuple[float, float, float]:
    """Words a sentence; share of short sentences; reasons in 100 sentences."""
    lengths = [len(sentence.split()) for sentence
               in re.split(r"(?<=[.!?:])\s+", text)]
    lengths = [length for length in lengths if length > 1] or [0]
    return (statistics.mean(lengths),
            sum(length <= 8 for length in lengths) / len(lengths),
            100 * len(REASON.findall(text)) / len(lengths))


def warnings(chapter: Chapter) -> Iterator[str]:
    """What an author may want to look at; no test refuses it."""
    body = [part for part in chapter.sections if part.counts]
    for what, number, most in (
            ("words", words(body), 4500),
            ("lines", sum(part.lines() for part in body), 200),
            ("sections", sum(part.is_topic for part in body), 7),
            ("minutes", stated_minutes(chapter), 75),
            ("predictions", len(letters(chapter)), 4)):
        if number > most:
            yield f"{number} {what}, more than {most}"
    if len({*letters(chapter)}) == 1:
        yield "the same letter is right in all predictions"
    if not any(map(has_picture, chapter.sections[0].cells)):
        yield "no schematic above Setup"


def main(numbers: list[str]) -> None:
    """Print the table, the warnings, and what waits for `make refresh`."""
    chosen = [*map(chapter, numbers)] or [*chapters()]
    print("chapter                       words lines sections minutes"
          "   words/sentence short reasons")
    for each in chosen:
        body = [part for part in each.sections if part.counts]
        length, short, reasons = thermometer(plain(body))
        print(f"{each.name:29} {words(body):5} "
              f"{sum(part.lines() for part in body):5} "
              f"{sum(part.is_topic for part in body):8} "
              f"{stated_minutes(each):7} {length:16.1f} {short:5.0%}"
              f" {reasons:7.0f}")
    for each in chosen:
        for line in [*faults(each.cells, int(each.number)), *warnings(each)]:
            print(f"warning: {each.number}: {line}")
    right = Counter(letter for each in chapters() for letter in letters(each))
    for letter, count in right.items():
        if count > 0.45 * right.total():
            print(f"warning: {letter} is right in {count} of {right.total()}"
                  " predictions")
    for path in pages.stale():
        print(f"warning: {path.name}: numbers are stale: make refresh")
    plan = LECTURES.read_text("utf-8").partition("| week |")[2]
    for each in chosen:
        if not re.search(rf"(?m)^\|.*\b{each.number}\b", plan):
            print(f"warning: {LECTURES.name}: no week reads {each.number}")
    if f"| {pages.WAITING} |" in SHEETS.read_text("utf-8"):
        print(f"warning: {SHEETS.name}: an exercise waits for its goal")


if __name__ == "__main__":
    main(sys.argv[1:])
