"""Which look-ups are lost without the root, by their weight at the start?

40 layers of chapter 08 (seeds 0 to 39, d_k = 64, 300 steps at rate 0.003), not
divided, and their look-ups: three pronouns in each of 432 sentences. They are
sorted by the weight that the right noun had before training. Per row their
number and the fraction that is right after training. Look-ups share words, so
within a layer they are not independent. Therefore the last columns count
layers: median and quarters of the fractions of the layers with at least 20
such look-ups. The last row holds five layers with the root.
"""

from functools import cache

import torch

from experiments.experiment import Experiment, load

LAYERS = load("08_training_scaled")


@cache
def fates(divisor: float, n_layers: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Weights before training, and what is right after it, (layers, 1296)."""
    weights, right = [], []
    for first in range(0, n_layers, 5):
        words, E, W = LAYERS.trained(64, divisor, 1, 2, 0, 0, 0.003, first)
        A = LAYERS.look(E, W, divisor, words)[1]        # (5, 432, 3, 10)
        weights.append(A[:, :, range(3), LAYERS.NOUNS].flatten(1))
        words, E, W = LAYERS.trained(64, divisor, 1, 2, 300, 0, 0.003, first)
        right.append(LAYERS.are_right(E, W, divisor, words).flatten(1))
    return torch.cat(weights), torch.cat(right).double()


def row(divisor: float, n_layers: int, low: float, high: float) -> list[float]:
    """How many look-ups began so, right after training, two quarters."""
    weights, right = fates(divisor, n_layers)
    there = (low <= weights) & (weights < high)
    of_layers = torch.stack([each[of].mean() for each, of in zip(
        right, there, strict=True) if of.sum() >= 20])
    return [int(there.sum()), right[there].mean().item(),
            *of_layers.quantile(torch.tensor([0.5, 0.25, 0.75]).double()
                                ).tolist()]


EDGES = {"below 1e-12": 1e-12, "to 1e-9": 1e-9, "to 1e-6": 1e-6,
         "to 0.001": 1e-3, "above 0.001": 1.1}

EXPERIMENT = Experiment(
    question="Which look-ups are lost, by their weight at the start?",
    columns=["weight on the right noun before training", "look-ups",
             "right after training", "median of layers", "lower quarter",
             "upper quarter"],
    rows={label: (1, 40, low, high) for (label, high), low in zip(
        EDGES.items(), (0, *EDGES.values()), strict=False)}
    | {"divided by 8, all": (8, 5, 0, 1.1)},
    row=row, formats=["{:.0f}", *["{:.0%}"] * 4],
    quick="divided by 8, all", tolerance=0.01,
    tolerances=dict.fromkeys(EDGES, 1.0),
    holds={
        "most above 0.001": lambda rows: min(
            rows["above 0.001"][1:3]) > 85,
        "fewer than half below a millionth": lambda rows: max(
            max(rows[label][1:3]) for label in [*EDGES][:3]) < 50,
        "more weight, more right": lambda rows: all(
            (shares := [rows[label][column] for label in EDGES])
            == sorted(shares) for column in (1, 2)),
        "with the root all": lambda rows: min(
            rows["divided by 8, all"][1:]) == 100})
