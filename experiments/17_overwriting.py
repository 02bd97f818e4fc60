"""Which rule answers with the newest value of a key?

Task 2 of chapter 17: 2n pairs with n keys, in which keys return with new
values. 400 steps of Adam from seeds 0 to 4, then one test on 40 fresh stories:
the median of the five losses, and the highest; in the first row of the
averaging bound (17.11). The last two rows ask after n pairs, as the code of
Schlag et al. does.
"""

from functools import cache

import torch

from course.chapter import functions

CHAPTER = functions("17")
QUESTION = "Which rule answers with the newest value of a key?"
KEYS = 8, 20, 48
COLUMNS = ["rule, features", *(word for n in KEYS for word in
                                  (f"{n} keys: median", "highest"))]
SUM, DELTA = CHAPTER.sum_answers, CHAPTER.delta_answers
ROWS = {"averaging bound": (None, 1, 2), "sum, DPFP-1": (SUM, 1, 2),
        "sum, DPFP-3": (SUM, 3, 2), "delta, DPFP-1": (DELTA, 1, 2),
        "delta, DPFP-3": (DELTA, 3, 2),
        "averaging bound, n pairs": (None, 1, 1),
        "sum, DPFP-1, n pairs": (SUM, 1, 1)}
FORMATS = ["{:.2f}"] * 6
QUICK = "sum, DPFP-1", 0
TOLERANCE = 0.1
TOLERANCES = {"delta, DPFP-1": 1.0, "delta, DPFP-3": 1.0}
HOLDS = {"48 keys in 32 columns: the delta rule is better than the sum":
         lambda found: found["delta, DPFP-1"][4]
         < 0.75 * found["sum, DPFP-1"][4]}


@cache
def tables_of(rule, nu, n, seed):
    return CHAPTER.train_memory(rule, CHAPTER.feature_map(nu),
                                CHAPTER.stories, n, seed)


def tested(rule, nu, length, n, seed):
    """The loss, or the bound, on 40 fresh stories."""
    *story, last = CHAPTER.stories(
        40, n, torch.Generator().manual_seed(1000 + seed), length)
    if rule is None:
        return CHAPTER.averaging_bound(*story, last)
    tables = tables_of(rule, nu, n, seed)
    return CHAPTER.newest_loss(
        rule(tables, *story, CHAPTER.feature_map(nu)), last).item()


@cache
def losses(rule, nu, length, n):
    return sorted(tested(rule, nu, length, n, seed) for seed in range(5))


def cell(rule, nu, length, i):
    return losses(rule, nu, length, KEYS[i // 2])[2 if i % 2 == 0 else 4]
