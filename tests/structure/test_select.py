"""`--chapter 04` takes what is about chapter 04, and nothing else."""

import subprocess
import sys

from course.chapter import chapters
from course.paths import ROOT


def chosen(chapter, *paths):
    """What pytest says of the tests that it would run."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "0", "--collect-only", "-q",
         "--chapter", chapter, *paths],
        cwd=ROOT, capture_output=True, text=True)
    return done.stdout + done.stderr


def test_a_chapter_that_is_not_there_is_told():
    assert "no chapter 99: there are 00, 01, " in chosen("99", "book")


def test_one_chapter():
    """In files of its own, and where it is given: as a name, and in a row."""
    shared = ("tests/structure/test_outputs.py", "tests/structure/test_toc.py",
              "tests/exercises/test_verdict.py")
    ids = chosen("00", "book", "tests/functions", *shared).splitlines()
    tests = [line.partition("::") for line in ids if "::" in line]
    assert {file for file, *_ in tests} == {
        f"book/{chapters()[0]}.ipynb", "tests/functions/test_00.py", *shared}
    assert all("[00_" in name for file, _, name in tests if file in shared)
