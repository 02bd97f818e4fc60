"""Which placement of the norm needs a warm-up?

Chapter 14's models with three blocks, pre-norm and post-norm, 300 steps of
AdamW with a cosine schedule, of which the first 0 or 100 are a warm-up, in
float32. Numbers are losses on 1,000 fresh streams, from torch.manual_seed(0)
to (4), on the same data. Where training fails, rounding decides how far.
"""

from collections.abc import Callable

import numpy as np
import torch

from course.chapter import functions
from experiments.experiment import Experiment

CHAPTER = functions("14")
FRESH = torch.tensor(CHAPTER.noisy_sums(1000, 17, np.random.default_rng(99)))


def cell(wire: Callable, lr: float, warm_up: int, column: int) -> float:
    """The loss of the model of one seed."""
    model = CHAPTER.deep_model(wire, column)
    CHAPTER.train(model, CHAPTER.streams(300), lr=lr, warm_up=warm_up)
    return CHAPTER.losses_at(model, FRESH).mean().item()


EXPERIMENT = Experiment(
    question="Which placement of the norm needs a warm-up?",
    columns=["norm, rate, warm-up", *(f"seed {seed}" for seed in range(5))],
    rows={f"{name}, {lr}, {warm_up or 'none'}": (wire, lr, warm_up)
          for name, wire in (("pre", CHAPTER.pre_norm),
                             ("post", CHAPTER.post_norm))
          for lr in (0.003, 0.01) for warm_up in (0, 100)},
    cell=cell, formats=["{:.2f}"] * 5,
    quick="pre, 0.003, 100", quick_column=0, tolerance=0.05,
    tolerances={"pre, 0.003, none": 0.3, "pre, 0.01, none": 1,
                "post, 0.003, none": 1, "post, 0.01, none": 0.2,
                "post, 0.01, 100": 1.5},
    holds={
        "pre-norm at 0.01 fails without warm-up":
            lambda table: min(table["pre, 0.01, none"]) > 1,
        "pre-norm with warm-up reaches 0.54 at both rates":
            lambda table: max(table["pre, 0.003, 100"]
                              + table["pre, 0.01, 100"]) < 0.55,
        "post-norm at 0.003 without warm-up stays above 0.7":
            lambda table: min(table["post, 0.003, none"]) > 0.7,
        "four of five pre-norm models at 0.003 do without":
            lambda table: sorted(table["pre, 0.003, none"])[3] < 0.55})
