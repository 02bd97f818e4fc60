"""What does the small Transformer learn without one of its parts?

Chapter 14's ablation: models without one part, from torch.manual_seed(0) to
(4), on the same data, in float32. Numbers are losses on 1,000 fresh streams:
median, lowest and highest of the five, after 250, 1,500 and 3,000 steps, all
at the rate 0.005. In 250 steps rounding changes single runs without residual,
norm or FFN: their rows are held within wider bounds.
"""

from collections.abc import Callable
from functools import cache
from statistics import median

import numpy as np
import torch
from torch import nn

from course.chapter import functions
from experiments.experiment import Experiment, Statistic

CHAPTER = functions("14")
FRESH = torch.tensor(CHAPTER.noisy_sums(1000, 17, np.random.default_rng(99)))
MEASURES: list[tuple[int, Statistic]] = [
    (250, median), (250, min), (250, max), (1500, median),
    (3000, median), (3000, min), (3000, max)]
AT_250, AT_3000 = 0, 4                  # the columns of two medians


def whole(model: nn.Module) -> None:
    """Takes no part away."""


@cache
def losses(edit: Callable[[nn.Module], None], steps: int) -> list[float]:
    """The loss on fresh streams from each of the five seeds."""
    of_seeds = []
    for seed in range(5):
        torch.manual_seed(seed)
        model = CHAPTER.TorchTransformer()
        edit(model)
        CHAPTER.train(model, CHAPTER.streams(steps), lr=0.005)
        of_seeds.append(CHAPTER.losses_at(model, FRESH).mean().item())
    return of_seeds


def cell(edit: Callable[[nn.Module], None], column: int) -> float:
    """A statistic of the losses after some steps."""
    steps, statistic = MEASURES[column]
    return statistic(losses(edit, steps))


EXPERIMENT = Experiment(
    question="What does the small Transformer learn without one of its parts?",
    columns=["missing", "250 steps: median", "lowest", "highest",
             "1500: median", "3000: median", "lowest", "highest"],
    rows={"nothing": [whole],
          "positions": [CHAPTER.without_positions],
          "residual": [CHAPTER.without_residual],
          "FFN": [CHAPTER.without_ffn],
          "norm": [CHAPTER.without_norm],
          "attention": [CHAPTER.without_attention]},
    cell=cell, formats=["{:.2f}"] * 3 + ["{:.3f}"] * 4,
    quick="attention", quick_column=0, tolerance=0.03,
    tolerances={"positions": 0.1, "residual": 0.4, "FFN": 0.4, "norm": 0.4},
    holds={
        "3000 steps without residual, norm or FFN: near the whole model":
            lambda table: max(
                abs(table[part][AT_3000] - table["nothing"][AT_3000])
                for part in ("residual", "norm", "FFN")) < 0.02,
        "250 steps without norm or FFN: far from it":
            lambda table: min(table["norm"][AT_250],
                              table["FFN"][AT_250]) > 0.7,
        "without attention nothing is learned":
            lambda table: min(table["attention"]) > 1.9})
