"""Write what is generated, then run chapters in place.

python -m tools.refresh [--write-only] [NN ...]

Written: the repeated functions and the judge in each notebook, the numbers in
pages and openings, the drawings of the front page, the font of formulas, the
weights of "Look inside". With --write-only, nothing runs. A chapter that runs
keeps nothing that may vary.
"""

import sys

import nbformat

from course.chapter import Chapter, chapters
from course.paths import ROOT
from tools.refresh import inside, mathfont, pages, scene, thread
from tools.run.repeatable import execute  # before the first kernel

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python",
                   "name": "python3"},
    "language_info": {"name": "python"},
}


def run(chapter: Chapter) -> None:
    """Run a notebook and write it back, its outputs renewed."""
    notebook = execute(Chapter(chapter.path).notebook, chapter.path.parent)
    notebook.metadata = METADATA
    nbformat.validate(notebook)
    nbformat.write(notebook, chapter.path)


def main(arguments: list[str]) -> None:
    """Write; run the chapters named, or all."""
    chosen = chapters(*(word for word in arguments if word != "--write-only"))
    for path in [*pages.write(), *thread.write(), *scene.write(),
                 *mathfont.write(), *inside.write()]:
        print("wrote", path.relative_to(ROOT), flush=True)
    if "--write-only" in arguments:
        return
    for chapter in chosen:
        print("run", chapter.path.relative_to(ROOT), flush=True)
        run(chapter)


if __name__ == "__main__":
    main(sys.argv[1:])
