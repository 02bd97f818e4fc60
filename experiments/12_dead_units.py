"""Do hidden units die when a model trains?

The model of chapter 12 adds two numbers modulo 23, by one feed-forward layer
of 64 hidden units with a shortcut, and trains for 200 steps of Adam on all
529 inputs. A unit is inactive if its sum is at most 0 on each of these inputs,
and no other input exists; with ReLU it is then dead. Before training none is
inactive. Fractions of inactive units after it, and of right answers, for seeds
0 to 4. The rates 0.1 and 0.3 are chaotic: their numbers depend on rounding.
"""

from collections.abc import Callable

import torch
from torch.nn import functional as F

from course.chapter import functions
from experiments.experiment import Experiment

CHAPTER = functions("12")
ROWS = {"ReLU, 0.03": (F.relu, 0.03), "ReLU, 0.1": (F.relu, 0.1),
        "ReLU, 0.3": (F.relu, 0.3), "GELU, 0.1": (F.gelu, 0.1),
        "GELU, 0.3": (F.gelu, 0.3)}
CHAOTIC = "0.1", "0.3"


def trained(activation: Callable, rate: float,
            seed: int) -> tuple[float, float, float]:
    """Dead before and after training, and right answers: fractions."""
    torch.manual_seed(seed)
    model = CHAPTER.AddModel(CHAPTER.FeedForward(32, 64, activation))
    before = CHAPTER.dead_fraction(model)
    right = CHAPTER.train_add(model, rate)
    return before, CHAPTER.dead_fraction(model), right


def row(activation: Callable, rate: float) -> list[float]:
    """Lowest and highest fractions, of inactive units and right answers."""
    before, dead, right = zip(*(trained(activation, rate, seed)
                                for seed in range(5)), strict=True)
    assert max(before) == 0                         # none before training
    return [min(dead), max(dead), min(right), max(right)]


EXPERIMENT = Experiment(
    question="Do hidden units die when a model trains?",
    columns=["unit, rate", "inactive: lowest", "highest", "right: lowest",
             "highest"],
    rows=ROWS, row=row, formats=["{:.2f}"] * 4,
    quick="ReLU, 0.03", quick_column=2, tolerance=0.05,
    tolerances={label: 1.0 for label in ROWS if label.endswith(CHAOTIC)})
