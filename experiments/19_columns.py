"""How many things can a state keep apart?

Lists of eight facts about two, three and six things: shares of right answers.
The first rows are medians of trainings of kite_memories.py, on lists alone
(one head with some columns, or a window of six tokens in four heads); nothing
is trained here. "random keys": no training. Each thing has a key of length 1
in a random direction, or the absolute values of such a key, a name is a
one-hot value, the delta rule writes with beta = 1, and the answer is the
largest number: five seeds of 400 lists each, the median.
"""

import sys
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np  # noqa: E402

from experiments import kite_memories  # noqa: E402
from experiments.experiment import Experiment  # noqa: E402

CHAPTER = kite_memories.CHAPTER
THINGS = 2, 3, 6


def trained(what: str, n_things: int) -> float:
    """The median of its seeds."""
    return median(run[f"{n_things} 8"] for (each, _), run
                  in kite_memories.runs().items() if each == what)


def untrained(keys_are: str, d_k: int, n_things: int, seed: int) -> float:
    """Share of right answers with random keys; see above."""
    rng, right = np.random.default_rng(seed), 0
    for _ in range(400):
        keys = CHAPTER.unit_length(rng.normal(size=(n_things, d_k)))
        if keys_are == "corner":
            keys = abs(keys)
        things = rng.permutation([*range(n_things), *rng.integers(
            n_things, size=8 - n_things)])
        names = rng.integers(8, size=8)
        state = np.zeros((8, d_k))
        for thing, name in zip(things, names, strict=True):
            k, v = keys[thing], np.eye(8)[name]
            state = CHAPTER.write_delta(state, k, v, np.array(1.0))
        asked = things[rng.integers(8)]
        answer = CHAPTER.read_memory(state, keys[asked]).argmax()
        if keys_are == "newest":
            answer = names[-1]
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
    columns=["memory", *(f"{n} things" for n in THINGS)],
    rows={"delta, 24 columns": ("24 columns", 0),
          "delta, 6 columns": ("6 columns", 0),
          "delta, 2 columns": ("2 columns", 0),
          "the same without SiLU on keys": ("2 columns, no SiLU", 0),
          "window of six tokens": ("window, has", 0),
          "random keys, 24 columns": ("any", 24),
          "random keys, 6 columns": ("any", 6),
          "random keys, 2 columns": ("any", 2),
          "the same, no number negative": ("corner", 2),
          "always the newest name": ("newest", 2)},
    row=row, formats=["{:.2f}"] * 3,
    quick="random keys, 6 columns", tolerance=0.05,
    holds={
        "24 columns hold six things": lambda table: min(
            table["delta, 24 columns"][2],
            table["random keys, 24 columns"][2]) > 0.98,
        "with six, training beats random keys": lambda table:
            table["delta, 6 columns"][2] > 0.9
            > table["random keys, 6 columns"][2] + 0.1,
        "with two, it is below them and the window": lambda table: all(
            table["delta, 2 columns"][n] < table[other][n] - 0.04
            for n in range(3) for other in (
                "window of six tokens", "random keys, 2 columns")),
        "and no better than the newest name": lambda table: all(
            abs(table[what][n] - table["always the newest name"][n]) < 0.04
            for n in range(3) for what in (
                "delta, 2 columns", "the same without SiLU on keys")),
        "a corner costs": lambda table: all(
            table["the same, no number negative"][n]
            < table["random keys, 2 columns"][n] - 0.08 for n in range(3))})
