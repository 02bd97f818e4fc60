"""Does the divisor of the scores matter for training a look-up?

The task of chapter 08: in 432 sentences like "Anna gave Tom a kite he thanked
her for it", three pronouns look up their nouns by self-attention. The word
vectors are random and fixed (width 64). W_Q and W_K are trained by Adam for
300 steps on 100 sentences, from entries of variance 1/64; W_V is the identity,
or learns too. Per number five seeds, 0 to 4: the median fraction of answers in
the other 332 sentences that come nearest to the right noun. Each column has
its own learning rate, because a divisor may also change the best one. Then the
lowest and the highest of a row's 20 runs, and the median at rate 0.003 in the
100 training sentences: who fails in training has not failed to generalize.

Rows with a smaller start divide W_Q and W_K by the fourth root of d_k before
training, so scores start as with the divisor. Weight decay is AdamW's.

Words have no positions, so queries, keys and values are made once a word. What
a run without the root learns depends on rounding; other processors differ.
"""

from functools import cache

import torch

from course.chapter import chapter
from experiments.experiment import Experiment

RATES = 0.0003, 0.001, 0.003, 0.01
TEXT: dict = {"torch": torch}
exec(chapter("08").cell("sentences").source, TEXT)
ASKS, NOUNS = TEXT["ASKS"], TEXT["NOUNS"]


def start(d_k: int, seed: int) -> tuple[torch.Tensor, ...]:
    """Sentences in the order of one seed, word vectors, W_Q, W_K and W_V."""
    g = torch.Generator().manual_seed(seed)
    words = TEXT["sentences"][torch.randperm(432, generator=g)]
    E = torch.randn(27, 64, generator=g)
    W_Q, W_K = torch.randn(2, 64, d_k, generator=g) / 8
    return words, E, W_Q, W_K, torch.randn(64, 64, generator=g) / 8


def look(E: torch.Tensor, W: list[torch.Tensor], divisor: float,
         rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Answers and weights of the pronouns in rows (5, s, 10), by seed."""
    seed = torch.arange(5)[:, None, None, None]
    pairs = E @ W[0] @ (E @ W[1]).mT / divisor          # (5, 27, 27)
    S = pairs[seed, rows[:, :, ASKS, None], rows[:, :, None]]
    A = S.softmax(dim=-1)                               # (5, s, 3, 10)
    return A @ (E @ W[2])[seed[..., 0], rows], A


def are_right(E: torch.Tensor, W: list[torch.Tensor], divisor: float,
              rows: torch.Tensor) -> torch.Tensor:
    """Which answers are nearest to the right noun's vector, (5, s, 3)."""
    Y, _ = look(E, W, divisor, rows)
    nearest = torch.cdist(Y.flatten(1, 2), E).argmin(dim=-1)
    return nearest.view(Y.shape[:-1]) == rows[:, :, NOUNS]


def trained(d_k: int, divisor: float, smaller: float, n_learned: int,
            n_steps: int, decay: float, rate: float, first: int = 0
            ) -> tuple[torch.Tensor, torch.Tensor, list[torch.Tensor]]:
    """Sentences, word vectors and matrices of five seeds, from `first` on.

    smaller: by how much W_Q and W_K are divided before training. n_learned:
    2, W_V is the identity, or 3.
    """
    words, E, *W = (torch.stack(parts) for parts in zip(
        *(start(d_k, first + seed) for seed in range(5)), strict=True))
    W[:2] = [matrix / smaller for matrix in W[:2]]
    if n_learned == 2:
        W[2] = torch.eye(64)
    optimizer = torch.optim.AdamW(
        [matrix.requires_grad_() for matrix in W[:n_learned]], rate,
        weight_decay=decay)
    train = words[:, :100]
    target = E[torch.arange(5)[:, None, None], train[:, :, NOUNS]]
    for _ in range(n_steps):
        loss = (look(E, W, divisor, train)[0] - target).square().mean(
            dim=(1, 2, 3)).sum()                        # the seeds do not mix
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return words, E, [matrix.detach() for matrix in W]


@cache
def right_answers(d_k: int, divisor: float, *setting: float) -> torch.Tensor:
    """Of seeds 0 to 4: fractions right in training and in the test, (2, 5)."""
    words, E, W = trained(d_k, divisor, *setting)
    right = are_right(E, W, divisor, words).double()    # (5, 432, 3)
    return torch.stack([right[:, :100].mean(dim=(1, 2)),
                        right[:, 100:].mean(dim=(1, 2))])


def cell(d_k: int, divisor: float, smaller: float, n_learned: int,
         n_steps: int, decay: float, column: int) -> float:
    """The median at a rate; the lowest, the highest run; in training."""
    runs = [right_answers(d_k, divisor, smaller, n_learned, n_steps, decay,
                          rate) for rate in (
        RATES if column in (4, 5) else [RATES[column]] if column < 4
        else [0.003])]
    if column == 4:
        return min(run[1].min().item() for run in runs)
    if column == 5:
        return max(run[1].max().item() for run in runs)
    return runs[0][0 if column == 6 else 1].median().item()


ROWS = {f"{name}, d_k = {d_k}": (d_k, divisor, 1, 2, 300, 0)
        for d_k in (16, 64, 256) for name, divisor in (
            ("over sqrt(d_k)", d_k**0.5), ("unscaled", 1))} | {
    "unscaled, d_k = 64, smaller start": (64, 1, 64**0.25, 2, 300, 0),
    "unscaled, d_k = 256, smaller start": (256, 1, 4, 2, 300, 0),
    "unscaled, d_k = 64, 3,000 steps": (64, 1, 1, 2, 3000, 0),
    "the same, weight decay 1": (64, 1, 1, 2, 3000, 1),
    "W_V learns, over sqrt(d_k), d_k = 64": (64, 8, 1, 3, 300, 0),
    "W_V learns, unscaled, d_k = 64": (64, 1, 1, 3, 300, 0)}
CHAOTIC = [label for label in ROWS if "unscaled" in label
           and "smaller" not in label] + ["the same, weight decay 1"]

EXPERIMENT = Experiment(
    question="Does the divisor of the scores matter for training a look-up?",
    columns=["scores", "rate 0.0003", "0.001", "0.003", "0.01", "lowest run",
             "highest run", "in training, 0.003"],
    rows=ROWS, cell=cell, formats=["{:.0%}"] * 7,
    quick="over sqrt(d_k), d_k = 64", quick_column=2, tolerance=0.1,
    tolerances=dict.fromkeys(CHAOTIC, 3.0),
    holds={
        "with the root all learn at 64": lambda rows: min(
            rows["over sqrt(d_k), d_k = 64"]) == 100,
        "without it none, and training is as bad": lambda rows: (
            (row := rows["unscaled, d_k = 64"])[5] < 100
            and abs(row[2] - row[6]) < 10),
        "a smaller start learns": lambda rows: (
            rows["unscaled, d_k = 64, smaller start"][2] == 100),
        "3,000 steps do not cure it": lambda rows: (
            rows["unscaled, d_k = 64, 3,000 steps"][5] < 100),
        "weight decay does": lambda rows: min(
            rows["the same, weight decay 1"][:4]) == 100})
