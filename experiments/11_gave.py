"""Can one average tell who gave, to whom, and what?

Sentences of chapter 11, "Anna gave Tom a kite": twelve persons, six things,
words of 48 random numbers with sinusoids added. At "gave" a layer returns the
codes of giver, receiver and gift. It learns 200 sentences by 1,000 steps of
Adam (two layers: 2,000) and is asked the other 592, seeds 0 to 4; a code is
right if it is nearest to the wanted one. "Positions alone": queries and keys
are made of sinusoids only, so that the weights cannot depend on the words.
"""

from functools import cache
from statistics import median

from course.chapter import functions
from experiments.experiment import Experiment

CHAPTER = functions("11")
ONE, ALONE, THREE, LAYERS = (
    (1, 1000), (1, 1000, 1, None, True), (3, 1000), (1, 2000, 2, 24))
PERSONS = slice(0, 2)


@cache
def right(seed: int, setting: tuple) -> list[float]:
    """Giver, receiver and gift that one trained model finds."""
    return CHAPTER.train_gave(seed, *setting)


def share(setting: tuple, part: str, seed: int) -> float:
    """The share of right answers for one seed."""
    giver, receiver, gift = right(seed, setting)
    return {"gift": gift, "better": max(giver, receiver),
            "other": min(giver, receiver),
            "worst": min(giver, receiver, gift)}[part]


def cell(setting: tuple, part: str, column: int) -> float:
    """The share of seed 0, or a statistic of the five."""
    if column == 0:
        return share(setting, part, 0)
    return (min, median, max)[column - 1](
        [share(setting, part, seed) for seed in range(5)])


EXPERIMENT = Experiment(
    question="Can one average tell who gave, to whom, and what?",
    columns=["layer", "seed 0", "lowest", "median", "highest"],
    rows={"one head: the gift": (ONE, "gift"),
          "one head: one of the persons": (ONE, "better"),
          "one head: the other person": (ONE, "other"),
          "one head, positions alone: the other person": (ALONE, "other"),
          "three heads: the worst of the three": (THREE, "worst"),
          "two layers of one head: the worst": (LAYERS, "worst")},
    cell=cell, formats=["{:.2f}"] * 4,
    quick="one head: the gift", quick_column=0, tolerance=0.05,
    tolerances={"one head: the other person": 10.0,
                "one head, positions alone: the other person": 10.0},
    holds={
        "one head finds the gift and a person": lambda table: min(
            table["one head: the gift"]
            + table["one head: one of the persons"]) > 0.97,
        "the other person is hardly more than a guess": lambda table: max(
            table["one head: the other person"]) < 0.3,
        "positions alone: a guess": lambda table: max(
            table["one head, positions alone: the other person"]) < 0.12,
        "three heads find all": lambda table: min(
            table["three heads: the worst of the three"]) > 0.97,
        "two layers find nearly all": lambda table: min(
            table["two layers of one head: the worst"]) > 0.85})
