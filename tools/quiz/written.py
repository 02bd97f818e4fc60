"""Questions in HTML, as a platform shows them: links lead to the site."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import unescape

from tools import prose
from tools.quiz import moodle
from tools.quiz.banks import Bank, Choice, Question
from tools.website.section_text import formula as typed

LINK = re.compile(r'(?s)<a\s+href="([^"]*)">(.*?)</a>')
PAGE = re.compile(r"(\w+)\.(?:ipynb|md)(#[\w-]*)?")
SPAN = re.compile(r"\$([^$]+)\$|[`*]")


def plain(markdown: str) -> str:
    """A line of Markdown without its marks, formulas as they can be typed."""
    return SPAN.sub(lambda span: typed(span[1]) if span[1] else "", markdown)


def linked(html: str, site: str) -> str:
    """Links inside the book lead to the site; without one they are words."""
    def link(match: re.Match[str]) -> str:
        page = PAGE.fullmatch(unescape(match[1]))
        if not page:
            return match[0]
        if not site:
            return match[2]
        return (f'<a href="{site}/book/{page[1]}.html{page[2] or ""}">'
                f"{match[2]}</a>")

    return LINK.sub(link, html)


def texts(question: Question) -> list[str]:
    """What of a question is Markdown, in an order that `written` knows."""
    number = question.page[:2]
    place = f"chapter {number}" if number.isdigit() else "the page for students"
    source = (f"{place}, [“{question.heading}”]"
              f"({question.page}.ipynb#{question.anchor})")
    return [f"From {source}:", question.context, question.text,
            f"Read {source}.", question.why,
            *(part for choice in question.choices
              for part in (choice.text, choice.word))]


def in_html(question: Question, html: Iterator[str]) -> Question:
    """The question as platforms show it; html: of its texts."""
    source, context, text, read, why = (next(html) for _ in range(5))
    if context:
        text = (f"{source}\n<blockquote>\n{context}\n</blockquote>\n"
                f"<div><strong>Question.</strong></div>\n{text}")
    return replace(
        question, title=plain(question.title), text=text,
        choices=[Choice(next(html), next(html)) for _ in question.choices],
        why=f"{why}\n{read}".strip())


def written(banks: Sequence[Bank], site: str) -> list[Bank]:
    """The banks in HTML.

    site: the address of the book, without a / at its end, or "".
    """
    markdown = [text for bank in banks for question in bank.questions
                for text in texts(question)]
    html = (linked(text, site) for text in prose.html(markdown, moodle.formula))
    return [replace(bank, questions=[in_html(question, html)
                                     for question in bank.questions])
            for bank in banks]
