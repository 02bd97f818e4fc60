"""Where things lie in the clone."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BOOK = ROOT / "book"
BUILD = ROOT / "_build"
ANSWERS = ROOT / "tests" / "exercises"          # right and wrong, as data
# Editions and grades: other people's work, so never in the clone.
COURSE_FOLDER = Path(os.environ.get("COURSE_FOLDER")
                     or "~/inside-the-transformer-course").expanduser()


def chapter_paths() -> list[Path]:
    """The notebooks of all chapters, in order."""
    return sorted(BOOK.glob("[0-9][0-9]_*.ipynb"))


def chapter_path(number: str) -> Path:
    """The notebook of chapter `number` ("04"). Raises ValueError."""
    for path in chapter_paths():
        if path.name[:2] == number:
            return path
    raise ValueError(f"no chapter {number}: there are "
                     f"{', '.join(path.name[:2] for path in chapter_paths())}")
