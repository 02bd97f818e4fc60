"""Cut the font of the formulas: python -m tools.mathfont latinmodern-math.otf

Writes book/_static/math.woff2 with the characters that the built pages in
_build/html use, and the stretchy parts of brackets and roots. Latin Modern
Math (GUST e-foundry; the Debian package fonts-lmodern holds it) may be changed
and passed on if it changes its name: book/_static/math-font.txt says so.
"""

import sys
from html import unescape
from pathlib import Path
from re import DOTALL, findall

from fontTools import subset
from fontTools.ttLib import TTFont

ROOT = Path(__file__).resolve().parent.parent
FONT = ROOT / "book" / "_static" / "math.woff2"
NAME = "Course Math"
# Mathematical italic letters start here; h has a place of its own.
ITALIC = {"a": 0x1D44E, "A": 0x1D434, "α": 0x1D6FC, "Α": 0x1D6E2}
RANGES = {"a": "abcdefghijklmnopqrstuvwxyz", "A": "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
VARIANTS = dict(zip("∂ϵϑϰϕϱϖ", range(0x1D715, 0x1D71C), strict=True))
SPARE = "()[]{}|‖√∑∏∫′⏞⏟¯^~→←⌈⌉⌊⌋⟨⟩"


def italic(letter):
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


def characters(html):
    """The characters that the formulas of a page are drawn with."""
    found = set()
    for formula in findall(r"<math.*?</math>", html, DOTALL):
        for tag, upright, text in findall(
                r"<(m[inos]|mtext)((?: [^>]*)?)>([^<]*)</", formula):
            text = unescape(text)
            alone = tag == "mi" and len(text) == 1
            found |= {italic(text)} if alone and "normal" not in upright \
                else set(text)
    return found - set("\u2061\u200b ")


def pages():
    return [path.read_text("utf-8") for path in
            sorted((ROOT / "_build" / "html").rglob("*.html"))]


def cut(source):
    options = subset.Options(
        flavor="woff2", layout_features=[], hinting=False, notdef_outline=True,
        name_IDs=[0, 1, 2, 13, 14])
    options.drop_tables += ["FFTM"]
    font = TTFont(source, recalcTimestamp=False)
    cutter = subset.Subsetter(options)
    cutter.populate(text="".join({*SPARE}.union(*map(characters, pages()))))
    cutter.subset(font)
    for entry in font["name"].names:
        if entry.nameID == 1:
            entry.string = NAME
    font.flavor = "woff2"
    font.save(FONT)
    print(f"{FONT.relative_to(ROOT)}: {FONT.stat().st_size:,} bytes")


if __name__ == "__main__":
    cut(sys.argv[1])
