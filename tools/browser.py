"""The browser that prints the book, and that tests look at the site with."""

import shutil

from playwright.sync_api import Browser, Error, Playwright

SYSTEM = "chromium", "chromium-browser", "google-chrome"


def launch(playwright: Playwright) -> Browser | None:
    """The one that Playwright installed, or else the system's, or None."""
    try:
        return playwright.chromium.launch()
    except Error:
        for name in SYSTEM:
            if program := shutil.which(name):
                return playwright.chromium.launch(
                    executable_path=program, args=["--no-sandbox"])
    return None
