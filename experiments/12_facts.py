"""How many facts does a memory recall, if the nearest value counts?

A fact is a pair of random directions of 64 numbers, key and value. A memory is
asked with each key, and its answer counts as right if its dot product with the
right value is the largest. Three memories with about as many parameters are
trained to this: a matrix (4,096), a layer of 32 ReLU units (4,128) and one of
21 SwiGLU units (4,032), by 1,000 steps of Adam from the rate 0.03 down to 0,
with the cross-entropy of 8 times the dot products. Fractions of right answers,
the lowest of seeds 0 to 4.
"""

import math
from collections.abc import Callable

import numpy as np
import torch
from torch.nn import functional as F

from course.chapter import functions
from experiments.experiment import Experiment

CHAPTER = functions("12")
MEMORIES = "matrix", "ReLU", "SwiGLU"
ROWS = {str(n): (n,) for n in (64, 512, 640, 768, 1024)}


def right(answers: np.ndarray, values: np.ndarray) -> float:
    """Fraction of answers whose nearest value is their own."""
    return float(np.mean((answers @ values.T).argmax(1)
                         == np.arange(len(values))))


def layers(rng: np.random.Generator, d: int) -> dict[str, tuple]:
    """{memory: its weights, and what it answers with them}."""
    def draw(*shape: int, std: float) -> torch.Tensor:
        return torch.tensor(std * rng.normal(size=shape), dtype=torch.float32,
                            requires_grad=True)

    matrix = [draw(d, d, std=d**-0.5)]
    plain = [draw(d, 32, std=math.sqrt(2)), draw(32, std=0.0),
             draw(32, d, std=32**-0.5)]
    gated = [draw(d, 21, std=1.0), draw(d, 21, std=1.0),
             draw(21, d, std=21**-0.5)]
    return {
        "matrix": (matrix, lambda X: X @ matrix[0]),
        "ReLU": (plain, lambda X: F.relu(X @ plain[0] + plain[1]) @ plain[2]),
        "SwiGLU": (gated, lambda X: (
            F.silu(X @ gated[0]) * (X @ gated[1])) @ gated[2])}


def train(weights: list[torch.Tensor], answer: Callable, keys: torch.Tensor,
          values: torch.Tensor, steps: int = 1000) -> np.ndarray:
    """Make each answer's nearest value its own. -> the answers"""
    optimizer = torch.optim.Adam(weights, 0.03)
    decay = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: 1 - step / steps)
    for _ in range(steps):
        loss = F.cross_entropy(8 * answer(keys) @ values.T,
                               torch.arange(len(keys)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        decay.step()
    return answer(keys).detach().numpy()


def recalled(n: int, memory: str, seed: int, d: int = 64) -> float:
    """Fraction of n facts that a memory recalls."""
    rng = np.random.default_rng(seed)
    K, V = (CHAPTER.directions(n, d, rng) for _ in range(2))
    pair = (torch.tensor(A, dtype=torch.float32) for A in (K, V))
    return right(train(*layers(rng, d)[memory], *pair), V)


def cell(n: int, column: int) -> float:
    """The lowest fraction of five seeds, of one memory."""
    return min(recalled(n, MEMORIES[column], seed) for seed in range(5))


EXPERIMENT = Experiment(
    question="How many facts does a memory recall, if the nearest value "
             "counts?",
    columns=["facts", "matrix", "ReLU", "SwiGLU"],
    rows=ROWS, cell=cell, formats=["{:.2f}"] * 3,
    quick="64", quick_column=0, tolerance=0.02,
    tolerances={"640": 0.2, "768": 0.5, "1024": 0.1}, holds={
        "512 facts fit into a trained matrix": lambda t: t["512"][0] > 0.99,
        "640 do not": lambda t: t["640"][0] < 0.5,
        "768 do not": lambda t: t["768"][0] < 0.5,
        "640 into trained units": lambda t: min(t["640"][1:]) > 0.99,
        "but into trained units of as many numbers": lambda t: min(
            t["768"][1:]) > 0.95,
        "1,024 fit into none": lambda t: max(t["1024"]) < 0.95,
        "the units keep most of them": lambda t: 0.5 < t["1024"][1] < 0.75})
