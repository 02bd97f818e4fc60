"""Which cell is which: of the teacher's chapter, and of a submission."""

import ast
import json
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from IPython.core.inputtransformer2 import TransformerManager

from course.chapter import Chapter
from course.code import KEPT, bound, closure, needed, reads_and_defines, used
from course.exercise import Exercise, exercises, trio

LARGEST = 100_000                       # bytes of a cell that is taken
SOLUTION = re.compile(r"solution-(\d+)-(\d+)")
STAMP = re.compile(r"(?m)^Edition (\S+-[0-9a-f]{7,})$")
CELL_MAGIC = re.compile(r"\A\s*%%(\w+).*")
TRANSPARENT = "capture", "prun", "time", "timeit"       # they run their cell
TIMED = re.compile(r"(?m)^([ \t]*)%time[ \t]+(?=\S)")    # and this its line
# Of a submission, which need not be sound: (kind, names it goes by, source).
Submitted = list[tuple[str, list[str], str]]


class NotANotebook(ValueError):
    """In words, why."""


@dataclass
class Answer:
    """What answers an exercise: its cell as Python, or None; what it needs of
    the student's other cells; what is odd, and what was not taken."""
    source: str | None
    cells: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def read(data: bytes) -> Submitted:
    """The cells of a notebook, attachments left out. Raises NotANotebook."""
    try:
        try:
            cells = json.loads(data)["cells"]
        except UnicodeDecodeError:
            cells = json.loads(data.decode("latin-1"))["cells"]
        return [(str(cell["cell_type"]), identity(cell),
                 "".join(cell["source"])) for cell in cells]
    except (ValueError, RecursionError, MemoryError):
        raise NotANotebook("empty" if not data.strip()
                           else "damaged: not JSON") from None
    except (KeyError, TypeError, AttributeError):
        raise NotANotebook("not a notebook of version 4") from None


def identity(cell: dict) -> list[str]:
    """Its grade_id and its id: editors keep the one or the other."""
    own = cell.get("metadata", {}).get("nbgrader", {}).get("grade_id")
    return [name for name in (own, cell.get("id")) if isinstance(name, str)]


def tree(source: str) -> list[ast.stmt]:
    """Its statements; none where Python cannot read it."""
    try:
        return ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def python(source: str) -> str:
    """A cell without IPython's own lines: %magic, !command, name?

    Raises NotANotebook where nothing of it is taken.
    """
    data = source.encode("utf-8", "replace")    # half an emoji
    if len(data) > LARGEST:
        raise NotANotebook(f"a cell of more than {LARGEST // 1000} kB")
    source = data.decode("utf-8")
    while magic := CELL_MAGIC.match(source):
        if magic[1] not in TRANSPARENT:
            raise NotANotebook(f"a cell of %%{magic[1]}")
        source = source[magic.end():]
    source = TIMED.sub(r"\1", source)
    try:
        return TransformerManager().transform_cell(source)
    except Exception:                   # Python says it better
        return source


class GradedChapter(Chapter):
    """The teacher's own copy of a chapter, by which answers are graded."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.exercises = exercises(self)
        self.edition = stamp([("markdown", [], cell.source)
                              for cell in self.markdown])
        self.judging = tree(self.cell("verdict").source)
        self.tested = {word for exercise in self.exercises
                       for cell in (exercise.check, exercise.grade)
                       for word in re.findall(r"\w+", cell.source)}
        # Its cells, by name or text, as they were handed out or edited.
        self.own = {text for cell in self.code if not SOLUTION.match(cell.id)
                    for text in (cell.id, cell.source.strip())}
        shown = [cell.source for cell in self.code
                 if not SOLUTION.match(cell.id)]
        self.defined = {name for source in shown for node in tree(source)
                        for name in bound(node)}
        self.values = {name for source in shown
                       for name in known(source)[1]} - self.defined
        own = {"verdict", *(cell.id for exercise in self.exercises
                            for cell in trio(self.code, exercise.number))}
        self.lesson = [node for cell in self.code if cell.id not in own
                       for node in tree(cell.source)]

    @property
    def most(self) -> float:
        """Points of all exercises."""
        return sum(exercise.points for exercise in self.exercises)

    def for_judge(self) -> str:
        """The part of the lesson that checks and hidden tests lean on."""
        words = self.tested | used(*self.judging)
        kept = needed(words, self.lesson)
        return ast.unparse(ast.Module([*kept, *self.judging], []))

    def for_answers(self, sources: Iterable[str]) -> str:
        """The part of the lesson that answers lean on, without any check.

        PyTorch takes two seconds to load, and many exercises do without.
        """
        words = {word for source in sources
                 for word in re.findall(r"\w+", source)}
        words.add("where_it_stops")     # tells an answer's line
        lesson = [*self.lesson, *self.judging]
        return ast.unparse(ast.Module(needed(words, lesson), []))


def stamp(cells: Submitted) -> str:
    """The edition that a notebook says it is; nothing if it says none."""
    matches = (STAMP.search(source) for kind, _, source in cells
               if kind == "markdown")
    return next((match[1] for match in matches if match), "")


def answers(chapter: GradedChapter, cells: Submitted) -> dict[str, Answer]:
    """{number: its Answer} of a submission."""
    code, left_out = [], []
    for kind, names, source in cells:
        if kind != "code" or source.strip() in chapter.own:
            continue
        try:
            taken = python(source)
            if taken.strip() != source.strip():
                left_out.append("IPython's lines (%, !, ?)")
            if not tree(f"{taken}\npass"):      # a comment alone is no harm
                left_out.append("a cell that Python cannot read")
        except NotANotebook as why:
            taken = ""
            left_out.append(str(why))
        if chapter.own & {*names}:      # of the lesson, and edited
            taken = "\n".join(ast.unparse(node) for node in tree(taken)
                              if gives(node) - chapter.defined)
        code.append((names, taken))
    return {exercise.number: answer(exercise, code, left_out, chapter.values)
            for exercise in chapter.exercises}


def answer(exercise: Exercise, code: list[tuple[list[str], str]],
           left_out: list[str], values: set[str]) -> Answer:
    """Its cell, by name; or, where the metadata are lost, by the function.

    Of several copies the last one counts that was worked on, as it would
    in a notebook that is run from top to bottom.
    """
    own = f"solution-{exercise.number.replace('.', '-')}"
    named = [source for names, source in code if own in names]
    defining = re.compile(rf"(?m)^(def {exercise.name}\b|{exercise.name} *=)")
    candidates = [source for _, source in code
                  if defining.search(source)] or named
    if not candidates:
        return Answer(None, left_out=left_out)
    notes = []
    if not named:
        notes.append("metadata lost, found by the name of its function")
    if len(candidates) > 1:
        notes.append(f"{len(candidates)} cells answer it, the last one that was"
                     " worked on was graded")
    source = ([*filter(worked_on, candidates)] or candidates)[-1]
    others = [node for _, other in code if other is not source
              for node in tree(other)]
    taken, wanted = taken_along(source, others)
    computed = ", ".join(sorted(wanted & values))
    return Answer(source, taken, notes, left_out + [
        f"values that cells of the lesson make ({computed})"] * bool(computed))


@cache
def known(source: str) -> tuple[set[str], set[str]]:
    """The names that it reads, and defines; none where it cannot be read."""
    try:
        return reads_and_defines(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set(), set()


def gives(node: ast.stmt, made: Collection[str] = ()) -> set[str]:
    """The names that a statement defines, or may change, as `x[0] = 1` does.

    made: those that can be changed. The names of `from x import *` are "*".
    """
    names = set(known(ast.unparse(node))[1])
    for part in ast.walk(node):
        if isinstance(part, ast.alias) and part.name == "*":
            names.add("*")
        if (isinstance(part, ast.Attribute | ast.Subscript)
                and isinstance(part.value, ast.Name) and part.value.id in made
                and not isinstance(node, KEPT)):
            names.add(part.value.id)
    return names


def taken_along(source: str, others: list[ast.stmt]
                ) -> tuple[list[str], set[str]]:
    """The statements of other cells that give an answer what it reads.

    -> they, and the names that nothing of it gives
    """
    made = {name for node in others if not isinstance(node, KEPT)
            for name in gives(node)}
    given = [(node, gives(node, made)) for node in others]
    needs: dict[str, set[str]] = {}
    for node, names in given:
        for name in names:
            needs.setdefault(name, set()).update(known(ast.unparse(node))[0])
    reached = closure({"*", *known(source)[0]}, needs)
    return ([ast.unparse(node) for node, names in given if names & reached],
            reached - {*needs})


def worked_on(source: str) -> bool:
    """Is it more than the cell that was handed out?"""
    return "raise NotImplementedError" not in source
