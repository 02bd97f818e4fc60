"""What does a small Transformer learn of Tiny Shakespeare?

Tokens are characters, the last tenth is the test text. The Transformer of
chapter 13 has two blocks, width 64, four heads, d_ff 172 and sees 64
characters; batches of 16 random windows, AdamW at 0.005, in float32,
torch.manual_seed(0) to (4). Losses are nats per character of the test text:
median, lowest and highest of the five, and the perplexity of the median. The
text comes from where chapter 14 takes it; without it (no file, no network)
nothing is computed.

    python -m experiments.14_text       prints what seed 0 writes on the way
"""

import math
import sys
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

import torch  # noqa: E402
from torch import nn  # noqa: E402

from course.chapter import functions  # noqa: E402
from experiments.experiment import Experiment  # noqa: E402
from experiments.shakespeare import parts  # noqa: E402

CHAPTER = functions("14")


def windows(ids: torch.Tensor, starts: torch.Tensor,
            n: int = 64) -> torch.Tensor:
    """Pieces of n + 1 tokens: (len(starts), n + 1)."""
    return ids[starts[:, None] + torch.arange(n + 1)]


def tiles(ids: torch.Tensor, n: int = 64) -> torch.Tensor:
    """Windows one behind the other: each token but the first is a target."""
    return windows(ids, torch.arange(0, len(ids) - n, n))


def trained(ids: torch.Tensor, steps: int, seed: int) -> nn.Module:
    """The model after so many batches of windows from ids."""
    torch.manual_seed(seed)
    model = CHAPTER.Transformer(n_vocab=parts()[2], d_model=64, d_ff=172)
    generator = torch.Generator().manual_seed(seed)
    starts = torch.randint(len(ids) - 64, (steps * 16,), generator=generator)
    if steps:
        CHAPTER.train(model, windows(ids, starts).view(steps, 16, 65),
                      lr=0.005)
    return model


@torch.no_grad()
def written(model: nn.Module, first: str, n: int = 120) -> str:
    """What the model draws behind some characters."""
    letters = sorted(set(CHAPTER.course_text()[0]))
    ids = torch.tensor([[letters.index(letter) for letter in first]])
    generator = torch.Generator().manual_seed(0)
    for _ in range(n):
        p = model(ids[:, -64:])[:, -1].softmax(dim=-1)
        ids = torch.cat([ids, torch.multinomial(p, 1, generator=generator)],
                        dim=1)
    return "".join(letters[i] for i in ids[0])


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
    return [CHAPTER.losses_at(trained(ids, steps, seed), tiles(test)
                              ).mean().item() for seed in range(5)]


def row(steps: int | None) -> list[float]:
    """Statistics of the losses, and the perplexity of their median."""
    values = losses(steps)
    return [median(values), min(values), max(values),
            math.exp(median(values))]


EXPERIMENT = Experiment(
    question="What does a small Transformer learn of Tiny Shakespeare?",
    columns=["predictor", "median", "lowest", "highest", "perplexity"],
    rows={"all characters alike": [None], "frequencies": [0], "pairs": [1],
          "Transformer, 200 steps": [200],
          "Transformer, 2000 steps": [2000]},
    row=row, formats=["{:.2f}"] * 3 + ["{:.1f}"],
    quick="pairs", tolerance=0.05)

if __name__ == "__main__":
    for steps in (0, 200, 2000):
        print(steps, repr(written(trained(parts()[0], steps, 0), "ROMEO:")))
