"""How many pairs can a trained memory hold?

Task 1 of chapter 17: n keys, n values, by the sum rule with a normalizer, or
by softmax attention. 400 steps of Adam from seeds 0 to 4, then one test on 40
fresh pairings: the median of the five losses, and the highest. Where n is the
width of the features, training stops in one of several places: those numbers
depend on rounding.
"""

from functools import cache

import torch

from course.chapter import functions

CHAPTER = functions("17")
QUESTION = "How many pairs can a trained memory hold?"
KEYS = 32, 64, 128
COLUMNS = ["features: width", *(word for n in KEYS for word in
                                  (f"{n} keys: median", "highest"))]
ROWS = {"softmax": [None], "elu + 1: 16": [0], "DPFP-1: 32": [1],
        "DPFP-2: 64": [2], "DPFP-3: 96": [3]}
FORMATS = ["{:.2f}"] * 6
QUICK = "elu + 1: 16", 2
TOLERANCE = 0.05
TOLERANCES = {"DPFP-1: 32": 1.0, "DPFP-2: 64": 1.0, "DPFP-3: 96": 1.0}
HOLDS = {"the averaging bound, unless width and keys are equal":
         lambda found: all(
             abs(median - max(0, (1 - int(row.split(": ")[1]) / n) / 2)) < 0.01
             for row, medians in found.items() if ": " in row
             for n, median in zip((32, 64, 128), medians[::2], strict=True)
             if n != int(row.split(": ")[1]))}


@cache
def losses(nu, n):
    """The test losses of seeds 0 to 4, in order of size."""
    rule = CHAPTER.softmax_answers if nu is None else CHAPTER.sum_answers
    phi = None if nu is None else CHAPTER.feature_map(nu)
    found = []
    for seed in range(5):
        tables = CHAPTER.train_memory(rule, phi, CHAPTER.pairs_once, n, seed)
        *story, last = CHAPTER.pairs_once(
            40, n, torch.Generator().manual_seed(1000 + seed))
        found.append(CHAPTER.newest_loss(
            rule(tables, *story, phi), last).item())
    return sorted(found)


def cell(nu, i):
    return losses(nu, KEYS[i // 2])[2 if i % 2 == 0 else 4]
