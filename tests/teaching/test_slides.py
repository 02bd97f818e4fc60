"""Slides come from the notebook: chosen by rule, whole with their notes."""

import copy
import re
from functools import cache

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell

from course.chapter import DETAILS, Chapter, has_picture, sections
from course.chapter import chapter as course_chapter
from course.sheets import sheets
from tests.support.book import each_chapter
from tests.support.optional import started_browser
from tools.slides import draw
from tools.slides import publish as slides
from tools.slides.choose import (
    MINUTES,
    bare_prose,
    beliefs,
    choose,
    fits,
)
from tools.slides.cut import blocks, height, pages, sentences, shorten

SHEETS = sheets()
SEVEN = course_chapter("07")
ANSWER = re.compile(r"(?s)<details><summary>Answer</summary>(.*?)</details>")
MARK = re.compile(r"\*\*(?:Predict [\d.]+|\([A-D]\))\*\* *"
                  r"|\([A-D]\) If you chose [A-D], you ")


@cache
def chosen(chapter):
    return choose(chapter.notebook, SHEETS[chapter.number])


def shown(slide, *kinds):
    return "\n".join(block.source for block in slide.blocks
                     if not kinds or block.kind in kinds)


def parts(chapter):
    return [part for part in chapter.sections
            if part.is_topic or part.heading == "In PyTorch"]


@each_chapter
def test_a_lecture_has_at_most_30_slides_and_45_minutes(chapter):
    assert 10 <= len(chosen(chapter)) <= 30
    assert sum(slide.minutes for slide in chosen(chapter)) == pytest.approx(
        MINUTES)
    assert all(slide.minutes > 0.2 for slide in chosen(chapter))


@each_chapter
def test_each_formula_is_drawn(chapter):
    """No dollar is left, also where the text around a formula was cut."""
    html = draw.draw(chosen(chapter), chosen(chapter)[0].title)
    assert "$" not in re.sub(r"(?s)<(script|pre|code|style).*?</\1>", "", html)


@each_chapter
def test_no_caption_is_only_a_bracket(chapter):
    assert not [slide.title for slide in chosen(chapter)
                if slide.kind == "figure"
                and re.match(r"\([^()]*\)\.?$", shown(slide, "text"))]


@each_chapter
def test_a_section_of_points_is_noted_once(chapter):
    whole = "\n".join(note for slide in chosen(chapter) for note in slide.notes)
    [part] = [part for part in sections(chapter.cells)
              if part.heading == "Pitfalls"]
    for name in re.findall(r"(?m)^(?:- |\d\. )?(\*\*[^*]+\*\*)",
                           bare_prose(part.prose())):
        assert whole.count(name) <= 1


def test_matrices_beside_each_other_are_as_high_as_one():
    one = r"\begin{bmatrix} 1 & 2 \\ 3 & 4 \\ 5 & 6 \end{bmatrix}"
    assert height("math_block", one * 3) == height("math_block", one) < 5


@each_chapter
def test_each_topic_is_shown(chapter):
    assert {part.heading for part in parts(chapter) if part.is_topic} <= {
        slide.title for slide in chosen(chapter)}


@each_chapter
def test_a_prediction_is_asked_before_anything_answers_it(chapter):
    """Its answer comes next, and what the next cell prints not earlier."""
    found = chosen(chapter)
    asked = [at for at, slide in enumerate(found) if slide.kind == "question"]
    rights = dict(re.findall(
        r"(?s)\*\*Predict ([\d.]+)\.\*\*.*?\n\*\*\(([A-D])\)\*\* ",
        "\n".join(part.prose() for part in parts(chapter))))
    assert [found[at].title for at in asked] == [
        f"Predict {number}" for number in rights]
    outputs = {cell.id: "".join(output.get("text", "")
                                for output in after.outputs).strip()
               for part in parts(chapter)
               for cell, after in zip(part.cells, part.cells[1:],
                                      strict=False)
               if "**Predict" in cell.source and after.cell_type == "code"}
    for at in asked:
        question, answer = found[at], found[at + 1]
        right = rights[question.title.removeprefix("Predict ")]
        assert answer.title == f"{question.title}: {right}"
        assert shown(answer, "chosen").startswith(f"({right}) ")
        assert shown(answer, "chosen")[4:] in shown(question)
        printed = outputs.get(question.cell)
        earlier = "\n".join(map(shown, found[:at + 1]))
        assert not printed or printed not in earlier, question.title
        later = "\n".join(map(shown, found[at + 1:at + 3]))
        assert not (printed and fits(printed)) or printed in later


@each_chapter
def test_each_figure_is_shown_and_said_in_words(chapter):
    cells = [cell for part in sections(chapter.cells)
             if part.counts for cell in part.cells if has_picture(cell)]
    pictures = {slide.cell: block for slide in chosen(chapter)
                for block in slide.blocks if block.kind == "picture"}
    assert [*pictures] == [cell.id for cell in cells]
    assert all(len(block.alt) > 30 for block in pictures.values())


def letters(text):
    return " ".join(re.findall(r"\w+", text))


def said(text):
    """What a text says, sentence by sentence."""
    for kind, source in blocks(text):
        pieces = [source] if kind != "bullet_list" else re.split(
            r"(?m)^- ", source)
        for piece in pieces:
            yield from (sentences(piece) if "$$" not in piece else [piece])


@each_chapter
def test_what_no_slide_says_is_in_the_notes(chapter):
    whole = letters(" ".join(
        " ".join([shown(slide, "text", "chosen"), *slide.notes])
        for slide in chosen(chapter)))
    for part in parts(chapter):
        text = DETAILS.sub("", ANSWER.sub(r"\1", bare_prose(part.prose())))
        for sentence in said(MARK.sub("", text)):
            assert letters(sentence) in whole


@each_chapter
def test_wrong_beliefs_are_noted_at_their_section(chapter):
    known = [(heading, belief) for heading, all_of
             in beliefs(SHEETS[chapter.number]).items() for belief in all_of]
    assert len(known) == len(SHEETS[chapter.number].beliefs) > 2
    for heading, belief in known:
        at = [slide for slide in chosen(chapter) if belief in slide.notes]
        assert len(at) == 1
        assert at[0].section in (heading, "Exercises")


def ruled(cell_id, slide_type):
    changed = copy.deepcopy(SEVEN.notebook)
    [cell] = [cell for cell in changed.cells if cell.id == cell_id]
    cell.metadata["slideshow"] = {"slide_type": slide_type}
    return choose(changed, SHEETS["07"])


def test_metadata_overrules_the_rule():
    figure = next(slide for slide in chosen(SEVEN)
                  if slide.kind == "figure" and slide.section)
    checks = next(cell.id for cell in SEVEN.notebook.cells
                  if cell.source.startswith("# @title Check:"))
    cells = {slide.cell for slide in chosen(SEVEN)}
    assert figure.cell not in {s.cell for s in ruled(figure.cell, "skip")}
    assert checks not in cells
    assert checks in {slide.cell for slide in ruled(checks, "slide")}
    [joined] = [slide for slide in ruled(figure.cell, "fragment")
                if figure.blocks[0] in slide.blocks]
    assert joined.cell != figure.cell
    assert joined.blocks[0] != figure.blocks[0]
    text = next(slide for slide in chosen(SEVEN)
                if slide.kind == "text" and slide.title != slide.section)
    noted = ruled(text.cell, "notes")
    assert text.cell not in {slide.cell for slide in noted}
    assert any(letters(text.blocks[-1].source) in letters(note)
               for slide in noted for note in slide.notes)


@pytest.mark.parametrize("text, parts", [
    ("One. Two?\nThree", ["One.", "Two?", "Three"]),
    ("Vaswani et al. Then $a. B$ and (c. D.) E. `f. G` h.",
     ["Vaswani et al. Then $a. B$ and (c. D.) E.", "`f. G` h."]),
    ("(Dashed: *Deeper*.) A line. B.",
     ["(Dashed: *Deeper*.)", "A line.", "B."]),
    ("$x$ is 1.5 wide. $y$ too.", ["$x$ is 1.5 wide.", "$y$ too."])])
def test_sentences(text, parts):
    assert sentences(text) == parts


def test_a_formula_keeps_the_sentence_that_leads_to_it():
    long = "It goes on and on, for a line or even more than that, as here. " * 9
    text = f"First. {long}Hence\n\n$$\nx=\\frac12\n$$\n\n{long}"
    kept, cut = shorten(blocks(text))
    assert kept[0][1].startswith("First.") and kept[0][1].endswith("Hence")
    assert len(cut) == 2 and all(letters(long[:60]) in letters(c) for c in cut)
    found, lost = pages(kept * 3)
    assert len(found) > 1 and not lost
    assert all(page[0][0] == "paragraph" for page in found)


@pytest.fixture(scope="module")
def browser():
    with started_browser() as started:
        yield started


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("slides")
    words = slides.publish(browser, SEVEN, folder)
    assert re.fullmatch(r"[23]\d slides, \d+ kB, as PDF \d+ kB", words)
    return folder / f"{SEVEN}.html"


def test_a_page_needs_nothing_else(page):
    html = page.read_text("utf-8")
    assert not re.findall(r'\b(?:src|href)="(?!data:)[^"]*', html)
    assert not re.findall(r"url\((?!\"data:)|@import|fetch\(|<link", html)
    assert "$" not in re.sub(r"(?s)<(script|pre|code|style).*?</\1>", "", html)
    assert (draw.HERE / "slides.js").stat().st_size < 6000
    assert len(html) < 500_000


def test_keys_move_and_the_speaker_sees_notes_and_what_comes(browser, page):
    context = browser.new_context()
    tab = context.new_page()
    errors = []
    tab.on("pageerror", lambda error: errors.append(error))
    tab.clock.set_fixed_time(60)        # a busy machine may take its time
    tab.goto(page.as_uri())

    def visible():
        return [slide.get_attribute("id") for slide in
                tab.locator(".slide").all() if slide.is_visible()]

    last = str(len(chosen(SEVEN)))
    assert visible() == ["1"]
    for key, now in (("ArrowLeft", "1"), (" ", "2"), ("End", last),
                     ("ArrowRight", last), ("PageUp", str(int(last) - 1)),
                     ("Home", "1")):
        tab.keyboard.press(key)
        tab.wait_for_selector(f".slide.now[id='{now}']")
        assert visible() == [now]
    tab.keyboard.press("o")
    assert len(visible()) == int(last)
    tab.locator(".slide").nth(3).click()
    tab.wait_for_selector(".slide.now[id='4']")
    assert visible() == ["4"]
    with context.expect_page() as opened:
        tab.keyboard.press("s")
    speaker = opened.value
    notes = tab.locator(".slide.now .notes").text_content()
    assert "Wrong belief:" in notes
    assert speaker.locator("body > .notes").text_content() == notes
    assert [slide.get_attribute("id") for slide in
            speaker.locator(".walls .slide").all()] == ["4", "5"]
    assert speaker.locator("time").text_content() == "0:00"
    tab.clock.set_fixed_time(60 + 65.9)
    speaker.keyboard.press("ArrowRight")
    tab.wait_for_selector(".slide.now[id='5']")
    assert f"slide 5 of {last}" in speaker.locator("header").text_content()
    assert speaker.locator("time").text_content() == "1:05"
    context.close()
    assert not errors


def test_a_slide_that_is_too_full_is_named(browser, tmp_path):
    changed = copy.deepcopy(SEVEN.notebook)
    changed.cells = [cell for cell in changed.cells
                     if cell.id in ("opening", "exercises")]
    changed.cells[1:1] = [new_markdown_cell(
        "## Much: too much?\n\n- " + "\n- ".join(["$\\frac{a}{b}$"] * 40),
        metadata={"slideshow": {"slide_type": "slide"}})]
    path = tmp_path / "07_much.ipynb"
    nbformat.write(changed, path)
    with pytest.raises(ValueError, match=r"slide 3 is \d+ pixels too high"):
        slides.publish(browser, Chapter(path), tmp_path)
