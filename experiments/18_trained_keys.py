"""Does the series for the inverse fail on the keys of a trained model?

A small language model of characters: two blocks, width 64, each an RMSNorm with
chapter 18's ChunkwiseDeltaRule (four heads, chunks of 32) and an RMSNorm with a
SwiGLU network of 172 units. It is trained on Tiny Shakespeare for 400 steps of
AdamW, 8 windows of 128 characters a step, from the rate 0.003 down to 0 by a
cosine, after 40 steps of warm-up. Then 10 windows of the test text give 80
chunks of 64 and 80 of 128 (four heads, two blocks). Of each we compute the
corrections from an empty state by the series (18.8) in float32. They count as
wrong if their largest error is above the largest correction. A row raises
AssertionError if forward substitution in float32 has an error above 1e-5 on one
of the chunks of 128, or if a trained model has fewer than half of them wrong,
under 6 or over 11 per cent of pairs of keys with a cosine above 0.9, or a mean
beta that is not 0.65 to 0.75 (before training: 0.48 to 0.52). All numbers but
the cosine are per cent of the chunks. "random" has as many chunks, of random
keys of length 1 and width 16 and beta between 0 and 1. Cosines are those of all
pairs of keys in a chunk of 128. Medians of seeds 0 to 4.
"""

import math
from statistics import median

import torch
from torch import nn
from torch.nn import functional as F

from course.chapter import functions
from experiments.experiment import Experiment
from experiments.shakespeare import parts

CHAPTER = functions("18")
Tensor = torch.Tensor
WINDOWS, HEADS, LENGTH = 10, 4, 128


class Block(nn.Module):
    """Pre-norm: the delta rule, then SwiGLU."""

    def __init__(self) -> None:
        super().__init__()
        self.norm_1, self.norm_2 = nn.RMSNorm(64), nn.RMSNorm(64)
        self.memory = CHAPTER.ChunkwiseDeltaRule(64, HEADS, chunk=32)
        self.up = nn.Linear(64, 2 * 172, bias=False)
        self.down = nn.Linear(172, 64, bias=False)

    def forward(self, X: Tensor) -> Tensor:
        X = X + self.memory(self.norm_1(X))[0]
        gate, up = self.up(self.norm_2(X)).chunk(2, dim=-1)
        return X + self.down(F.silu(gate) * up)


def trained(seed: int, steps: int) -> nn.Module:
    """A model after so many steps."""
    ids, _, n_vocab = parts()
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Embedding(n_vocab, 64), Block(), Block(),
                          nn.RMSNorm(64), nn.Linear(64, n_vocab))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.003)
    for step in range(steps):
        warm, late = (step + 1) / 40, max(step - 40, 0) / (steps - 40)
        for group in optimizer.param_groups:
            group["lr"] = 0.003 * min(warm, (1 + math.cos(math.pi * late)) / 2)
        starts = torch.randint(len(ids) - LENGTH, (8,))
        window = ids[starts[:, None] + torch.arange(LENGTH + 1)]
        loss = F.cross_entropy(model(window[:, :-1]).flatten(0, 1),
                               window[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model


@torch.no_grad()
def chunks_of(model: nn.Module) -> list[Tensor]:
    """K, V (chunks, 128, 16) and beta (chunks, 128, 1) of test windows."""
    _, test, _ = parts()
    starts = torch.linspace(0, len(test) - LENGTH - 1, WINDOWS).long()
    X, found = test[starts[:, None] + torch.arange(LENGTH)], []
    for part in model:
        if isinstance(part, Block):
            layer, Z = part.memory, part.norm_1(X)
            _, K, V = (layer.qkv(Z).unflatten(-1, (3, HEADS, -1))
                       .permute(2, 0, 3, 1, 4))     # (windows, heads, n, d)
            found.append([F.normalize(layer.phi(K), dim=-1).flatten(0, 1),
                          V.flatten(0, 1), layer.beta(Z).sigmoid().mT
                          .flatten(0, 1)[..., None]])
        X = part(X)
    return [torch.cat(several) for several in zip(*found, strict=True)]


def random_chunks(seed: int) -> list[Tensor]:
    """As many chunks, drawn."""
    torch.manual_seed(seed)
    K, V = torch.randn(2, 2 * WINDOWS * HEADS, LENGTH, 16)
    return [F.normalize(K, dim=-1), V, torch.rand(*V.shape[:2], 1)]


def share(which: Tensor) -> float:
    """Per cent of the chunks that are true."""
    return 100 * which.double().mean().item()


def failures(K: Tensor, V: Tensor, beta: Tensor,
             C: int) -> tuple[float, float]:
    """Shares of chunks of C: the series is wrong, the solver is off."""
    K, V, beta = (X[:, :C].double() for X in (K, V, beta))
    A = (beta * (K @ K.mT)).tril(-1)
    how = {"upper": False, "unitriangular": True}   # solve with I + A
    R, series = beta * V, CHAPTER.inverse_by_series
    want = torch.linalg.solve_triangular(A, R, **how)
    off = [((got.double() - want).abs().amax((-1, -2))
            / want.abs().amax((-1, -2))) for got in (
        series(A.float()) @ R.float(),
        torch.linalg.solve_triangular(A.float(), R.float(), **how))]
    return share(~(off[0] <= 1)), share(~(off[1] <= 1e-5))


def row(steps: int | None) -> list[float]:
    """Cosine; wrong at 64; wrong at 128."""
    values = []
    for seed in range(5):
        K, V, beta = (random_chunks(seed) if steps is None
                      else chunks_of(trained(seed, steps)))
        cosines = (K @ K.mT)[:, *torch.tril_indices(LENGTH, LENGTH, -1)]
        (short, _), (wrong, off) = (failures(K, V, beta, C) for C in (64, 128))
        alike, strength = share(cosines > 0.9), beta.mean().item()
        assert off == 0, "the solver is off"
        if steps:
            assert wrong >= 50 and 6 < alike < 11 and 0.65 < strength < 0.75
        elif steps == 0:
            assert 0.48 < strength < 0.52
        values.append([cosines.mean().item(), short, wrong])
    cosine, short, wrong = (median(numbers) for numbers
                            in zip(*values, strict=True))
    return [round(cosine, 2) + 0.0, short, wrong]


EXPERIMENT = Experiment(
    question="Does the series for the inverse fail on the keys of a trained "
             "model?",
    columns=["keys", "mean cosine", "wrong, chunks of 64",
             "wrong, chunks of 128"],
    rows={"random": (None,), "before training": (0,),
          "after 400 steps": (400,)},
    row=row, formats=["{:.2f}"] + ["{:.0f}"] * 2,
    quick="random", tolerance=0.3)
