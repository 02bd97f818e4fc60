"""Which networks of 50 layers learn to name 32 words?

Each word is a random token, and each time a little noise is added. Tokens and
layers of width 64, or 256 where the row says so. Adam, batches of 64; the mean
loss of the last 20 batches, the lowest of three learning rates (0.0003, 0.001,
0.003) for each seed, where the row names no rate; at least 0.01 and at most
99.99. Guessing costs ln 32 = 3.47. Rotations: random orthogonal matrices,
times the weight scale. The streams and "no stream" have the same two matrices
a layer. Seeds 0 to 4.
"""

from course.chapter import functions
from experiments.experiment import Experiment

CHAPTER = functions("03")
RATES = (0.0003, 0.001, 0.003)
ROWS: dict[str, tuple[str, int, int, tuple[float, ...], bool, int]] = {
    "default of nn.Linear": ("default", 50, 200, RATES, False, 64),
    "He": ("He", 50, 200, RATES, False, 64),
    "He, bfloat16": ("He", 50, 200, RATES, True, 64),
    "He, 10 layers": ("He", 10, 200, RATES, False, 64),
    "He, 2,000 steps at 0.0003": ("He", 50, 2000, (0.0003,), False, 64),
    "He, width 256, at 0.0001": ("He", 50, 200, (0.0001,), False, 256),
    "ReLU, rotations": ("ReLU, rotations", 50, 200, RATES, False, 64),
    "tanh, scale 2": ("tanh, scale 2", 50, 200, RATES, False, 64),
    "tanh, scale 1": ("tanh, scale 1", 50, 200, RATES, False, 64),
    "tanh, rotations": ("tanh, rotations", 50, 200, RATES, False, 64),
    "no stream": ("no stream", 50, 200, RATES, False, 64),
    "plain stream": ("plain stream", 50, 200, RATES, False, 64),
    "normalized stream": ("normalized stream", 50, 200, RATES, False, 64),
    "scaled stream": ("scaled stream", 50, 200, RATES, False, 64)}


def cell(kind: str, n_layers: int, steps: int, rates: tuple[float, ...],
         short: bool, width: int, column: int) -> float:
    """One number: the column is the seed."""
    CHAPTER.torch.set_num_threads(1)
    return max(0.01, min(CHAPTER.learn(
        kind, column, lr, n_layers, steps, short, width) for lr in rates))


EXPERIMENT = Experiment(
    question="Which networks of 50 layers learn to name 32 words?",
    columns=["loss, 32 words, 50 layers", *(f"seed {i}" for i in range(5))],
    rows=ROWS, cell=cell, formats=["{:.2f}"] * 5,
    quick="He, 10 layers", quick_column=0, tolerance=0.9,
    tolerances={label: 0.9 for label in ROWS},
    holds={
        "the default does not move": lambda t: min(
            t["default of nn.Linear"]) > 3.46,
        "He, 2.0 to 2.6": lambda t: (
            1.9 < min(t["He"]) and max(t["He"]) < 2.65),
        "bfloat16 is about the same": lambda t: (
            1.9 < min(t["He, bfloat16"]) and max(t["He, bfloat16"]) < 2.75),
        "10 layers learn": lambda t: max(t["He, 10 layers"]) < 0.05,
        "ten times the steps dig it out": lambda t: max(
            t["He, 2,000 steps at 0.0003"]) < 0.7,
        "width 256 learns in 200 steps": lambda t: max(
            t["He, width 256, at 0.0001"]) < 0.23,
        "repaired streams learn": lambda t: max(
            t["normalized stream"] + t["scaled stream"]) < 0.05,
        "without a sum they do not": lambda t: min(t["no stream"]) > 2.5,
        "a plain sum explodes": lambda t: min(t["plain stream"]) > 90,
        "rotations: with tanh they learn": lambda t: (
            max(t["tanh, rotations"]) < 0.1
            and min(t["ReLU, rotations"]) > 1.2),
        "tanh at scale 1 is in between": lambda t: (
            max(t["tanh, rotations"]) < min(t["tanh, scale 1"])
            and max(t["tanh, scale 1"]) < min(t["ReLU, rotations"])),
        "tanh at scale 2 is worst": lambda t: min(t["tanh, scale 2"]) > max(
            t["ReLU, rotations"] + t["He"])})
