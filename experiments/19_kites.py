"""Who has the kite now, by attention and by memories of constant size?

The trainings of kite_memories.py, read from kite_memories.jsonl: 1,000 steps,
seeds 0 to 4, in turn stories that say who gave and lists that do not. Numbers
are shares of right answers to 1,000 held-out stories ("gave") and to the same
stories told as lists ("has"), then medians for lists by how often the thing
had been handed on, and for lists of 32 facts about three things. Nothing is
trained here.
"""

import sys
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

from experiments import kite_memories  # noqa: E402
from experiments.experiment import Experiment  # noqa: E402

WHAT = {"no memory": "no memory", "window of six tokens": "window",
        "sum": "sum", "sum with a gate": "gated sum",
        "delta": "delta", "gated delta": "gated delta", "attention": "softmax"}


def row(what: str) -> list[float]:
    """Median and lowest of both kinds; medians of lists."""
    found = [kite_memories.runs()[what, seed] for seed in range(5)]
    numbers = []
    for kind in ("gave", "has"):
        shares = [run[kind] for run in found]
        numbers += [median(shares), min(shares)]
    return numbers + [median(run[name] for run in found) for name in (
        "has 1", "has 2", "has 3", "3 32")]


EXPERIMENT = Experiment(
    question="Who has the kite now?",
    columns=["rule", "gave: median", "lowest", "has: median", "lowest",
             "handed on once", "twice", "three times", "32 facts"],
    rows={label: [what] for label, what in WHAT.items()},
    row=row, formats=["{:.2f}"] * 8, quick="delta", tolerance=0.01,
    holds={
        "without a memory it guesses": lambda table: max(
            table["no memory"]) < 0.2,
        "delta: nearly all, in each run": lambda table: min(
            table["delta"]) > 0.95,
        "after 32 facts, too": lambda table: table["delta"][7] > 0.95,
        "a sum falls from change to change": lambda table:
            table["sum"][4] - 0.1 > table["sum"][5] > table["sum"][6],
        "two sums are above the bound of one": lambda table:
            table["sum"][5] > 0.65 and table["sum"][6] > 0.6,
        "and does not last": lambda table: table["sum"][7] < 0.4,
        "better where the giver is named": lambda table:
            table["sum"][0] > table["sum"][2],
        "the window is right in about half": lambda table: max(abs(
            table["window of six tokens"][i] - 0.5) for i in (0, 2)) < 0.17,
        "attention lags": lambda table: table["attention"][1] < 0.97})
