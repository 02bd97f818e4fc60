"""How many pairs does a state of constant size recall?

Multi-query associative recall: n pairs of one of 64 keys, all different, and
one of 64 values, then the n keys in another order, each to be followed by its
value. Models: chapter 19's ModernDelta in one block of width 64, d_ff 128, and
the same with another rule. Training: 500 steps of AdamW at 0.01 (40 warm-up,
then cosine), 32 texts each, of 4, 8, 16, 32 pairs in turn, in float32,
torch.manual_seed(0) to (4). Share of wrong values in 64 texts: median and
highest of five seeds. "random keys": no training, keys of length 1, values
one-hot, beta = 1, five times 64 texts.
"""

from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from course.chapter import functions
from experiments.experiment import Experiment

CHAPTER = functions("19")
ModernDelta: Any = CHAPTER.ModernDelta
PAIRS = 8, 16, 32, 64
Tensor = torch.Tensor


class Softmax(ModernDelta):
    """Attention by 16 times the cosine, over all tokens so far."""

    def rule(self, X, Q, K, V, state):
        return F.scaled_dot_product_attention(Q, K, V, is_causal=True,
                                              scale=16.0), None


class Sum(ModernDelta):
    """The sum rule: what was written is never corrected."""

    def rule(self, X, Q, K, V, state):
        return (Q @ K.mT).tril() @ V, None


def recall_task(n: int, B: int,
                generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """B texts of n pairs and n queries. -> ids (B, 3 n), answers (B, n)."""
    keys = torch.rand(B, 64, generator=generator).argsort(dim=-1)[:, :n]
    values = 64 + torch.randint(64, (B, n), generator=generator)
    order = torch.rand(B, n, generator=generator).argsort(dim=-1)
    pairs = torch.stack([keys, values], dim=-1).flatten(1)      # (B, 2 n)
    queries = keys.gather(1, order)                             # (B, n)
    return torch.cat([pairs, queries], dim=1), values.gather(1, order)


def answers(model: nn.Module, ids: Tensor, n: int) -> Tensor:
    """Logits after each query: (B, n, n_vocab)."""
    return model(ids)[:, 2 * n:]


def trained(mixer: type[nn.Module], h: int, seed: int,
            steps: int = 500) -> nn.Module:
    """A model of one block that has read texts of 4 to 32 pairs."""
    torch.manual_seed(seed)
    model = CHAPTER.LanguageModel(mixer, 128, h=h, d_ff=128, n_layers=1)
    generator = torch.Generator().manual_seed(seed)
    adam = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.98), fused=True)
    for step in range(steps):
        rate = 0.01 * CHAPTER.schedule(step, steps, 40)
        adam.param_groups[0]["lr"] = rate
        n = (4, 8, 16, 32)[step % 4]
        ids, targets = recall_task(n, 32, generator)
        loss = F.cross_entropy(answers(model, ids, n).flatten(0, 1),
                               targets.flatten())
        adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
    return model


def untrained(rule: str, d: int, n: int,
              generator: torch.Generator) -> float:
    """Share of wrong values by a rule alone, with random keys."""
    K = F.normalize(torch.randn(64, n, d, generator=generator).double(), dim=-1)
    number = torch.randint(64, (64, n), generator=generator)
    V = torch.eye(64).double()[number]              # (64, n, 64) one-hot
    read = K @ (K.mT @ V) if rule == "sum" else (
        K @ CHAPTER.delta_rule_chunkwise(K, K, V, torch.ones(64, n).double()
                                         )[1].mT)
    return (read.argmax(dim=-1) != number).double().mean().item()


def shares(mixer: type[nn.Module] | str, h: int, seed: int) -> list[float]:
    """Share of wrong values for each number of pairs.

    mixer: of a model with h heads; or the name of a rule, h its width.
    """
    if isinstance(mixer, str):
        generator = torch.Generator().manual_seed(seed)
        return [untrained(mixer, h, n, generator) for n in PAIRS]
    model, of_pairs = trained(mixer, h, seed), []
    generator = torch.Generator().manual_seed(99)
    with torch.no_grad():
        for n in PAIRS:
            ids, targets = recall_task(n, 64, generator)
            wrong = answers(model, ids, n).argmax(dim=-1) != targets
            of_pairs.append(wrong.double().mean().item())
    return of_pairs


def row(mixer: type[nn.Module] | str, h: int) -> list[float]:
    """Median and highest share for each number of pairs."""
    of_seeds = np.array([shares(mixer, h, seed) for seed in range(5)])
    return np.stack([np.median(of_seeds, axis=0), of_seeds.max(axis=0)],
                    axis=1).ravel().tolist()


EXPERIMENT = Experiment(
    question="How many pairs does a state of constant size recall?",
    columns=["model", *(heading for n in PAIRS
                        for heading in (f"{n} pairs: median", "highest"))],
    rows={"softmax, 1 head": (Softmax, 1), "sum, 1 head": (Sum, 1),
          "delta, 1 head": (ModernDelta, 1),
          "delta, 2 heads": (ModernDelta, 2),
          "random keys, sum, width 64": ("sum", 64),
          "random keys, delta, width 64": ("delta", 64),
          "random keys, delta, width 32": ("delta", 32)},
    row=row, formats=["{:.2f}"] * 8,
    quick="random keys, delta, width 32", tolerance=0.1)
