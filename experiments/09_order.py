"""Which students of chapter 09 learn who gave, and which do not?

Students with a causal mask and no positions, seeds 0 to 9, learn all 432
sentences as in the chapter: two layers, a norm before each, 400 steps of 64
sentences at the rate 0.003, unless the row says otherwise. A student is at the
floor, 0.398, if its loss over all sentences is below 0.41.
"""

from functools import cache, partial
from statistics import median
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from course.chapter import chapter
from experiments.experiment import Experiment

NAMES: dict[str, Any] = {}
exec(chapter("09").definitions, NAMES)
exec(chapter("09").cell("text").source, NAMES)
CHAPTER = SimpleNamespace(**NAMES)
NO_NORM = {"norm": False}


class Variant(CHAPTER.Student):                     # type: ignore[misc]
    """A student without a norm, with another size of its answers, or W_O."""

    def __init__(self, rule: Any, n_layers: int, *, norm: bool = True,
                 size: float = 1.0, output: bool = False) -> None:
        super().__init__(rule, n_layers)
        self.norm, self.size = norm, size
        self.W_O = nn.ModuleList(nn.Linear(64, 64, bias=False)
                                 for _ in range(n_layers if output else 0))

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        X = self.E(rows)
        mask = torch.as_tensor(self.rule(rows.shape[-1]))
        for layer, W in enumerate(self.W_QKV):
            Z = F.rms_norm(X, X.shape[-1:]) if self.norm else X
            Y = self.look(*W(Z).chunk(3, dim=-1), mask)
            X = X + self.size * (self.W_O[layer](Y) if self.W_O else Y)
        return self.scores(X)


@cache
def loss(seed: int, n_layers: int, parts: tuple[Any, ...],
         training: tuple[Any, ...]) -> float:
    """Of one student over all sentences."""
    kind = partial(Variant, **dict(parts))
    return CHAPTER.training_loss(CHAPTER.taught(
        CHAPTER.causal_mask, seed, n_layers, kind, **dict(training))
        ).mean().item()


def cell(n_layers: int, parts: dict[str, Any], training: dict[str, Any],
         column: int) -> float:
    """The loss of seed 0, or what ten students say together."""
    def losses() -> list[float]:
        return [loss(seed, n_layers, tuple(parts.items()),
                     tuple(training.items())) for seed in range(10)]

    if column == 0:
        return loss(0, n_layers, tuple(parts.items()),
                    tuple(training.items()))
    return (sum(x < 0.41 for x in losses()), min(losses()), median(losses()),
            max(losses()))[column - 1]


EXPERIMENT = Experiment(
    question="Which students learn who gave?",
    columns=["student", "seed 0", "of ten at the floor", "lowest", "median",
             "highest"],
    rows={
        "one layer": (1, {}, {}),
        "two layers": (2, {}, {}),
        "two layers, rate 0.01": (2, {}, {"rate": 0.01}),
        "no norm": (2, NO_NORM, {}),
        "no norm, 1,600 steps": (2, NO_NORM, {"n_steps": 1600}),
        "no norm, warm-up of 100 steps": (2, NO_NORM, {"warm_up": 100}),
        "no norm, rate 0.01": (2, NO_NORM, {"rate": 0.01}),
        "no norm, weight decay 1": (2, NO_NORM, {"decay": 1.0}),
        "no norm, answers a third": (2, NO_NORM | {"size": 1 / 3}, {}),
        "no norm, with W_O": (2, NO_NORM | {"output": True}, {}),
        "with norm and W_O, rate 0.01": (2, {"output": True},
                                         {"rate": 0.01}),
        "no norm, three layers": (3, NO_NORM, {}),
    },
    cell=cell, formats=["{:.3f}", "{:.0f}", "{:.3f}", "{:.3f}", "{:.3f}"],
    quick="two layers", quick_column=0, tolerance=0.03,
    tolerances={"no norm": 0.5},
    holds={
        "one layer: none": lambda table: table["one layer"][1] == 0,
        "with the norm: all ten": lambda table: table["two layers"][1] == 10,
        "six of ten": lambda table: {table[label][1] for label in (
            "two layers, rate 0.01", "no norm",
            "no norm, warm-up of 100 steps")} == {6},
        "seven of ten": lambda table: {table[label][1] for label in (
            "no norm, 1,600 steps", "no norm, rate 0.01")} == {7},
        "three layers: all ten": lambda table: table[
            "no norm, three layers"][1] == 10,
        "answers a third: two": lambda table: table[
            "no norm, answers a third"][1] == 2})
