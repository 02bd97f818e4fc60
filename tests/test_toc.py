"""The table of contents lists every chapter, in the order of its number."""

import re

import pytest
import yaml
from chapters import BOOK, CHAPTERS, ROOT, notebook

LAST = 22
PAGES = [*sorted(BOOK.glob("*.md")), *CHAPTERS]
NAMED = re.compile(r"\b[Cc]hapters?\s+(\d\d(?:(?:,\s+|,?\s+(?:and|to|or)\s+)"
                   r"\d\d)*)")
LINKED = re.compile(r"\]\(([^)#\s:]+\.(?:ipynb|md))(?:#[^)]*)?\)")


def pages():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    parts = [page for part in toc["parts"] for page in part["chapters"]]
    return [toc["root"], *(page["file"] for page in parts)]


def text(path):
    if path.suffix == ".md":
        return path.read_text("utf-8")
    return "\n\n".join(cell.source for cell in notebook(path).cells)


def numbers():
    return [int(path.name[:2]) for path in CHAPTERS]


def strangers(text, chapters, pages):
    """The chapters and pages that a text names and that do not exist."""
    named = {number for run in NAMED.findall(text)
             for number in re.findall(r"\d\d", run)}
    return sorted(named - chapters) + sorted(set(LINKED.findall(text)) - pages)


def test_chapters_in_order():
    numbered = [page for page in pages() if re.match(r"book/\d\d_", page)]
    assert numbered == [f"book/{path.stem}" for path in CHAPTERS]


def test_every_page_once():
    files = [path for path in BOOK.iterdir()
             if path.suffix in {".md", ".ipynb"}]
    assert sorted(pages()) == sorted(f"book/{path.stem}" for path in files)


def test_no_number_twice_and_no_gap():
    assert numbers() == [*range(LAST + 1)]


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_title_begins_with_the_number_of_its_file(path):
    title = notebook(path).cells[0].source.partition("\n")[0]
    assert re.match(rf"# {path.name[:2]}\. \w", title)


def test_the_table_of_chapters_has_their_numbers_and_titles():
    rows = re.findall(r"(?m)^\| (\d\d) \| \[(.*)\]\((\w+)\.ipynb\)",
                      text(BOOK / "intro.md"))
    assert [name for _, _, name in rows] == [path.stem for path in CHAPTERS]
    for path, (number, title, _) in zip(CHAPTERS, rows, strict=True):
        heading = notebook(path).cells[0].source.partition("\n")[0]
        assert heading.partition(":")[0] == f"# {number}. {title}"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_chapter_and_page_that_is_named_exists(path):
    chapters = {chapter.name[:2] for chapter in CHAPTERS}
    files = {page.name for page in PAGES}
    assert not strangers(text(path), chapters, files)


@pytest.mark.parametrize("line, missing", [
    ("see chapters 01, 04 and 05", ["05"]),
    ("in [chapter 04](04_gone.ipynb#part)", ["04_gone.ipynb"]),
    ("[a paper](https://arxiv.org/abs/1), [us](here.md)", []),
])
def test_what_is_missing_is_found(line, missing):
    assert strangers(line, {"01", "04"}, {"here.md"}) == missing
