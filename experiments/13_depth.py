"""Does it help to divide what each part adds by the root of the parts' number?

A kite model of 16 blocks, so of 32 parts that add. "as drawn": the first
weights of chapter 13. "divided": W_O of each attention and the last matrix of
each feed-forward layer, divided by the root of 32, as GPT-2's paper has it.
RMS behind the last block and loss before training (200 short stories), and the
share of right answers in 500 new short stories after 300 and after 600 steps of
a training of 900 on short stories, by chapter 14's loop at the rate 0.002.
Seeds 0 to 4.
"""

import functools
import math
import random

import torch
from torch.nn import functional as F

from experiments import kite
from experiments.experiment import Experiment

BLOCKS, STEPS, RATE = 16, 900, 0.002
ONE_QUESTION = {**kite.SHORT, "n_questions": 1}
FORMS = {"as drawn": 1.0, "divided": 1 / math.sqrt(2 * BLOCKS)}
LOOKS = 300, 600                                    # steps
ROWS = {f"{measure}, {form}": (measure, form)
        for measure in ("RMS before training", "loss before training",
                        *(f"right after {steps} steps" for steps in LOOKS))
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


@functools.cache
def right(form: str, seed: int) -> dict[int, float]:
    """{steps: share of right answers}"""
    torch.set_num_threads(1)
    model, shares = drawn(form, seed), {}

    def watch(steps: int) -> None:
        if steps in LOOKS:
            answers = kite.right_answers(model, exam())
            shares[steps] = answers.float().mean().item()

    batches = kite.kite_batches(STEPS, 1000 + seed, n_short=STEPS)
    kite.train(model, batches, lr=RATE, stop=max(LOOKS), watch=watch)
    return shares


def cell(measure: str, form: str, column: int) -> float:
    """One number: the column is the seed."""
    if measure.startswith("right"):
        return right(form, column)[int(measure.split()[2])]
    model = drawn(form, column)
    return rms(model) if measure.startswith("RMS") else loss(model)


def ahead(table: dict[str, list[float]], steps: int) -> list[float]:
    """By how much the divided models have more right answers."""
    drawn, divided = (table[f"right after {steps} steps, {form}"]
                      for form in FORMS)
    return [b - a for a, b in zip(drawn, divided, strict=True)]


EXPERIMENT = Experiment(
    question="Does it help to divide what each part adds by the root of the "
             "parts' number?",
    columns=["before and after training, first weights",
             *(f"seed {i}" for i in range(5))],
    rows=ROWS, cell=cell, formats=["{:.2f}"] * 5,
    quick="RMS before training, as drawn", quick_column=0, tolerance=0.02,
    tolerances={label: 0.3 for label in ROWS if label.startswith("right")},
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
        "nor do 300 steps": lambda t: max(map(abs, ahead(t, 300))) < 0.1,
        "after 600 neither is always ahead": lambda t: (
            min(ahead(t, 600)) < -0.05 and max(ahead(t, 600)) > 0.05)})
