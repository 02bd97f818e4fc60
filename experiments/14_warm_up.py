"""Which placement of the norm needs a warm-up?

Chapter 14's models with three blocks, pre-norm and post-norm, 300 steps of
AdamW with a cosine schedule, of which the first 0 or 100 are a warm-up, in
float32. Numbers are losses on 1,000 fresh streams, from torch.manual_seed(0)
to (4), on the same data. Where training fails, rounding decides how far.
"""

import numpy as np
import torch

from course.chapter import functions

CHAPTER = functions("14")
FRESH = torch.tensor(CHAPTER.noisy_sums(1000, 17, np.random.default_rng(99)))

QUESTION = "Which placement of the norm needs a warm-up?"
COLUMNS = ["norm, rate, warm-up", *(f"seed {seed}" for seed in range(5))]
ROWS = {f"{name}, {lr}, {warm_up or 'none'}": (wire, lr, warm_up)
        for name, wire in (("pre", CHAPTER.pre_norm),
                           ("post", CHAPTER.post_norm))
        for lr in (0.003, 0.01) for warm_up in (0, 100)}
FORMATS = ["{:.2f}"] * 5
QUICK = "pre, 0.003, 100", 0
TOLERANCE = 0.05
TOLERANCES = {"pre, 0.003, none": 0.3, "pre, 0.01, none": 1,
              "post, 0.003, none": 1, "post, 0.01, none": 0.2,
              "post, 0.01, 100": 1.5}
HOLDS = {
    "pre-norm at 0.01 fails without warm-up":
        lambda found: min(found["pre, 0.01, none"]) > 1,
    "pre-norm with warm-up reaches 0.54 at both rates": lambda found: max(
        found["pre, 0.003, 100"] + found["pre, 0.01, 100"]) < 0.55,
    "post-norm at 0.003 without warm-up stays above 0.7":
        lambda found: min(found["post, 0.003, none"]) > 0.7,
    "four of five pre-norm models at 0.003 do without":
        lambda found: sorted(found["pre, 0.003, none"])[3] < 0.55}


def cell(wire, lr, warm_up, i):
    model = CHAPTER.deep_model(wire, i)
    CHAPTER.train(model, CHAPTER.streams(300), lr=lr, warm_up=warm_up)
    return CHAPTER.losses_at(model, FRESH).mean().item()
