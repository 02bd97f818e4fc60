"""Who has the kite now, by attention and by memories of constant size?

The trainings of kite_memories.py, read from kite_memories.jsonl: 500 steps,
seeds 0 to 4, stories that say who gave and lists that do not. Numbers are
shares of right answers to 1,000 held-out stories ("gave") and to the same
stories told as lists ("has"), then medians for lists by how often the thing
had been handed on. "sum, trained on gave" has read no lists. Nothing is
trained here.
"""

import sys
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

from experiments import kite_memories  # noqa: E402
from experiments.experiment import Experiment  # noqa: E402

WHAT = {"no memory": "no memory", "window of six tokens": "window",
        "sum": "sum", "sum with a gate": "gated sum", "delta": "delta",
        "gated delta": "gated delta", "attention": "softmax",
        "sum, trained on gave": "sum, gave"}


def row(what: str) -> list[float]:
    """Median and lowest of both kinds; lists by hand-ons."""
    found = [kite_memories.runs()[what, seed] for seed in range(5)]
    numbers = []
    for kind in ("gave", "has"):
        shares = [run[kind] for run in found]
        numbers += [median(shares), min(shares)]
    return numbers + [median(run[f"has {k}"] for run in found)
                      for k in range(4)]


EXPERIMENT = Experiment(
    question="Who has the kite now?",
    columns=["rule", "gave: median", "lowest", "has: median", "lowest",
             "never handed on", "once", "twice", "three times"],
    rows={label: [what] for label, what in WHAT.items()},
    row=row, formats=["{:.2f}"] * 8, quick="delta", tolerance=0.01,
    holds={
        "without a memory it guesses": lambda table: max(
            table["no memory"]) < 0.2,
        "delta: nearly all, in the median": lambda table: min(
            table["delta"][0], table["delta"][2]) > 0.98,
        "two of five deltas have not finished": lambda table:
            table["delta"][1] < 0.7 < table["delta"][3] < 0.9,
        "a sum: 65 of 100 lists": lambda table: abs(
            table["sum"][2] - 0.65) < 0.02,
        "a sum does not know the order": lambda table: max(
            abs(table["sum"][6] - 0.57), abs(table["sum"][7] - 0.47)) < 0.03,
        "a gate tells it most of the order": lambda table:
            table["sum with a gate"][2] > 0.9,
        "and pays with what is old": lambda table:
            table["sum with a gate"][4] < table["delta"][4] - 0.1,
        "both: best on lists": lambda table: table["gated delta"][2] == max(
            numbers[2] for numbers in table.values()),
        "one gated delta has not learned": lambda table:
            table["gated delta"][3] < 0.5,
        "the window is right in about half": lambda table: max(abs(
            table["window of six tokens"][i] - 0.5) for i in (0, 2)) < 0.08,
        "attention lags": lambda table: table["attention"][2] < 0.9,
        "a sum learns from the giver": lambda table:
            table["sum, trained on gave"][0] > 0.85})
