"""What do small fast-weight models learn of Tiny Shakespeare?

Tokens are characters, the last tenth is the test text (200 windows of it). Two
blocks, width 64, four heads, windows of 128 characters, 8 in a batch, AdamW at
0.008 (40 warm-up steps, then cosine), float32, torch.manual_seed(0) to (4);
d_ff is 256, in the modern layers 216, for equal size within 1 %. Losses are
nats per character of the test text. The text comes from where chapter 14 takes
it; without it (no file, no network) nothing is computed.
"""

import math
from statistics import median

import torch
from torch import nn

from course.chapter import functions
from experiments.experiment import Experiment
from experiments.shakespeare import parts

CHAPTER = functions("19")


def loss(mixer: type[nn.Module], d_ff: int, steps: int, seed: int) -> float:
    """Of a trained model on the test text."""
    ids, test, n_vocab = parts()
    torch.manual_seed(seed)
    model = CHAPTER.LanguageModel(mixer, n_vocab, d_ff=d_ff)
    generator = torch.Generator().manual_seed(seed)
    starts = torch.randint(len(ids) - 128, (steps, 8), generator=generator)
    CHAPTER.train(model, CHAPTER.windows(ids, 128, starts), lr=0.008)
    starts = torch.linspace(0, len(test) - 129, 200).long()
    with torch.no_grad():
        return CHAPTER.losses_at(
            model, CHAPTER.windows(test, 128, starts)).mean().item()


def losses(mixer: type[nn.Module] | None, d_ff: int,
           steps: int) -> list[float]:
    """Of seeds 0 to 4; without a mixer, the one of the table of pairs."""
    if mixer is None:
        return [CHAPTER.bigram_loss(*parts())]
    return [loss(mixer, d_ff, steps, seed) for seed in range(5)]


def row(mixer: type[nn.Module] | None, d_ff: int, steps: int) -> list[float]:
    """Statistics of the losses, and the perplexity of their median."""
    values = losses(mixer, d_ff, steps)
    return [median(values), min(values), max(values),
            math.exp(median(values))]


EXPERIMENT = Experiment(
    question="What do small fast-weight models learn of Tiny Shakespeare?",
    columns=["model", "median", "lowest", "highest", "perplexity"],
    rows={"table of pairs": (None, 0, 0),
          "delta, 2021": (CHAPTER.DeltaAttention, 256, 200),
          "modern delta": (CHAPTER.ModernDelta, 216, 200),
          "modern delta, forget gate": (CHAPTER.GatedDelta, 216, 200),
          "softmax, no positions": (CHAPTER.NoPositions, 256, 200),
          "softmax": (CHAPTER.SoftmaxAttention, 256, 200),
          "softmax, 400 steps": (CHAPTER.SoftmaxAttention, 256, 400)},
    row=row, formats=["{:.2f}"] * 3 + ["{:.1f}"],
    quick="table of pairs", tolerance=0.03)
