"""Markdown cut at paragraphs and sentences, so that it fits a slide."""

import re
from itertools import groupby
from operator import itemgetter

LINK = re.compile(r"\[([^\]]+)\]\([^)\s]+\)")
WHOLE = re.compile(r"(?s)\$\$.*?\$\$|\$[^$]+\$|`[^`]+`|\([^()]*\)")
END = re.compile(r'(?<=[.?!])(?<!\bal\.)(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)'
                 r'[*_"”)]*\s+(?=[A-Z0-9$`*_("“\x00])')
DISPLAY = re.compile(r"(?s)\s*(\$\$.*?\$\$)\s*")
UNSEEN = re.compile(r"\\[A-Za-z]+|[\\{}$^_*`]")


def sentences(paragraph: str) -> list[str]:
    """Its sentences; a formula, code or bracket stays whole."""
    held: list[str] = []

    def hold(found: re.Match[str]) -> str:
        held.append(found[0])
        return f"\x00{len(held) - 1}\x01"

    masked = WHOLE.sub(hold, " ".join(paragraph.split()))
    ends = [0, *(found.end() for found in END.finditer(masked)), len(masked)]
    said = [masked[start:end].strip()
            for start, end in zip(ends, ends[1:], strict=False)]
    return [re.sub("\x00(\\d+)\x01", lambda found: held[int(found[1])], each)
            for each in said if each]


def paragraphs(text: str) -> list[str]:
    """Of Markdown without its headings and links; a displayed formula is one.
    """
    text = LINK.sub(r"\1", re.sub(r"(?m)^#+ .*\n*", "", text))
    text = DISPLAY.sub(lambda found: "\n\n" + re.sub(
        r"\n(?=[-=+])", " ", found[1]) + "\n\n", text)    # no list, no heading
    return [each.strip() for each in re.split(r"\n\s*\n", text)
            if each.strip()]


def is_prose(paragraph: str) -> bool:
    """Is it made of sentences: no formula, table, list, code or quote?"""
    return not re.match(r"\$\$|\||!\[|[-*>] |\d+\. |```|<", paragraph)


def signs(text: str) -> int:
    """About how many signs are seen of a text, its formulas drawn."""
    return len(UNSEEN.sub("", text))


def is_whole(piece: str) -> bool:
    """Does it lead to nothing that is not there?"""
    return not is_prose(piece) or bool(re.search(r'[.?!][)*_"”]*$', piece))


def lead(text: str, most: int) -> str:
    """Its first sentences, as many as hold `most` signs; one at least."""
    pieces = [(at, piece) for at, each in enumerate(paragraphs(text))
              for piece in (sentences(each) if is_prose(each) else [each])]
    count = 1
    while count < len(pieces) and sum(
            signs(piece) for _, piece in pieces[:count + 1]) <= most:
        count += 1
    while 1 < count < len(pieces) and not is_whole(pieces[count - 1][1]):
        count -= 1
    return "\n\n".join(" ".join(piece for _, piece in group) for _, group
                       in groupby(pieces[:count], key=itemgetter(0)))


def tail(paragraph: str) -> str:
    """Its last sentence; two, if that is a short one."""
    said = sentences(paragraph) if is_prose(paragraph) else []
    return " ".join(said[-2 if said and signs(said[-1]) < 40 else -1:])


def caption(paragraph: str = "", most: int = 150) -> str:
    """The first sentences of prose, none of which leads to a formula."""
    said = sentences(lead(paragraph, most)) if is_prose(paragraph) else []
    return " ".join(filter(is_whole, said))
