"""Which cell is which: of the teacher's chapter, and of a submission."""

import ast
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from course.chapter import Chapter
from course.code import bound, needed, used
from course.exercise import Exercise, exercises, trio

SOLUTION = re.compile(r"solution-(\d+)-(\d+)")
MAGIC = re.compile(r"(?m)^[%!].*$")
ORDINARY = {"collections", "functools", "itertools", "math", "matplotlib",
            "numpy", "operator", "torch", "typing"}
STAMP = re.compile(r"(?m)^Edition (\S+-[0-9a-f]{7,})$")
PARSING = Lock()        # ast counts its depth for all threads together
STRANGE = {"__import__", "breakpoint", "compile", "delattr", "eval", "exec",
           "getattr", "globals", "input", "locals", "open", "setattr", "vars"}


# Of a submission, which need not be sound: (kind, names it goes by, source).
Submitted = list[tuple[str, set[str], str]]


class NotANotebook(ValueError):
    """In words, why."""


@dataclass
class Answer:
    """The cell that answers an exercise: its source, or None; what was done."""
    source: str | None
    notes: list[str] = field(default_factory=list)
    look: list[str] = field(default_factory=list)


def read(data: bytes) -> Submitted:
    """The cells of a notebook. Raises NotANotebook."""
    try:
        cells = json.loads(data)["cells"]
        return [(cell["cell_type"], identity(cell), "".join(cell["source"]))
                for cell in cells]
    except UnicodeDecodeError:
        raise NotANotebook("not text, so not a notebook") from None
    except (ValueError, RecursionError):
        raise NotANotebook("empty" if not data.strip()
                           else "damaged: not JSON") from None
    except (KeyError, TypeError, AttributeError):
        raise NotANotebook("not a notebook of version 4") from None


def identity(cell: dict) -> set[str]:
    """Its grade_id and its id: editors keep the one or the other."""
    own = cell.get("metadata", {}).get("nbgrader", {}).get("grade_id")
    return {name for name in (own, cell.get("id")) if isinstance(name, str)}


def tree(source: str) -> list[ast.stmt]:
    """Its statements; none where Python cannot read it."""
    try:
        with PARSING:
            return ast.parse(plain(source)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def plain(source: str) -> str:
    """Without the lines that only a notebook understands: %magic, !command."""
    return MAGIC.sub("", source)


def defines(source: str, name: str) -> bool:
    """Does it define the function, or try to?"""
    return any(isinstance(node, ast.FunctionDef) and node.name == name
               for node in tree(source)) or bool(
                   re.search(rf"(?m)^def {name}\b", source))


class GradedChapter(Chapter):
    """The teacher's own copy of a chapter, by which answers are graded.

    What is to be parsed is parsed here: many threads ask for it.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.exercises = exercises(self)
        self.edition = stamp([("markdown", set(), cell.source)
                              for cell in self.markdown])
        self.judging = tree(self.cell("verdict").source)
        self.tested = used(*self.judging, *(
            node for exercise in self.exercises
            for cell in (exercise.check, exercise.grade)
            for node in tree(cell.source)))
        own = {"verdict", *(cell.id for exercise in self.exercises
                            for cell in trio(self.code, exercise.number))}
        self.lesson = [node for cell in self.code if cell.id not in own
                       for node in tree(cell.source)]

    @property
    def most(self) -> float:
        """Points of all exercises."""
        return sum(exercise.points for exercise in self.exercises)

    def leans_on(self, sources: Iterable[str]) -> tuple[str, list[str]]:
        """The part of the lesson that answers, checks and grades need.

        -> its code, and those of its names that no answer may change: what
        it imports, and what judges. PyTorch takes two seconds to load, and
        many exercises do without.
        """
        words = {word for source in sources
                 for word in re.findall(r"\w+", source)}
        kept = needed(words | self.tested, self.lesson)
        imports = [node for node in kept
                   if isinstance(node, ast.Import | ast.ImportFrom)]
        ours = {name for node in [*imports, *self.judging]
                for name in bound(node)}
        code = ast.unparse(ast.Module([*kept, *self.judging], []))
        return code, sorted(ours)


def stamp(cells: Submitted) -> str:
    """The edition that a notebook says it is; nothing if it says none."""
    matches = (STAMP.search(source) for kind, _, source in cells
               if kind == "markdown")
    return next((match[1] for match in matches if match), "")


def answers(chapter: GradedChapter, cells: Submitted) -> dict[str, Answer]:
    """{number: its Answer} of a submission."""
    code = [(names, source) for kind, names, source in cells
            if kind == "code"]
    return {exercise.number: answer(exercise, code)
            for exercise in chapter.exercises}


def answer(exercise: Exercise, code: list[tuple[set[str], str]]) -> Answer:
    """Its cell, by name; or, where the metadata are lost, by the function.

    Of several copies the last one counts that was worked on, as it would
    in a notebook that is run from top to bottom.
    """
    own = f"solution-{exercise.number.replace('.', '-')}"
    defining = [source for _, source in code
                if defines(source, exercise.name)]
    named = [source for names, source in code if own in names]
    candidates = defining or named
    if not candidates:
        return Answer(None)
    notes = []
    if not named:
        notes.append("metadata lost, found by the name of its function")
    if len(candidates) > 1:
        notes.append(f"{len(candidates)} cells answer it, the last one that was"
                     " worked on was graded")
    source = ([*filter(worked_on, candidates)] or candidates)[-1]
    if plain(source) != source:
        notes.append("lines that begin with % or ! were left out")
    return Answer(plain(source), notes, strange(source))


def worked_on(source: str) -> bool:
    """Is it more than the cell that was handed out?"""
    return "raise NotImplementedError" not in source


def strange(source: str) -> list[str]:
    """Names that an answer to an exercise seldom has any business with."""
    names = []
    for node in ast.walk(ast.Module(tree(source), [])):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names
                      if alias.name.partition(".")[0] not in ORDINARY]
        elif isinstance(node, ast.ImportFrom):
            root = (node.module or "").partition(".")[0]
            names += [node.module or "."] if root not in ORDINARY else []
        elif isinstance(node, ast.Attribute):
            if node.attr.startswith("_") or isinstance(node.ctx, ast.Store):
                names.append(f".{node.attr}")
        elif isinstance(node, ast.Name):
            if node.id in STRANGE or node.id.startswith("__"):
                names.append(node.id)
        elif isinstance(node, ast.Global):
            names += [f"global {name}" for name in node.names]
        elif isinstance(node, ast.FunctionDef) and (
                node.name in ("close", "verdict", "where_it_stops")):
            names.append(node.name)
    return sorted(set(names))
