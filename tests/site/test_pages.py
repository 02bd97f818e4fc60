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
from playwright.sync_api import TimeoutError

from course.chapter import chapters
from tests.site.browsing import (
    LOOKS,
    PAGES,
    PUBLISHED,
    REPOSITORY,
    SCROLLABLE,
    WIDTHS,
    listening,
    load_axe,
    look_at,
    violations,
)
from tests.support.book import each_chapter
from tools import mathfont
from tools.quiz.banks import banks
from tools.website.explorables import EXPLORABLES
from tools.website.launch import COLAB

MOST = 250_000                  # bytes that a first visit to a page may load
OURS = f"{COLAB}ada/course/blob/"

each_page = pytest.mark.parametrize("page", PAGES)
# axe-core takes seconds a page: here eight; each week all, by EVERY_PAGE=1.
READ = PAGES if os.environ.get("EVERY_PAGE") else Random(0).sample(PAGES, 8)

RAW = """() => [...document.querySelectorAll(".math")]
    .filter(math => !math.querySelector("math > *")).length"""
# Of texts that are styled alike, all the way up, contrast looks at the first.
FIRST_OF_EACH = """() => {
    const styled = node => {
        let path = ""
        for (; node; node = node.parentElement)
            path += [node.tagName, node.className, node.getAttribute("style"),
                     node.matches("tr:nth-child(even)"), ""].join("|")
        return path }
    const seen = new Set()
    for (const node of document.querySelectorAll("body *")) {
        if (![...node.childNodes].some(child =>
              child.nodeType == Node.TEXT_NODE && child.data.trim())) continue
        const path = styled(node)
        if (!seen.has(path)) node.dataset.firstOfEach = ""
        seen.add(path) }
    axe.configure({rules: [{id: "color-contrast",
                            selector: "[data-first-of-each]"}]}) }"""
TOO_WIDE = """() => {
    const width = document.documentElement.clientWidth
    return document.documentElement.scrollWidth - width }"""
# Formulas in a line of text that end beyond it, where nobody can see them.
LOST = """() => {
    return [...document.querySelectorAll("article span.math math")]
        .filter(math => !math.closest("table") && math.checkVisibility()
            && math.getBoundingClientRect().right > innerWidth - 8)
        .map(math => math.textContent) }"""
# Each explorable, and whether a figure or numbers stand right above it.
BEHIND = """boxes => boxes.map(box => [box.dataset.script,
    !!box.previousElementSibling.querySelector(".cell_output")])"""
CUT = """() => [...document.querySelectorAll("div.math")]
    .filter(math => math.scrollWidth > math.clientWidth + 2)
    .map(math => math.closest("section")?.id)"""


@pytest.fixture(scope="module")
def visit(site, tab):
    """What a reader meets on a page, at each width, then in dark mode."""
    def examine(page, seen):
        tab.emulate_media(color_scheme="light")
        tab.set_viewport_size({"width": WIDTHS[0], "height": 900})
        tab.goto((site / f"{page}.html").as_uri())
        tab.evaluate("document.fonts.ready.then(() => true)")
        seen.first = [*seen.requests]
        seen.raw = tab.evaluate(RAW)
        seen.colab = tab.locator(f'a[href^="{OURS}"]').evaluate_all(
            "links => links.map(link => link.href)")
        seen.downloads = tab.locator('a[href*="_sources"]').evaluate_all(
            "links => links.map(link => link.href)")
        seen.cut = tab.evaluate(CUT)
        seen.explorables = tab.locator(".explorable:not([hidden])") \
            .evaluate_all(BEHIND)
        for width in WIDTHS:
            tab.set_viewport_size({"width": width, "height": 900})
            seen.too_wide[width] = tab.evaluate(TOO_WIDE)
        seen.lost = tab.evaluate(LOST)                  # it is narrow now
        if page not in READ:
            return
        load_axe(tab)
        tab.evaluate(FIRST_OF_EACH)
        for look, (_, _, rules) in LOOKS.items():
            seen.modes[look] = look_at(tab, look)
            seen.axe[look] = violations(tab, rules)

    @cache
    def see(page):
        seen = SimpleNamespace(requests=[], errors=[], too_wide={}, axe={},
                               modes={})
        with listening(
                tab, request=lambda request: seen.requests.append(request.url),
                pageerror=lambda error: seen.errors.append(str(error)),
                console=lambda line: line.type in ("error", "warning")
                and seen.errors.append(line.text)):
            examine(page, seen)
        assert any(".js" in url for url in seen.requests)
        return seen
    return see


@each_page
def test_nothing_comes_from_elsewhere(visit, page):
    assert not [url for url in visit(page).requests
                if not url.startswith(("file:", "data:"))]


@each_page
def test_no_console_error(visit, page):
    assert not visit(page).errors


@each_page
def test_formulas_are_typeset(visit, page):
    seen = visit(page)
    assert not seen.raw
    assert not seen.cut, "formulas that have to be scrolled"


@each_page
def test_nothing_sticks_out(visit, page):
    assert visit(page).too_wide == dict.fromkeys(WIDTHS, 0)


@each_page
def test_no_formula_ends_beyond_its_line(visit, page):
    assert not visit(page).lost


@pytest.mark.parametrize("page", READ)
def test_everybody_can_read_it(visit, page):
    seen = visit(page)
    assert seen.modes == {look: mode for look, (_, mode, _) in LOOKS.items()}
    assert seen.axe == {look: {} for look in LOOKS}


@each_chapter
def test_colab_opens_this_chapter(visit, chapter):
    """The edition for students first, then the solved notebook."""
    assert visit(f"book/{chapter}").colab == [
        f"{OURS}student/{chapter}.ipynb", f"{OURS}main/book/{chapter}.ipynb"]


@each_chapter
def test_the_notebook_can_be_downloaded(visit, site, chapter):
    links = visit(f"book/{chapter}").downloads
    assert any(link.endswith(f"/{chapter}.ipynb") for link in links)
    offered = site / "_sources" / "book" / chapter.path.name
    built = site.parents[1] / "book" / chapter.path.name
    assert offered.read_bytes() == built.read_bytes()


def test_the_first_page_is_the_front_page(site, browser):
    tab = browser.new_page()
    tab.goto((site / "index.html").as_uri())
    tab.wait_for_url("**/book/intro.html")
    tab.close()


def test_a_phone_shows_the_way_in(site, browser):
    """The first screen of the front page: begin, or see all chapters."""
    tab = browser.new_page(viewport={"width": WIDTHS[1], "height": 700})
    tab.goto((site / "book" / "intro.html").as_uri())
    start, all_chapters = tab.locator(".doors a").all()
    for door in (start, all_chapters):
        box = door.bounding_box()
        assert box["y"] + box["height"] < 700
    assert start.get_attribute("href") == f"{chapters()[0]}.html"
    all_chapters.click()
    assert tab.get_by_role("link", name="Numerical instability",
                           exact=True).last.bounding_box()["y"] < 700
    tab.close()


@each_page
def test_a_page_says_what_it_is(site, page):
    """Its address, and a description of its own; a chapter shows a picture."""
    text = (site / f"{page}.html").read_text("utf-8")
    assert text.count(f'rel="canonical" href="{PUBLISHED}{page}.html"') == 1
    assert f"<loc>{PUBLISHED}{page}.html</loc>" in (
        site / "sitemap.xml").read_text("utf-8")
    [words] = re.findall(r'<meta name="description" content="(.*?)"', text)
    assert len(words) > 20 and "\\" not in words
    assert [other for other in PAGES if f'content="{words}"' in (
        site / f"{other}.html").read_text("utf-8")] == [page]
    if re.match(r"book/\d", page):
        [picture] = re.findall(rf'og:image" content="{PUBLISHED}(.*?)"', text)
        with Image.open(site / picture) as image:
            assert image.width > 600


def test_the_sitemap_lists_the_pages_alone(site):
    listed = re.findall(f"<loc>{PUBLISHED}(.*?).html</loc>",
                        (site / "sitemap.xml").read_text("utf-8"))
    assert sorted(listed) == sorted(PAGES)


def test_a_page_says_its_edition_and_takes_reports(site):
    text = (site / "book" / "glossary.html").read_text("utf-8")
    [footer] = re.findall(r'(?s)"extra_footer">(.*?)</div>', text)
    assert re.search(r"Edition \d+\.\d+\.\d+", footer)
    assert f"{REPOSITORY}/issues/new?template=1-mistake.yml&amp;" in footer


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


@each_page
def test_a_page_is_light(visit, page):
    """What a first visit loads, as a server sends it."""
    def sent(url):
        path = Path(unquote(urlsplit(url).path))
        data = path.read_bytes()
        packed = path.suffix in (".png", ".webp", ".woff2")
        return len(data if packed else gzip.compress(data))

    first = {url.partition("?")[0] for url in visit(page).first
             if url.startswith("file:")}
    weights = {url.rpartition("/")[2]: sent(url) for url in first}
    assert sum(weights.values()) <= MOST, weights


@each_page
def test_explorables_stand_behind_what_they_continue(visit, page):
    assert visit(page).explorables == [
        [each.script, True] for each in EXPLORABLES.get(page, ())]


@each_page
def test_pictures_have_a_size_before_they_are_there(site, page):
    text = (site / f"{page}.html").read_text("utf-8")
    for image in re.findall(r"<img[^>]*_images/[^>]*>", text):
        assert 'loading="lazy"' in image and " width=" in image


@each_page
def test_the_font_of_formulas_has_their_characters(site, page):
    needed = mathfont.characters((site / f"{page}.html").read_text("utf-8"))
    has = set(map(chr, TTFont(mathfont.FONT).getBestCmap()))
    assert not needed - has, "run tools/mathfont.py"


def test_icons_are_cut(visit):
    """No page loads the theme's fonts: an icon that is missing would."""
    for page in PAGES:
        assert not [url for url in visit(page).first if "/webfonts/" in url]


# Where the Tab key has come to: what it is, whether it shows, what it holds.
STOP = """() => {
    const at = document.activeElement, style = getComputedStyle(at)
    return at === document.body ? null : {
        name: at.tagName, shows: style.outlineStyle !== "none" ||
            style.boxShadow !== "none", words: at.textContent.slice(0, 40),
        chosen: at.ariaPressed, inside: !!at.closest("article"),
        holds: at.tagName === "SUMMARY" ? at.parentElement.open
            : at.tagName === "INPUT" ? at.value : at.scrollLeft } }"""


def test_a_chapter_needs_no_mouse(site, browser):
    """From the first stop of the Tab key to the last, using each on the way."""
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    tab.goto((site / "book" / "04_layer_normalization.html").as_uri())
    used, hidden, stuck = [], [], []
    while len(used) < 400:
        tab.keyboard.press("Tab")
        if (before := tab.evaluate(STOP)) is None:
            break
        used.append(before["name"])
        if not before["shows"]:
            hidden.append(before)
        if not before["inside"]:
            continue
        if before["chosen"] == "false" or before["name"] == "SUMMARY":
            tab.keyboard.press("Enter")
        elif before["name"] in ("INPUT", "PRE"):
            tab.keyboard.press("ArrowRight")
        else:
            continue
        try:
            tab.wait_for_function(
                f"""([holds, chosen]) => {{ const now = ({STOP})()
                    return now.holds !== holds || now.chosen !== chosen }}""",
                arg=[before["holds"], before["chosen"]], timeout=30_000)
        except TimeoutError:
            stuck.append(before)
    tab.close()
    assert not hidden
    assert not stuck
    assert {"A", "BUTTON", "SUMMARY", "INPUT", "PRE"} <= {*used}
    assert 150 < len(used) < 400


@pytest.mark.parametrize("chosen, system, seen", [
    (None, "dark", "dark"), (None, "light", "light"),
    ("light", "dark", "light"), ("dark", "light", "dark")])
def test_colors_do_not_wait_for_the_theme(site, browser, chosen, system, seen):
    with browser.new_context(color_scheme=system) as context:
        tab = context.new_page()
        tab.route("**/pydata-sphinx-theme.js*", lambda route: route.abort())
        tab.add_init_script(f"localStorage.setItem('mode', '{chosen}')"
                            if chosen else "localStorage.clear()")
        tab.goto((site / "book" / "intro.html").as_uri())
        assert tab.evaluate("document.documentElement.dataset.theme") == seen


def test_wide_code_is_a_stop_of_the_tab_key(site, browser):
    tab = browser.new_page(viewport={"width": 390, "height": 850})
    tab.goto((site / "book" / "04_layer_normalization.html").as_uri())
    tab.wait_for_function(SCROLLABLE)
    stops = tab.locator("pre").evaluate_all(
        "all => all.map(pre => [pre.scrollWidth > pre.clientWidth,"
        " pre.tabIndex === 0])")
    tab.close()
    assert [True, True] in stops and [False, False] in stops
    assert all(wide == stop for wide, stop in stops)


@each_chapter
def test_a_page_has_what_its_notebook_has(site, chapter):
    """Each check its mark, each prediction its buttons, ... by number."""
    html = (site / "book" / f"{chapter}.html").read_text("utf-8")
    text, code = chapter.prose, [cell.source for cell in chapter.code]
    for shown, written in (
            (r'id="predict-(\d+-\d+)"', r"\*\*Predict (\d+\.\d+)\.\*\*"),
            (r'href="#exercise-(\d+-\d+)"', r"\*\*Exercise (\d+\.\d+)\*\*")):
        assert re.findall(shown, html) == [
            number.replace(".", "-") for number in re.findall(written, text)]
    evidence = "(?:Check|How we know): "
    assert len(re.findall(rf'"collapsed admonition-title">✓ {evidence}', html)
               ) == sum(bool(re.match(f"# @title {evidence}", source))
                        for source in code)
    assert html.count('<div class="signature ') == sum(
        source.startswith("# @title Solution ") for source in code)
    assert html.count(">Show: imports<") == 1


def test_every_question_leads_to_its_place(site):
    places = {(one.page, one.anchor)
              for bank in banks() for one in bank.questions}
    assert len(places) > 150
    for page, anchor in places:
        html = (site / "book" / f"{page}.html").read_text("utf-8")
        assert f'id="{anchor}"' in html, (page, anchor)


# Where a reader meets the name of a chapter outside of its text.
NAMES = {"sidebar": r'toctree-l1[^>]*><a [^>]*href="([^"]*)">([^<]*)<',
         "previous and next": r'-(?:prev|next)"\s+href="([^"]*)"'
                              r'.*?prev-next-title">([^<]*)<'}


@pytest.mark.parametrize("where", NAMES)
@each_chapter
def test_a_chapter_has_one_number_everywhere(site, chapter, where):
    html = (site / "book" / f"{chapter}.html").read_text("utf-8")
    assert f"<title>{chapter.number}. " in html
    named = [(address if address != "#" else chapter.name, title) for
             address, title in re.findall(NAMES[where], html, re.DOTALL)
             if re.match(r"#$|\d\d_", address)]
    assert len(named) >= (len(chapters()) if where == "sidebar" else 1)
    assert all(title.startswith(f"{address[:2]}. ")
               for address, title in named)
    assert "section-number" not in html
