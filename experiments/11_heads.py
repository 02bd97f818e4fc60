"""Do trained models have induction heads, and do they need the layer below?

The repeated texts of chapter 11, models of two heads a layer, trained by Adam
from five starts, seeds 0 to 4. On 500 fresh texts: the fraction of right
answers at the tokens that can be known, and the largest induction score of a
head: its mean weight on the token after the earlier copy of the query. The
same for the token that many places after the earlier copy on which the weight
is largest, and that number of places. How many places back the heads of layer
0 look most. For "layer 0 removed", W_O of layer 0 of the trained model is 0.
"""

from functools import cache

import numpy as np
import torch

from course.chapter import functions
from experiments.experiment import Experiment

CHAPTER = functions("11")
RIGHT, SCORE, ANY, SHIFT, BACK, REMOVED = range(6)
ROWS = {"one, 1500, right answers": (1, 1500, RIGHT),
        "two, 400, right answers": (2, 400, RIGHT),
        "two, 1500, right answers": (2, 1500, RIGHT),
        "two, 1500, best score": (2, 1500, SCORE),
        "two, 1500, best score at any shift": (2, 1500, ANY),
        "two, 1500, this shift": (2, 1500, SHIFT),
        "two, 1500, layer 0 looks back": (2, 1500, BACK),
        "two, 1500, right, layer 0 removed": (2, 1500, REMOVED)}


@cache
def measured(n_layers: int, steps: int, seed: int) -> list[float]:
    """Right answers, scores, shift, back, and right without layer 0."""
    weights = CHAPTER.fit_heads(
        CHAPTER.draw_word_model(n_layers, np.random.default_rng(seed), 20),
        CHAPTER.repeat_loss, torch.Generator().manual_seed(seed),
        steps, rate=0.005)
    ids, period = CHAPTER.repeated_texts(
        500, torch.Generator().manual_seed(99))

    def right(weights):
        scores, maps = CHAPTER.word_model(weights, ids)
        hits = scores[:, 16:-1].argmax(dim=-1) == ids[:, 17:]
        return hits.double().mean().item(), maps

    answers, maps = right(weights)
    removed = [W.clone() for W in weights]
    removed[5][0] = 0                               # W_O of layer 0
    scores = [CHAPTER.induction_scores(maps, period, shift).max().item()
              for shift in range(1, 9)]
    return [answers, scores[0], max(scores), 1 + scores.index(max(scores)),
            CHAPTER.looks_back(maps), right(removed)[0]]


def cell(n_layers: int, steps: int, measure: int, column: int) -> float:
    """A measure of the model of one seed."""
    return measured(n_layers, steps, seed=column)[measure]


EXPERIMENT = Experiment(
    question="Do trained models have induction heads?",
    columns=["layers, steps, measure", *(f"seed {i}" for i in range(5))],
    rows=ROWS, cell=cell, formats=["{:.2g}"] * 5,
    quick="two, 400, right answers", quick_column=0, tolerance=0.03,
    tolerances={label: 10.0 for label in ROWS if "two, 400" not in label},
    holds={
        "two layers are right": lambda table: min(
            table["two, 1500, right answers"]) > 0.95,
        "one layer is not": lambda table: max(
            table["one, 1500, right answers"]) < 0.3,
        "all have the mechanism": lambda table: min(
            table["two, 1500, best score at any shift"]) > 0.9,
        "the shift is as long as layer 0 looks back": lambda table: (
            table["two, 1500, this shift"]
            == table["two, 1500, layer 0 looks back"]),
        "layer 0 is needed": lambda table: max(
            table["two, 1500, right, layer 0 removed"]) < 0.2})
