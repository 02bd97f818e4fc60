"""Does training balance the load of experts?

The model of chapter 12 adds two numbers modulo 23, by a mixture of eight
feed-forward layers of 16 hidden units, one of them for each token, with a
shortcut. It trains for 200 steps of Adam at the rate 0.01, with three weights
of the balance loss. The fraction of the 529 inputs that choose an expert:
least over experts and seeds 0 to 4, median over seeds of the expert with the
most, and the most; then the lowest and highest fraction of right answers.
"""

from functools import cache

import torch

from course.chapter import functions

CHAPTER = functions("12")
QUESTION = "Does training balance the load of experts?"
COLUMNS = ["weight of the balance loss", "least", "most: median", "highest",
           "right: lowest", "highest"]
ROWS = {"before training": (None,), "0": (0.0,), "0.1": (0.1,), "1": (1.0,)}
FORMATS = ["{:.2f}"] * 5
QUICK = "1", 1
TOLERANCE = 0.15
TOLERANCES = {words: 0.5 for words in ROWS if words != "1"}


@cache
def trained(balance, seed):
    """Loads of the experts, and the fraction of right answers."""
    torch.manual_seed(seed)
    model = CHAPTER.AddModel(CHAPTER.SwitchLayer())
    right = CHAPTER.train_add(model, 0.01, balance or 0.0,
                              0 if balance is None else 200)
    with torch.no_grad():
        model()
    return model.layer.load, right


def cell(balance, i):
    loads, right = zip(*(trained(balance, seed) for seed in range(5)),
                       strict=True)
    most = sorted(load.max().item() for load in loads)
    return [min(load.min().item() for load in loads), most[2], most[-1],
            min(right), max(right)][i]
