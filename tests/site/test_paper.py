"""A chapter printed from the built site."""

import re

from pypdf import PdfReader

from course.chapter import chapters
from tools import paper


def test_a_chapter_on_paper(site, browser):
    """Its title and every figure; publish refuses lost links and headings."""
    target, _ = paper.publish(browser, "00", "letter", site.parent)
    pdf = PdfReader(target)
    assert {(round(sheet.mediabox.width), round(sheet.mediabox.height))
            for sheet in pdf.pages} == {(612, 792)}
    html = (site / "book" / f"{chapters()[0]}.html").read_text("utf-8")
    [figures] = paper.ARTICLE.findall(html)
    shown = sum(len(sheet.images) for sheet in pdf.pages)
    assert shown == len(re.findall("<img", figures)) > 3
    assert chapters()[0].title in pdf.pages[0].extract_text()
    assert paper.bookmarks(pdf)[-1]["/Title"] == "Answers"
