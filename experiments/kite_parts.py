"""What does the kite model learn without one of its parts?

Models from torch.manual_seed(0) to (4) without one part, trained like
kite_model, at each of the rates RATES; of a variant the rate with the
best median counts. Numbers are shares of right answers to 2,000 held-out
stories, and the mean loss of a prediction ("loss"). Without a mask both are
measured twice: with the whole story as input, and with the words so far,
as a writer has them.

    python experiments/kite_parts.py      goes on where it stopped

Each training is a line of kite_parts.jsonl; delete a line to repeat it.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import course.one_thread  # noqa: F401, E402, I001  before torch loads

import torch  # noqa: E402
from torch import Tensor, nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from experiments import kite  # noqa: E402

RUNS = Path(__file__).with_suffix(".jsonl")
RATES = [kite.RATE, 0.002]                      # the first: of the whole model
SEEDS = range(5)
HELD_OUT = torch.tensor(kite.word_ids(kite.stories(2000, seed=99)))


class Nothing(nn.Module):
    """Adds nothing to the stream."""

    def forward(self, X: Tensor) -> Tensor:
        """(B, n, d_model) -> zeros of this shape."""
        return torch.zeros_like(X)


class Unturned(nn.Module):
    """Leaves queries and keys as they are."""

    def forward(self, X: Tensor, positions: Tensor) -> Tensor:
        """(..., n, d_k), (n,) -> (..., n, d_k)."""
        return X


class WithoutShortcuts(kite.Block):
    """A part replaces what it has read."""

    def forward(self, X: Tensor) -> Tensor:
        """(B, n, d_model) -> (B, n, d_model)."""
        return self.ffn(self.norm_2(self.attention(self.norm_1(X))))


def without_attention(model: kite.Transformer) -> None:
    """No token looks at another."""
    for block in model.blocks:
        block.attention = Nothing()


def without_ffn(model: kite.Transformer) -> None:
    """No token thinks."""
    for block in model.blocks:
        block.ffn = Nothing()


def without_positions(model: kite.Transformer) -> None:
    """No clock hands; the mask stays."""
    for block in model.blocks:
        block.attention.rope = Unturned()


def without_shortcuts(model: kite.Transformer) -> None:
    """A part replaces the stream and does not add to it."""
    for block in model.blocks:
        block.__class__ = WithoutShortcuts


def without_norms(model: kite.Transformer) -> None:
    """Each part reads the stream as it is."""
    model.norm = nn.Identity()
    for block in model.blocks:
        block.norm_1, block.norm_2 = nn.Identity(), nn.Identity()


def without_mask(model: kite.Transformer) -> None:
    """Each token sees the whole story."""
    for block in model.blocks:
        block.attention.causal = False


def whole(model: kite.Transformer) -> None:
    """Takes nothing away."""


VARIANTS: dict[str, tuple[Callable[[kite.Transformer], None], dict]] = {
    "nothing": (whole, {}),
    "mask": (without_mask, {}),
    "positions": (without_positions, {}),
    "feed-forward layers": (without_ffn, {}),
    "shortcuts": (without_shortcuts, {}),
    "norms": (without_norms, {}),
    "attention": (without_attention, {}),
    "three of four heads": (whole, {"h": 1}),
    "one of two blocks": (whole, {"n_layers": 1})}


@torch.no_grad()
def measure(model: nn.Module, masked: bool) -> dict[str, float]:
    """Loss and right answers, with the whole story and with the words so far.

    With a mask both are the same.
    """
    inputs, targets = HELD_OUT[:200, :-1], HELD_OUT[:200, 1:]
    logits = {"whole story": model(inputs)}         # (B, n, n_vocab)
    if not masked:
        logits["so far"] = torch.stack(
            [model(inputs[:, :t + 1])[:, -1]
             for t in range(inputs.shape[1])], dim=1)
    found = {"answers": kite.right_answers(model, HELD_OUT
                                           ).float().mean().item()}
    for name, these in logits.items():
        right = these[:, -3].argmax(dim=-1) == targets[:, -3]
        found[f"answers, {name}"] = right.float().mean().item()
        found[f"loss, {name}"] = F.cross_entropy(these.mT, targets).item()
    return found


def main() -> None:
    """Train what has no line yet; a line for each."""
    done = set()
    if RUNS.exists():
        lines = RUNS.read_text("utf-8").splitlines()
        done = {(run["without"], run["rate"], run["seed"])
                for run in map(json.loads, lines)}
    torch.set_num_threads(1)
    for seed in SEEDS:
        batches = kite.kite_batches(kite.STEPS, seed + 1000)
        for rate in RATES if seed == 0 else RATES[:1]:
            for name, (edit, shape) in VARIANTS.items():
                if (name, rate, seed) in done:
                    continue
                torch.manual_seed(seed)
                model = kite.Transformer(**shape)
                edit(model)
                kite.train(model, batches, lr=rate)
                run = {"without": name, "rate": rate, "seed": seed,
                       **{key: round(value, 4) for key, value
                          in measure(model, name != "mask").items()}}
                with RUNS.open("a", encoding="utf-8") as file:
                    print(json.dumps(run), file=file)
                print(run, flush=True)


if __name__ == "__main__":
    main()
