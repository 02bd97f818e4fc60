"""What an experiment is, and the table that keeps its numbers.

A script NN_question.py takes its functions from chapter NN and defines

    EXPERIMENT = Experiment(question=..., columns=..., rows=..., ...)

NN_question.md beside it is its table, which chapter NN prints.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

HERE = Path(__file__).parent
NAMES = sorted(path.stem for path in HERE.glob("[0-9][0-9]_*.py"))
NUMBER = re.compile(r"(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)%?")

Cells = Sequence[str]                   # the numbers of a row, as printed
Numbers = dict[str, list[float]]        # {label: the numbers of its row}
Statistic = Callable[[list[float]], float]


def number(cell: str) -> float:
    """What a cell holds; 50 for "50%". Raises ValueError."""
    match = NUMBER.fullmatch(cell)
    if match is None:
        raise ValueError(f"{cell!r} is not a number")
    return float(match[1])


def difference(old: Cells, new: Cells) -> float:
    """The largest difference between two rows, relative to the old one."""
    if len(old) != len(new):
        return math.inf
    pairs = zip(map(number, old), map(number, new), strict=True)
    return max(abs(a - b) / max(abs(a), 1e-300) for a, b in pairs)


def markdown_row(cells: Iterable[str]) -> str:
    """A line of a table."""
    return f"| {' | '.join(cells)} |"


@dataclass(frozen=True)
class Table:
    """Rows of printed numbers, by label, under their headings."""

    columns: Sequence[str]
    rows: Mapping[str, Cells]

    @classmethod
    def parse(cls, text: str) -> "Table":
        """The table of a Markdown text. Raises ValueError."""
        lines = [line.strip("| ").split(" | ")
                 for line in text.splitlines() if line.startswith("| ")]
        if len(lines) < 3:
            raise ValueError("no table: its heading, a rule, its rows")
        columns, _, *rows = lines
        return cls(columns, {label: cells for label, *cells in rows})

    @property
    def numbers(self) -> Numbers:
        """The numbers of each row."""
        return {label: [*map(number, cells)]
                for label, cells in self.rows.items()}

    @property
    def lines(self) -> list[str]:
        """As Markdown has it."""
        rule = ["---"] + ["---:"] * (len(self.columns) - 1)
        return [markdown_row(self.columns), markdown_row(rule),
                *(markdown_row([label, *cells])
                  for label, cells in self.rows.items())]


@dataclass(frozen=True)
class Experiment:
    """A table to be computed. Raises ValueError where its parts do not fit.

    columns     headings; the first stands over the labels
    rows        {label: what `row` or `cell` is given}
    formats     one for each number, as in "{:.2f}"
    quick       the row that the tests compute, in at most 5 s; or, with
                quick_column (from 0), one of its numbers
    tolerance   by which a number may differ, relative to the stored one
    row, cell   row(...) gives the numbers of a row; or cell(..., column), one
    tolerances  {label: another tolerance}, for a row that rounding decides
    holds       {what the chapter says: a test of {label: numbers}}, which no
                tolerance may hide
    """

    question: str
    columns: Sequence[str]
    rows: Mapping[str, Sequence[Any]]
    formats: Sequence[str]
    quick: str
    tolerance: float
    quick_column: int | None = None
    row: Callable[..., Sequence[float]] | None = None
    cell: Callable[..., float] | None = None
    tolerances: Mapping[str, float] = field(default_factory=dict)
    holds: Mapping[str, Callable[[Numbers], bool]] = field(
        default_factory=dict)

    def __post_init__(self) -> None:
        if faults := [*self.faults()]:
            raise ValueError("; ".join(faults))

    def faults(self) -> Iterator[str]:
        """What does not fit together."""
        if (self.row is None) == (self.cell is None):
            yield "either row or cell computes it"
        if len(self.columns) != len(self.formats) + 1:
            yield "a format for each column but the first"
        if self.quick not in self.rows:
            yield f"quick is no row: {self.quick!r}"
        if self.quick_column not in (None, *range(len(self.formats))):
            yield f"quick_column is no column: {self.quick_column}"
        if unknown := [*self.tolerances.keys() - self.rows.keys()]:
            yield f"tolerances of no row: {', '.join(sorted(unknown))}"
        if min([self.tolerance, *self.tolerances.values()]) <= 0:
            yield "a tolerance is above 0"

    def numbers(self, label: str, columns: Iterable[int]) -> list[float]:
        """The numbers of a row in some columns (from 0), computed now."""
        arguments = self.rows[label]
        if self.cell is not None:
            return [self.cell(*arguments, column) for column in columns]
        assert self.row is not None
        row = self.row(*arguments)
        if len(row) != len(self.formats):
            raise ValueError(f"{label}: {len(row)} numbers for"
                             f" {len(self.formats)} columns")
        return [row[column] for column in columns]

    def measure(self, label: str,
                columns: Sequence[int] | None = None) -> list[str]:
        """A row, or some of its columns, computed now and as printed."""
        if columns is None:
            columns = range(len(self.formats))
        return [self.formats[column].format(number) for column, number
                in zip(columns, self.numbers(label, columns), strict=True)]

    def quick_difference(self, table: Table) -> float:
        """Of what is quick, computed now, from a table, in tolerances."""
        columns = (range(len(self.formats)) if self.quick_column is None
                   else [self.quick_column])
        stored = [table.rows[self.quick][column] for column in columns]
        return (difference(stored, self.measure(self.quick, columns))
                / self.tolerance)

    def is_near(self, label: str, stored: Cells, measured: Cells) -> bool:
        """Does a row differ from its stored one by its tolerance at most?"""
        bound = self.tolerances.get(label, self.tolerance)
        return difference(stored, measured) <= bound

    def text(self, table: Table) -> str:
        """What is stored of a table."""
        return "\n".join([f"# {self.question}", "", *table.lines, ""])

    def broken(self, table: Table) -> list[str]:
        """What the chapter says and a table does not show."""
        return [claim for claim, is_so in self.holds.items()
                if not is_so(table.numbers)]


def load(name: str) -> SimpleNamespace:
    """What a script defines, as in load("14_text").trained.

    Run anew each time: what an earlier one has cached is not seen.
    """
    return SimpleNamespace(**run_path(str(HERE / f"{name}.py")))


def read_experiment(name: str) -> Experiment:
    """The experiment that a script defines."""
    experiment: Experiment = load(name).EXPERIMENT
    return experiment


def table_path(name: str) -> Path:
    """Where the table of an experiment is stored."""
    return HERE / f"{name}.md"


def read_table(name: str) -> Table:
    """The table of an experiment, as stored."""
    return Table.parse(table_path(name).read_text("utf-8"))
