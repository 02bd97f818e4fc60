"""A chapter printed from the built site."""

import re
from html import unescape

from pypdf import PdfReader

from course.chapter import chapters
from tools import paper


def links(pdf):
    """The names inside the document that its links lead to."""
    for sheet in pdf.pages:
        for note in map(lambda each: each.get_object(),
                        sheet.get("/Annots", [])):
            if "/Dest" in note:
                yield note["/Dest"]


def test_a_chapter_on_paper(site, browser):
    """Its title, a bookmark per section, every figure, links inside."""
    target, _ = paper.publish(browser, "00", "letter", site.parent)
    pdf = PdfReader(target)
    assert {(round(sheet.mediabox.width), round(sheet.mediabox.height))
            for sheet in pdf.pages} == {(612, 792)}
    html = paper.ARTICLE.search(
        (site / "book" / f"{chapters()[0]}.html").read_text("utf-8"))[1]
    sections = re.findall(r'<h([1-4])>(.*?)<a class="headerlink"', html)
    titles = [unescape(re.sub("<.*?>", "", words)) for _, words in sections]
    marks = [mark["/Title"] for mark in paper.bookmarks(pdf)]
    assert marks == [*titles, "Answers"]
    assert titles[0] in pdf.pages[0].extract_text()
    shown = sum(len(sheet.images) for sheet in pdf.pages)
    assert shown == len(re.findall("<img", html)) > 3
    inside = [*links(pdf)]
    assert len(inside) >= 8 and set(inside) <= set(pdf.named_destinations)
