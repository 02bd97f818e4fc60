"""What does the small Transformer learn without one of its parts?

The trainings of chapter 13's ablation, 200 steps each, from eight starts
(torch.manual_seed(0) to (7)) on the same data: the loss on 1,000 fresh streams.
Without a residual connection rounding decides: its row is another one on
another processor, and only its range is held.
"""

import numpy as np
import torch

from tests.chapters import functions

CHAPTER = functions("13")
FRESH = torch.tensor(CHAPTER.noisy_sums(1000, 17, np.random.default_rng(99)))

QUESTION = "What does the small Transformer learn without one of its parts?"
COLUMNS = ["missing", *(f"start {seed}" for seed in range(8))]
ROWS = {"nothing": [lambda model: None],
        "positions": [CHAPTER.without_positions],
        "residual": [CHAPTER.without_residual],
        "FFN": [CHAPTER.without_ffn],
        "norm": [CHAPTER.without_norm],
        "attention": [CHAPTER.without_attention]}
FORMATS = ["{:.2f}"] * 8
QUICK = "attention", 0
TOLERANCE = 0.03
TOLERANCES = {"residual": 1}


def cell(edit, seed):
    torch.manual_seed(seed)
    usual = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)          # as in the chapter
    model = CHAPTER.TorchTransformer()
    torch.set_default_dtype(usual)
    edit(model)
    CHAPTER.train(model)
    with torch.no_grad():
        return CHAPTER.loss_on(model, FRESH).item()
