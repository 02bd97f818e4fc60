"""Does a folded model write the same text in 16 bits?

The kite model and its folded copy go on with 42 beginnings, the largest logit
each time, and answer 500 questions. Their weights are stored in a shorter type,
and all is computed in it. How many tales and answers are, word for word, those
of the kite model in float64, and how far the logits of the answers are off, as
a share of their spread. The folds are made in float64. Another processor rounds
other sums.
"""

from functools import cache

import torch

from course.chapter import functions
from experiments import kite
from experiments.experiment import Experiment

CHAPTER = functions("21")
STORIES = torch.tensor(kite.word_ids(kite.kite_stories(500, seed=99)))
BEGINNINGS = [f"Anna gave {name} a {thing} ."
              for name in "Eva Mia Zoe Tom Leo Max Ben".split()
              for thing in kite.KiteWorld.things]


def write(model: torch.nn.Module, text: str, most: int = 110) -> list[int]:
    """As chapter 15's, greedy, for logits of any type."""
    ids = [int(i) for i in kite.word_ids([text.split()])[0]]
    while len(ids) < most and kite.KiteWorld.words[ids[-1]] != "<end>":
        with torch.no_grad():
            ids.append(int(model(torch.tensor([ids]))[0, -1].argmax()))
    return ids


@cache
def in_float64() -> tuple[torch.nn.Module, torch.Tensor]:
    """The kite model and its logits."""
    made = kite.load().double()
    return made, CHAPTER.answer_logits(made, STORIES)


@cache
def tales() -> list[list[int]]:
    """What the kite model tells."""
    return [write(in_float64()[0], text) for text in BEGINNINGS]


@cache
def model(name: str, folded: bool) -> torch.nn.Module:
    """The kite model in another type, as it is or folded before."""
    made = kite.load().double()
    if folded:
        made = CHAPTER.fold_model(made)
    return made.to(getattr(torch, name))


@cache
def answers(name: str, folded: bool) -> tuple[int, float]:
    """How many stay, and how far the logits are off."""
    want = in_float64()[1]
    got = CHAPTER.answer_logits(model(name, folded), STORIES).double()
    return ((got.argmax(-1) == want.argmax(-1)).sum().item(),
            CHAPTER.logits_off(got, want))


def cell(name: str, column: int) -> float:
    """Tales, answers and distance; of the kite model, and folded."""
    what, folded = divmod(column, 2)
    if what:
        return answers(name, bool(folded))[what - 1]
    return sum(write(model(name, bool(folded)), text) == tale for text, tale
               in zip(BEGINNINGS, tales(), strict=True))


EXPERIMENT = Experiment(
    question="Does a folded model write the same text in 16 bits?",
    columns=["computed in", "same tales of 42: kite model", "folded",
             "same answers of 500: kite model", "folded",
             "logits off: kite model", "folded"],
    rows={name: (name,) for name in ("float32", "float16", "bfloat16")},
    cell=cell, formats=["{:.0f}"] * 4 + ["{:.2%}"] * 2,
    quick="bfloat16", quick_column=4, tolerance=0.1,
    tolerances=dict.fromkeys(("float32", "float16", "bfloat16"), 5.0),
    holds={
        "float32 keeps all": lambda table: table["float32"][:2] == [42, 42],
        "bfloat16 keeps few": lambda table: max(table["bfloat16"][:2]) < 6,
        "all answers stay": lambda table: all(
            row[2:4] == [500, 500] for row in table.values()),
        "folded or not, about as far": lambda table: abs(
            table["bfloat16"][5] / table["bfloat16"][4] - 1) < 0.3})
