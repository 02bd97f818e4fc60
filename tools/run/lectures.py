"""Run the lectures of book/teaching_lectures.md as they are written there.

python -m tools.run.lectures

A row of the table "Lectures" names what is shown, with its minutes, and what
is run before, by chapter and heading. Of each chapter its Setup, these
sections and no other cell run, in the order of the page, in a fresh kernel:
a name that nobody defined stops a lecture. Sections below a named one belong
to it. "A" to "B" stands for both and all between.
"""

import re
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from nbformat.v4 import new_notebook

from course.chapter import Section, chapter, sections
from course.code import Cell
from course.sheets import LECTURES
from tools.run.repeatable import execute  # before the first kernel

MARK = re.compile(r'\b(\d\d):|"([^"]+)"( to(?= "))?')
Span = tuple[str, str]                  # first and last heading


def lectures(page: str) -> dict[str, dict[str, list[Span]]]:
    """{name of a lecture: {chapter: its spans}}."""
    [table] = re.findall(r"(?ms)^\| lecture \|.*?\n\n", page)
    plan: dict[str, dict[str, list[Span]]] = {}
    for row in table.strip().splitlines()[2:]:
        name, *columns = (cell.strip() for cell in row.strip("|").split("|"))
        named = plan[name] = {}
        for column in columns:
            number, first = "", ""
            for other, heading, more in MARK.findall(column):
                number = other or number
                if heading:
                    first = first or heading
                    if not more:
                        named.setdefault(number, []).append((first, heading))
                        first = ""
    return plan


def spanned(parts: list[Section], first: str, last: str) -> range:
    """The places of the sections from `first` to `last`, and below it.

    ValueError: no section of that heading, or the last before the first.
    """
    places = {part.heading: place for place, part in enumerate(parts)}
    for heading in (first, last):
        if heading not in places:
            raise ValueError(f'no section "{heading}"')
    start, stop = places[first], places[last]
    if stop < start:
        raise ValueError(f'"{last}" stands before "{first}"')
    level = parts[stop].level
    stop += 1
    while stop < len(parts) and parts[stop].level > level:
        stop += 1
    return range(start, stop)


def chosen(cells: Iterable[Cell], spans: Iterable[Span]) -> list[Cell]:
    """The code cells of Setup and of the sections named, in order."""
    parts = sections(cells, deepest=3)
    places = {place for span in [("Setup", "Setup"), *spans]
              for place in spanned(parts, *span)}
    return [cell for place in sorted(places) for cell in parts[place].code()]


def run(folder: Path, cells: Iterable[Cell]) -> list[tuple[str, str]]:
    """What the cells raised, as [(cell id, first line of the error)]."""
    ran = execute(new_notebook(cells=[*cells]), folder, allow_errors=True)
    return [(cell.id, f"{output.ename}: {output.evalue}".splitlines()[0])
            for cell in ran.cells for output in cell.outputs
            if output.output_type == "error"]


def main() -> int:
    """Run every lecture; 1 if a cell of any stopped."""
    failed = 0
    for name, named in lectures(LECTURES.read_text("utf-8")).items():
        print(name, flush=True)
        for number, spans in named.items():
            shown = chapter(number)
            cells = chosen(shown.cells, spans)
            start = time.perf_counter()
            errors = run(shown.path.parent, cells)
            print(f"    {number}: {len(cells)} cells,"
                  f" {time.perf_counter() - start:.0f} s,"
                  f" {len(errors)} stopped", flush=True)
            for cell, error in errors:
                print(f"        {cell}: {error}", flush=True)
            failed += len(errors)
    print(f"{failed} cells stopped")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
