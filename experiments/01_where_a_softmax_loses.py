"""Where does a 16-bit softmax lose its digits?

Rows of a real model: the last token of a kite story, *kite?*, in the four
heads of block 2 of chapter 13's trained model, in 12 stories that differ by
their names. One place is stored in 16 bits, all else is float64: query and
keys; the scores; the scores after their maximum has been subtracted; their
exponentials; the weights. Medians over the stories of the largest error of a
weight.
"""

import functools
import itertools

import torch
from torch import Tensor

from experiments import kite
from experiments.experiment import Experiment

STORY = ("Anna gave Tom a kite . he thanked her for it . Tom gave Eva the kite"
         " . Ben gave Mia a drum . who has the kite?")
FORMATS = {"bfloat16": torch.bfloat16, "float16": torch.float16}
PLACES = ("query and keys", "scores", "shifted scores", "exponentials",
          "weights")


def stories() -> list[list[str]]:
    """The story with its three women and two of its men exchanged."""
    women, men = ("Anna", "Eva", "Mia"), ("Tom", "Ben")
    swaps = [dict(zip(women + men, w + m, strict=True))
             for w in itertools.permutations(women)
             for m in itertools.permutations(men)]
    return [[swap.get(word, word) for word in STORY.split()]
            for swap in swaps]


@functools.cache
def query_and_keys() -> tuple[Tensor, Tensor]:
    """Of *kite?* in block 2: q (12, 4, 1, 12), K (12, 4, n, 12)."""
    torch.set_num_threads(1)
    model = kite.load().double()
    with torch.no_grad():
        X = model.blocks[0](model.E[torch.tensor(kite.word_ids(stories()))])
        block = model.blocks[1]
        Q, K, _ = block.attention.heads(block.norm_1(X))
    return Q[:, :, -1:], K


def scores(q: Tensor, K: Tensor) -> Tensor:
    """(..., 1, d_k) and (..., n, d_k) -> (..., n)."""
    return (q * K).sum(-1) / q.shape[-1]**0.5


def with_stored(place: str, dtype: torch.dtype) -> Tensor:
    """The weights, (12, 4, n), if one place is stored in 16 bits."""
    def stored(X: Tensor) -> Tensor:
        return X.to(dtype).double()

    q, K = query_and_keys()
    s = scores(q, K)
    if place == "query and keys":
        return scores(stored(q), stored(K)).softmax(-1)
    if place == "scores":
        return stored(s).softmax(-1)
    lead = s - s.amax(-1, keepdim=True)
    if place == "shifted scores":
        return stored(lead).softmax(-1)
    if place == "exponentials":
        E = stored(lead.exp())
        return E / E.sum(-1, keepdim=True)
    return stored(s.softmax(-1))


def cell(dtype: str, place: str, column: int) -> float:
    """In ten thousandths, for a head; the last column is for all four."""
    exact = scores(*query_and_keys()).softmax(-1)
    error = (with_stored(place, FORMATS[dtype]) - exact).abs().amax(-1)
    heads = error if column == 4 else error[:, column]
    return 1e4 * float(heads.median())


def row(t: dict[str, list[float]], dtype: str, place: str) -> list[float]:
    """The row of a table."""
    return t[f"{dtype}, {place}"]


EXPERIMENT = Experiment(
    question="Where does a 16-bit softmax lose its digits?",
    columns=["error in ten thousandths, median of 12 stories",
             *(f"head {i}" for i in range(1, 5)), "all"],
    rows={f"{dtype}, {place}": (dtype, place)
          for dtype in FORMATS for place in PLACES},
    cell=cell, formats=["{:.2f}"] * 5, quick="bfloat16, scores",
    tolerance=0.05, holds={
        "shifted before storing: a third in head 3": lambda t: (
            row(t, "bfloat16", "shifted scores")[2]
            < 0.4 * row(t, "bfloat16", "scores")[2]),
        "the exponentials cost least": lambda t: all(
            row(t, dtype, "exponentials")[4] < min(
                row(t, dtype, place)[4] for place in PLACES
                if place != "exponentials") for dtype in FORMATS),
        "float16 loses less": lambda t: all(
            row(t, "float16", place)[4] < row(t, "bfloat16", place)[4] / 4
            for place in PLACES)})
