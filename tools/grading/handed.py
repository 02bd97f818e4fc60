"""The editions that were handed out, kept: a term is graded by them.

editions/04_layer_normalization/2.0.0-3fa2b1c/04_layer_normalization.ipynb, in
the course folder, is what an edition was made from, with its answers and hidden
tests. Upstream changes do not reach it.
"""

import json
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from tools.grading.cells import GradedChapter


class Refused(Exception):
    """In words: what would be lost, and what to do."""


def keep(course: Path, source: Path) -> None:
    """Keep a notebook with answers as the edition that it says it is."""
    folder = course / "editions" / source.stem / GradedChapter(source).edition
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, folder / source.name)


def made(path: Path) -> dict[str, str]:
    """Where and when an edition was made: {"commit": ..., "made": ...}"""
    notebook = json.loads(path.read_text("utf-8"))
    facts: dict[str, str] = notebook["metadata"]["edition"]
    return facts


def editions(course: Path, name: str) -> dict[str, Path]:
    """{label: its notebook}, the latest one last. name: also "04_*"."""
    paths = course.glob(f"editions/{name}/*/*.ipynb")
    return {path.parent.name: path
            for path in sorted(paths, key=lambda path: made(path)["made"])}


def is_answered(course: Path, name: str) -> bool:
    """Is anything here that a student handed in, or that was graded?"""
    return any([*course.glob(f"submitted/*/{name}/*"),
                *course.glob(f"grades/{name}/grades.csv")])


def changes(old: GradedChapter, new: GradedChapter) -> Iterator[str]:
    """What another edition would change in grading, in words."""
    before, after = (
        {exercise.number: {"points": exercise.points,
                           "statement": exercise.statement,
                           "check": exercise.check.source,
                           "hidden tests": exercise.grade.source}
         for exercise in chapter.exercises} for chapter in (old, new))
    for number in sorted(before | after):
        if number not in after:
            yield f"{number} is gone"
        elif number not in before:
            yield f"{number} is new"
        elif parts := [part for part, value in before[number].items()
                       if value != after[number][part]]:
            yield f"{number} has other {', '.join(parts)}"
    if old.leans_on([]) != new.leans_on([]):
        yield "functions of the lesson that checks and tests use"


def guard(course: Path, source: Path) -> None:
    """Refuse an edition that answers which are here cannot be graded by."""
    kept = [*editions(course, source.stem).values()]
    if not kept or not is_answered(course, source.stem):
        return
    changed = [*changes(GradedChapter(kept[-1]), GradedChapter(source))]
    if changed:
        raise Refused(
            f"{source.stem}: students have answered edition"
            f" {kept[-1].parent.name}, and this one would be graded"
            " otherwise:\n  " + "\n  ".join(changed) + "\nNothing was made,"
            " nothing was lost. Stay with what was handed out (git checkout"
            f" {made(kept[-1])['commit']}), or make a second edition; the"
            " first is kept, and its answers are graded by it:\n"
            f"  make assignments CHAPTER={source.stem[:2]} NEW=1")


def choose(course: Path, number: str, stated: Iterable[str],
           asked: str | None = None) -> Path | None:
    """The notebook to grade by; None where no edition was handed out.

    stated: the editions that the submissions say they are. The one that most
    of them say counts; where none says a known one, the latest.
    """
    kept = editions(course, f"{number}_*")
    if asked and asked not in kept:
        raise ValueError(f"no edition {asked} of {number} is kept in {course}:"
                         f" {', '.join(kept) or 'there is none'}")
    if asked:
        return kept[asked]
    if not kept:
        return None
    known = Counter(label for label in stated if label in kept)
    return kept[max(reversed(kept), key=known.__getitem__)]
