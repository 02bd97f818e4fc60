"""Make the slides of a chapter, or of all: python -m tools.slides [NN]

tools/slides/choose.py picks them from the notebook's cells; draw.py makes one
file of HTML, in _build/slides/, which Chromium prints as a PDF beside it. A
slide that does not hold what stands on it is an error.
"""

import argparse
import sys

from playwright.sync_api import sync_playwright
from pypdf import PdfReader

from course.chapter import chapters
from course.paths import BUILD
from course.sheets import sheets
from tools.browser import launch
from tools.slides.choose import choose
from tools.slides.draw import draw

FULL = """async () => {
    await document.fonts.ready
    await Promise.all([...document.images].map(image => image.decode()))
    const found = []
    for (const slide of document.querySelectorAll(".slide")) {
        const body = slide.querySelector(".body")
        const room = body.getBoundingClientRect()
        const over = [...body.querySelectorAll("*")].some(
            node => node.getBoundingClientRect().right > room.right + 1)
        if (body.scrollHeight > body.clientHeight + 6)      // a descender
            found.push(`slide ${slide.id} is `
                + `${body.scrollHeight - body.clientHeight} pixels too high`)
        if (over) found.push(`slide ${slide.id} is too wide`)
        for (const image of body.querySelectorAll("img"))
            if (image.getBoundingClientRect().height < 240)
                found.push(`slide ${slide.id}: its picture is too small`)
    }
    return found }"""


def slides(chapter):
    """The slides of a chapter, and the page that holds them."""
    chosen = choose(chapter.notebook, sheets()[chapter.number])
    return chosen, draw(chosen, chosen[0].title)


def publish(browser, chapter, folder):
    """Write HTML and PDF to `folder`; -> in words, what they are.

    ValueError: slides that are too full, by number.
    """
    folder.mkdir(parents=True, exist_ok=True)
    chosen, html = slides(chapter)
    page, paper = (folder / f"{chapter}.{kind}" for kind in ("html", "pdf"))
    page.write_text(html, "utf-8")
    tab = browser.new_page(viewport={"width": 1280, "height": 720})
    try:
        tab.goto(page.as_uri())
        tab.emulate_media(media="print")
        if found := tab.evaluate(FULL):
            raise ValueError(f"{page.name}: {'; '.join(found)}")
        tab.pdf(path=paper, prefer_css_page_size=True, tagged=True,
                outline=True, print_background=True)
    finally:
        tab.close()
    sheets = len(PdfReader(paper).pages)
    if sheets != len(chosen):
        raise ValueError(f"{paper.name}: {sheets} pages for {len(chosen)}"
                         " slides")
    return (f"{len(chosen)} slides, {page.stat().st_size / 1e3:.0f} kB, as PDF"
            f" {paper.stat().st_size / 1e3:.0f} kB")


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("chapter", nargs="?", default="??")
    asked = ask.parse_args().chapter
    chosen = [chapter for chapter in chapters()
              if asked in ("??", chapter.number)]
    if not chosen:
        sys.exit(f"no chapter {asked}: CHAPTER takes its number, as in 04")
    failed = 0
    with sync_playwright() as playwright:
        browser = launch(playwright)
        if browser is None:
            sys.exit("no browser: run `.venv/bin/playwright install chromium`")
        for chapter in chosen:
            try:
                print(f"{chapter}: "
                      + publish(browser, chapter, BUILD / "slides"),
                      flush=True)
            except ValueError as error:
                print(error, file=sys.stderr, flush=True)
                failed += 1
    return failed > 0
