"""What does a small Transformer learn of Tiny Shakespeare?

Tokens are characters, the last tenth is the test text. The Transformer has
two blocks, width 64, four heads, d_ff 256 and sees 64 characters; batches of
16 random windows, AdamW at 0.005, in float32, torch.manual_seed(0) to (4).
Losses are nats per character of the test text: median, lowest and highest of
the five, and the perplexity of the median. The text comes from where
chapter 14 takes it; without it (no file, no network) nothing is computed.
"""

import math
from collections.abc import Callable
from statistics import median

import torch
from torch import nn

from course.chapter import functions
from experiments.experiment import Experiment
from experiments.shakespeare import parts

CHAPTER = functions("14")


def windows(ids: torch.Tensor, starts: torch.Tensor,
            n: int = 64) -> torch.Tensor:
    """Pieces of n + 1 tokens: (len(starts), n + 1)."""
    return ids[starts[:, None] + torch.arange(n + 1)]


def tiles(ids: torch.Tensor, n: int = 64) -> torch.Tensor:
    """Windows one behind the other: each token but the first is a target."""
    return windows(ids, torch.arange(0, len(ids) - n, n))


def trained(ids: torch.Tensor, steps: int, seed: int,
            wire: Callable) -> nn.Module:
    """The model after so many batches of windows from ids."""
    torch.manual_seed(seed)
    model = CHAPTER.TorchTransformer(
        wire=wire, n_vocab=parts()[2], n_max=64, d_model=64, h=4)
    generator = torch.Generator().manual_seed(seed)
    starts = torch.randint(len(ids) - 64, (steps * 16,), generator=generator)
    CHAPTER.train(model, windows(ids, starts).view(steps, 16, 65), lr=0.005)
    return model


def losses(steps: int | None) -> list[float]:
    """Losses on the test text: one for a table, five for a Transformer.

    steps: of training; of a table None, 0 or 1: by no, one, two characters.
    """
    ids, test, n_vocab = parts()
    if steps is None:
        return [math.log(n_vocab)]
    if steps == 0:
        counts = torch.bincount(ids, minlength=n_vocab) + 1.0
        return [-(counts / counts.sum()).log()[test].mean().item()]
    if steps == 1:
        counts = torch.bincount(ids[:-1] * n_vocab + ids[1:],
                                minlength=n_vocab**2) + 1.0
        counts = counts.view(n_vocab, n_vocab)
        p = counts / counts.sum(dim=1, keepdim=True)
        return [-p[test[:-1], test[1:]].log().mean().item()]
    return [CHAPTER.losses_at(trained(ids, steps, seed, CHAPTER.pre_norm),
                              tiles(test)).mean().item() for seed in range(5)]


def row(steps: int | None) -> list[float]:
    """Statistics of the losses, and the perplexity of their median."""
    values = losses(steps)
    return [median(values), min(values), max(values),
            math.exp(median(values))]


EXPERIMENT = Experiment(
    question="What does a small Transformer learn of Tiny Shakespeare?",
    columns=["predictor", "median", "lowest", "highest", "perplexity"],
    rows={"all characters alike": [None], "frequencies": [0], "pairs": [1],
          "Transformer, 300 steps": [300],
          "Transformer, 1000 steps": [1000],
          "Transformer, 2000 steps": [2000]},
    row=row, formats=["{:.2f}"] * 3 + ["{:.1f}"],
    quick="pairs", tolerance=0.05)
