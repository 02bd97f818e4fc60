"""Grade what students handed in for a chapter; nobody can stop the others.

python -m tools.grading 04 FOLDER_OR_ZIP [--gradebook SHEET.csv]

Each submission has a judge (judge.py), a process of its own, which runs the
answers in a sandbox. What it found is a line of results.jsonl at once; tables
and pages are written from these lines, and a second run goes on from them.
They lie in grades/CHAPTER/BATCH/ of the course folder: a batch is what was
handed in together, and has the name of its folder or archive.
"""

import argparse
import contextlib
import hashlib
import json
import multiprocessing
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, replace
from pathlib import Path

from course import one_thread
from course.paths import COURSE_FOLDER, chapter_path
from tools.grading import (
    cells,
    collect,
    derivations,
    handed,
    judge,
    report,
    sandbox,
)

WARM = "forkserver" if sys.platform != "win32" else "spawn"


def judged(way: sandbox.Sandbox, chapter: cells.GradedChapter,
           submission: collect.Submission, seconds: float) -> judge.Report:
    """A report, whatever was handed in: by a process that may end early."""
    context = multiprocessing.get_context(WARM)
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=judge.work, daemon=True, args=(
        there, way, chapter.path, submission, seconds))
    process.start()
    there.close()
    problem = "its judge had no end"
    try:
        if here.poll(60 + len(chapter.exercises) * judge.patience(seconds)):
            return judge.Report.of(here.recv_bytes().decode("utf-8"))
    except EOFError:
        problem = "it ended its judge"
    finally:
        process.kill()
        process.join()
    return judge.Report(submission.platform, submission.id, submission.person,
                        submission.page, problem=problem)


def grade_all(way: sandbox.Sandbox, chapter: cells.GradedChapter,
              submissions: list[collect.Submission], seconds: float,
              results: Path, again: str) -> list[judge.Report]:
    """Reports, in order; as many at once as there are processors.

    results: of this and earlier runs, a line each. again: a person's name.
    """
    known = {}
    if results.exists():
        for line in results.read_text("utf-8").splitlines():
            with contextlib.suppress(ValueError, TypeError):    # half a line
                one = judge.Report.of(line)
                known[one.key] = one
    by = chapter.path.read_bytes()
    keys = [hashlib.sha256(by + repr(one).encode(
        "utf-8", "backslashreplace")).hexdigest() for one in submissions]
    todo = [(one, key) for one, key in zip(submissions, keys, strict=True)
            if key not in known or one.person == again]

    def work(item: tuple[collect.Submission, str]) -> judge.Report:
        one = judged(way, chapter, item[0], seconds)
        return replace(one, key=item[1])

    if known:
        print(f"{len(submissions) - len(todo)} were graded before")
    workers = ThreadPoolExecutor(os.cpu_count())
    try:
        with results.open("a", encoding="utf-8") as file:
            file.write("\n")
            graded = as_completed([workers.submit(work, one) for one in todo])
            for done, future in enumerate(graded, 1):
                one = future.result()
                known[one.key] = one
                file.write(json.dumps(asdict(one)) + "\n")
                file.flush()
                print(f"{done}/{len(todo)} {summary(one, chapter)}".encode(
                    "utf-8", "backslashreplace").decode("utf-8"), flush=True)
    finally:
        workers.shutdown(wait=False, cancel_futures=True)
        for process in multiprocessing.active_children():
            process.kill()              # and with it, what runs in a sandbox
    return [known[key] for key in keys]


def summary(one: judge.Report, chapter: cells.GradedChapter) -> str:
    """A line on a submission, for the terminal."""
    odd = [line for line in one.lines if re.match(
        r"not|\S+ (missing|stopped)", line)]
    points = f"{report.number(one.points)} of {report.number(chapter.most)}"
    return f"{one.person}: {'; '.join([points, *odd, *one.notes])}"


def arguments(given: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make grades")
    parser.add_argument("chapter")
    parser.add_argument("submissions", type=Path)
    parser.add_argument("--gradebook", type=Path)
    parser.add_argument("--column")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--sandbox", choices=sandbox.WAYS)
    parser.add_argument("--edition")
    parser.add_argument("--again", default="")
    parser.add_argument("--course", type=Path, default=COURSE_FOLDER)
    parser.add_argument("--to", type=Path)
    return parser.parse_args(given)


def main(given: list[str] | None = None) -> None:
    """Grade what the command line names. Ends with words where it cannot."""
    asked = arguments(given)
    if not asked.chapter or asked.submissions == Path():
        sys.exit("say which: make grades CHAPTER=04 SUBMISSIONS=folder-or-zip")
    os.environ |= dict.fromkeys(one_thread.THREADS, "1")
    try:
        path = chapter_path(asked.chapter)
        submissions = collect.collect(asked.submissions)
        if not submissions:
            sys.exit(f"nobody handed in anything in {asked.submissions}")
        edition = handed.choose(asked.course, asked.chapter, (
            cells.stamp(read) for one in submissions for _, read in one.files
            if not isinstance(read, str)), asked.edition)
        chapter = cells.GradedChapter(edition or path)
        print(f"graded by edition {chapter.edition}" if edition else
              f"graded by the chapter as it is in {path.parent}: no edition"
              f" of it is in {asked.course}")
        way = sandbox.working(asked.sandbox)
    except (ValueError, OSError) as error:
        sys.exit(str(error))
    except sandbox.NoSandbox as why:
        sys.exit("No sandbox works here, so nothing was run: other people's"
                 f" code needs one. {why}")
    print(f"{len(submissions)} submissions, each in a sandbox of {way.name}",
          flush=True)
    batch = asked.submissions.resolve().stem
    folder = asked.to or asked.course / "grades" / chapter.path.stem / batch
    folder.mkdir(parents=True, exist_ok=True)
    multiprocessing.get_context(WARM).set_forkserver_preload(
        ["tools.grading.judge"]
        + ["torch"] * ("torch" in chapter.for_judge()))
    try:
        reports = grade_all(way, chapter, submissions, asked.seconds,
                            folder / "results.jsonl", asked.again)
        written = report.write_all(chapter, reports, folder, asked.gradebook,
                                   asked.column)
        written += derivations.write_all(chapter, submissions, reports, folder)
    except KeyboardInterrupt:
        sys.exit("stopped: the same command goes on from here")
    except report.UnknownSheet as error:
        sys.exit(str(error))
    mean = sum(one.seconds for one in reports) / len(reports)
    print(f"{mean:.1f} s of processor a submission. In {folder}:"
          f" {', '.join(written)}")
