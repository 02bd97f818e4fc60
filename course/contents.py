"""The parts of the book and their pages, as in _toc.yml."""

from collections.abc import Iterator
from pathlib import Path

import yaml

from course.paths import ROOT


def parts() -> Iterator[tuple[str | None, list[str]]]:
    """(caption or None, names of its pages) of each part, in order."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    yield None, [Path(toc["root"]).name]
    for part in toc["parts"]:
        yield part.get("caption"), [Path(page["file"]).name
                                    for page in part["chapters"]]
