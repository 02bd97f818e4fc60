"""Run the lectures of book/teaching_lectures.md as they are written there.

python -m tools.paths

A row of the table "Lectures" names what is shown, with its minutes, and what
is run before, by chapter and heading. Of each chapter its Setup, these
sections and no other cell run, in the order of the page, in a fresh kernel:
a name that nobody defined stops a lecture. Sections below a named one belong
to it. "A" to "B" stands for both and all between.
"""

import re
import symtable
import sys
import time
from dataclasses import dataclass

import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_notebook

from tools.repeatable import QUIET  # before the first kernel
from tools.teaching import BOOK, LECTURES

MARK = re.compile(r'\b(\d\d):|"([^"]+)"( to(?= "))?')
HEADING = re.compile(r"(?m)^(##+) (.+)$")


@dataclass
class Section:
    """A heading, its level (2 or 3) and the cells down to the next one."""

    level: int
    heading: str
    cells: list


def sections(notebook):
    """The sections of a notebook, in order; what stands above the first too."""
    found = [Section(1, "", [])]
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            found += [Section(len(marks), heading, [])
                      for marks, heading in HEADING.findall(cell.source)]
        found[-1].cells.append(cell)
    return found


def lectures(page):
    """{name of a lecture: {chapter: [(first, last heading), ...]}}."""
    [table] = re.findall(r"(?ms)^\| lecture \|.*?\n\n", page)
    found = {}
    for row in table.strip().splitlines()[2:]:
        name, *columns = (cell.strip() for cell in row.strip("|").split("|"))
        named = found[name] = {}
        for column in columns:
            chapter, first = None, None
            for number, heading, more in MARK.findall(column):
                chapter = number or chapter
                if heading:
                    first = first or heading
                    if not more:
                        named.setdefault(chapter, []).append((first, heading))
                        first = None
    return found


def chosen(notebook, spans):
    """The code cells of Setup and of the sections named, in order.

    ValueError: no section of that heading, or the last before the first.
    """
    parts = sections(notebook)
    places = {part.heading: place for place, part in enumerate(parts)}
    taken = set()
    for first, last in [("Setup", "Setup"), *spans]:
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
        taken.update(range(start, stop))
    return [cell for place in sorted(taken) for cell in parts[place].cells
            if cell.cell_type == "code"]


def names(source):
    """(names that a cell reads from outside itself, names that it defines)."""
    def inner(table):
        for child in table.get_children():
            yield from (symbol.get_name() for symbol in child.get_symbols()
                        if symbol.is_global() and symbol.is_referenced())
            yield from inner(child)

    top = symtable.symtable(source, "cell", "exec")
    defined = {symbol.get_name() for symbol in top.get_symbols()
               if symbol.is_assigned() or symbol.is_imported()
               or symbol.is_namespace()}
    read = {symbol.get_name() for symbol in top.get_symbols()
            if symbol.is_referenced()}
    return (read | {*inner(top)}) - defined, defined


def undefined(notebook, cells):
    """[(cell id, name)]: read in `cells`, defined in other cells alone."""
    anywhere = set()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            anywhere |= names(cell.source)[1]
    known, missing = set(), []
    for cell in cells:
        read, defined = names(cell.source)
        missing += [(cell.id, name) for name in sorted(read & anywhere - known)]
        known |= defined
    return missing


def run(path, cells):
    """What the cells raised, as [(cell id, first line of the error)]."""
    notebook = new_notebook(cells=[cell.copy() for cell in cells])
    NotebookClient(notebook, timeout=600, allow_errors=True,
                   record_timing=False, kernel_name="python3",
                   extra_arguments=QUIET,
                   resources={"metadata": {"path": str(path.parent)}},
                   ).execute()
    return [(cell.id, f"{output.ename}: {output.evalue}".splitlines()[0])
            for cell in notebook.cells for output in cell.outputs
            if output.output_type == "error"]


def main():
    """Run every lecture; whether a cell of any stopped."""
    failed = 0
    for name, named in lectures(LECTURES.read_text("utf-8")).items():
        print(name, flush=True)
        for chapter, spans in named.items():
            [path] = BOOK.glob(f"{chapter}_*.ipynb")
            cells = chosen(nbformat.read(path, as_version=4), spans)
            start = time.perf_counter()
            errors = run(path, cells)
            print(f"    {chapter}: {len(cells)} cells,"
                  f" {time.perf_counter() - start:.0f} s,"
                  f" {len(errors)} stopped", flush=True)
            for cell, error in errors:
                print(f"        {cell}: {error}", flush=True)
            failed += len(errors)
    print(f"{failed} cells stopped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
