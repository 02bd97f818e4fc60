"""The editions that were handed out, kept: a term is graded by them.

editions/04_layer_normalization/2.0.0-3fa2b1c/04_layer_normalization.ipynb, in
the course folder, is what an edition was made from, with its answers and hidden
tests. A change makes another edition beside it.
"""

import json
import shutil
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tools.grading.cells import GradedChapter


def keep(course: Path, source: Path) -> None:
    """Keep a notebook with answers as the edition that it says it is."""
    folder = course / "editions" / source.stem / GradedChapter(source).edition
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, folder / source.name)


def editions(course: Path, name: str) -> dict[str, Path]:
    """{label: its notebook}, the latest one last. name: also "04_*"."""
    def made(path: Path) -> str:
        notebook = json.loads(path.read_text("utf-8"))
        return str(notebook["metadata"]["edition"]["made"])

    paths = course.glob(f"editions/{name}/*/*.ipynb")
    return {path.parent.name: path for path in sorted(paths, key=made)}


def choose(course: Path, number: str, stated: Iterable[str],
           asked: str | None = None) -> Path | None:
    """The notebook to grade by; None where no edition was handed out.

    stated: the editions that the submissions say they are. The one that most
    of them say counts; where none says a known one, the latest.
    Raises ValueError: `asked` is not kept.
    """
    kept = editions(course, f"{number}_*")
    if asked and asked not in kept:
        raise ValueError(f"no edition {asked} of {number} is kept in {course}:"
                         f" {', '.join(kept) or 'there is none'}")
    known = Counter(label for label in stated if label in kept)
    best = asked or max(reversed(kept), key=known.__getitem__, default="")
    return kept.get(best)
