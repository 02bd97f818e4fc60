"""Point the repository button at the clone that builds the book.

A fork works untouched. Where no GitHub address is known, the button is left
out, and with it every link that doors.py would make of the address.
"""

import os
import re
import subprocess

BUTTONS = "repository_url", "use_repository_button"
REMOTE = re.compile(r"(?:^|[/@.])github\.com(?::\d+)?[:/]"
                    r"([\w.-]+/[\w.-]+?)(?:\.git)?/?$")


def slug(remote):
    """owner/name of a GitHub remote, whichever way it is written, else None."""
    found = REMOTE.search(remote.strip())
    return found and found[1]


def git(folder, *ask):
    """What git answers about a folder; nothing without git or a clone."""
    command = ["git", "-C", str(folder), *ask]
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout
    except OSError:
        return ""


def fill(app, config):
    options = config.html_theme_options
    found = os.environ.get("GITHUB_REPOSITORY") or slug(
        git(app.srcdir, "remote", "get-url", "origin"))
    if found:
        options["repository_url"] = f"https://github.com/{found}"
    else:
        for button in BUTTONS:
            options.pop(button, None)


def setup(app):
    app.connect("config-inited", fill, priority=900)        # after Jupyter Book
    return {"parallel_read_safe": True}
