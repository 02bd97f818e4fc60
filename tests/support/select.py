"""Which tests run, and in which order: `--chapter 04`, and the longest first.

A plugin, named in pyproject.toml: a conftest.py below tests/ would be known
too late for an option, and shadow the one above it.
"""

import re

import pytest

from course.paths import chapter_path

# What takes longest begins first, so that two workers end together. Then the
# other notebooks, then the rest.
LONGEST = ("tests/site/", "book/14_t", "book/19_f", "book/13_t",
           "tests/teaching/test_grades.py", "book/21_f", "book/16_f",
           "book/04_l")
WHOLE_BOOK = {"site"}                   # too dear for the sake of one chapter
WHEN_NAMED = {"engines"}                # `make browsers` names it
NUMBERED = re.compile(r"(?:book/|test_)?(\d\d)(?:[_.].*)?")


def pytest_addoption(parser):
    parser.addoption("--chapter", metavar="NN",
                     help="only the tests of this chapter, as in 04")


def pytest_configure(config):
    chapter = config.getoption("--chapter")
    if chapter is not None:
        try:
            chapter_path(chapter)
        except ValueError as error:
            raise pytest.UsageError(str(error)) from None


def number(thing):
    """Of the chapter that a file, a Chapter or a parameter is, or None."""
    match = NUMBERED.fullmatch(str(getattr(thing, "name", thing)))
    return match and match[1]


def concerns(item, chapter):
    """Is a test in a file of this chapter, or is it given one?"""
    given = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return chapter in map(number, [item.path, *given])


def pytest_ignore_collect(collection_path, config):
    if collection_path.name in WHEN_NAMED:
        return True
    if chapter := config.getoption("--chapter"):
        if (collection_path.name in WHOLE_BOOK
                or number(collection_path) not in (None, chapter)):
            return True


def rank(item):
    starts = (*LONGEST, "book/", "")
    return next(place for place, start in enumerate(starts)
                if item.nodeid.startswith(start))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    if chapter := config.getoption("--chapter"):
        others = [item for item in items if not concerns(item, chapter)]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if concerns(item, chapter)]
    items.sort(key=rank)
