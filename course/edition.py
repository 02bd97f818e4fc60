"""Which edition this is: its version, its commit and its date."""

import os
import subprocess
from datetime import datetime, timezone
from pathlib import Path

import yaml


def git(folder: Path, *arguments: str) -> str:
    """What git answers about a folder; nothing without git or a clone."""
    command = ["git", "-C", str(folder), *arguments]
    try:
        return subprocess.run(command, capture_output=True,
                              encoding="utf-8").stdout
    except OSError:
        return ""


def version(root: Path) -> str:
    """The number of the edition, as CITATION.cff has it."""
    cited = yaml.safe_load((root / "CITATION.cff").read_text("utf-8"))
    return str(cited["version"])


def edition(root: Path) -> str:
    """Number and date of what is built; never the time of building."""
    stamp = (os.environ.get("SOURCE_DATE_EPOCH")
             or git(root, "log", "-1", "--format=%ct").strip())
    if not stamp:
        return f"Edition {version(root)}"
    day = datetime.fromtimestamp(int(stamp), timezone.utc)
    return f"Edition {version(root)}, as of {day.day} {day:%B %Y}"
