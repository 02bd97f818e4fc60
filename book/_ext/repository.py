"""Point the Colab and repository buttons at the clone that builds the book.

A fork works untouched. Where no GitHub address is known, the buttons are left
out, so that no page has a wrong link.
"""

import os
import re
import subprocess

BUTTONS = "launch_buttons", "repository_url", "use_repository_button"
REMOTE = re.compile(r"(?:^|[/@.])github\.com(?::\d+)?[:/]"
                    r"([\w.-]+/[\w.-]+?)(?:\.git)?/?$")


def slug(remote):
    """owner/name of a GitHub remote, whichever way it is written, else None."""
    found = REMOTE.search(remote.strip())
    return found and found[1]


def origin(folder):
    """The address that git calls origin; empty without git or a clone."""
    ask = ["git", "-C", str(folder), "remote", "get-url", "origin"]
    try:
        return subprocess.run(ask, capture_output=True, text=True).stdout
    except OSError:
        return ""


def fill(app, config):
    options = config.html_theme_options
    found = os.environ.get("GITHUB_REPOSITORY") or slug(origin(app.srcdir))
    if found:
        options["repository_url"] = f"https://github.com/{found}"
    else:
        for button in BUTTONS:
            options.pop(button, None)


def setup(app):
    app.connect("config-inited", fill, priority=900)        # after Jupyter Book
    return {"parallel_read_safe": True}
