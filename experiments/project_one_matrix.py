"""Can queries and keys share one matrix?  A project, as a student hands it in.

    python -m experiments.project_one_matrix [--write]

With --write it stores the table and the picture, which book/teaching_project.md
shows. It takes two minutes of one core.

The students are those of chapter 09: a causal mask, no positions, 400 steps of
64 sentences at the rate 0.003, seeds 0 to 4. The loss of each over all 432
sentences; at the floor, 0.398, is whoever is below 0.41.

"one matrix" computes keys alone, and asks with them. It has fewer columns, so
"narrow" is a control: queries and keys of its own, 32 wide each, which are as
many columns in all. "one layer" is a control of the measure: it
cannot know who gave, and must stay above.
"""

import course.one_thread  # noqa: F401, I001  before torch loads

import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib.pyplot as plt
import torch
from torch import nn

from course.chapter import chapter
from course.paths import BOOK
from experiments.__main__ import rerun
from experiments.experiment import Experiment, Table

NAMES: dict[str, Any] = {}
exec(chapter("09").definitions, NAMES)
exec(chapter("09").cell("text").source, NAMES)
CHAPTER = SimpleNamespace(**NAMES)
FLOOR, SEEDS = 0.41, range(5)
TABLE = Path(__file__).with_suffix(".md")
PICTURE = BOOK / "_static" / "project-one-matrix.svg"


class OneMatrix(CHAPTER.Student):                   # type: ignore[misc]
    """Asks with its keys: what it draws for queries is never used."""

    def look(self, Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor,
             mask: torch.Tensor) -> torch.Tensor:
        return super().look(K, K, V, mask)


class Narrow(CHAPTER.Student):                      # type: ignore[misc]
    """Queries and keys that use half of their columns, 32 each."""

    def look(self, Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor,
             mask: torch.Tensor) -> torch.Tensor:
        half = Q.shape[-1] // 2
        return super().look(Q[..., :half], K[..., :half], V, mask)


@cache
def loss(kind: type[nn.Module], n_layers: int, n_steps: int,
         seed: int) -> float:
    """Of one student, over all sentences."""
    return CHAPTER.training_loss(CHAPTER.taught(
        CHAPTER.causal_mask, seed, n_layers, kind,
        n_steps=n_steps)).mean().item()


def cell(kind: type[nn.Module], n_layers: int, n_steps: int,
         column: int) -> float:
    """The loss from a seed; behind the last, how many are at the floor."""
    if column in SEEDS:
        return loss(kind, n_layers, n_steps, column)
    return sum(loss(kind, n_layers, n_steps, seed) < FLOOR for seed in SEEDS)


EXPERIMENT = Experiment(
    question="Can queries and keys share one matrix?",
    columns=["student", *(f"seed {seed}" for seed in SEEDS), "at the floor"],
    rows={"two matrices": (CHAPTER.Student, 2, 400),
          "one matrix": (OneMatrix, 2, 400),
          "one matrix, 1,600 steps": (OneMatrix, 2, 1600),
          "one matrix, three layers": (OneMatrix, 3, 400),
          "control: narrow, two matrices": (Narrow, 2, 400),
          "control: one layer, two matrices": (CHAPTER.Student, 1, 400)},
    cell=cell, formats=["{:.3f}"] * len(SEEDS) + ["{:.0f}"],
    quick="two matrices", quick_column=0, tolerance=0.05,
    holds={
        "two matrices: all five": lambda table: table["two matrices"][-1] == 5,
        "as few columns, two matrices: all five": lambda table: table[
            "control: narrow, two matrices"][-1] == 5,
        "one layer: none": lambda table: table[
            "control: one layer, two matrices"][-1] == 0,
        "one matrix: one of five": lambda table: table["one matrix"][-1] == 1,
        "four times as long: three of five": lambda table: table[
            "one matrix, 1,600 steps"][-1] == 3,
        "three layers: two of five": lambda table: table[
            "one matrix, three layers"][-1] == 2})


def draw(table: Table) -> None:
    """All seeds of all students as points, and the line."""
    plt.style.use(BOOK / "matplotlibrc")
    plt.rcParams["svg.hashsalt"] = "one matrix"
    fig, ax = plt.subplots(figsize=(6, 2.8), facecolor="white")
    rows = [*table.numbers.items()][::-1]
    for place, (label, (*losses, _)) in enumerate(rows):
        color = "C1" if label.startswith("one matrix") else "C0"
        ax.scatter(losses, [place + (seed - 2) / 12 for seed in SEEDS],
                   color=color, s=28, clip_on=False)
    ax.axvline(FLOOR, color="0.5", lw=1, ls=":")
    ax.text(FLOOR + 0.002, len(rows) - 0.45, "line: 0.41", color="0.35")
    ax.set_yticks(range(len(rows)), [label for label, _ in rows])
    ax.set(xlabel="loss over all sentences, five seeds", xlim=(0.39, 0.57),
           ylim=(-0.5, len(rows) - 0.2))
    fig.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    write = "--write" in sys.argv
    off = rerun(EXPERIMENT, TABLE, write)
    if write:
        draw(Table.parse(TABLE.read_text("utf-8")))
    sys.exit(off)
