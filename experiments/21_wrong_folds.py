"""Does a trained model show what was done to it?

The kite model of chapter 14, and five that learn as it did, but whose gains
begin as e^(0.5 normal); seeds 0 to 4. Each is folded by the right and the wrong
programs of chapter 21, and written in few bits. How many of 500 answers stay
what they were before, and how far the logits are off, as a share of their
spread over the vocabulary: of the kite model, and the lowest and highest of the
five.
"""

from collections.abc import Callable
from functools import cache

import numpy as np
import torch

from course.chapter import functions
from experiments import kite
from experiments.experiment import Experiment

CHAPTER = functions("21")
STORIES = torch.tensor(kite.word_ids(kite.kite_stories(500, seed=99)))
Model = torch.nn.Module


@cache
def model(seed: int | None) -> tuple[Model, torch.Tensor]:
    """The kite model (None) or one with unlike gains, and its logits."""
    if seed is None:
        made = kite.load().double()
    else:
        torch.manual_seed(seed)
        made = kite.Transformer()
        rng = np.random.default_rng(seed)
        for owner, name, _ in CHAPTER.wires(made):
            gain = getattr(owner, name).weight
            gain.data = torch.tensor(np.exp(0.5 * rng.normal(
                size=len(gain)))).float()
        kite.train(made, kite.kite_batches(kite.STEPS, seed + 1000))
        made = made.double()
    return made, CHAPTER.answer_logits(made, STORIES)


def gains(change: Callable[[torch.Tensor], torch.Tensor]
          ) -> Callable[[Model], Model]:
    """A fold of changed gains."""
    return lambda made: CHAPTER.fold_model(CHAPTER.with_gains(made, change))


def bits(levels: int, way: str) -> Callable[[Model], Model]:
    """In few bits: as it is, folded, or folded and rotated."""
    def made_short(made: Model) -> Model:
        if way != "as it is":
            made = CHAPTER.fold_model(made)
        if way == "rotated":
            made = CHAPTER.rotate_stream(made, CHAPTER.random_rotation(0))
        return CHAPTER.quantized(made, levels)
    return made_short


CHANGES: dict[str, Callable[[Model], Model]] = {
    "right fold": CHAPTER.fold_model,
    "all gains deleted": gains(torch.ones_like),
    "V forgotten": CHAPTER.v_forgotten,
    "head forgotten": CHAPTER.head_forgotten,
    "folded twice": gains(torch.square),
    "wrong side": CHAPTER.wrong_side,
    "signs lost": gains(torch.abs),
    **{f"4 bits, {words}": bits(7, way)
       for way, words in (("as it is", "as it is"), ("folded", "folded"),
                          ("rotated", "folded and rotated"))}}


@cache
def changed(name: str, seed: int | None) -> tuple[float, float]:
    """Answers that stay, and how far the logits are off."""
    made, want = model(seed)
    got = CHAPTER.answer_logits(CHANGES[name](made), STORIES)
    same = (got.argmax(-1) == want.argmax(-1)).double().mean().item()
    return same, CHAPTER.logits_off(got, want)


def cell(name: str, column: int) -> float:
    """Of the kite model, or the lowest or highest of the five."""
    if column < 2:
        return changed(name, None)[column]
    what, pick = divmod(column - 2, 2)
    return (min, max)[pick](changed(name, seed)[what] for seed in range(5))


EXPERIMENT = Experiment(
    question="Does a trained model show what was done to it?",
    columns=["what was done", "kite model: same answers", "logits off",
             "five models: same answers, lowest", "highest",
             "logits off, lowest", "highest"],
    rows={name: (name,) for name in CHANGES},
    cell=cell, formats=["{:.1%}", "{:.1%}"] * 1 + ["{:.1%}"] * 4,
    quick="V forgotten", quick_column=1, tolerance=0.05,
    tolerances=dict.fromkeys(CHANGES, 5.0),
    holds={
        "the right fold changes nothing": lambda table: all(
            table["right fold"][i] == 100 for i in (0, 2, 3)),
        "five of six leave the kite model's answers": lambda table: all(
            table[name][0] > 97 for name in CHANGES
            if "bits" not in name and name != "folded twice"),
        "unlike gains show deleted gains and a forgotten V": lambda table:
            table["all gains deleted"][3] < 60 and table["V forgotten"][3] < 95,
        "no answer shows a lost sign": lambda table:
            table["signs lost"][2] == 100,
        "in 4 bits a fold helps unlike gains, and a rotation more": lambda
            table: table["4 bits, as it is"][5] > table["4 bits, folded"][5]
            > table["4 bits, folded and rotated"][5]})
