"""How large are tokens in front of a norm, before training and after it?

The kite model of chapter 13, with its first weights (seed 0) and trained, on
200 stories that it was not trained on. Size: the RMS of a token in
front of each of its five norms. Mean: the absolute mean of a token over its
RMS.
"""

import functools

import torch
from torch import Tensor

from experiments import kite
from experiments.experiment import Experiment

MEAN = "mean over size, without sign, trained"
ROWS: dict[str, tuple[str, float]] = {
    "size, untrained, median": ("size, untrained", 0.5),
    "size, trained, median": ("size, trained", 0.5),
    f"{MEAN}, median": (MEAN, 0.5), f"{MEAN}, largest": (MEAN, 1.0)}


@functools.cache
def tokens(trained: bool) -> list[Tensor]:
    """What enters each of the five norms, in their order: (200, n, 48)."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model, entered = kite.load() if trained else kite.Transformer(), []
    for name, part in model.named_modules():
        if "norm" in name:
            part.register_forward_hook(
                lambda _, inputs, output: entered.append(inputs[0]))
    with torch.no_grad():
        model(torch.tensor(kite.word_ids(kite.kite_stories(200, seed=99))))
    return entered


def cell(what: str, share: float, column: int) -> float:
    """A quantile over all tokens; the column is the norm."""
    X = tokens(not what.endswith("untrained"))[column]
    rms = X.square().mean(-1).sqrt()
    values = X.mean(-1).abs() / rms if what.startswith("mean") else rms
    return float(torch.quantile(values.flatten().double(), share))


EXPERIMENT = Experiment(
    question="How large are tokens in front of a norm?",
    columns=["in front of norm", *map(str, range(1, 6))],
    rows=ROWS, cell=cell, formats=["{:.2f}"] * 5,
    quick="size, untrained, median", tolerance=0.05,
    tolerances={label: 0.6 for label in ROWS if label != "size, untrained,"
                " median"},
    holds={
        "six times the median": lambda t: 4 < (
            t["size, trained, median"][-1]
            / t["size, untrained, median"][-1]) < 8,
        "the mean is a tenth": lambda t: all(
            0.07 < x < 0.13 for x in t[
            "mean over size, without sign, trained, median"])})
