"""How large are two words of the kite model by depth, and how alike?

The kite model of chapter 13, with its first weights (seed 0) and trained,
reads: Anna gave Tom a kite . he thanked her for it . Tom gave Eva the kite .
who has the kite? The stream is measured where it begins and behind each of
its four branches. Size: the RMS of the first Anna and of the first Tom.
Cosine: of the two. "any two words": the mean over all pairs of tokens of a
story, for 200 stories that the model was not trained on.
"""

import functools

import torch
from torch import Tensor

from experiments import kite
from experiments.experiment import Experiment

STORY = ("Anna gave Tom a kite . he thanked her for it . Tom gave Eva the kite"
         " . who has the kite?").split()
ROWS: dict[str, tuple[str, str]] = {
    f"{what}, {when}": (what, when)
    for when in ("untrained", "trained")
    for what in ("size of Anna", "size of Tom", "cosine of Anna and Tom",
                 "cosine of any two words")}


@functools.cache
def streams(when: str, one: bool, seed: int = 0) -> list[Tensor]:
    """The tokens at the start and behind each branch: (stories, n, 48)."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    model = kite.load() if when == "trained" else kite.Transformer()
    texts = [STORY] if one else kite.kite_stories(200, seed=99)
    with torch.no_grad():
        found = [model.E[torch.tensor(kite.word_ids(texts))]]
        for block in model.blocks:
            X = found[-1]
            found.append(X + block.attention(block.norm_1(X)))
            found.append(found[-1] + block.ffn(block.norm_2(found[-1])))
    return found


def alike(X: Tensor) -> float:
    """Mean cosine of two different tokens of a story. X (stories, n, 48)."""
    U = X / X.norm(dim=-1, keepdim=True)
    n = U.shape[1]
    return float((U @ U.mT).sum((1, 2)).mean() - n) / (n * (n - 1))


def cell(what: str, when: str, column: int) -> float:
    """One number: the column counts branches."""
    X = streams(when, "any" not in what)[column].double()
    if what.startswith("size"):
        return float(X[0, STORY.index(what[8:])].square().mean().sqrt())
    if "any" in what:
        return alike(X)
    return float(torch.cosine_similarity(X[0, 0], X[0, 2], dim=0))


EXPERIMENT = Experiment(
    question="How large are two words of the kite model by depth, and how"
    " alike?",
    columns=["kite model, behind branch", *map(str, range(5))],
    rows=ROWS, cell=cell, formats=["{:.2f}"] * 5,
    quick="size of Anna, untrained", tolerance=0.03,
    tolerances={label: 0.6 for label in ROWS if "untrained" not in label},
    holds={
        "untrained, all words become alike": lambda t: (
            t["cosine of Anna and Tom, untrained"][0] < 0
            and t["cosine of Anna and Tom, untrained"][-1] > 0.7
            and t["cosine of any two words, untrained"][-1] > 0.6),
        "trained, they do not": lambda t: max(
            t["cosine of any two words, trained"]) < 0.3
        and abs(t["cosine of Anna and Tom, trained"][-1]) < 0.3,
        "trained, they grow by 10 to 25": lambda t: all(
            10 < t[f"size of {name}, trained"][-1]
            / t[f"size of {name}, trained"][0] < 25
            for name in ("Anna", "Tom"))})
