"""Does a trained model show that it was folded wrongly?

Two-layer Llamas learn noisy sums of digits (chapter 14) for 250 steps of Adam,
their gains starting at 1, the head tied to the embedding; seeds 0 to 4. Each is
folded by the wrong programs of chapter 21. How far the logits are off, as a
fraction of their standard deviation over the vocabulary; by how much the loss
on 200 fresh texts rises; how many of 560 digits, written by the folded model
from 40 pairs, are the sum of the two before them.
"""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from course.chapter import functions
from experiments.experiment import Experiment

CHAPTER = functions("21")
noisy_sums = functions("14").noisy_sums
Weights = dict[str, Any]                # of a Llama, as in chapter 21


def trained(seed: int, steps: int = 250, lr: float = 0.015,
            warm_up: int = 20) -> Weights:
    """Adam on fresh noisy sums, head tied to E. -> NumPy weights."""
    rng = np.random.default_rng(seed)
    born = CHAPTER.new_llama(rng, np.ones, n_vocab=7, n_layers=2)
    leaves = []

    def leaf(w):
        leaves.append(torch.tensor(w, requires_grad=True))
        return leaves[-1]

    E, norm = leaf(born["E"]), leaf(born["norm"])
    layers = [{name: leaf(w) for name, w in layer.items()}
              for layer in born["layers"]]
    adam = torch.optim.Adam(leaves, betas=(0.9, 0.98))
    data = noisy_sums(16 * steps, 17, rng)
    for step, ids in enumerate(torch.tensor(data).view(steps, 16, 17)):
        for group in adam.param_groups:
            climb = min((step + 1) / warm_up, 1)
            group["lr"] = lr * climb * (1 - step / steps)
        logits = torch_llama(ids[:, :-1], E, layers, norm)
        loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
        adam.zero_grad()
        loss.backward()
        adam.step()
    E, norm = (w.detach().numpy() for w in (E, norm))
    return {"E": E, "W_U": E.T.copy(), "norm": norm, "layers": [
        {name: w.detach().numpy() for name, w in layer.items()}
        for layer in layers]}


def torch_llama(ids: torch.Tensor, E: torch.Tensor,
                layers: list[dict[str, torch.Tensor]],
                norm: torch.Tensor) -> torch.Tensor:
    """The model of chapter 21 in PyTorch, head tied. ids (B, n)."""
    def read(X, gain, W):
        return F.rms_norm(X, gain.shape, gain, 1e-5) @ W

    def turn(Z):
        tables = CHAPTER.rope_tables(np.arange(Z.shape[-2]), Z.shape[-1])
        cos, sin = (torch.tensor(table).to(Z.dtype) for table in tables)
        a, b = Z.chunk(2, dim=-1)
        return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)

    X = E[ids]                                      # (B, n, d_model)
    for layer in layers:
        Q, K, V = (read(X[:, None], layer["norm_1"], layer[name])
                   for name in ("W_Q", "W_K", "W_V"))
        heads = F.scaled_dot_product_attention(
            turn(Q), turn(K), V, is_causal=True)
        X = X + (heads @ layer["W_O"]).sum(dim=1)
        gate, up = (read(X, layer["norm_2"], layer[name])
                    for name in ("W_gate", "W_up"))
        X = X + (F.silu(gate) * up) @ layer["W_down"]
    return read(X, norm, E.T)


def dropped(weights: Weights) -> Weights:
    """A fold that leaves out every gain."""
    return CHAPTER.fold_model(CHAPTER.with_gains(np.ones_like, weights))


def not_plus_1(weights: Weights) -> Weights:
    """A fold of w, in a model that stores w and multiplies by 1 + w."""
    return CHAPTER.fold_model(CHAPTER.with_gains(lambda g: g - 1, weights))


def in_the_table(weights: Weights) -> Weights:
    """The last gain in the head, which is the embedding as well."""
    folded = CHAPTER.fold_model(weights)
    return {**folded, "E": folded["W_U"].T}


FOLDS: dict[str, Callable[[Weights], Weights]] = {
    "right": CHAPTER.fold_model,
    "all gains dropped": dropped,
    "V forgotten": lambda w: CHAPTER.fold_model(w, norm_1=("W_Q", "W_K")),
    "head forgotten": lambda w: {**CHAPTER.fold_model(w), "W_U": w["W_U"]},
    "folded twice": CHAPTER.folded_twice,
    "one table, two ends": in_the_table,
    "w, where 1 + w was meant": not_plus_1,
}


def run(ids: np.ndarray, weights: Weights) -> np.ndarray:
    """Logits of a folded model."""
    return CHAPTER.llama(ids, weights, CHAPTER.weightless_read)


def loss_of(logits: np.ndarray, ids: np.ndarray) -> float:
    """The loss of a model that has read all ids but the last."""
    return F.cross_entropy(torch.tensor(logits).flatten(0, 1),
                           torch.tensor(ids[:, 1:]).flatten()).item()


@cache
def model(seed: int) -> tuple[Weights, np.ndarray, np.ndarray]:
    """Trained weights, 200 fresh texts, the logits of the right model."""
    weights = trained(seed)
    fresh = noisy_sums(200, 17, np.random.default_rng(99))
    return weights, fresh, CHAPTER.llama(fresh[:, :-1], weights)


@cache
def logits_off(name: str, seed: int) -> tuple[float, float]:
    """The error of the logits over their standard deviation, and the loss."""
    weights, fresh, right = model(seed)
    logits = run(fresh[:, :-1], FOLDS[name](weights))
    off = logits - right
    off = off - off.mean(axis=-1, keepdims=True)
    return (math.sqrt((off**2).mean() / right.var(axis=-1).mean()),
            loss_of(logits, fresh) - loss_of(right, fresh))


@cache
def digits_right(name: str, seed: int) -> float:
    """Written by the folded model from 40 pairs, the largest logit each."""
    weights, fresh, _ = model(seed)
    folded, ids = FOLDS[name](weights), fresh[:40, :2]
    while ids.shape[1] < 16:
        best = run(ids, folded)[:, -1].argmax(axis=-1)
        ids = np.concatenate([ids, best[:, None]], axis=1)
    return ((ids[:, :-2] + ids[:, 1:-1]) % 7 == ids[:, 2:]).mean()


def cell(name: str, column: int) -> float:
    """Of seed 0, or the worst of the five."""
    if column == 0:
        return logits_off(name, 0)[0]
    if column == 3:
        return min(digits_right(name, seed) for seed in range(5))
    return max(logits_off(name, seed)[column - 1] for seed in range(5))


EXPERIMENT = Experiment(
    question="Does a trained model show that it was folded wrongly?",
    columns=["fold", "logits off: seed 0", "highest", "loss rises: highest",
             "digits right: lowest"],
    rows={name: (name,) for name in FOLDS},
    cell=cell, formats=["{:.1%}"] * 2 + ["{:.3f}", "{:.1%}"],
    quick="all gains dropped", quick_column=0, tolerance=0.5,
    tolerances=dict.fromkeys(FOLDS, 5.0))
