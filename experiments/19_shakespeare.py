"""Does Tiny Shakespeare ask a small model for a memory?

Tokens are characters, the last tenth is the test text (200 windows of it). Two
blocks, width 64, four heads, windows of 128 characters, 8 in a batch, 200
steps of AdamW at 0.008 (40 warm-up steps, then cosine), float32,
torch.manual_seed(0) to (4). Models: chapter 19's, with d_ff 170, and chapter
13's, which has no convolution, with d_ff 176; of equal size within 1 %. The
window is attention in the same layer to eight characters, whose keys and
values are as many numbers as the state. Losses are nats per character of the
test text. The text comes from where chapter 14 takes it; without it (no file,
no network) nothing is computed.
"""

import math
from statistics import median

import torch
from torch import nn

from course.chapter import functions
from experiments.experiment import Experiment
from experiments.shakespeare import parts

CHAPTER = functions("19")


class WindowOfEight(CHAPTER.SoftmaxLayer):
    """Attention to the last eight characters."""

    window = 8


def loss(mixer: type[nn.Module] | None, seed: int) -> float:
    """Of a trained model on the test text."""
    ids, test, n_vocab = parts()
    torch.manual_seed(seed)
    model = (CHAPTER.Transformer(n_vocab, 64, d_ff=176) if mixer is None else
             CHAPTER.LanguageModel(mixer, n_vocab, 64, d_ff=170))
    generator = torch.Generator().manual_seed(seed)
    starts = torch.randint(len(ids) - 128, (200, 8), generator=generator)
    CHAPTER.train(model, CHAPTER.windows(ids, 128, starts), lr=0.008)
    starts = torch.linspace(0, len(test) - 129, 200).long()
    return CHAPTER.losses_at(
        model, CHAPTER.windows(test, 128, starts)).mean().item()


def row(mixer: type[nn.Module] | str | None) -> list[float]:
    """Lowest, median and highest loss, and the median's perplexity."""
    if mixer == "pairs":
        values = [CHAPTER.bigram_loss(*parts())]
    else:
        values = [loss(mixer, seed) for seed in range(5)]
    return [min(values), median(values), max(values),
            math.exp(median(values))]


EXPERIMENT = Experiment(
    question="Does Tiny Shakespeare ask a small model for a memory?",
    columns=["model", "lowest loss", "median", "highest", "perplexity"],
    rows={"table of pairs": ("pairs",),
          "no memory": (CHAPTER.NoMemory,),
          "window of eight": (WindowOfEight,),
          "sum": (CHAPTER.SumLayer,),
          "delta": (CHAPTER.DeltaLayer,),
          "gated delta": (CHAPTER.GatedDelta,),
          "attention, same layer": (CHAPTER.SoftmaxLayer,),
          "attention, chapter 13": (None,)},
    row=row, formats=["{:.2f}"] * 3 + ["{:.1f}"],
    quick="table of pairs", tolerance=0.03,
    holds={
        "without a memory it is better than with any": lambda table: all(
            table["no memory"][2] < table[name][0]
            for name in ("window of eight", "sum", "delta", "gated delta")),
        "who keeps more has the higher loss": lambda table: sorted(
            numbers[1] for name, numbers in table.items()
            if name not in ("table of pairs", "gated delta")) == [
            table[name][1] for name in (
                "no memory", "window of eight", "delta", "sum",
                "attention, same layer", "attention, chapter 13")],
        "delta is better than attention": lambda table: table["delta"][2]
            < min(table["attention, same layer"][0],
                  table["attention, chapter 13"][0])})
