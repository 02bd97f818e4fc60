"""A homework sheet for otter-grader: its notebook, and a test an exercise.

`make assignments CHAPTER=04 FOR=otter` writes otter/NAME/ in the course folder.
There, `otter generate` makes autograder.zip, and `otter run` grades by it.
"""

import shutil
from pathlib import Path

import nbformat

from course.exercise import PARTS
from course.paths import ROOT
from tools.grading.cells import GradedChapter

# Not run by otter: it would give each answer the reference of its check.
IGNORED = tuple(f"{part}-" for part in PARTS if part != "solution")
NEEDED = "numpy", "torch", "matplotlib"
TEST = '''\
"""Exercise {number} of {name}, edition {edition}, for otter-grader.

It runs beside the answer, in one process: an answer can read and change it.
"""

import contextlib
import io
import warnings

from otter.test_files import test_case

OK_FORMAT = False
name = "{number}"
all_or_nothing = True                   # points need check and hidden tests

LESSON = {lesson}

CHECK = {check}

GRADE = {grade}


def run(env, *cells):
    """Run cells with the answer, in names of their own. -> its last line"""
    assert "{function}" in env, "{number} not yet: no {function} is there"
    names = {{"__name__": "__main__"}}
    exec(LESSON, names)
    first = dict(names)

    def answer(*given, **named):
        """The student's function; it meets what a check has put in place."""
        put = {{key: names[key] for key in first.keys() & env.keys()
               if callable(first[key]) and names[key] is not first[key]}}
        kept = {{key: env[key] for key in put}}
        env.update(put)
        try:
            return env["{function}"](*given, **named)
        except SystemExit:              # it would end all exercises
            raise RuntimeError("it ends the program") from None
        finally:
            env.update(kept)

    names["{function}"] = answer
    with (contextlib.redirect_stdout(io.StringIO()) as printed,
          warnings.catch_warnings()):
        warnings.simplefilter("ignore")
        for cell in cells:
            exec(cell, names)
    return (printed.getvalue().splitlines() or [""])[-1]


@test_case(name="{number}: the check", points=0)
def check(env):
    said = run(env, CHECK)
    assert said.startswith("{number} correct"), said


@test_case(name="{number}: hidden tests", points={points:g}, hidden=True)
def hidden(env):
    run(env, CHECK, GRADE)
'''


def literal(source: str) -> str:
    """Code as a string in code, its lines as they are where that is safe."""
    plain = source.isascii() and "'''" not in source
    return f"r'''\n{source}\n'''" if plain else ascii(source)


def write(course: Path, name: str) -> list[Path]:
    """Write a sheet that was made in `course`. -> its notebook, its tests"""
    chapter = GradedChapter(course / "source" / name / f"{name}.ipynb")
    notebook = nbformat.read(course / "release" / name / f"{name}.ipynb", 4)
    for cell in notebook.cells:
        if cell.id.startswith(IGNORED):
            cell.metadata.tags = [*cell.metadata.get("tags", []),
                                  "otter_ignore"]
    folder = course / "otter" / name
    tests = folder / "tests"
    shutil.rmtree(tests, ignore_errors=True)        # of another choice
    tests.mkdir(parents=True)
    nbformat.write(notebook, folder / f"{name}.ipynb")
    for exercise in chapter.exercises:
        test = tests / f"exercise_{exercise.number.replace('.', '_')}.py"
        test.write_text(TEST.format(
            number=exercise.number, name=name, edition=chapter.edition,
            function=exercise.name, points=exercise.points,
            lesson=literal(chapter.for_judge()),
            check=literal(exercise.check.source),
            grade=literal(exercise.grade.source)), "utf-8")
    pins = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    (folder / "requirements.txt").write_text("".join(
        f"{pin.split()[0]}\n" for pin in pins
        if pin.partition("==")[0] in NEEDED), "utf-8")
    return [folder / f"{name}.ipynb", tests]
