"""What does the small Transformer learn without one of its parts?

Chapter 14's ablation: models without one part, from torch.manual_seed(0) to
(4), on the same data, in float32. Numbers are losses on 1,000 fresh streams:
median, lowest and highest of the five, after 250, 1,500 and 3,000 steps, all
at the rate 0.005. In 250 steps rounding changes single runs without residual,
norm or FFN: their rows are held within wider bounds.
"""

from functools import cache

import numpy as np
import torch

from course.chapter import functions

CHAPTER = functions("14")
FRESH = torch.tensor(CHAPTER.noisy_sums(1000, 17, np.random.default_rng(99)))

QUESTION = "What does the small Transformer learn without one of its parts?"
COLUMNS = ["missing", "250 steps: median", "lowest", "highest",
           "1500: median", "3000: median", "lowest", "highest"]
ROWS = {"nothing": [lambda model: None],
        "positions": [CHAPTER.without_positions],
        "residual": [CHAPTER.without_residual],
        "FFN": [CHAPTER.without_ffn],
        "norm": [CHAPTER.without_norm],
        "attention": [CHAPTER.without_attention]}
FORMATS = ["{:.2f}"] * 3 + ["{:.3f}"] * 4
QUICK = "attention", 0
TOLERANCE = 0.03
TOLERANCES = {"positions": 0.1, "residual": 0.4, "FFN": 0.4, "norm": 0.4}
HOLDS = {
    "after 3000 steps without residual, norm or FFN: near the whole model":
        lambda found: max(abs(found[part][4] - found["nothing"][4])
                          for part in ("residual", "norm", "FFN")) < 0.02,
    "after 250 steps without norm or FFN: far from it":
        lambda found: min(found[part][0] for part in ("norm", "FFN")) > 0.7,
    "without attention nothing is learned":
        lambda found: min(found["attention"]) > 1.9}


@cache
def losses(edit, steps):
    """The loss on fresh streams from each of the five seeds."""
    found = []
    for seed in range(5):
        torch.manual_seed(seed)
        model = CHAPTER.TorchTransformer()
        edit(model)
        CHAPTER.train(model, CHAPTER.streams(steps), lr=0.005)
        found.append(CHAPTER.losses_at(model, FRESH).mean().item())
    return found


def cell(edit, i):
    steps = (250, 250, 250, 1500, 3000, 3000, 3000)[i]
    found = losses(edit, steps)
    return (np.median, min, max, np.median, np.median, min, max)[i](found)
