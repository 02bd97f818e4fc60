"""Make room for a chapter: from the number AT on, each gets the next one.

    python -m tools.renumber 09                09 to 22 become 10 to 23
    python -m tools.renumber 09 --new topic    and a stub is 09_topic
    python -m tools.renumber 09 --dry-run      says what would change

Files, links, titles, equations, exercises, tables: REFERENCES says how a
number that means a chapter is written. Any other number is left as it is;
those that look like a reference are printed. CHANGELOG.md tells of released
numbers, and stays. A number is only read in text: in code, in its strings,
comments and names.
"""

import argparse
import io
import re
import tokenize
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import nbformat

from course.edition import git
from course.paths import ROOT
from tools import new_chapter
from tools.rename import aligned

FOLDERS = ("book", "tests", "tools", "course", "experiments", "benchmarks",
           ".github")
Place = tuple[int, int]                                 # start, end
SUFFIXES = {".ipynb", ".py", ".md", ".yml", ".csv", ".js", ".html", ".cff"}
OURS = {"CHANGELOG.md", "rename.py", "renumber.py", "new_chapter.py",
        "new_chapter.ipynb", "test_rename.py", "test_renumber.py"}

TWO = r"\d\d(?!\d|[.,]\d)"                              # a chapter: 09
DOTTED = r"\d{1,2}\.\d{1,2}(?!\d)"                      # of a chapter: 9.1
AND = r"(?:,\s+(?:and\s+|or\s+)?|\s+(?:and|to|or)\s+|-)"
TWOS, DOTTEDS = rf"{TWO}(?:{AND}{TWO})*", rf"{DOTTED}(?:{AND}{DOTTED})*"
TEXT, PAGE, PROGRAM = "text", "page", "program"
READ = {"COMMENT", "STRING", "FSTRING_MIDDLE", "NAME"}
# In what a pattern matches: 9 of 9.1 or check-9-1, or all of 09.
NUMBER = re.compile(r"\d+(?=[-._]\d)|(?<!\d)(?<!\d[-._])\d\d(?!\d)")


class Reference(NamedTuple):
    """How a number is written that means a chapter."""

    pattern: str
    why: str
    where: str = TEXT           # TEXT: everywhere; else in this kind alone
    known: str = ""             # tag or exercise: the book has this one
    file: str = ".*"            # in files of this name alone


REFERENCES = [
    Reference(rf"(?<![\w.]){TWO}(?=_[a-z*])", "a file, 09_masks"),
    Reference(rf"(?:chapter_|test_|\bsheet-|CHAPTER=){TWO}",
              "a file of tests, a label, an argument of make"),
    Reference(rf"(?i)\bchapters?\s+{TWOS}", "said"),
    Reference(rf"(?<=\[){TWO}(?=[^\]\n]*\]\(\d\d_)", "the words of a link"),
    Reference(rf"(?<=` )\({TWO}\)", "where a function comes from, `ok` (00)"),
    Reference(rf"(?m)(?:^#+ |[\"(`]){TWO}(?=\. [A-Z])", "a title, 09. Masks"),
    Reference(rf"\\tag\{{{DOTTED}", "an equation"),
    Reference(rf"(?<![\w)\]}}\\$])\({DOTTEDS}\)", "by its number", known="tag"),
    Reference(rf"(?i)\b(?:exercises?|predict|solution|check|grade)\s+{DOTTEDS}",
              "an exercise or prediction, said"),
    Reference(rf"(?<=verdict\(\"){DOTTED}|{DOTTED}(?= correct\b| not )",
              "what a verdict is given, and prints", known="exercise"),
    Reference(r"(?<=[a-z])[-_]\d{1,2}[-_]\d(?!\d)",
              "an id or a function, check_9_1", known="exercise"),
    # In pages the number often stands alone.
    Reference(rf"\b(?<![-.:/\d])(?=(?:{TWO}{AND})*0\d){TWO}(?:{AND}{TWO})+",
              "a list with 0n", PAGE),
    Reference(rf"\b(?:[Ii]n|[Oo]f {TWO},) {TWOS}(?=[,.:;)]| only)",
              "in 14 and 19; of 12, 13 and 14,", PAGE),
    Reference(rf"\({TWO}(?=, \*?Deeper)|(?<=\S ){TWO}(?=: \")",
              "(15, *Deeper*); 09: a heading of it", PAGE),
    Reference(rf"(?<=week \d: ){TWOS}", "a plan of weeks", PAGE),
    Reference(rf"(?m)^\| {TWOS} \|", "first column", PAGE,
              file="bibliography.md|intro.md"),
    Reference(rf"(?<=\S \| ){TWOS}(?= \| |\s\(\d+\) \|)", "a column of a plan",
              PAGE, file="teaching_lectures.md"),
    Reference(rf"(?<=\| ){DOTTEDS}(?= \||\s\(\d+\) \|)", "exercises of a plan",
              PAGE, known="exercise", file="teaching_.*"),
    # In programs a number is a string.
    Reference(rf"(?:functions\(|chapter\(|PATHS\[)\"{TWO}(?=\")",
              "what reads a chapter", PROGRAM),
    Reference(rf"\(\"{TWO}(?=\", \"[a-z-]+\"\))", "a chapter and its cell",
              PROGRAM),
    Reference(rf"(?<=[\"']){DOTTED}(?=[\"'][:,\])])", "an exercise, the key",
              PROGRAM, known="exercise", file="(?!.*experiment).*"),
]
DOUBTFUL = {
    TEXT: r"(?<=[\s(]\()\d+(?=\.\d{1,2}\))",
    PAGE: rf"(?<![\w.$^{{=(-]){TWO}(?=,? and \d\d\b|, \d\d\b|:|; )"
          rf"|(?<=[a-z] \(){TWO}(?=\))",
    PROGRAM: rf"(?<=[\"']){TWO}(?=[\"'])"}


class Renumbering:
    """From `at` to `last`, by one; `known` dotted numbers by kind."""

    def __init__(self, at: int, last: int, known: dict[str, set[str]]):
        self.at, self.last, self.known = at, last, known
        self.doubts: list[str] = []

    def moves(self, number: str) -> bool:
        return self.at <= int(number) <= self.last

    def is_known(self, text: str, kind: str) -> bool:
        return not kind or self.known[kind] >= {
            f"{n}.{m}" for n, m in re.findall(r"(\d+)[-._](\d+)", text)}

    def places(self, text: str, where: set[str], name: str) -> set[Place]:
        """Each number in `text` that means a chapter."""
        return {(match.start() + number.start(), match.start() + number.end())
                for reference in REFERENCES
                if reference.where in where
                and re.fullmatch(reference.file, name)
                for match in re.finditer(reference.pattern, text)
                if self.is_known(match[0], reference.known)
                for number in NUMBER.finditer(match[0])}

    def text(self, text: str, where: set[str], name: str = "",
             read: Container[int] | None = None) -> str:
        """With new numbers, at the positions `read`; doubtful ones noted."""
        places = self.places(text, where, name)
        doubtful = {match.span() for kind in where
                    for match in re.finditer(DOUBTFUL[kind], text)} - places
        after = text
        for start, end in sorted(places | doubtful, reverse=True):
            if not self.moves(text[start:end]) or (
                    read is not None and start not in read):
                continue
            if (start, end) in places:
                number = f"{int(text[start:end]) + 1:0{end - start}}"
                after = after[:start] + number + after[end:]
            else:
                self.doubts.append(
                    " ".join(text[max(0, start - 40):start + 20].split()))
        return after

    def code(self, source: str, where: set[str], name: str = "") -> str:
        """Its comments, strings and names; nothing else."""
        starts, read = [0], set()
        for line in source.split("\n"):
            starts.append(starts[-1] + len(line) + 1)
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if tokenize.tok_name[token.type] in READ:
                start, end = (starts[row - 1] + column
                              for row, column in (token.start, token.end))
                read |= {*range(start, end)}
        return aligned(source, self.text(source, where, name, read))

    def notebook(self, notebook: Any) -> None:
        """Each cell, its id, what it shows, and what it is called."""
        for cell in notebook.cells:
            change = self.code if cell.cell_type == "code" else self.text
            cell.source = change(cell.source, {TEXT})
            nbgrader = cell.metadata.get("nbgrader", {})
            image = cell.metadata.get("mystnb", {}).get("image", {})
            for place, key in ((cell, "id"), (nbgrader, "grade_id"),
                               (image, "alt"),
                               *((output, "text") for output
                                 in cell.get("outputs", []))):
                if key in place:
                    place[key] = self.text(place[key], {TEXT})

    def file(self, path: Path) -> str:
        """The text of a file, with new numbers."""
        text = path.read_text("utf-8")
        if path.suffix == ".ipynb":
            notebook = nbformat.reads(text, as_version=4)
            self.notebook(notebook)
            return nbformat.writes(notebook) + "\n"
        if path.suffix == ".py":
            return self.code(text, {TEXT, PROGRAM}, path.name)
        kinds = {TEXT, PAGE} if path.suffix == ".md" else {TEXT}
        return self.text(text, kinds, path.name)


def known_numbers(notebooks: Iterable[Any]) -> dict[str, set[str]]:
    """The equations and exercises that the chapters have."""
    prose = "\n".join(cell.source for notebook in notebooks
                      for cell in notebook.cells if cell.cell_type != "code")
    return {"tag": {*re.findall(r"\\tag\{(\d+\.\d+)", prose)},
            "exercise": {*re.findall(r"\*\*Exercise (\d+\.\d+)", prose)}}


def texts(root: Path) -> list[Path]:
    """The files that may name a chapter."""
    files = [path for path in root.iterdir() if path.is_file()]
    for folder in FOLDERS:
        files += [path for path in (root / folder).rglob("*")
                  if not {"__pycache__", "_build"} & {*path.parts}]
    return sorted(path for path in files if path.name not in OURS and (
        path.suffix in SUFFIXES or path.name == "Makefile"))


def renumber(at: int, root: Path = ROOT,
             write: bool = True) -> Iterator[str]:
    """Lines that say what has changed. Raises ValueError."""
    chapters = sorted(root.glob("book/[0-9][0-9]_*.ipynb"))
    if f"{at:02}" not in {path.name[:2] for path in chapters}:
        raise ValueError(f"no chapter {at:02}: nothing has to move")
    last = int(chapters[-1].name[:2])
    renumbering = Renumbering(at, last, known_numbers(
        nbformat.read(path, as_version=4) for path in chapters))
    # From behind, so that no file takes the place of one yet to move.
    for path in reversed(texts(root)):
        renumbering.doubts.clear()
        before, after = path.read_text("utf-8"), renumbering.file(path)
        place = path.with_name(renumbering.text(path.name, {TEXT}))
        if before == after and place == path:
            continue
        lines = sum(old != new for old, new in zip(
            before.split("\n"), after.split("\n"), strict=True))
        moved = f" -> {place.name}" * (place != path)
        yield f"{path.relative_to(root)}{moved}: {lines} lines"
        yield from (f"  as it was: {words}" for words in renumbering.doubts)
        if write:
            path.write_text(after, "utf-8", newline="\n")
            path.rename(place)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("at", type=int, help="the number to be free")
    parser.add_argument("--new", metavar="topic", help="put a stub there")
    parser.add_argument("--dry-run", action="store_true")
    options = parser.parse_args()
    if options.new and not options.new.isidentifier():
        parser.error(f"{options.new!r} is no name in Python")
    if git(ROOT, "status", "--porcelain"):
        parser.error("there are changes: commit them first, so that what"
                     " moves can be looked at, and taken back")
    try:
        for line in renumber(options.at, write=not options.dry_run):
            print(line)
    except ValueError as reason:
        parser.error(str(reason))
    if options.new and not options.dry_run:
        stub = new_chapter.make(options.at, options.new)
        print(f"{stub.relative_to(ROOT)}: a stub")
    print("Now: make refresh (pictures show numbers, too), make lint,"
          " make test.")


if __name__ == "__main__":
    main()
