"""Questions in HTML, as a platform shows them: links lead to the site."""

import re
from dataclasses import dataclass
from html import unescape

from tools import prose
from tools.website.section_text import formula as typed

LINK = re.compile(r'<a\s+href="([^"]*)">(.*?)</a>', re.DOTALL)
PAGE = re.compile(r"(\w+)\.(?:ipynb|md)(#[\w-]*)?")
SPAN = re.compile(r"\$([^$]+)\$|[`*]")


@dataclass
class Written:
    """A question; of its choices, [(HTML, word in HTML or "")]."""

    ident: str
    title: str                          # plain text
    text: str
    choices: list[tuple[str, str]]
    why: str

    @property
    def is_true_or_false(self):
        return len(self.choices) == 2


def plain(markdown):
    """A line of Markdown without its marks, formulas as they can be typed."""
    return SPAN.sub(lambda found: typed(found[1])
                    if found[1] else "", markdown)


def linked(html, site):
    """Links inside the book lead to the site; without one they are words."""
    def link(found):
        page = PAGE.fullmatch(unescape(found[1]))
        if not page:
            return found[0]
        if not site:
            return found[2]
        return (f'<a href="{site}/book/{page[1]}.html{page[2] or ""}">'
                f"{found[2]}</a>")

    return LINK.sub(link, html)


def texts(question):
    """What of a question is Markdown, in an order that `written` knows."""
    place = question.place
    source = (f"chapter {place.page[:2]}, [“{place.heading}”]"
              f"({place.page}.ipynb#{place.anchor})")
    return [f"From {source}:", question.context, question.text,
            f"Read {source}.", question.why,
            *(part for choice in question.choices
              for part in (choice.text, choice.word))]


def written(banks, formula, site):
    """{ident: a question of the banks}; formula as prose.html takes it.

    site: the address of the book, without a / at its end, or "".
    """
    questions = [one for bank in banks for one in bank.questions]
    made = iter([linked(html, site) for html in prose.html(
        [text for one in questions for text in texts(one)], formula)])
    found = {}
    for one in questions:
        source, context, text, read, why = (next(made) for _ in range(5))
        if context:
            text = (f"{source}\n<blockquote>\n{context}\n</blockquote>\n"
                    f"<div><strong>Question.</strong></div>\n{text}")
        found[one.ident] = Written(
            one.ident, plain(one.title), text,
            [(next(made), next(made)) for _ in one.choices],
            f"{why}\n{read}".strip())
    return found
