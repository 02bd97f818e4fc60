"""What does the kite model learn without one of its parts?

The trainings of kite_parts.py, read from kite_parts.jsonl: whole models and
models without one part, 2,600 steps each, from torch.manual_seed(0) on, at
the rate 0.004, and seed 0 at the rate 0.002 as well. Numbers are shares of
right answers to 2,000 held-out stories, and the mean loss on 200 of them
(without a mask: with the words so far, as a writer has them), each the
median of the seeds. Nothing is trained here: tests train the rows without
attention and without mask again for a few steps, and ask for the verdict.
"""

import json
import sys
from functools import cache
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

from experiments.experiment import HERE, Experiment  # noqa: E402

WITHOUT = {                             # in the table: in kite_parts.py
    "nothing": "nothing", "three of four heads": "three of four heads",
    "norms": "norms", "residual connections": "shortcuts",
    "feed-forward layers": "feed-forward layers", "positions": "positions",
    "one of two blocks": "one of two blocks", "attention": "attention",
    "mask": "mask"}


@cache
def runs() -> list[dict]:
    """The trainings that are done."""
    lines = (HERE / "kite_parts.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def row(without: str) -> list[float]:
    """Trainings; right answers: lowest, median, highest, at 0.002; loss."""
    found = {rate: [run for run in runs() if run["without"] == without
                    and run["rate"] == rate] for rate in (0.004, 0.002)}
    right = [run["answers"] for run in found[0.004]]
    loss = [run.get("loss, so far", run["loss, whole story"])
            for run in found[0.004]]
    [slow] = found[0.002]
    return [len(right), min(right), median(right), max(right),
            slow["answers"], median(loss)]


EXPERIMENT = Experiment(
    question="What does the kite model learn without one of its parts?",
    columns=["without", "trainings", "right: lowest", "median", "highest",
             "seed 0, half the rate", "loss"],
    rows={label: [name] for label, name in WITHOUT.items()},
    row=row, formats=["{:.0f}"] + ["{:.2f}"] * 5,
    quick="nothing", tolerance=0.01,
    holds={
        "whole models answer nine of ten":
            lambda table: table["nothing"][1] > 0.9,
        "without attention or mask: one of eight names, as a guess":
            lambda table: max(max(table[part][1:5])
                              for part in ("attention", "mask")) < 0.16,
        "one block: about as good as the last name, one a bit better":
            lambda table: (table["one of two blocks"][2] < 0.45
                           and max(table["one of two blocks"][1:5]) < 0.6),
        "one wide head: nine of ten at the rate 0.004":
            lambda table: table["three of four heads"][1] > 0.9,
        "no norms: more than 85 of 100, and at half the rate much less":
            lambda table: table["norms"][1] > 0.85 > 0.7 > table["norms"][4],
        "without positions not more than six of ten":
            lambda table: max(table["positions"][1:5]) < 0.6,
        "without feed-forward layers and without residual connections it"
        " depends on the seed":
            lambda table: min(table[part][3] - table[part][1] for part in (
                "feed-forward layers", "residual connections")) > 0.2})
