"""What do layers do in stories that begin where none began in training?

Layers of chapter 10, seeds 0 to 4, learn from stories that begin at position
0, or anywhere from 0 to 40. They read stories with three words between the
sentences that begin elsewhere. "Only word with place" takes one part of (10.3)
from there, and the three others from the stories at 0. "She alone": her answers
are all that counts, in training and in the test.
"""

from functools import cache
from typing import Any

import torch

from course.chapter import functions
from experiments.experiment import Experiment

CHAPTER = functions("10")
STATISTICS = min, max
ROWS: dict[str, tuple[Any, ...]] = {
    f"sinusoids, begins at {first}": ("with_sinusoids", first, "")
    for first in (0, 1, 2, 5, 40, 1000)}
ROWS |= {f"sinusoids, only {part} from {first}":
         ("with_sinusoids", first, part) for first in (5, 40)
         for part in ("word with word", "word with place", "place with word",
                      "place with place")}
ROWS |= {f"sinusoids, trained from 0 to 40, begins at {first}":
         ("anywhere", first, "") for first in (0, 20, 40, 45, 60, 1000)}
ROWS |= {f"sinusoids, she alone, begins at {first}":
         ("she", first, "") for first in (0, 5, 40)}
ROWS |= {f"sinusoids, she alone, trained from 0 to 40, begins at {first}":
         ("she anywhere", first, "") for first in (0, 20, 40, 45)}
ROWS |= {f"RoPE, begins at {first}": ("with_rope", first, "")
         for first in (0, 5, 40, 1000)}


@cache
def trained(method: str, seed: int) -> Any:
    """A layer that has learned the stories."""
    who = slice(0, 1) if "she" in method else slice(None)
    if "anywhere" not in method:
        return CHAPTER.train_on_gifts(
            CHAPTER.with_rope if method == "with_rope"
            else CHAPTER.with_sinusoids, seed,
            600 if method == "with_rope" else 300, who)
    where = torch.Generator().manual_seed(seed)

    def moved(X: torch.Tensor, W: torch.Tensor) -> Any:
        first = int(torch.randint(41, (1,), generator=where))
        return CHAPTER.with_sinusoids(X, W, first)

    return CHAPTER.train_on_gifts(moved, seed, 600, who)


def right(method: str, first: int, part: str, seed: int) -> float:
    """The fraction of right answers of one layer."""
    layer = trained(method, seed)
    if part:
        return CHAPTER.right_answers(layer, CHAPTER.exchanged, moved=part,
                                first=first)
    scores = CHAPTER.with_rope if method == "with_rope" else (
        CHAPTER.with_sinusoids)
    return CHAPTER.right_answers(
        layer, scores, who=(0,) if "she" in method else (0, 1), first=first)


def cell(method: str, first: int, part: str, column: int) -> float:
    """Of seed 1, or the lowest or highest of five."""
    if column == 0:
        return right(method, first, part, 1)
    return STATISTICS[column - 1](right(method, first, part, seed)
                                  for seed in range(5))


EXPERIMENT = Experiment(
    question="What do layers do in stories that begin elsewhere?",
    columns=["layer", "seed 1", "lowest", "highest"],
    rows=ROWS, cell=cell, formats=["{:.2f}"] * 3,
    quick="sinusoids, begins at 0", quick_column=0, tolerance=0.05,
    tolerances={label: 100.0 for label in ROWS if "0.00" in label
                or not label.endswith("begins at 0")},
    holds={
        "all right where training was": lambda rows: min(
            rows["sinusoids, begins at 0"]) == 1,
        "between 0 and 29 % at 5": lambda rows: rows[
            "sinusoids, begins at 5"][1:] == [0, 0.29],
        "only one part is guilty": lambda rows: all(
            (row[2] < 0.5) if "only word with place" in label
            else row[1] > 0.99 for label, row in rows.items()
            if "only" in label),
        "92 % right from 0 to 40": lambda rows: min(
            min(rows[f"sinusoids, trained from 0 to 40, begins at {first}"])
            for first in (0, 20, 40)) == 0.92,
        "12 to 50 % at 45": lambda rows: rows[
            "sinusoids, trained from 0 to 40, begins at 45"][1:] == [
                0.12, 0.5],
        "she alone: all right at 0, at most 19 % at 5": lambda rows: (
            min(rows["sinusoids, she alone, begins at 0"]) == 1
            and rows["sinusoids, she alone, begins at 5"][2] == 0.19),
        "she alone, more beginnings: right there only": lambda rows: min(
            min(rows[f"sinusoids, she alone, trained from 0 to 40, begins at "
                     f"{first}"]) for first in (0, 20, 40)) == 1 and rows[
            "sinusoids, she alone, trained from 0 to 40, begins at 45"][
                2] < 0.5,
        "0 to 45 % with the guilty part at 5": lambda rows: rows[
            "sinusoids, only word with place from 5"][1:] == [0, 0.45],
        "RoPE does not notice": lambda rows: min(
            min(row) for label, row in rows.items() if "RoPE" in label) == 1})
