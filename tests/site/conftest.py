"""The book, built once for all workers, and a browser to look at it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

from course.paths import ROOT
from tests.site.browsing import PUBLISHED, REMOTE
from tests.support.optional import started_browser

HERE_ONLY = {".*", "_build", "data", "grading"}


def build(clone):
    """Build a clone of REMOTE for PUBLISHED."""
    subprocess.run(["git", "init", "-q"], cwd=clone, check=True)
    subprocess.run(["git", "remote", "add", "origin", REMOTE], cwd=clone,
                   check=True)
    known = {name: value for name, value in os.environ.items()
             if name not in ("GITHUB_REPOSITORY", "SOURCE_DATE_EPOCH")}
    made = subprocess.run(
        [Path(sys.executable).with_name("jupyter-book"), "build", ".",
         "-W", "-n", "--keep-going"], cwd=clone,
        env=known | {"SITE_URL": PUBLISHED},
        encoding="utf-8", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert made.returncode == 0, made.stdout


@pytest.fixture(scope="session")
def site(tmp_path_factory, worker_id):
    """The book, as a clone of REMOTE builds it for PUBLISHED."""
    shared = tmp_path_factory.getbasetemp()
    clone = (shared if worker_id == "master" else shared.parent) / "course"
    with FileLock(f"{clone}.lock"):
        if not clone.exists():
            shutil.copytree(ROOT, clone,
                            ignore=shutil.ignore_patterns(*HERE_ONLY))
            build(clone)
    return clone / "_build" / "html"


@pytest.fixture(scope="module")
def browser():
    with started_browser() as started:
        yield started


@pytest.fixture
def visitor(site, browser):
    """A new reader on a page: visitor(page, **what_its_browser_is)."""
    contexts = []

    def visit(page, **options):
        contexts.append(browser.new_context(**options))
        tab = contexts[-1].new_page()
        tab.goto((site / f"{page}.html").as_uri())
        return tab

    yield visit
    for context in contexts:
        context.close()
