"""What do the norms of a trained model hold, and what if a part is missing?

The trained kite model of chapter 13, whose norms divide by the RMS. Loss of
the answers and share of right answers in 500 stories that it was not trained
on: as it is; with a part of its five norms changed.
"""

import functools
from collections.abc import Callable

import torch
from torch import Tensor, nn

from experiments import kite
from experiments.experiment import Experiment

Norm = Callable[[nn.Module, Tensor], Tensor]


def divided(part: nn.Module, X: Tensor) -> Tensor:
    """As it is."""
    return part.weight * X * torch.rsqrt(X.square().mean(-1, True) + part.eps)


NORMS: dict[str, Norm] = {
    "as trained": divided,
    "no division": lambda part, X: part.weight * X,
    "gains 1": lambda part, X: divided(part, X) / part.weight,
    "mean subtracted": lambda part, X: divided(part, X - X.mean(-1, True))}
ROWS: dict[str, tuple[str]] = {label: (label,) for label in NORMS}


@functools.cache
def stories() -> Tensor:
    """500 stories with one question."""
    return torch.tensor(kite.word_ids(kite.kite_stories(500, seed=99)))


@functools.cache
def measured(label: str) -> tuple[float, float]:
    """Loss of the answers, and share of right ones."""
    torch.set_num_threads(1)
    model = kite.load()
    for part in model.modules():
        if isinstance(part, kite.PARTS.RMSNorm):
            part.forward = functools.partial(NORMS[label], part)
    with torch.no_grad():
        ids = stories()
        logits = model(ids[:, :-3])[:, -1]
        loss = nn.functional.cross_entropy(logits, ids[:, -3])
        right = kite.right_answers(model, ids).float().mean()
    return float(loss), float(right)


def cell(label: str, column: int) -> float:
    """One number."""
    return measured(label)[column] * (100 if column else 1)


EXPERIMENT = Experiment(
    question="What do the norms of a trained model hold?",
    columns=["all five norms changed", "loss of the answers",
             "right answers"],
    rows=ROWS, cell=cell, formats=["{:.3f}", "{:.1f}%"],
    quick="no division", tolerance=0.05,
    tolerances={"as trained": 0.5, "mean subtracted": 0.3},
    holds={
        "without the division it guesses": lambda t: (
            2.5 < t["no division"][0] and t["no division"][1] < 15),
        "without gains it is less sure, and mostly right": lambda t: (
            0.05 < t["gains 1"][0] < 0.15 and 97 < t["gains 1"][1] < 99.5),
        "the mean hardly": lambda t: (
            t["mean subtracted"][0] < 0.03
            and 99 < t["mean subtracted"][1] <= 100),
        "as trained it is sure and right": lambda t: (
            t["as trained"][1] == 100 and t["as trained"][0] < 0.0035)})
