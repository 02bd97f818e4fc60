"""Write what is generated, then run chapters in place.

python -m tools.refresh [--write-only] [NN ...]

Written: the repeated functions and the judge in each notebook, the numbers in
pages and openings, the drawings of the thread, the
font of formulas. With --write-only, nothing
runs. A chapter that runs keeps nothing that may vary.
"""

import sys

import nbformat
from nbclient import NotebookClient

from course.chapter import Chapter, chapter, chapters
from course.paths import ROOT
from tools.refresh import cells, mathfont, pages, thread
from tools.run.repeatable import QUIET  # before the first kernel

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python",
                   "name": "python3"},
    "language_info": {"name": "python"},
}


def write() -> None:
    """Write all that is generated; print the files that changed."""
    known = cells.book_homes(chapters())
    for each in chapters():
        notebook = nbformat.read(each.path, as_version=4)
        cells.write(each.number, notebook, known)
        text = nbformat.writes(notebook) + "\n"
        if text != each.path.read_text("utf-8"):
            each.path.write_text(text, "utf-8")
            print("wrote", each.path.relative_to(ROOT), flush=True)
    for path in [*pages.write(), *thread.write(), *mathfont.write()]:
        print("wrote", path.relative_to(ROOT), flush=True)


def run(each: Chapter) -> None:
    """Run a notebook and write it back, its outputs renewed."""
    notebook = nbformat.read(each.path, as_version=4)
    NotebookClient(
        notebook, timeout=600, record_timing=False, coalesce_streams=True,
        extra_arguments=QUIET, kernel_name="python3",
        resources={"metadata": {"path": str(each.path.parent)}},
    ).execute()
    notebook.metadata = METADATA
    nbformat.validate(notebook)
    nbformat.write(notebook, each.path)


def main(arguments: list[str]) -> None:
    """Write; run the chapters named, or all."""
    numbers = [word for word in arguments if word != "--write-only"]
    chosen = [chapter(number) for number in numbers] or chapters()
    write()
    if "--write-only" in arguments:
        return
    for each in chosen:
        print("run", each.path.relative_to(ROOT), flush=True)
        run(each)


if __name__ == "__main__":
    main(sys.argv[1:])
