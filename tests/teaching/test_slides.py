"""A lecture from the notebook by fixed rules, and from a source that you edit.
"""

import copy
import re
from functools import cache

import pytest
from PIL import Image
from pypdf import PdfReader

from course.chapter import (
    DETAILS,
    Chapter,
    alt_text,
    has_picture,
    sections,
)
from course.chapter import chapter as course_chapter
from course.prediction import MARK, read
from course.sheets import sheets
from tests.support.book import each_chapter
from tests.support.optional import started_browser
from tools.slides import publish as slides
from tools.slides.lecture import MOST, lecture, short, source
from tools.slides.sentences import is_prose, lead, paragraphs, sentences

SEVEN, EIGHT = map(course_chapter, ("07", "08"))
made = cache(lecture)


def letters(text):
    return " ".join(re.findall(r"\w+", text))


@each_chapter
def test_it_begins_where_the_chapter_begins_and_is_short(chapter):
    first, *rest = made(chapter).slides
    assert first.title == chapter.heading
    assert first.body[0].startswith(
        sentences(paragraphs(chapter.cells[0].source)[0])[0])
    assert 15 < 1 + len(rest) <= MOST == 24
    assert rest[-1].title == "Summary" and any(
        slide.title.startswith("Exercise ") for slide in rest)


@each_chapter
def test_no_slide_is_one_sentence(chapter):
    for slide in made(chapter).slides:
        shown = [piece for each in slide.body for piece in paragraphs(each)]
        assert sum(len(sentences(piece)) if is_prose(piece) else
                   piece.count("\n- ") + 1 if piece[0] == "-" else 2
                   for piece in shown) > 1, slide


@each_chapter
def test_each_topic_is_shown_with_its_pictures_and_a_function(chapter):
    whole = made(chapter)
    titles = "\n".join(slide.title for slide in whole.slides)
    assert all(short(part.heading) in titles for part in chapter.sections
               if part.is_topic)
    bodies = ["\n\n".join(slide.body) for slide in whole.slides]
    assert any("```python\ndef " in body for body in bodies)
    drawn = [cell for part in chapter.sections if part.counts
             for cell in part.cells if has_picture(cell)]
    assert [*whole.pictures] == [f"{cell.id}.png" for cell in drawn]
    for cell in drawn:
        picture = f"![{alt_text(cell)}]({cell.id}.png)"
        assert sum(picture in body for body in bodies) == 1
        assert len(alt_text(cell)) > 30


def test_the_function_is_the_one_that_the_book_goes_on_with():
    for number, name in {"04": "layer_norm", "08": "attention",
                         "17": "delta_rule"}.items():
        assert any(f"\ndef {name}(" in body for slide in made(
            course_chapter(number)).slides for body in slide.body)


@each_chapter
def test_each_prediction_is_asked_then_answered(chapter):
    whole = made(chapter).slides
    kinds = [slide.kind for slide in whole]
    asked = [read(cell.source) for cell in chapter.markdown
             if MARK.search(cell.source)]
    at = [place for place, kind in enumerate(kinds) if kind == "question"]
    assert kinds.count("answer") == len(at) == len(asked) > 1
    for place, each in zip(at, asked, strict=True):
        question, answer = whole[place:place + 2]
        assert question.title.startswith(f"Predict {each.number}. ")
        assert question.body[1].count("\n- (") + 1 == len(each.choices)
        assert answer.title == f"Predict {each.number}: {each.right}"
        assert answer.body[0].endswith(each.choices[each.right])
        assert letters(" ".join(paragraphs(each.why))) in letters(
            " ".join(answer.notes))


@each_chapter
def test_what_the_chapter_says_is_in_the_notes(chapter):
    notes = [note for slide in made(chapter).slides for note in slide.notes]
    whole = letters(" ".join(notes))
    for part in chapter.sections:
        if part.is_topic:
            for said in paragraphs(MARK.split(
                    DETAILS.sub("", part.prose()))[0]):
                assert letters(said) in whole
    for belief, _, _ in sheets()[chapter.number].beliefs:
        assert sum(f"Wrong belief: {belief}." in note for note in notes) == 1


@pytest.mark.parametrize("text, parts", [
    ("One. Two?\nThree", ["One.", "Two?", "Three"]),
    ("Vaswani et al. Then $a. B$ and (c. D.) E. `f. G` h.",
     ["Vaswani et al. Then $a. B$ and (c. D.) E.", "`f. G` h."])])
def test_sentences(text, parts):
    assert sentences(text) == parts


def test_a_text_is_cut_at_a_sentence_that_leads_to_nothing():
    text = "First one. Second one. It is\n\n$$\nx\n=1\n$$\n\nThird one."
    assert paragraphs(text)[1] == "$$\nx =1\n$$"        # no heading
    assert [lead(text, most) for most in (3, 22, 27)] == [
        "First one.", "First one. Second one.", "First one. Second one."]
    assert lead(text, 99) == "\n\n".join(paragraphs(text))


def changed(change):
    notebook = copy.deepcopy(SEVEN.notebook)
    chapter = Chapter(SEVEN.path)
    chapter.notebook = notebook
    change({cell.id: cell for cell in notebook.cells}, notebook.cells)
    return source(lecture(chapter))


def test_metadata_overrule_and_a_sentence_to_keep_joins_a_picture():
    [part] = [part for part in sections(SEVEN.cells)
              if part.heading.startswith("Byte-pair encoding")]
    figure = next(cell.id for cell in part.cells if has_picture(cell))
    after = part.cells[[cell.id for cell in part.cells].index(figure) + 1].id

    def told(cells, _):
        cells[after].source += " *A token is only a number of a row.*"

    def skipped(cells, _):
        cells[figure].metadata["slideshow"] = {"slide_type": "skip"}

    assert f"({figure}.png)\n\n> A token is only a number of a row." in (
        changed(told))
    assert f"({figure}.png)" not in changed(skipped)
    code = "def pre_tokenize("                # else there is no room for it
    dropped = next(cell.id for cell in SEVEN.code if code in cell.source)
    assert code not in source(made(SEVEN))
    assert code in changed(lambda cells, _: cells[dropped].metadata.update(
        slideshow={"slide_type": "slide"}))


@pytest.fixture(scope="module")
def browser():
    with started_browser() as started:
        yield started


@pytest.fixture(scope="module")
def path(browser, tmp_path_factory):
    """The source of chapter 08, published."""
    written = slides.write_source(EIGHT, tmp_path_factory.mktemp("slides"))
    assert "24 slides" in slides.publish(browser, written)
    assert len(PdfReader(written.with_suffix(".pdf")).pages) == 24
    return written


def test_a_page_needs_nothing_else_and_shows_notes(browser, path):
    page = path.with_suffix(".html")
    html = re.sub(r"(?s)<script>.*?</script>", "", page.read_text("utf-8"))
    assert not re.findall(r'<[^>]* (?:src|href)="(?!data:|#)[^"]*', html)
    assert not re.findall(r"@import|<link|\$\$|url\((?![\"']?data:)", html)
    context = browser.new_context()
    tab = context.new_page()
    errors = []
    tab.on("pageerror", lambda error: errors.append(error))
    tab.goto(page.as_uri())
    for key, at in (("ArrowRight", 1), ("End", 23), ("Home", 0), (" ", 1)):
        tab.keyboard.press(key)
        assert tab.evaluate("Reveal.getIndices().h") == at
    small = tab.evaluate("""Reveal.getSlides().flatMap(slide => [
        ...slide.querySelectorAll("p, li, pre, td, h1")]).filter(node =>
        !node.closest(".notes") && parseFloat(
        getComputedStyle(node).fontSize) < 24).map(node => node.outerHTML)""")
    assert not small
    with context.expect_page() as opened:
        tab.keyboard.press("s")
    opened.value.wait_for_function("""() => document.querySelector(
        ".speaker-controls-notes .value")?.innerText.length > 40""")
    context.close()
    assert not errors


def test_what_you_edit_is_shown_and_kept(browser, path, tmp_path):
    text = path.read_text("utf-8")
    mine = path.with_name("mine.md")
    mine.write_text(text.replace("# Summary", "# At last"), "utf-8")
    slides.publish(browser, mine)
    assert ">At last</h1>" in mine.with_suffix(".html").read_text("utf-8")
    slides.write_source(EIGHT, path.parents[1])         # unchanged: anew
    path.write_text(text + "\n# Mine\n\nTwo. Three.\n", "utf-8")
    with pytest.raises(ValueError, match="changes of yours"):
        slides.write_source(EIGHT, path.parents[1])
    path.write_text(text, "utf-8")


@pytest.mark.parametrize("slide, fault", [
    ("- " + "\n- ".join(["more"] * 20), r"slide 1 \(Much\) is too full"),
    ("```\n" + "wide " * 20 + "\n```", "slide 1 .* is too wide"),
    ("![a](dot.png)\n\n" + "More. " * 250, "has too small a picture"),
    ("![lost](lost.png)", "lost.png")])
def test_what_a_slide_does_not_hold_is_an_error(browser, tmp_path, slide,
                                                fault):
    path = tmp_path / "much.md"
    Image.new("L", (9, 9)).save(tmp_path / "dot.png")
    path.write_text(f"---\ntitle: Much\n---\n\n# Much\n\n{slide}\n", "utf-8")
    with pytest.raises(ValueError, match=fault):
        slides.publish(browser, path)
