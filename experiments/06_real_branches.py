"""What do gates and attention change in a stack that is not trained?

48 branches of width 64, 32 random tokens, weights drawn for each seed so that
a feed-forward branch has RMS 1 for a token of RMS 1: ReLU or SwiGLU, alone
or in turn with causal attention of four heads. A last norm stands behind all.
gradient: length at the stream behind the first branch, divided by that behind
the last one. alike: mean cosine of two tokens at the end. QK:
with QK-norm in each head; QK over heads: one norm for all heads together, as
in OLMo 2; cut: no gradient goes back through the scores; norm only: f(LN(x)),
without a shortcut. Medians of seeds 0 to 4; lowest, highest: of the five.
"""

import functools
import statistics
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from experiments.experiment import Experiment

D, D_FF, HEADS, BRANCHES, N = 64, 128, 4, 48, 32
BRANCH = {"ReLU": ("relu", False), "SwiGLU": ("swiglu", False),
          "attention, ReLU": ("relu", True),
          "attention, SwiGLU": ("swiglu", True)}
PLACES = {"pre-norm": ("pre", ""), "post-norm": ("post", ""),
          "branch-output norm": ("output", ""),
          "branch-output norm, QK": ("output", "QK"),
          "sandwich norm": ("sandwich", ""),
          "branch-output norm, cut": ("output", "cut"),
          "branch-output norm, QK over heads": ("output", "QK over heads"),
          "norm only": ("only", "")}
# 1 / RMS of the hidden numbers, for hidden scores of RMS 1
RMS_OF = {"relu": 0.5**0.5, "swiglu": 0.5964}
Function = Callable[[Tensor], Tensor]


def norm(X: Tensor) -> Tensor:
    """RMSNorm without gain. X (..., d)."""
    return X * (X.square().mean(-1, keepdim=True) + 1e-12).rsqrt()


def feed_forward(kind: str, draw: Callable[..., Tensor]) -> Function:
    """A branch whose output has about the RMS of its input."""
    W_1, W_gate = (draw(D, D_FF) / D**0.5 for _ in range(2))
    W_2 = draw(D_FF, D) / D_FF**0.5 / RMS_OF[kind]
    if kind == "swiglu":
        return lambda X: (F.silu(X @ W_gate) * (X @ W_1)) @ W_2
    return lambda X: F.relu(X @ W_1) @ W_2


def attention(scores: str, draw: Callable[..., Tensor]) -> Function:
    """Causal, four heads. X (n, d) -> (n, d)."""
    future = torch.ones(N, N, dtype=torch.bool).triu(1)
    W_Q, W_K, W_V, W_O = (draw(D, D) / D**0.5 for _ in range(4))

    def branch(X: Tensor) -> Tensor:
        Q, K, V = (X @ W for W in (W_Q, W_K, W_V))
        if scores == "QK over heads":
            Q, K = norm(Q), norm(K)
        Q, K, V = (Y.unflatten(-1, (HEADS, -1)).transpose(0, 1)
                   for Y in (Q, K, V))
        if scores == "QK":
            Q, K = norm(Q), norm(K)
        A = (Q @ K.mT / Q.shape[-1]**0.5).masked_fill(
            future, -torch.inf).softmax(-1)
        if scores == "cut":
            A = A.detach()
        return (A @ V).transpose(0, 1).flatten(-2) @ W_O

    return branch


def block(place: str, X: Tensor, f: Function) -> Tensor:
    """Shortcut, branch, and the norm in its place."""
    if place == "post":
        return norm(X + f(X))
    if place == "only":
        return f(norm(X))
    Y = f(X if place == "output" else norm(X))
    return X + (Y if place == "pre" else norm(Y))


@functools.cache
def measured(label: str, column: str, seed: int) -> tuple[float, float]:
    """Gradient first to last, and mean cosine, of one stack."""
    torch.set_num_threads(1)
    (place, scores), (kind, attends) = PLACES[label], BRANCH[column]
    rng = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=rng, dtype=torch.float64)

    X = draw(N, D).requires_grad_()
    target, stream = draw(N, D), []
    for i in range(BRANCHES):
        f = (attention(scores, draw) if attends and i % 2 == 0
             else feed_forward(kind, draw))
        X = block(place, X, f)
        stream.append(X)
    loss = (norm(X) - target).square().mean()
    first, last = torch.autograd.grad(loss, [stream[0], stream[-1]])
    U = F.normalize(X.detach(), dim=-1)
    alike = ((U @ U.mT).sum() - N) / (N * (N - 1))
    return float(first.norm() / last.norm()), float(alike)


def cell(what: str, label: str, column: int) -> float:
    """The median of five seeds, or the lowest or highest."""
    values = [measured(label, [*BRANCH][column], seed)[what == "alike"]
              for seed in range(5)]
    return OF_FIVE.get(what, statistics.median)(values)


OF_FIVE: dict[str, Callable[[list[float]], float]] = {
    "lowest": min, "highest": max}
ALIKE = "pre-norm", "post-norm", "sandwich norm", "norm only"
ROWS: dict[str, tuple[str, str]] = {
    f"{what}, {label}": (what, label)
    for what in ("gradient", *OF_FIVE, "alike") for label in PLACES
    if (label in ALIKE if what == "alike"
        else label == "branch-output norm" if what in OF_FIVE
        else label != "norm only")}
GRADIENT = {label: f"gradient, {label}" for label in PLACES}
EXPERIMENT = Experiment(
    question="What do gates and attention change before training?",
    columns=["48 branches, medians of five seeds", *BRANCH],
    rows=ROWS, cell=cell, formats=["{:.3g}"] * 4,
    quick=GRADIENT["pre-norm"], quick_column=1, tolerance=0.02,
    tolerances={label: 0.2 for label in ROWS if label.startswith("alike")},
    holds={
        "a gate: post-norm explodes": lambda t: (
            t[GRADIENT["post-norm"]][1] > 15_000
            and t[GRADIENT["post-norm"]][0] < 2),
        "a gate: pre-norm's first gradient grows": lambda t: (
            20 < t[GRADIENT["pre-norm"]][1] < 35
            and t[GRADIENT["pre-norm"]][0] < 7),
        "attention: branch-output norm explodes": lambda t: (
            t[GRADIENT["branch-output norm"]][2] > 50
            and t[GRADIENT["branch-output norm"]][3] > 1000
            and t[GRADIENT["branch-output norm"]][0] < 10),
        "QK-norm cures it": lambda t: all(
            qk <= 1.25 * pre for qk, pre in zip(
                t[GRADIENT["branch-output norm, QK"]],
                t[GRADIENT["pre-norm"]], strict=True)),
        "the scores are the way": lambda t: all(
            cut < 1.4 * qk for cut, qk in zip(
                t[GRADIENT["branch-output norm, cut"]],
                t[GRADIENT["branch-output norm, QK"]], strict=True)),
        "a gate keeps tokens apart, even without a shortcut": lambda t: all(
            abs(row[1]) < 0.05 for label, row in t.items()
            if label.startswith("alike")),
        "attention does not": lambda t: all(
            0.1 < t[f"alike, {label}"][3] < 0.6
            for label in ("pre-norm", "sandwich norm")),
        "post-norm most": lambda t: t["alike, post-norm"][3] > 0.6,
        "pre-norm with gates: about the share, not its root": lambda t: (
            0.8 < t[GRADIENT["pre-norm"]][1] / (49 / 2) < 1.25
            and 0.8 < t[GRADIENT["pre-norm"]][0] / (49 / 2)**0.5 < 1.25),
        "one QK-norm over all heads repairs as well": lambda t: all(
            0.8 < over / each < 1.25 for over, each in zip(
                t[GRADIENT["branch-output norm, QK over heads"]],
                t[GRADIENT["branch-output norm, QK"]], strict=True)),
        "the explosion is in each draw, its size is not": lambda t: (
            900 < t["lowest, branch-output norm"][3]
            and t["highest, branch-output norm"][3] < 2500)})
