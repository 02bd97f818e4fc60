"""Run chapters as Colab would: each alone, in an empty folder, with the
versions in tools/run/colab.txt. What they print must be what is stored.

python -m tools.run.colab [book/NN_topic.ipynb ...]
"""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient

from course.paths import ROOT
from tools.run.repeatable import QUIET  # before the first kernel

os.environ["JUPYTER_PATH"] = str(ROOT / ".colab" / "share" / "jupyter")


def said(cell):
    """What a code cell prints and shows as text; pictures have a size each."""
    shown = [output.get("text") or output.get("data", {}).get("text/plain", "")
             for output in cell.get("outputs", [])]
    return "\n".join(text for text in shown if "<Figure size" not in text)


def differences(path):
    """The ids of the cells that say something else in Colab's environment."""
    stored = nbformat.read(path, as_version=4)
    run = nbformat.read(path, as_version=4)
    with TemporaryDirectory() as empty:
        NotebookClient(
            run, timeout=600, kernel_name="colab", coalesce_streams=True,
            extra_arguments=QUIET,
            resources={"metadata": {"path": empty}}).execute()
    pairs = zip(stored.cells, run.cells, strict=True)
    return [cell.id for cell, new in pairs if said(cell) != said(new)]


if __name__ == "__main__":
    named = [Path(name) for name in sys.argv[1:]]
    changed = 0
    for path in named or sorted((ROOT / "book").glob("*.ipynb")):
        cells = differences(path)
        changed += len(cells)
        print(path.stem, f"differs in {cells}" if cells else "same", flush=True)
    sys.exit(bool(changed))
