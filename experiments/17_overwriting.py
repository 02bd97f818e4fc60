"""Which rule answers with the newest value of a key?

Task 2 of chapter 17: 2n pairs with n keys, in which keys return with new
values. 400 steps of Adam from seeds 0 to 4, then one test on 40 fresh stories:
the median of the five losses, and the highest; in the first row of the
averaging bound (17.12). The last two rows ask after n pairs, as the code of
Schlag et al. does.
"""

from collections.abc import Callable
from functools import cache
from statistics import median

import torch

from experiments import memories
from experiments.experiment import Experiment, Statistic

SUM, DELTA = memories.sum_answers, memories.delta_answers
MEASURES: list[tuple[int, Statistic]] = [
    (n, statistic) for n in (8, 20, 48) for statistic in (median, max)]
WITH_48 = 4                             # the column of a median


@cache
def tables_of(rule: Callable, nu: int, n: int, seed: int) -> torch.Tensor:
    """Trained tables of keys and values."""
    return memories.train_memory(rule, memories.feature_map(nu),
                                memories.stories, n, seed)


def loss(rule: Callable | None, nu: int, length: int, n: int,
         seed: int) -> float:
    """Of a rule, or the bound if it is None, on 40 fresh stories."""
    *story, last = memories.stories(
        40, n, torch.Generator().manual_seed(1000 + seed), length)
    if rule is None:
        return memories.averaging_bound(*story, last)
    tables = tables_of(rule, nu, n, seed)
    return memories.newest_loss(
        rule(tables, *story, memories.feature_map(nu)), last).item()


@cache
def losses(rule: Callable | None, nu: int, length: int,
           n: int) -> list[float]:
    """Of seeds 0 to 4."""
    return [loss(rule, nu, length, n, seed) for seed in range(5)]


def cell(rule: Callable | None, nu: int, length: int, column: int) -> float:
    """A statistic of the losses with so many keys."""
    n, statistic = MEASURES[column]
    return statistic(losses(rule, nu, length, n))


EXPERIMENT = Experiment(
    question="Which rule answers with the newest value of a key?",
    columns=["rule, features", "8 keys: median", "highest",
             "20 keys: median", "highest", "48 keys: median", "highest"],
    rows={"averaging bound": (None, 1, 2), "sum, DPFP-1": (SUM, 1, 2),
          "sum, DPFP-3": (SUM, 3, 2), "delta, DPFP-1": (DELTA, 1, 2),
          "delta, DPFP-3": (DELTA, 3, 2),
          "averaging bound, n pairs": (None, 1, 1),
          "sum, DPFP-1, n pairs": (SUM, 1, 1)},
    cell=cell, formats=["{:.2f}"] * 6,
    quick="sum, DPFP-1", quick_column=0, tolerance=0.1,
    tolerances={"delta, DPFP-1": 1.0, "delta, DPFP-3": 1.0},
    holds={"48 keys in 32 columns: the delta rule is better than the sum":
           lambda table: table["delta, DPFP-1"][WITH_48]
           < 0.75 * table["sum, DPFP-1"][WITH_48]})
