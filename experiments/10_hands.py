"""Which hands of RoPE go wrong beyond the trained distances?

Layers of chapter 10 with RoPE, seeds 0 to 4, trained with 0 to 10 words
between the two sentences. They read longer stories with some hands at half
speed, with another base, or with half-split code, whose pairs are not theirs.
Lowest and highest of five.
"""

from functools import cache
from typing import Any

import torch

from course.chapter import functions
from experiments.experiment import Experiment

CHAPTER = functions("10")
STATISTICS = min, max
LENGTHS = 0, 10, 14, 20
HALF = {"as trained": (0, 0), "hands 1 to 4 at half speed": (0, 4),
        "hands 5 to 8 at half speed": (4, 8),
        "hands 9 to 32 at half speed": (8, 32),
        "hands 5 to 32 at half speed": (4, 32), "all at half speed": (0, 32)}
MIXED = "half-split code"
BASES = {"base 100,000": 1e5, "NTK-aware base for 2, 20,452": 1e4 * 2**(64/62)}


@cache
def trained(seed: int) -> Any:
    """A layer that has learned the stories with RoPE."""
    return CHAPTER.train_on_gifts(CHAPTER.with_rope, seed, 600)


def right(row: str, between: int, seed: int) -> float:
    """The fraction of right answers of one layer."""
    speed = torch.ones(32)
    speed[slice(*HALF.get(row, (0, 0)))] = 0.5
    E, W, test = trained(seed)
    if row == MIXED:                    # seen from code that pairs neighbors
        W = W[:, :, torch.arange(64).reshape(2, 32).T.flatten()]
    return CHAPTER.right_answers((E, W, test), CHAPTER.with_rope, between,
                            base=BASES.get(row, 1e4), speed=speed)


def cell(row: str, column: int) -> float:
    """Of seed 1 at 14 words, or the lowest or highest of five."""
    if column == 0:
        return right(row, 14, 1)
    between = LENGTHS[(column - 1) // 2]
    return STATISTICS[(column - 1) % 2](right(row, between, seed)
                                        for seed in range(5))


EXPERIMENT = Experiment(
    question="Which hands go wrong beyond the trained distances?",
    columns=["hands", "14 words: seed 1", *(
        f"{words} words: {which}" for words in LENGTHS
        for which in ("lowest", "highest"))],
    rows={row: (row,) for row in [*HALF, *BASES, MIXED]},
    cell=cell, formats=["{:.2f}"] * 9,
    quick="hands 5 to 8 at half speed", quick_column=0, tolerance=0.05,
    tolerances={row: 100.0 for row in [*HALF, *BASES, MIXED]},
    holds={
        "wrong pairs: 20 to 56 %": lambda rows: rows[MIXED][1:3] == [0.2, 0.56],
        "2 to 11 % at 14 words": lambda rows: rows["as trained"][5:7] == [
            0.02, 0.11],
        "hands 5 to 8 bring 75 to 96 % back": lambda rows: rows[
            "hands 5 to 8 at half speed"][5:7] == [0.75, 0.96],
        "the others 29 % at most": lambda rows: max(
            rows["hands 1 to 4 at half speed"][6],
            rows["hands 9 to 32 at half speed"][6]) == 0.29})
