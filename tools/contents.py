"""The parts of the book and their pages, as in _toc.yml."""

from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]


def parts():
    """[(caption or None, [page, ...]), ...] of the table of contents."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    yield None, [Path(toc["root"]).name]
    for part in toc["parts"]:
        yield part.get("caption"), [Path(each["file"]).name
                                    for each in part["chapters"]]
