"""The kite world: its stories, the model that reads them, and its training.

Three parts, to be moved into cells: stories (chapter 07), model (13),
training (14). The norm, the rotation and the gated layer are those of
chapters 05, 10 and 12, the schedule and the loop those of chapter 14.
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

TOKENS, PARTS = functions("07"), functions("13")
KiteWorld, story = TOKENS.KiteWorld, TOKENS.story
kite_stories, word_ids = TOKENS.kite_stories, TOKENS.word_ids
RMSNorm, SwiGLU = PARTS.RMSNorm, PARTS.SwiGLU
RotaryEmbedding, schedule = PARTS.RotaryEmbedding, functions("14").schedule
WEIGHTS = Path(__file__).with_name("kite_model.npz")

# --------------------------------------------------------------------- stories

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

class CausalSelfAttention(nn.Module):
    """Masked, with RoPE; h query heads share h_kv heads of keys and values."""

    def __init__(self, d_model: int, h: int, base: float = 10_000.0,
                 h_kv: int | None = None) -> None:
        super().__init__()
        self.h, self.h_kv, self.causal = h, h_kv or h, True
        d_k = d_model // h
        self.W_Q = nn.Linear(d_model, h * d_k, bias=False)
        self.W_K, self.W_V = (nn.Linear(d_model, self.h_kv * d_k, bias=False)
                              for _ in range(2))
        self.W_O = nn.Linear(h * d_k, d_model, bias=False)
        self.rope = RotaryEmbedding(d_k, base)

    def heads(self, X: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Rotated queries, rotated keys, values. X (B, n, d_model)

        -> (B, h, n, d_k), and two of (B, h_kv, n, d_k).
        """
        t = torch.arange(X.shape[1], device=X.device)
        Q, K, V = (W(X).unflatten(-1, (h, -1)).transpose(1, 2)
                   for W, h in ((self.W_Q, self.h), (self.W_K, self.h_kv),
                                (self.W_V, self.h_kv)))
        return self.rope(Q, t), self.rope(K, t), V

    def forward(self, X: Tensor) -> Tensor:
        """What each token finds. (B, n, d_model) -> (B, n, d_model)."""
        Y = F.scaled_dot_product_attention(
            *self.heads(X), is_causal=self.causal,
            enable_gqa=self.h != self.h_kv)
        return self.W_O(Y.transpose(1, 2).flatten(-2))


class Block(nn.Module):
    """Look, then think: each part reads a normalized copy and adds."""

    def __init__(self, d_model: int, h: int, d_ff: int,
                 base: float = 10_000.0, h_kv: int | None = None) -> None:
        super().__init__()
        self.norm_1, self.norm_2 = RMSNorm(d_model), RMSNorm(d_model)
        self.attention = CausalSelfAttention(d_model, h, base, h_kv)
        self.ffn = SwiGLU(d_model, d_ff)

    def forward(self, X: Tensor) -> Tensor:
        """(B, n, d_model) -> (B, n, d_model)."""
        X = X + self.attention(self.norm_1(X))
        return X + self.ffn(self.norm_2(X))


class Transformer(nn.Module):
    """Token numbers (B, n) -> logits (B, n, n_vocab); two untied tables."""

    def __init__(self, n_vocab: int = 36, d_model: int = 48, h: int = 4,
                 n_layers: int = 2, d_ff: int = 128, base: float = 100.0,
                 h_kv: int | None = None) -> None:
        super().__init__()
        self.E = nn.Parameter(0.3 * torch.randn(n_vocab, d_model))
        self.blocks = nn.ModuleList(Block(d_model, h, d_ff, base, h_kv)
                                    for _ in range(n_layers))
        self.norm = RMSNorm(d_model)
        self.W_U = nn.Linear(d_model, n_vocab, bias=False)
        for block in self.blocks:                   # attention speaks up
            block.attention.W_V.weight.data *= 2
            block.attention.W_O.weight.data *= 2

    def forward(self, ids: Tensor) -> Tensor:
        """The logits of each next token."""
        X = self.E[ids]                             # (B, n, d_model)
        for block in self.blocks:
            X = block(X)
        return self.W_U(self.norm(X))


@torch.no_grad()
def attention_maps(model: nn.Module, ids: Tensor) -> list[Tensor]:
    """The attention weights of each block: ids (B, n) -> (B, h, n, n) each."""
    X, maps = model.E[ids], []
    n = ids.shape[1]
    for block in model.blocks:
        Q, K, _ = block.attention.heads(block.norm_1(X))
        K = K.repeat_interleave(Q.shape[1] // K.shape[1], dim=1)
        scores = Q @ K.mT / math.sqrt(Q.shape[-1])
        if block.attention.causal:
            may_look = torch.ones(n, n, dtype=torch.bool).tril()
            scores = scores.masked_fill(~may_look, -math.inf)
        maps.append(scores.softmax(dim=-1))
        X = block(X)
    return maps


# ------------------------------------------------------ training: chapter 14

SHORT = dict(n_gifts=3, n_thanks=0, n_to=1, n_then=1, n_questions=2)
STEPS, N_SHORT, RATE = 2600, 400, 0.004


def kite_batches(steps: int, seed: int,
                 n_short: int = N_SHORT) -> list[Tensor]:
    """Batches of 32 fresh stories, integers (32, n) each.

    The first n_short have three gifts and two questions, the others seven
    gifts and one to four questions, the same number in a batch.
    """
    rng = random.Random(seed)
    batches = []
    for step in range(steps):
        form = SHORT if step < n_short else dict(n_questions=rng.randint(1, 4))
        texts = [story(rng, **form) for _ in range(32)]
        batches.append(torch.tensor(word_ids(texts)))
    return batches


def answer_loss(model: nn.Module, ids: Tensor, weight: float = 10.0) -> Tensor:
    """Mean cross-entropy of each next token; an answer counts `weight` times.

    ids (B, n + 1) -> ().
    """
    inputs, targets = ids[:, :-1], ids[:, 1:]
    losses = F.cross_entropy(model(inputs).mT, targets, reduction="none")
    first = KiteWorld.ids["kite?"]                  # the first of six
    asked = (inputs >= first) & (inputs < first + len(KiteWorld.things))
    weights = torch.where(asked, weight, 1.0)
    return (weights * losses).sum() / weights.sum()


def train(model: nn.Module, batches: Sequence[Tensor], lr: float = RATE,
          warm_up: int = 50, stop: int | None = None,
          watch: Callable[[int], None] = lambda step: None) -> list[float]:
    """AdamW, a step for each batch. -> their losses.

    stop: do no more than these of the steps. watch(step) is called before
    the first step and after each.
    """
    weights = [w for w in model.parameters() if w.requires_grad]
    optimizer = torch.optim.AdamW(weights, betas=(0.9, 0.98), fused=True)
    losses: list[float] = []
    watch(0)
    for step, ids in enumerate(batches[:stop]):
        factor = schedule(step, len(batches), warm_up)
        optimizer.param_groups[0]["lr"] = lr * factor
        loss = answer_loss(model, ids)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        losses.append(loss.item())
        watch(step + 1)
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
    np.savez_compressed(path, **{
        name: w.detach().numpy().astype(np.float16)
        for name, w in model.named_parameters()})


def load(path: Path = WEIGHTS) -> Transformer:
    """The model with committed weights, in float32."""
    model = Transformer()
    with np.load(path) as arrays:
        model.load_state_dict({name: torch.tensor(arrays[name]).float()
                               for name in arrays.files})
    return model
