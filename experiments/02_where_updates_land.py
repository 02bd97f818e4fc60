"""What becomes of a training if its updates land in bfloat16?

The kite model of chapter 13 is trained for 400 steps on short stories, four
times from the same start on the same batches (warm-up of 40 steps, then the
rate falls to 0; AdamW as in chapter 14, its averages in float32 always). Only
the place where an update lands differs. All but "float32" compute with
weights that are rounded to bfloat16; the arithmetic is float32 everywhere.
"held" is float32 with all gains of norms kept at 1. Loss of the answers in 16
batches that no training sees; gains that are no longer 1 at the end, of 240;
share of the updates that change nothing, of those that AdamW makes. Seeds 0
to 4.
"""

import functools
from statistics import fmean as mean

import torch
from torch import Tensor, nn

from experiments import kite
from experiments.experiment import Experiment

STEPS, WARM_UP, LAST = 400, 40, 100
PLACES = {"float32 weight": "float32",
          "float32 master, rounded to compute": "master",
          "bfloat16 weight": "bfloat16",
          "bfloat16 weight, rounded at random": "random"}
ROWS: dict[str, tuple[str, str, float]] = {
    "loss before training": ("before", "float32", 0.001),
    **{f"loss, {label}": ("loss", place, 0.001)
       for label, place in PLACES.items()},
    "loss, float32 weight, gains held at 1": ("loss", "held", 0.001),
    **{f"gains moved, {label}": ("moved", place, 0.001)
       for label, place in PLACES.items()},
    "updates lost, bfloat16 weight": ("lost", "bfloat16", 0.001),
    "the same, last 100 steps": ("lost at last", "bfloat16", 0.001),
    "rate 0.004: loss, float32 weight": ("loss", "float32", 0.004),
    "rate 0.004: loss, bfloat16 weight": ("loss", "bfloat16", 0.004),
    "rate 0.004: gains moved, bfloat16 weight": ("moved", "bfloat16", 0.004)}


def to_bfloat16(X: Tensor) -> Tensor:
    """To the nearest number of bfloat16, kept in float32."""
    return X.bfloat16().float()


def at_random(X: Tensor, rng: torch.Generator) -> Tensor:
    """To a neighbor in bfloat16: 16 random bits are added below the tick."""
    bits = X.view(torch.int32)
    noise = torch.randint(0, 1 << 16, bits.shape, generator=rng,
                          dtype=torch.int32)
    return ((bits + noise) & -65536).view(torch.float32)


@torch.no_grad()
def unseen(model: nn.Module) -> float:
    """Mean loss of the answers in 16 batches."""
    batches = kite.kite_batches(16, 99, n_short=16)
    return sum(kite.answer_loss(model, ids).item() for ids in batches) / 16


@functools.cache
def trained(place: str, rate: float, seed: int) -> dict[str, float]:
    """{measure: number} of one training."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    model = kite.Transformer()
    weights = list(model.parameters())
    kept = [w.detach().clone() for w in weights]    # where the updates land
    gains = [w for w in kept if w.ndim == 1 and bool((w == 1).all())]
    if place == "bfloat16":
        kept = [w.copy_(to_bfloat16(w)) for w in kept]
    numbers = {"before": unseen(model)}
    rng = torch.Generator().manual_seed(seed)
    adamw = torch.optim.AdamW(kept, betas=(0.9, 0.98))
    lost = []

    @torch.no_grad()
    def load() -> None:
        for w, k in zip(weights, kept, strict=True):
            w.copy_(k if place in ("float32", "held") else to_bfloat16(k))

    for step, ids in enumerate(kite.kite_batches(STEPS, seed + 1000,
                                                 n_short=STEPS)):
        factor = kite.schedule(step, STEPS, WARM_UP)
        adamw.param_groups[0]["lr"] = rate * factor
        load()
        model.zero_grad()
        kite.answer_loss(model, ids).backward()
        nn.utils.clip_grad_norm_(weights, 1.0)
        for w, k in zip(weights, kept, strict=True):
            k.grad = w.grad
        if place == "held":
            for k in gains:
                k.grad = None
        before = [k.clone() for k in kept]
        adamw.step()
        asked = missed = 0
        with torch.no_grad():
            for k, old in zip(kept, before, strict=True):
                wanted = k != old
                if place == "bfloat16":
                    k.copy_(to_bfloat16(k))
                elif place == "random":
                    k.copy_(at_random(k, rng))
                asked += int(wanted.sum())
                missed += int((wanted & (k == old)).sum())
        lost.append(missed / asked)
    load()
    moved = sum(int((k != 1).sum()) for k in gains)
    return numbers | {"loss": unseen(model), "moved": moved,
                      "lost": sum(lost) / STEPS,
                      "lost at last": sum(lost[-LAST:]) / LAST}


def cell(measure: str, place: str, rate: float, column: int) -> float:
    """One number: the column is the seed."""
    if measure == "before":
        torch.manual_seed(column)
        return unseen(kite.Transformer())
    return trained(place, rate, column)[measure]


def costs(t: dict[str, list[float]], label: str) -> list[float]:
    """By how much the loss is above that of float32 weights."""
    return [a - b for a, b in zip(
        t[f"loss, {label}"], t["loss, float32 weight"], strict=True)]


def fast(t: dict[str, list[float]]) -> list[float]:
    """The same of bfloat16 weights at rate 0.004."""
    return [a - b for a, b in zip(
        t["rate 0.004: loss, bfloat16 weight"],
        t["rate 0.004: loss, float32 weight"], strict=True)]


BF16 = "bfloat16 weight"
EXPERIMENT = Experiment(
    question="What becomes of a training if its updates land in bfloat16?",
    columns=["kite model, 400 steps at rate 0.001",
             *(f"seed {i}" for i in range(5))],
    rows=ROWS, cell=cell, formats=["{:.3g}"] * 5,
    quick="loss before training", quick_column=0, tolerance=0.02,
    tolerances={label: 0.2 for label in ROWS if label.startswith("rate")},
    holds={
        "before training": lambda t: 3.5 < min(
            t["loss before training"]) and max(t["loss before training"]) < 4,
        "bfloat16 weights lose a tenth": lambda t: (
            min(costs(t, BF16)) > 0.08 and max(costs(t, BF16)) < 0.14),
        "master weights and chance lose nothing": lambda t: max(
            map(abs, costs(t, "float32 master, rounded to compute")
                + costs(t, "bfloat16 weight, rounded at random"))) < 0.005,
        "the gains are a fifth of it": lambda t: 0.15 < mean(costs(
            t, "float32 weight, gains held at 1")) / mean(
            costs(t, BF16)) < 0.25,
        "all gains move in float32": lambda t: {
            *t["gains moved, float32 weight"],
            *t["gains moved, float32 master, rounded to compute"]} == {240},
        "none in bfloat16": lambda t: {*t["gains moved, bfloat16 weight"]}
        == {0},
        "nearly all at random": lambda t: 226 <= min(
            t["gains moved, bfloat16 weight, rounded at random"]) <= max(
            t["gains moved, bfloat16 weight, rounded at random"]) <= 234,
        "about 69 %": lambda t: all(
            0.67 < x < 0.7 for x in t["updates lost, bfloat16 weight"]),
        "97 % at last": lambda t: all(
            0.96 < x < 0.975 for x in t["the same, last 100 steps"]),
        "at rate 0.004 half of the gains move": lambda t: all(
            100 < x < 150
            for x in t["rate 0.004: gains moved, bfloat16 weight"]),
        "and the loss hardly differs": lambda t: (
            sum(x > 0 for x in fast(t)) == 4
            and max(map(abs, fast(t))) < 0.02)})
