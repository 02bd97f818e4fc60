"""Which placement trains, with and without a warm-up?

The kite model of chapter 13 (RMSNorm, RoPE, SwiGLU) with 12 blocks, and with
2, for 400 steps of AdamW on short stories: the norms move, and nothing else.
warm-up: 50 steps, otherwise none; afterwards the rate falls to 0. heavy: the
sum is 5.84 x + f(x) (DeepNorm), so that half of the table's rows is left after
24 branches. QK: with QK-norm. ReLU: feed-forward layers without a gate. Loss
of the answers in 8 batches that no training sees. removed: the same after a
block is taken out of the trained model. gradient: length at the stream behind
block 1, divided by that behind block 12, before training. Seeds 0 to 4.
"""

import functools
from statistics import fmean as mean

import torch
from torch import Tensor, nn

from experiments import kite
from experiments.experiment import Experiment

STEPS, WARM_UP, HEAVY = 400, 50, 5.84
RMSNorm = kite.PARTS.RMSNorm
PLACES = {"post-norm": "post", "post-norm, heavy": "heavy",
          "pre-norm": "pre", "pre-norm, QK": "pre QK",
          "branch-output norm": "output",
          "branch-output norm, QK": "output QK", "sandwich norm": "sandwich"}
DEEP = {f"{label}, {warm}": ("loss", place, 12, 0.001, warm)
        for label, place in PLACES.items()
        for warm in ("no warm-up", "warm-up")}
FAST = {f"rate 0.003: {label}": ("loss", place, 12, 0.003, "warm-up")
        for label, place in PLACES.items() if place != "heavy"}
SHALLOW = {f"2 blocks, rate 0.004: {label}":
           ("loss", place, 2, 0.004, "warm-up")
           for label, place in PLACES.items() if place in ("post", "pre")}
REMOVED = {f"pre-norm, {what}": (what, "pre", 12, 0.001, "warm-up")
           for what in ("block 2 removed", "block 12 removed")}
UNGATED = {f"ReLU, no warm-up: {label}":
           ("loss", f"{place} ReLU", 12, 0.001, "no warm-up")
           for label, place in PLACES.items()
           if place in ("post", "pre")}
SLOW = {f"rate 0.0003: {label}": ("loss", place, 12, 0.0003, "warm-up")
        for label, place in PLACES.items() if place in ("post", "pre")}
ROWS: dict[str, tuple[str, str, int, float, str]] = {
    "before training": ("before", "pre", 12, 0.001, "warm-up"),
    "before training: gradient, branch-output norm": (
        "gradient", "output", 12, 0.001, "warm-up"),
    **DEEP, **UNGATED, **SLOW, **FAST, **SHALLOW, **REMOVED}


class FeedForward(nn.Module):
    """Matrix, ReLU, matrix; as many weights as the gated layer."""

    def __init__(self, d: int = 48, d_ff: int = 192) -> None:
        super().__init__()
        self.up = nn.Linear(d, d_ff, bias=False)
        self.down = nn.Linear(d_ff, d, bias=False)

    def forward(self, X: Tensor) -> Tensor:
        """Shapes (..., d)."""
        return self.down(torch.relu(self.up(X)))


class Placed(nn.Module):
    """A block whose norms stand elsewhere."""

    def __init__(self, block: nn.Module, place: str, d: int = 48) -> None:
        super().__init__()
        self.block, (self.place, *qk) = block, place.split()
        attention = block.attention
        if place == "sandwich":
            self.out_1, self.out_2 = RMSNorm(d), RMSNorm(d)
        if qk:
            d_k, rope = d // attention.h, attention.rope
            self.norm_q, self.norm_k = RMSNorm(d_k), RMSNorm(d_k)

            def heads(X: Tensor) -> tuple[Tensor, Tensor, Tensor]:
                t = torch.arange(X.shape[1])
                Q, K, V = (
                    W(X).unflatten(-1, (attention.h, -1)).transpose(1, 2)
                    for W in (attention.W_Q, attention.W_K, attention.W_V))
                return rope(self.norm_q(Q), t), rope(self.norm_k(K), t), V

            attention.heads = heads

    def forward(self, X: Tensor) -> Tensor:
        """Attention, then the feed-forward layer."""
        block, place = self.block, self.place
        out_1, out_2 = ((self.out_1, self.out_2) if place == "sandwich"
                        else (block.norm_1, block.norm_2))
        for f, norm, out in ((block.attention, block.norm_1, out_1),
                             (block.ffn, block.norm_2, out_2)):
            if place in ("post", "heavy"):
                X = norm((HEAVY if place == "heavy" else 1) * X + f(X))
            elif place == "pre":
                X = X + f(norm(X))
            else:
                X = X + out(f(norm(X) if place == "sandwich" else X))
        return X


def placed(place: str, n_layers: int, seed: int) -> nn.Module:
    """An untrained model."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    model = kite.Transformer(n_layers=n_layers)
    if place.endswith(" ReLU"):
        place = place.removesuffix(" ReLU")
        for block in model.blocks:
            block.ffn = FeedForward()
    model.blocks = nn.ModuleList(Placed(block, place)
                                 for block in model.blocks)
    return model


@torch.no_grad()
def unseen(model: nn.Module) -> float:
    """Mean loss of the answers in 8 batches."""
    batches = kite.kite_batches(8, 99, n_short=8)
    return sum(kite.answer_loss(model, ids).item() for ids in batches) / 8


def first_to_last(model: nn.Module) -> float:
    """The gradient at the stream behind block 1 and 12, its lengths."""
    stream: list[Tensor] = []
    for block in model.blocks:
        block.register_forward_hook(lambda _, given, X: stream.append(X))
    ids, = kite.kite_batches(1, 99, n_short=1)
    first, last = torch.autograd.grad(kite.answer_loss(model, ids),
                                      [stream[0], stream[-1]])
    return float(first.norm() / last.norm())


@functools.cache
def trained(place: str, n_layers: int, rate: float, warm: str,
            seed: int) -> nn.Module:
    """A trained model."""
    model = placed(place, n_layers, seed)
    kite.train(model, kite.kite_batches(STEPS, seed + 1000, n_short=STEPS),
               rate, 1 if warm == "no warm-up" else WARM_UP)
    return model


def cell(what: str, place: str, n_layers: int, rate: float, warm: str,
         column: int) -> float:
    """One number: the column is the seed."""
    if what == "before":
        return unseen(placed(place, n_layers, column))
    if what == "gradient":
        return first_to_last(placed(place, n_layers, column))
    model = trained(place, n_layers, rate, warm, column)
    if what == "loss":
        return unseen(model)
    blocks = model.blocks
    left = {"block 2 removed": [*blocks[:1], *blocks[2:]],
            "block 12 removed": blocks[:-1]}[what]
    model.blocks = nn.ModuleList(left)
    loss = unseen(model)
    model.blocks = blocks
    return loss


def others(t: dict[str, list[float]]) -> list[float]:
    """All losses of the deep models but those of plain post-norm."""
    return [x for label in DEEP if not label.startswith("post-norm, n")
            and not label.startswith("post-norm, w") for x in t[label]]


QK = "branch-output norm, QK"
EXPERIMENT = Experiment(
    question="Which placement trains, with and without a warm-up?",
    columns=["loss on unseen stories, kite model",
             *(f"seed {i}" for i in range(5))],
    rows=ROWS, cell=cell, formats=["{:.3f}"] * 5,
    quick="before training", quick_column=0, tolerance=0.1,
    tolerances={label: 0.4 for label in ROWS if label != "before training"},
    holds={
        "post-norm's best is behind the worst of all others": lambda t: min(
            t["post-norm, no warm-up"] + t["post-norm, warm-up"])
        > max(others(t)) + 0.1,
        "a warm-up helps post-norm in each run": lambda t: all(
            a > b for a, b in zip(t["post-norm, no warm-up"],
                                  t["post-norm, warm-up"], strict=True)),
        "and no other": lambda t: all(
            abs(mean(t[f"{label}, no warm-up"]) - mean(t[f"{label}, warm-up"]))
            < 0.02 for label in PLACES if label != "post-norm"),
        "a heavy shortcut repairs post-norm": lambda t: max(
            t["post-norm, heavy, no warm-up"]) < 0.62,
        "at rate 0.003 only post-norm fails": lambda t: min(
            t["rate 0.003: post-norm"]) > 1 and max(
            x for label in FAST if "post-norm" not in label
            for x in t[label]) < 0.6,
        "QK-norm helps branch-output norm": lambda t: mean(
            t[f"{QK}, warm-up"]) < 0.56 and mean(
            t["branch-output norm, warm-up"]) > 0.62,
        "and pre-norm at rate 0.003": lambda t: max(
            t["rate 0.003: pre-norm, QK"]) < min(t["rate 0.003: pre-norm"]),
        "pre-norm hardly at 0.001": lambda t: abs(mean(
            t["pre-norm, QK, warm-up"]) - mean(t["pre-norm, warm-up"])) < 0.03,
        "with QK-norm the two are equal there": lambda t: abs(
            mean(t["rate 0.003: pre-norm, QK"])
            - mean(t[f"rate 0.003: {QK}"])) < 0.01,
        "the gates are not to blame": lambda t: min(
            t["ReLU, no warm-up: post-norm"]) > 1.6 and max(
            t["ReLU, no warm-up: pre-norm"]) < 0.66,
        "nor is the rate": lambda t: min(
            t["rate 0.0003: post-norm"]) > 1.75 and max(
            t["rate 0.0003: pre-norm"]) < 1.3,
        "with 2 blocks post-norm is not far behind": lambda t: mean(
            t["2 blocks, rate 0.004: post-norm"]) < 0.06 + mean(
            t["2 blocks, rate 0.004: pre-norm"]),
        "the gradient of branch-output norm starts 9 times as long":
            lambda t: round(mean(
                t["before training: gradient, branch-output norm"])) == 9,
        "block 2 is needed": lambda t: min(
            t["pre-norm, block 2 removed"]) > 1.2,
        "block 12 hardly": lambda t: mean(
            t["pre-norm, block 12 removed"]) < 0.04 + mean(
            t["pre-norm, warm-up"])})
