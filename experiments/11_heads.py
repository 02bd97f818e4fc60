"""Do trained models have induction heads, and do they need the layer below?

The repeated texts of chapter 11, models of two heads a layer, trained by Adam
from five starts, seeds 0 to 4. On 500 fresh texts: the fraction of right
answers at the tokens that can be known, and the largest induction score of a
head. For "layer 0 removed", W_O of layer 0 of the trained model is set to 0.
"""

from functools import cache

import numpy as np
import torch

from course.chapter import functions

CHAPTER = functions("11")
QUESTION = "Do trained models have induction heads?"
COLUMNS = ["layers, steps, measure", *(f"seed {seed}" for seed in range(5))]
RIGHT, SCORE, REMOVED = range(3)
ROWS = {"one, 1500, right answers": (1, 1500, RIGHT),
        "two, 400, right answers": (2, 400, RIGHT),
        "two, 1500, right answers": (2, 1500, RIGHT),
        "two, 1500, best score": (2, 1500, SCORE),
        "two, 1500, right, layer 0 removed": (2, 1500, REMOVED)}
FORMATS = ["{:.2f}"] * 5
QUICK = "two, 400, right answers", 0
TOLERANCE = 0.03
TOLERANCES = {words: 10.0 for words in ROWS if words[:8] != "two, 400"}


@cache
def measured(n_layers, steps, seed):
    """Right answers, best score, and right answers without layer 0."""
    weights = CHAPTER.fit_heads(
        CHAPTER.draw_repeat_model(n_layers, np.random.default_rng(seed)),
        CHAPTER.repeat_loss, torch.Generator().manual_seed(seed),
        steps, rate=0.005)
    ids, period = CHAPTER.repeated_texts(
        500, torch.Generator().manual_seed(99))

    def right(weights):
        scores, maps = CHAPTER.repeat_model(weights, ids)
        found = scores[:, 16:-1].argmax(dim=-1) == ids[:, 17:]
        return found.double().mean().item(), maps

    answers, maps = right(weights)
    removed = [W.clone() for W in weights]
    removed[5].zero_()                              # E, U, W_Q, W_K, W_V, W_O
    return (answers, CHAPTER.induction_scores(maps, period).max().item(),
            right(removed)[0])


def cell(n_layers, steps, measure, i):
    return measured(n_layers, steps, i)[measure]
