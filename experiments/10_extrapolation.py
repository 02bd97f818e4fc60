"""Does a model read positions beyond those that it was trained on?

A model of two causal attention layers learns to name the token 1 back, or the
token 3 back, in random texts of 32 tokens, in 600 steps with one of six
methods. It then reads texts of 128 tokens. Fractions of right answers of seeds
0 to 4: the lowest at positions 0 to 31; then, at positions 64 to 127, seed 0
and the lowest (1 back only), and the highest. 1/16 is chance. The last six
rows start from the trained models: "offsets to 31" masks all keys that stand
more than 31 tokens back, "interpolated" multiplies positions by 1/4,
"NTK-aware base" changes the base, and "+ 300 steps" trains on, in texts of 128
tokens, with or without the interpolation.
"""

import math
from copy import deepcopy
from functools import cache

import torch
from tests.chapters import functions

CHAPTER = functions("10")
QUESTION = "Which methods copy beyond the trained length?"
COLUMNS = ["method", "1 back: seen", "seed 0", "lowest", "highest",
           "3 back: seen", "lowest", "highest"]
METHODS = "NoPE", "learned", "sinusoids", "relative bias", "ALiBi", "RoPE"
READINGS = {"relative bias": ["offsets to 31"],
            "RoPE": ["offsets to 31", "interpolated", "NTK-aware base",
                     "interpolated + 300 steps",
                     "not interpolated + 300 steps"]}
ROWS = ({method: (method, "") for method in METHODS}
        | {f"{method}, {reading}": (method, reading)
           for method in READINGS for reading in READINGS[method]})
FORMATS = ["{:.2f}"] * 7
QUICK = "ALiBi", 1
TOLERANCE = 0.05
TOLERANCES = {words: 1.0 for words in ROWS if words != "ALiBi"}


@cache
def trained(method, k, seed):
    torch.manual_seed(seed)
    model = CHAPTER.CopyModel(method)
    CHAPTER.train_copy(model, k)
    return model


@cache
def accuracies(method, reading, k, seed):
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
    return [CHAPTER.copy_accuracy(model, k, *where) for where in ((0, 32),
                                                             (64, 128))]


def cell(method, reading, i):
    k = 1 if i < 4 else 3
    if i == 1:
        return accuracies(method, reading, k, 0)[1]
    five = [accuracies(method, reading, k, seed) for seed in range(5)]
    seen, beyond = zip(*five, strict=True)
    return [min(seen), None, min(beyond), max(beyond), min(seen),
            min(beyond), max(beyond)][i]
