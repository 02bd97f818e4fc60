"""Compute the tables of experiments again, and compare them with the stored.

    python -m experiments [--write] [NN ...]
"""

import course.one_thread  # noqa: F401, I001  before torch loads

import argparse
import sys
from pathlib import Path

from experiments.experiment import (
    NAMES,
    Experiment,
    Table,
    markdown_row,
    read_experiment,
    table_path,
)


def rerun(experiment: Experiment, path: Path, write: bool) -> int:
    """Compute a table, row after row; how many rows and claims are off.

    path: of the stored table. write: store the new one.
    """
    stored = (Table.parse(path.read_text("utf-8")).rows if path.exists()
              else {})
    new, off = Table(experiment.columns, {}), 0
    print(f"{path.stem}: {experiment.question}", *new.lines, sep="\n")
    rows: dict[str, list[str]] = {}
    for label in experiment.rows:
        cells = rows[label] = experiment.measure(label)
        old = stored.get(label, [])
        near = experiment.is_near(label, old, cells)
        off += not (near or write)
        print(markdown_row([label, *cells]), "" if near else
              f"  stored: {markdown_row([label, *old])}", flush=True)
    table = Table(experiment.columns, rows)
    for claim in experiment.broken(table):
        print("  does not hold:", claim)
        off += 1
    if write:
        path.write_text(experiment.text(table), "utf-8")
    return off


def main() -> int:
    """The exit status: 1 where a table is off."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments", description=__doc__.splitlines()[0])
    parser.add_argument("experiments", nargs="*", metavar="NN",
                        help="a chapter, or a name as 14_text; all if none")
    parser.add_argument("--write", action="store_true",
                        help="store the tables anew")
    options = parser.parse_args()
    for word in options.experiments:
        if not any(word in (name, name[:2]) for name in NAMES):
            parser.error(f"no experiment {word}: there are "
                         f"{', '.join(NAMES)}")
    names = [name for name in NAMES if not options.experiments
             or {name, name[:2]} & {*options.experiments}]
    off = sum(rerun(read_experiment(name), table_path(name), options.write)
              for name in names)
    print(f"{off} rows differ from their table")
    return int(off > 0)


if __name__ == "__main__":
    sys.exit(main())
