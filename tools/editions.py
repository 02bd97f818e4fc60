"""Student editions of chapters: their answers, hidden tests and outputs gone.

python -m tools.editions NN_topic ...

Writes grading/release/NN_topic/NN_topic.ipynb. nbgrader does the work, in an
environment of its own; grading/nbgrader_config.py tells it how.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROGRAMS = ROOT / ".nbgrader" / "bin"


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


def make_editions(folder, names):
    """Write the student editions of chapters below `folder`; their paths."""
    for name in names:
        source = folder / "source" / name
        source.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "book" / f"{name}.ipynb", source)
    which = names[0] if len(names) == 1 else "*"    # one call: it starts slowly
    nbgrader(folder, "generate_assignment", "--force", f"--assignment={which}")
    return [folder / "release" / name / f"{name}.ipynb" for name in names]


if __name__ == "__main__":
    if not sys.argv[1:]:
        sys.exit("no such chapter: CHAPTER takes its number, as in CHAPTER=04")
    for path in make_editions(ROOT / "grading", sys.argv[1:]):
        print(path.relative_to(ROOT))
