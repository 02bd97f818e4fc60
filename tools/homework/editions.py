"""Student editions of chapters: their answers, hidden tests and outputs gone.

python -m tools.homework [04]
python -m tools.homework --only 4.2,4.3 --due 2027-01-15 [--term 2027s] 04
python -m tools.homework --for otter 04

Writes release/NAME/NAME.ipynb in the course folder; with --only or --for, a
homework sheet. source/ has the same notebooks with their answers, as nbgrader
takes them. What is handed out is kept (tools/grading/handed.py): a change makes
another edition beside it.
"""

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from course.chapter import chapter, chapters
from course.paths import COURSE_FOLDER
from tools.grading import handed
from tools.homework import otter, sheet, strip, teacher


def write(notebook: NotebookNode, path: Path) -> None:
    """Write a notebook, and the folder that it lies in."""
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)


def make_editions(course: Path,
                  notebooks: dict[str, NotebookNode]) -> list[Path]:
    """Write student editions below `course`, all of them or none.

    notebooks: what they are made from, by name. -> their paths
    """
    site = os.environ.get("SITE_URL", "")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name, notebook in notebooks.items():
            place = Path(name, f"{name}.ipynb")
            prepared = strip.prepared(notebook, site)
            write(prepared, folder / "source" / place)
            write(strip.stripped(prepared), folder / "release" / place)
        for name in notebooks:
            handed.keep(course, folder / "source" / name / f"{name}.ipynb")
        shutil.copytree(folder, course, dirs_exist_ok=True)
    return [course / "release" / name / f"{name}.ipynb" for name in notebooks]


def make_homework(course: Path, asked: argparse.Namespace) -> list[Path]:
    """A homework sheet, and beside what is kept of it, the teacher's page."""
    made = sheet.make(chapter(asked.chapter), asked.only, asked.due, asked.term)
    name, page = f"{made.chapter.name}_homework", teacher.page(made)
    paths = make_editions(course, {name: made.notebook})
    latest = [*handed.editions(course, name).values()][-1]
    paths.append(latest.with_name("for_teachers.html"))
    paths[-1].write_text(page, "utf-8")
    return paths + (otter.write(course, name) if asked.platform else [])


def arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make assignments")
    parser.add_argument("chapter", nargs="?")
    parser.add_argument("--only")
    parser.add_argument("--due")
    parser.add_argument("--term")
    parser.add_argument("--for", dest="platform", choices=["otter"])
    parser.add_argument("--course", type=Path, default=COURSE_FOLDER)
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    """Make what the command line asks for, and print where it lies."""
    asked = arguments(argv)
    homework = asked.only or asked.due or asked.term or asked.platform
    if homework and not asked.chapter:
        sys.exit("a homework sheet is of one chapter: CHAPTER=04 ONLY=4.2,4.3"
                 " DUE=2027-01-15")
    try:
        if homework:
            paths = make_homework(asked.course, asked)
        else:
            chosen = [chapter(asked.chapter)] if asked.chapter else chapters()
            paths = make_editions(asked.course, {
                one.name: one.notebook for one in chosen})
    except ValueError as why:
        sys.exit(str(why))
    print(*paths, sep="\n")
