"""Does it help to divide what each part adds by the root of the parts' number?

A kite model of 16 blocks, so of 32 parts that add. "as drawn": the first
weights of chapter 13. "divided": W_O of each attention and the last matrix of
each feed-forward layer, divided by the root of 32, as GPT-2's paper has it.
RMS behind the last block and loss before training (200 short stories), and the
share of right answers in 500 new short stories after 300 steps of chapter 14's
training, at two learning rates. Seeds 0 to 4.
"""

import functools
import math
import random

import torch
from torch.nn import functional as F

from experiments import kite
from experiments.experiment import Experiment

BLOCKS, STEPS = 16, 300
ONE_QUESTION = {**kite.SHORT, "n_questions": 1}
FORMS = {"as drawn": 1.0, "divided": 1 / math.sqrt(2 * BLOCKS)}
FAST, SLOW = 0.004, 0.001
ROWS = {f"{measure}, {form}": (measure, form)
        for measure in ("RMS before training", "loss before training",
                        f"right, rate {FAST}", f"right, rate {SLOW}")
        for form in FORMS}


@functools.cache
def exam() -> torch.Tensor:
    """500 short stories that no training sees. -> (500, n)"""
    rng = random.Random(10**6)
    return torch.tensor(kite.word_ids(
        [kite.story(rng, **ONE_QUESTION) for _ in range(500)]))


def drawn(form: str, seed: int) -> kite.Transformer:
    """A model of 16 blocks before training."""
    torch.manual_seed(seed)
    model = kite.Transformer(n_layers=BLOCKS)
    for block in model.blocks:
        for matrix in (block.attention.W_O, block.ffn.down):
            matrix.weight.data *= FORMS[form]
    return model


@torch.no_grad()
def rms(model: kite.Transformer) -> float:
    """Root of the mean square behind the last block."""
    X = model.E[exam()[:200]]
    for block in model.blocks:
        X = block(X)
    return X.square().mean().sqrt().item()


@torch.no_grad()
def loss(model: kite.Transformer) -> float:
    """Mean cross-entropy of each next token."""
    ids = exam()[:200]
    return F.cross_entropy(model(ids[:, :-1]).mT, ids[:, 1:]).item()


def right(model: kite.Transformer, seed: int, rate: float) -> float:
    """Share of right answers after the training."""
    torch.set_num_threads(1)
    kite.train(model, kite.kite_batches(STEPS, 1000 + seed), lr=rate)
    return kite.right_answers(model, exam()).float().mean().item()


def cell(measure: str, form: str, column: int) -> float:
    """One number: the column is the seed."""
    model = drawn(form, column)
    if measure.startswith("right"):
        return right(model, column, float(measure.rpartition(" ")[2]))
    return rms(model) if measure.startswith("RMS") else loss(model)


def rights(table: dict[str, list[float]]) -> list[float]:
    """All shares of right answers."""
    return [share for label, row in table.items()
            if label.startswith("right") for share in row]


EXPERIMENT = Experiment(
    question="Does it help to divide what each part adds by the root of the "
             "parts' number?",
    columns=["before and after training, first weights",
             *(f"seed {i}" for i in range(5))],
    rows=ROWS, cell=cell, formats=["{:.2f}"] * 5,
    quick="RMS before training, as drawn", quick_column=0, tolerance=0.02,
    tolerances={label: 0.2 for label in ROWS if label.startswith("right")},
    holds={
        "the stream grows": lambda t: min(
            t["RMS before training, as drawn"]) > 4,
        "divided, it hardly does": lambda t: max(
            t["RMS before training, divided"]) < 1,
        "the loss does not tell": lambda t: 3.58 < min(
            t["loss before training, as drawn"]
            + t["loss before training, divided"]) and max(
            t["loss before training, as drawn"]
            + t["loss before training, divided"]) < 3.9,
        "nor does what is learned": lambda t: 0.5 < min(
            rights(t)) <= max(rights(t)) < 0.6})
