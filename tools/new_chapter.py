"""A stub where a chapter shall be, once tools.renumber has made room.

tools/new_chapter.ipynb is its notebook, as chapter 99: the smallest that has
the parts of a chapter. With it come answers to its exercises, its line in
_toc.yml and its sheet for teachers; `make refresh` writes the rest. All that
it says is to be replaced.
"""

import re
from pathlib import Path

from course.paths import ROOT

TEMPLATE = Path(__file__).with_suffix(".ipynb")
ANSWERS = '''"""Answers to chapter {number}; chapter_00.py tells the form."""

NUMBERS = {{"{n}.1": 2, "{n}.2": 4, "{n}.3": 6}}
DOMAIN = {{number: lambda rng: () for number in NUMBERS}}
RIGHT = [(number, how, f"return {{result}}")
         for number, twice in NUMBERS.items()
         for how, result in (("as a number", twice),
                             ("as a float", float(twice)))]
WRONG = [(number, mistake, words, f"return {{result}}")
         for number, twice in NUMBERS.items()
         for mistake, words, result in (
             ("one less", "which factor", twice - 1),
             ("half", "which factor", twice / 2),
             ("a list", "one number", [twice]),
             ("nothing", "return its result", None))]
HIDDEN = []
'''
SHEET = """(sheet-{number})=
## {number}. {title}

[The chapter]({stem}.ipynb)

| after it, a student can | exercise | minutes | points |
|---|---|---|---|
| say the first number | {n}.1 | 5 | 2 |
| say the second number | {n}.2 | 5 | 2 |
| say the third number | {n}.3 | 5 | 2 |

| wrong belief | what is the case | section |
|---|---|---|
| one | another | "First step: what is asked?" |
| two | another | "Second step: what is the answer?" |
| three | another | "Third step: what does it cost?" |

"""


def insert(path: Path, before: str, text: str) -> None:
    """Put a text in front of the first place that matches `before`."""
    page = path.read_text("utf-8")
    place = re.search(before, page)
    if place is None:
        raise ValueError(f"{path.name}: no {before}")
    path.write_text(page[:place.start()] + text + page[place.start():],
                    "utf-8", newline="\n")


def make(at: int, topic: str, root: Path = ROOT) -> Path:
    """Write the stub of chapter `at`, and what goes with it. -> its path"""
    names = sorted(path.stem for path in root.glob("book/[0-9][0-9]_*.ipynb"))
    before = next(name for name in names if name.startswith(f"{at - 1:02}"))
    behind = next(name for name in names if name.startswith(f"{at + 1:02}"))
    words = {"number": f"{at:02}", "n": at, "stem": f"{at:02}_{topic}",
             "title": topic.replace("_", " ").capitalize()}
    text = TEMPLATE.read_text("utf-8")
    for old, new in (("# 99. New topic", "# {number}. {title}"),
                     ("98_before", before), ("new_topic", topic),
                     ("99", "{n}")):
        text = text.replace(old, new.format(**words))
    path = root / f"book/{words['stem']}.ipynb"
    path.write_text(text, "utf-8", newline="\n")
    (root / f"tests/exercises/chapter_{at:02}.py").write_text(
        ANSWERS.format(**words), "utf-8", newline="\n")
    insert(root / "_toc.yml", rf" *- file: book/{behind}\n",
           f"      - file: book/{words['stem']}\n")
    insert(root / "book/teaching_chapters.md", rf"\(sheet-{at + 1:02}\)=",
           SHEET.format(**words))
    return path
