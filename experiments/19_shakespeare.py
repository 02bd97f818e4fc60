"""Does Tiny Shakespeare ask a small model for a memory?

Tokens are characters, the last tenth is the test text (200 windows of it). Two
blocks, width 64, four heads, windows of 128 characters, 8 in a batch, 200
steps of AdamW at 0.008 (40 warm-up steps, then cosine), float32,
torch.manual_seed(0) to (4). Models: chapter 19's, with d_ff 170, and chapter
13's, which has no convolution, with d_ff 176; of equal size within 1 %. The
window is attention in the same layer to eight characters, whose keys and
values are as many numbers as the state. "Own value": what is read plus the
token's own value, times beta, before the output norm. Losses are nats per
character of the test text. The text comes from where chapter 14 takes it;
without it (no file, no network) nothing is computed.
"""

from statistics import median
from typing import Any

import torch
from torch import Tensor, nn

from course.chapter import functions
from experiments.experiment import Experiment
from experiments.shakespeare import parts

CHAPTER = functions("19")


class WindowOfEight(CHAPTER.SoftmaxLayer):
    """Attention to the last eight characters."""

    window = 8


def and_own_value(layer: type[nn.Module]) -> type[nn.Module]:
    """The layer, which also hands each token its own value, times beta."""
    class AndOwnValue(layer):           # type: ignore[valid-type,misc]
        """Its rule, and beside it the own value."""

        def rule(self, X: Tensor, Q: Tensor, K: Tensor, V: Tensor,
                 state: Any) -> tuple[Tensor, Any]:
            """Write, read, add."""
            Y, state = super().rule(X, Q, K, V, state)
            own: Tensor = self.to_beta(X).sigmoid().mT[..., None] * V
            return Y + own, state
    return AndOwnValue


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
    """Median, lowest and highest loss."""
    if mixer == "pairs":
        values = [CHAPTER.bigram_loss(*parts())]
    else:
        values = [loss(mixer, seed) for seed in range(5)]
    return [median(values), min(values), max(values)]


EXPERIMENT = Experiment(
    question="Does Tiny Shakespeare ask a small model for a memory?",
    columns=["model", "median", "lowest", "highest"],
    rows={"table of pairs": ("pairs",),
          "attention, chapter 13": (None,),
          "attention, same layer": (CHAPTER.SoftmaxLayer,),
          "attention, own value": (and_own_value(CHAPTER.SoftmaxLayer),),
          "sum": (CHAPTER.SumLayer,),
          "delta": (CHAPTER.DeltaLayer,),
          "delta, own value": (and_own_value(CHAPTER.DeltaLayer),),
          "gated delta": (CHAPTER.GatedDelta,),
          "window of eight": (WindowOfEight,),
          "no memory": (CHAPTER.NoMemory,)},
    row=row, formats=["{:.2f}"] * 3, quick="table of pairs", tolerance=0.03,
    holds={
        "without a memory it is better than with one alone": lambda table: all(
            table["no memory"][2] < table[name][1] for name in (
                "window of eight", "sum", "delta", "gated delta",
                "attention, same layer", "attention, chapter 13")),
        "the own value closes half of delta's lag": lambda table: 0.35 < (
            table["delta"][0] - table["delta, own value"][0]) / (
            table["delta"][0] - table["no memory"][0]) < 0.7,
        "and nearly all of attention's": lambda table:
            table["attention, own value"][0] < table["no memory"][0] + 0.03
            < table["attention, same layer"][1] - 0.05,
        "delta is better than attention": lambda table: table["delta"][2]
            < min(table["attention, same layer"][1],
                  table["attention, chapter 13"][1])})
