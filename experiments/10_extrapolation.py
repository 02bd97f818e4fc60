"""Does a model read positions beyond those that it was trained on?

A model of two causal attention layers learns to name the token 1 back, or the
token 3 back, in random texts of 32 tokens, in 600 steps with one of six
methods. It then reads texts of 128 tokens. Fractions of right answers of seeds
0 to 4: the lowest at positions 0 to 31; then, at positions 64 to 127, seed 0
and the lowest (1 back only), and the highest. 1/16 is chance. The relative
bias has 16 numbers for each head, and offsets from 15 on share the last; in
another row it has 32, and training meets the last of them once in a text. The
last rows start from the trained models: "offsets to 31" masks all keys that
stand more than 31 tokens back, "interpolated" multiplies positions by 1/4,
"NTK-aware base" changes the base, and "+ 300 steps" trains on, in texts of 128
tokens, with or without the interpolation.
"""

import math
from copy import deepcopy
from functools import cache
from typing import Any

import torch

from course.chapter import functions
from experiments.experiment import Experiment

CHAPTER = functions("10")
METHODS = ("NoPE", "learned", "sinusoids", "relative bias",
           "relative bias, 32 numbers", "ALiBi", "RoPE")
READINGS = {"relative bias, 32 numbers": ["offsets to 31"],
            "RoPE": ["offsets to 31", "interpolated", "NTK-aware base",
                     "interpolated + 300 steps",
                     "not interpolated + 300 steps"]}
ROWS = ({method: (method, "") for method in METHODS}
        | {f"{method}, {reading}": (method, reading)
           for method in READINGS for reading in READINGS[method]})
PLACES = SEEN, BEYOND = (0, 32), (64, 128)
SEEDS = range(5)
MEASURES = [                            # tokens back, place, of which seeds
    (1, SEEN, min, SEEDS), (1, BEYOND, min, [0]), (1, BEYOND, min, SEEDS),
    (1, BEYOND, max, SEEDS), (3, SEEN, min, SEEDS), (3, BEYOND, min, SEEDS),
    (3, BEYOND, max, SEEDS)]


@cache
def trained(method: str, k: int, seed: int) -> Any:
    """A model that has learned to name the token k back."""
    torch.manual_seed(seed)
    name, _, numbers = method.partition(", ")
    model = (CHAPTER.CopyModel(name, n_offsets=int(numbers.split()[0]))
             if numbers else CHAPTER.CopyModel(name))
    CHAPTER.train_copy(model, k)
    return model


@cache
def accuracies(method: str, reading: str, k: int,
               seed: int) -> dict[tuple[int, int], float]:
    """Fractions of right answers at positions 0 to 31 and at 64 to 127."""
    model = deepcopy(trained(method, k, seed))
    if reading.startswith("offsets to"):
        bias, largest = model.bias, int(reading.split()[-1])
        model.bias = lambda n: bias(n).masked_fill(
            torch.ones(n, n).tril(-largest - 1) == 1, -math.inf)
    if reading.startswith("interpolated"):
        model.stretch = 32 / 128
    if reading == "NTK-aware base":
        model.base *= (128 / 32) ** (16 / 14)
    if reading.endswith("300 steps"):
        torch.manual_seed(seed + 5)
        CHAPTER.train_copy(model, k, n=128, steps=300)
    return {place: CHAPTER.copy_accuracy(model, k, *place)
            for place in PLACES}


def cell(method: str, reading: str, column: int) -> float:
    """The lowest or highest fraction of right answers at a place."""
    k, place, extreme, seeds = MEASURES[column]
    return extreme(accuracies(method, reading, k, seed)[place]
                   for seed in seeds)


EXPERIMENT = Experiment(
    question="Which methods copy beyond the trained length?",
    columns=["method", "1 back: seen", "seed 0", "lowest", "highest",
             "3 back: seen", "lowest", "highest"],
    rows=ROWS, cell=cell, formats=["{:.2f}"] * 7,
    quick="ALiBi", quick_column=1, tolerance=0.05,
    tolerances={label: 1.0 for label in ROWS if label != "ALiBi"},
    holds={
        "learned and sinusoids fall": lambda rows: max(
            max(rows[method][2:4] + rows[method][5:])
            for method in ("learned", "sinusoids")) < 0.15,
        "the last of 32 numbers hardly learns": lambda rows: (
            max(rows["relative bias, 32 numbers"][2:4]) < 0.5 < min(
                rows["relative bias"][2:4])),
        "untrained offsets caused RoPE's errors": lambda rows: min(
            rows["RoPE, offsets to 31"]) == 1})
