"""Who has the kite now, by attention and by memories of constant size?

The trainings of kite_memories.py, read from kite_memories.jsonl: 1,000 steps,
seeds 0 to 4, in turn stories that say who gave and lists that do not. Numbers
are medians of right answers to 1,000 held-out stories ("gave"), to the same
stories told as lists ("has"), with the lowest run, to those lists in which the
thing was handed on three times, and to lists of 32 facts about three things.
Nothing is trained here.
"""

import sys
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

from experiments import kite_memories  # noqa: E402
from experiments.experiment import Experiment  # noqa: E402

WHAT = {"no memory": "no memory", "window of six tokens": "window",
        "sum": "sum", "sum with a gate": "gated sum",
        "delta": "delta", "gated delta": "gated delta", "attention": "softmax",
        "sum, one block": "sum, one block",
        "delta, one block": "delta, one block"}


def row(what: str) -> list[float]:
    """Medians, and the lowest of "has"."""
    runs = kite_memories.runs()
    found = [runs[what, seed] for seed in range(5) if (what, seed) in runs]
    shares = {name: [run[name] for run in found]
              for name in ("gave", "has", "has 3", "3 32")}
    return [median(shares["gave"]), median(shares["has"]), min(shares["has"]),
            median(shares["has 3"]), median(shares["3 32"])]


EXPERIMENT = Experiment(
    question="Who has the kite now?",
    columns=["rule", "gave", "has", "has: lowest", "handed on three times",
             "32 facts"],
    rows={label: [what] for label, what in WHAT.items()},
    row=row, formats=["{:.2f}"] * 5, quick="delta", tolerance=0.01,
    holds={
        "without a memory it guesses": lambda table: max(
            table["no memory"]) < 0.2,
        "delta: nearly all, in each run": lambda table: min(
            table["delta"]) > 0.95,
        "with a gate one run of five fails": lambda table:
            table["gated delta"][1] > 0.99
            and table["gated delta"][2] < 0.5,
        "a sum falls": lambda table:
            table["sum"][3] < table["sum"][1] - 0.05,
        "two sums are above the bound of one": lambda table:
            table["sum"][3] > 0.6,
        "one block of sums is near it": lambda table: abs(
            table["sum, one block"][3] - 0.469) < 0.09,
        "one block of delta knows the order": lambda table: min(
            table["delta, one block"]) > 0.95,
        "and does not last": lambda table: table["sum"][4] < 0.4,
        "a gate helps on lists, not on stories": lambda table:
            table["sum with a gate"][1] > table["sum"][1] + 0.05
            and abs(table["sum with a gate"][0] - table["sum"][0]) < 0.01,
        "better where the giver is named": lambda table:
            table["sum"][0] > table["sum"][1],
        "the window is right in about half": lambda table: max(abs(
            table["window of six tokens"][i] - 0.5) for i in (0, 1)) < 0.17,
        "attention lags": lambda table: table["attention"][0] < 0.97})
