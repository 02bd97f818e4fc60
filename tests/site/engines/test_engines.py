"""The site in Chromium, Firefox and WebKit: what each page must do in all.

`make browsers` runs these, `make test` does not. tests/site looks closer, in
Chromium; what an explorable or *Look inside* must say stands there.
"""

import os
from random import Random

import pytest

from tests.site.browsing import FAULTS, LOOKS, PAGES
from tests.site.test_explorables import CASES, SAID, SET, numbers
from tests.site.test_inside import NEAR
from tests.site.test_inside_page import ANSWERS, SHOWN, SIDEWAYS
from tests.support import inside
from tools.website.explorables import EXPLORABLES

EVERY = bool(os.environ.get("EVERY_STORY"))
each_page = pytest.mark.parametrize("page", PAGES)

# Formulas of no size; fractions, powers, indices and rows out of place. An
# engine without MathML draws all of a formula in one line.
MISLAID = """() => {
    const box = each => each.getBoundingClientRect()
    const middle = each => (box(each).top + box(each).bottom) / 2
    const seen = css => [...document.querySelectorAll(css)]
        .filter(each => each.checkVisibility())
    const wrong = (css, is) => seen(css).filter(each => is(...each.children))
    return [
        ...seen("math").filter(each => !box(each).width || !box(each).height),
        ...wrong("mfrac", (a, b) => box(a).bottom > box(b).top + 1),
        ...wrong("msup", (a, b) => middle(b) >= middle(a)),
        ...wrong("msub", (a, b) => middle(b) <= middle(a)),
        ...wrong("msubsup", (a, b, c) => middle(c) >= middle(b)),
        ...wrong("mtable", (a, b) => b && box(a).bottom > box(b).top + 1),
    ].map(each => each.outerHTML) }"""
# What ends beyond the edge of the page (Firefox has a bar to scroll there), and
# cannot be scrolled to.
BEYOND = """() => {
    const scrolls = each => each && (
        /auto|scroll|hidden|clip/.test(getComputedStyle(each).overflowX)
        || scrolls(each.parentElement.closest("article *")))
    return [...document.querySelectorAll("article *")]
        .filter(each => each.checkVisibility()
            && each.getBoundingClientRect().right
                > document.documentElement.clientWidth + 1
            && !scrolls(each.closest("article *")))
        .map(each => each.outerHTML.slice(0, 200)) }"""
HAS = """([css, words]) =>
    document.querySelector(css).textContent.includes(words)"""
LOADED = "() => document.fonts.ready.then(() => true)"


def arrive(tab, site, page, width=1280):
    tab.resize(width)
    tab.open(site / f"{page}.html")
    tab.evaluate(LOADED)
    assert tab.wait("() => !document.querySelector('.inside.waiting')")


@each_page
def test_a_page_has_its_formulas_and_no_errors(tab, site, page):
    arrive(tab, site, page)
    tab.evaluate("""() => document.querySelectorAll("article details")
        .forEach(each => { each.open = true })""")
    assert tab.evaluate(MISLAID) == []
    for width in LOOKS.values():
        tab.resize(width)
        faults = tab.evaluate(FAULTS)
        assert faults[:3] == [0, 0, 0] and (width == 390 or not faults[3])
        assert tab.evaluate(BEYOND) == []
    assert tab.errors() == []


# ---------------------------------------------------------------- predictions

ASKED = """() => [...document.querySelectorAll(".predict")].map(box => [
    box.dataset.number, box.dataset.right])"""
# What a prediction says, the choice that is marked, the words that show.
ANSWERED = """number => {
    const box = document.querySelector(`.predict[data-number="${number}"]`)
    return [box.querySelector(".verdict")?.textContent ?? "",
        box.querySelector("[aria-pressed=true]")?.value ?? "",
        [...box.querySelectorAll(".word")].filter(
            word => word.checkVisibility()).length] }"""


@each_page
def test_choices_answer_and_are_remembered(tab, site, page):
    arrive(tab, site, page)
    tab.evaluate("() => localStorage.clear()")
    tab.reload()
    expected = {}
    for number, right in tab.evaluate(ASKED):
        assert tab.evaluate(ANSWERED, number) == ["", "", 0]
        for letter in ("B" if right == "A" else "A", right):
            tab.click(f'.predict[data-number="{number}"] [value={letter}]')
            is_right = letter == right
            expected[number] = [
                f"✓ ({letter}) is right." if is_right
                else f"✗ ({letter}) is not right.", letter]
            said = tab.evaluate(ANSWERED, number)
            assert said[:2] == expected[number]
            assert said[2] > 1 if is_right else said[2] == 1
    tab.reload()
    for number, said in expected.items():
        assert tab.evaluate(ANSWERED, number)[:2] == said
    if expected:
        assert tab.evaluate(HAS, [
            ".progress-line", f"You answered {len(expected)} of "
            f"{len(expected)} predictions"])
    assert tab.errors() == []


# ---------------------------------------------------------------- explorables

@pytest.mark.parametrize("page, script", [
    (page, each.script) for page, those in EXPLORABLES.items()
    for each in those])
def test_explorables_are_moved_by_keys_and_mouse(tab, site, page, script):
    arrive(tab, site, page, width=390)
    cases, digit = CASES[script]
    states, values = zip(*cases(), strict=True)
    for text, expected in zip(tab.evaluate(SET, states), values, strict=True):
        shown = numbers(text)[-len(expected):]
        assert shown == pytest.approx(expected, rel=1e-6, abs=digit), text
    for i in range(tab.evaluate(
            "() => document.querySelectorAll('.explorable input').length")):
        slider = f"document.querySelectorAll('.explorable input')[{i}]"
        tab.evaluate(f"() => {slider}.focus()")
        told = []
        for key in ("Home", "ArrowRight", "ArrowRight"):
            tab.press(key)
            told.append(tab.evaluate(f"() => {slider}.ariaValueText"))
        assert len({*told}) == 3
    assert tab.wait(HAS, [".explorable [role=status]", tab.evaluate(
        f"() => {SAID}")])
    if tab.evaluate("() => document.querySelectorAll('.handle').length"):
        tab.evaluate(SET, [{"direction": 0, "factor a": 0.8, "offset c": 0,
                            "turned by": 0, "factor": 0.5}])
        x, y = tab.place(".handle")
        tab.drag((x, y), (x + 20, y - 25))
        moved = tab.evaluate("""() => {
            const box = document.querySelector(".handle")
                .getBoundingClientRect()
            return [box.x + box.width / 2, box.y + box.height / 2] }""")
        assert moved == pytest.approx([x + 20, y - 25], abs=3)
    assert tab.errors() == []


# ---------------------------------------------------------------- Look inside

STATUS = "#inside [role=status]"
READY = """() => document.querySelector("#inside:not(.waiting)")"""


def begin(tab, site, width=390):
    arrive(tab, site, "book/inside", width)
    assert tab.wait(READY)


def says(tab, words):
    assert tab.wait(HAS, [STATUS, words]), tab.evaluate(
        "css => document.querySelector(css).textContent", STATUS)


def test_a_part_is_switched_off_and_on(tab, site):
    begin(tab, site)
    for switch, answer in ANSWERS:
        for what in (f"; now, without {switch}: {answer}.", "right. From"):
            tab.click("#inside [role=switch]", switch)
            says(tab, f"everything on Eva 1.00 ✓ {what.lstrip('; ')}"
                 if what[0] != ";" else what)
    assert tab.errors() == []


def test_each_question_shows_its_answer(tab, site):
    begin(tab, site, 1280)
    for i, words in enumerate(SHOWN):
        tab.evaluate("""i => { const one = document.querySelectorAll(
            "article details:has(button[data-show])")[i]
            one.open = true
            one.querySelector("button").id = "now" }""", i)
        tab.click("#now")
        says(tab, words)
        tab.evaluate("""() => document.getElementById("now").id = ''""")
    assert tab.errors() == []


def test_words_are_chosen_by_keys_and_mouse(tab, site):
    begin(tab, site, 1280)
    tab.click("#inside [role=switch]", "block 1, head 3")
    tab.click("#inside .word", "thanked")
    says(tab, "after thanked, word 8")
    for key, words in (("ArrowRight", "after her, word 9:"),
                       ("Home", "after Anna, word 1:"),
                       ("End", "after kite?, word 28:")):
        tab.press(key)
        says(tab, words)
    assert tab.errors() == []


@pytest.mark.parametrize("width", LOOKS.values())
def test_nothing_of_it_is_wider_than_its_window(tab, site, width):
    begin(tab, site, width)
    tab.click("#inside .builder summary")
    for model in "attention", "sum rule", "delta rule":
        tab.evaluate("""title => [...document.querySelectorAll(
            ".models button")].find(each => each.textContent.startsWith(title))
            .click()""", model)
        assert tab.wait("""title => document.querySelector(
            ".models [aria-pressed=true]").textContent.startsWith(title)""",
            model)
        assert max(tab.evaluate(SIDEWAYS)) <= 0, model
        assert tab.evaluate(BEYOND) == [], model
    assert tab.errors() == []


@pytest.mark.parametrize("kind", inside.KINDS)
def test_it_says_what_pytorch_says(tab, site, kind):
    begin(tab, site)
    inside.give_weights(tab)
    model = inside.load(kind)
    for what, switches in inside.settings(kind).items():
        rows = range(200) if EVERY else Random(what).sample(range(200), 1)
        ids = inside.IDS[[*rows]]
        by_torch = inside.run(kind, model, ids, switches)
        same = inside.compare(
            inside.in_browser(tab, kind, ids, switches, by_torch), by_torch)
        assert max(same.far.values()) <= NEAR, (what, same.far)
        assert not same.other_words, what
