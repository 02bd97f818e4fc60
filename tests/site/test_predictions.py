"""A prediction in the built site: what a choice shows, keeps and forgets."""

import re

import pytest

from course.chapter import Chapter
from course.paths import ROOT
from tests.site.browsing import load_axe, violations

# A chapter of three predictions, and the right answer to each.
ASKED = "book/06_where_the_norm_goes"
RIGHT = dict(re.findall(
    r"(?s)\*\*Predict (6\.\d)\.\*\*.*?\*\*\(([A-D])\)\*\*",
    Chapter(ROOT / f"{ASKED}.ipynb").prose))
FIRST, *OTHERS = RIGHT
WRONG = next(letter for letter in "ABC" if letter != RIGHT[FIRST])


@pytest.fixture
def reader(visitor):
    """The tab of somebody who has chosen nothing yet."""
    return visitor(ASKED)


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


def test_everybody_can_read_the_word_on_a_choice(reader):
    choice(reader, FIRST, WRONG).click()
    choice(reader, OTHERS[0], RIGHT[OTHERS[0]]).click()
    load_axe(reader)
    assert not violations(reader, "'.choices, .reply, .progress-line'")


def test_on_paper_a_prediction_is_its_list_and_its_answer(reader):
    choice(reader, FIRST, RIGHT[FIRST]).click()
    reader.emulate_media(media="print")
    box = prediction(reader, FIRST)
    assert not box.locator(".reply").is_visible()
    assert box.locator("details .word:visible").count() == 3
    assert not reader.locator(".progress-line").is_visible()
    assert choice(reader, FIRST, "A").evaluate(
        "button => getComputedStyle(button).borderTopWidth") == "0px"


def test_where_nothing_can_be_kept_a_choice_has_its_word(reader):
    reader.evaluate("""() => { Storage.prototype.setItem =
        () => { throw Error("full") } }""")
    choice(reader, FIRST, WRONG).click()
    choice(reader, OTHERS[0], WRONG).click()
    assert seen(reader, FIRST) == NO
    assert reader.get_by_text("This browser keeps no answers.").count() == 1


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


def test_without_scripts_a_prediction_is_a_list_and_a_fold(visitor):
    box = prediction(visitor(ASKED, java_script_enabled=False), FIRST)
    assert box.get_by_role("listitem").count() >= 3
    assert box.get_by_role("button").count() == 0
    assert box.locator(".word:visible").count() == 0
    box.get_by_text("Answer", exact=True).click()
    assert box.locator(".word:visible").count() == 3
