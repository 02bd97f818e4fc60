"""How many words does one pass of the kite model give?

100 stories at T = 1, from seed 5, by speculative decoding with a table of the
word behind each pair of words (2,000 stories of seed 1); "blind" is a table of
equal probabilities. Words a pass; of the guesses, those kept; rows that the
model computes for a word.
"""

import numpy as np
import torch

from course.chapter import functions
from experiments.experiment import Experiment

CHAPTER = functions("15")


def row(k: int, blind: bool = False) -> list[float]:
    """Words a pass, per cent of guesses kept, rows a word."""
    model = CHAPTER.Transformer()
    model.load_state_dict({name: torch.tensor(w) for name, w
                           in CHAPTER.kite_weights().items()})
    table = CHAPTER.pair_table(CHAPTER.kite_stories(2000, seed=1))
    if blind:
        table = np.full_like(table, 1 / len(table))
    rng, passes, words, kept = np.random.default_rng(5), 0, 0, 0
    for i in range(100):
        name = (CHAPTER.KiteWorld.women + CHAPTER.KiteWorld.men)[i % 8]
        counts = CHAPTER.write_by_guesses(model, f"{name} gave", table, k,
                                          rng)[1]
        passes += len(counts)
        words += sum(counts)
        kept += sum(counts) - len(counts)
    return [words / passes, 100 * kept / (k * passes),
            (k + 1) * passes / words]


EXPERIMENT = Experiment(
    question="How many words does one pass of the kite model give?",
    columns=["guesses in a pass", "words a pass", "guesses kept (%)",
             "rows for a word"],
    rows={"1": (1,), "2": (2,), "4": (4,), "8": (8,), "4, blind": (4, True)},
    row=row, formats=["{:.2f}", "{:.0f}", "{:.2f}"],
    quick="8", tolerance=0.1,
    holds={
        "0.72 each": lambda table: abs(table["1"][0] - 1.72) < 0.05,
        "2.8 of 2.9": lambda table: 2.6 < table["4"][0] < 2.95,
        "nearly three rows": lambda table: 2.5 < table["8"][2] < 3.1,
        "blind guesses": lambda table: table["4, blind"][0] < 1.15})
