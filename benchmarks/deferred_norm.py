"""Does it pay to divide behind the matrix, on a processor like yours?

    python -m benchmarks.deferred_norm [--quick] [--threads 2]

Four programs read one weight matrix (so it is in the same caches for all, and
folding a gain into it would change no time): PyTorch's norm with a gain, then
the product ("standard", the unit of all ratios); its norm without one
("weightless"); the product, then the division ("deferred"); the product alone,
which is the most that any treatment of a norm could save. Below 1 is faster.

Each ratio is the median over rounds of one time over the standard's time in
the same round; within a round the order is drawn, and every timing follows a
warm call of its own. The A/A column is the standard program over itself, timed
likewise: what strays from 1 there is noise, and a line whose A/A is outside
0.95..1.05 says that the machine was busy. Before it is timed, every program
that normalizes is held against float64. One thread unless told otherwise. No
time is asserted: it belongs to the machine it was taken on.

One thread of a Xeon, PyTorch 2.13, bfloat16, "deferred, product" by tokens
(float32 stands in chapter 22, A/A lay between 0.98 and 1.04):

                  1           16          64          256         1,024
     576, 960     1.05, 0.81  1.10, 0.68  1.05, 0.63  1.14, 0.57  1.10, 0.45
    2048, 2560    1.05, 0.91  0.99, 0.88  1.01, 0.86  1.00, 0.75  1.01, 0.64
    4096, 4096    1.00, 0.98  0.99, 0.94  0.98, 0.88  0.93, 0.77  0.79, 0.58
"""

import course.one_thread  # noqa: F401, I001  before torch loads

import argparse
import random
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

SHAPES = (576, 960), (2048, 2560), (4096, 4096)
TOKENS = 1, 16, 64, 256, 1024
EPS = 1e-6


def standard(X: Tensor, W: Tensor, gain: Tensor) -> Tensor:
    """Normalize, scale, multiply."""
    return F.rms_norm(X, gain.shape, gain, EPS) @ W


def weightless(X: Tensor, W: Tensor, gain: Tensor) -> Tensor:
    """Normalize, multiply; the gain is taken to be in W."""
    return F.rms_norm(X, gain.shape, eps=EPS) @ W


def deferred(X: Tensor, W: Tensor, gain: Tensor) -> Tensor:
    """Multiply, divide; the gain is taken to be in W."""
    length = torch.linalg.vector_norm(X, dim=-1, keepdim=True,
                                      dtype=torch.float32)
    return (X @ W).mul_(torch.rsqrt(length.square() / len(gain) + EPS))


def product(X: Tensor, W: Tensor, gain: Tensor) -> Tensor:
    """No norm at all: what is left to pay."""
    return X @ W


PROGRAMS = standard, weightless, deferred, product


def inputs(n: int, k: int, tokens: int,
           dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    """Tokens of size 0.1 to 10, a matrix, gains of 1."""
    torch.manual_seed(0)
    X = torch.randn(tokens, n) * torch.logspace(-1, 1, tokens)[:, None]
    return X.to(dtype), (torch.randn(n, k) / n**0.5).to(dtype), torch.ones(
        n, dtype=dtype)


def furthest_from_exact(X: Tensor, W: Tensor,
                        gain: Tensor) -> dict[str, float]:
    """The worst token's error of each program that normalizes, in epsilons."""
    x = X.double()
    exact = x @ W.double() * torch.rsqrt(
        x.square().mean(-1, keepdim=True) + EPS)
    return {program.__name__: ((program(X, W, gain).double() - exact).norm(
        dim=-1) / exact.norm(dim=-1)).max().item() / torch.finfo(X.dtype).eps
        for program in PROGRAMS[:3]}


def seconds(program: Callable[..., Any],
            operands: tuple[Tensor, ...]) -> float:
    """Seconds of one call, right behind a warm one."""
    program(*operands)
    start = perf_counter()
    program(*operands)
    return perf_counter() - start


def ratios(operands: tuple[Tensor, Tensor, Tensor],
           rounds: int) -> tuple[float, list[float]]:
    """Median ratio to the standard of: itself, and the other three.

    -> milliseconds of the standard, four ratios.
    """
    runs = {"again": standard} | {p.__name__: p for p in PROGRAMS}
    order = list(runs)
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        random.shuffle(order)
        for name in order:
            times[name].append(seconds(runs[name], operands))
    base = times.pop("standard")
    return 1000 * median(base), [
        median(t / b for t, b in zip(times[name], base, strict=True))
        for name in ("again", "weightless", "deferred", "product")]


def main() -> None:
    """Print a line for each dtype, shape and number of tokens."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true",
                        help="the smallest shape, fewer tokens: 10 seconds")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    random.seed(0)
    print(f"torch {torch.__version__}, {torch.get_num_threads()} thread(s);"
          f" ratios of times to the standard program")
    names = ("ms", "A/A", "weightless", "deferred", "product")
    for dtype in (torch.float32, torch.bfloat16):
        print(f"\n{str(dtype).removeprefix('torch.')}\n{'n':>5}{'k':>6}"
              f"{'tokens':>8}" + "".join(f"{name:>12}" for name in names))
        for n, k in SHAPES[:1] if options.quick else SHAPES:
            for tokens in TOKENS[1:4] if options.quick else TOKENS:
                operands = inputs(n, k, tokens, dtype)
                off = furthest_from_exact(*operands)
                assert max(off.values()) < 8, off
                once = seconds(standard, operands)
                rounds = max(5, min(201, int((1 if options.quick else 4)
                                             / (10 * once))))
                ms, columns = ratios(operands, rounds)
                busy = "" if 0.95 < columns[0] < 1.05 else "  busy: no verdict"
                print(f"{n:5}{k:6}{tokens:8}{ms:12.3f}"
                      + "".join(f"{ratio:12.3f}" for ratio in columns) + busy,
                      flush=True)


if __name__ == "__main__":
    with torch.inference_mode():
        main()
