"""Can one head return two things from two places?

The task of chapter 11: in texts of eight tokens, each with two random numbers
p and q beside 14 sinusoids, return p of the token before and q of the token
three back. Layers of width 16 with 1024 parameters: one head, two heads of
half the width, and two heads that start with equal weights. Mean squared
error on 4,000 fresh texts after 500 steps of Adam, seeds 0 to 4.
"""

from functools import cache
from statistics import median

import numpy as np
import torch

from course.chapter import functions

CHAPTER = functions("11")
QUESTION = "Can one head return two things from two places?"
COLUMNS = ["layer", "seed 0", "lowest", "median", "highest"]
ROWS = {"one head": (1, False), "two heads": (2, False),
        "two heads, equal starts": (2, True)}
FORMATS = ["{:.2f}"] * 4
QUICK = "two heads, equal starts", 0
TOLERANCE = 0.05
TOLERANCES = {"one head": 0.2, "two heads": 10.0}


@cache
def error(h, equal, seed):
    source = torch.Generator().manual_seed(seed)
    weights = CHAPTER.two_places_model(
        h, equal, np.random.default_rng(seed))
    weights = CHAPTER.fit_heads(weights, CHAPTER.two_places_loss, source,
                                steps=500, rate=0.02)
    exam = torch.Generator().manual_seed(99)
    with torch.no_grad():
        return CHAPTER.two_places_loss(weights, exam, 4000).item()


def cell(h, equal, i):
    if i == 0:
        return error(h, equal, 0)
    five = [error(h, equal, seed) for seed in range(5)]
    return (min, median, max)[i - 1](five)
