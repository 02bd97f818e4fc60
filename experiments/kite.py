"""The kite world: readers who follow rules of thumb, and the training.

The stories are those of chapter 07, the model that of chapter 13.
"""

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
Block, Transformer = PARTS.Block, PARTS.Transformer
attention_maps, schedule = PARTS.attention_maps, functions("14").schedule
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
