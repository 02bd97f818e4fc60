"""What does a warm-up change, and is it the means of AdamW that need it?

The kite model at the high rate 0.03, on short stories alone (batches of
kite_batches with three gifts), with the schedule of chapter 14: without a
warm-up; with one of 50 steps; and with 50 steps at the rate 0, in which the
means m and v of AdamW fill while no weight moves, and no warm-up after them.
From torch.manual_seed(0) to (4). Numbers are mean losses (an answer counts
ten times) of the last 20 steps; "first step" rows have the length of the
first update, as a share of the length of all weights. Where training is
hurt, rounding decides how much.
"""

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from statistics import mean

sys.path.insert(0, str(Path(__file__).parents[1]))

import torch  # noqa: E402
from torch import Tensor, nn  # noqa: E402

from experiments import kite  # noqa: E402
from experiments.experiment import Experiment  # noqa: E402

RATE, WARM_UP = 0.03, 50
Factors = Callable[[int, int], float]           # step, steps -> of the rate


def none(step: int, steps: int) -> float:
    """The whole rate at once."""
    return kite.schedule(step, steps, 0)


def warmed(step: int, steps: int) -> float:
    """It climbs for 50 steps."""
    return kite.schedule(step, steps, WARM_UP)


def means_first(step: int, steps: int) -> float:
    """Nothing moves for 50 steps; then the whole rate at once."""
    return (0 if step < WARM_UP
            else kite.schedule(step - WARM_UP, steps - WARM_UP, 0))


def length(tensors: list[Tensor]) -> float:
    """The root of the sum of all squares."""
    return sum(each.square().sum() for each in tensors) ** 0.5


@cache
def run(factors: Factors, steps: int, seed: int,
        rate: float = RATE) -> tuple[list[float], list[float]]:
    """The losses, and the lengths of 20 updates against that of the weights,
    of a training of so many steps that move the weights."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    model = kite.Transformer()
    steps += WARM_UP if factors is means_first else 0
    weights = [*model.parameters()]
    optimizer = torch.optim.AdamW(weights, betas=(0.9, 0.98), fused=True)
    losses, lengths = [], []
    for step, ids in enumerate(kite.kite_batches(steps, seed + 1000, steps)):
        optimizer.param_groups[0]["lr"] = rate * factors(step, steps)
        loss = kite.answer_loss(model, ids)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(weights, 1.0)
        before = [w.detach().clone() for w in weights]
        optimizer.step()
        losses.append(loss.item())
        if factors(step, steps) and len(lengths) < 20:
            moved = [w.detach() - b
                     for w, b in zip(weights, before, strict=True)]
            lengths.append((length(moved) / length(before)).item())
    return losses, lengths


def end(factors: Factors, steps: int, seed: int) -> float:
    """The mean loss of the last 20 steps."""
    return mean(run(factors, steps, seed)[0][-20:])


def first(factors: Factors, steps: int, seed: int) -> float:
    """The length of the first update, as a share of that of the weights."""
    torch.manual_seed(seed)
    model = kite.Transformer()
    weights = [*model.parameters()]
    before = [w.detach().clone() for w in weights]
    optimizer = torch.optim.AdamW(weights, lr=RATE * factors(0, steps),
                                  betas=(0.9, 0.98))
    kite.answer_loss(model, kite.kite_batches(1, seed + 1000)[0]).backward()
    optimizer.step()
    moved = [w.detach() - b for w, b in zip(weights, before, strict=True)]
    return (length(moved) / length(before)).item()


def first_of_run(factors: Factors, steps: int, seed: int) -> float:
    """The same, in a training whose first steps may move nothing."""
    return run(factors, steps, seed)[1][0]


def cell(measure: Callable[[Factors, int, int], float], factors: Factors,
         steps: int, column: int) -> float:
    """The number of one seed."""
    return measure(factors, steps, column)


EXPERIMENT = Experiment(
    question="What does a warm-up change, and is it the means of AdamW that"
             " need it?",
    columns=["start, steps", *(f"seed {seed}" for seed in range(5))],
    rows={"no warm-up: length of the first step": (first, none, 300),
          "only the means: length of the first step": (
              first_of_run, means_first, 300),
          "warm-up: length of the first step": (first, warmed, 300),
          "no warm-up, 300": (end, none, 300),
          "only the means warm up, 300": (end, means_first, 300),
          "warm-up, 300": (end, warmed, 300),
          "no warm-up, 1200": (end, none, 1200),
          "warm-up, 1200": (end, warmed, 1200)},
    cell=cell, formats=["{:.3f}"] * 5,
    quick="no warm-up: length of the first step", tolerance=0.05,
    tolerances={"no warm-up, 300": 1, "only the means warm up, 300": 1,
                "warm-up, 300": 0.3, "no warm-up, 1200": 1,
                "warm-up, 1200": 0.3},
    holds={
        "the first step: a quarter of the weights, or half a percent":
            lambda table: min(table["no warm-up: length of the first step"])
            > 0.2 and max(table["warm-up: length of the first step"]) < 0.01,
        "filled means: still more than a tenth":
            lambda table: min(table[
                "only the means: length of the first step"]) > 0.1,
        "300 steps: each with warm-up below each without":
            lambda table: max(table["warm-up, 300"])
            < min(table["no warm-up, 300"]),
        "filling the means does not help":
            lambda table: max(table["warm-up, 300"])
            < min(table["only the means warm up, 300"]),
        "1200 steps: three have nearly caught up, two have not":
            lambda table: sorted(table["no warm-up, 1200"])[2] < 0.57
            and sorted(table["no warm-up, 1200"])[3] > 0.7})
