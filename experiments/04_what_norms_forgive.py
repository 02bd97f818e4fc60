"""Do norms forgive a large learning rate, or large first weights?

The kite model of chapter 13, 400 steps of AdamW on short stories, with its
norms (RMSNorm), with layer normalization in their place, and with none. The
rate rises for 50 steps and then falls to 0. "first weights x 4" or "x 0.5":
all matrices of the blocks are so many times as large at the start. Mean loss
of all words in 8 batches that no training sees, an answer counting ten times,
at most 99.99 and that for NaN; a guess among the 36 words costs ln 36 = 3.58.
Seeds 0 to 4.
"""

import functools

import torch
from torch import Tensor, nn

from experiments import kite
from experiments.experiment import Experiment

STEPS = 400
NORMS = {"no norms": nn.Identity, "layer normalization": nn.LayerNorm,
         "RMSNorm": kite.PARTS.RMSNorm}
RATES = (0.001, 0.004, 0.016, 0.064)
ROWS: dict[str, tuple[str, float, float, int]] = {
    **{f"before training: {name}": (name, 0.0, 1.0, 2) for name in NORMS},
    **{f"before training, 12 blocks: {name}": (name, 0.0, 1.0, 12)
       for name in NORMS},
    **{f"rate {rate}: {name}": (name, rate, 1.0, 2)
       for rate in RATES for name in NORMS},
    **{f"first weights x 4: {name}": (name, 0.004, 4.0, 2)
       for name in NORMS},
    **{f"12 blocks, rate {rate}: {name}": (name, rate, 1.0, 12)
       for rate in (0.001, 0.003) for name in NORMS},
    **{f"12 blocks, rate {rate}, first weights x 0.5: no norms":
       ("no norms", rate, 0.5, 12) for rate in (0.001, 0.003)}}


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
    """Mean loss of the answers in 8 batches; 99.99 for more, or for NaN."""
    batches = kite.kite_batches(8, 99, n_short=8)
    loss = sum(float(kite.answer_loss(model, ids)) for ids in batches) / 8
    return min(loss, 99.99) if loss == loss else 99.99


@functools.cache
def batches(seed: int) -> list[Tensor]:
    """What the training reads."""
    return kite.kite_batches(STEPS, seed + 1000, n_short=STEPS)


def cell(name: str, rate: float, scale: float, n_layers: int,
         column: int) -> float:
    """One number: the column is the seed."""
    model = untrained(name, scale, n_layers, column)
    if rate:
        kite.train(model, batches(column), rate)
    return unseen(model)


def mean(row: list[float]) -> float:
    """Over the seeds."""
    return sum(row) / len(row)


LN, RMS = "layer normalization", "RMSNorm"
EXPERIMENT = Experiment(
    question="Do norms forgive a large learning rate, or large first weights?",
    columns=["loss on unseen stories, kite model",
             *(f"seed {i}" for i in range(5))],
    rows=ROWS, cell=cell, formats=["{:.3f}"] * 5,
    quick="before training: RMSNorm", tolerance=0.02,
    tolerances={label: 0.4 for label in ROWS if "before" not in label},
    holds={
        "nobody knows anything at first": lambda t: all(
            3.4 < x < 4 for name in NORMS
            for x in t[f"before training: {name}"]),
        "two blocks need no norms": lambda t: all(
            mean(t[f"rate {rate}: no norms"])
            < mean(t[f"rate {rate}: {LN}"]) + 0.06
            for rate in (0.004, 0.016, 0.064)),
        "at 0.004 two runs with each norm are better": lambda t: all(
            sorted(t[f"rate 0.004: {norm}"])[1] < 0.45
            < min(t["rate 0.004: no norms"]) for norm in (LN, RMS)),
        "at a small rate they help": lambda t: min(
            t["rate 0.001: no norms"]) > max(
            t[f"rate 0.001: {LN}"] + t[f"rate 0.001: {RMS}"]),
        "large first weights need norms": lambda t: min(
            t["first weights x 4: no norms"]) > 2.08 and max(
            t[f"first weights x 4: {LN}"]
            + t[f"first weights x 4: {RMS}"]) < 0.8,
        "so do 12 blocks": lambda t: all(
            min(t[f"12 blocks, rate {rate}: no norms"]) > 90 and max(
                t[f"12 blocks, rate {rate}: {LN}"]
                + t[f"12 blocks, rate {rate}: {RMS}"]) < 0.7
            for rate in (0.001, 0.003)),
        "not if they start small": lambda t: all(
            mean(t[f"12 blocks, rate {rate}, first weights x 0.5: no norms"])
            < mean(t[f"12 blocks, rate {rate}: {LN}"]) + 0.03
            for rate in (0.001, 0.003))})
