"""Cut the font of the formulas to the characters that they are drawn with.

python -m tools.refresh.mathfont

Its source is Latin Modern Math (GUST e-foundry), which the Debian package
fonts-lmodern installs. It may be changed and passed on if it changes its name:
book/_static/math-font.txt says so. `make refresh` cuts it anew only where a
formula has a character that the font lacks.
"""

import sys
from collections.abc import Iterable
from html import unescape
from pathlib import Path
from re import DOTALL, findall

from fontTools import subset
from fontTools.ttLib import TTFont

from course.chapter import chapters
from course.paths import BOOK
from tools import prose

FONT = BOOK / "_static" / "math.woff2"
SOURCE = Path("/usr/share/texmf/fonts/opentype/public/lm-math/"
              "latinmodern-math.otf")
NAME = "Course Math"
# Mathematical italic letters start here; h has a place of its own.
ITALIC = {"a": 0x1D44E, "A": 0x1D434, "α": 0x1D6FC, "Α": 0x1D6E2}
VARIANTS = dict(zip("∂ϵϑϰϕϱϖ", range(0x1D715, 0x1D71C), strict=True))
SPARE = "()[]{}|‖√∑∏∫′⏞⏟¯^~→←⌈⌉⌊⌋⟨⟩"


def italic(letter: str) -> str:
    """The character that a browser draws for a single letter in <mi>."""
    if letter == "h":
        return "\u210e"
    if letter in VARIANTS:
        return chr(VARIANTS[letter])
    for first, at in ITALIC.items():
        step = ord(letter) - ord(first)
        if 0 <= step < (25 if ord(first) > 0x370 else 26):
            return chr(at + step)
    return letter


def characters(html: str) -> set[str]:
    """The characters that formulas in MathML are drawn with."""
    drawn: set[str] = set()
    for formula in findall(r"<math.*?</math>", html, DOTALL):
        for tag, upright, text in findall(
                r"<(m[inos]|mtext)((?: [^>]*)?)>([^<]*)</", formula):
            text = unescape(text)
            alone = tag == "mi" and len(text) == 1
            drawn |= {italic(text)} if alone and "normal" not in upright \
                else set(text)
    return drawn - set("\u2061\u200b ")


def book() -> set[str]:
    """The characters of all formulas in notebooks and pages."""
    texts = [chapter.prose for chapter in chapters()]
    texts += [path.read_text("utf-8") for path in sorted(BOOK.glob("*.md"))]
    return characters("".join(prose.html(texts)))


def lacking() -> set[str]:
    """The characters that the book's formulas have and its font has not."""
    return book() - set(map(chr, TTFont(FONT).getBestCmap()))


def cut(needed: Iterable[str]) -> None:
    """Write the font with these characters. Raises FileNotFoundError."""
    if not SOURCE.exists():
        raise FileNotFoundError(
            f"the font of formulas lacks {' '.join(sorted(lacking()))}, and its"
            " source is not here: apt-get install fonts-lmodern")
    options = subset.Options(
        flavor="woff2", layout_features=[], hinting=False, notdef_outline=True,
        name_IDs=[0, 1, 2, 13, 14])
    options.drop_tables += ["FFTM"]
    font = TTFont(SOURCE, recalcTimestamp=False)
    cutter = subset.Subsetter(options)
    cutter.populate(text="".join({*SPARE, *needed}))
    cutter.subset(font)
    for entry in font["name"].names:
        if entry.nameID == 1:
            entry.string = NAME
    font.flavor = "woff2"
    font.save(FONT)


def write() -> list[Path]:
    """Cut the font anew where it lacks a character; the files that changed."""
    if not lacking():
        return []
    cut(book())
    return [FONT]


if __name__ == "__main__":
    before = FONT.read_bytes()
    try:
        cut(book())
    except FileNotFoundError as error:
        sys.exit(str(error))
    print(f"{FONT.name}: {FONT.stat().st_size:,} bytes,"
          f" {'the same' if FONT.read_bytes() == before else 'new'}")
