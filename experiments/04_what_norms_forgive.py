"""Do norms forgive a large learning rate, or large first weights?

The kite model of chapter 13, 400 steps of AdamW on short stories, with layer
normalization in place of its norms, and with none. The rate rises for 50
steps and then falls to 0; its top is 0.004, and 0.003 for 12 blocks, where no
other is named. "first weights x 4" or "x 0.5": all matrices of the blocks are
so many times as large at the start. Right answers: the share of 512 stories
that no training sees whose last question is answered right; a guess among
eight people is right in 0.125. Loss: mean over all words of 8 such batches,
an answer counting ten times; a guess among the 36 words costs ln 36 = 3.58.
Words with NaN: their share in these batches, before training. Seeds 0 to 4.
"""

import functools

import torch
from torch import Tensor, nn

from experiments import kite
from experiments.experiment import Experiment

STEPS = 400
NORMS = {"no norms": nn.Identity, "layer norm": nn.LayerNorm}
ROWS: dict[str, tuple[str, float, float, int, str]] = {
    **{f"loss before training: {name}": (name, 0.0, 1.0, 2, "loss")
       for name in NORMS},
    **{f"right answers, rate 0.004: {name}": (name, 0.004, 1.0, 2, "right")
       for name in NORMS},
    **{f"right answers, first weights x 4: {name}":
       (name, 0.004, 4.0, 2, "right") for name in NORMS},
    **{f"loss, rate {rate}: {name}": (name, rate, 1.0, 2, "loss")
       for rate in (0.001, 0.016) for name in NORMS},
    "words with NaN before training, 12 blocks: no norms":
       ("no norms", 0.0, 1.0, 12, "nan"),
    "loss, 12 blocks: layer norm": ("layer norm", 0.003, 1.0, 12, "loss"),
    "loss, 12 blocks, first weights x 0.5: no norms":
       ("no norms", 0.003, 0.5, 12, "loss")}


def untrained(name: str, scale: float, n_layers: int,
              seed: int) -> nn.Module:
    """The model of chapter 13 with other norms, larger matrices or blocks."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    model = kite.Transformer(n_layers=n_layers)
    for part in (*model.blocks, model):
        for place in ("norm", "norm_1", "norm_2"):
            if hasattr(part, place):
                setattr(part, place, NORMS[name](48))
    with torch.no_grad():
        for w in model.blocks.parameters():
            if w.ndim == 2:
                w *= scale
    return model


@torch.no_grad()
def unseen(model: nn.Module) -> float:
    """Mean loss of all words in 8 batches."""
    batches = kite.kite_batches(8, 99, n_short=8)
    return sum(float(kite.answer_loss(model, ids)) for ids in batches) / 8


@torch.no_grad()
def lost(model: nn.Module) -> float:
    """The share of words in 8 batches whose scores hold a NaN."""
    logits = model(torch.cat(kite.kite_batches(8, 99, n_short=8)))
    return float(logits.isnan().any(dim=-1).float().mean())


def right(model: nn.Module) -> float:
    """The share of 512 stories whose last question is answered right."""
    ids = torch.cat(kite.kite_batches(16, 99, n_short=16))
    return float(kite.right_answers(model, ids).float().mean())


@functools.cache
def batches(seed: int) -> list[Tensor]:
    """What the training reads."""
    return kite.kite_batches(STEPS, seed + 1000, n_short=STEPS)


def cell(name: str, rate: float, scale: float, n_layers: int, what: str,
         column: int) -> float:
    """One number: the column is the seed."""
    model = untrained(name, scale, n_layers, column)
    if rate:
        kite.train(model, batches(column), rate)
    return {"right": right, "loss": unseen, "nan": lost}[what](model)


def median(row: list[float]) -> float:
    """Over the five seeds."""
    return sorted(row)[2]


NONE, LN = NORMS
EXPERIMENT = Experiment(
    question="Do norms forgive a large learning rate, or large first weights?",
    columns=["kite model, 400 steps", *(f"seed {i}" for i in range(5))],
    rows=ROWS, cell=cell, formats=["{:.3f}"] * 5,
    quick="loss before training: layer norm", tolerance=0.02,
    tolerances={label: 0.6 for label in ROWS
                if not label.startswith("loss before")},
    holds={
        "nobody knows anything at first": lambda t: all(
            3.4 < x < 4 for name in NORMS
            for x in t[f"loss before training: {name}"]),
        "at 0.004 two of five with norms find nearly all": lambda t: [
            x > 0.85 for x in sorted(t[f"right answers, rate 0.004: {LN}"])
            ] == [False] * 3 + [True] * 2,
        "none without, and both medians are near 60 %": lambda t: (
            max(t[f"right answers, rate 0.004: {NONE}"]) < 0.7 and all(
                0.55 < median(t[f"right answers, rate 0.004: {name}"]) < 0.65
                for name in NORMS)),
        "large first weights need norms": lambda t: (
            max(t[f"right answers, first weights x 4: {NONE}"]) < 0.3
            and min(t[f"right answers, first weights x 4: {LN}"]) > 0.5),
        "at 0.001 norms learn faster": lambda t: min(
            t[f"loss, rate 0.001: {NONE}"]) > max(t[f"loss, rate 0.001: {LN}"]),
        "at 0.016 norms are worse with each seed": lambda t: all(
            none < norm for none, norm in zip(
                t[f"loss, rate 0.016: {NONE}"], t[f"loss, rate 0.016: {LN}"],
                strict=True)),
        "12 blocks need norms": lambda t: (
            min(t[f"words with NaN before training, 12 blocks: {NONE}"]) > 0.03
            and max(t[f"loss, 12 blocks: {LN}"]) < 0.7),
        "not if they start small": lambda t: abs(
            median(t["loss, 12 blocks, first weights x 0.5: no norms"])
            - median(t[f"loss, 12 blocks: {LN}"])) < 0.03})
