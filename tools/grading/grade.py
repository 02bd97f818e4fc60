"""Grade what students handed in for a chapter; nobody can stop the others.

python -m tools.grading 04 FOLDER_OR_ZIP [--gradebook SHEET.csv]

Runs the teacher's lesson, each student's answers in a sandbox of their own,
and the teacher's checks and hidden tests: those of the edition that was handed
out (tools/grading/handed.py), whatever the chapter has become. Writes tables
for Moodle and Canvas and a page for each student, in grades/ of the course
folder.
"""

import argparse
import contextlib
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from course.paths import COURSE_FOLDER, chapter_path
from tools.grading import cells, collect, handed, report, sandbox

WHERE = {"answer": "its cell", "check": "its check", "grade": "the tests"}


@dataclass
class Mark:
    """Of an exercise: points (None is missing, not zero), and words."""
    points: float | None
    said: str                           # to the student
    hidden: str = ""                    # by the hidden tests: to the teacher


@dataclass
class Report:
    """Of a submission."""
    submission: collect.Submission
    file: str = ""
    edition: str = ""                   # that the notebook says it is
    marks: dict[str, Mark] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    problem: str = ""                   # why there are no marks
    notes: list[str] = field(default_factory=list)
    look: list[str] = field(default_factory=list)
    seconds: float = 0

    @property
    def points(self):
        got = [mark.points for mark in self.marks.values()
               if mark.points is not None]
        return sum(got) if got else None

    @property
    def lines(self):
        """What the student reads."""
        return [mark.said for mark in self.marks.values()] or [
            f"not graded: {self.problem}"]


def mark(exercise, heard, seconds):
    """What a process said of an answer, as points and a line."""
    name = exercise.number
    if heard["stage"] != "done":
        where = WHERE[heard["stage"]]
        return Mark(0, f"{name} stopped: " + {
            "time": f"{where} took more than {seconds:g} s",
            "exit": f"{where} ended the program",
            "forged": f"{where} wrote where only the grader writes",
        }.get(heard["why"], f"{where} ended by {heard['why']}"))
    said, failed = heard["said"], heard["failed"]
    if heard["changed"]:
        return Mark(0, f"{name} refused: it changes what the tests use,"
                       f" {', '.join(heard['changed'])}")
    if heard["cell"] and f"name '{exercise.name}' is not defined" in said:
        said = f"{name} not yet: its cell stops with {heard['cell']}"
    is_correct = said.startswith(f"{name} correct")
    if failed is None:
        return Mark(exercise.points if is_correct else 0, said)
    if is_correct:
        return Mark(0, f"{name} not yet: the check is passed, and further"
                       " tests found a mistake", failed)
    return Mark(0, said)


def choose(chapter, files):
    """The notebook that answers most, of all that one person handed in.

    -> its path, its answers, the edition that it says it is, and what was
    said on the way.
    """
    best, notes, others = None, [], set()
    for path, data in sorted(files, key=lambda file: collect.version(file[0])):
        try:
            if isinstance(data, str):
                raise cells.NotANotebook(data)
            read = cells.read(data)
        except cells.NotANotebook as why:
            notes.append(f"{path}: {why}")
            continue
        answers = cells.answers(chapter, read)
        count = [sum(answer.source is not None and want(answer.source)
                     for answer in answers.values())
                 for want in (cells.worked_on, bool)]
        others |= {found[1].zfill(2) for _, names, _ in read for each in names
                   if (found := cells.SOLUTION.fullmatch(each))}
        if any(count) and (best is None or count >= best[0]):
            best = count, path, answers, cells.stamp(read)
    if best:
        if len(files) > 1:
            notes.append(f"of {len(files)} notebooks, this one was graded")
        return *best[1:], notes
    if others - {chapter.number}:
        notes.append("this is chapter " + ", ".join(sorted(others)))
    elif not notes:
        notes.append(f"no exercise of chapter {chapter.number} is in it"
                     if files else "no notebook")
    return "", {}, "", notes


def grade(way, chapter, submission, seconds):
    """A report, whatever was handed in."""
    one = Report(submission)
    one.file, answers, one.edition, one.notes = choose(chapter,
                                                       submission.files)
    if not answers:
        one.problem = "; ".join(one.notes)
        return one
    if one.edition and chapter.edition not in ("", one.edition):
        one.notes.append(f"edition {one.edition}, graded by {chapter.edition}")
    for name, answer in answers.items():
        one.look += [f"{name}: {word}" for word in answer.look]
    for note in dict.fromkeys(note for answer in answers.values()
                              for note in answer.notes):
        where = [name for name in answers if note in answers[name].notes]
        one.notes.append(f"{', '.join(where)}: {note}")
    one.sources = {name: answer.source for name, answer in answers.items()
                   if answer.source is not None}
    try:
        heard, one.seconds = sandbox.run(way, chapter, one.sources, seconds)
    except sandbox.Broken as how:
        one.problem = f"its sandbox broke: {how}"
        return one
    for exercise in chapter.exercises:
        name = exercise.number
        if words := heard.get(name, {}).get("pythons"):
            one.notes.append(f"{name}: it redefines {', '.join(words)}; the"
                             " tests used Python's own")
        one.marks[name] = (
            mark(exercise, heard[name], seconds) if name in heard
            else Mark(None, f"{name} missing: no cell answers it"))
    return one


def grade_all(way, chapter, submissions, seconds):
    """Reports, in order; as many at once as there are processors."""
    def work(submission):
        try:
            return grade(way, chapter, submission, seconds)
        except Exception as error:      # one must not stop the others
            return Report(submission, problem=f"{type(error).__name__}:"
                                              f" {error}")

    reports, workers = [], ThreadPoolExecutor(os.cpu_count())
    try:
        for one in workers.map(work, submissions):
            reports.append(one)
            print(f"{len(reports)}/{len(submissions)} {summary(one, chapter)}",
                  flush=True)
    finally:
        workers.shutdown(cancel_futures=True)           # Ctrl-C ends all
    return reports


def summary(one, chapter):
    """A line on a submission, for the terminal."""
    if not one.marks:
        return f"{one.submission.person}: not graded: {one.problem}"
    odd = [mark.said for mark in one.marks.values()
           if re.match(r"\S+ (missing|stopped|refused)", mark.said)]
    said = "; ".join([f"{report.number(one.points)} of"
                      f" {report.number(chapter.most)}", *odd, *one.notes])
    return f"{one.submission.person}: {said}"


def write(chapter, reports, folder, gradebook, column):
    """Tables and pages; the names of what was written."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = {"grades.csv": report.overview(chapter, reports)}
    for platform, rows in (("moodle", report.moodle),
                           ("canvas", report.canvas)):
        there = [one for one in reports
                 if one.submission.platform == platform]
        if there:
            tables[f"{platform}.csv"] = rows(chapter, there)
    if gradebook:
        platform, rows, left = report.fill(chapter, reports, gradebook, column)
        tables[f"{platform}.csv"] = rows
        for one in left:
            print(f"not in {gradebook.name}: {one.submission.person}")
    for name, rows in tables.items():
        report.write(folder / name, rows)
    report.pages(chapter, reports, folder / "feedback")
    return [*tables, "feedback/", "feedback.zip"]


def arguments(given):
    parser = argparse.ArgumentParser(prog="make grades")
    parser.add_argument("chapter")
    parser.add_argument("submissions")
    parser.add_argument("--gradebook", type=Path)
    parser.add_argument("--column")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--sandbox", choices=sandbox.WAYS)
    parser.add_argument("--edition")
    parser.add_argument("--course", type=Path, default=COURSE_FOLDER)
    parser.add_argument("--to", type=Path)
    return parser.parse_args(given)


def said_editions(submissions):
    """The editions that notebooks say they are."""
    for submission in submissions:
        for _, data in submission.files:
            with contextlib.suppress(cells.NotANotebook):
                if not isinstance(data, str):
                    yield cells.stamp(cells.read(data))


def main(given=None):
    asked = arguments(given)
    if not asked.chapter or not asked.submissions:
        sys.exit("say which: make grades CHAPTER=04 SUBMISSIONS=folder-or-zip")
    try:
        path = chapter_path(asked.chapter)
        submissions = collect.collect(asked.submissions)
        if not submissions:
            sys.exit(f"nobody handed in anything in {asked.submissions}")
        edition = handed.choose(asked.course, asked.chapter,
                                said_editions(submissions), asked.edition)
        chapter = cells.GradedChapter(edition or path)
        print(f"graded by edition {chapter.edition}" if edition else
              f"graded by the chapter as it is in {path.parent}: no edition"
              f" of it is in {asked.course}")
        with sandbox.working(asked.sandbox) as way:
            print(f"{len(submissions)} submissions, each in a sandbox of"
                  f" {way.name}", flush=True)
            reports = grade_all(way, chapter, submissions, asked.seconds)
    except (ValueError, OSError) as error:
        sys.exit(str(error))
    except sandbox.NoSandbox as why:
        sys.exit("No sandbox works here, so nothing was run: other people's"
                 f" code needs one. {why}")
    folder = (asked.to or asked.course / "grades") / chapter.path.stem
    try:
        written = write(chapter, reports, folder, asked.gradebook,
                        asked.column)
    except report.UnknownSheet as error:
        sys.exit(str(error))
    mean = sum(one.seconds for one in reports) / len(reports)
    print(f"{mean:.1f} s of processor a submission. In {folder}:"
          f" {', '.join(written)}")
