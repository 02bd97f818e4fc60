"""The kite world: readers who follow rules of thumb, and the training.

The stories are those of chapter 07, the model that of chapter 13, batches and
loss those of chapter 14.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from course.chapter import functions

TOKENS, PARTS = functions("07"), functions("13")
KiteWorld, story = TOKENS.KiteWorld, TOKENS.story
kite_stories, word_ids = TOKENS.kite_stories, TOKENS.word_ids
Block, Transformer = PARTS.Block, PARTS.Transformer
TRAINING = functions("14")
kite_batches, answer_loss = TRAINING.kite_batches, TRAINING.answer_loss
right_answers, schedule = TRAINING.answers_right, TRAINING.schedule
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


# ------------------------------------------------------------------ training

SHORT = dict(n_gifts=3, n_thanks=0, n_to=1, n_then=1, n_questions=2)
STEPS, RATE = 2600, 0.004


def train(model: nn.Module, batches: Sequence[Tensor], lr: float = RATE,
          warm_up: int = 50, stop: int | None = None,
          watch: Callable[[int], None] = lambda step: None) -> list[float]:
    """Chapter 14's `train` of an answer_loss, for somebody who watches.

    -> the losses. stop: do no more than these of the steps. watch(step) is
    called before the first step and after each.
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
