"""The pages of the book as texts, for tests that read all of them."""

import re

import yaml

from course.chapter import Chapter
from course.paths import BOOK, ROOT, chapter_paths

PAGES = [*sorted(BOOK.glob("*.md")), *chapter_paths()]


def pages():
    """Their names, in the order of _toc.yml."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    parts = [page for part in toc["parts"] for page in part["chapters"]]
    return [toc["root"], *(page["file"] for page in parts)]


def text(path):
    """A page's own; all cells of a notebook."""
    if path.suffix == ".md":
        return path.read_text("utf-8")
    return "\n\n".join(cell.source for cell in Chapter(path).cells)


def slug(heading):
    """As GitHub makes it, and MyST after it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
