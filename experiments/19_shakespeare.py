"""What do small fast-weight models learn of Tiny Shakespeare?

Tokens are characters, the last tenth is the test text (200 windows of it). Two
blocks, width 64, four heads, windows of 128 characters, 8 in a batch, AdamW at
0.008 (40 warm-up steps, then cosine), float32, torch.manual_seed(0) to (4);
d_ff is 256, in the modern layers 216, for equal size within 1 %. Losses are
nats per character of the test text. The text comes from where chapter 14 takes
it; without it (no file, no network) nothing is computed.
"""

import math
from functools import cache

import numpy as np
import torch

from course.chapter import functions
from experiments.shakespeare import parts

CHAPTER = functions("19")

QUESTION = "What do small fast-weight models learn of Tiny Shakespeare?"
COLUMNS = ["model", "median", "lowest", "highest", "perplexity"]
ROWS = {"table of pairs": (None, 0, 0),
        "delta, 2021": (CHAPTER.DeltaAttention, 256, 200),
        "modern delta": (CHAPTER.ModernDelta, 216, 200),
        "modern delta, forget gate": (CHAPTER.GatedDelta, 216, 200),
        "softmax, no positions": (CHAPTER.NoPositions, 256, 200),
        "softmax": (CHAPTER.SoftmaxAttention, 256, 200),
        "softmax, 400 steps": (CHAPTER.SoftmaxAttention, 256, 400)}
FORMATS = ["{:.2f}"] * 3 + ["{:.1f}"]
QUICK = "table of pairs"
TOLERANCE = 0.03


def loss(mixer, d_ff, steps, seed):
    ids, test, n_vocab = parts()
    torch.manual_seed(seed)
    model = CHAPTER.LanguageModel(mixer, n_vocab, d_ff=d_ff)
    generator = torch.Generator().manual_seed(seed)
    starts = torch.randint(len(ids) - 128, (steps, 8), generator=generator)
    CHAPTER.train(model, CHAPTER.windows(ids, 128, starts), lr=0.008)
    starts = torch.linspace(0, len(test) - 129, 200).long()
    with torch.no_grad():
        return CHAPTER.losses_at(
            model, CHAPTER.windows(test, 128, starts)).mean().item()


@cache
def losses(mixer, d_ff, steps):
    if mixer is None:
        return [CHAPTER.bigram_loss(*parts())]
    return [loss(mixer, d_ff, steps, seed) for seed in range(5)]


def cell(mixer, d_ff, steps, i):
    found = losses(mixer, d_ff, steps)
    return (np.median, min, max, lambda x: math.exp(np.median(x)))[i](found)
