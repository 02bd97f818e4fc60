"""Is a head that looks at the right thing needed?

The lists of chapter 11, models of two layers with two heads each, trained by
600 steps of Adam, seeds 0 to 4. Both heads of layer 1 are taken away in turn
(their W_O is set to 0): the one whose loss hurts more is called needed, the
other spare.
"""

from functools import cache

from course.chapter import functions
from experiments.experiment import Experiment

CHAPTER = functions("11")


@cache
def measured(seed: int) -> list[float]:
    """Right; weight and rest of the needed head, of the spare one; of both."""
    model = CHAPTER.train_lists(2, 2, seed, 600)
    _, thing = CHAPTER.looks(model)
    rest = [CHAPTER.share_right(CHAPTER.without(model, 1, i)) for i in (0, 1)]
    needed, spare = sorted((0, 1), key=lambda i: rest[i])
    both = CHAPTER.without(CHAPTER.without(model, 1, 0), 1, 1)
    return [CHAPTER.share_right(model), thing[needed].item(), rest[needed],
            thing[spare].item(), rest[spare], CHAPTER.share_right(both)]


def cell(what: int, column: int) -> float:
    """One number of one seed."""
    return measured(column)[what]


EXPERIMENT = Experiment(
    question="Is a head that looks at the right thing needed?",
    columns=["two heads a layer", *(f"seed {i}" for i in range(5))],
    rows={"right": (0,),
          "needed head: weight on the right thing": (1,),
          "right without it": (2,),
          "spare head: weight on the right thing": (3,),
          "right without the spare head": (4,),
          "right without both": (5,)},
    cell=cell, formats=["{:.2f}"] * 5,
    quick="right", quick_column=0, tolerance=0.05,
    tolerances={"needed head: weight on the right thing": 0.3,
                "right without it": 10.0,
                "spare head: weight on the right thing": 10.0,
                "right without both": 10.0},
    holds={
        "all are right": lambda table: min(table["right"]) > 0.97,
        "a head that looks and is not missed": lambda table: min(
            table["spare head: weight on the right thing"]) > 0.5
        and min(table["right without the spare head"]) > 0.97,
        "the other is missed": lambda table: max(
            table["right without it"]) < 0.95,
        "without both, a guess": lambda table: max(
            table["right without both"]) < 0.25})
