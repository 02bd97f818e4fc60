"""The built site in a real browser: every page, wide and narrow, in both modes.

Opened from disk, as a reader without a server would; nothing may come from
anywhere else.
"""

import gzip
import os
import re
from functools import cache
from pathlib import Path
from random import Random
from types import SimpleNamespace
from urllib.parse import unquote, urlsplit

import pytest
from fontTools.ttLib import TTFont
from PIL import Image

from course.chapter import chapters
from course.paths import BOOK, ROOT
from tests.site.browsing import (
    FAULTS,
    PAGES,
    PUBLISHED,
    REPOSITORY,
    load_axe,
    violations,
)
from tests.support.book import each_chapter
from tools.quiz.banks import banks
from tools.refresh import mathfont
from tools.website.explorables import EXPLORABLES
from tools.website.launch import COLAB

MOST = 255_000                  # bytes that a first visit to a page may load
LATER = "/inside/kite.js"       # "Look inside" shows itself, then loads this
OURS = f"{COLAB}ada/course/blob/"

each_page = pytest.mark.parametrize("page", PAGES)
# axe-core takes seconds a page: here five; each week all, by EVERY_PAGE=1.
READ = PAGES if os.environ.get("EVERY_PAGE") else Random(0).sample(PAGES, 5)

# Each explorable, and whether a figure or numbers stand right above it.
BEHIND = """boxes => boxes.map(box => [box.dataset.script,
    !!box.previousElementSibling.querySelector(".cell_output")])"""
LINKS = "links => links.map(link => link.href)"


@pytest.fixture(scope="module")
def visit(site, browser):
    """What a reader meets on a page, light and wide, then on a phone."""
    def examine(tab, page, seen):
        tab.goto((site / f"{page}.html").as_uri())
        tab.evaluate("document.fonts.ready.then(() => true)")
        seen.first = {url.partition("?")[0] for url in seen.requests}
        seen.colab = tab.locator(f'a[href^="{OURS}"]').evaluate_all(LINKS)
        seen.explorables = tab.locator(".explorable:not([hidden])") \
            .evaluate_all(BEHIND)
        seen.wide = tab.evaluate(FAULTS)
        tab.set_viewport_size({"width": 390, "height": 900})
        seen.narrow = tab.evaluate(FAULTS)
        if page in READ:
            load_axe(tab)
            seen.axe = violations(tab)

    @cache
    def see(page):
        seen = SimpleNamespace(requests=[], errors=[])
        with browser.new_context(
                viewport={"width": 1280, "height": 900}) as context:
            tab = context.new_page()
            tab.on("request", lambda sent: seen.requests.append(sent.url))
            tab.on("pageerror", lambda error: seen.errors.append(str(error)))
            tab.on("console", lambda line: line.type in ("error", "warning")
                   and seen.errors.append(line.text))
            examine(tab, page, seen)
        return seen
    return see


@each_page
def test_nothing_comes_from_elsewhere_or_fails(visit, page):
    seen = visit(page)
    assert not [url for url in seen.requests
                if not url.startswith(("file:", "data:"))]
    assert not seen.errors


@each_page
def test_formulas_are_typeset_and_nothing_sticks_out(visit, page):
    seen = visit(page)
    assert seen.wide == [0, 0, 0, 0]
    assert seen.narrow[:3] == [0, 0, 0]         # on a phone a formula scrolls


@pytest.mark.parametrize("page", READ)
def test_everybody_can_read_it(visit, page):
    assert not visit(page).axe


@each_page
def test_a_page_is_light(visit, page):
    """What a first visit loads, as a server sends it, and none of the theme's
    own icons: one that is missing among ours would load them."""
    def sent(url):
        path = Path(unquote(urlsplit(url).path))
        data = path.read_bytes()
        packed = path.suffix in (".png", ".webp", ".woff2")
        return len(data if packed else gzip.compress(data))

    weights = {url: sent(url) for url in visit(page).first
               if url.startswith("file:") and not url.endswith(LATER)}
    assert sum(weights.values()) <= MOST, weights
    assert not [url for url in weights if "/webfonts/" in url]


@each_page
def test_explorables_stand_behind_what_they_continue(visit, page):
    assert visit(page).explorables == [
        [each.script, True] for each in EXPLORABLES.get(page, ())]


@each_chapter
def test_colab_and_the_download_have_this_chapter(visit, site, chapter):
    """In Colab the edition for students first, then the solved notebook."""
    assert visit(f"book/{chapter}").colab == [
        f"{OURS}student/{chapter}.ipynb", f"{OURS}main/book/{chapter}.ipynb"]
    offered = Path("_sources", "book", chapter.path.name)
    assert f'href="../{offered}"' in (
        site / "book" / f"{chapter}.html").read_text("utf-8")
    built = site.parents[1] / "book" / chapter.path.name
    assert (site / offered).read_bytes() == built.read_bytes()


@each_page
def test_pictures_have_a_size_and_scripts_wait(site, page):
    text = (site / f"{page}.html").read_text("utf-8")
    for image in re.findall(r"<img[^>]*_images/[^>]*>", text):
        assert 'loading="lazy"' in image and " width=" in image
    for plot in re.findall(r"<img[^>]*_images/[^>]*\.(?:png|webp)[^>]*>", text):
        shown = re.search('src="(.*?)"', plot)[1]
        assert f'<a class="plot" href="{shown}">{plot}</a>' in text
    scripts = re.findall("<script[^>]* src=[^>]*>", text)
    assert scripts and all("defer" in script for script in scripts)


@each_page
def test_the_font_of_formulas_has_their_characters(site, page):
    needed = mathfont.characters((site / f"{page}.html").read_text("utf-8"))
    has = set(map(chr, TTFont(mathfont.FONT).getBestCmap()))
    assert not needed - has, "run python -m tools.refresh.mathfont"


def test_the_font_of_formulas_says_that_it_was_cut():
    font = TTFont(mathfont.FONT)
    assert font["name"].getDebugName(1) == "Course Math"
    assert "GUST Font License" in (
        BOOK / "_static" / "math-font.txt").read_text("utf-8")


def test_a_phone_shows_the_way_in(visitor):
    """From the first page to the front page: three doors."""
    tab = visitor("index", viewport={"width": 390, "height": 700})
    tab.wait_for_url("**/book/intro.html")
    start, inside, all_chapters = tab.locator(".doors a").all()
    for door in (start, inside, all_chapters):
        box = door.bounding_box()
        assert box["y"] + box["height"] < 700
    assert start.get_attribute("href") == f"{chapters()[0]}.html"
    assert inside.get_attribute("href") == "inside.html"
    all_chapters.click()
    assert tab.get_by_role("link", name="Numerical instability",
                           exact=True).last.bounding_box()["y"] < 700


def test_pages_say_what_they_are(site):
    """Their address, and words of their own; a chapter shows a picture."""
    words = set()
    for page in PAGES:
        text = (site / f"{page}.html").read_text("utf-8")
        address = f'rel="canonical" href="{PUBLISHED}{page}.html"'
        assert text.count(address) == 1
        [own] = re.findall(r'<meta name="description" content="(.*?)"', text)
        assert len(own) > 20 and "\\" not in own
        words.add(own)
        if re.match(r"book/\d", page):
            [picture] = re.findall(rf'og:image" content="{PUBLISHED}(.*?)"',
                                   text)
            with Image.open(site / picture) as image:
                assert image.width > 600
    assert len(words) == len(PAGES)
    listed = re.findall(f"<loc>{PUBLISHED}(.*?).html</loc>",
                        (site / "sitemap.xml").read_text("utf-8"))
    assert sorted(listed) == sorted(PAGES)


def test_a_page_says_its_edition_and_takes_reports(site):
    text = (site / "book" / "glossary.html").read_text("utf-8")
    [footer] = re.findall(r'(?s)"extra_footer">(.*?)</div>', text)
    assert re.search(r"Edition \d+\.\d+\.\d+", footer)
    address = f"{REPOSITORY}/issues/new?template=1-mistake.yml&amp;"
    assert address in footer and "&amp;place=Glossary" in footer
    form = ROOT / ".github" / "ISSUE_TEMPLATE" / "1-mistake.yml"
    assert "id: place" in form.read_text("utf-8")


def test_a_wrong_address_at_any_depth_leads_back(site, browser):
    def serve(route):
        path = site / urlsplit(route.request.url).path.removeprefix("/course/")
        there = path.is_file()
        asked.append((there, path.name))
        route.fulfill(path=path if there else site / "404.html",
                      status=200 if there else 404)

    asked = []
    tab = browser.new_page()
    tab.route(f"{PUBLISHED}**", serve)
    tab.goto(f"{PUBLISHED}book/gone/wrong.html")
    tab.wait_for_load_state("networkidle")
    tab.keyboard.press("Control+k")
    tab.keyboard.type("softmax")
    tab.locator("#search-results a").first.wait_for()
    tab.keyboard.press("Escape")
    assert [name for there, name in asked if not there] == ["wrong.html"]
    assert any(name.endswith(".css") for _, name in asked)
    tab.get_by_role("link", name="All chapters").click()
    tab.wait_for_url("**/book/intro.html#the-chapters")
    tab.close()


# Where the Tab key has come to: what it is, whether it shows, what it holds.
STOP = """() => {
    const at = document.activeElement, style = getComputedStyle(at)
    return at === document.body ? null : {
        name: at.tagName, shows: style.outlineStyle !== "none" ||
            style.boxShadow !== "none", words: at.textContent.slice(0, 40),
        chosen: at.ariaPressed, inside: !!at.closest("article"),
        holds: at.tagName === "SUMMARY" ? at.parentElement.open
            : at.tagName === "INPUT" ? at.value : at.scrollLeft } }"""


def test_a_chapter_needs_no_mouse(visitor):
    """From the first stop of the Tab key to the last, using each on the way."""
    tab = visitor("book/04_layer_normalization",
                  viewport={"width": 1280, "height": 900})
    used = []
    while len(used) < 400:
        tab.keyboard.press("Tab")
        if (before := tab.evaluate(STOP)) is None:
            break
        used.append(before["name"])
        assert before["shows"], before
        if not before["inside"]:
            continue
        if before["chosen"] == "false" or before["name"] == "SUMMARY":
            tab.keyboard.press("Enter")
        elif before["name"] in ("INPUT", "PRE"):
            tab.keyboard.press("ArrowRight")
        else:
            continue
        tab.wait_for_function(
            f"""([holds, chosen]) => {{ const now = ({STOP})()
                return now.holds !== holds || now.chosen !== chosen }}""",
            arg=[before["holds"], before["chosen"]])
    assert {"A", "BUTTON", "SUMMARY", "INPUT", "PRE"} <= {*used}
    assert 150 < len(used) < 400


@pytest.mark.parametrize("chosen, system, seen", [
    ("auto", "dark", "dark"), ("light", "dark", "light"),
    ("dark", "light", "dark")])
def test_colors_do_not_wait_for_the_theme(visitor, chosen, system, seen):
    tab = visitor("book/intro", color_scheme=system)
    tab.route("**/pydata-sphinx-theme.js*", lambda route: route.abort())
    tab.evaluate(f"localStorage.setItem('mode', '{chosen}')")
    tab.reload()
    assert tab.evaluate("document.documentElement.dataset.theme") == seen


@each_chapter
def test_a_page_has_what_its_notebook_has(site, chapter):
    """Each check its mark, each prediction its right answer, ... in order."""
    html = (site / "book" / f"{chapter}.html").read_text("utf-8")
    code = "\n".join(cell.source for cell in chapter.code)
    for shown, text, written in (
            (r' data-number="(\d+\.\d+)" data-right="(.)"', chapter.prose,
             r"\*\*Predict (\d+\.\d+)\.\*\*(?s:.*?)\*\*\(([A-D])\)\*\*"),
            (r' id="exercise-(\d+)-(\d+)"', chapter.prose,
             r"\*\*Exercise (\d+)\.(\d+)\*\*"),
            (r'collapsed admonition-title">✓ (Check|How we know): .* · '
             r"\d+ comparisons? passed when last run<", code,
             "# @title (Check|How we know): "),
            (r'collapsed admonition-title">(Check [\d.]+), and what it says',
             code, r"# @title (Check \d[\d.]+)"),
            (r">Show: solution ([\d.]+)<", code,
             r"# @title Solution ([\d.]+)")):
        assert re.findall(shown, html) == re.findall(written, text)
    assert html.count('<div class="signature ') == code.count("@title Solution")
    assert html.count(">Show: imports<") == 1
    assert "<summary aria-label" not in html, "instead of a fold's own words"


def test_every_question_leads_to_its_place(site):
    places = {(one.page, one.anchor)
              for bank in banks() for one in bank.questions}
    assert len(places) > 150
    for page, anchor in places:
        html = (site / "book" / f"{page}.html").read_text("utf-8")
        assert f'id="{anchor}"' in html, (page, anchor)


# Where a reader meets the name of a chapter outside of its text: in the
# sidebar, and in what leads to the previous and the next page.
NAMES = (r'toctree-l1[^>]*><a [^>]*href="([^"]*)">([^<]*)<',
         r'-(?:prev|next)"\s+href="([^"]*)".*?prev-next-title">([^<]*)<')


@each_chapter
def test_a_chapter_has_one_number_everywhere(site, chapter):
    html = (site / "book" / f"{chapter}.html").read_text("utf-8")
    assert f"<title>{chapter.number}. " in html
    assert "section-number" not in html
    for pattern, times in zip(NAMES, (len(chapters()), 1), strict=True):
        named = re.findall(pattern, html.replace('href="#"', f'href="{chapter}"'
                                                 ), re.DOTALL)
        titles = [(address[:2], title) for address, title in named
                  if re.match(r"\d\d_", address)]
        assert len(titles) >= times
        assert all(title.startswith(f"{number}. ") for number, title in titles)
