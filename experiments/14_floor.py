"""How near does the kite model come to the lowest possible loss?

300 fresh stories like those of the training (seven gifts, one to four
questions). Words by kind; of each kind how many stand in a story, the mean
loss of the best reader (kite_best.py: what a word costs him on average) and
of the committed model.
"""

import random
import sys
from functools import cache
from pathlib import Path
from statistics import mean

sys.path.insert(0, str(Path(__file__).parents[1]))

import torch  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from experiments import kite, kite_best  # noqa: E402
from experiments.experiment import Experiment  # noqa: E402

KINDS = ["first word of a sentence", "word after *gave*", "*a* or *the*",
         "thing that is given", "receiver after *to*", "thing asked for",
         "answer", "all others"]
World = kite.KiteWorld


def kinds(words: list[str]) -> list[str]:
    """The kind of each word but the first."""
    first, after_gave, article, thing, receiver, asked, answer, rest = KINDS
    found = []
    for before, word in zip(words, words[1:], strict=False):
        found.append(
            answer if before.endswith("?") else
            asked if word.endswith("?") else
            after_gave if before == "gave" else
            receiver if before == "to" else
            thing if word in World.things else
            article if before in kite_best.PEOPLE and word in ("a", "the")
            else first if before in (".", "then") and word not in (
                ".", "<end>") else rest)
    return found


@cache
def losses() -> dict[str, list[tuple[float, float]]]:
    """Of each kind, of each word: of the best reader, of the model."""
    rng, model = random.Random(99), kite.load()
    found: dict[str, list[tuple[float, float]]] = {kind: [] for kind in KINDS}
    for _ in range(300):
        words = kite.story(rng, n_questions=rng.randint(1, 4))
        ids = torch.tensor(kite.word_ids([words]))
        with torch.no_grad():
            costs = F.cross_entropy(model(ids[:, :-1])[0], ids[0, 1:],
                                    reduction="none").tolist()
        for kind, *pair in zip(kinds(words), kite_best.entropies(words),
                               costs, strict=True):
            found[kind].append((pair[0], pair[1]))
    return found


def row(*these: str) -> list[float]:
    """A story's number of such words, and their two mean losses."""
    best, model = zip(*(pair for kind in these for pair in losses()[kind]),
                      strict=True)
    return [len(best) / 300, abs(mean(best)), mean(model)]


EXPERIMENT = Experiment(
    question="How near does the kite model come to the lowest possible loss?",
    columns=["kind of word", "in a story", "lowest possible loss",
             "trained model"],
    rows={**{kind: [kind] for kind in KINDS}, "all words": KINDS},
    row=row, formats=["{:.1f}", "{:.2f}", "{:.2f}"],
    quick="answer", tolerance=0.05,
    holds={
        "who gets it costs ln 7, and the model pays ln 8":
            lambda table: table["receiver after *to*"][1:] == [1.95, 2.08],
        "an answer can be known, and the model knows it":
            lambda table: max(table["answer"][1:]) < 0.01,
        "half of all words cost nothing":
            lambda table: table["all others"][0] / table["all words"][0]
            > 0.47 and max(table["all others"][1:]) < 0.01,
        "most is paid too much for the thing that is given":
            lambda table: table["thing that is given"][2]
            - table["thing that is given"][1] > 0.4,
        "the model is 0.1 above the lowest possible loss":
            lambda table: 0.08 < table["all words"][2]
            - table["all words"][1] < 0.12})
if __name__ == "__main__":
    for label in EXPERIMENT.rows:
        print(label, EXPERIMENT.measure(label))
