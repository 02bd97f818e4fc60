"""Run chapters top to bottom in place, with nothing stored that may vary.

python -m tools.refresh [book/NN_topic.ipynb ...]
"""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from tools.run.repeatable import QUIET  # before the first kernel

KEEP = {"cellView", "mystnb", "nbgrader", "tags"}
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python",
                   "name": "python3"},
    "language_info": {"name": "python"},
}


def refresh(path):
    """Run the notebook at `path` and write it back, its outputs renewed."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        cell.metadata = {k: cell.metadata[k] for k in KEEP & set(cell.metadata)}
    NotebookClient(
        notebook, timeout=600, record_timing=False, coalesce_streams=True,
        extra_arguments=QUIET, kernel_name="python3",
        resources={"metadata": {"path": path.parent}},
    ).execute()
    notebook.metadata = METADATA
    nbformat.validate(notebook)
    nbformat.write(notebook, path)


if __name__ == "__main__":
    named = [Path(name) for name in sys.argv[1:]]
    for path in named or sorted(Path("book").glob("*.ipynb")):
        print(path, flush=True)
        refresh(path)
