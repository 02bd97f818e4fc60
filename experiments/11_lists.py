"""Which heads continue a list: two in one layer, or one in each of two?

Lists of chapter 11, "Anna kite Tom drum ... Anna": four pairs of twelve names
and twelve things, then the names again in another order, each followed by its
thing. Models without feed-forward layers, trained by 1,200 steps of Adam,
seeds 0 to 4; on 500 new lists the share of right things, and the mean weight
of a head on the word before a thing's own place, or on the right thing.
"Without": W_O of a head is set to 0 after training. "In the list": the share
of answers that are things of their list; a blind guess has 4 of 12.
"""

from functools import cache

from course.chapter import functions
from experiments.experiment import Experiment

CHAPTER = functions("11")
STEPS = 1200


@cache
def one_layer(seed: int, steps: int) -> float:
    """What a layer of two heads gets right."""
    return CHAPTER.share_right(CHAPTER.train_lists(1, 2, seed, steps))


@cache
def two_layers(seed: int) -> list[float]:
    """Right; weights of the two heads; right without each; in the list."""
    model = CHAPTER.train_lists(2, 1, seed, STEPS)
    before, thing = CHAPTER.looks(model)
    return [CHAPTER.share_right(model), before.item(), thing.item(),
            *(CHAPTER.share_right(CHAPTER.without(model, layer, 0))
              for layer in (0, 1)),
            CHAPTER.share_listed(CHAPTER.without(model, 1, 0))]


def cell(n_layers: int, what: int, column: int) -> float:
    """One number of one seed."""
    if n_layers == 1:
        return one_layer(column, what)
    return two_layers(column)[what]


EXPERIMENT = Experiment(
    question="Which heads continue a list?",
    columns=["model, measure", *(f"seed {i}" for i in range(5))],
    rows={"one layer of two heads, 600 steps: right": (1, 600),
          "one layer of two heads, 1,200 steps: right": (1, STEPS),
          "two layers of one head: right": (2, 0),
          "layer 0: weight on the word before": (2, 1),
          "layer 1: weight on the right thing": (2, 2),
          "right without the head of layer 0": (2, 3),
          "right without the head of layer 1": (2, 4),
          "in the list without the head of layer 1": (2, 5)},
    cell=cell, formats=["{:.2f}"] * 5,
    quick="one layer of two heads, 600 steps: right", quick_column=0,
    tolerance=0.3,
    tolerances={"two layers of one head: right": 0.05,
                "in the list without the head of layer 1": 0.5,
                "layer 0: weight on the word before": 0.1,
                "layer 1: weight on the right thing": 0.1},
    holds={
        "one layer guesses among the things of the list": lambda table: all(
            0.2 < share < 0.52 for label in table for share in table[label]
            if label.startswith("one layer")),
        "four of five learn it, by the plan": lambda table: all(
            min(numbers) > 0.9 or max(numbers) < 0.5 for numbers in zip(
                table["two layers of one head: right"],
                table["layer 0: weight on the word before"],
                table["layer 1: weight on the right thing"], strict=True))
        and sorted(table["two layers of one head: right"])[1] > 0.97,
        "and need both heads": lambda table: max(
            table["right without the head of layer 0"]
            + table["right without the head of layer 1"]) < 0.3,
        "four hardly know the list without layer 1": lambda table: 0.3 < min(
            table["in the list without the head of layer 1"]) and sorted(
            table["in the list without the head of layer 1"])[3] < 0.6})
