"""Draw the thread of the course, its waves as high as the numbers are large.

python -m tools.refresh.thread

Four files, wide and narrow, light and dark, and in the pages that show them
the words for those who cannot see them. A dot stands for its chapter and
those up to the next dot; a new chapter needs one only where it begins a part.
"""

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from course.chapter import chapters
from course.contents import parts
from course.paths import ROOT

DOTS = {                    # the chapter that begins it: words, wide and narrow
    "shapes_and_einsum": ("shapes|and einsum", "shapes and einsum"),
    "numerical_instability": ("numbers", "numbers"),
    "layer_normalization": ("norms", "normalization"),
    "tokens_and_embeddings": ("tokens and|embeddings", "tokens"),
    "attention": ("attention", "attention"),
    "multi_head_attention": ("multi-head|attention", "multi-head attention"),
    "feed_forward": ("feed-forward", "feed-forward"),
    "transformer": ("transformer", "transformer"),
    "fast_weights": ("fast weights", "fast weights"),
    "chunkwise_training": ("fast-weight|transformer",
                           "fast-weight transformer"),
    "flash_normalization": ("flash norm", "flash normalization"),
    "folding_a_model": ("in a model,|its worth", "in a model, and its worth")}
SAYINGS = {         # of a part: wide, so far from its first dot; narrow, before
    "I": (-94, "Numbers of the wrong|size break networks;|"
          "normalization repairs them.", "Numbers of the wrong size|"
          "break networks;|normalization repairs them."),
    "III": (34, *2 * ("Attention is a|normalized look-up.",)),
    "IV": (-82, "A memory without|the ring must earn|its stability back.",
           "A memory without the ring|must earn its stability back."),
    "V": (-46, "Flash normalization:|the ring moves to|where nothing waits.",
          "Flash normalization:|the ring moves to where|"
          "nothing waits for it.")}
Place = tuple[str, float]   # a dot, and steps from it to the next one
START, END = ("shapes_and_einsum", -.45), ("folding_a_model", .45)
TEAR, MENDED = ("numerical_instability", .15), ("numerical_instability", .36)
RING, LOST = ("numerical_instability", .72), ("transformer", .2)
STEADIED, EVEN = ("fast_weights", .35), ("chunkwise_training", .2)
LAST_RING = "flash_normalization", .28
MATRICES = ("layer_normalization", .2), ("chunkwise_training", .75)
THREAD: list[tuple[str, Place, Place, Callable[[float], float]]] = [
    ("wild", START, TEAR, lambda t: 5 * 15 ** t),
    ("wild", MENDED, RING, lambda t: 33),
    ("calm", RING, LOST, lambda t: 13),
    ("wild", LOST, STEADIED, lambda t: 13 + 40 * t ** 1.5),
    ("calm", STEADIED, EVEN, lambda t: 53 - 40 * t ** .7),
    ("wild", EVEN, LAST_RING, lambda t: 13 + 18 * min(1, 3 * t)),
    ("calm", LAST_RING, END, lambda t: 13)]
WORDS = """\
A wavy thread runs{down} from chapter {first} to chapter {last}, its waves \
as {high} as the numbers are large. At {numerical_instability} it grows \
until it tears, labeled nan. At {layer_normalization} it is drawn through a \
ring, before a matrix W, and stays even until {generation_and_caches}. At \
{fast_weights} it swells without a ring and is steadied again by {delta_rule}. \
At {flash_normalization} it goes through the matrix first and through the ring \
after."""
COLORS = {              # ink, soft ink, wild, calm, paper
    "light": ("#1f2933", "#59636e", "#c24e00", "#0067a3", "#ffffff"),
    "dark": ("#e6e9ec", "#a3adb8", "#ff9d52", "#6cc0f5", "#14181e")}
STYLE = """text {{ font: {size}px system-ui, -apple-system, "Segoe UI", Roboto,
  "Helvetica Neue", Arial, sans-serif; fill: {0} }}
.small {{ font-size: 13px }} .middle {{ text-anchor: middle }}
.wild, .calm {{ fill: none; stroke-width: 2; stroke-linejoin: round }}
.wild {{ stroke: {2} }} .calm {{ stroke: {3} }} .dot {{ fill: {3} }}
.bold {{ font-weight: 700 }} .nan {{ fill: {2} }} .matrix {{ fill: {4} }}
.box {{ fill: {0} }} .ring {{ fill: none; stroke: {0}; stroke-width: 3.5 }}
.road {{ stroke: {1}; stroke-width: 1.5 }}"""
ALT = re.compile(r"(thread-(narrow-)?(?:light|dark)\.svg"
                 r'(?:\n:class: .*\n:alt: |" alt="))[^"\n]*')


def words(narrow: bool) -> str:
    """The drawing in words."""
    numbers = {each.name[3:]: each.number for each in chapters()}
    return WORDS.format(**numbers, first=min(numbers.values()),
                        last=max(numbers.values()),
                        down=" down" if narrow else "",
                        high="wide" if narrow else "high")


def sayings() -> dict[str, tuple[int, str, str]]:
    """What the parts say, by their first dots."""
    return {names[0][3:]: SAYINGS[part] for caption, names in parts()
            if (part := (caption or "").partition(":")[0]) in SAYINGS}


def dots() -> dict[str, str]:
    """The numbers of each dot. ValueError: a part begins without one."""
    begins = [names[0] for _, names in parts()]
    groups: dict[str, list[str]] = {}
    for each in chapters():
        if each.name[3:] in DOTS:
            groups[each.name[3:]] = []
        elif each.name in begins:
            raise ValueError(f"DOTS lacks {each.name}, the first of its part")
        groups[[*groups][-1]].append(each.number)
    return {dot: ", ".join(numbers) if len(numbers) < 3
            else f"{numbers[0]}–{numbers[-1]}"
            for dot, numbers in groups.items()}


def lines(text: str, x: float, y: float, step: int, kind: str) -> str:
    """Lines of words one below the other, split at |."""
    spans = "".join(f'<tspan x="{x:g}" dy="{step * bool(row)}">{line}</tspan>'
                    for row, line in enumerate(text.split("|")))
    return f'<text class="{kind}" y="{y:g}">{spans}</text>'


def waves(narrow: bool, at: Callable[[Place], float]) -> list[str]:
    """The thread: a curve for each half wave, from side to side in turn."""
    paths, side = [], 0
    for kind, begin, end, height in THREAD:
        if begin in (START, MENDED):
            side = 1 if narrow else -1
        length = at(end) - at(begin)
        count = round(length / (6.5 if narrow else 7.7))
        points = [(at(begin), 0.)]
        for half in range(count):
            high = side * 4 / 3 * height((half + .5) / count)
            points += [(at(begin) + length * (half + part) / count, off)
                       for part, off in ((.364, high), (.636, high), (1, 0))]
            side = -side
        path = " ".join(f"{62 + .78 * off:.1f},{along:.1f}" if narrow
                        else f"{along:.1f},{156 + off:.1f}"
                        for along, off in points)
        paths.append(f'<path class="{kind}" d="M{path.replace(" ", "C", 1)}"/>')
    return paths


def dot_places(narrow: bool) -> dict[str, float]:
    """Where the dots stand along the thread."""
    at = {[*dots()][0]: 40. if narrow else 42.}
    for before, dot in pairwise(dots()):
        room = 54 if before == TEAR[0] else 36
        if dot in sayings():
            room = 58 + 16 * sayings()[dot][2].count("|")
        at[dot] = at[before] + (room if narrow else 62)
    return at


def marks(narrow: bool, at: dict[str, float]) -> list[str]:
    """The dots of the chapters, and what the parts say."""
    shapes = []
    for place, (dot, numbers) in enumerate(dots().items()):
        number = f'<tspan class="bold">{numbers}</tspan>'
        wide, long = DOTS[dot]
        x, y = (130, at[dot]) if narrow else (at[dot], 250)
        if narrow:
            shapes += [f'<text x="144" y="{y + 5:g}">{number} {long}</text>']
        else:
            low = 304 if place % 2 else 258
            shapes += [f'<path class="road" d="M{x:g},250V{low}"/>'
                       * (place % 2),
                       lines(f"{number}|{wide}", x, low + 16, 16, "middle")]
        shapes += [f'<circle class="dot" cx="{x:g}" cy="{y:g}" r="6.5"/>']
    for dot, (off, wide, deep) in sayings().items():
        top = at[dot] - 20 - 16 * deep.count("|")
        shapes += [lines(deep, 144, top, 16, "small") if narrow
                   else lines(wide, at[dot] + off, 20, 17, "")]
    return shapes


def drawing(narrow: bool, color: str) -> str:
    """The drawing as SVG."""
    dot_at = dot_places(narrow)
    first, *_, last = dot_at.values()
    steps = {here: there - here for here, there in pairwise(dot_at.values())}

    def at(place: Place) -> float:
        here, step = dot_at[place[0]], 36 if narrow else 62
        if place[1] > 0:
            step = steps.get(here, step)
        return here + place[1] * step

    shapes = waves(narrow, at)
    for place in (RING, LAST_RING):
        x, y = (62, at(place)) if narrow else (at(place), 156)
        radii = (20, 6) if narrow else (7, 22)
        shapes += ['<ellipse class="ring" cx="{:.1f}" cy="{:.1f}" rx="{}"'
                   ' ry="{}"/>'.format(x, y, *radii)]
    for place in MATRICES:
        x, y = (62, at(place)) if narrow else (at(place), 156)
        width, height = (44, 18) if narrow else (22, 48)
        left, top = x - width / 2, y - height / 2
        shapes += [f'<rect class="box" x="{left:.1f}" y="{top:.1f}"'
                   f' width="{width}" height="{height}" rx="3"/>',
                   f'<text class="matrix small bold middle" x="{x:.1f}"'
                   f' y="{y + 4.6:.1f}">W</text>']
    x, y = (8, at(TEAR) + 13) if narrow else (at(TEAR) + 5, 98)
    shapes += [f'<text class="nan bold" x="{x:.1f}" y="{y:.1f}">nan</text>',
               f'<path class="road" d="M130,{first:g}V{last:g}"/>' if narrow
               else f'<path class="road" d="M{first:g},250H{last:g}"/>']
    box = f"0 0 400 {last + 32:g}" if narrow else f"0 0 {last + 52:g} 366"
    inside = "\n".join(filter(None, [
        "<title>The thread of the course</title>",
        f"<desc>{words(narrow)}</desc>", "<style>"
        + STYLE.format(*COLORS[color], size=15 if narrow else 13) + "</style>",
        *shapes, *marks(narrow, dot_at)]))
    return ('<svg xmlns="http://www.w3.org/2000/svg" role="img"'
            f' viewBox="{box}">\n{inside}\n</svg>\n')


def stale(root: Path = ROOT) -> dict[Path, str]:
    """The drawings and pages that are not as they should be, as they should."""
    static = root / "book" / "_static"
    texts = {static / f"thread-{'narrow-' * narrow}{color}.svg":
             drawing(narrow, color)
             for narrow in (False, True) for color in COLORS}
    for page in (root / "README.md", root / "book" / "intro.md"):
        texts[page] = ALT.sub(lambda match: match[1] + words(bool(match[2])),
                              page.read_text("utf-8"))
    return {path: text for path, text in texts.items()
            if not path.exists() or text != path.read_text("utf-8")}


def write(root: Path = ROOT) -> list[Path]:
    """Write what is stale; the files that changed."""
    changed = stale(root)
    for path, text in changed.items():
        path.write_text(text, "utf-8", newline="\n")
    return [*changed]


if __name__ == "__main__":
    for path in write():
        print(path.relative_to(ROOT))
