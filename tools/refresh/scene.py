"""Draw the story of the front page, and where the trained model looks in it.

python -m tools.refresh.scene

Two files, light and dark. Arcs and numbers are what the model of chapter 13
computes; the words beside them stand in book/intro.md.
"""

from collections.abc import Iterator
from pathlib import Path

import torch

from course.chapter import functions
from course.paths import BOOK, ROOT
from tools.refresh.thread import COLORS

LINES = ("Anna gave Tom a kite .", "he thanked her for it .",
         "Tom gave Eva the kite .", "who has the kite?")
COLUMNS, ROWS = (32, 98, 166, 214, 262, 308), (28, 60, 136, 200)
HEIGHT = 252
STYLE = """text {{ font: 17px system-ui, -apple-system, "Segoe UI", Roboto,
  "Helvetica Neue", Arial, sans-serif; text-anchor: middle }}
text, circle {{ fill: {1} }}
text.part, circle.part {{ fill: {0}; font-weight: 700 }}
.number {{ font-size: 14px }}
path {{ fill: none; stroke-linecap: round; opacity: .85 }}
.first {{ stroke: {3} }} .number.first {{ stroke: none; fill: {3} }}
.then {{ stroke: {2} }} .number.then {{ stroke: none; fill: {2} }}"""
STOP, QUESTION = 17, 21                 # places in the story
LOOKS = (                   # block, head, from, to, then where it stands
    (1, 1, STOP, 14, "first", "M311,118C311,78 166,78 166,116", (200, 82)),
    (1, 2, STOP, 16, "first", "M301,118C301,97 262,97 262,116", (238, 114)),
    (2, 3, QUESTION, STOP, "then", "M240,194C292,194 308,182 308,144",
     (272, 178)))
SAYINGS = (("first", 64, 112, "first,"), ("then", 64, 172, "then"))


def place(word: int) -> tuple[int, int]:
    """The middle of the foot of a word: lines of six words."""
    return COLUMNS[word % 6], ROWS[word // 6]


def drawing(color: str) -> str:
    """The drawing as SVG."""
    kite = functions("13")
    words = " ".join(LINES).split()
    ids = torch.tensor([[kite.KiteWorld.words.index(word) for word in words]])
    model = kite.Transformer()
    model.load_state_dict({name: torch.tensor(weights) for name, weights
                           in kite.kite_weights().items()})
    maps = kite.attention_maps(model, ids)
    with torch.no_grad():
        shares = model(ids)[0, -1].softmax(-1)
    answer = kite.KiteWorld.words[shares.argmax()]
    parts = {end for _, _, *ends, _, _, _ in LOOKS for end in ends}
    shapes = [f'<text class="number {kind}" x="{x}" y="{y}">{text}</text>'
              for kind, x, y, text in SAYINGS]
    for block, head, query, key, kind, curve, (x, y) in LOOKS:
        weight = maps[block - 1][0, head, query, key].item()
        shapes += [f'<path class="{kind}" stroke-width="{7 * weight:.1f}"'
                   f' d="{curve}"/>', f'<text class="number {kind}" x="{x}"'
                   f' y="{y}">{weight:.2f}</text>']
    for word, text in enumerate(words):
        x, y = place(word)
        kind = ' class="part"' if word in parts else ""
        shapes += [f'<circle{kind} cx="{x}" cy="{y - 2}" r="3"/>'
                   if text == "." else
                   f'<text{kind} x="{x}" y="{y}">{text}</text>']
    x, y = place(QUESTION)
    shapes += [f'<path class="then" stroke-width="2" d="M{x},{y + 8}V{y + 24}'
               f'm-5,-6l5,6l5,-6"/>', f'<text class="part" x="{x}"'
               f' y="{y + 44}">{answer} {shares.max():.2f}</text>']
    return ('<svg xmlns="http://www.w3.org/2000/svg" role="img"'
            f' viewBox="0 0 360 {HEIGHT}">\n<style>'
            + STYLE.format(*COLORS[color]) + "</style>\n"
            + "\n".join(shapes) + "\n</svg>\n")


def write(folder: Path = BOOK / "_static") -> Iterator[Path]:
    """Write them; yields the files that changed."""
    for color in COLORS:
        path, text = folder / f"scene-{color}.svg", drawing(color)
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8", newline="\n")
            yield path


if __name__ == "__main__":
    for changed in write():
        print(changed.relative_to(ROOT))
