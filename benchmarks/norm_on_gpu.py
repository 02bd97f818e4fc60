"""Does it pay to divide behind the matrix, on your GPU?

    python -m benchmarks.norm_on_gpu [--quick]

Seven programs read one weight matrix in 16 bits: the norm of eight calls and
the product ("unfused"); PyTorch's norm with a gain, and the product, which is
the unit of all ratios, and once more as the A/A control; its norm without a
gain; the product, then the division; both at once on two CUDA streams (queues
of kernels); the product alone. Below 1 is faster.

There is no residual addition in front, so the unit is not the fused addition
and norm that engines use. Each time is that of many calls in a row, by the
GPU's own clock: gaps between small kernels count. Each ratio is the median
over rounds of one time over the unit's in the same round, the order drawn
anew. Before it is timed, every program that normalizes is held against the
unit. Without a GPU the programs are compared on the processor, and not timed.
"""

import argparse
import random
from collections.abc import Callable
from statistics import median
from typing import Any

import torch
from torch import Tensor

from benchmarks.deferred_norm import (
    EPS,
    deferred,
    product,
    standard,
    weightless,
)

Program = Callable[[Tensor, Tensor, Tensor], Tensor]
SHAPES = (576, 960, 4096), (4096, 4096, 1024), (576, 960, 1)


def unfused(X: Tensor, W: Tensor, gain: Tensor) -> Tensor:
    """The norm of eight calls, then the product."""
    s = torch.rsqrt(X.float().pow(2).mean(-1, keepdim=True) + EPS)
    return X * s.to(X.dtype) * gain @ W


def side_by_side(aside: Any) -> Program:
    """Product on one stream, 1 / RMS on another, scaled when both are there."""
    def program(X: Tensor, W: Tensor, gain: Tensor) -> Tensor:
        here = torch.cuda.current_stream()
        aside.wait_stream(here)                     # until X is there
        with torch.cuda.stream(aside):
            length = torch.linalg.vector_norm(X, dim=-1, keepdim=True,
                                              dtype=torch.float32)
            s = torch.rsqrt(length.square() / len(gain) + EPS)
        Y = product(X, W, gain)
        here.wait_stream(aside)
        s.record_stream(here)                       # keep its memory till then
        return Y.mul_(s)
    return program


def contenders(on_gpu: bool) -> dict[str, Program]:
    """All programs by name; two streams only where there are streams."""
    runs: dict[str, Program] = {
        "norm, product": standard, "the same (A/A)": standard,
        "unfused": unfused, "weightless": weightless,
        "divided after": deferred, "product alone": product}
    if on_gpu:
        runs["two streams"] = side_by_side(torch.cuda.Stream())
    return runs


def inputs(n: int, k: int, tokens: int,
           device: str) -> tuple[Tensor, Tensor, Tensor]:
    """Tokens of size 0.3 to 3, a matrix, gains of 1, in float16."""
    torch.manual_seed(0)
    X = torch.randn(tokens, n) * torch.linspace(0.3, 3, tokens)[:, None]
    W = torch.randn(n, k) / n**0.5
    X, W, gain = (a.half().to(device) for a in (X, W, torch.ones(n)))
    return X, W, gain


def furthest_apart(runs: dict[str, Program],
                   operands: tuple[Tensor, ...]) -> dict[str, float]:
    """Worst relative error of a token, for all but the product alone."""
    want = standard(*operands).float()
    return {name: ((run(*operands).float() - want).norm(dim=1)
                   / want.norm(dim=1)).max().item()
            for name, run in runs.items() if run is not product}


def milliseconds(run: Program, operands: tuple[Tensor, ...],
                 calls: int = 20) -> float:
    """Milliseconds a call, by the GPU's own clock, behind a warm call."""
    run(*operands)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(calls):
        run(*operands)
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / calls


def ratios(runs: dict[str, Program], operands: tuple[Tensor, ...],
           rounds: int) -> dict[str, float]:
    """Median of each time over that of the first, in the same round."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    order = list(runs)
    for _ in range(rounds):
        random.shuffle(order)
        for name in order:
            times[name].append(milliseconds(runs[name], operands))
    unit = next(iter(times.values()))
    return {name: median(t / u for t, u in zip(each, unit, strict=True))
            for name, each in times.items()}


def main() -> None:
    """Print a line for each shape and program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="five rounds")
    rounds = 5 if parser.parse_args().quick else 15
    random.seed(0)
    on_gpu = torch.cuda.is_available()
    runs = contenders(on_gpu)
    for n, k, tokens in SHAPES if on_gpu else ((48, 80, 5),):
        operands = inputs(n, k, tokens, "cuda" if on_gpu else "cpu")
        off = furthest_apart(runs, operands)
        assert max(off.values()) < 5e-3, off
        if not on_gpu:
            print("no GPU here: the programs agree, and are not timed")
            return
        print(f"{torch.cuda.get_device_name()}, torch {torch.__version__};"
              f" n, k, tokens: {n, k, tokens}")
        for name, ratio in ratios(runs, operands, rounds).items():
            print(f"    {name:15}{ratio:6.2f}", flush=True)


if __name__ == "__main__":
    with torch.inference_mode():
        main()
