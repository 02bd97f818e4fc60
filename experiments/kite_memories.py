"""Who has the kite now, by attention and by memories of constant size?

Kite models with a layer of chapter 19 in attention's place, each from
torch.manual_seed(0) to (4), 1,000 steps of 16 texts. "both" reads in turn kite
stories, which say who gave (the first 50 batches are short ones), and lists of
facts, "Eva has the kite .", which do not; "has" reads lists alone. "One block"
has a single one instead of two, "no SiLU" has none on queries and keys.
Measured are shares of right answers: to 1,000 held-out stories, to the same
stories told as lists, by how often the thing had been handed on; and to lists
of some things and facts.

    python experiments/kite_memories.py      goes on where it stopped

Each training is a line of kite_memories.jsonl; delete a line to repeat it.
Two models are kept for those who want to look inside, in float16: delta rule,
seed 0, in kite_delta.npz; sum rule, seed 2, in kite_sum.npz.
"""

import json
import random
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import course.one_thread  # noqa: F401, E402, I001  before torch loads

import numpy as np  # noqa: E402
import torch  # noqa: E402
from torch import Tensor, nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from course.chapter import functions  # noqa: E402
from experiments import kite  # noqa: E402

CHAPTER = functions("19")
RUNS = Path(__file__).with_suffix(".jsonl")
STEPS, RATE, SEEDS = 1000, 0.01, range(5)
KEPT = {("delta", 0): "kite_delta.npz", ("sum", 2): "kite_sum.npz"}


class GatedSum(CHAPTER.GatedDelta):
    """The sum rule with a forget gate."""

    def rule(self, X: Tensor, Q: Tensor, K: Tensor, V: Tensor,
             state: Tensor | None) -> tuple[Tensor, None]:
        """Of a whole text; no state is handed on."""
        log_g = self.log_alpha(X).cumsum(dim=-1)[..., None]
        R = (log_g - log_g.mT).tril().exp().tril()
        V = self.to_beta(X).sigmoid().mT[..., None] * V
        return (R * (Q @ K.mT)) @ V, None


class SignedKeys(CHAPTER.DeltaLayer):
    """Without the SiLU on queries and keys."""

    def forward(self, X: Tensor, memory: None = None) -> tuple[Tensor, None]:
        """Of a whole text; no memory is handed on."""
        Z = torch.cat([self.W_Q(X), self.W_K(X), self.W_V(X)], dim=-1).mT
        Z = F.pad(Z, (self.width - 1, 0))
        q, k, v = self.conv(Z).mT.split(self.sizes, dim=-1)
        Q, K, V = (A.unflatten(-1, (self.h, -1)).transpose(1, 2)
                   for A in (q, k, F.silu(v)))
        Y, _ = self.rule(X, F.normalize(Q, dim=-1), F.normalize(K, dim=-1),
                         V, None)
        return self.W_O(self.norm(Y).transpose(1, 2).flatten(-2)), None


VARIANTS: dict[str, tuple[Callable[..., nn.Module], str, int]] = {
    "no memory": (CHAPTER.NoMemory, "both", 4),
    "window": (CHAPTER.WindowLayer, "both", 4),
    "sum": (CHAPTER.SumLayer, "both", 4),
    "gated sum": (GatedSum, "both", 4),
    "delta": (CHAPTER.DeltaLayer, "both", 4),
    "gated delta": (CHAPTER.GatedDelta, "both", 4),
    "softmax": (CHAPTER.SoftmaxLayer, "both", 4),
    "2 columns": (partial(CHAPTER.DeltaLayer, d_k=2), "has", 1),
    "6 columns": (partial(CHAPTER.DeltaLayer, d_k=6), "has", 1),
    "24 columns": (partial(CHAPTER.DeltaLayer, d_k=24), "has", 1),
    "window, has": (CHAPTER.WindowLayer, "has", 4),
    "2 columns, no SiLU": (partial(SignedKeys, d_k=2), "has", 1),
    "sum, one block": (CHAPTER.SumLayer, "both", 4),
    "delta, one block": (CHAPTER.DeltaLayer, "both", 4)}
HELD_OUT = kite.kite_stories(1000, seed=99)
HANDED_ON = np.array([
    [thing for *_, thing in kite.gifts(words)].count(words[-4][:-1]) - 1
    for words in HELD_OUT])
LISTS = [*((n, 8) for n in range(1, 7)), (3, 16), (3, 32)]


def batches(seed: int, kind: str, steps: int = STEPS) -> list[Tensor]:
    """Of 16 texts each: lists ("has"), or stories and lists ("both")."""
    rng, found = random.Random(seed), []
    for step in range(steps):
        if kind == "both" and step % 2 == 0:
            form = dict(kite.SHORT) if step < 100 else {
                "n_questions": rng.randint(2, 5)}
            texts = [kite.story(rng, **form) for _ in range(16)]
        else:
            n = 4 if step < 100 and kind == "both" else rng.randint(3, 8)
            texts = [CHAPTER.list_of_facts(rng, rng.randint(1, min(n, 6)), n,
                                           n // 2) for _ in range(16)]
        found.append(torch.tensor(kite.word_ids(texts)))
    return found


def right(model: nn.Module, texts: list[list[str]]) -> np.ndarray:
    """Which last questions are answered rightly."""
    ids = torch.tensor(kite.word_ids(texts))
    return kite.right_answers(model, ids).numpy()


def wrong_giver(words: list[str], rng: random.Random) -> list[str]:
    """The story, with another giver in the last gift of the thing asked for."""
    told, last = [*words], 0
    for i, word in enumerate(words):
        if word == "gave" and words[-4][:-1] in words[i + 2:i + 4]:
            last = i
    two = {told[last - 1], words[-3]}
    people = kite.KiteWorld.women + kite.KiteWorld.men
    told[last - 1] = rng.choice([p for p in people if p not in two])
    return told


def measure(model: nn.Module) -> dict[str, float]:
    """Shares of right answers."""
    found = {}
    for name, texts in (("gave", HELD_OUT),
                        ("has", [*map(CHAPTER.told_as_list, HELD_OUT)])):
        answers = right(model, texts)
        found[name] = answers.mean()
        for k in range(5):
            found[f"{name} {k}"] = answers[HANDED_ON == k].mean()
    rng = random.Random(5)
    moved = [words for words, k in zip(HELD_OUT, HANDED_ON, strict=True)
             if k][:400]
    found["moved"] = right(model, moved).mean()
    found["wrong giver"] = right(
        model, [wrong_giver(words, rng) for words in moved]).mean()
    rng = random.Random(98)
    for n_things, n_facts in LISTS:
        texts = [CHAPTER.list_of_facts(rng, n_things, n_facts)
                 for _ in range(250)]
        found[f"{n_things} {n_facts}"] = right(model, texts).mean()
    return {name: round(float(share), 4) for name, share in found.items()}


def trained(name: str, seed: int, steps: int = STEPS) -> nn.Module:
    """The model of a variant and a seed."""
    mixer, kind, h = VARIANTS[name]
    torch.manual_seed(seed)
    model: nn.Module = CHAPTER.LanguageModel(
        mixer, h=h, n_layers=1 if "one block" in name else 2)
    kite.train(model, batches(seed + 1000, kind, steps), lr=RATE)
    return model


def load(name: str) -> nn.Module:
    """A model with kept weights: "delta" or "sum"."""
    model: nn.Module = CHAPTER.LanguageModel(VARIANTS[name][0])
    with np.load(RUNS.with_name(f"kite_{name}.npz")) as arrays:
        model.load_state_dict({each: torch.tensor(arrays[each]).float()
                               for each in arrays.files})
    return model


def runs() -> dict[tuple[str, int], dict[str, float]]:
    """What has been trained."""
    if not RUNS.exists():
        return {}
    return {(run["what"], run["seed"]): run for run
            in map(json.loads, RUNS.read_text("utf-8").splitlines())}


def main() -> None:
    """Train what has no line yet; a line for each."""
    torch.set_num_threads(1)
    for name in VARIANTS:
        for seed in SEEDS:
            if (name, seed) in runs():
                continue
            model = trained(name, seed)
            if (name, seed) in KEPT:
                kite.save(model, RUNS.with_name(KEPT[name, seed]))
            run = {"what": name, "seed": seed, **measure(model)}
            with RUNS.open("a", encoding="utf-8") as file:
                print(json.dumps(run), file=file)
            print(run, flush=True)


if __name__ == "__main__":
    main()
