"""How many things can a state keep apart?

Lists of eight facts about one to six things: shares of right answers. The
first rows are medians of trainings of kite_memories.py, on lists alone (one
head with some columns, or a window of six tokens in four heads); nothing is
trained here. "random keys": no training. Each thing has a key of length 1 in a
random direction, a name is a one-hot value, the rule writes with beta = 1, and
the answer is the largest number: five seeds of 400 lists each, the median.
"""

import sys
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np  # noqa: E402

from experiments import kite_memories  # noqa: E402
from experiments.experiment import Experiment  # noqa: E402

CHAPTER = kite_memories.CHAPTER
THINGS = range(1, 7)


def trained(what: str, n_things: int) -> float:
    """The median of five seeds."""
    return median(kite_memories.runs()[what, seed][f"{n_things} 8"]
                  for seed in range(5))


def untrained(rule: str, d_k: int, n_things: int, seed: int) -> float:
    """Share of right answers with random keys; see above."""
    rng, right = np.random.default_rng(seed), 0
    for _ in range(400):
        keys = CHAPTER.unit_length(rng.normal(size=(n_things, d_k)))
        things = rng.permutation([*range(n_things), *rng.integers(
            n_things, size=8 - n_things)])
        names = rng.integers(8, size=8)
        state = np.zeros((8, d_k))
        for thing, name in zip(things, names, strict=True):
            k, v = keys[thing], np.eye(8)[name]
            state = (CHAPTER.write_sum(state, k, v) if rule == "sum" else
                     CHAPTER.write_delta(state, k, v, np.array(1.0)))
        asked = things[rng.integers(8)]
        answer = CHAPTER.read_memory(state, keys[asked]).argmax()
        right += answer == names[things == asked][-1]
    return right / 400


def row(what: str, d_k: int) -> list[float]:
    """For each number of things."""
    if not d_k:
        return [trained(what, n) for n in THINGS]
    return [median(untrained(what, d_k, n, seed) for seed in range(5))
            for n in THINGS]


EXPERIMENT = Experiment(
    question="How many things can a state keep apart?",
    columns=["memory", "1 thing", *(f"{n} things" for n in THINGS if n > 1)],
    rows={"delta, 24 columns": ("24 columns", 0),
          "delta, 6 columns": ("6 columns", 0),
          "delta, 2 columns": ("2 columns", 0),
          "window of six tokens": ("window, has", 0),
          "random keys, delta, 24 columns": ("delta", 24),
          "random keys, delta, 6 columns": ("delta", 6),
          "random keys, delta, 2 columns": ("delta", 2),
          "random keys, sum, 24 columns": ("sum", 24)},
    row=row, formats=["{:.2f}"] * 6,
    quick="random keys, delta, 6 columns", tolerance=0.05,
    holds={
        "24 columns hold six things": lambda table: min(
            table["delta, 24 columns"][5],
            table["random keys, delta, 24 columns"][5]) > 0.98,
        "with six, training beats random keys": lambda table:
            table["delta, 6 columns"][5] > 0.9
            > table["random keys, delta, 6 columns"][5] + 0.1,
        "with two, it stays below them and the window": lambda table: all(
            table["delta, 2 columns"][n] < table[other][n] - 0.04
            for n in range(1, 6) for other in (
                "window of six tokens", "random keys, delta, 2 columns")),
        "a sum with many columns suffers from changes": lambda table:
            table["random keys, sum, 24 columns"][0] < 0.4})
