"""Does the divisor of the scores matter for training a look-up?

The task of chapter 08: four query words, she, he, it and there, look up one
noun each in a sentence of eight words. The word vectors are random and fixed
(width 64), the values are the word vectors, and W_Q and W_K are trained by
Adam for 500 steps on 100 sentences, from entries of variance 1/64. Per
number five seeds, 0 to 4: the median fraction of the look-ups in the other
1,196 sentences that come nearest to the right noun. Each column has its own
learning rate, because a divisor may also change the best learning rate. The
last two columns hold the lowest and the highest of a row's 20 runs. In the
last row W_Q and W_K start smaller, each divided by the fourth root of d_k.

Scores depend on the query word and the key word alone. So the scores of all
pairs of words are computed once a step, and each sentence takes its own.
"""

from functools import cache

import torch

from experiments.experiment import Experiment

RATES = 0.0003, 0.001, 0.003, 0.01
DIVISORS = {"over sqrt(d_k)": lambda d_k: d_k**0.5, "unscaled": lambda d_k: 1}
NOUNS = torch.arange(24).reshape(4, 6)              # four groups of six
ASK = torch.arange(24, 28)                          # she, he, it, there


def sentences() -> tuple[torch.Tensor, torch.Tensor]:
    """The nouns of all sentences (1296, 4), and their words (1296, 8)."""
    nouns = torch.cartesian_prod(*NOUNS)
    words = torch.tensor([0, 28, 0, 29, 0, 30, 0, 31]).repeat(1296, 1)
    words[:, ::2] = nouns
    return nouns, words


def start(d_k: int, seed: int,
          d_model: int = 64) -> tuple[torch.Tensor, ...]:
    """Order of the sentences, word vectors, W_Q and W_K of one seed."""
    g = torch.Generator().manual_seed(seed)
    return (torch.randperm(1296, generator=g),
            torch.randn(32, d_model, generator=g),
            *(torch.randn(2, d_model, d_k, generator=g) / d_model**0.5))


@cache
def right_answers(d_k: int, divisor: float, rate: float, smaller: float,
                  n_steps: int = 500) -> torch.Tensor:
    """Of each seed, 0 to 4: the fraction of right answers, (5,).

    smaller: by how much W_Q and W_K are divided before training.
    """
    order, E, W_Q, W_K = (torch.stack(parts) for parts in zip(
        *(start(d_k, seed) for seed in range(5)), strict=True))
    W_Q, W_K = ((W / smaller).requires_grad_() for W in (W_Q, W_K))
    nouns, words = (part[order] for part in sentences())    # (5, 1296, ...)
    seed = torch.arange(5)[:, None, None]
    optimizer = torch.optim.Adam([W_Q, W_K], rate)

    def answers(rows):
        scores = E[:, ASK] @ W_Q @ (E @ W_K).mT / divisor   # (5, 4, 32)
        of = words[:, rows, None].expand(-1, -1, 4, -1)     # (5, s, 4, 8)
        scores = scores[:, None].expand(-1, of.shape[1], -1, -1)
        scores = scores.gather(-1, of)              # those of each sentence
        return scores.softmax(dim=-1) @ E[seed, words[:, rows]]

    train, test = slice(100), slice(100, None)
    for _ in range(n_steps):
        loss = (answers(train) - E[seed, nouns[:, train]]).square().mean(
            dim=(1, 2, 3)).sum()                    # the seeds do not mix
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        Y = answers(test)                           # (5, 1196, 4, d_model)
        far = E.square().sum(-1)[:, None, None] - 2 * Y @ E.mT[:, None]
    right = far.argmin(dim=-1) == nouns[:, test]
    return right.double().mean(dim=(1, 2))


def cell(d_k: int, divisor: float, smaller: float, column: int) -> float:
    """The median at a rate; the lowest, the highest run at any."""
    if column < len(RATES):
        return right_answers(d_k, divisor, RATES[column],
                             smaller).median().item()
    runs = torch.cat([right_answers(d_k, divisor, rate, smaller)
                      for rate in RATES])
    return runs.min().item() if column == len(RATES) else runs.max().item()


EXPERIMENT = Experiment(
    question="Does the divisor of the scores matter for training a look-up?",
    columns=["scores", "rate 0.0003", "0.001", "0.003", "0.01", "lowest run",
             "highest run"],
    rows={f"{name}, d_k = {d_k}": (d_k, divisor(d_k), 1)
          for d_k in (16, 64, 256) for name, divisor in DIVISORS.items()}
    | {"unscaled, d_k = 256, start / 4": (256, 1, 4)},
    cell=cell, formats=["{:.0%}"] * 6,
    quick="unscaled, d_k = 64", quick_column=2, tolerance=0.15)
