"""What does dropout do on a short text?

The Transformer of 14_text.py, trained on the first 10,000 characters of Tiny
Shakespeare for 800 steps (more than 80 passes), without dropout and with
p = 0.2 on what each part adds. Seeds 0 to 4: the median loss on the training
text, and median, lowest and highest loss on the test text, all evaluated
without dropout. A single run takes longer than 5 s: the quick number is the
training loss of an untrained model, ln 65 but for its random start.
"""

from functools import cache
from statistics import median

from torch import nn

from experiments.experiment import Experiment, Statistic, load
from experiments.shakespeare import parts

TEXT = load("14_text")
CHAPTER = TEXT.CHAPTER
MEASURES: list[tuple[str, Statistic]] = [
    ("training", median), ("test", median), ("test", min), ("test", max)]


@cache
def models(p: float, steps: int) -> list[nn.Module]:
    """The five trained models."""
    ids, _, _ = parts()
    wire = CHAPTER.WithDropout(p) if p else CHAPTER.pre_norm
    return [TEXT.trained(ids[:10_000], steps, seed, wire)
            for seed in range(5)]


@cache
def losses(p: float, steps: int, which: str) -> list[float]:
    """The five losses on the "training" or the "test" text."""
    ids, test, _ = parts()
    pieces = TEXT.tiles(test if which == "test" else ids[:10_000])
    return [CHAPTER.losses_at(model, pieces).mean().item()
            for model in models(p, steps)]


def cell(p: float, steps: int, column: int) -> float:
    """A statistic of the losses on one of the texts."""
    which, statistic = MEASURES[column]
    return statistic(losses(p, steps, which))


EXPERIMENT = Experiment(
    question="What does dropout do on a short text?",
    columns=["dropout", "training loss", "test loss: median", "lowest",
             "highest"],
    rows={"untrained": [0, 0], "none": [0, 800], "p = 0.2": [0.2, 800]},
    cell=cell, formats=["{:.2f}"] * 4,
    quick="untrained", quick_column=0, tolerance=0.05)
