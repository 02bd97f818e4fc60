"""Slides from their source: make slides CHAPTER=04, or SOURCE=mine.md

From a chapter, tools/slides/lecture.py writes a folder in _build/slides/ with
the source and its pictures. pandoc makes a source one file of HTML beside it,
with reveal.js inside; Chromium prints it as PDF. A slide that does not hold
what stands on it is an error.
"""

import argparse
import hashlib
import json
import re
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pypandoc
from playwright.sync_api import Browser, sync_playwright

from course.chapter import Chapter, chapters
from course.paths import BUILD
from tools import prose
from tools.browser import launch
from tools.slides.lecture import lecture, source

HERE = Path(__file__).resolve().parent
FORMAT = "commonmark_x-smart-implicit_figures-fancy_lists"
HEAD = """---
# A slide begins with "# " and its title; "::: notes" is for you. Change what
# you like, then run: make slides SOURCE=the path of this file
title: {}
---

"""
MADE = re.compile(r"made: (\w+)\n")
FULL = """() => [...document.querySelectorAll(".slides section")].flatMap(
    (slide, at) => {
        const right = slide.getBoundingClientRect().right - 30
        const found = [...slide.querySelectorAll(":not(.notes, .notes *)")]
        return [
            [slide.scrollHeight > slide.clientHeight + 4, "is too full"],
            [found.some(node => node.getBoundingClientRect().right > right
                || node.scrollWidth > node.clientWidth + 4
                    && node.matches("pre, table")), "is too wide"],
            [[...slide.querySelectorAll("img")].some(image =>
                image.clientHeight < 260), "has too small a picture"],
        ].filter(([fails]) => fails).map(([, word]) =>
            `slide ${at + 1} (${slide.firstElementChild.textContent}) ${word}`)
    })"""


def digest(text: str) -> str:
    """What tells a source as it was made from one that a teacher changed."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def write_source(chapter: Chapter, folder: Path) -> Path:
    """Write the source of a chapter and its pictures; -> the source.

    ValueError: there is one already, with changes of somebody's.
    """
    path = folder / chapter.name / f"{chapter}.md"
    if path.exists():
        old = path.read_text("utf-8")
        made = MADE.search(old)
        if not made or made[1] != digest(MADE.sub("", old, count=1)):
            raise ValueError(f"{path} has changes of yours: run make slides "
                             f"SOURCE={path}, or move its folder away")
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = lecture(chapter)
    text = HEAD.format(json.dumps(whole.title)) + source(whole)
    path.write_text(text.replace("title:", f"made: {digest(text)}\ntitle:", 1),
                    "utf-8")
    for name, png in whole.pictures.items():
        (path.parent / name).write_bytes(png)
    return path


def spans(formulas: prose.Formulas) -> Iterator[str]:
    """Formulas with their numbers, so that slides.css can place them."""
    for (_, display), made in zip(formulas, prose.mathml(formulas),
                                  strict=True):
        yield (f'<span class="{"display" if display else "inline"}">{made}'
               "</span>")


def write_html(path: Path) -> Path:
    """One file of HTML beside a source. ValueError: a picture is lost."""
    reveal = Path(find_spec("sphinx_revealjs").origin).parent / "_static"
    document = prose.set_formulas(json.loads(pypandoc.convert_file(
        path, "json", format=FORMAT)), spans)
    page = path.with_suffix(".html")
    try:
        pypandoc.convert_text(
            json.dumps(document), "revealjs", format="json", outputfile=page,
            extra_args=["--standalone", "--embed-resources",
                        "--fail-if-warnings", "--slide-level=1",
                        f"--resource-path={path.parent}",
                        f"--template={HERE / 'slides.html'}",
                        f"--variable=revealjs-url:{reveal / 'revealjs'}",
                        f"--variable=style:{HERE / 'slides.css'}"])
    except RuntimeError as error:
        raise ValueError(f"{path}: {error}") from None
    return page


def publish(browser: Browser, path: Path) -> str:
    """HTML and PDF beside a source; -> in words, what they are.

    ValueError: slides that are too full, by number.
    """
    page = write_html(path)
    tab = browser.new_page(viewport={"width": 1280, "height": 720})
    try:
        tab.goto(f"{page.as_uri()}?print-pdf")
        tab.wait_for_selector(".pdf-page")
        tab.evaluate("document.fonts.ready")
        if found := tab.evaluate(FULL):
            raise ValueError("\n".join([f"{path}:", *found]))
        tab.pdf(path=page.with_suffix(".pdf"), prefer_css_page_size=True,
                print_background=True, tagged=True, outline=True)
        count = tab.locator(".pdf-page").count()
    finally:
        tab.close()
    return f"{page}: {count} slides, {page.stat().st_size / 1e6:.1f} MB"


def main() -> bool:
    """-> did something fail?"""
    ask = argparse.ArgumentParser()
    ask.add_argument("chapters", nargs="*", help="numbers, as in 04")
    ask.add_argument("--source", type=Path, help="a source with changes")
    asked, failed = ask.parse_args(), False
    with sync_playwright() as playwright:
        browser = launch(playwright)
        if browser is None:
            sys.exit("no browser: run `.venv/bin/playwright install chromium`")
        for each in ([asked.source] if asked.source
                     else chapters(*asked.chapters)):
            try:
                path = (write_source(each, BUILD / "slides")
                        if isinstance(each, Chapter) else each)
                print(publish(browser, path), flush=True)
            except ValueError as error:
                print(error, file=sys.stderr, flush=True)
                failed = True
    return failed
