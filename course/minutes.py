"""How long a chapter takes to read: an estimate, by one rate per kind.

Easy prose 150 words a minute; dense prose, with a formula, code or three
numbers in its paragraph, 80; a displayed formula 45 s; a visible line of code
8 s; a figure 45 s; a prediction 90 s. Tables are read as dense prose.
"""

import re
from collections.abc import Iterable

from course.chapter import DETAILS, Chapter, Section
from course.prediction import MARK

EASY, DENSE = 150, 80                   # words a minute
FORMULA = FIGURE = 0.75                 # minutes for each
LINE, PREDICTION = 8 / 60, 1.5
DISPLAY = re.compile(r"(?s)\$\$.*?\$\$")
INLINE = re.compile(r"\$[^$]+\$")
NUMBER = re.compile(r"(?<![\w.])\d[\d,.]*")
STEP = 5                                # an estimate is no stopwatch


def is_dense(paragraph: str) -> bool:
    """Does it ask to be read slowly?"""
    return (bool(INLINE.search(paragraph)) or "`" in paragraph
            or paragraph.startswith("|")
            or len(NUMBER.findall(paragraph)) >= 3)


def words(text: str) -> int:
    """Words of a text; formulas are none."""
    return len(INLINE.sub(" ", text).split())


def prose_minutes(text: str) -> float:
    """Of Markdown, folded answers left out."""
    text = DETAILS.sub("", text)
    rest = DISPLAY.sub(" ", text)
    return len(DISPLAY.findall(text)) * FORMULA + sum(
        words(paragraph) / (DENSE if is_dense(paragraph) else EASY)
        for paragraph in re.split(r"\n\s*\n", rest))


def reading_minutes(parts: Iterable[Section]) -> float:
    """Of sections, as the page shows them."""
    return sum(prose_minutes(part.prose()) + part.lines() * LINE
               + part.figures() * FIGURE
               + len(MARK.findall(part.prose())) * PREDICTION
               for part in parts)


def stated_minutes(chapter: Chapter) -> int:
    """Of all that counts, rounded to 5, as its opening states it."""
    counted = reading_minutes(part for part in chapter.sections if part.counts)
    return STEP * round(counted / STEP)
