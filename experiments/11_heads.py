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
from experiments.experiment import Experiment

CHAPTER = functions("11")
RIGHT, SCORE, REMOVED = range(3)
ROWS = {"one, 1500, right answers": (1, 1500, RIGHT),
        "two, 400, right answers": (2, 400, RIGHT),
        "two, 1500, right answers": (2, 1500, RIGHT),
        "two, 1500, best score": (2, 1500, SCORE),
        "two, 1500, right, layer 0 removed": (2, 1500, REMOVED)}


@cache
def measured(n_layers: int, steps: int,
             seed: int) -> tuple[float, float, float]:
    """Right answers, best score, and right answers without layer 0."""
    weights = CHAPTER.fit_heads(
        CHAPTER.draw_repeat_model(n_layers, np.random.default_rng(seed)),
        CHAPTER.repeat_loss, torch.Generator().manual_seed(seed),
        steps, rate=0.005)
    ids, period = CHAPTER.repeated_texts(
        500, torch.Generator().manual_seed(99))

    def right(weights):
        scores, maps = CHAPTER.repeat_model(weights, ids)
        hits = scores[:, 16:-1].argmax(dim=-1) == ids[:, 17:]
        return hits.double().mean().item(), maps

    answers, maps = right(weights)
    removed = [W.clone() for W in weights]
    removed[5].zero_()                              # E, U, W_Q, W_K, W_V, W_O
    return (answers, CHAPTER.induction_scores(maps, period).max().item(),
            right(removed)[0])


def cell(n_layers: int, steps: int, measure: int, column: int) -> float:
    """A measure of the model of one seed."""
    return measured(n_layers, steps, seed=column)[measure]


EXPERIMENT = Experiment(
    question="Do trained models have induction heads?",
    columns=["layers, steps, measure", *(f"seed {i}" for i in range(5))],
    rows=ROWS, cell=cell, formats=["{:.2f}"] * 5,
    quick="two, 400, right answers", quick_column=0, tolerance=0.03,
    tolerances={label: 10.0 for label in ROWS if "two, 400" not in label})
