"""Does training balance the load of experts?

The model of chapter 12 adds two numbers modulo 23, by a mixture of eight
feed-forward layers of 16 hidden units, one of them for each token, with a
shortcut. It trains for 200 steps of Adam at the rate 0.01, with three weights
of the balance loss. The fraction of the 529 inputs that choose an expert:
least over experts and seeds 0 to 4, median over seeds of the expert with the
most, and the most; then the lowest and highest fraction of right answers.
"""

from statistics import median

import torch

from course.chapter import functions
from experiments.experiment import Experiment

CHAPTER = functions("12")
ROWS = {"before training": (None,), "0": (0.0,), "0.1": (0.1,), "1": (1.0,)}


def trained(balance: float | None, seed: int) -> tuple[torch.Tensor, float]:
    """Loads of the experts, and the fraction of right answers.

    balance: weight of the balance loss; None for a model as it is born.
    """
    torch.manual_seed(seed)
    model = CHAPTER.AddModel(CHAPTER.SwitchLayer())
    right = CHAPTER.train_add(model, 0.01, balance or 0.0,
                              0 if balance is None else 200)
    with torch.no_grad():
        model()
    return model.layer.load, right


def row(balance: float | None) -> list[float]:
    """Three loads, and the lowest and highest fraction of right answers."""
    loads, right = zip(*(trained(balance, seed) for seed in range(5)),
                       strict=True)
    most = [load.max().item() for load in loads]
    return [min(load.min().item() for load in loads), median(most),
            max(most), min(right), max(right)]


EXPERIMENT = Experiment(
    question="Does training balance the load of experts?",
    columns=["weight of the balance loss", "least", "most: median",
             "highest", "right: lowest", "highest"],
    rows=ROWS, row=row, formats=["{:.2f}"] * 5,
    quick="1", quick_column=1, tolerance=0.15,
    tolerances={label: 0.5 for label in ROWS if label != "1"})
