"""Can four query heads share one head of keys and values?

Kite models of torch.manual_seed(0) to (4) with one key head for four query
heads, trained like kite_model, whose rows of five seeds stand above. Then the
committed model with the mean of its four key heads and value heads; and this
one trained on for 260 steps, a tenth, on stories of seeds 1100 to 1104.
Numbers are shares of right answers to 2,000 held-out stories.

    python experiments/15_shared_keys.py      goes on where it stopped

Each training is a line of 15_shared_keys.jsonl; delete a line to repeat it.
"""

import json
import sys
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import course.one_thread  # noqa: F401, E402, I001  before torch loads

import torch  # noqa: E402

from experiments import kite  # noqa: E402
from experiments.experiment import Experiment, Table  # noqa: E402

RUNS = Path(__file__).with_suffix(".jsonl")
FOUR = kite.WEIGHTS.with_suffix(".md")
SEEDS = range(5)
HELD_OUT = torch.tensor(kite.word_ids(kite.kite_stories(2000, seed=99)))


def right(model: torch.nn.Module) -> float:
    """The share of right answers."""
    return kite.right_answers(model, HELD_OUT).float().mean().item()


def pooled() -> kite.Transformer:
    """The committed model with the mean of its key heads and value heads."""
    weights = kite.load().state_dict()
    for name, W in weights.items():
        if "W_K" in name or "W_V" in name:
            weights[name] = W.unflatten(0, (4, -1)).mean(dim=0)
    model = kite.Transformer(h_kv=1)
    model.load_state_dict(weights)
    return model


def anew(seed: int) -> float:
    """One key head, trained from its seed."""
    torch.manual_seed(seed)
    model = kite.Transformer(h_kv=1)
    kite.train(model, kite.kite_batches(kite.STEPS, seed + 1000))
    return right(model)


def trained_on(seed: int) -> float:
    """The mean of the key heads, trained for a tenth of the steps."""
    model = pooled()
    kite.train(model, kite.kite_batches(260, seed + 1100, n_short=0),
               warm_up=20)
    return right(model)


RUN = {"one key head": anew, "mean of four, 260 more steps": trained_on}


def runs() -> dict[tuple[str, int], float]:
    """What has been trained."""
    if not RUNS.exists():
        return {}
    return {(run["what"], run["seed"]): run["right"] for run
            in map(json.loads, RUNS.read_text("utf-8").splitlines())}


@cache
def mean_of_four() -> float:
    """Without a training there is one model."""
    return right(pooled())


def cell(what: str, seed: int) -> float:
    """One number of one seed."""
    if what == "four key heads":
        rows = Table.parse(FOUR.read_text("utf-8")).numbers
        return rows[f"seed {seed}"][0]
    if what == "mean of four":
        return mean_of_four()
    return runs()[what, seed]


def main() -> None:
    """Train what has no line yet; a line for each."""
    torch.set_num_threads(1)
    for what, train in RUN.items():
        for seed in SEEDS:
            if (what, seed) not in runs():
                line = json.dumps({"what": what, "seed": seed,
                                   "right": round(train(seed), 4)})
                with RUNS.open("a", encoding="utf-8") as file:
                    print(line, file=file)
                print(line, flush=True)


LABELS = "four key heads", *RUN, "mean of four"
EXPERIMENT = Experiment(
    question="Can four query heads share one head of keys and values?",
    columns=["right answers", *(f"seed {i}" for i in SEEDS)],
    rows={label: (label,) for label in LABELS},
    cell=cell, formats=["{:.2f}"] * 5,
    quick="mean of four", tolerance=0.1,
    tolerances={"four key heads": 0.1, "one key head": 10.0,
                "mean of four, 260 more steps": 10.0},
    holds={
        "four of five share": lambda table: sorted(
            table["one key head"])[1] > 0.95 > min(table["one key head"]),
        "the mean alone fails": lambda table: max(
            table["mean of four"]) < 0.25,
        "a tenth of the steps brings most back": lambda table: min(
            table["mean of four, 260 more steps"]) > 0.5})

if __name__ == "__main__":
    main()
