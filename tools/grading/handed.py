"""The editions that were handed out, kept: a term is graded by them.

grading/editions/04_layer_normalization/1.0.0-3fa2b1c/ holds the notebook that
an edition was made from, with its answers and hidden tests, what students got,
and edition.json: version, commit, and when it was made. Upstream changes do not
reach it.
"""

import hashlib
import json
import shutil
from collections import Counter
from datetime import datetime, timezone

import yaml

from course.edition import git
from course.paths import ROOT
from tools.grading import cells

PARTS = {"statement": "another statement", "check": "another check",
         "grade": "other hidden tests"}


class Refused(Exception):
    """In words: what would be lost, and what to do."""


def label(notebook):
    """Of an edition: the course's version, and seven digits of its content."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    content = json.dumps([[cell.source, cell.metadata.get("nbgrader")]
                          for cell in notebook.cells], sort_keys=True)
    digits = hashlib.sha256(content.encode()).hexdigest()[:7]
    return f"{cited['version']}-{digits}"


def keep(course, source, release):
    """Keep a notebook as the edition that it says it is. -> its folder

    source: with answers; release: what students get.
    """
    name = cells.Chapter(source).edition
    folder = course / "editions" / source.stem / name
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, folder)
    shutil.copy(release, folder / "for_students.ipynb")
    facts = {"version": name.rpartition("-")[0],
             "commit": git(ROOT, "describe", "--always", "--dirty").strip(),
             "made": datetime.now(timezone.utc).isoformat()}
    (folder / "edition.json").write_text(json.dumps(facts, indent=1) + "\n")
    return folder


def editions(course, name):
    """{label: its notebook}, the latest one last. name: also "04_*"."""
    found = [(json.loads(path.read_text("utf-8"))["made"], path.parent)
             for path in course.glob(f"editions/{name}/*/edition.json")]
    return {folder.name: folder / f"{folder.parent.name}.ipynb"
            for _, folder in sorted(found)}


def is_answered(course, name):
    """Is anything here that a student handed in, or that was graded?"""
    return any([*course.glob(f"submitted/*/{name}/*"),
                *course.glob(f"grades/{name}/grades.csv")])


def changes(old, new):
    """What another edition would change in grading, in words."""
    before, after = ({exercise.number: exercise
                      for exercise in chapter.exercises}
                     for chapter in (old, new))
    for number in sorted(before | after):
        if number not in after:
            yield f"{number} is gone"
        elif number not in before:
            yield f"{number} is new"
        else:
            was, now = before[number], after[number]
            if was.points != now.points:
                yield (f"{number} has {now.points:g} points instead of"
                       f" {was.points:g}")
            for part, words in PARTS.items():
                if getattr(was, part) != getattr(now, part):
                    yield f"{number} has {words}"
    if old.leans_on([]) != new.leans_on([]):
        yield "functions of the lesson that checks and tests use"


def guard(course, source):
    """Refuse an edition that answers which are here cannot be graded by."""
    kept = editions(course, source.stem)
    if not kept or not is_answered(course, source.stem):
        return
    latest, path = [*kept.items()][-1]
    found = [*changes(cells.Chapter(path), cells.Chapter(source))]
    if found:
        number = source.stem[:2]
        raise Refused(
            f"{source.stem}: students have answered edition {latest}, and"
            " this one would be graded otherwise:\n  "
            + "\n  ".join(found) + "\nNothing was made, nothing was lost."
            " Stay with what was handed out (git checkout"
            f" v{latest.rpartition('-')[0]}, or the tag with which you began"
            " the term), or make a second edition; the first is kept, and"
            " its answers are graded by it:\n"
            f"  make assignments CHAPTER={number} NEW=1")


def choose(course, number, said, asked=None):
    """The notebook to grade by; None where no edition was handed out.

    said: the editions that the submissions say they are. The one that most
    say counts; where none says a known one, the latest.
    """
    kept = editions(course, f"{number}_*")
    if asked:
        if asked not in kept:
            raise ValueError(f"no edition {asked} of {number} is kept here: "
                             + (", ".join(kept) or "there is none"))
        return kept[asked]
    known = Counter(each for each in said if each in kept).most_common(1)
    [[best, _]] = known or [[next(reversed(kept), None), 0]]
    return kept.get(best)
