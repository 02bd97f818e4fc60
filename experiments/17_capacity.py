"""How many pairs can a trained memory hold?

Task 1 of chapter 17: n keys, n values, by the sum rule with a normalizer, or
by softmax attention. 400 steps of Adam from seeds 0 to 4, then one test on 40
fresh pairings: the median of the five losses, and the highest. Where n is the
width of the features, training stops in one of several places: those numbers
depend on rounding.
"""

from functools import cache
from statistics import median

import torch

from experiments import memories
from experiments.experiment import Experiment, Numbers, Statistic

MEASURES: list[tuple[int, Statistic]] = [
    (n, statistic) for n in (32, 64, 128) for statistic in (median, max)]


def is_the_averaging_bound(table: Numbers) -> bool:
    """Do all medians lie on it, unless width and keys are equal?"""
    for label, row in table.items():
        _, _, width = label.partition(": ")
        if not width:
            continue
        for (n, statistic), loss in zip(MEASURES, row, strict=True):
            bound = max(0, (1 - int(width) / n) / 2)
            if (statistic is median and n != int(width)
                    and abs(loss - bound) >= 0.01):
                return False
    return True


@cache
def losses(nu: int | None, n: int) -> list[float]:
    """The test losses of seeds 0 to 4; nu is None for softmax attention."""
    rule = memories.softmax_answers if nu is None else memories.sum_answers
    phi = None if nu is None else memories.feature_map(nu)
    of_seeds = []
    for seed in range(5):
        tables = memories.train_memory(rule, phi, memories.pairs_once, n, seed)
        *story, last = memories.pairs_once(
            40, n, torch.Generator().manual_seed(1000 + seed))
        of_seeds.append(memories.newest_loss(
            rule(tables, *story, phi), last).item())
    return of_seeds


def cell(nu: int | None, column: int) -> float:
    """A statistic of the losses with so many keys."""
    n, statistic = MEASURES[column]
    return statistic(losses(nu, n))


EXPERIMENT = Experiment(
    question="How many pairs can a trained memory hold?",
    columns=["features: width", "32 keys: median", "highest",
             "64 keys: median", "highest", "128 keys: median", "highest"],
    rows={"softmax": [None], "elu + 1: 16": [0], "DPFP-1: 32": [1],
          "DPFP-2: 64": [2], "DPFP-3: 96": [3]},
    cell=cell, formats=["{:.2f}"] * 6,
    quick="elu + 1: 16", quick_column=2, tolerance=0.05,
    tolerances={"DPFP-1: 32": 1.0, "DPFP-2: 64": 1.0, "DPFP-3: 96": 1.0},
    holds={"the averaging bound, unless width and keys are equal":
           is_the_averaging_bound})
