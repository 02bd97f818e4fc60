"""The table of contents lists every chapter, in the order of its number."""

import re

import yaml
from chapters import BOOK, CHAPTERS, ROOT


def pages():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    parts = [page for part in toc["parts"] for page in part["chapters"]]
    return [toc["root"], *(page["file"] for page in parts)]


def test_chapters_in_order():
    numbered = [page for page in pages() if re.match(r"book/\d\d_", page)]
    assert numbered == [f"book/{path.stem}" for path in CHAPTERS]


def test_every_page_once():
    files = [path for path in BOOK.iterdir()
             if path.suffix in {".md", ".ipynb"}]
    assert sorted(pages()) == sorted(f"book/{path.stem}" for path in files)


def test_numbers_have_no_gap():
    numbers = [int(path.name[:2]) for path in CHAPTERS]
    assert numbers == list(range(len(numbers)))
