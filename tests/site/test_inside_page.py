"""Look inside: a reader asks, breaks and builds, and the page says what is so.

The engine is held against PyTorch in test_inside.py. Here the page is opened
from disk, as built, and what it says of 200 stories is counted by PyTorch.
"""

import gzip
import re
from random import Random

import pytest
import torch
from torch.nn import functional as F

from course.paths import BOOK
from experiments import kite
from tests.site.browsing import load_axe, violations
from tests.support import inside
from tools.website.explorables import EXPLORABLES
from tools.website.inside import SCRIPTS

PAGE = BOOK / "inside.md"
TEXT = " ".join(PAGE.read_text("utf-8").split())
WHOLE = "block {}, head {}".format
SIDEWAYS = """() => [
    document.documentElement.scrollWidth - innerWidth,
    ...[...document.querySelectorAll("#inside *")]
        .filter(each => each.checkVisibility())
        .map(each => each.getBoundingClientRect().right - innerWidth)
        .filter(over => over > 0)]"""
SMALL = """() => [...document.querySelectorAll(
        "#inside :is(button, select, summary, [role=option])")]
    .filter(each => each.checkVisibility())
    .filter(each => { const { width, height } = each.getBoundingClientRect()
        return Math.min(width, height) < 24 })
    .map(each => each.outerHTML)"""


class Reader:
    """Who reads, on a phone; time goes on when asked what the page says."""

    def __init__(self, tab):
        self.tab, self.errors = tab, []
        tab.on("pageerror", lambda error: self.errors.append(str(error)))
        tab.on("console", lambda line: line.type in ("error", "warning")
               and self.errors.append(line.text))

    def arrive(self, site):
        self.tab.goto((site / "book/inside.html").as_uri())
        self.tab.clock.run_for(100)
        self.tab.wait_for_selector("#inside:not(.waiting)")

    def said(self):
        self.tab.clock.run_for(1000)
        return self.tab.get_by_role("status").first.inner_text()

    def press(self, *names, role="button"):
        for name in names:
            self.tab.locator("#inside").get_by_role(
                role, name=name, exact=True).click()

    def switch(self, *names):
        self.press(*names, role="switch")

    def choose(self, model):
        button = self.tab.locator(".models button", has_text=model)
        button.click()
        self.tab.wait_for_selector(
            f".models [aria-pressed=true]:has-text('{model}')")

    def show(self, i):
        """Press "Show it" of question i, from 0."""
        button = self.tab.locator("button[data-show]").nth(i)
        button.evaluate("""button => {
            const answer = button.closest("details")
            if (answer) answer.open = true
            button.click() }""")
        self.tab.wait_for_function("""model => document.querySelector(
            ".models [aria-pressed=true]").textContent.startsWith(model)""",
            arg={7: "sum", 8: "delta"}.get(i, "attention"))

    def begin(self, story=0):
        """With attention, a story, and everything on."""
        self.choose("attention")
        self.tab.get_by_label("Story", exact=True).select_option(str(story))
        everything = self.tab.locator("#inside .reset")
        if everything.inner_text() == "Switch everything on":
            everything.click()


@pytest.fixture(scope="module")
def reader(site, browser):
    context = browser.new_context(viewport={"width": 390, "height": 844})
    context.clock.install(time=0)
    reader = Reader(context.new_page())
    reader.arrive(site)
    yield reader
    context.close()


def test_it_answers_from_disk_and_loads_one_model(site, browser):
    with browser.new_context() as context:
        reader = Reader(context.new_page())
        requests = []
        reader.tab.on("request", lambda sent: requests.append(sent.url))
        context.clock.install(time=0)
        reader.arrive(site)
        assert reader.said().startswith(
            "attention, after kite?, word 28: with everything on Eva 1.00 ✓ "
            "right. From kite?, block 2, head 3 looks at the full stop "
            "(word 18) with 0.97")
        loaded = [url.rpartition("/")[2] for url in requests]
        assert loaded.count("kite.js") == 1
        assert not {"sum.js", "delta.js"} & {*loaded}
        for model in ("sum rule", "delta rule"):
            reader.choose(model)
            assert reader.said().startswith(
                f"{model}, after kite?, word 28: with everything on Eva 1.00")
        assert not reader.errors


# What the first story's answer is without one part.
ANSWERS = [
    (WHOLE(1, 3), "Tom 1.00 ✗ Eva has it"),
    (WHOLE(2, 3), "Eva 0.95 ✓ right"),
    (WHOLE(1, 1), "Eva 0.75 ✓ right"),
    ("block 1, feed-forward", "Eva 1.00 ✓ right"),
    ("block 2, feed-forward", "Eva 1.00 ✓ right"),
    ("mask", "Eva 1.00 ✓ right"),
    ("positions", "Mia 0.63 ✗ Eva has it"),
    ("divisor", "Eva 0.99 ✓ right"),
    ("shortcut", "Tom 0.66 ✗ Eva has it")]


@pytest.mark.parametrize("switch, answer", ANSWERS)
def test_a_switch_changes_the_answer_and_back(reader, switch, answer):
    reader.begin()
    reader.switch(switch)
    assert (f"everything on Eva 1.00 ✓ right; now, without {switch}: {answer}."
            in reader.said())
    reader.switch(switch)
    assert "without" not in reader.said()


def test_a_norm_is_folded_off_and_back(reader):
    reader.begin()
    reader.press("folded")
    assert "now, with folded norms: Eva 1.00 ✓ right" in reader.said()
    change = reader.tab.locator(".break .note").inner_text()
    assert 0 < float(re.search(r"story: (\S+)\.$", change)[1]) < 1e-10
    reader.press("off")
    assert "without norms: Anna 0.67 ✗ Eva has it" in reader.said()
    reader.press("pre-norm")
    assert "without" not in reader.said()


def test_only_one_head_is_left_in_a_block(reader):
    reader.begin()
    only = reader.tab.get_by_role("button", name=f"only {WHOLE(2, 3)}")
    only.click()
    off = ", ".join(WHOLE(2, i) for i in range(3))
    assert f"without {off}: Eva 1.00" in reader.said()
    only.click()
    assert "without" not in reader.said()


def test_parts_sum_to_what_is_shown(reader):
    reader.begin()
    values = [float(text.replace("−", "-")) for text in
              reader.tab.locator(".parts .value").all_inner_texts()]
    assert len(values) == 12
    assert sum(values[:-1]) == pytest.approx(values[-1], abs=0.06)


def test_words_are_chosen_by_keys_and_by_touch(reader):
    reader.begin()
    story = reader.tab.get_by_role("listbox")
    story.get_by_role("option", selected=True).focus()
    for key, words in (("Home", "after Anna, word 1:"),
                       ("ArrowRight", "after gave, word 2:"),
                       ("End", "after kite?, word 28:"),
                       ("ArrowLeft", "after the, word 27:")):
        reader.tab.keyboard.press(key)
        assert words in reader.said()
        focused = story.locator(":focus")
        assert focused.get_attribute("aria-selected") == "true"
    assert story.locator("[tabindex='0']").count() == 1
    story.get_by_role("option", name="thanked").click()
    assert "after thanked, word 8: with everything on her 1.00" in reader.said()
    toggle = reader.tab.get_by_role("switch", name=WHOLE(1, 0))
    toggle.focus()
    for key, is_on in (("Space", "false"), ("Enter", "true"),
                       ("Space", "false")):
        reader.tab.keyboard.press(key)
        assert toggle.get_attribute("aria-checked") == is_on
    assert f"now, without {WHOLE(1, 0)}: him 1.00" in reader.said()


def test_a_story_is_built_from_buttons_and_answered(reader):
    reader.begin()
    tab = reader.tab
    builder = tab.locator(".builder")
    builder.locator("summary").click()
    reader.press("Clear")
    assert reader.said().startswith("No word yet")
    reader.press(*"Mia gave Zoe a lamp".split(), "full stop")
    reader.press(*"Zoe gave the lamp to Leo".split(), "full stop")
    reader.press(*"who has the lamp?".split())
    assert "after lamp?, word 17: with everything on Leo 1.00 ✓ right" in (
        reader.said())
    assert tab.get_by_label("Story", exact=True).input_value() == "-1"
    reader.press("Add the model's word")
    assert "after Leo, word 18: with everything on the full stop 1.00" in (
        reader.said())
    reader.press("Undo")
    tab.get_by_role("option", name="Leo").click()
    tab.get_by_label("replace the chosen word").check()
    reader.press("Max")
    tab.get_by_role("listbox").get_by_role("option", name="lamp?").click()
    assert "everything on Max 1.00 ✓ right" in reader.said()
    tab.get_by_label("replace the chosen word").uncheck()
    builder.locator("summary").click()


SHOWN = ["block 2, head 3 looks at the full stop (word 18)", "Tom 1.00 ✗",
         "him 1.00", "Eva 0.48", "Mia 0.63 ✗", "without mask: Eva 1.00 ✓",
         "folded norms: Eva 1.00 ✓", "everything on Anna 0.88 ✗ Eva has it",
         "Eva 1.00 ✓ right. From", "Ben 0.98 (nobody has it)"]


def test_each_of_the_ten_shows_its_answer(reader):
    buttons = reader.tab.locator("button[data-show]")
    assert buttons.count() == len(SHOWN) == TEXT.count("<summary>")
    for i, words in enumerate(SHOWN):
        reader.show(i)
        assert words in reader.said(), i
    assert not reader.errors


def test_nothing_is_wider_than_a_phone_or_too_small_for_a_finger(reader):
    reader.begin()
    builder = reader.tab.locator(".builder")
    for model, stories in (("attention", range(6)), ("sum rule", [4]),
                           ("delta rule", [0])):
        reader.choose(model)
        for story in stories:
            reader.tab.get_by_label("Story", exact=True).select_option(
                str(story))
            builder.evaluate("each => { each.open = true }")
            assert reader.tab.evaluate(SIDEWAYS) == [0], (model, story)
    assert reader.tab.evaluate(SMALL) == []
    builder.evaluate("each => { each.open = false }")


def test_long_notes_of_both_answers_stay_in_the_panel(reader):
    reader.begin()
    for question, notes in ((9, ["(nobody has it)"] * 2),
                            (4, ["✓ right", "✗ Eva has it"]),
                            (7, ["✗ Eva has it"] * 2)):
        reader.show(question)
        if question != 4:
            reader.switch("positions")
        assert reader.tab.locator(
            ".answer small > span:last-child"
            ).all_inner_texts() == (
            notes)
        assert reader.tab.evaluate(SIDEWAYS) == [0]
        panel = reader.tab.locator(".answer").bounding_box()
        for note in reader.tab.locator(".answer small > span").all():
            box = note.bounding_box()
            assert box["x"] + box["width"] < panel["x"] + panel["width"]


def test_a_word_stays_where_it_is_while_a_mouse_asks_it(reader):
    reader.begin(4)
    places = """() => [...document.querySelectorAll("#inside .word")]
        .map(word => `${word.offsetLeft} ${word.offsetTop}`)"""
    before = reader.tab.evaluate(places)
    for word in reader.tab.locator("#inside .word").all()[::3]:
        word.hover()
        assert word.get_attribute("aria-selected") == "true"
        assert reader.tab.evaluate(places) == before
    reader.tab.mouse.move(0, 0)


@pytest.mark.parametrize("model", ["attention", "sum rule", "delta rule"])
def test_break_it_changes_the_word_that_comes_next(reader, model):
    reader.begin()
    reader.choose(model)
    button = reader.tab.locator("#inside .reset")
    if button.inner_text() == "Switch everything on":
        button.click()
    words = reader.tab.locator(".answer p > b")
    for story in range(6):
        reader.tab.get_by_label("Story", exact=True).select_option(str(story))
        before = words.nth(-2).inner_text()
        assert re.match("(Break|Change) it: .+ off", button.inner_text())
        button.click()
        assert words.nth(-2).inner_text() == before
        assert words.last.inner_text() != before
        button.click()


def test_a_model_that_has_read_no_lists_says_so(reader):
    note = reader.tab.get_by_text("has read no lists of facts")
    for model, story, is_said in (("attention", 5, True),
                                  ("delta rule", 5, False),
                                  ("attention", 0, False)):
        reader.begin(story)
        reader.choose(model)
        assert note.is_visible() is is_said


def test_another_story_begins_with_nothing_to_replace(reader):
    tab = reader.tab
    replace, builder = tab.locator("#inside-replace"), tab.locator(".builder")
    for another in (lambda: reader.begin(1), lambda: reader.press("Clear"),
                    lambda: reader.show(2)):
        reader.begin()
        builder.locator("summary").click()
        replace.check()
        another()
        assert not replace.is_checked()
    assert not builder.evaluate("each => each.open")
    tab.get_by_label("Story", exact=True).select_option("-1")
    assert reader.said().startswith("No word yet")
    assert builder.evaluate("each => each.open")


def test_nobody_is_right_where_a_thing_begins_twice(reader):
    reader.begin()
    reader.tab.locator(".builder summary").click()
    reader.press("Clear", *"Anna gave Tom a kite".split(), "full stop",
                 *"Ben gave Mia a kite".split(), "full stop",
                 *"who has the kite?".split())
    assert reader.tab.locator(".answer small > span:last-child"
                              ).all_inner_texts() == ["", ""]


def test_what_is_off_stands_at_each_answer(reader):
    reader.begin()
    now = reader.tab.locator(".answer small").last
    titles = reader.tab.locator(".next p")
    for press, words in (
            (lambda: None, "now"),
            (lambda: reader.show(5), "now, without mask"),
            (lambda: reader.switch("positions"), "now, 2 parts off"),
            (lambda: reader.show(8), "now, 7 parts off"),
            (lambda: reader.show(6), "now, norms folded")):
        press()
        assert now.inner_text().startswith(words)
        assert titles.all_inner_texts() == ["everything on", words]


def test_each_question_is_set_up(reader):
    """Its story, its model, everything on; what 8 and 10 exchange is ready."""
    buttons = reader.tab.locator("button[data-begin]")
    assert buttons.count() == len(SHOWN)
    for i in range(len(SHOWN)):
        reader.show(8)                              # delta rule, parts off
        buttons.nth(i).click()
        reader.tab.wait_for_function("""model => document.querySelector(
            ".models [aria-pressed=true]").textContent.startsWith(model)""",
            arg="delta" if i == 8 else "attention")
        now = reader.tab.locator(".answer small").last
        assert now.inner_text().startswith("now") and "off" not in (
            now.inner_text())
        story = reader.tab.get_by_label("Story", exact=True)
        assert story.input_value() == {2: "1", 7: "4"}.get(i, "0")
        replace = reader.tab.locator("#inside-replace")
        assert replace.is_checked() == (i in (7, 9))
    reader.press("lamp?")
    assert "Ben 0.98 (nobody has it)" in reader.said()


def test_a_link_leads_back_to_the_question(reader):
    reader.show(5)
    back = reader.tab.get_by_role("link", name="back to question 6")
    back.click()
    question = reader.tab.locator("#question-6")
    assert "need its mask?" in question.inner_text()
    assert 0 < question.bounding_box()["y"] < 500
    reader.begin()
    assert not back.is_visible()


def test_everybody_can_read_it_when_it_is_broken(site, browser):
    with browser.new_context(viewport={"width": 390, "height": 844}) as context:
        context.clock.install(time=0)
        reader = Reader(context.new_page())
        reader.arrive(site)
        reader.switch(WHOLE(1, 3))
        reader.tab.locator(".builder").evaluate("each => { each.open = true }")
        load_axe(reader.tab)
        assert not violations(reader.tab, "'#inside'")


def test_it_moves_only_where_motion_is_wanted(reader):
    moves = """() => getComputedStyle(document.querySelector("#inside .bar"))
        .transitionDuration"""
    for wish, time in (("no-preference", "0.2s"), ("reduce", "0s")):
        reader.tab.emulate_media(reduced_motion=wish)
        assert reader.tab.evaluate(moves) == time


def test_without_scripts_a_sentence_says_what_would_be_here(site, browser):
    with browser.new_context(java_script_enabled=False) as context:
        tab = context.new_page()
        tab.goto((site / "book/inside.html").as_uri())
        assert "with JavaScript" in tab.locator("#inside").inner_text()
        assert not tab.locator("button[data-show]").first.is_visible()


def test_it_is_small_and_only_its_page_loads_it(site):
    folder = BOOK / "_static"
    sizes = {script: len(gzip.compress((folder / f"{script}.js").read_bytes()))
             for script in SCRIPTS if script.startswith("inside/")}
    assert sum(sizes.values()) <= 16_000, sizes
    for page in site.rglob("*.html"):
        loads = re.findall(r'_static/([\w/]+)\.js', page.read_text("utf-8"))
        here = page.relative_to(site).as_posix() == "book/inside.html"
        assert [script for script in SCRIPTS[1:] if script in loads] == (
            [*SCRIPTS[1:]] if here else []), page
        if not here and f"book/{page.stem}" not in EXPLORABLES:
            assert SCRIPTS[0] not in loads


# -------------------------------------------------- what it says of 200 stories

STORIES = kite.kite_stories(200, seed=99)
HANDED_ON = [words for words in STORIES if [thing for *_, thing in kite.gifts(
    words)].count(words[-4][:-1]) > 1]


def broken(kind, heads=(), **off):
    """A model without some heads and other parts."""
    switches = inside.without(inside.everything(kind), heads) | off
    return inside.edited(inside.load(kind), switches)


def right(kind, stories=STORIES, **off):
    """How many of the stories' questions a model answers."""
    ids = torch.tensor(kite.word_ids(stories))
    logits = broken(kind, **off)(ids[:, :-3])
    return (logits[:, -1].argmax(-1) == ids[:, -3]).sum().item()


def thanked(*off):
    """How many of those who are thanked are *him* or *her*, and are said."""
    thanks, next_word = inside.IDS[:, :-1], inside.IDS[:, 1:]
    at = thanks == kite.KiteWorld.ids["thanked"]
    found = broken("kite", off)(thanks)[at].argmax(-1) == next_word[at]
    return found.sum().item(), len(found)


def test_what_it_says_of_the_whole_models_is_so():
    assert right("kite") == right("delta") == 200
    assert "of 200 with everything on" in TEXT


@pytest.mark.parametrize("words, found", [
    ("{} answers stay right without the first",
     lambda: right("kite", heads=[(1, 3)])),
    ("{} without the second", lambda: right("kite", heads=[(0, 3)])),
    ("Of 200 stories only {} are answered rightly",
     lambda: right("kite", ffn=[False, True])),
    ("In 200 stories {} answers are right",
     lambda: right("kite", positions=False)),
    ("{} of 200 answers are right", lambda: right("kite", mask=False)),
    ("{} of 200 are right", lambda: right("kite", norm="off")),
    ("and with the seven others, {} are",
     lambda: right("delta", heads=[(0, 0)]))])
def test_what_it_says_of_a_part_is_so(words, found):
    assert words.format(found()) in TEXT


def test_what_it_says_of_thanks_is_so():
    assert thanked((0, 0)) == (211, 400)
    assert "with 400 thanks, 211 stay right without this head" in TEXT
    others = [(b, i) for b in range(2) for i in range(4) if b or i]
    assert {thanked(other) for other in others} == {(400, 400)}


def test_what_it_says_of_one_head_of_a_memory_is_so():
    every = [(b, i) for b in range(2) for i in range(4) if b or i]
    assert right("delta", heads=every) == 200


def test_what_it_says_of_the_full_stop_is_so():
    on, ids = inside.everything("kite"), inside.IDS[:, :-3]
    looks = inside.run("kite", inside.load("kite"), inside.IDS, on)[
        "attention"][:, 1, 3, ids.shape[1] - 1]
    stops = []
    for words in STORIES:
        gave = max(i for i, word in enumerate(words) if word == "gave"
                   and words[-4][:-1] in words[i + 2:i + 4])
        stops.append(words.index(".", gave))
    assert looks.argmax(-1).tolist() == stops
    mean = looks[torch.arange(200), torch.tensor(stops)].mean().item()
    assert f"has the largest weight, {mean:.2f} on average" in TEXT


def test_what_it_says_of_a_false_giver_is_so():
    rng = Random(5)
    false = [inside.kite_memories.wrong_giver(words, rng)
             for words in HANDED_ON]
    assert (f"In {len(HANDED_ON)} stories with a thing that was handed on, the "
            f"sum falls from {right('sum', HANDED_ON)} right answers to "
            f"{right('sum', false)}, and the other two stay at "
            f"{right('kite', false)}") in TEXT
    assert {right(kind, told) for kind in ("kite", "delta")
            for told in (HANDED_ON, false)} == {len(HANDED_ON)}


def test_what_it_says_of_a_thing_that_nobody_got_is_so():
    asked = []
    for words in STORIES:
        given = {thing for *_, thing in kite.gifts(words)}
        other = next(thing for thing in kite.KiteWorld.things
                     if thing not in given)
        asked.append([*words[:-4], f"{other}?"])
    logits = inside.load("kite")(torch.tensor(kite.word_ids(asked)))[:, -1]
    chance, word = logits.softmax(-1).max(-1)
    assert f"somebody {(word < 8).sum()} times" in TEXT
    assert chance.median() > 0.96 and "of them with more than 0.96" in TEXT


def test_what_it_says_of_the_loss_without_a_mask_is_so():
    inputs, targets = inside.IDS[:, :-1], inside.IDS[:, 1:]
    on, off = (F.cross_entropy(broken("kite", mask=mask)(inputs).mT, targets)
               for mask in (True, False))
    assert f"rises from {on:.2f} to {off:.2f}" in TEXT
