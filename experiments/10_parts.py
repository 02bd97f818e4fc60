"""What do groups of hands add to the score of she with a woman?

Layers of chapter 10 with RoPE, seeds 0 to 4, trained with 0 to 10 words
between the two sentences, so that she met women 3 to 15 words back. Means over
the six women at 3 and at 15 words, and each group's share of the fall.
"""

from functools import cache

import torch

from course.chapter import functions
from experiments.experiment import Experiment

CHAPTER = functions("10")
STATISTICS = min, max
SHE = 14                                # the number of the word


@cache
def parts(seed: int) -> torch.Tensor:
    """What each hand adds at 3 and at 15 words, (2, 32)."""
    layer = CHAPTER.train_on_gifts(CHAPTER.with_rope, seed, 600)
    return CHAPTER.parts_by_hand(layer, SHE, range(6),
                                 torch.tensor([3, 15])).mean(1)


def measures(first: int, last: int, seed: int) -> list[float]:
    """Of a group of hands: at 3 words, at 15, and its share of the fall."""
    each = parts(seed)
    near, far = each[:, first:last].sum(1).tolist()
    near_all, far_all = each.sum(1).tolist()
    share = (near - far) / (near_all - far_all)
    return [near, far, round(share, 2) + 0.0]       # no -0.00


def cell(first: int, last: int, column: int) -> float:
    """Of seed 1, or the lowest or highest of five."""
    if column == 0:
        return measures(first, last, 1)[0]
    return STATISTICS[(column - 1) % 2](
        measures(first, last, seed)[(column - 1) // 2] for seed in range(5))


EXPERIMENT = Experiment(
    question="What do groups of hands add to the score of she?",
    columns=["hands", "at 3, seed 1", "at 3: lowest", "highest",
             "at 15: lowest", "highest", "share of the fall: lowest",
             "highest"],
    rows={"1 to 4": (0, 4), "5 to 8": (4, 8), "9 to 16": (8, 16),
          "17 to 32": (16, 32)},
    cell=cell, formats=["{:.1f}"] * 5 + ["{:.2f}"] * 2,
    quick="5 to 8", quick_column=0, tolerance=0.05,
    tolerances={"1 to 4": 10.0},
    holds={
        "66 to 77 % of the fall": lambda rows: rows["5 to 8"][5:] == [
            0.66, 0.77],
        "most of the rest": lambda rows: (
            rows["9 to 16"][5] > rows["1 to 4"][6] + rows["17 to 32"][6]),
        "slow hands stay": lambda rows: all(
            abs(rows["17 to 32"][i] - rows["17 to 32"][i + 2]) < 0.25
            for i in (1, 2))})
