"""The table of contents lists every chapter, in the order of its number."""

import re

import pytest

from course.chapter import chapters
from course.paths import BOOK
from tests.support.book import each_chapter
from tests.support.pages import PAGES, pages, text

NAMED = re.compile(r"\b[Cc]hapters?\s+(\d\d(?:(?:,\s+|,?\s+(?:and|to|or)\s+)"
                   r"\d\d)*)")
LINKED = re.compile(r"\]\(([^)#\s:]+\.(?:ipynb|md))(?:#[^)]*)?\)")


def strangers(text, chapters, pages):
    """The chapters and pages that a text names and that do not exist."""
    named = {number for run in NAMED.findall(text)
             for number in re.findall(r"\d\d", run)}
    return sorted(named - chapters) + sorted(set(LINKED.findall(text)) - pages)


def test_chapters_in_order():
    numbered = [page for page in pages() if re.match(r"book/\d\d_", page)]
    assert numbered == [f"book/{chapter}" for chapter in chapters()]


def test_every_page_once():
    files = [path for path in BOOK.iterdir()
             if path.suffix in {".md", ".ipynb"}]
    assert sorted(pages()) == sorted(f"book/{path.stem}" for path in files)


def test_no_number_twice_and_no_gap():
    assert [int(chapter.number) for chapter in chapters()] == [
        *range(len(chapters()))]


@each_chapter
def test_a_title_begins_with_the_number_of_its_file(chapter):
    assert re.match(rf"{chapter.number}\. \w", chapter.heading)


def test_the_table_of_chapters_has_their_numbers_and_titles():
    rows = re.findall(r"(?m)^\| (\d\d) \| \[(.*)\]\((\w+)\.ipynb\)",
                      text(BOOK / "intro.md"))
    assert [name for _, _, name in rows] == [*map(repr, chapters())]
    for chapter, (number, title, _) in zip(chapters(), rows, strict=True):
        assert (number, title) == (chapter.number, chapter.title)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_chapter_and_page_that_is_named_exists(path):
    known = {chapter.number for chapter in chapters()}
    files = {page.name for page in PAGES}
    assert not strangers(text(path), known, files)


@pytest.mark.parametrize("line, missing", [
    ("see chapters 01, 04 and 05", ["05"]),
    ("in [chapter 04](04_gone.ipynb#part)", ["04_gone.ipynb"]),
    ("[a paper](https://arxiv.org/abs/1), [us](here.md)", []),
])
def test_what_is_missing_is_found(line, missing):
    assert strangers(line, {"01", "04"}, {"here.md"}) == missing
