"""What does one more character cost, after a text of some length?

    python -m benchmarks.decode

Float32, one thread, chapter 19's models with the weights that they are born
with: two blocks, width 64, four heads. A memory of the given length is filled
with random numbers, and one character is read. Best times of many, taken in
turns: what disturbs a machine only ever adds time. Nothing here is asserted: a
time belongs to the machine it was taken on.
"""

import course.one_thread  # noqa: F401, I001  before torch loads

from time import perf_counter
from typing import Any

import torch
from torch import nn

from course.chapter import functions

CHAPTER = functions("19")
LENGTHS = 16, 256, 1024, 4096, 16384, 65536


def memories(mixer: type[nn.Module], n: int) -> list[Any]:
    """What a model has kept after n characters, for two blocks."""
    def past() -> torch.Tensor:
        return torch.randn(1, 192, 3)

    if mixer is CHAPTER.DeltaLayer:
        return [(past(), torch.randn(1, 4, 16, 16) / 100) for _ in range(2)]
    return [(past(), tuple(torch.randn(2, 1, 4, n, 16))) for _ in range(2)]


def seconds(model: Any, kept: list[Any]) -> float:
    """Seconds that one character takes."""
    start = perf_counter()
    with torch.no_grad():
        model.read(torch.tensor([[7]]), kept)
    return perf_counter() - start


def main(repeats: int = 50) -> None:
    """Print a line for each length, a column for each kind of memory."""
    mixers = CHAPTER.DeltaLayer, CHAPTER.SoftmaxLayer
    print(f"{'characters':>10}", *(f"{m.__name__:>17}" for m in mixers),
          "  microseconds")
    for n in LENGTHS:
        torch.manual_seed(0)
        pairs = [(CHAPTER.LanguageModel(m, 65, 64), memories(m, n))
                 for m in mixers]
        rounds = [[seconds(*pair) for pair in pairs] for _ in range(repeats)]
        print(f"{n:10}", *(f"{1e6 * min(times):17.0f}" for times
                           in zip(*rounds, strict=True)), flush=True)


if __name__ == "__main__":
    main()
