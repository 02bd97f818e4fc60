"""Does a deeper model learn without residual connections?

The kite model with 2, 4 and 8 blocks, whole, and with blocks in which each
part replaces what it has read. 300 steps of 12 short stories (kite_batches,
their first 12), 10 to 50 seconds each, from torch.manual_seed(0) to (4), in
float32. Numbers are losses on 500 fresh stories of this form. "word
frequencies" is the loss of a reader who knows how often each word stands in
them, and nothing else.
"""

import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import torch  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from experiments import kite, kite_parts  # noqa: E402
from experiments.experiment import Experiment  # noqa: E402

STEPS = 300


def fresh() -> torch.Tensor:
    """The stories of the test: (500, n)."""
    rng = random.Random(7)
    return torch.tensor(kite.word_ids(
        [kite.story(rng, **kite.SHORT) for _ in range(500)]))


def cell(n_layers: int, has_shortcuts: bool, rate: float, column: int) -> float:
    """The loss of one seed; of the word frequencies where there is no block."""
    ids = fresh()
    if not n_layers:
        p = torch.bincount(ids[:, 1:].flatten()) / ids[:, 1:].numel()
        return -(p[p > 0] * p[p > 0].log()).sum().item()
    torch.set_num_threads(1)
    torch.manual_seed(column)
    model = kite.Transformer(n_layers=n_layers)
    if not has_shortcuts:
        kite_parts.without_shortcuts(model)
    batches = kite.kite_batches(STEPS, column + 1000)
    kite.train(model, [ids[:12] for ids in batches], lr=rate)
    with torch.no_grad():
        return F.cross_entropy(model(ids[:, :-1]).mT, ids[:, 1:]).item()


EXPERIMENT = Experiment(
    question="Does a deeper model learn without residual connections?",
    columns=["blocks", *(f"seed {seed}" for seed in range(5))],
    rows={"word frequencies": [0, True, 0.0],
          "2": [2, True, 0.004], "4": [4, True, 0.004],
          "8": [8, True, 0.004],
          "2, without": [2, False, 0.004], "4, without": [4, False, 0.004],
          "8, without": [8, False, 0.004],
          "4, without, rate 0.001": [4, False, 0.001],
          "8, without, rate 0.001": [8, False, 0.001]},
    cell=cell, formats=["{:.2f}"] * 5,
    quick="word frequencies", tolerance=0.2,
    tolerances={row: 0.8 for row in ("4, without", "4, without, rate 0.001")},
    holds={
        "whole models learn at each depth":
            lambda table: max(max(table[n]) for n in "248") < 0.75,
        "two blocks learn without residual connections":
            lambda table: max(table["2, without"]) < 0.75,
        "four learn less, in each training, at both rates":
            lambda table: min(table["4, without"]
                              + table["4, without, rate 0.001"])
            > max(table["4"]) + 0.1,
        "eight learn nothing: more than word frequencies":
            lambda table: min(table["8, without"]
                              + table["8, without, rate 0.001"])
            > max(table["word frequencies"])})
