"""Is the one-pass variance a danger for the tokens of a trained model?

The trained kite model reads 200 stories that it was not trained on; a token
is the row that enters one of its five norms. kappa is 1 + 2 mean²/variance,
equation (2.5). The errors are the largest of a variance, relative to that of
the same numbers in float64: one pass in float32, one and two passes with
numbers and operations of bfloat16, and one pass in float32 after 100 has been
added to each number of a token.
"""

import functools

import torch
from torch import Tensor

from experiments import kite
from experiments.experiment import Experiment

ROWS: dict[str, tuple[str]] = {
    label: (label,) for label in (
        "kappa, median", "kappa, largest", "one pass, float32",
        "one pass, bfloat16", "two passes, bfloat16",
        "one pass, float32, plus 100")}


def one_pass(X: Tensor) -> Tensor:
    """Mean of squares minus square of the mean, in the format of X."""
    return (X * X).mean(-1) - X.mean(-1) ** 2


def two_passes(X: Tensor) -> Tensor:
    """Mean of squared deviations, in the format of X."""
    return ((X - X.mean(-1, keepdim=True)) ** 2).mean(-1)


def largest_error(got: Tensor, X: Tensor) -> float:
    """Of a variance of X, relative."""
    exact = X.double().var(-1, correction=0)
    return float(((got.double() - exact) / exact).abs().max())


@functools.cache
def tokens() -> list[Tensor]:
    """What enters each of the five norms, in their order: (200, n, 48)."""
    torch.set_num_threads(1)
    model, entered = kite.load(), []
    for name, part in model.named_modules():
        if "norm" in name:
            part.register_forward_hook(
                lambda _, inputs, output: entered.append(inputs[0]))
    with torch.no_grad():
        model(torch.tensor(kite.word_ids(kite.kite_stories(200, seed=99))))
    return entered


def cell(label: str, column: int) -> float:
    """One number: the column is the norm."""
    X = tokens()[column]
    var = X.double().var(-1, correction=0)
    kappa = 1 + 2 * X.double().mean(-1) ** 2 / var
    short, far = X.bfloat16(), X + 100
    return {"kappa, median": lambda: float(kappa.median()),
            "kappa, largest": lambda: float(kappa.max()),
            "one pass, float32": lambda: largest_error(one_pass(X), X),
            "one pass, bfloat16":
                lambda: largest_error(one_pass(short), short),
            "two passes, bfloat16":
                lambda: largest_error(two_passes(short), short),
            "one pass, float32, plus 100":
                lambda: largest_error(one_pass(far), X)}[label]()


EXPERIMENT = Experiment(
    question="Is the one-pass variance a danger for the tokens of a model?",
    columns=["largest relative error, or kappa, before norm",
             *map(str, range(1, 6))],
    rows=ROWS, cell=cell, formats=["{:.3g}"] * 5,
    quick="kappa, median", quick_column=0, tolerance=0.02,
    tolerances={label: 0.5 for label in ROWS if "pass" in label},
    holds={
        "median 1.01 to 1.03": lambda t: (
            min(t["kappa, median"]) >= 1.01
            and max(t["kappa, median"]) <= 1.03),
        "largest 1.6": lambda t: 1.55 < max(
            t["kappa, largest"]) < 1.65,
        "one pass in bfloat16 below 1 %": lambda t: max(
            t["one pass, bfloat16"]) < 0.01,
        "hardly more than two passes": lambda t: max(
            t["one pass, bfloat16"]) < 1.5 * max(t["two passes, bfloat16"]),
        "up to 3 % far from 0": lambda t: 0.02 < max(
            t["one pass, float32, plus 100"]) < 0.035})
