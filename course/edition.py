"""Which edition this is: its version, and the day of its last commit."""

import os
import re
import subprocess
from datetime import datetime, timezone
from pathlib import Path

VERSION = re.compile(r"(?m)^version: *(\S+)")


def git(folder: Path, *ask: str) -> str:
    """What git answers about a folder; nothing without git or a clone."""
    command = ["git", "-C", str(folder), *ask]
    try:
        return subprocess.run(command, capture_output=True, encoding="utf-8"
                              ).stdout
    except OSError:
        return ""


def version(root: Path) -> str:
    """The version that CITATION.cff names."""
    return VERSION.search((root / "CITATION.cff").read_text("utf-8"))[1]


def edition(root: Path) -> str:
    """The version and the date of what is built; never the time of building."""
    stamp = (os.environ.get("SOURCE_DATE_EPOCH")
             or git(root, "log", "-1", "--format=%ct").strip())
    if not stamp:
        return f"Edition {version(root)}"
    day = datetime.fromtimestamp(int(stamp), timezone.utc)
    return f"Edition {version(root)}, as of {day.day} {day:%B %Y}"
