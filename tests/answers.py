"""An answer to an exercise, and what its check and its grade say of it."""

import ast
import contextlib
import inspect
import io
import linecache
import re
import signal
import warnings
from functools import cache
from runpy import run_path
from zlib import crc32

import chapters
import numpy as np

SECONDS = 10                            # an answer may take, then it hangs
LINE = re.compile(r"(?m)^Promises: (.+)$")


class Endless(BaseException):
    """Not an Exception, so that no check takes it for a mistake."""


@contextlib.contextmanager
def deadline(seconds):
    """Raises Endless where the block takes more seconds of the processor."""
    def stop(*_):
        raise Endless

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@cache
def given(path):
    """What tests/exercises/ says of a chapter: RIGHT, WRONG, HIDDEN, ..."""
    return run_path(chapters.HERE / "exercises" / f"chapter_{path.name[:2]}.py")


@cache
def lesson(path):
    """The imports, functions and classes of a chapter, by name."""
    names = {}
    exec(chapters.definitions(path), names)
    return names


@cache
def program(name, source):
    """A cell, compiled; its lines can be quoted, as in a notebook.

    Two cells of one name have their own lines: each is its own file.
    """
    name = f"{name} {crc32(source.encode())}"
    linecache.cache[name] = (len(source), None,
                             source.splitlines(keepends=True), name)
    with warnings.catch_warnings():         # a mutant may index a number
        warnings.simplefilter("ignore", SyntaxWarning)
        return compile(source, name, "exec")


class Exercise:
    """One coding exercise of a chapter: its cells, promises and answers."""

    def __init__(self, path, number):
        code = chapters.cells(path, "code")
        self.path, self.number = path, number
        self.solution, self.check, self.grade = chapters.trio(code, number)
        self.statement = next(
            cell.source for cell in chapters.cells(path, "markdown")
            if f"**Exercise {number}**" in cell.source)
        line = LINE.search(self.statement)
        self.promises = set(line[1].rstrip(".").split("; ")) if line else set()
        self.right = [("the book's own", self.own()),
                      *(row[1:] for row in given(path)["RIGHT"]
                        if row[0] == number)]
        self.draw = given(path).get("DOMAIN", {}).get(number)
        self.precise = given(path).get("PRECISE", {}).get(number, "")
        self.name = next(node.name for node
                         in ast.parse(self.solution.source).body
                         if isinstance(node, ast.FunctionDef))

    def own(self):
        """The lines between the marks of its solution."""
        marked = r"(?s) *### BEGIN SOLUTION\n(.*?) *### END SOLUTION"
        return inspect.cleandoc(
            "\n" + re.search(marked, self.solution.source)[1])

    def names(self, body):
        """The lesson's names, and the answer with this body."""
        return self.run(chapters.answer(self.solution.source, body))

    def run(self, source):
        """The lesson's names, and what this solution cell defines."""
        names = dict(lesson(self.path))
        exec(program(f"<solution {self.number}>", source), names)
        return names

    def borrowed(self):
        """Functions of the lesson that check and grade lean on.

        A student may have edited them: both carry what they compare with.
        """
        tree = ast.parse(f"{self.check.source}\n{self.grade.source}")
        own = {node.name for node in tree.body if hasattr(node, "name")}
        used = {node.id for node in ast.walk(tree)
                if isinstance(node, ast.Name)}
        made = {node.name for cell in chapters.cells(self.path, "code")
                for node in ast.parse(cell.source).body
                if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        return (used & made) - own - {self.name, "close", "verdict"}

    def mistakes(self):
        """(what, body) of wrong answers: by the check named, and not."""
        return ([(what, body) for number, what, _, body
                 in given(self.path)[kind]
                 if number == self.number and what != "not begun"]
                for kind in ("WRONG", "HIDDEN"))

    def inputs(self, seed):
        """Arguments from the domain that the statement names."""
        return self.draw(np.random.default_rng(seed))

    def says(self, names):
        """What the check prints; what the grade raises: its words, or None.

        Runs what an exercise leans on, not the chapter: imports and functions,
        then the answer, the check and the grade.
        """
        with (contextlib.redirect_stdout(io.StringIO()) as printed,
              contextlib.redirect_stderr(io.StringIO()) as complaints,
              warnings.catch_warnings()):
            warnings.simplefilter("ignore")
            with deadline(SECONDS):
                exec(program(f"<check {self.number}>", self.check.source),
                     names)
            said = printed.getvalue().removesuffix("\n")
            assert not complaints.getvalue() and "\n" not in said
            try:
                with deadline(SECONDS):
                    exec(program(f"<grade {self.number}>", self.grade.source),
                         names)
            except AssertionError as error:
                return said, str(error)
        return said, None
