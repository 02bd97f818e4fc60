"""What a page says of itself: one description, and a card where it may."""

import sys

import pytest
from chapters import ROOT
from docutils import nodes
from PIL import Image

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import cards

LONG = "It has many words, " * 12
PAGE = "book/04_a", "04. A", 'Why "b"?', "Course"


@pytest.mark.parametrize("text, words", [
    ("A first. Which one? It is told.", "A first. Which one? It is told."),
    ("Is it this? " + LONG + "much. Or that? Told.", "Or that? Told."),
    ("We add \0. Why does it fail? It is \0.", "Why does it fail?"),
    ("We add \0. It fails.", "It fails."), ("It is \0.", ""), ("", "")])
def test_a_description_holds_the_question(text, words):
    assert cards.describe(text) == words


def test_a_long_description_ends_at_a_word():
    words = cards.describe(LONG)
    assert len(words) <= cards.MOST
    assert words.endswith(" …") and words[:-2] + " " in LONG


def test_formulas_of_the_first_paragraph_are_marked():
    page = nodes.section("", nodes.title("", "no"), nodes.paragraph(
        "", "", nodes.Text("the\nroot "), nodes.math("", "x_1"),
        nodes.Text("?")), nodes.paragraph("", "no"))
    assert cards.opening(page) == f"the root {cards.FORMULA}?"


def test_no_address_without_a_site():
    unknown = cards.head(*PAGE, "")
    assert "og:url" not in unknown and "og:image" not in unknown
    known = cards.head(*PAGE, "https://x.org/")
    assert 'og:url" content="https://x.org/book/04_a.html"' in known
    assert 'og:image" content="https://x.org/_images/card-04_a.png"' in known
    assert 'name="description" content="Why &quot;b&quot;?"' in known


@pytest.mark.parametrize("size", [(900, 200), (200, 900)])
def test_a_card_holds_the_whole_picture(tmp_path, size):
    Image.new("RGB", size, "red").save(tmp_path / "red.png")
    card = cards.card("A title", "", "Course", tmp_path / "red.png")
    assert card.size == cards.CARD
    red = card.convert("RGB").getchannel("G").point(lambda g: 255 * (g < 9))
    left, top, right, bottom = red.crop((0, 150, 1200, 540)).getbbox()
    assert abs((right - left) / (bottom - top) * size[1] / size[0] - 1) < 0.05
    assert left + right in range(1195, 1206)
