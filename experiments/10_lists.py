"""Can a number for each offset tell the nearer woman and the farther one?

Layers of chapter 10 without positions, seeds 0 to 4, 600 steps. To their
scores nothing is added, or one learned number for each offset from -20 to 19,
or ALiBi's -(i - j) / 2. Right answers to she and to her, mean over 0, 5 and 10
words between the sentences; and to she with 14 and 30.
"""

from functools import cache
from statistics import mean
from typing import Any

import torch
from torch.nn import functional as F

from course.chapter import functions
from experiments.experiment import Experiment

CHAPTER = functions("10")
STATISTICS = min, max
MEASURES = [((0,), (0, 5, 10)), ((1,), (0, 5, 10)), ((0,), (14,)),
            ((0,), (30,))]


@cache
def trained(kind: str, seed: int) -> Any:
    """A layer and its scores."""
    numbers = torch.zeros(40, dtype=torch.float64, requires_grad=True)

    def scores(X: torch.Tensor, W: torch.Tensor) -> Any:
        n = X.shape[1]
        offset = torch.tensor([n - 5, n - 3, n - 1])[:, None] - torch.arange(n)
        plain = CHAPTER.words_alone(X, W)
        if kind == "ALiBi, slope 1/2":
            return plain - offset.clamp(min=0) / 2
        if kind == "one learned list":
            return plain + numbers[offset.clamp(-20, 19) + 20]
        return plain

    E, W, test = CHAPTER.train_on_gifts(scores, seed, 0)
    W.requires_grad_()
    optimizer = torch.optim.Adam([W, numbers], lr=0.003)
    g = torch.Generator().manual_seed(seed + 7)
    rows = sorted({*range(180)} - {*test.tolist()})
    for _ in range(600):
        between = int(torch.randint(11, (1,), generator=g))
        X = E[CHAPTER.gift_stories(between, g)[rows]]
        Y = scores(X, W).softmax(dim=-1) @ X
        loss = F.mse_loss(Y, X[:, [2, 0, 4]])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return (E, W.detach(), test), scores


@cache
def right(kind: str, who: tuple[int, ...], between: tuple[int, ...],
          seed: int) -> float:
    """The fraction of right answers of one layer."""
    layer, scores = trained(kind, seed)
    with torch.no_grad():
        return mean(CHAPTER.right_answers(layer, scores, words, who)
                    for words in between)


def cell(kind: str, column: int) -> float:
    """Of seed 1, or the lowest or highest of five."""
    if column == 0:
        return right(kind, *MEASURES[0], 1)
    who, between = MEASURES[(column - 1) // 2]
    return STATISTICS[(column - 1) % 2](right(kind, who, between, seed)
                                        for seed in range(5))


EXPERIMENT = Experiment(
    question="Can a number for each offset tell the nearer woman?",
    columns=["added to the scores", "she: seed 1", "lowest", "highest",
             "her: lowest",
             "highest", "she, 14 words: lowest", "highest",
             "she, 30 words: lowest", "highest"],
    rows={kind: (kind,) for kind in (
        "nothing", "one learned list", "ALiBi, slope 1/2")},
    cell=cell, formats=["{:.2f}"] * 9,
    quick="nothing", quick_column=0, tolerance=0.1,
    holds={
        "41 to 45 % without positions": lambda rows: (
            rows["nothing"][1], rows["nothing"][4]) == (0.41, 0.46),
        "no list serves both": lambda rows: rows["one learned list"][1:5] == [
            0.59, 0.77, 0.62, 0.74],
        "ALiBi suits she, not her": lambda rows: rows["ALiBi, slope 1/2"][
            1:5] == [1, 1, 0.37, 0.41]})
