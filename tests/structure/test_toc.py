"""The table of contents lists every chapter, in the order of its number."""

import re

import pytest

from course.chapter import chapters
from course.paths import BOOK
from tests.support.book import each_chapter
from tests.support.pages import PAGES, pages, text

NAMED = re.compile(r"\b[Cc]hapters?\s+(\d\d(?:(?:,\s+|,?\s+(?:and|to|or)\s+)"
                   r"\d\d)*)")


def test_every_page_once_and_chapters_in_order_without_a_gap():
    files = [path for path in BOOK.iterdir()
             if path.suffix in {".md", ".ipynb"}]
    assert sorted(pages()) == sorted(f"book/{path.stem}" for path in files)
    numbered = [page[5:7] for page in pages() if re.match(r"book/\d\d_", page)]
    assert numbered == [f"{n:02}" for n in range(len(chapters()))]


@each_chapter
def test_a_title_begins_with_the_number_of_its_file(chapter):
    assert re.match(rf"{chapter.number}\. \w", chapter.heading)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_chapter_that_is_named_exists(path):
    named = {number for run in NAMED.findall(text(path))
             for number in re.findall(r"\d\d", run)}
    assert not named - {chapter.number for chapter in chapters()}
