"""The kite world: its stories, the model that reads them, and its training.

Three parts, to be moved into cells: stories (chapter 07), model (13),
training (14). The norm, the rotation and the gated layer are those of
chapter 13.
"""

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course.chapter import functions

CHAPTER = functions("13")
RMSNorm, SwiGLU = CHAPTER.RMSNorm, CHAPTER.SwiGLU
RotaryEmbedding = CHAPTER.RotaryEmbedding
WEIGHTS = Path(__file__).with_name("kite_model.npz")

# ------------------------------------------------------- stories: chapter 07

WOMEN, MEN = ["Anna", "Eva", "Mia", "Zoe"], ["Tom", "Leo", "Max", "Ben"]
PEOPLE = WOMEN + MEN
THINGS = ["kite", "drum", "ball", "book", "lamp", "cup"]
VOCABULARY = [*PEOPLE, *THINGS, *(f"{thing}?" for thing in THINGS),
              *". gave a the to then he she thanked him her for it".split(),
              "who", "has", "<end>"]
IDS = {word: i for i, word in enumerate(VOCABULARY)}


def story(rng: random.Random, n_gifts: int = 7, n_thanks: int = 2,
          n_to: int = 3, n_then: int = 2, n_questions: int = 1) -> list[str]:
    """Three things change hands, and somebody asks who has one of them.

    n_thanks, n_to, n_then: gifts with thanks, with "gave the kite to Tom",
    with "then" in front; n_gifts >= 3. The last question stands at the end,
    others on the way. All stories of such numbers are equally long:
    6 n_gifts + 6 n_thanks + n_to + n_then + 6 n_questions + 1 words.
    """
    numbers = range(n_gifts)
    things = rng.sample(THINGS, 3)
    given = rng.sample(things + rng.choices(things, k=n_gifts - 3), n_gifts)
    thanks, to, then = (rng.sample(numbers, n)
                        for n in (n_thanks, n_to, n_then))
    asked = [*rng.sample(numbers[1:-1], n_questions - 1), numbers[-1]]
    owner: dict[str, str] = {}
    words = []
    for i, thing in enumerate(given):
        what = ["the" if thing in owner else "a", thing]
        giver = owner.get(thing) or rng.choice(PEOPLE)
        who = owner[thing] = rng.choice([p for p in PEOPLE if p != giver])
        words += ["then"] * (i in then) + [giver, "gave"]
        words += [*what, "to", who, "."] if i in to else [who, *what, "."]
        if i in thanks:
            words += ["she" if who in WOMEN else "he", "thanked",
                      "her" if giver in WOMEN else "him", "for", "it", "."]
        if i in asked:
            lost = rng.choice(given[:i])        # what moves more, more
            words += ["who", "has", "the", f"{lost}?", owner[lost], "."]
    return [*words, "<end>"]


def stories(n: int, seed: int) -> list[list[str]]:
    """Stories of seven gifts and one question: n lists of words."""
    rng = random.Random(seed)
    return [story(rng) for _ in range(n)]


def encode(texts: Sequence[Sequence[str]]) -> Tensor:
    """Words -> their numbers in the vocabulary. -> integers (B, n)."""
    return torch.tensor([[IDS[word] for word in text] for text in texts])


def gifts(words: Sequence[str]) -> list[tuple[str, str, str]]:
    """What happens in a story: (giver, receiver, thing), in order."""
    found = []
    for i, word in enumerate(words):
        if word == "gave":
            a, b, c, d = words[i + 1:i + 5]
            found.append((words[i - 1], *((d, b) if c == "to" else (a, c))))
    return found


def rules_of_thumb(words: Sequence[str]) -> dict[str, str]:
    """Answers of readers who do not understand the story, by name."""
    moved = gifts(words)
    names = [name for giver, receiver, _ in moved
             for name in (giver, receiver)]
    counts = Counter(names)
    frequent = max(reversed(names), key=counts.__getitem__)     # tie: the last
    asked = words[-4][:-1]
    return {"last name, which is the last receiver": names[-1],
            "most frequent name": frequent,
            "first name": names[0],
            "last giver": moved[-1][0],
            "first receiver of the thing": next(
                receiver for _, receiver, thing in moved if thing == asked)}


# --------------------------------------------------------- model: chapter 13

class Attention(nn.Module):
    """Causal self-attention with RoPE: (B, n, d_model) -> (B, n, d_model)."""

    def __init__(self, d_model: int, h: int, base: float) -> None:
        super().__init__()
        self.h, self.causal = h, True
        self.W_QKV = nn.Linear(d_model, 3 * d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.rope = RotaryEmbedding(d_model // h, base)
        self.W_QKV.weight.data[2 * d_model:] *= 2   # it speaks up: W_V, W_O
        self.W_O.weight.data *= 2

    def rotated(self, X: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries and keys, turned by their positions, and values.

        X (B, n, d_model) -> three of (B, h, n, d_k).
        """
        parts = self.W_QKV(X).unflatten(-1, (3, self.h, -1))
        Q, K, V = parts.permute(2, 0, 3, 1, 4)      # (B, h, n, d_k) each
        t = torch.arange(X.shape[1])
        return self.rope(Q, t), self.rope(K, t), V

    def forward(self, X: Tensor) -> Tensor:
        """What each token finds at the others."""
        Q, K, V = self.rotated(X)
        Y = F.scaled_dot_product_attention(Q, K, V, is_causal=self.causal)
        return self.W_O(Y.transpose(1, 2).flatten(-2))

    def weights(self, X: Tensor) -> Tensor:
        """The attention weights: X (B, n, d_model) -> (B, h, n, n)."""
        Q, K, _ = self.rotated(X)
        scores = Q @ K.mT / math.sqrt(Q.shape[-1])
        if self.causal:
            n = X.shape[1]
            may_look = torch.ones(n, n, dtype=torch.bool).tril()
            scores = scores.masked_fill(~may_look, -math.inf)
        return scores.softmax(dim=-1)


class Block(nn.Module):
    """Look, then think: each part reads a normalized copy and adds."""

    def __init__(self, d_model: int, h: int, d_ff: int, base: float) -> None:
        super().__init__()
        self.norm_1, self.norm_2 = RMSNorm(d_model), RMSNorm(d_model)
        self.attention = Attention(d_model, h, base)
        self.ffn = SwiGLU(d_model, d_ff)
        self.keep = 1.0                             # 0: without shortcuts

    def forward(self, X: Tensor) -> Tensor:
        """(B, n, d_model) -> (B, n, d_model)."""
        X = self.keep * X + self.attention(self.norm_1(X))
        return self.keep * X + self.ffn(self.norm_2(X))


class KiteModel(nn.Module):
    """Token numbers (B, n) -> logits (B, n, n_vocab); two untied tables."""

    def __init__(self, d_model: int = 48, h: int = 4, n_layers: int = 2,
                 d_ff: int = 128, base: float = 100.0,
                 n_vocab: int = len(VOCABULARY)) -> None:
        super().__init__()
        self.E = nn.Parameter(0.3 * torch.randn(n_vocab, d_model))
        self.blocks = nn.ModuleList(Block(d_model, h, d_ff, base)
                                    for _ in range(n_layers))
        self.norm = RMSNorm(d_model)
        self.W_U = nn.Linear(d_model, n_vocab, bias=False)

    def stream(self, ids: Tensor) -> list[Tensor]:
        """The residual stream at the entrance and behind each block."""
        states = [self.E[ids]]
        for block in self.blocks:
            states.append(block(states[-1]))
        return states

    def forward(self, ids: Tensor) -> Tensor:
        """The logits of each next token."""
        return self.W_U(self.norm(self.stream(ids)[-1]))


# ------------------------------------------------------ training: chapter 14

SHORT = dict(n_gifts=3, n_thanks=0, n_to=1, n_then=1, n_questions=2)
LONG = dict(n_questions=4)
STEPS, RATE, BATCH = 2600, 0.004, 32


def loss_on(model: nn.Module, ids: Tensor,
            weight: float = 10.0) -> tuple[Tensor, float]:
    """Mean cross-entropy of each next token; answers count `weight`.

    ids (B, n + 1) -> (), and the share of right answers.
    """
    inputs, targets = ids[:, :-1], ids[:, 1:]
    logits = model(inputs)                          # (B, n, n_vocab)
    losses = F.cross_entropy(logits.mT, targets, reduction="none")
    asked = (inputs >= IDS["kite?"]) & (inputs <= IDS["cup?"])
    right = (logits[asked].argmax(dim=-1) == targets[asked]).float().mean()
    weights = torch.where(asked, weight, 1.0)
    return (weights * losses).sum() / weights.sum(), right.item()


def schedule(step: int, steps: int) -> float:
    """Factor of the learning rate: up in 50 steps, down in the last 30 %."""
    return min((step + 1) / 50, 1, (steps - step) / (0.3 * steps))


def train(model: nn.Module, seed: int, steps: int = STEPS, lr: float = RATE,
          stop: int | None = None,
          watch: Callable[[int], None] | None = None) -> list[float]:
    """AdamW on fresh stories. -> the losses.

    Short stories until 95 % of the answers are right (a running mean), but
    for 600 steps at most; then long ones. watch(step) is called before the
    first step and after each. stop: do no more than these of the steps.
    """
    rng = random.Random(1000 + seed)
    weights = [w for w in model.parameters() if w.requires_grad]
    optimizer = torch.optim.AdamW(weights, betas=(0.9, 0.98), fused=True)
    losses: list[float] = []
    form, mean = SHORT, 0.0
    for step in range(steps if stop is None else stop):
        if watch is not None:
            watch(step)
        if mean > 0.95 or step == 600:
            form = LONG
        optimizer.param_groups[0]["lr"] = lr * schedule(step, steps)
        ids = encode([story(rng, **form) for _ in range(BATCH)])
        loss, right = loss_on(model, ids)
        mean += 0.05 * (right - mean)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        losses.append(loss.item())
    if watch is not None:
        watch(len(losses))
    return losses


@torch.no_grad()
def right_answers(model: nn.Module, ids: Tensor) -> Tensor:
    """Is the answer, before the sign, the most probable token?

    Stories with one question: (B, n) -> (B,).
    """
    return torch.cat([model(part[:, :-3])[:, -1].argmax(dim=-1)
                      == part[:, -3] for part in ids.split(250)])


def save(model: nn.Module, path: Path = WEIGHTS) -> None:
    """Its weights in float16, one array for each name."""
    np.savez(path, **{name: w.detach().numpy().astype(np.float16)
                      for name, w in model.named_parameters()})


def load(path: Path = WEIGHTS) -> KiteModel:
    """The model with committed weights, in float32."""
    model = KiteModel()
    with np.load(path) as arrays:
        model.load_state_dict({name: torch.tensor(arrays[name]).float()
                               for name in arrays.files})
    return model
