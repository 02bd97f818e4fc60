"""Student editions of chapters: their answers, hidden tests and outputs gone.

python -m tools.homework [--new] NN_topic ...
python -m tools.homework --only 4.2,4.3 --due 2027-01-15 [--term 2027s] NN_topic

Writes grading/release/NAME/NAME.ipynb; with --only, a homework sheet. nbgrader
does the work, in an environment of its own; grading/nbgrader_config.py tells it
how. What is handed out is kept (tools/grading/handed.py), and an edition that
would change under students who have answered it is refused.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat

from course.paths import ROOT
from tools.grading import handed
from tools.homework import sheet, teacher, variants

PROGRAMS = ROOT / ".nbgrader" / "bin"
LINK = re.compile(r"\[([^\]]+)\]\((\w+)\.(?:ipynb|md)(#[^)\s]*)?\)")


def nbgrader(folder, *command):
    """Run nbgrader in the course folder `folder`; if it fails, show why.

    Its own programs come first on the path: it calls some of them by name.
    """
    path = f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [PROGRAMS / "nbgrader", *command], cwd=folder, text=True,
        env=os.environ | {"PATH": path},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        sys.exit(f"nbgrader {' '.join(command)} failed:\n{done.stdout}")


def linked(source, site):
    """Links to other pages of the book, made links to the site.

    An edition lies alone: where no site is known, their words are left.
    """
    site = site.rstrip("/")
    return LINK.sub(lambda found: (
        f"[{found[1]}]({site}/book/{found[2]}.html{found[3] or ''})"
        if site else found[1]), source)


def write(notebook, path):
    """What an edition is made from: its links lead out, and it says which."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = linked(cell.source, os.environ.get("SITE_URL", ""))
    notebook.cells[0].source += f"\n\nEdition {handed.label(notebook)}"
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)


def replace(new, old):
    """Put the folder `new` in the place of `old`, which moves to its place."""
    old.parent.mkdir(exist_ok=True)
    if old.exists():
        old.rename(new.with_name(f"{new.name} before"))
    new.rename(old)


def make_editions(course, names, notebooks=None, new=False):
    """Write student editions below `course`, all of them or none.

    notebooks: what they are made from, the chapters if not said.
    new: even where students have answered another edition. -> their paths
    """
    with tempfile.TemporaryDirectory(prefix=".making-", dir=course) as folder:
        making, book = Path(folder), course / "gradebook.db"
        shutil.copy(course / "nbgrader_config.py", making)
        if book.exists():
            shutil.copy(book, making)
        for name, notebook in zip(names, notebooks or map(chapter, names),
                                  strict=True):
            source = making / "source" / name / f"{name}.ipynb"
            write(notebook, source)
            try:
                handed.guard(course, source)
            except handed.Refused:
                if not new:
                    raise
                put_aside(course, making, name)
        # One call: it starts slowly.
        which = names[0] if len(names) == 1 else "*"
        nbgrader(making, "generate_assignment", "--force",
                 f"--assignment={which}")
        for name in names:
            handed.keep(course, *(making / step / name / f"{name}.ipynb"
                                  for step in ("source", "release")))
            for step in ("source", "release"):
                replace(making / step / name, course / step / name)
        (making / "gradebook.db").replace(book)
    return [course / "release" / name / f"{name}.ipynb" for name in names]


def put_aside(course, making, name):
    """Nbgrader's gradebook stays with the edition whose grades it holds."""
    before, *_ = reversed(handed.editions(course, name).values())
    if (making / "gradebook.db").exists():
        shutil.copy(making / "gradebook.db", before.parent)
        nbgrader(making, "db", "assignment", "remove", "--force", name)


def chapter(name):
    return nbformat.read(ROOT / "book" / f"{name}.ipynb", as_version=4)


def arguments(given):
    parser = argparse.ArgumentParser(prog="make assignments")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--new", action="store_true")
    parser.add_argument("--only")
    parser.add_argument("--due")
    parser.add_argument("--term")
    parser.add_argument("--course", type=Path, default=ROOT / "grading")
    return parser.parse_args(given)


def main(given=None):
    asked = arguments(given)
    if not asked.names:
        sys.exit("no such chapter: CHAPTER takes its number, as in CHAPTER=04")
    homework = asked.only or asked.due or asked.term
    if homework and len(asked.names) > 1:
        sys.exit("a homework sheet is of one chapter: CHAPTER=04 ONLY=4.2,4.3"
                 " DUE=2027-01-15")
    try:
        if homework:
            path = ROOT / "book" / f"{asked.names[0]}.ipynb"
            made = sheet.make(path, asked.only, asked.due, asked.term)
            name, page = f"{path.stem}_homework", teacher.page(made)
            paths = make_editions(asked.course, [name], [made.notebook],
                                  asked.new)
            latest = [*handed.editions(asked.course, name).values()][-1]
            paths.append(latest.with_name("for_teachers.html"))
            paths[-1].write_text(page, "utf-8")
        else:
            paths = make_editions(asked.course, asked.names, new=asked.new)
    except (handed.Refused, variants.Impossible) as why:
        sys.exit(str(why))
    for path in paths:
        print(os.path.relpath(path, ROOT))
