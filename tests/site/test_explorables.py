"""Explorables show the numbers of their chapters, and everybody can move them.

Each stands in a page of its own: what its extension writes for the notebook,
with its scripts and its style sheet. test_pages.py sees them in the book.
"""

import math
import re
from itertools import product

import numpy as np
import pytest

from course.chapter import Chapter, functions
from course.paths import BOOK, ROOT
from tools.website import explorables

STATIC = BOOK / "_static"
PAGES = {each.script: (Chapter(ROOT / f"{page}.ipynb"), each)
         for page, those in explorables.EXPLORABLES.items() for each in those}
SAID = "document.querySelector('.said').textContent"
SET = """states => states.map(state => {
    for (const label of document.querySelectorAll("label"))
        if (label.textContent in state) {
            label.control.value = state[label.textContent]
            label.control.dispatchEvent(new Event("input")) }
    return document.querySelector(".said").textContent })"""
TOO_SMALL = """() => {
    const small = []
    for (const text of document.querySelectorAll("svg text")) {
        const { a } = text.getScreenCTM()
        if (a * parseFloat(getComputedStyle(text).fontSize) < 9)
            small.push(text.textContent) }
    for (const target of document.querySelectorAll(
            "input, select, button, .reach")) {
        const { width, height } = target.getBoundingClientRect()
        if (Math.min(width, height) < 24) small.push(target.outerHTML) }
    return small }"""

each_explorable = pytest.mark.parametrize("script", PAGES)


def own(script):
    """The numbers that the page hands to its explorable, by name."""
    chapter, explorable = PAGES[script]
    return {name: np.array(explorables.evaluate(chapter.notebook, cell, name))
            for cell, name in explorable.numbers}


def bits():
    """All codes of all formats: the value, and the distance to the next."""
    chapter = functions("01")
    formats = {"toy, 6 bits": (6, lambda code: chapter.decode(code, 3, 2)),
               "e4m3, 8 bits": (8, chapter.decode_e4m3),
               "e5m2, 8 bits": (8, lambda code: chapter.decode(code, 5, 2))}
    for name, (width, decode) in formats.items():
        values = [decode(code) for code in range(2**width)]
        for code, value in enumerate(values[:-1]):
            if math.isfinite(value) and math.isfinite(values[code + 1]):
                yield ({"format": name, "code": code},
                       [value, abs(values[code + 1] - value)])


def plane():
    standardize, x_hat = functions("04").standardize, own("plane")["x_hat"]
    for a, c in product((0.4, 1, 1.6, -0.8), (-1, 0.7)):
        token = a * x_hat + c
        yield ({"direction": 0, "factor a": a, "offset c": c},
               [*token, token.mean(), token.std(), *standardize(token)])


def triangle():
    chapter, (K, V, her) = functions("08"), own("triangle").values()
    for degrees, factor in product(range(0, 360, 40), (1, 1.5, 20)):
        turned = factor * np.exp(1j * np.radians(degrees)) * (her @ [1, 1j])
        query = np.array([turned.real, turned.imag])
        weights = chapter.softmax(K @ query)
        yield ({"turned by": degrees, "factor": factor},
               [*K @ query, *weights, *weights @ V])


def rotation():
    chapter, (q, k) = functions("10"), own("rotation").values()
    for first, between, giver in product((0, 4, 31), (0, 1, 7), (0, 1)):
        at = first + 5 + between
        places = np.array([first + 2, first] if giver else [first, first + 2])
        clock = [np.stack([np.cos(t), np.sin(t)], -1)
                 for t in (at * np.pi / 6, places * np.pi / 6)]
        turned = [chapter.rope_interleaved(X, *chapter.rope_tables(
            np.atleast_1d(t) * np.pi / 6, 2))
            for X, t in ((q[None], at), (np.tile(k, (2, 1)), places))]
        yield ({"the story begins at": first, "words between": between,
                "who gives": "Eva" if giver else "Anna"},
               [at, 3 + between, 5 + between, *turned[1] @ turned[0][0],
                *(k + clock[1]) @ (q + clock[0])])


def sampling():
    chapter, (coin, either, sure) = functions("15"), own("sampling").values()
    rows = {"Anna gave ...": coin, "... Tom gave Eva ...": either,
            "... who has the kite?": sure}
    for (name, row), T, (k, p) in product(rows.items(), (0.5, 1, 2), (
            (1, 0.8), (2, 0.65), (3, 0.8), (4, 0.85))):
        scores = np.log(row) / T
        by_p, by_k = (np.isfinite(kept).sum() for kept in (
            chapter.keep_top_p(scores, p), chapter.keep_top_k(scores, k)))
        yield ({"behind": name, "temperature T": T, "top-k: k": k,
                "top-p: p": p},
               [*np.exp(scores) / np.exp(scores).sum(), by_p, p, by_k, k])


def kitchen():
    chapter = functions("22")
    programs = own("kitchen")["programs"].item()
    for power, call, k in ((0, 5, 6144), (0, 0, 960), (10, 5, 6144),
                           (12, 10, 14592), (5, 1, 2880)):
        totals = [sum(chapter.estimate(moves, 2**power, call, k=k))
                  for moves in programs.values()]
        yield ({"tokens": power, "µs per call": call, "outputs k": k},
               [*totals, 100 * (1 - totals[3] / totals[2])])


# States, with what the chapter's functions give there; half a last digit.
CASES = {"bits": (bits, 0), "plane": (plane, 0.0051),
         "triangle": (triangle, 0.0051), "rotation": (rotation, 0.0051),
         "sampling": (sampling, 0.0051), "kitchen": (kitchen, 0.051)}
WORDS = [
    ("bits", {"format": "toy, 6 bits", "code": 0b010110},
     "0 101 10: S = 0, E = 5, M = 2. The value is 2⁵⁻³ × (1 + 2/4) = 6. "),
    ("bits", {"format": "e4m3, 8 bits", "code": 127}, "The value is NaN."),
    ("bits", {"format": "e5m2, 8 bits", "code": 252}, "The value is −∞."),
    ("plane", {"factor a": 0}, "A constant token: (4.1) divides 0 by 0.")]


def numbers(text):
    return [float(each) for each in re.findall(
        r"-?\d+(?:\.\d*)?(?:e-\d+)?", text.replace("−", "-"))]


@pytest.fixture(scope="module")
def pages(browser):
    """Explorables by name, each in a tab as wide as a phone, as on the site."""
    context = browser.new_context(viewport={"width": 390, "height": 900})
    context.clock.install(time=0)
    context.clock.pause_at(1)                   # time goes on when told
    tabs = {}
    for script, (chapter, explorable) in PAGES.items():
        tabs[script] = tab = context.new_page()
        html = explorables.markup(explorable, chapter.notebook)
        tab.set_content(f"<body style='margin: 16px'>{html}")   # as there
        tab.add_style_tag(path=STATIC / "explorables.css")
        for name in ("shared", script):
            tab.add_script_tag(path=STATIC / "explorables" / f"{name}.js")
    return tabs


@each_explorable
def test_it_says_the_numbers_of_its_chapter(pages, script):
    cases, digit = CASES[script]
    states, expected = zip(*cases(), strict=True)
    said = pages[script].evaluate(SET, states)
    for text, values in zip(said, expected, strict=True):
        shown = numbers(text)[-len(values):]
        assert shown == pytest.approx(values, rel=1e-6, abs=digit), text


@pytest.mark.parametrize("script, state, words", WORDS)
def test_it_says_what_no_number_says(pages, script, state, words):
    [text] = pages[script].evaluate(SET, [state])
    assert words in text


@each_explorable
def test_it_gives_no_prediction_away(script):
    chapter, explorable = PAGES[script]
    ids = [cell.id for cell in chapter.cells]
    behind = ids.index(explorable.behind or explorable.figure)
    assert behind >= ids.index(explorable.figure)
    for cell in chapter.cells[behind:]:
        if cell.source.startswith("## "):
            break
        assert "**Predict" not in cell.source


@each_explorable
def test_it_is_moved_by_keys_and_says_so_after_a_pause(pages, script):
    tab = pages[script]
    before = tab.evaluate(SAID)
    for control in tab.get_by_role("slider").all():
        control.focus()
        values = []
        for key in ("Home", "ArrowRight", "ArrowRight"):
            tab.keyboard.press(key)
            values.append(control.get_attribute("aria-valuetext"))
        assert len(set(values)) == 3
        assert control.evaluate("input => input.labels.length") == 1
    now = tab.evaluate(SAID)
    assert now != before
    tab.clock.run_for(400)
    assert tab.get_by_role("status").inner_text() != now
    tab.clock.run_for(600)
    assert tab.get_by_role("status").inner_text() == now


@pytest.mark.parametrize("script, state, button, words", [
    ("bits", {"format": "toy, 6 bits", "code": 0}, "exponent bit worth 4",
     "E = 4")])
def test_bits_are_buttons(pages, script, state, button, words):
    pages[script].evaluate(SET, [state])
    pages[script].get_by_role("button", name=button).press("Enter")
    assert words in pages[script].evaluate(SAID)


@pytest.mark.parametrize("script, state", [
    ("plane", {"direction": 0, "factor a": 0.8, "offset c": 0}),
    ("triangle", {"turned by": 0, "factor": 0.5})])
def test_a_point_is_dragged_until_it_is_let_go(pages, script, state):
    tab = pages[script]
    tab.evaluate(SET, [state])
    tab.bring_to_front()                        # mice wait for frames
    for handle in tab.locator(".handle").all():
        box = handle.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        tab.mouse.move(x, y)
        tab.mouse.down()
        tab.mouse.move(x + 20, y - 25)
        tab.mouse.up()
        tab.mouse.move(x + 25, y - 32)
        moved = handle.bounding_box()
        assert moved["x"] - box["x"] == pytest.approx(20, abs=3)
        assert moved["y"] - box["y"] == pytest.approx(-25, abs=3)
        assert handle.evaluate("it => getComputedStyle(it).touchAction") == (
            "none"), "a finger scrolls the page"


@each_explorable
def test_on_a_phone_it_can_be_touched_and_on_paper_it_is_away(pages, script):
    tab = pages[script]
    assert tab.evaluate(TOO_SMALL) == []
    tab.emulate_media(media="print")
    assert not tab.locator(".explorable").is_visible()
    tab.emulate_media(media="screen")
    assert tab.locator(".explorable").is_visible()


def test_scripts_are_small_and_nothing_moves_by_itself():
    for path in (STATIC / "explorables").glob("*.js"):
        assert path.stat().st_size <= 8000, path.name
        assert not re.search("AnimationFrame|setInterval|anim|transition",
                             path.read_text("utf-8")), path.name
