"""Which tests run, and in which order: `--chapter 04`, and the longest first.

A plugin, named in pyproject.toml: a conftest.py below tests/ would be known
too late for an option, and shadow the one above it.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# What takes longest begins first, so that two workers end together. Then the
# other notebooks, then the rest.
LONGEST = ("tests/site/test_pages.py", "book/14_", "book/19_", "book/13_",
           "tests/test_editions.py", "tests/test_grades.py", "book/21_",
           "book/16_", "book/04_")
WHOLE_BOOK = {                          # too dear for the sake of one chapter
    "test_pages.py", "test_predictions.py", "test_search.py", "test_paper.py"}
FILE = re.compile(r"(?:test_functions_)?(\d\d)[_.]")
TEST = re.compile(r"(?:^book/|_functions_|\[|\[book/|-)(\d\d)(?=[_ .\]-])")


def chapters():
    book = ROOT / "book"
    return sorted(path.name[:2] for path in book.glob("[0-9][0-9]_*.ipynb"))


def pytest_addoption(parser):
    parser.addoption("--chapter", metavar="NN",
                     help="only the tests of this chapter, as in 04")


def pytest_configure(config):
    chapter = config.getoption("--chapter")
    if chapter is not None and chapter not in chapters():
        raise pytest.UsageError(f"no chapter {chapter}: there are "
                                f"{', '.join(chapters())}")


def concerns(nodeid):
    """The numbers of the chapters that a test names in its id."""
    return set(TEST.findall(nodeid))


def pytest_ignore_collect(collection_path, config):
    if chapter := config.getoption("--chapter"):
        of = FILE.match(collection_path.name)
        if collection_path.name in WHOLE_BOOK or of and of[1] != chapter:
            return True


def rank(nodeid):
    for place, start in enumerate(LONGEST):
        if nodeid.startswith(start):
            return place
    return len(LONGEST) + (not nodeid.startswith("book/"))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    if chapter := config.getoption("--chapter"):
        others = [item for item in items
                  if chapter not in concerns(item.nodeid)]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if chapter in concerns(item.nodeid)]
    items.sort(key=lambda item: rank(item.nodeid))
