"""The built site in a real browser: every page, wide and narrow, in both modes.

Opened from disk, as a reader without a server would; nothing may come from
anywhere else.
"""

import csv
import gzip
import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager, suppress
from functools import cache, partial
from html import unescape
from pathlib import Path
from random import Random
from types import SimpleNamespace
from urllib.parse import unquote, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from chapters import CHAPTERS, ROOT, cells, each_chapter
from fontTools.ttLib import TTFont
from playwright.sync_api import TimeoutError
from pypdf import PdfReader
from test_toc import pages

from tests.support.optional import started_browser
from tools import mathfont, paper
from tools.quiz.banks import banks

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import light
from explorables import EXPLORABLES

REMOTE = "git@github.com:ada/course.git"
COLAB = "https://colab.research.google.com/github/ada/course/blob/"
PUBLISHED = "https://ada.github.io/course/"
HERE_ONLY = {".*", "_build", "data", "grading"}
WIDTHS = 1280, 390

# What axe-core finds in the theme's own parts, whatever the page says.
THEME = "region",

# Colors take axe-core their time. A width does not change them, and a mode
# changes nothing else: colors at one width, contrast once a mode.
AXE = {"preload": False, "resultTypes": ["violations"],
       "rules": {rule: {"enabled": False} for rule in THEME}}
COLORS = "color-contrast", "link-in-text-block"
LOOKS = {                               # narrow first: the page is narrow now
    "narrow": (390, "light", AXE | {"rules": AXE["rules"] | {
        rule: {"enabled": False} for rule in COLORS}}),
    "wide": (1280, "light", AXE),
    "dark": (1280, "dark", AXE | {"runOnly": ["color-contrast"]}),
}

each_page = pytest.mark.parametrize("page", pages())
# axe-core takes seconds a page: here eight; each week all, by EVERY_PAGE=1.
READ = pages() if os.environ.get("EVERY_PAGE") else Random(0).sample(
    [*pages()], 8)

RAW = """() => [...document.querySelectorAll(".math")]
    .filter(math => !math.querySelector("math > *")).length"""
# axe-core visits every node, for seconds: one code token of each color is
# enough, and a formula's glyphs have the color of the text.
THIN = """() => {
    const seen = new Set()
    for (const token of document.querySelectorAll(".highlight span"))
        if (seen.has(token.className)) token.replaceWith(...token.childNodes)
        else seen.add(token.className)
    for (const math of document.querySelectorAll("math"))
        math.replaceChildren(math.textContent) }"""
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
# After a change of width the theme gives what scrolls a tab stop, in a while.
SCROLLABLE = """() => {
    const boxes = [...document.querySelectorAll(
        "pre, .cell_output > .output, .pst-scrollable-table-container")]
    return boxes.every(
        box => box.scrollWidth <= box.clientWidth || box.tabIndex >= 0) }"""
THEME_NOW = "document.documentElement.dataset.theme"
TURNED = f"mode => {THEME_NOW} == mode"
TOO_WIDE = """() => {
    const width = document.documentElement.clientWidth
    return document.documentElement.scrollWidth - width }"""
# Formulas in a line of text that end beyond it, where nobody can see them.
LOST = """() => {
    for (const section of document.querySelectorAll("section"))
        section.style.contentVisibility = "visible"
    const lost = [...document.querySelectorAll("article span.math math")]
        .filter(math => !math.closest("table") && math.checkVisibility()
            && math.getBoundingClientRect().right > innerWidth - 8)
    for (const section of document.querySelectorAll("section"))
        section.style.contentVisibility = ""
    return lost.map(math => math.textContent) }"""
# Each explorable, and whether a figure or numbers stand right above it.
BEHIND = """boxes => boxes.map(box => [box.dataset.script,
    !!box.previousElementSibling.querySelector(".cell_output")])"""
CUT = """() => [...document.querySelectorAll("div.math")]
    .filter(math => math.scrollWidth > math.clientWidth + 2)
    .map(math => math.closest("section")?.id)"""


# What an element looks like, as far as style sheets decide it: not the height
# of a formula, which is rounded anew when its font arrives.
STYLES = """() => {
    const kinds = ["color", "background-color", "font-family", "font-size",
        "font-weight", "display", "position", "padding", "margin", "border",
        "width", "height", "text-align", "white-space", "visibility", "opacity",
        "content", "list-style-type", "text-decoration-line", "transform"]
    const seen = []
    for (const node of document.querySelectorAll("body, body *"))
        if (!node.closest("span.math, math, pre"))
            for (const part of [null, "::before", "::after"]) {
                const style = getComputedStyle(node, part)
                if (part && ["none", "normal"].includes(style.content)) continue
                seen.push(node.tagName + "." + node.className + (part || "")
                    + ": " + kinds.map(kind => kind + " "
                    + style.getPropertyValue(kind)).join("; ")) }
    return seen }"""
COMPLETE = """sheets => {
    const short = document.querySelector('link[href*="_static/site-"]')
    const base = short.href.replace(/_static.*/, "")
    return Promise.all(sheets.map(name => new Promise(done => {
        const link = document.createElement("link")
        link.rel = "stylesheet"
        link.href = base + name
        link.onload = done
        short.before(link) }))).then(() => short.remove()) }"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The book, as a clone of REMOTE builds it for PUBLISHED."""
    clone = tmp_path_factory.mktemp("site") / "course"
    shutil.copytree(ROOT, clone, ignore=shutil.ignore_patterns(*HERE_ONLY))
    for command in (["init", "-q"], ["remote", "add", "origin", REMOTE]):
        subprocess.run(["git", *command], cwd=clone, check=True)
    ours = {"GITHUB_REPOSITORY", "SOURCE_DATE_EPOCH"}
    environment = {name: value for name, value in os.environ.items()
                   if name not in ours} | {"SITE_URL": PUBLISHED}
    build = subprocess.run(
        [Path(sys.executable).with_name("jupyter-book"), "build", ".",
         "-W", "-n", "--keep-going"], cwd=clone, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert build.returncode == 0, build.stdout
    return clone / "_build" / "html"


@pytest.fixture(scope="module")
def browser():
    with started_browser() as started:
        yield started


@pytest.fixture(scope="module")
def tab(browser):
    """One tab for all pages: it has read the scripts that they share.

    Each page finds it as a newcomer's: light, wide, with nothing stored.
    """
    context = browser.new_context()
    context.add_init_script("try { localStorage.clear() } catch {}")
    yield context.new_page()
    context.close()


@contextmanager
def listening(tab, **heard):
    """Call `heard[event]` whenever the page reports it."""
    for event, hear in heard.items():
        tab.on(event, hear)
    yield
    for event, hear in heard.items():
        tab.remove_listener(event, hear)


def look_at(tab, look):
    """Turn to a width and a mode; is this the mode that the page is in?"""
    width, mode, _ = LOOKS[look]
    tab.emulate_media(color_scheme=mode)
    tab.set_viewport_size({"width": width, "height": 900})
    with suppress(TimeoutError):                   # then axe-core will tell
        tab.wait_for_function(SCROLLABLE, timeout=20_000)
    with suppress(TimeoutError):                   # then seen.modes will
        tab.wait_for_function(TURNED, arg=mode, timeout=20_000)
    return tab.evaluate(THEME_NOW)


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
        seen.colab = tab.locator(f'a[href^="{COLAB}"]').evaluate_all(
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
        tab.evaluate(THIN)
        tab.evaluate(Axe().axe_script)
        tab.evaluate(FIRST_OF_EACH)
        tab.add_style_tag(content="* { transition: none !important }")
        for look, (_, _, rules) in LOOKS.items():
            seen.modes[look] = look_at(tab, look)
            found = tab.evaluate("rules => axe.run(document, rules)", rules)
            seen.axe[look] = {
                rule["id"]: [node["html"] for node in rule["nodes"]]
                for rule in found["violations"]}

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
def test_colab_opens_this_chapter(visit, path):
    """The edition for students first, then the solved notebook."""
    assert visit(f"book/{path.stem}").colab == [
        f"{COLAB}student/{path.name}", f"{COLAB}main/book/{path.name}"]


@each_chapter
def test_the_notebook_can_be_downloaded(visit, site, path):
    links = visit(f"book/{path.stem}").downloads
    assert any(link.endswith(f"/{path.name}") for link in links)
    offered = site / "_sources" / "book" / path.name
    built = site.parents[1] / "book" / path.name
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
    start, chapters = tab.locator(".doors a").all()
    for door in (start, chapters):
        box = door.bounding_box()
        assert box["y"] + box["height"] < 700
    assert start.get_attribute("href") == f"{CHAPTERS[0].stem}.html"
    chapters.click()
    assert tab.get_by_role("link", name="Numerical instability",
                           exact=True).last.bounding_box()["y"] < 700
    tab.close()


@each_page
def test_a_page_knows_its_address(site, page):
    """Canonical, in the sitemap, with a card and a description of its own."""
    text = (site / f"{page}.html").read_text()
    assert text.count(f'rel="canonical" href="{PUBLISHED}{page}.html"') == 1
    assert f"<loc>{PUBLISHED}{page}.html</loc>" in (
        site / "sitemap.xml").read_text()
    [card] = re.findall(rf'og:image" content="{PUBLISHED}(.*?)"', text)
    assert (site / card).is_file()
    [words] = re.findall(r'<meta name="description" content="(.*?)"', text)
    assert 20 < len(words) <= 165                    # &quot; counts as six
    assert sum(f'content="{words}"' in (site / f"{other}.html").read_text()
               for other in pages()) == 1


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
    assert [name for there, name in asked if not there] == ["wrong.html"]
    assert any(name.endswith(".css") for _, name in asked)
    tab.get_by_role("link", name="All chapters").click()
    tab.wait_for_url("**/book/intro.html#the-chapters")
    tab.close()


@each_page
def test_a_page_is_light(visit, page):
    """What a first visit loads, as a server sends it: at most 200 kB."""
    def sent(url):
        path = Path(unquote(urlsplit(url).path))
        data = path.read_bytes()
        packed = path.suffix in (".png", ".webp", ".woff2")
        return len(data if packed else gzip.compress(data))

    first = {url for url in visit(page).first if url.startswith("file:")}
    weights = {url.rpartition("/")[2]: sent(url) for url in first}
    assert sum(weights.values()) <= 200_000, weights


@each_page
def test_explorables_stand_behind_what_they_continue(visit, page):
    assert visit(page).explorables == [
        [each.script, True] for each in EXPLORABLES.get(page, ())]


@each_page
def test_pictures_have_a_size_before_they_are_there(site, page):
    text = (site / f"{page}.html").read_text()
    for image in re.findall(r"<img[^>]*_images/[^>]*>", text):
        assert 'loading="lazy"' in image and " width=" in image


@each_page
def test_the_font_of_formulas_has_their_characters(site, page):
    needed = mathfont.characters((site / f"{page}.html").read_text())
    has = set(map(chr, TTFont(mathfont.FONT).getBestCmap()))
    assert not needed - has, "run tools/mathfont.py"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("page", ["book/intro", "book/04_layer_normalization",
                                  "book/glossary", "search"])
def test_the_style_sheet_lost_nothing(site, browser, page, width):
    """Each element looks as with the theme's own, complete style sheets."""
    tab = browser.new_page(viewport={"width": width, "height": 900})
    tab.goto((site / f"{page}.html").as_uri())
    tab.add_style_tag(content="*, ::before, ::after { transition: none"
                              " !important; animation: none !important }")
    short = tab.evaluate(STYLES)
    tab.evaluate(COMPLETE, light.sheets(site))
    tab.wait_for_load_state("networkidle")
    tab.evaluate("document.fonts.ready.then(() => true)")
    complete = tab.evaluate(STYLES)
    tab.close()
    assert len(short) == len(complete) > 100
    assert [pair for pair in zip(short, complete, strict=True)
            if pair[0] != pair[1]][:3] == []


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
                arg=[before["holds"], before["chosen"]], timeout=2000)
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
def test_a_page_has_what_its_notebook_has(site, path):
    """Each check its mark, each prediction its buttons, ... by number."""
    html = (site / "book" / f"{path.stem}.html").read_text()
    text = "".join(cell.source for cell in cells(path, "markdown"))
    code = [cell.source for cell in cells(path, "code")]
    for shown, written in (
            (r'id="predict-(\d+-\d+)"', r"\*\*Predict (\d+\.\d+)\.\*\*"),
            (r'href="#exercise-(\d+-\d+)"', r"\*\*Exercise (\d+\.\d+)\*\*")):
        assert re.findall(shown, html) == [
            number.replace(".", "-") for number in re.findall(written, text)]
    assert html.count('<p class="collapsed admonition-title">✓ Check: ') == sum(
        source.startswith("# @title Check: ") for source in code)
    assert html.count('<div class="signature ') == sum(
        source.startswith("# @title Solution ") for source in code)
    assert html.count(">Show: imports<") == 1


# A chapter of three predictions, and the right answer to each.
ASKED = "book/06_where_the_norm_goes"
RIGHT = dict(re.findall(
    r"(?s)\*\*Predict (6\.\d)\.\*\*.*?\*\*\(([A-D])\)\*\*",
    "".join(cell.source for cell in cells(ROOT / f"{ASKED}.ipynb",
                                          "markdown"))))
FIRST, *OTHERS = RIGHT
WRONG = next(letter for letter in "ABC" if letter != RIGHT[FIRST])


@pytest.fixture(scope="module")
def chapter(site, browser):
    """A tab on this chapter, with storage of its own."""
    with browser.new_context() as context:
        tab = context.new_page()
        tab.goto((site / f"{ASKED}.html").as_uri())
        yield tab


@pytest.fixture
def reader(chapter):
    """The tab of somebody who has chosen nothing yet."""
    chapter.evaluate("""() => {
        localStorage.clear()
        dispatchEvent(new Event("storage")) }""")
    return chapter


def prediction(tab, number):
    return tab.get_by_role("group", name=f"Predict {number}.")


def choice(tab, number, letter):
    return prediction(tab, number).get_by_role("button", name=f"({letter})")


def seen(tab, number):
    """What a prediction says: of the choice, and on which choices."""
    box = prediction(tab, number)
    said = box.get_by_role("status").locator(".verdict").all_text_contents()
    return "".join(said), sorted(box.locator(".word:visible").evaluate_all(
        "words => words.map(word => word.dataset.on)"))


def marked(tab, words):
    """How many links to a chapter say this of its predictions."""
    return tab.get_by_role("link", name=words).count()


NOTHING = "", []
NO = f"✗ ({WRONG}) is not right.", [WRONG]
YES = f"✓ ({RIGHT[FIRST]}) is right.", [*"ABC"]


def test_a_choice_shows_its_word_and_the_right_one_shows_all(reader):
    def pressed():
        return [letter for letter in "ABC" if choice(
            reader, FIRST, letter).get_attribute("aria-pressed") != "false"]

    assert (seen(reader, FIRST), pressed()) == (NOTHING, [])
    choice(reader, FIRST, WRONG).click()
    assert (seen(reader, FIRST), pressed()) == (NO, [WRONG])
    choice(reader, FIRST, RIGHT[FIRST]).click()
    assert (seen(reader, FIRST), pressed()) == (YES, [RIGHT[FIRST]])
    assert seen(reader, OTHERS[0]) == NOTHING


def test_a_prediction_needs_no_mouse(reader):
    choice(reader, FIRST, "A").focus()
    for key, letter in (("Space", "A"), ("Enter", "B")):
        reader.keyboard.press(key)
        assert choice(reader, FIRST, letter).get_attribute(
            "aria-pressed") == "true"
        reader.keyboard.press("Tab")
    other = prediction(reader, OTHERS[0])
    other.get_by_text("Show the answer").press("Enter")
    assert seen(reader, OTHERS[0]) == ("", [*"ABC"])
    assert other.get_by_text("Hide the answer").is_visible()


def test_everybody_can_read_the_word_on_a_choice(reader):
    choice(reader, FIRST, WRONG).click()
    choice(reader, OTHERS[0], RIGHT[OTHERS[0]]).click()
    reader.evaluate(Axe().axe_script)
    reader.add_style_tag(content="* { transition: none !important }")
    for look in ("dark", "wide"):
        assert look_at(reader, look) == LOOKS[look][1]
        found = reader.evaluate(
            "rules => axe.run('.choices, .reply, .progress-line', rules)",
            LOOKS[look][2])
        assert not found["violations"], look


def test_on_paper_a_prediction_is_its_list_and_its_answer(reader):
    choice(reader, FIRST, RIGHT[FIRST]).click()
    reader.emulate_media(media="print")
    box = prediction(reader, FIRST)
    assert not box.locator(".reply").is_visible()
    assert box.locator("details .word:visible").count() == 3
    assert not reader.locator(".progress-line").is_visible()
    assert choice(reader, FIRST, "A").evaluate(
        "button => getComputedStyle(button).borderTopWidth") == "0px"
    reader.emulate_media(media="screen")


def test_where_nothing_can_be_kept_a_choice_has_its_word(reader):
    reader.evaluate("""() => { Storage.prototype.setItem =
        () => { throw Error("full") } }""")
    choice(reader, FIRST, WRONG).click()
    choice(reader, OTHERS[0], WRONG).click()
    assert seen(reader, FIRST) == NO
    assert reader.get_by_text("This browser keeps no answers.").count() == 1
    reader.reload()


def test_a_choice_is_remembered_marked_and_forgotten(reader, site):
    def begin(page):
        reader.goto((site / f"{page}.html").as_uri())

    choice(reader, FIRST, WRONG).click()
    assert marked(reader, f"1 of {len(RIGHT)} predictions answered") == 1
    reader.reload()
    assert seen(reader, FIRST) == NO
    for number in OTHERS:
        choice(reader, number, RIGHT[number]).click()
    assert marked(reader, "all predictions answered") == 1
    begin("book/intro")                      # in its sidebar and in its table
    assert marked(reader, "all predictions answered") == 2
    begin("book/05_gradients_and_rms_norm")
    assert marked(reader, "all predictions answered") == 1
    reader.get_by_role("button", name="Forget my answers").click()
    assert marked(reader, "predictions answered") == 0
    assert reader.evaluate("Object.keys(localStorage).filter("
                           "key => !['mode', 'theme'].includes(key))") == []
    begin(ASKED)
    assert seen(reader, FIRST) == NOTHING


def test_without_scripts_a_prediction_is_a_list_and_a_folded_answer(
        site, browser):
    with browser.new_context(java_script_enabled=False) as context:
        tab = context.new_page()
        tab.goto((site / f"{ASKED}.html").as_uri())
        box = prediction(tab, FIRST)
        assert box.get_by_role("listitem").count() >= 3
        assert box.get_by_role("button").count() == 0
        assert box.locator(".word:visible").count() == 0
        box.get_by_text("Answer", exact=True).click()
        assert box.locator(".word:visible").count() == 3


# Finding: the search by section, the links of the glossary, the numbers.

SCRIPT = "_static/finding.js"
# Of the 40 terms; an opening may say a term before its section does.
PAGE_FIRST, SECTION_FIRST = 38, 36
SECTION = re.compile(r'<section[^>]* id="([^"]+)">')
# Where a reader meets the name of a chapter outside of its text.
NAMES = {"sidebar": r'toctree-l1[^>]*><a [^>]*href="([^"]*)">([^<]*)<',
         "previous and next": r'-(?:prev|next)"\s+href="([^"]*)"'
                              r'.*?prev-next-title">([^<]*)<'}


@pytest.fixture(scope="module")
def search(site, browser):
    """The search page, and what it finds: addresses, the best first."""
    tab = browser.new_page()
    tab.goto((site / "search.html").as_uri() + "?q=softmax")
    tab.locator("#search-results li").first.wait_for()
    tab.find = partial(tab.evaluate, "query => findSections(query).hits"
                                     ".map(hit => hit.section.url)")
    yield tab
    tab.close()


def test_search_ranks_the_section_that_explains_a_term_first(search):
    with (ROOT / "tests" / "search_terms.csv").open() as lines:
        rows = [*csv.DictReader(lines)]
    first = {row["term"]: search.find(row["term"])[:1] for row in rows}
    right = {row["term"]: f"book/{row['page']}.html#{row['section']}"
             for row in rows}
    wrong = {term: found for term, found in first.items()
             if found != [right[term]]}
    lost = {term: found for term, found in wrong.items()
            if [url.partition("#")[0] for url in found]
            != [right[term].partition("#")[0]]}
    assert len(rows) - len(wrong) >= SECTION_FIRST, wrong
    assert len(rows) - len(lost) >= PAGE_FIRST, lost


def test_search_knows_every_section_and_no_more(search, site):
    known = search.evaluate("""() => BOOK.pages.flatMap(([page, , own]) =>
        own.map(([anchor]) => `${page}.html#${anchor}`))""")
    assert len(set(known)) == len(known)
    assert set(known) == {
        f"{page}.html#{anchor}" for page in pages()
        for anchor in SECTION.findall((site / f"{page}.html").read_text())}


def test_search_finds_every_chapter_that_says_softmax(search):
    def prose(path):
        text = "\n\n".join(cell.source for cell in cells(path, "markdown"))
        return re.sub(r"(?s)<details>.*?</details>|- \([A-D]\)[^\n]*", "", text)

    found = " ".join(search.find("softmax"))
    said = [path.stem for path in CHAPTERS if "softmax" in prose(path)]
    assert len(said) > 5
    assert not [stem for stem in said if stem not in found]


@pytest.mark.parametrize("typed, same", [
    ("Pre-Norm", "prenorm"), ("KV cache", "kvcache"),
    ("grouped-query attention", "GQA"), ("perplexity", "perplex")])
def test_search_folds_what_is_typed(search, typed, same):
    assert search.find(typed)[0] == search.find(same)[0]


def test_search_folds_plurals(search):
    assert search.find("experts router") == search.find("expert routers")


def test_search_is_small_and_the_only_one(site):
    assert len(gzip.compress((site / SCRIPT).read_bytes())) <= 100_000
    assert not [path for path in site.rglob("*.js") if path.name in (
        "searchindex.js", "searchtools.js", "language_data.js")]


def test_search_by_keyboard(site, tab):
    asked = []
    with listening(tab, request=lambda request: asked.append(request.url)):
        tab.goto((site / "book/04_layer_normalization.html").as_uri())
        tab.wait_for_load_state("networkidle")
        assert not [url for url in asked if url.endswith(SCRIPT)]
        tab.keyboard.press("Control+k")
        tab.keyboard.type("loss scaling")
        links = tab.locator("#search-results a")
        links.first.wait_for()
        assert [url for url in asked if url.endswith(SCRIPT)]
    focused = "document.activeElement"
    tab.keyboard.press("ArrowDown")
    assert tab.evaluate(f"{focused}.textContent").startswith("Mixed precision")
    tab.keyboard.press("ArrowUp")
    assert tab.evaluate(f"{focused}.name") == "q"
    tab.keyboard.press("Escape")
    assert not tab.locator("#pst-search-dialog").is_visible()
    tab.keyboard.press("Control+k")
    tab.keyboard.press("Enter")                  # Escape has cleared the field
    tab.keyboard.type("loss scaling")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/book/02_sums_and_variances.html#mixed-precision-*")


def test_search_marks_the_hit_and_counts(search):
    search.fill(".bd-search-container input", "nucleus")
    results = search.locator("#search-results")
    count = results.locator("li").count()
    assert results.locator("[role=status]").inner_text() == f"{count} sections"
    assert {*results.locator("mark").all_inner_texts()} == {"nucleus"}
    search.fill(".bd-search-container input", "nothing like xyzzy")
    assert "No section says all of it" in results.inner_text()
    search.fill(".bd-search-container input", "xyzzy")
    assert "Try one word of it" in results.inner_text()
    assert results.locator("a").all_inner_texts() == ["Glossary",
                                                      "Table of chapters"]


def test_everybody_can_search(search):
    search.fill(".bd-search-container input", "attention")
    search.evaluate(Axe().axe_script)
    search.add_style_tag(content="* { transition: none !important }")
    for mode in ("light", "dark"):
        search.emulate_media(color_scheme=mode)
        search.wait_for_function(TURNED, arg=mode)
        found = search.evaluate("rules => axe.run(document, rules)", AXE)
        assert not found["violations"]


def test_search_says_that_it_needs_a_script(site, browser):
    tab = browser.new_page(java_script_enabled=False)
    tab.goto((site / "search.html").as_uri())
    said = tab.locator("#main-content")
    assert "Search needs JavaScript" in said.inner_text()
    assert not said.locator("input").is_visible()
    for link in said.locator("noscript a").all():
        name, _, anchor = link.get_attribute("href").partition("#")
        assert (site / name).exists()
        assert not anchor or f'id="{anchor}"' in (site / name).read_text()
    tab.close()


def test_every_entry_of_the_glossary_leads_to_a_section(site):
    html = (site / "book" / "glossary.html").read_text()
    sections = {path.name: {*SECTION.findall(path.read_text())}
                for path in site.glob("book/[0-9]*.html")}
    definitions = re.findall("(?s)<dd>(.*?)</dd>", html)
    assert len(definitions) > 250
    for definition in definitions:
        links = re.findall('href="([^"#]+)#([^"]*)"', definition)
        assert links, definition
        assert all(anchor in sections[name] for name, anchor in links), links
        assert not re.search(r"chapters? \d\d(?!</a>)", definition)


def test_every_question_leads_to_its_place(site):
    places = {(one.place.page, one.place.anchor)
              for bank in banks() for one in bank.questions}
    assert len(places) > 150
    for page, anchor in places:
        html = (site / "book" / f"{page}.html").read_text()
        assert f'id="{anchor}"' in html, (page, anchor)


@pytest.mark.parametrize("where", NAMES)
@each_chapter
def test_a_chapter_has_one_number_everywhere(site, path, where):
    html = (site / "book" / f"{path.stem}.html").read_text()
    assert f"<title>{path.name[:2]}. " in html
    named = [(address if address != "#" else path.name, title) for
             address, title in re.findall(NAMES[where], html, re.DOTALL)
             if re.match(r"#$|\d\d_", address)]
    assert len(named) >= (len(CHAPTERS) if where == "sidebar" else 1)
    assert all(title.startswith(f"{address[:2]}. ")
               for address, title in named)
    assert "section-number" not in html


def links(pdf):
    """The names inside the document that its links lead to."""
    for sheet in pdf.pages:
        for note in map(lambda each: each.get_object(),
                        sheet.get("/Annots", [])):
            if "/Dest" in note:
                yield note["/Dest"]


def test_a_chapter_on_paper(site, browser):
    """Its title, a bookmark per section, every figure, links inside."""
    [path] = [path for path in CHAPTERS if path.name.startswith("00_")]
    target, _ = paper.publish(browser, "00", "letter", site.parent)
    pdf = PdfReader(target)
    assert {(round(sheet.mediabox.width), round(sheet.mediabox.height))
            for sheet in pdf.pages} == {(612, 792)}
    html = paper.ARTICLE.search(
        (site / "book" / f"{path.stem}.html").read_text())[1]
    sections = re.findall(r'<h([1-4])>(.*?)<a class="headerlink"', html)
    titles = [unescape(re.sub("<.*?>", "", words)) for _, words in sections]
    marks = [mark["/Title"] for mark in paper.bookmarks(pdf)]
    assert marks == [*titles, "Answers"]
    assert titles[0] in pdf.pages[0].extract_text()
    shown = sum(len(sheet.images) for sheet in pdf.pages)
    assert shown == len(re.findall("<img", html)) > 3
    inside = [*links(pdf)]
    assert len(inside) >= 8 and set(inside) <= set(pdf.named_destinations)
