"""Trained memories: stories of pairs, three rules, and their training.

A story is a list of keys, a list of values, and for each key its newest
value, of `n` keys and `n` one-hot values; there are B stories. In task 1 each
key occurs once. Tables are rows of 16 numbers, for queries, keys and values,
and two numbers that make the write strength.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from course.chapter import functions

torch_dpfp = functions("17").torch_dpfp
Tables = list[Tensor]
Features = Callable[[Tensor], Tensor]


def feature_map(nu: int) -> Features:
    """elu + 1 for nu = 0, else DPFP-nu. -> a function of keys (..., d_k)."""
    return (lambda X: torch_dpfp(X, nu)) if nu else (lambda X: F.elu(X) + 1)


def pairs_once(B: int, n: int, generator: torch.Generator
               ) -> tuple[Tensor, Tensor, Tensor]:
    """Task 1. -> keys, values (B, n), and the value to answer: (B, n)."""
    values = torch.rand(B, n, generator=generator).argsort(dim=-1)
    return torch.arange(n).expand(B, -1), values, values


def stories(B: int, n: int, generator: torch.Generator, length: int = 2
            ) -> tuple[Tensor, Tensor, Tensor]:
    """Task 2: length * n pairs. -> keys, values, newest value (-1: none)."""
    keys, values = torch.randint(n, (2, B, length * n), generator=generator)
    clock = torch.arange(1, 1 + keys.shape[1])[:, None]
    newest = (F.one_hot(keys, n) * clock).amax(dim=1)       # (B, n), 0: never
    last = values.gather(1, (newest - 1).clamp(min=0))
    return keys, values, last.masked_fill(newest == 0, -1)


def softmax_answers(tables: Tables, keys: Tensor, values: Tensor,
                    phi: Features | None) -> Tensor:
    """Softmax attention: no state, no phi. -> (B, n, n)."""
    E_Q, E_K, E_V, *_ = tables
    K, V = E_K[keys] + E_V[values], torch.eye(len(E_Q))[values]
    return (E_Q @ K.mT / E_Q.shape[-1] ** 0.5).softmax(dim=-1) @ V


def sum_answers(tables: Tables, keys: Tensor, values: Tensor,
                phi: Features) -> Tensor:
    """The normalized sum of all pairs, read by each key. -> (B, n, n)."""
    E_Q, E_K, E_V, *_ = tables
    similar = phi(E_Q) @ phi(E_K[keys] + E_V[values]).mT    # (B, n, L)
    V = torch.eye(len(E_Q), dtype=E_Q.dtype)[values]        # (B, L, n)
    return similar @ V / (similar.sum(dim=-1, keepdim=True) + 1e-6)


def delta_answers(tables: Tables, keys: Tensor, values: Tensor,
                  phi: Features) -> Tensor:
    """The delta rule after the last write, read by each key. -> (B, n, n)."""
    E_Q, E_K, E_V, b_K, b_V = tables
    Q, K = (P / (P.sum(dim=-1, keepdim=True) + 1e-6)
            for P in (phi(E_Q), phi(E_K[keys] + E_V[values])))
    beta = torch.sigmoid(b_K[keys] + b_V[values])[..., None]
    V = torch.eye(len(E_Q), dtype=E_Q.dtype)[values]
    D = torch.linalg.solve_triangular((beta * (K @ K.mT)).tril(-1), beta * V,
                                      upper=False, unitriangular=True)
    return Q @ K.mT @ D


def newest_loss(answers: Tensor, last: Tensor) -> Tensor:
    """Half the squared error against the newest value of each written key."""
    there = last >= 0
    wanted = torch.eye(last.shape[-1])[last[there]]
    return 0.5 * (answers[there] - wanted).square().sum(dim=-1).mean()


def averaging_bound(keys: Tensor, values: Tensor, last: Tensor) -> float:
    """(17.12), as a mean over the written keys."""
    who, what = (F.one_hot(a, last.shape[-1]).float() for a in (keys, values))
    f = F.normalize((who.mT @ what)[last >= 0], p=1, dim=-1)
    return 0.5 * (1 - f.square().sum(dim=-1)).mean().item()


def train_memory(rule: Callable, phi: Features | None, draw: Callable, n: int,
                 seed: int, steps: int = 400, lr: float = 0.15) -> Tables:
    """Train all rows by Adam. -> tables: query, key, value, two of beta."""
    generator = torch.Generator().manual_seed(seed)
    E_Q, E_K, E_V = torch.randn(3, n, 16, generator=generator)      # (n, 16)
    tables = [E_Q.clone(), E_K.clone(), 0.5 * E_V, *torch.zeros(2, n)]
    tables = [row.clone().requires_grad_() for row in tables]
    adam = torch.optim.Adam(tables, lr)
    for step in range(steps):
        adam.param_groups[0]["lr"] = lr * min(1, 2 - 2 * step / steps)
        *story, last = draw(2, n, generator)
        loss = newest_loss(rule(tables, *story, phi), last)
        adam.zero_grad()
        loss.backward()
        adam.step()
    return [row.detach() for row in tables]
