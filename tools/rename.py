"""Rename a function or class of the chapters wherever it is used or named.

python -m tools.rename causal_mask look_back_mask

In code, names are renamed by token; of attributes, only those of a chapter
(`functions("09").causal_mask`, `CHAPTER.causal_mask`). In prose, comments and
strings a name counts in backticks and before a parenthesis; one with an
underscore, which no English text has, as a word. What is left is printed.
"""

import builtins
import io
import keyword
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import nbformat

from course.chapter import chapters
from course.code import definitions, reads_and_defines
from course.paths import ROOT

PROGRAMS = "tests", "tools", "course", "experiments", "benchmarks"
PAGES = "*.md", "book/*.md", "experiments/*.md"
LEFT = {"CHANGELOG.md", "rename.py", "test_rename.py"}     # history; examples
SPAN = re.compile(r"`+[^`\n]+`+")
TOPICS = {chapter.name[3:] for chapter in chapters()}
COMMENTED = re.compile(r"(.*?\S)(  +)(#.*)")
TEXTS = {tokenize.COMMENT, tokenize.STRING,
         getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}


def refuse(old: str, new: str) -> None:
    """Raises SystemExit where the renaming would break something."""
    def stop(reason: str) -> NoReturn:
        sys.exit(f"Nothing is renamed: {reason}.")


    if not new.isidentifier() or keyword.iskeyword(new):
        stop(f"{new!r} is no name in Python")
    if hasattr(builtins, new):
        stop(f"{new} is a name of Python's own")
    code = [(chapter.number, cell.source) for chapter in chapters()
            for cell in chapter.code]
    if old not in {each.name for _, source in code
                   for each in definitions(source)}:
        stop(f"no chapter defines {old}")
    if taken := {number for number, source in code
                 if new in set.union(*reads_and_defines(source))}:
        stop(f"{new} is used already: {', '.join(sorted(taken))}")


def spots(text: str, old: str) -> list[int]:
    """Where prose, a comment or a string names it."""
    places = [match.start() for match in
              re.finditer(rf"(?<![\w.]){re.escape(old)}(?!\w)", text)]
    if "_" in old.strip("_"):
        return places
    spans = [range(*span.span()) for span in SPAN.finditer(text)]
    return [at for at in places if any(at in span for span in spans)
            or text[at + len(old):][:1] == "("]


def replaced(text: str, old: str, new: str, places: list[int]) -> str:
    """The text with the new name at these places."""
    for at in sorted(places, reverse=True):
        text = text[:at] + new + text[at + len(old):]
    return text


def prose(text: str, old: str, new: str) -> str:
    """Markdown, with the name renamed."""
    return replaced(text, old, new, spots(text, old))


def is_foreign(before: list[str]) -> bool:
    """Do these tokens make the next name an attribute of something else?"""
    if before[-1:] != ["."]:
        return False
    of_chapter = before[-5:-3] == ["functions", "("] or before[-2].isupper()
    return not of_chapter


def aligned(before: str, after: str) -> str:
    """A comment behind a line stays in its column if it can."""
    lines = []
    for old, new in zip(before.split("\n"), after.split("\n"), strict=True):
        was, now = COMMENTED.fullmatch(old), COMMENTED.fullmatch(new)
        if old != new and was and now:
            room = max(2, len(was[1] + was[2]) - len(now[1]))
            new = f"{now[1]}{room * ' '}{now[3]}"
        lines.append(new)
    return "\n".join(lines)


def code(source: str, old: str, new: str) -> str:
    """A cell or a module, with names, comments and strings renamed."""
    starts = [0]
    for line in source.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    places: list[int] = []
    before: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        at = starts[token.start[0] - 1] + token.start[1]
        if token.type in TEXTS and old in TOPICS and (
                token.string.strip("\"'") == old):
            continue                                # the key of a chapter
        if token.type in TEXTS:
            places += [at + spot for spot in spots(token.string, old)]
        elif token.string == old and not is_foreign(before) and not (
                before[-1:] == ["def"] and token.line[0].isspace()):
            places.append(at)                       # a method keeps its name
        before.append(token.string)
    return aligned(source, replaced(source, old, new, places))


def renamed(path: Path, old: str, new: str) -> str:
    """The text of a file, renamed."""
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        return code(text, old, new)
    if path.suffix != ".ipynb":
        return prose(text, old, new)
    notebook = nbformat.reads(text, as_version=4)
    for cell in notebook.cells:
        change = code if cell.cell_type == "code" else prose
        cell.source = change(cell.source, old, new)
        image = cell.metadata.get("mystnb", {}).get("image", {})
        if "alt" in image:
            image["alt"] = prose(image["alt"], old, new)
    return nbformat.writes(notebook) + "\n"


def files(root: Path) -> Iterator[Path]:
    """All that may name a function of the chapters."""
    yield from sorted(root.glob("book/*.ipynb"))
    for folder in PROGRAMS:
        yield from sorted(path for path in (root / folder).rglob("*.py")
                          if path.name not in LEFT)
    for page in PAGES:
        yield from sorted(path for path in root.glob(page)
                          if path.name not in LEFT)


def main(old: str, new: str) -> None:
    """Rename; print the files that changed, and the words that stay."""
    refuse(old, new)
    for path in files(ROOT):
        before = path.read_text("utf-8")
        if old not in before:
            continue
        after = renamed(path, old, new)
        if after == before:
            continue
        path.write_text(after, "utf-8", newline="\n")
        left = len(re.findall(rf"\b{re.escape(old)}\b", after))
        print(f"{path.relative_to(ROOT)}: {before.count(old)} places"
              + f", {left} of them left as they are" * bool(left))
    print("Now: make refresh, make lint, make test.")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
