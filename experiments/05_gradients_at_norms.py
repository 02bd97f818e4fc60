"""What does a norm hand on of a real gradient?

The kite model of chapter 13, with its first weights (seed 0) and trained, on
200 stories that it was not trained on; the gradient of the loss of the
answers at each of its five norms (RMSNorm). u is the gradient behind the
norm, times the gain; dx is the gradient in front of it. "kept": |dx| times
the size (RMS) of the token over |u|, so without the division by the size.
"along the token", "along (1, ..., 1)": the share of the squares of all u. The
first is crossed out by RMSNorm, layer normalization would cross out both.
"left along the token": the cosine of dx and x without its sign, the largest.
"""

import functools

import torch
from torch import Tensor, nn

from experiments import kite
from experiments.experiment import Experiment

ROWS: dict[str, tuple[str, str]] = {
    f"{what}, {when}": (what, when)
    for what in ("size, median", "length of dx over u, median", "kept, median",
                 "kept, smallest", "along the token", "along (1, ..., 1)",
                 "left along the token")
    for when in ("untrained", "trained")}


def watched(part: nn.Module, x: Tensor, kept: list[tuple[Tensor, Tensor]]
            ) -> Tensor:
    """RMSNorm that remembers its input and its output before the gain."""
    x_hat = x * torch.rsqrt(x.square().mean(-1, True) + part.eps)
    x.retain_grad()
    x_hat.retain_grad()
    kept.append((x, x_hat))
    return part.weight * x_hat


@functools.cache
def gradients(when: str) -> list[tuple[Tensor, Tensor, Tensor, Tensor]]:
    """x, x_hat, u and dx of each norm, (tokens, 48) each, in float64."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = kite.load() if when == "trained" else kite.Transformer()
    model, kept = model.double(), []
    order = [model.blocks[0].norm_1, model.blocks[0].norm_2,
             model.blocks[1].norm_1, model.blocks[1].norm_2, model.norm]
    direct: list[Tensor] = []
    for part in order:
        def forward(x: Tensor, part: nn.Module = part) -> Tensor:
            copy = x.clone()                        # only what norms hand on
            copy.retain_grad()
            direct.append(copy)
            return watched(part, copy, kept)

        part.forward = forward
    ids = torch.tensor(kite.word_ids(kite.kite_stories(200, seed=99)))
    kite.answer_loss(model, ids).backward()
    return [tuple(t.flatten(0, 1) for t in (x.detach(), x_hat.detach(),
                                            x_hat.grad, x.grad))
            for x, x_hat in kept]


def share(u: Tensor, direction: Tensor) -> float:
    """Of the squares of all u, the part along a direction of each token."""
    along = (u * direction).sum(-1) / direction.norm(dim=-1)
    return float(along.square().sum() / u.square().sum())


def cell(what: str, when: str, column: int) -> float:
    """One number: the column is the norm."""
    x, x_hat, u, dx = gradients(when)[column]
    heard = u.norm(dim=-1) > 1e-9                   # the others get no loss
    x, x_hat, u, dx = (t[heard] for t in (x, x_hat, u, dx))
    size = x.square().mean(-1).sqrt()
    ratio = dx.norm(dim=-1) / u.norm(dim=-1)
    cosine = (dx * x).sum(-1) / dx.norm(dim=-1) / x.norm(dim=-1)
    return {"size, median": lambda: float(size.median()),
            "length of dx over u, median": lambda: float(ratio.median()),
            "kept, median": lambda: float((ratio * size).median()),
            "kept, smallest": lambda: float((ratio * size).min()),
            "along the token": lambda: share(u, x_hat),
            "along (1, ..., 1)": lambda: share(u, torch.ones_like(x)),
            "left along the token": lambda: float(cosine.abs().max())}[what]()


EXPERIMENT = Experiment(
    question="What does a norm hand on of a real gradient?",
    columns=["at norm", *map(str, range(1, 6))],
    rows=ROWS, cell=cell, formats=["{:.3g}"] * 5,
    quick="size, median, trained", tolerance=0.05,
    tolerances={label: 0.3 if "left" not in label else 1e3 for label in ROWS
                if label != "size, median, trained"},
    holds={
        "nearly all is kept, without the division": lambda t: min(
            t["kept, median, trained"] + t["kept, median, untrained"]) > 0.97
        and max(t["kept, median, trained"]) <= 1,
        "single tokens keep half": lambda t: 0.4 < min(
            t["kept, smallest, trained"]) < 0.55,
        "the last norm makes gradients short": lambda t: t[
            "length of dx over u, median, trained"][-1] < 0.2,
        "the first makes them long": lambda t: t[
            "length of dx over u, median, trained"][0] > 2.5,
        "nothing is left along the token": lambda t: max(
            t["left along the token, trained"]
            + t["left along the token, untrained"]) < 1e-4})
