"""How many questions does the kite model answer?

Models from torch.manual_seed(0) to (4), each trained on its own fresh
stories: 400 batches of short ones, with three gifts, then 2,200 of long ones,
with seven gifts and one to four questions. Numbers are shares of 2,000
held-out stories, with one question at the end, that are answered rightly: of
all, of those in which each rule of thumb is wrong, and by how often the thing
was handed on. "committed" is seed COMMITTED with its weights rounded to
float16, as stored in kite_model.npz; the rules of thumb stand below. Another
processor trains other weights: the rows of seeds are compared by what the
chapter says.

    python -m experiments.kite_model        trains it, stores its weights

kite_curve.json holds how it learned: the share of right answers to the
first 500 held-out stories each 100 steps, and the mean loss of these steps.
"""

import json
from collections.abc import Callable, Sequence

import numpy as np
import torch

from experiments import kite
from experiments.experiment import Experiment

COMMITTED = 4                                    # the seed
CURVE = kite.WEIGHTS.with_name("kite_curve.json")
HELD_OUT = kite.stories(2000, seed=99)
IDS = torch.tensor(kite.word_ids(HELD_OUT))
ANSWERS = [words[-3] for words in HELD_OUT]
RULES = [kite.rules_of_thumb(words) for words in HELD_OUT]
HARD = np.array([answer not in rules.values() for answer, rules
                 in zip(ANSWERS, RULES, strict=True)])
HANDED_ON = np.array([
    [thing for *_, thing in kite.gifts(words)].count(words[-4][:-1]) - 1
    for words in HELD_OUT])


def shares(right: np.ndarray) -> list[float]:
    """Of all, of the hard, of 0, 1, 2, 3 and more hand-ons. right (2000,)"""
    among = [HARD, *(HANDED_ON == k for k in range(3)), HANDED_ON >= 3]
    return [right.mean().item(), *(right[these].mean().item()
                                   for these in among)]


def trained(seed: int,
            curve: dict[str, list[float]] | None = None) -> kite.Transformer:
    """The model of one seed; fills a curve."""
    torch.manual_seed(seed)
    model = kite.Transformer()
    right: list[float] = []

    def watch(step: int) -> None:
        """Each 100 steps."""
        if curve is not None and step % 100 == 0:
            found = kite.right_answers(model, IDS[:500])
            right.append(found.float().mean().item())

    losses = kite.train(model, kite.kite_batches(kite.STEPS, seed + 1000),
                        watch=watch)
    if curve is not None:
        curve["step"] = list(range(0, len(losses) + 1, 100))
        curve["right"] = [round(share, 3) for share in right]
        curve["loss"] = [round(sum(losses[i:i + 100]) / 100, 4)
                         for i in range(0, len(losses), 100)]
    return model


def by_model(make: Callable[[], torch.nn.Module]) -> list[float]:
    """The shares of a model."""
    return shares(kite.right_answers(make(), IDS).numpy())


def by_rule(rule: str) -> list[float]:
    """The shares of a rule of thumb."""
    return shares(np.array([rules[rule] == answer for answer, rules
                            in zip(ANSWERS, RULES, strict=True)]))


def row(of: Callable[..., Sequence[float]], *what: object) -> Sequence[float]:
    """The numbers of a row."""
    return of(*what)


EXPERIMENT = Experiment(
    question="How many questions does the kite model answer?",
    columns=["reader", "all", "no rule helps", "never handed on", "once",
             "twice", "more often"],
    rows={**{f"seed {seed}": (lambda seed=seed: by_model(
                lambda: trained(seed)),) for seed in range(5)},
          "committed": (by_model, kite.load),
          **{rule: (by_rule, rule) for rule in RULES[0]}},
    row=row, formats=["{:.3f}"] * 6, quick="committed", tolerance=0.02,
    tolerances={f"seed {seed}": 10 for seed in range(5)},
    holds={
        "no rule of thumb answers half of them":
            lambda table: max(table[rule][0] for rule in RULES[0]) < 0.5,
        "each model answers more than 90 percent":
            lambda table: min(table[f"seed {seed}"][0]
                              for seed in range(5)) > 0.9,
        "the committed model answers more than 95 percent":
            lambda table: table["committed"][0] > 0.95})


if __name__ == "__main__":
    curve: dict[str, list[float]] = {}
    kite.save(trained(COMMITTED, curve))
    CURVE.write_text(json.dumps(curve) + "\n", "utf-8")
    print(by_model(kite.load))
