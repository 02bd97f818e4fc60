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
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import nbformat

from course.paths import ROOT
from tools import new_chapter
from tools.rename import aligned

FOLDERS = ("book", "tests", "tools", "course", "experiments", "benchmarks",
           ".github")
SUFFIXES = {".ipynb", ".py", ".md", ".yml", ".csv", ".js", ".html", ".cff"}
OURS = {"CHANGELOG.md", "rename.py", "renumber.py", "new_chapter.py",
        "new_chapter.ipynb", "test_rename.py", "test_renumber.py"}

TWO = r"\d\d(?!\d|[.,]\d)"                              # a chapter: 09
DOTTED = r"\d{1,2}\.\d{1,2}(?!\d)"                      # of a chapter: 9.1
AND = r"(?:,\s+(?:and\s+|or\s+)?|\s+(?:and|to|or)\s+|-)"
TWOS, DOTTEDS = rf"{TWO}(?:{AND}{TWO})*", rf"{DOTTED}(?:{AND}{DOTTED})*"
TEXT, PAGE, PROGRAM, NAME = "text", "page", "program", "name"


class Reference(NamedTuple):
    """How a number is written that means a chapter."""

    pattern: str
    why: str
    where: str = TEXT           # TEXT: everywhere; else in this kind alone
    known: str = ""             # the dotted number is one of these
    file: str = ""              # in files of this name alone


REFERENCES = [
    Reference(rf"(?<![\w.]){TWO}(?=_[a-z*])", "a file, 09_masks"),
    Reference(rf"(?:chapter|test)_{TWO}", "a file of tests"),
    Reference(rf"(?<=\bsheet-){TWO}", "the label of a sheet"),
    Reference(rf"(?i)\bchapter\s+{TWO}", "said, one"),
    Reference(rf"(?i)\bchapters\s+{TWOS}", "said, several"),
    Reference(rf"(?<=\[){TWO}(?=[^\]\n]*\]\(\d\d_)", "the words of a link"),
    Reference(rf"(?<=` )\({TWO}\)", "where a function comes from, `ok` (00)"),
    Reference(rf"(?m)(?:^#+ |[\"(`]){TWO}(?=\. [A-Z])", "a title, 09. Masks"),
    Reference(rf"(?<=CHAPTER=){TWO}", "an argument of make"),
    Reference(r"\\tag\{\d+\.", "an equation"),
    Reference(rf"(?<![\w)\]}}\\$])\({DOTTEDS}\)", "by its number", known="tag"),
    Reference(rf"(?i)\b(?:exercises?|predict|solution|check|grade)\s+{DOTTEDS}",
              "an exercise or prediction, said"),
    Reference(rf"{DOTTED}(?= correct\b| not )", "what a verdict prints",
              known="exercise"),
    Reference(rf"(?<=verdict\(\"){DOTTED}", "what a verdict is given"),
    Reference(r"(?:^|(?<=[a-z]))[-_]?\d{1,2}[-_]\d(?!\d)",
              "an id, check-9-1", NAME, known="exercise"),
    Reference(r"(?<=[a-z])[-_]\d{1,2}[-_]\d(?!\d)",
              "an id in a text, or a function in a string", known="exercise"),
    Reference(rf"(?<=chapter_){TWO}", "a variable", NAME),
    # In pages the number often stands alone.
    Reference(rf"\b(?<![-.:/\d]){TWO}(?=_|\b)(?:{AND}{TWO})+", "a list with 0n",
              PAGE, known="zero"),
    Reference(rf"\b[Ii]n {TWOS}(?=[,.:;)]| only)", "in 14 and 19,", PAGE),
    Reference(rf"\b[Oo]f {TWO}, {TWOS}(?=[,.:;)])", "of 02, 11 and 14,", PAGE),
    Reference(rf"\({TWO}(?=, \*?Deeper)", "(15, *Deeper*)", PAGE),
    Reference(rf"(?m)^\| {TWOS} \|", "first column", PAGE,
              file="bibliography.md|intro.md"),
    Reference(rf"(?<=\S ){TWO}(?=: \")", "09: a heading of it", PAGE),
    Reference(rf"(?<=week \d: ){TWOS}", "a plan of weeks", PAGE),
    Reference(rf"(?<=\S \| ){TWOS}(?= \| |\s\(\d+\) \|)", "a column of a plan",
              PAGE, file="teaching_lectures.md"),
    Reference(rf"(?<=\| ){DOTTEDS}(?= \||\s\(\d+\) \|)", "exercises of a plan",
              PAGE, known="exercise", file="teaching_.*"),
    # In programs a number is a string.
    Reference(rf"(?:functions\(|PATHS\[)\"{TWO}(?=\")", "what reads a chapter",
              PROGRAM),
    Reference(rf"\(\"{TWO}(?=\", \"[a-z-]+\"\))", "a chapter and its cell",
              PROGRAM),
    Reference(rf"(?<=[\"']){DOTTED}(?=[\"'][:,\])])", "an exercise, the key",
              PROGRAM, known="exercise", file="(?!.*experiment).*"),
]


DOUBTFUL = {
    TEXT: r"(?<=[\s(])\((?P<n>\d+)\.\d{1,2}\)",
    PAGE: rf"(?<![\w.$^{{=(-])(?P<n>{TWO})(?=,? and \d\d\b|, \d\d\b|:|; )"
          rf"|(?<=[a-z] \()(?P<m>{TWO})(?=\))",
    PROGRAM: rf"[\"'](?P<n>{TWO})[\"']"}


class Renumbering:
    """From `at` on, by one; `known` dotted numbers by kind."""

    def __init__(self, at: int, last: int, known: dict[str, set[str]]):
        self.at, self.last, self.known = at, last, known
        self.doubts: list[str] = []

    def shift(self, number: str) -> str:
        more = int(number) + (self.at <= int(number) <= self.last)
        return f"{more:0{len(number)}}"

    def numbers(self, text: str, where: set[str], name: str) -> set[tuple]:
        """(start, end) of each number in `text` that means a chapter."""
        spans = set()
        for reference in REFERENCES:
            if reference.where not in where or reference.file and not (
                    re.fullmatch(reference.file, name)):
                continue
            for match in re.finditer(reference.pattern, text):
                if self.is_known(match[0], reference.known):
                    first = r"\d+(?=[-._]\d)|(?<!\d)(?<!\d[-._])\d\d(?!\d)"
                    spans |= {(match.start() + number.start(),
                               match.start() + number.end())
                              for number in re.finditer(first, match[0])}
                    if match[0].endswith("."):          # \tag{9.
                        spans.add((match.end() - 1 - len(re.search(
                            r"\d+(?=\.$)", match[0])[0]), match.end() - 1))
        return spans

    def is_known(self, text: str, kind: str) -> bool:
        if kind == "zero":
            return bool(re.search(r"\b0\d\b", text))
        dotted = re.findall(r"(\d+)[-._](\d+)", text)
        return not kind or all(
            f"{n}.{m}" in self.known[kind] for n, m in dotted)

    def text(self, text: str, where: set[str], name: str = "") -> str:
        return self.shifted(text, self.spans(text, where, name))

    def shifted(self, text: str, spans: set[tuple]) -> str:
        for start, end in sorted(spans, reverse=True):
            text = text[:start] + self.shift(text[start:end]) + text[end:]
        return text

    def spans(self, text: str, where: set[str], name: str,
              first: int = 0, last: int = 0) -> set[tuple]:
        """Its numbers; `first` and `last` characters are only their context.

        Notes what is doubtful.
        """
        spans = {span for span in self.numbers(text, where, name)
                 if first <= span[0] < len(text) - last}
        taken = {start for start, _ in spans}
        for kind, pattern in DOUBTFUL.items():
            for match in re.finditer(pattern, text) if kind in where else ():
                at = match.start(match.lastgroup)
                if (self.at <= int(match[match.lastgroup]) <= self.last
                        and first <= at < len(text) - last
                        and at not in taken):
                    self.doubts.append(
                        " ".join(text[max(0, at - 40):at + 20].split()))
        return spans

    def code(self, source: str, where: set[str], name: str = "") -> str:
        """Comments and strings as text, names as names; nothing else."""
        starts, spans = [0], set()
        for line in source.split("\n"):
            starts.append(starts[-1] + len(line) + 1)
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            start, end = (starts[row - 1] + column
                          for row, column in (token.start, token.end))
            begin, finish, kinds = start, end, where
            if token.type == tokenize.NAME:
                kinds = {NAME}
            elif token.type == tokenize.STRING:     # functions("09"), "9.1":
                begin, finish = max(0, start - 10), end + 20
            elif tokenize.tok_name[token.type] not in (
                    "COMMENT", "FSTRING_MIDDLE"):
                continue
            text = source[begin:finish]
            spans |= {(begin + left, begin + right) for left, right
                      in self.spans(text, kinds, name, start - begin,
                                    len(text) - (end - begin))}
        return aligned(source, self.shifted(source, spans))

    def notebook(self, notebook: Any) -> None:
        """Each cell, its id, what it shows, and what it is called."""
        for cell in notebook.cells:
            cell.id = self.text(cell.id, {NAME})
            if cell.cell_type != "code":
                cell.source = self.text(cell.source, {TEXT})
                continue
            cell.source = self.code(cell.source, {TEXT})
            nbgrader = cell.metadata.get("nbgrader", {})
            shown = cell.metadata.get("mystnb", {})
            for place, key, kind in (
                    (nbgrader, "grade_id", NAME),
                    (shown.get("image", {}), "alt", TEXT)):
                if key in place:
                    place[key] = self.text(place[key], {kind})
            for output in cell.outputs:
                if "text" in output:
                    output.text = self.text(output.text, {TEXT})

    def file(self, path: Path) -> str:
        text = path.read_text("utf-8")
        if path.suffix == ".ipynb":
            notebook = nbformat.reads(text, as_version=4)
            self.notebook(notebook)
            return nbformat.writes(notebook) + "\n"
        if path.suffix == ".py":
            return self.code(text, {TEXT, PROGRAM}, path.name)
        kinds = {TEXT, PAGE} if path.suffix == ".md" else {TEXT}
        return self.text(text, kinds, path.name)

    def name(self, path: Path) -> Path:
        """Where the file will lie."""
        numbered = r"^\d\d(?=_)|(?<=^chapter_)\d\d|(?<=^test_)\d\d"
        return path.with_name(re.sub(
            numbered, lambda found: self.shift(found[0]), path.name))


def known_numbers(notebooks: Iterable[Any]) -> dict[str, set[str]]:
    """The equations and exercises that the chapters have."""
    prose = "\n".join(cell.source for notebook in notebooks
                      for cell in notebook.cells if cell.cell_type != "code")
    return {"tag": set(re.findall(r"\\tag\{(\d+\.\d+)", prose)),
            "exercise": set(re.findall(r"\*\*Exercise (\d+\.\d+)", prose))}


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
        place = renumbering.name(path)
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
    try:
        for line in renumber(options.at, write=not options.dry_run):
            print(line)
    except ValueError as reason:
        parser.error(str(reason))
    if options.new and not options.dry_run:
        stub = new_chapter.make(options.at, options.new)
        print(f"{stub.relative_to(ROOT)}: a stub")
    print("Now: make refresh (pictures show numbers, too), then make test.")


if __name__ == "__main__":
    main()
