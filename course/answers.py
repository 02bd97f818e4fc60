"""Answers to an exercise, and what its check and its grade say of them.

tests/exercises/chapter_04.py holds them as data: RIGHT, WRONG and HIDDEN
answers, DOMAIN (draws arguments), PRECISE (kinds of answers it refuses),
VARIANTS (what a homework sheet changes).
"""

import contextlib
import io
import linecache
import signal
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from runpy import run_path
from types import CodeType
from typing import Any
from zlib import crc32

import numpy as np

from course.chapter import Chapter
from course.exercise import Exercise, with_body
from course.paths import ANSWERS

SECONDS = 10                            # an answer may take, then it hangs
Names = dict[str, Any]


class Endless(BaseException):
    """Not an Exception, so that no check takes it for a mistake."""


@contextlib.contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raises Endless where the block takes more seconds of the processor."""
    def stop(*_: object) -> None:
        raise Endless

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@cache
def stored(number: str) -> Names:
    """What tests/exercises/ says of a chapter: RIGHT, WRONG, HIDDEN, ..."""
    return run_path(str(ANSWERS / f"chapter_{number}.py"))


@cache
def lesson(chapter: Chapter) -> Names:
    """The imports, functions and classes of a chapter, by name."""
    names: Names = {}
    exec(chapter.definitions, names)
    return names


@cache
def program(name: str, source: str) -> CodeType:
    """A cell, compiled; its lines can be quoted, as in a notebook.

    Two cells of one name have their own lines: each is its own file.
    """
    name = f"{name} {crc32(source.encode())}"
    linecache.cache[name] = (len(source), None,
                             source.splitlines(keepends=True), name)
    with warnings.catch_warnings():         # a mutant may index a number
        warnings.simplefilter("ignore", SyntaxWarning)
        return compile(source, name, "exec")


class AnsweredExercise(Exercise):
    """An exercise with its right and wrong answers."""

    def __init__(self, chapter: Chapter, number: str) -> None:
        super().__init__(chapter, number)
        data = stored(chapter.number)
        self.right = [("the book's own", self.body),
                      *(row[1:] for row in data["RIGHT"]
                        if row[0] == number)]
        self.draw: Callable[[np.random.Generator], tuple[Any, ...]] | None = (
            data.get("DOMAIN", {}).get(number))
        self.precise: str = data.get("PRECISE", {}).get(number, "")
        self.variant: Names | None = data.get("VARIANTS", {}).get(number)

    def mistakes(self) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        """(what, body) of wrong answers: by the check named, and not."""
        wrong, hidden = ([(what, body) for number, what, _, body
                          in stored(self.chapter.number)[kind]
                          if number == self.number and what != "not begun"]
                         for kind in ("WRONG", "HIDDEN"))
        return wrong, hidden

    def inputs(self, seed: int) -> tuple[Any, ...]:
        """Arguments from the domain that the statement names."""
        assert self.draw is not None, f"{self.number} has no DOMAIN"
        return self.draw(np.random.default_rng(seed))

    def names(self, body: str) -> Names:
        """The lesson's names, and the answer with this body."""
        return self.run(with_body(self.solution.source, body))

    def run(self, source: str) -> Names:
        """The lesson's names, and what this solution cell defines."""
        names = dict(lesson(self.chapter))
        exec(program(f"<solution {self.number}>", source), names)
        return names

    def says(self, names: Names) -> tuple[str, str | None]:
        """What the check prints; what the grade raises: its words, or None.

        Runs what an exercise leans on, not the chapter: imports and functions,
        then the answer, the check and the grade.
        """
        with (contextlib.redirect_stdout(io.StringIO()) as output,
              contextlib.redirect_stderr(io.StringIO()) as complaints,
              warnings.catch_warnings()):
            warnings.simplefilter("ignore")
            with deadline(SECONDS):
                exec(program(f"<check {self.number}>", self.check.source),
                     names)
            line = output.getvalue().removesuffix("\n")
            assert not complaints.getvalue() and "\n" not in line
            try:
                with deadline(SECONDS):
                    exec(program(f"<grade {self.number}>", self.grade.source),
                         names)
            except AssertionError as error:
                return line, str(error)
        return line, None
