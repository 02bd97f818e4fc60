"""Do hidden units die when a model trains, and when?

The model of chapter 12 adds two numbers modulo 23, by one feed-forward layer
with a shortcut (64 hidden units, or 43 gated ones), and trains for 200 steps
of Adam on all 529 inputs; with a warm-up, the rate rises over 50 of them. A
unit is shut if its sum is at most 0 on each of these inputs, and no other input
exists; with ReLU it is then dead. Before training none is shut. Fractions of
shut units after 10 steps (median) and at the end, and of right answers (the
least), for seeds 0 to 4. The rates 0.1 and 0.3 are chaotic: their
numbers depend on rounding.
"""

from collections.abc import Callable
from statistics import median

import torch
from torch import nn
from torch.nn import functional as F

from course.chapter import functions
from experiments.experiment import Experiment

CHAPTER = functions("12")


def plain(activation: Callable) -> Callable[[], nn.Module]:
    """Makes layers of 64 units."""
    return lambda: CHAPTER.FeedForward(32, 64, activation)


def gated() -> nn.Module:
    """A layer with about as many weights: 43 units."""
    return CHAPTER.SwiGLU(32, 43)


RELU, GELU = plain(F.relu), plain(F.gelu)
ROWS = {"ReLU, 0.03": (RELU, 0.03, 1), "ReLU, 0.1": (RELU, 0.1, 1),
        "ReLU, 0.1, warm-up": (RELU, 0.1, 50),
        "GELU, 0.1": (GELU, 0.1, 1), "GELU, 0.3": (GELU, 0.3, 1),
        "SwiGLU, 0.1": (gated, 0.1, 1)}
CALM = "ReLU, 0.03", "ReLU, 0.1, warm-up"


def trained(layer: Callable[[], nn.Module], rate: float, warm_up: int,
            seed: int, steps: int = 200) -> tuple[float, float, float]:
    """Shut units before and after training, and right answers: fractions."""
    torch.manual_seed(seed)
    model = CHAPTER.AddModel(layer())
    before = CHAPTER.dead_fraction(model)
    right = CHAPTER.train_add(model, rate, 0.0, steps, warm_up)
    return before, CHAPTER.dead_fraction(model), right


def row(layer: Callable[[], nn.Module], rate: float,
        warm_up: int) -> list[float]:
    """Shut after 10 steps; least and most at the end, and right answers."""
    early = [trained(layer, rate, warm_up, seed, 10)[1] for seed in range(5)]
    before, shut, right = zip(*(trained(layer, rate, warm_up, seed)
                                for seed in range(5)), strict=True)
    assert max(before) == 0                         # none before training
    return [median(early), min(shut), max(shut), min(right)]


EXPERIMENT = Experiment(
    question="Do hidden units die when a model trains, and when?",
    columns=["unit, rate", "step 10", "least", "most", "right"],
    rows=ROWS, row=row, formats=["{:.2f}"] * 4,
    quick="ReLU, 0.03", quick_column=3, tolerance=0.05,
    tolerances={label: 1.0 for label in ROWS if label not in CALM}, holds={
        "no unit dies at 0.03": lambda t: t["ReLU, 0.03"][2] == 0,
        "a quarter or more at 0.1": lambda t: t["ReLU, 0.1"][1] >= 0.25,
        "most of them in the first ten steps": lambda t: t["ReLU, 0.1"][
            0] > t["ReLU, 0.1"][2] / 2,
        "none with a warm-up": lambda t: t["ReLU, 0.1, warm-up"][2] == 0
        and t["ReLU, 0.1, warm-up"][3] > 0.99,
        "no GELU or SwiGLU unit at 0.1": lambda t: max(
            t["GELU, 0.1"][2], t["SwiGLU, 0.1"][2]) == 0,
        "nearly all GELU units at 0.3": lambda t: t["GELU, 0.3"][1] > 0.9})
