"""Does training find keys that make a memory answer right?

A story says where people are: n names out of 64, each with one of 64 places.
Then it asks for each name, and an answer is right if its place has the largest
logit. Tables give each name a query and a key of 16 numbers, and each place a
value of 16 numbers; a matrix makes logits of an answer. They are trained by
500 steps of Adam, 32 new stories a step, from the rate 0.03 down to 0. What
differs is how the weights of the values come from queries and keys. In the rows
of random keys a name's key stays as it was drawn and is its query, too. Per
cent of right answers in 500 new stories, the median of seeds 0 to 4.
"""

import statistics
from collections.abc import Callable

import torch
from torch.nn import functional as F

from experiments.experiment import Experiment

Weights = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
NAMES, PLACES, WIDTH = 64, 64, 16
FACTS = 8, 16, 32


def elu_plus_one(Q: torch.Tensor, K: torch.Tensor) -> torch.Tensor:
    """Dot products of features that are all positive."""
    return (F.elu(Q) + 1) @ (F.elu(K) + 1).mT


def plain(Q: torch.Tensor, K: torch.Tensor) -> torch.Tensor:
    """Dot products of the keys as they are."""
    return Q @ K.mT


def squares(Q: torch.Tensor, K: torch.Tensor) -> torch.Tensor:
    """Squared dot products: 136 features."""
    return (Q @ K.mT) ** 2


def divided(weights: Weights) -> Weights:
    """Weights that sum to 1, by the normalizer z."""
    def shares(Q: torch.Tensor, K: torch.Tensor) -> torch.Tensor:
        A = weights(Q, K)
        return A / A.sum(dim=-1, keepdim=True)
    return shares


def softmax(Q: torch.Tensor, K: torch.Tensor) -> torch.Tensor:
    """Attention: a cache, no memory of fixed size."""
    return F.softmax(Q @ K.mT / WIDTH**0.5, dim=-1)


def normed(Y: torch.Tensor) -> torch.Tensor:
    """RMSNorm without a gain."""
    return F.rms_norm(Y, Y.shape[-1:], eps=1e-6)


ROWS: dict[str, tuple] = {
    "softmax and a cache": (softmax, torch.nn.Identity()),
    "keys as they are, then a norm": (plain, normed),
    "the same, random keys": (plain, normed, False),
    "elu + 1, divided": (divided(elu_plus_one), torch.nn.Identity()),
    "elu + 1, divided, random keys": (
        divided(elu_plus_one), torch.nn.Identity(), False),
    "elu + 1, then a norm": (elu_plus_one, normed),
    "squares, divided": (divided(squares), torch.nn.Identity())}


def right(weights: Weights, behind: Callable, n: int, seed: int,
          keys_too: bool = True, steps: int = 500) -> float:
    """Per cent of right answers after training."""
    draw = torch.Generator().manual_seed(seed)
    tables = [torch.randn(rows, WIDTH, generator=draw)
              for rows in (NAMES, NAMES, PLACES)]
    tables.append(torch.randn(WIDTH, PLACES, generator=draw) / WIDTH**0.5)
    Q, K, V, out = tables if keys_too else [tables[1], *tables[1:]]
    trained = tables if keys_too else tables[2:]
    optimizer = torch.optim.Adam(
        [table.requires_grad_() for table in trained], 0.03)
    decay = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: 1 - step / steps)

    def stories(number: int) -> tuple[torch.Tensor, torch.Tensor]:
        who = torch.rand(number, NAMES, generator=draw).argsort(1)[:, :n]
        return who, torch.randint(PLACES, (number, n), generator=draw)

    def logits(who: torch.Tensor, where: torch.Tensor) -> torch.Tensor:
        return behind(weights(Q[who], K[who]) @ V[where]) @ out

    for _ in range(steps):
        who, where = stories(32)
        loss = F.cross_entropy(logits(who, where).flatten(0, 1),
                               where.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        decay.step()
    with torch.no_grad():
        who, where = stories(500)
        hits = logits(who, where).argmax(dim=-1) == where
    return 100 * hits.float().mean().item()


def cell(weights: Weights, behind: Callable, *rest: int) -> float:
    """The median of five seeds."""
    *keys_too, column = rest
    return statistics.median(right(weights, behind, FACTS[column], seed,
                                   *map(bool, keys_too)) for seed in range(5))


EXPERIMENT = Experiment(
    question="Does training find keys that make a memory answer right?",
    columns=["% right", *(f"{n} facts" for n in FACTS)],
    rows=ROWS, cell=cell, formats=["{:.0f}"] * 3,
    quick="keys as they are, then a norm", quick_column=0, tolerance=0.05,
    holds={
        "a cache answers all": lambda t: min(
            t["softmax and a cache"]) > 99,
        "so do squares": lambda t: min(t["squares, divided"]) > 99,
        "more than elu + 1": lambda t: all(
            plain > flat + 1 for plain, flat in zip(
                t["keys as they are, then a norm"], t["elu + 1, divided"],
                strict=True)),
        "the norm replaces the division": lambda t: all(
            abs(one - two) < 3 for one, two in zip(
                t["elu + 1, then a norm"], t["elu + 1, divided"],
                strict=True)),
        "training helps, most after elu + 1": lambda t: all(
            flat - flat_0 > plain - plain_0 > 0
            for plain, plain_0, flat, flat_0 in zip(
                t["keys as they are, then a norm"],
                t["the same, random keys"], t["elu + 1, divided"],
                t["elu + 1, divided, random keys"], strict=True)),
        "32 facts are too many for 16 columns": lambda t: max(
            t["keys as they are, then a norm"][2],
            t["elu + 1, divided"][2]) < 90})
