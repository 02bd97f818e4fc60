"""`--chapter 04` takes what is about chapter 04, and nothing else."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from course.chapter import Chapter, chapters
from course.paths import ROOT, chapter_paths
from tests.support.book import each_chapter
from tests.support.select import LONGEST, concerns, pytest_ignore_collect, rank


def chosen(*options):
    """The ids of the tests that pytest would run with these options."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "0", "--collect-only", "-q",
         *options], cwd=ROOT, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("nodeid, chapters", [
    ("book/04_layer_normalization.ipynb::Cell 12", {"04"}),
    ("tests/functions/test_04.py::test_widths[13]", {"04", "13"}),
    ("tests/functions/test_04.py::test_backward", {"04"}),
    ("tests/structure/test_outputs.py::test_silence[04_layer]", {"04"}),
    ("tests/site/test_pages.py::test_no_error[book/04_layer]", {"04"}),
    ("tests/exercises/test_answers.py::test_right[04 4.3 in 13]", {"04"}),
    ("tests/teaching/test_teaching.py::test_quoted[13-Stacks of 04]", {"13"}),
    ("tests/structure/test_toc.py::test_named[glossary.md]", set()),
])
def test_a_test_is_about_the_chapter_in_its_id(nodeid, chapters):
    assert concerns(nodeid) == chapters


@each_chapter
def test_every_test_of_a_chapter_has_its_number_in_its_id(chapter, request):
    of = {chapter, chapter.name, chapter.number, f"book/{chapter}"}
    lost = [item.nodeid for item in request.session.items
            if hasattr(item, "callspec")
            and chapter.number not in concerns(item.nodeid)
            for value in item.callspec.params.values()
            if isinstance(value, str | Chapter) and value in of]
    assert not lost


def test_what_is_long_is_there_and_first():
    paths = [path.relative_to(ROOT).as_posix() for path in
             [*chapter_paths(), *(ROOT / "tests").rglob("test_*.py")]]
    for start in LONGEST:
        assert [path for path in paths if path.startswith(start)], start
    ranks = [rank(path) for path in
             [*LONGEST, "book/99_new.ipynb", "tests/test_new.py"]]
    assert ranks == list(range(len(LONGEST) + 2))


def test_a_chapter_that_is_not_there_is_told():
    code, said = chosen("--chapter", "99")
    assert code == pytest.ExitCode.USAGE_ERROR
    assert "no chapter 99: there are 00, 01, " in said


def test_one_chapter():
    first = chapters()[0].number
    code, said = chosen("--chapter", first, "book",
                        "tests/structure/test_outputs.py")
    tests = [line for line in said.splitlines() if "::" in line]
    assert code == pytest.ExitCode.OK
    assert all(first in concerns(line) for line in tests)
    for file in f"book/{chapters()[0].name}", "tests/structure/test_outputs.py":
        assert any(line.startswith(file) for line in tests), file


@pytest.mark.parametrize("name, left_out", [
    ("04_layer_normalization.ipynb", False), ("00_shapes.ipynb", True),
    ("test_04.py", False), ("test_13.py", True),
    ("test_outputs.py", False), ("site", True)])
def test_files_of_other_chapters_are_not_read(name, left_out):
    config = SimpleNamespace(getoption={"--chapter": "04"}.get)
    assert bool(pytest_ignore_collect(Path(name), config)) == left_out
    everything = SimpleNamespace(getoption={"--chapter": None}.get)
    assert not pytest_ignore_collect(Path(name), everything)
