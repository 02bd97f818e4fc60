"""What some tests need beside requirements.txt."""

import os
from contextlib import contextmanager

import pytest
from playwright.sync_api import sync_playwright

from tools.browser import launch


def absent(what, remedy):
    """Skip, and say what to install; where CI=true, that is a failure."""
    stop = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
    stop(f"{what} is not installed: {remedy}")


@contextmanager
def started_browser():
    """The browser that tests look at pages with."""
    with sync_playwright() as playwright:
        browser = launch(playwright)
        if browser is None:
            absent("a browser", "run `.venv/bin/playwright install chromium`,"
                   " or install your system's chromium")
        yield browser
        browser.close()
