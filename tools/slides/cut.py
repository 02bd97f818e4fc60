"""Prose for slides: cut at sentences, measured in lines, shared out to pages.

What is measured here is a guess, by counted signs; publish.py measures in
a browser.
"""

import re

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

WIDE, HIGH = 84, 12     # a slide's room: signs in a line, lines
ITEM = re.compile(r"(?ms)^(?:[-*]|\d+\.) .*?(?=^(?:[-*]|\d+\.) |\Z)")
TALL = re.compile(r"\\(?:[dt]?frac|sum|int|prod|under|over)|matrix")
MATRIX = re.compile(r"(?s)\\begin\{(\w*matrix)\}(.*?)\\end\{\1\}")
ROW = re.compile(r"\\\\|\\cr\b")
LINK = re.compile(r"\[([^\]]+)\]\([^)\s]+\)")
HELD = re.compile(r"\$\$.*?\$\$|\$[^$]+\$|`[^`]+`|\([^()]*\)", re.DOTALL)
BRACKET = re.compile(r"^(\([A-Z][^()]*\.\))(?= [A-Z$`*]|$)")    # a sentence
END = re.compile(r'(?<=[.?!])(?<!\bal\.)(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)'
                 r'[*_"”)]*\s+(?=[A-Z0-9$`*_("“\x00])')


def markdown(**options):
    """A parser of what the notebooks' cells are written in."""
    return MarkdownIt("commonmark").enable("table").use(
        dollarmath_plugin, allow_labels=False, **options)


PARSER = markdown()


def unlinked(text):
    return LINK.sub(r"\1", text)


def sentences(text):
    """The sentences of a paragraph; formulas, code and brackets stay whole."""
    held = []

    def hold(found):
        held.append(found[0])
        return f"\x00{len(held) - 1}\x01"

    def free(piece):
        while "\x00" in piece:
            piece = re.sub("\x00(\\d+)\x01", lambda m: held[int(m[1])], piece)
        return piece

    masked = HELD.sub(hold, " ".join(text.split()))
    cuts = [0, *(found.end() for found in END.finditer(masked)), len(masked)]
    said = [free(masked[a:b].strip()) for a, b in zip(cuts, cuts[1:],
                                                      strict=False) if b > a]
    return [piece.strip() for each in said for piece in BRACKET.split(each, 1)
            if piece.strip()]


def blocks(markdown):
    """(kind, source) of each paragraph, list, table, formula, in order."""
    lines = markdown.split("\n")
    return [(token.type.removesuffix("_open"),
             "\n".join(lines[slice(*token.map)]).strip("\n"))
            for token in PARSER.parse(markdown)
            if token.level == 0 and token.nesting >= 0 and token.map]


def width(text):
    """About how many signs of a line a text fills, its formulas drawn."""
    text = re.sub(r"\\(?:mathrm|mathbf|text|operatorname|[Bb]igl?r?|left|right)"
                  r"(?![a-z])|[*`$_^{}]", "", unlinked(text))
    return len(re.sub(r"\\[A-Za-z]+", "m", text))


def height(kind, source):
    """About how many lines of a slide a block fills."""
    if kind.startswith("math_block"):
        beside = [len(ROW.split(found[2])) for found in MATRIX.finditer(source)]
        rows = ROW.split(MATRIX.sub("m", source))
        return 0.6 + max([
            sum(2.2 if TALL.search(row) else 1.4 for row in rows),
            *(1.3 * count for count in beside)])
    if kind == "table":
        return source.count("\n") + 0.4
    if "list" in kind:
        return 0.2 + sum(height("item", item.strip()) - 0.15
                         for item in ITEM.findall(source))
    formulas = re.findall(r"(?s)\$\$(.*?)\$\$", source)
    rest = re.sub(r"(?s)\$\$.*?\$\$", "", source)
    return -(-width(rest) // WIDE) + 0.35 + sum(
        height("math_block", each) for each in formulas)


def lead(said, lines):
    """How many sentences, from the first on, fill at most so many lines."""
    for count in range(len(said), 1, -1):
        if width(" ".join(said[:count])) <= lines * WIDE:
            return count
    return 1


def shorten_items(source):
    """A list with items of about three lines -> it, what is cut."""
    kept, cut = [], []
    for item in ITEM.findall(source):
        mark, _, text = item.strip().partition(" ")
        said = [text] if "$$" in text else sentences(text)
        count = lead(said, 3)
        kept.append(f"{mark} {' '.join(said[:count])}")
        if said[count:]:
            cut.append(" ".join(said[count:]))
    return "\n".join(kept), cut


def shorten(parsed):
    """Blocks with short paragraphs and items -> kept, cut.

    A paragraph that leads to a formula, list or table keeps its last sentence.
    """
    kept, cut = [], []
    for at, (kind, source) in enumerate(parsed):
        if kind != "paragraph":
            if "list" in kind:
                source, gone = shorten_items(source)
                cut += gone
            kept.append((kind, source))
            continue
        said = sentences(source)
        leads = at + 1 < len(parsed) and parsed[at + 1][0] != "paragraph"
        whole = 6 if leads or source.startswith("By hand") else 4
        if lead(said, whole) < len(said):
            last = said[-1:] if leads else []
            first = lead(said, 3 - bool(leads))
            cut.append(" ".join(said[first:len(said) - len(last)]))
            said = [*said[:first], *last]
        kept.append(("paragraph", " ".join(said)))
    return kept, cut


def tall(group):
    return sum(height(*block) for block in group)


def pages(parsed, room=HIGH):
    """Blocks, shared out to slides. A lead-in stays with what it leads to.

    -> [[(kind, source), ...], ...], and what fits no slide.
    """
    found, full, lost = [[]], 0, []
    groups = []
    for kind, source in parsed:
        before = groups[-1] if groups else []
        if before and kind != "paragraph" and (
                tall([*before, (kind, source)]) <= room):
            before.append((kind, source))
        else:
            groups.append([(kind, source)])
    for group in groups:
        needs = tall(group)
        if needs > room:
            lost += [source for _, source in group]
            continue
        if full + needs > room:
            found.append([])
            full = 0
        found[-1] += group
        full += needs
    return [page for page in found if page], lost


def has_more(page):
    """More than paragraphs: a formula, a list, a table."""
    return any(kind != "paragraph" for kind, _ in page)
