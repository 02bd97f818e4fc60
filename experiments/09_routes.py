"""How does a student of chapter 09 with two layers know who gave?

Loss after the thing, where he or she follows, for seeds 0 to 4, when arcs of
a mask are closed, or one is opened, after training. The words are those of
"Anna gave Tom a kite", in all 432 sentences. "1: Tom to both closed" hides
Anna and gave from Tom in layer 1; "1: Anna to gave opened" shows gave to Anna.
"""

from functools import cache
from types import SimpleNamespace
from typing import Any

import torch
from torch.nn import functional as F

from course.chapter import chapter
from experiments.experiment import Experiment

NAMES: dict[str, Any] = {}
exec(chapter("09").definitions, NAMES)
exec(chapter("09").cell("text").source, NAMES)
CHAPTER = SimpleNamespace(**NAMES)
ARCS = {                                # layer, who looks, at whom, open?
    "2: kite to Anna closed": [(1, 4, 0, False)],
    "2: kite to gave closed": [(1, 4, 1, False)],
    "2: kite to Tom closed": [(1, 4, 2, False)],
    "1: gave to Anna closed": [(0, 1, 0, False)],
    "1: Tom to gave closed": [(0, 2, 1, False)],
    "1: Tom to Anna closed": [(0, 2, 0, False)],
    "1: Tom to both closed": [(0, 2, 0, False), (0, 2, 1, False)],
    "1: Anna to gave opened": [(0, 0, 1, True)]}


@cache
def student(seed: int) -> Any:
    """With two layers, trained as in the chapter."""
    return CHAPTER.taught(CHAPTER.causal_mask, seed, 2)


def cell(seed: int, column: int) -> float:
    """The loss after the thing: unchanged, or with arcs changed."""
    masks = torch.tensor(CHAPTER.causal_mask(5)).repeat(2, 1, 1)
    if column:
        for layer, who, whom, may in [*ARCS.values()][column - 1]:
            masks[layer, who, whom] = may
    rows = CHAPTER.sentences
    return F.cross_entropy(student(seed)(rows[:, :5], [*masks])[:, -1],
                           rows[:, 5]).item()


def route(row: list[float]) -> str:
    """Which arcs, changed, make a coin toss or worse of the answer."""
    return "".join("x" if loss > 0.6 else "-" for loss in row)


EXPERIMENT = Experiment(
    question="How does a student know who gave?",
    columns=["student", "unchanged", *ARCS],
    rows={f"seed {seed}": (seed,) for seed in range(5)},
    cell=cell, formats=["{:.2f}"] * 9,
    quick="seed 1", quick_column=4, tolerance=0.3,
    holds={
        "unchanged, all know": lambda table: max(
            row[0] for row in table.values()) < 0.03,
        "seed 0": lambda table: route(table["seed 0"]) == "-x-----xx",
        "seed 1": lambda table: route(table["seed 1"]) == "--x-x----",
        "seed 2": lambda table: route(table["seed 2"]) == "---x-x-xx",
        "seeds 3, 4": lambda table: {route(table[f"seed {s}"])
                                     for s in (3, 4)} == {"-x-----xx"},
        "both closed: above 1.4": lambda table: min(
            table[f"seed {s}"][7] for s in (0, 3, 4)) > 1.4,
        "3.49": lambda table: table["seed 0"][8] == 3.49,
        "3.67": lambda table: table["seed 1"][4] == 3.67})
