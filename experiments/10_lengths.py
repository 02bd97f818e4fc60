"""How long may a story be, for layers with RoPE and with sinusoids?

Layers of chapter 10, seeds 0 to 4, trained with 0 to 10 words between the two
sentences: as trained; with all hands at half speed; with 100 more steps at
stories of 0 to 30 words, at half or at full speed; with another base; and with
added sinusoids. Lowest and highest of five.
"""

from functools import cache, partial
from typing import Any

import torch
from torch.nn import functional as F

from course.chapter import functions
from experiments.experiment import Experiment, Numbers

CHAPTER = functions("10")
STATISTICS = min, max
READINGS: dict[str, dict[str, Any]] = {
    "as trained": {}, "half speed": {"speed": 0.5},
    "half speed + 100": {"speed": 0.5, "more": 100},
    "full speed + 100": {"more": 100}, "base 100,000": {"base": 1e5},
    "sinusoids": {"method": "with_sinusoids"}}


def train_on(layer: Any, scores: Any, seed: int, n_steps: int) -> Any:
    """More steps, with 0 to 30 words between the sentences."""
    E, W, test = layer
    g = torch.Generator().manual_seed(seed + 7)
    train = sorted({*range(180)} - {*test.tolist()})
    W = W.clone().requires_grad_()
    optimizer = torch.optim.Adam([W], lr=0.003)
    for _ in range(n_steps):
        between = int(torch.randint(31, (1,), generator=g))
        X = E[CHAPTER.gift_stories(between, g)[train]]
        Y = scores(X, W).softmax(dim=-1) @ X
        loss = F.mse_loss(Y, X[:, [2, 0, 4]])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return E, W.detach(), test


@cache
def trained(method: str, seed: int) -> Any:
    """A layer that has learned the stories."""
    return CHAPTER.train_on_gifts(getattr(CHAPTER, method), seed,
                         600 if method == "with_rope" else 300)


@cache
def read(reading: str, seed: int) -> Any:
    """A layer and how it reads."""
    setting = {**READINGS[reading]}
    method, more = setting.pop("method", "with_rope"), setting.pop("more", 0)
    scores = partial(getattr(CHAPTER, method), **setting)
    layer = trained(method, seed)
    return (train_on(layer, scores, seed, more) if more else layer), scores


def cell(between: int, column: int) -> float:
    """As trained, seed 1; or the lowest or highest of five."""
    if column == 0:
        return CHAPTER.right_answers(*read("as trained", 1), between)
    reading = [*READINGS][(column - 1) // 2]
    return STATISTICS[(column - 1) % 2](
        CHAPTER.right_answers(*read(reading, seed), between)
        for seed in range(5))


def weakest(rows: Numbers) -> list[float]:
    """Of five layers with 100 more steps at full speed, 12 to 26 words."""
    return [rows[f"{words}"][7] for words in range(12, 27, 2)]


ROWS = {f"{between}": (between,) for between in range(0, 31, 2)}

EXPERIMENT = Experiment(
    question="How long may a story be?",
    columns=["words between", "as trained: seed 1", *(
        f"{reading}: {which}" for reading in READINGS
        for which in ("lowest", "highest"))],
    rows=ROWS, cell=cell, formats=["{:.2f}"] * 13,
    quick="10", quick_column=0, tolerance=0.05,
    tolerances={label: 100.0 for label in ROWS},
    holds={
        "all right where training was": lambda rows: min(
            rows[f"{words}"][1] for words in range(0, 11, 2)) == 1,
        "half speed: all from 12 to 24, its price at 0": lambda rows: min(
            rows[f"{words}"][3] for words in range(12, 25, 2)) == 1
            and rows["0"][3:5] == [0.14, 0.53],
        "half speed + 100: 90 % to 26": lambda rows: min(
            rows[f"{words}"][5] for words in range(0, 27, 2)) == 0.9,
        "full speed + 100: the weakest": lambda rows: (0.31, 0.72) == (
            min(weakest(rows)), max(weakest(rows))),
        "base 100,000: 82 % to 16": lambda rows: min(
            rows[f"{words}"][9] for words in range(0, 17, 2)) == 0.82,
        "sinusoids do well": lambda rows: min(rows["20"][11:]) == 1})
