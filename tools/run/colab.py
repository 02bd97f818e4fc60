"""Run chapters as Colab would: each alone, in an empty folder, with the
versions in tools/run/colab.txt. What they print must be what is stored.

python -m tools.run.colab [NN ...]
"""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from course.chapter import chapters
from course.paths import ROOT
from tools.run.portable import changes
from tools.run.repeatable import execute  # before the first kernel

os.environ["JUPYTER_PATH"] = str(ROOT / ".colab" / "share" / "jupyter")


def main(numbers: list[str]) -> bool:
    """Run chapters, or all; whether any cell says something else."""
    failed = False
    for chapter in chapters(*numbers):
        with TemporaryDirectory() as empty:
            new = execute(chapter.notebook, Path(empty), kernel_name="colab",
                          allow_errors=True)
        wrong = changes(new.cells, chapter.cells)
        failed |= bool(wrong)
        print(chapter.name, f"differs in {wrong}" if wrong else "same",
              flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
