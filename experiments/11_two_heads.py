"""Can one head return two things from two places?

The task of chapter 11: in texts of eight tokens, each with two random numbers
p and q beside 14 sinusoids, return p of the token before and q of the token
three back. Layers of width 16 with 1024 parameters: one head, two heads of
half the width, two heads that start with equal weights, and two layers of
one head of half the width. Mean squared error on 4,000 fresh texts after 500
steps of Adam (two layers: 3,000 at a smaller rate), seeds 0 to 4.
"""

from functools import cache
from statistics import median

import numpy as np
import torch

from course.chapter import functions
from experiments.experiment import Experiment

CHAPTER = functions("11")
STATISTICS = min, median, max


@cache
def error(h: int, equal: bool, seed: int, n_layers: int = 1,
          d_k: int | None = None) -> float:
    """Of a trained layer of h heads, equal at the start or not."""
    source = torch.Generator().manual_seed(seed)
    weights = CHAPTER.two_places_model(
        h, equal, np.random.default_rng(seed), n_layers, d_k)
    weights = CHAPTER.fit_heads(weights, CHAPTER.two_places_loss, source,
                                steps=500 if n_layers == 1 else 3000,
                                rate=0.02 if n_layers == 1 else 0.005)
    exam = torch.Generator().manual_seed(99)
    with torch.no_grad():
        return CHAPTER.two_places_loss(weights, exam, 4000).item()


def cell(h: int, equal: bool, *more: int) -> float:
    """The error of seed 0, or a statistic of the five."""
    *layers, column = more
    if column == 0:
        return error(h, equal, 0, *layers)
    return STATISTICS[column - 1](
        error(h, equal, seed, *layers) for seed in range(5))


EXPERIMENT = Experiment(
    question="Can one head return two things from two places?",
    columns=["layer", "seed 0", "lowest", "median", "highest"],
    rows={"one head": (1, False), "two heads": (2, False),
          "two heads, equal starts": (2, True),
          "two layers of one head": (1, False, 2, 8)},
    cell=cell, formats=["{:.2f}"] * 4,
    quick="two heads, equal starts", quick_column=0, tolerance=0.05,
    tolerances={"one head": 0.2, "two heads": 10.0,
                "two layers of one head": 10.0},
    holds={
        "one head loses half": lambda table: min(table["one head"]) > 0.49,
        "two heads lose nothing": lambda table: max(
            table["two heads"]) < 0.02,
        "two layers go below one half": lambda table: max(
            table["two layers of one head"]) < 0.4})
