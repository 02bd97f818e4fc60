"""Do hidden units die when a model trains?

The model of chapter 12 adds two numbers modulo 23, by one feed-forward layer
of 64 hidden units with a shortcut, and trains for 200 steps of Adam on all
529 inputs. A unit is inactive if its sum is at most 0 on each of these inputs,
and no other input exists; with ReLU it is then dead. Before training none is
inactive. Fractions of inactive units after it, and of right answers, for seeds
0 to 4. The rates 0.1 and 0.3 are chaotic: their numbers depend on rounding.
"""

from functools import cache

import torch
from torch.nn import functional as F

from course.chapter import functions

CHAPTER = functions("12")
QUESTION = "Do hidden units die when a model trains?"
COLUMNS = ["unit, rate", "inactive: lowest", "highest",
           "right: lowest", "highest"]
ROWS = {"ReLU, 0.03": (F.relu, 0.03), "ReLU, 0.1": (F.relu, 0.1),
        "ReLU, 0.3": (F.relu, 0.3), "GELU, 0.1": (F.gelu, 0.1),
        "GELU, 0.3": (F.gelu, 0.3)}
FORMATS = ["{:.2f}"] * 4
QUICK = "ReLU, 0.03", 2
TOLERANCE = 0.05
TOLERANCES = {words: 1.0 for words in ROWS if words[-3:] in ("0.1", "0.3")}


@cache
def trained(activation, rate, seed):
    """Dead before and after training, and right answers: fractions."""
    torch.manual_seed(seed)
    model = CHAPTER.AddModel(CHAPTER.FeedForward(32, 64, activation))
    before = CHAPTER.dead_fraction(model)
    right = CHAPTER.train_add(model, rate)
    return before, CHAPTER.dead_fraction(model), right


def cell(activation, rate, i):
    before, dead, right = zip(*(trained(activation, rate, seed)
                                for seed in range(5)), strict=True)
    assert max(before) == 0                         # none before training
    return [min(dead), max(dead), min(right), max(right)][i]
