"""Print the book, or one chapter of it, from the built site to _build/paper/.

python -m tools.paper [--paper letter] [NN]

The chapters' articles become one document, so that links stay inside; Chromium
prints it; where chapters begin is read from that print, written into the
contents, and printed again. What has to be true of the result is checked.
"""

import argparse
import logging
import re
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path

import yaml
from playwright.sync_api import Browser, sync_playwright
from pypdf import PdfWriter
from pypdf.generic import DictionaryObject, NameObject, TextStringObject

from course.contents import parts
from course.paths import ROOT
from tools.browser import launch

logging.getLogger("pypdf").setLevel(logging.ERROR)   # mends, and tells of it

STYLE = re.compile(r'<link[^>]*href="\.\./(_static/[^"?]*\.css)')
ARTICLE = re.compile(r'<article class="bd-article">(.*?)</article>', re.DOTALL)
HEADING = re.compile(r'<h1>([^<]*)<a class="headerlink"')
EDITION = re.compile(r'<div class="extra_footer">\s*(Edition[^<]*?)[.\s]*<')
DRAWING = "../html/_static/thread-light.svg"
ROOMY = 100                     # characters of code that a line of A4 has
ROOM = {"a4": 673, "letter": 695}                   # pixels between its margins

# Names get their page's in front, so that links stay inside the document; what
# is folded becomes a line, or an answer at the end of its chapter.
PREPARE = """() => {
    const cut = note => {                        // a comment with its line
        const before = note.previousSibling, after = note.nextSibling
        if (before?.data) before.data = before.data.replace(/ +$/, "")
        if (after?.data) after.data = after.data.replace(/^\\n/, "")
        note.remove() }
    const printed = new Set([...document.querySelectorAll("article")]
        .map(article => article.id))
    for (const article of document.querySelectorAll("article")) {
        const of = article.id
        for (const node of article.querySelectorAll("[id]"))
            node.id = of + "/" + node.id
        for (const link of article.querySelectorAll("a[href]")) {
            const found = link.getAttribute("href")
                .match(/^(?:([\\w-]+)\\.html)?(?:#(.*))?$/)
            if (!found) continue
            const [, page = of, name] = found
            if (printed.has(page))
                link.href = "#" + (name ? page + "/" + name : page)
            else link.replaceWith(...link.childNodes) }
        for (const mark of article.querySelectorAll(".headerlink"))
            mark.remove()
        const answers = document.createElement("section")
        answers.className = "answers"
        answers.innerHTML = "<h2>Answers</h2>"
        answers.id = of + "/answers-on-paper"
        const keep = (label, place, parts) => {
            const answer = document.createElement("div")
            answer.id = `${of}/answer-${answers.children.length}`
            answer.innerHTML = `<p class="label"></p>`
            answer.firstChild.textContent = label
            answer.append(...parts)
            answers.append(answer)
            place.outerHTML = `<p class="later"><a href="#${answer.id}">` +
                "The answer is at the end of the chapter.</a></p>" }
        let label = ""
        for (const node of article.querySelectorAll("strong, h2, details")) {
            if (node.tagName != "DETAILS") {
                const named = node.textContent
                    .match(/^(Predict|Exercise|Question) [\\d.]*\\d/)
                if (named) label = named[0]
                continue }
            const summary = node.querySelector("summary")
            const fold = (node.querySelector(".collapsed") || summary)
                .textContent.trim().replace(/^Show:? /, "")
            const cell = node.closest("div.cell")
            if (/^answer/i.test(fold)) {
                summary.remove()
                keep(label, node, [...node.childNodes]) }
            else if (/^solution/.test(fold)) {
                for (const note of node.querySelectorAll(".c1"))
                    if (/^(# @title|### )/.test(note.textContent))
                        cut(note)
                keep(label, cell, [node.querySelector(".highlight")]) }
            else if (/^(check \\d|how an answer)/i.test(fold)) cell.remove()
            else if (/^\\W*(check|how we know):/i.test(fold))
                summary.replaceChildren(fold)
            else if (fold == "imports") {
                summary.remove()
                node.replaceWith(...node.childNodes) }
            else if (node.matches(".hide")) node.remove()
            else node.open = true }
        if (answers.children.length > 1) article.append(answers) }
    return [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")]
        .map(heading => heading.textContent.trim()) }"""
WIDE = """most => [...document.querySelectorAll("pre")]
    .flatMap(pre => pre.textContent.split("\\n"))
    .filter(line => line.length > most)"""
CLIPPED = """() => {
    const edge = document.querySelector("main").getBoundingClientRect().right
    return [...document.querySelectorAll("pre, table, img, math, p")]
        .filter(node => node.getBoundingClientRect().right > edge + 1)
        .map(node => node.outerHTML.slice(0, 80)) }"""
LOADED = """() => Promise.all([...document.images].map(image => image.decode()
    .catch(() => image.src))).then(all => all.filter(Boolean))"""
LOST = """() => [...document.querySelectorAll('a[href^="#"]')]
    .map(link => decodeURIComponent(link.getAttribute("href").slice(1)))
    .filter(name => !document.getElementById(name))"""
FILL = """starts => { for (const [page, number] of Object.entries(starts))
    document.querySelector(`.chapters a[href="#${page}"] b`)
        .textContent = number }"""


def article(html: str, page: str) -> str:
    """What a page of the site says, as a part of the document."""
    inside = ARTICLE.search(html)[1].replace('loading="lazy"', "")
    inside = re.sub(r"<script.*?</script>", "", inside, flags=re.DOTALL)
    inside = re.sub(r'(src|href)="\.\./_', r'\1="../html/_', inside)
    return f'<article class="bd-article" id="{page}">{inside}</article>'


def front(titles: dict[str, str], edition: str) -> str:
    """Title page, and contents whose numbers are still to come."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    title, _, subtitle = cited["title"].partition(": ")
    authors = ", ".join(author["name"] for author in cited["authors"])
    lines = []
    for caption, pages in parts():
        if caption:
            lines.append(f'<p class="caption">{caption}</p>')
        lines += [f'<a href="#{page}"><span>{titles[page]}</span><i></i>'
                  "<b>000</b></a>" for page in pages]
    return (f'<section class="cover"><p class="title">{title}</p>'
            f'<p class="subtitle">{subtitle[0].upper()}{subtitle[1:]}</p>'
            f'<img src="{DRAWING}" alt="" width="90%">'
            f"<p>{escape(authors)}</p><p>{edition}</p></section>"
            '<nav class="chapters"><p class="heading">Contents</p>'
            f'{"".join(lines)}</nav>')


def document(chapter: str | None, paper: str, site: Path) -> str:
    """The book of a built site, or a chapter of it, as one page of HTML."""
    pages = [page for _, each in parts() for page in each
             if not chapter or page.startswith(f"{chapter}_")]
    if not pages:
        sys.exit(f"no chapter {chapter}: CHAPTER takes its number, as in 04")
    texts = {page: (site / "book" / f"{page}.html").read_text("utf-8")
             for page in pages}
    titles = {page: HEADING.search(text)[1] for page, text in texts.items()}
    first = next(iter(texts.values()))
    edition = EDITION.search(first)[1]
    sheets = "".join(f'<link rel="stylesheet" href="../html/{sheet}">'
                     for sheet in STYLE.findall(first))
    small = "font: 8pt sans-serif; color: #555;"
    running = "".join(
        f'@page p{at} {{ @top-left {{ content: "{titles[page]}"; {small} }}\n'
        f'@top-right {{ content: "{edition}"; {small} }} }}\n'
        f'[id="{page}"] {{ page: p{at}; }}\n'
        for at, page in enumerate(pages))
    return (
        '<!DOCTYPE html><html lang="en" data-theme="light"><head>'
        f'<meta charset="utf-8"><title>{titles[pages[0]]}</title>'
        f"{sheets}<style>@page {{ size: {paper}; }}\n{running}</style></head>"
        f'<body class="paper"><main class="bd-content">'
        + ("" if chapter else front(titles, edition))
        + "".join(article(text, page) for page, text in texts.items())
        + "</main></body></html>")


def bookmarks(pdf: PdfWriter) -> list[DictionaryObject]:
    """The nodes of an outline, in the order of their pages."""
    def below(node: DictionaryObject) -> Iterator[DictionaryObject]:
        child = node.get("/First")
        while child is not None:
            child = child.get_object()
            yield child
            yield from below(child)
            child = child.get("/Next")

    outline = pdf.root_object.get("/Outlines")
    return [*below(outline.get_object())] if outline else []


def starts(pdf: PdfWriter) -> dict[str, int]:
    """{page of the site: number of the first page on paper}"""
    return {name[1:]: pdf.get_destination_page_number(place) + 1
            for name, place in pdf.named_destinations.items()
            if name.count("/") == 1}            # pypdf puts one in front


def publish(browser: Browser, chapter: str | None, paper: str,
            build: Path) -> tuple[Path, str]:
    """Write the PDF to build/paper; -> its path, and what it holds."""
    out = build / "paper"
    out.mkdir(exist_ok=True)
    name = f"chapter-{chapter}" if chapter else "book"
    source, target = out / f"{name}.html", out / f"{name}-{paper}.pdf"
    source.write_text(document(chapter, paper, build / "html"), "utf-8")
    tab = browser.new_page()
    tab.set_default_timeout(600_000)
    tab.goto(source.as_uri())
    titles = tab.evaluate(PREPARE)
    tab.emulate_media(media="print")
    tab.set_viewport_size({"width": ROOM[paper], "height": 1000})
    for wrong, nodes in {
            "code that is wider than a line": tab.evaluate(WIDE, ROOMY),
            "pictures that are not there": tab.evaluate(LOADED),
            "what is wider than the paper": tab.evaluate(CLIPPED),
            "links to nowhere": tab.evaluate(LOST)}.items():
        assert not nodes, f"{wrong}: {nodes}"

    def press() -> PdfWriter:
        tab.pdf(path=target, prefer_css_page_size=True, outline=True,
                tagged=True, print_background=True)
        return PdfWriter(clone_from=target)

    pdf = press()
    if not chapter:
        numbers = starts(pdf)
        tab.evaluate(FILL, numbers)
        pdf = press()
        assert starts(pdf) == numbers, "the contents name other pages"
    tab.close()
    marks = bookmarks(pdf)
    for mark, title in zip(marks, titles, strict=True):  # it loses spaces
        mark[NameObject("/Title")] = TextStringObject(title)
    pdf.write(target)
    source.unlink()
    return target, (f"{len(pdf.pages)} pages, {len(marks)} bookmarks, one for"
                    f" each heading, {target.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    ask = argparse.ArgumentParser()
    ask.add_argument("chapter", nargs="?")
    ask.add_argument("--paper", choices=[*ROOM], default="a4")
    asked = ask.parse_args()
    with sync_playwright() as playwright:
        started = launch(playwright)
        if started is None:
            sys.exit("no browser: run `.venv/bin/playwright install chromium`")
        path, holds = publish(started, asked.chapter, asked.paper,
                              ROOT / "_build")
    print(f"{path.relative_to(ROOT)}: {holds}")
