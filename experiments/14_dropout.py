"""What does dropout do on a short text?

The Transformer of 14_text.py, trained on the first 10,000 characters of Tiny
Shakespeare for 800 steps (more than 80 passes), without dropout and with
p = 0.2 on what each part adds. Seeds 0 to 4: the median loss on the training
text, and median, lowest and highest loss on the test text, all evaluated
without dropout. A single run takes longer than 5 s: the quick number is the
training loss of an untrained model, ln 65 but for its random start.
"""

from functools import cache
from pathlib import Path
from runpy import run_path

import numpy as np

TEXT = run_path(str(Path(__file__).with_name("14_text.py")))
CHAPTER = TEXT["CHAPTER"]

QUESTION = "What does dropout do on a short text?"
COLUMNS = ["dropout", "training loss", "test loss: median", "lowest",
           "highest"]
ROWS = {"untrained": [0, 0], "none": [0, 800], "p = 0.2": [0.2, 800]}
FORMATS = ["{:.2f}"] * 4
QUICK = "untrained", 0
TOLERANCE = 0.05


@cache
def models(p, steps):
    """The five trained models."""
    ids, _, _ = TEXT["parts"]()
    wire = CHAPTER.WithDropout(p) if p else CHAPTER.pre_norm
    return [TEXT["trained"](ids[:10_000], steps, seed, wire)
            for seed in range(5)]


@cache
def losses(p, steps, which):
    """The five losses on the training text (0) or the test text (1)."""
    ids, test, _ = TEXT["parts"]()
    pieces = TEXT["tiles"](test if which else ids[:10_000])
    return [CHAPTER.losses_at(model, pieces).mean().item()
            for model in models(p, steps)]


def cell(p, steps, i):
    found = losses(p, steps, int(i > 0))
    return (np.median, np.median, min, max)[i](found)
