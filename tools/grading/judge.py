"""The judge: runs checks and hidden tests, on a proxy of each answer.

The answer itself runs in a sandbox (answer.py), which holds nothing of what
is here. A check that calls the student's function calls a Proxy: arguments
go over as data, the result comes back as data. So an answer earns only what it
computes. A judge is a process of its own, for one submission.
"""

import contextlib
import io
import json
import signal
import subprocess
import sys
import time
import tracemalloc
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from course.exercise import Exercise
from tools.grading import answer, cells, collect, sandbox

PROGRAM = Path(answer.__file__).read_text("utf-8")
MOST = 32 * 2**20                       # bytes of a message from an answer
LONGEST = 600                           # characters of a line
WATCHED = "numpy.linalg", "torch.linalg"        # what checks may replace in
Names = dict[str, Any]


@dataclass
class Mark:
    """Of an exercise: points (None is missing, not zero), and words."""
    points: float | None
    said: str                           # to the student
    hidden: str = ""                    # by the hidden tests: to the teacher


class Answer(answer.Peer):
    """The judge's end of the pipes to a sandbox. cpu: seconds used there.

    names: those of the check that asks; first: as they were before it ran.
    """

    def __init__(self, process: subprocess.Popen[bytes], setup: Names) -> None:
        assert process.stdin and process.stdout
        super().__init__(process.stdout.fileno(), process.stdin.fileno(), MOST)
        self.cpu = 0.0
        self.names: Names = {}
        self.first: dict[str, Names] = {}
        self.send(setup)
        self.receive()

    def ask(self, task: dict[str, Any], names: Names) -> Names:
        """Begin an exercise. -> {function: is it there, error: in words}"""
        self.names, self.here, self.changed = names, [], False
        self.first = {module: dict(vars(sys.modules[module]))
                      for module in WATCHED if module in sys.modules}
        self.first[""] = dict(names)
        self.send(task)
        return self.receive()

    def end(self) -> None:
        """End an exercise. Raises Broken where its process does not."""
        self.send({"end": True})
        size = int.from_bytes(self.read(4), "big")
        try:
            self.cpu = float(json.loads(self.read(min(size, MOST)))["cpu"])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise answer.Broken("it sent what is no message") from None

    def replaced(self) -> Iterator[tuple[str, str, int]]:
        """What a check has put in place of functions, to see who is called."""
        for module, first in self.first.items():
            now = vars(sys.modules[module]) if module else self.names
            for name, value in first.items():
                if callable(value) and now.get(name) is not value:
                    yield module, name, self.pack(now.get(name), {})[1]

    def proxy(self, *args: object, **named: object) -> object:
        """The student's function. Raises what it raises, and Broken."""
        torch = sys.modules.get("torch")
        return self.call(
            0, args, named, errors=np.geterr(), trace=tracemalloc.is_tracing(),
            grad=torch.is_grad_enabled() if torch else None,
            replaced=[*self.replaced()])

    def allocate(self, size: int) -> None:
        """Take as much as the answer says: a check may count it."""
        if tracemalloc.is_tracing():
            np.empty(min(int(size), 2**28), np.uint8)


def run(name: str, source: str, names: Names) -> str:
    """Run a cell of the teacher's. -> the last line that it prints"""
    with (contextlib.redirect_stdout(io.StringIO()) as printed,
          warnings.catch_warnings()):
        warnings.simplefilter("ignore")
        answer.run(name, source, names)
    return (printed.getvalue().splitlines() or [""])[-1]


def judged(exercise: Exercise, one: cells.Answer, proxied: Answer,
           names: Names) -> Mark:
    """What check and hidden tests say of an answer. Raises Broken."""
    number = exercise.number
    got = proxied.ask({"cells": one.cells, "answer": one.source,
                       "function": exercise.name}, names)
    if not got.get("function"):
        why = (f"its cell stops with {got['error']}" if got.get("error")
               else f"no function {exercise.name} is in it")
        return Mark(0, f"{number} not yet: {why}"[:LONGEST])
    names[exercise.name] = proxied.proxy
    said = run("<check>", exercise.check.source, names)[:LONGEST]
    if not said.startswith(f"{number} correct"):
        why = got.get("error")
        also = f" (a cell of yours stops with {why})" if why else ""
        return Mark(0, f"{said}{also}"[:LONGEST])
    try:
        run("<grade>", exercise.grade.source, names)
    except Exception as error:
        return Mark(0, f"{number} not yet: the check is passed, and further"
                    " tests found a mistake", str(error)[:LONGEST])
    if proxied.changed and "inputs unchanged" in exercise.promises:
        return Mark(0, f"{number} not yet: do you leave the arguments as they"
                    " were, in every call?")
    return Mark(exercise.points, said)


def patience(seconds: float) -> int:
    """How long an exercise may last on the clock: a busy machine is slow."""
    return 15 + 5 * round(seconds)


def marks(way: sandbox.Sandbox, chapter: cells.GradedChapter,
          answers: list[tuple[Exercise, cells.Answer]], seconds: float
          ) -> tuple[list[Mark], float]:
    """A mark for each answer, and the seconds of processor in sandboxes.

    One sandbox serves all; one that was harmed is replaced.
    Raises RuntimeError: none could be started.
    """
    setup = {"lesson": chapter.for_answers(
        source for _, one in answers
        for source in (*one.cells, one.source or "")),
        "seconds": max(1, round(seconds)), "memory": sandbox.MEMORY,
        "patience": patience(seconds)}
    lesson: Names = {"__name__": "__main__"}
    answer.run("<lesson>", chapter.for_judge(), lesson)
    where = lesson["where_it_stops"]
    lesson["where_it_stops"] = lambda error, check: (
        getattr(error, "told", "") or where(error, check))

    def late(*_: object) -> None:
        raise answer.Broken("time")

    signal.signal(signal.SIGALRM, late)
    found, cpu, proxied = [], 0.0, None
    with contextlib.ExitStack() as stack:
        for exercise, one in answers:
            number = exercise.number
            if one.source is None:
                found.append(Mark(None, f"{number} missing: no cell answers"
                                  " it"))
                continue
            mark = None
            try:                        # on the clock, for one that sleeps
                signal.setitimer(signal.ITIMER_REAL, patience(seconds))
                if proxied is None:
                    process = stack.enter_context(way.running("-c", PROGRAM))
                    proxied = Answer(process, setup)
                mark = judged(exercise, one, proxied, dict(lesson))
                proxied.end()
            except answer.Broken as how:
                if proxied is None:
                    raise RuntimeError(f"its sandbox broke: {how}") from None
                why = (f"took more than {seconds:g} s" if str(how) == "time"
                       else str(how).removeprefix("it "))
                mark = mark or Mark(0, f"{number} stopped: your code {why}")
                cpu += proxied.cpu
                proxied = None
                stack.close()
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            found.append(mark)
    return found, cpu + (proxied.cpu if proxied else 0)


@dataclass
class Report:
    """Of a submission: all that tables and pages say of it. A line of JSON
    holds it, with the key that tells a second run that it is there."""
    platform: str
    id: str
    person: str
    page: str
    key: str = ""
    file: str = ""
    edition: str = ""                   # that the notebook says it is
    marks: dict[str, Mark] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    problem: str = ""                   # why there are no marks
    left_out: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0
    late: str = ""                      # after the day that a sheet names

    @classmethod
    def of(cls, line: str) -> "Report":
        """From its line of JSON."""
        made = cls(**json.loads(line))
        made.marks = {number: Mark(**mark) for number, mark
                      in json.loads(line)["marks"].items()}
        return made

    @property
    def points(self) -> float | None:
        """Of all exercises; None where there are none to count."""
        got = [mark.points for mark in self.marks.values()
               if mark.points is not None]
        return sum(got) if got else None

    @property
    def lines(self) -> list[str]:
        """What the student reads."""
        if not self.marks:
            return [f"not graded: {self.problem}"]
        first = [f"not taken: {', '.join(self.left_out)}"] * bool(self.left_out)
        return first + [mark.said for mark in self.marks.values()]


def choose(chapter: cells.GradedChapter, one: Report, files: collect.Files
           ) -> dict[str, cells.Answer]:
    """The answers of the notebook that answers most; `one` says which."""
    best, others = [0, 0], set()
    chosen: dict[str, cells.Answer] = {}
    for path, read in sorted(files, key=lambda file: collect.version(file[0])):
        if isinstance(read, str):
            one.notes.append(f"{path}: {read}")
            continue
        answers = cells.answers(chapter, read)
        count = [sum(answer.source is not None and want(answer.source)
                     for answer in answers.values())
                 for want in (cells.worked_on, bool)]
        others |= {found[1].zfill(2) for _, names, _ in read for each in names
                   if (found := cells.SOLUTION.fullmatch(each))}
        if any(count) and count >= best:
            best, chosen = count, answers
            one.file, one.edition = path, cells.stamp(read)
    if chosen and len(files) > 1:
        one.notes.append(f"of {len(files)} notebooks, this one was graded")
    elif not chosen and others - {chapter.number}:
        one.notes.append("this is chapter " + ", ".join(sorted(others)))
    elif not chosen and not one.notes:
        one.notes.append(f"no exercise of chapter {chapter.number} is in it"
                         if files else "no notebook")
    return chosen


def work(connection: Connection, way: sandbox.Sandbox, path: Path,
         submission: collect.Submission, seconds: float) -> None:
    """Judge a submission, in a process of its own; send the Report's line."""
    import resource  # Windows has none

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(ValueError, OSError):      # as on macOS
        resource.setrlimit(resource.RLIMIT_DATA, (2 * sandbox.MEMORY,) * 2)
    one = Report(submission.platform, submission.id, submission.person,
                 submission.page)
    try:
        chapter = cells.GradedChapter(path)
        answers = choose(chapter, one, submission.files)
        one.problem = "" if answers else "; ".join(one.notes)
        if one.edition and chapter.edition not in ("", one.edition):
            one.notes.append(f"edition {one.edition}, graded by"
                             f" {chapter.edition}")
        for number, each in answers.items():
            one.notes += [f"{number}: {note}" for note in each.notes]
            one.left_out = [*dict.fromkeys(one.left_out + each.left_out)]
            if each.source is not None:
                one.sources[number] = each.source
        if answers:
            made, one.seconds = marks(way, chapter, [
                (exercise, answers[exercise.number])
                for exercise in chapter.exercises], seconds)
            one.marks = dict(zip(answers, made, strict=True))
    except Exception as error:          # whatever was handed in
        one.problem = f"{type(error).__name__}: {error}"
    one.seconds += time.process_time()
    connection.send_bytes(json.dumps(asdict(one)).encode())
