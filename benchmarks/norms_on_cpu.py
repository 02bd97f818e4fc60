"""Is RMSNorm faster than layer normalization on a CPU?

    python -m benchmarks.norms_on_cpu [--quick]

2,048 tokens of width 768, one thread. Each number is a ratio of best processor
times, over those of PyTorch's layer_norm. The methods take turns, in an order
that is drawn anew for each round. The column "again" divides layer_norm by
itself, measured the same way: what strays from 1 there is noise. Nothing here
is asserted: a time belongs to the machine it was taken on.
"""

import course.one_thread  # noqa: F401, I001  before torch loads

import argparse
import random
from collections.abc import Callable
from time import process_time

import torch
from torch import Tensor
from torch.nn import functional as F

Norm = Callable[[Tensor, Tensor, Tensor], Tensor]
WIDTH = 768
METHODS: dict[str, Norm] = {
    "layer_norm": lambda X, gain, b: F.layer_norm(X, (WIDTH,), gain, b),
    "again": lambda X, gain, b: F.layer_norm(X, (WIDTH,), gain, b),
    "rms_norm": lambda X, gain, b: F.rms_norm(X, (WIDTH,), gain, 1e-6),
    "one product": lambda X, gain, b: X * gain}


def seconds(norm: Norm, parts: tuple[Tensor, ...], back: bool) -> float:
    """Processor time of a forward pass, and of the way back."""
    start = process_time()
    Y = norm(*parts)
    if back:
        Y.backward(torch.ones_like(Y))
    return process_time() - start


def ratios(dtype: torch.dtype, back: bool, rounds: int) -> dict[str, float]:
    """{method: its best time over that of layer_norm}."""
    torch.manual_seed(0)
    parts = tuple(torch.randn(*shape).to(dtype).requires_grad_(back)
                  for shape in ((2048, WIDTH), (WIDTH,), (WIDTH,)))
    times: dict[str, list[float]] = {name: [] for name in METHODS}
    for i in range(rounds + 2):
        names = list(METHODS)
        random.shuffle(names)
        for name in names:
            took = seconds(METHODS[name], parts, back)
            if i > 1:                               # the first two: warm
                times[name].append(took)
    unit = min(times["layer_norm"])
    return {name: min(of_method) / unit for name, of_method in times.items()}


def main() -> None:
    """Print a line for each format and direction."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds")
    rounds = 5 if parser.parse_args().quick else 100
    print(f"{'':28}" + "".join(f"{name:>13}" for name in METHODS))
    for dtype in (torch.float32, torch.bfloat16):
        for back in (False, True):
            label = f"{str(dtype)[6:]}, forward{' and back' * back}"
            row = ratios(dtype, back, rounds)
            print(f"{label:28}" + "".join(f"{row[name]:13.2f}"
                                          for name in METHODS))


if __name__ == "__main__":
    main()
