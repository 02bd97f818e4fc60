"""What does a trained model answer, if its norms stand elsewhere?

The committed kite model of chapter 14, a pre-norm model of two blocks. Its
weights stay, and so does its last norm; the norms of its blocks are put on
the sum, or behind the branch. 500 stories that no training saw.
"""

import torch
from torch import Tensor, nn

from experiments import kite
from experiments.experiment import Experiment

IDS = torch.tensor(kite.word_ids(kite.kite_stories(500, seed=99)))
ROWS = {"pre-norm, as in training": ("pre",), "post-norm": ("post",),
        "branch-output norm": ("output",)}


class Moved(nn.Module):
    """A block with its norms in another place."""

    def __init__(self, block: nn.Module, place: str) -> None:
        super().__init__()
        self.block, self.place = block, place

    def forward(self, X: Tensor) -> Tensor:
        """Attention, then the feed-forward layer."""
        block = self.block
        for f, norm in ((block.attention, block.norm_1),
                        (block.ffn, block.norm_2)):
            X = (norm(X + f(X)) if self.place == "post"
                 else X + (f(norm(X)) if self.place == "pre" else norm(f(X))))
        return X


def cell(place: str, column: int) -> float:
    """The share of right answers."""
    model = kite.load()
    model.blocks = nn.ModuleList(Moved(b, place) for b in model.blocks)
    return float(kite.right_answers(model, IDS).float().mean())


EXPERIMENT = Experiment(
    question="What does a trained model answer, if its norms are moved?",
    columns=["the same trained weights", "right answers"],
    rows=ROWS, cell=cell, formats=["{:.2f}"], quick="post-norm",
    tolerance=0.1,
    holds={
        "all right in its own place": lambda t: t[
            "pre-norm, as in training"][0] == 1,
        "a fifth at most elsewhere": lambda t: max(
            t["post-norm"][0], t["branch-output norm"][0]) < 0.2})
