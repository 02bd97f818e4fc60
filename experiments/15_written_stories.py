"""What is right in the stories that the kite model writes?

500 stories for each way to choose a word, from seed 0; story i begins with
name i mod 8. Per cent of sentences that the grammar does not know; of things
handed on, those that their owner gives, and those that somebody gives who has
nothing; of the others, those that their owner gives; of questions, those whose
answer is the last receiver of the thing in the story so far.
"""

import numpy as np
import torch

from course.chapter import functions
from experiments.experiment import Experiment

CHAPTER = functions("15")


def row(temperature: float, p: float = 1.0) -> list[float]:
    """Five shares in per cent."""
    model = CHAPTER.Transformer()
    model.load_state_dict({name: torch.tensor(w) for name, w
                           in CHAPTER.kite_weights().items()})
    rng = np.random.default_rng(0)

    def choose(logits: np.ndarray) -> np.ndarray:
        """One word for each row."""
        tempered = logits / temperature
        if p < 1:
            tempered = CHAPTER.keep_top_p(tempered, p)
        drawn: np.ndarray = CHAPTER.sample(tempered, 1, rng)
        return drawn

    count = CHAPTER.bookkeeping(CHAPTER.many_stories(model, choose, 500))
    nothing, given = count["by one who has nothing"], count["by the owner"]
    return [100 * count["broken"] / count["sentences"],
            100 * given / count["handed on"],
            100 * nothing / count["handed on"],
            100 * given / (count["handed on"] - nothing),
            100 * count["right"] / count["asked"]]


EXPERIMENT = Experiment(
    question="What is right in the stories that the kite model writes?",
    columns=["per cent", "broken sentences", "given by the owner",
             "by one who has nothing", "of the others, by the owner",
             "right answers"],
    rows={"T = 1/2": (0.5,), "T = 1": (1.0,), "T = 2": (2.0,),
          "T = 1, top-p 0.9": (1.0, 0.9)},
    row=row, formats=["{:.1f}"] * 5, quick="T = 1", tolerance=0.5,
    tolerances={"T = 1/2": 100.0, "T = 1, top-p 0.9": 100.0},
    holds={
        "no sentence breaks below T = 1": lambda table: max(
            table["T = 1/2"][0], table["T = 1, top-p 0.9"][0]) < 0.2,
        "at T = 2 a fifth and more": lambda table: table["T = 2"][0] > 20,
        "most givers are wrong": lambda table: max(
            each[1] for each in table.values()) < 50,
        "who has something gives what he has half of the time":
            lambda table: all(45 < each[3] < 55 for each in table.values()),
        "most answers are right": lambda table: min(
            table[label][4] for label in table if label != "T = 2") > 98})
