"""What is left for a deferred norm, once the residual add and the norm are one?

    python -m benchmarks.fused_competitor [--quick]

The step of a pre-norm block: add Y to the stream R, normalize, multiply by W.
All programs but "eight" and "eager" go through torch.compile, which writes the
add and the norm as one loop on a processor, and leaves the product to the
library. The unit of all ratios is the compiled add, norm and product. Against
it: itself once more (A/A), a norm of eight calls and PyTorch's norm, both
without compilation, the norm without a gain, the product with the division
behind it, and add and product without a norm, the most that a treatment of the
norm could save inside the compiled program. Below 1 is faster.

Each ratio is the median over rounds of one time over the unit's time in the
same round; within a round the order is drawn, and each timing follows a warm
call (`seconds` of deferred_norm). A line whose A/A is outside 0.95..1.05 says
that the machine was busy. Programs that normalize are held against float64
first. One thread. Compiling takes minutes and needs a C++ compiler. No time is
asserted: it belongs to the machine it was taken on.

One thread of a Xeon, PyTorch 2.13, bfloat16, "eager, deferred, no norm" by
tokens (float32 stands in chapter 22, A/A lay between 0.98 and 1.04):

                  1                 16                64
     576, 960     0.79, 0.98, 0.96  0.82, 0.99, 0.94  0.99, 0.98, 0.91
    2048, 2560    0.98, 1.00, 1.00  1.02, 1.00, 0.98  1.08, 1.01, 0.96
"""

import course.one_thread  # noqa: F401, I001  before torch loads

import argparse
import random
from collections.abc import Callable, Mapping, Sequence
from statistics import median

import torch
from torch import Tensor
from torch.nn import functional as F

from benchmarks.deferred_norm import EPS, seconds

SHAPES = (576, 960), (2048, 2560)
TOKENS = 1, 16, 64
Program = Callable[[Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]
Operands = tuple[Tensor, Tensor, Tensor, Tensor]


def standard(R: Tensor, Y: Tensor, W: Tensor,
             gain: Tensor) -> tuple[Tensor, Tensor]:
    """Add, normalize with the gain, multiply."""
    R = R + Y
    return R, F.rms_norm(R, gain.shape, gain, EPS) @ W


def eight_calls(R: Tensor, Y: Tensor, W: Tensor,
                gain: Tensor) -> tuple[Tensor, Tensor]:
    """Add, a norm that is written out, multiply."""
    R = R + Y
    s = torch.rsqrt(R.float().pow(2).mean(-1, keepdim=True) + EPS)
    return R, (R * s.to(R.dtype) * gain) @ W


def weightless(R: Tensor, Y: Tensor, W: Tensor,
               gain: Tensor) -> tuple[Tensor, Tensor]:
    """Add, normalize, multiply; the gain is taken to be in W."""
    R = R + Y
    return R, F.rms_norm(R, gain.shape, eps=EPS) @ W


def deferred(R: Tensor, Y: Tensor, W: Tensor,
             gain: Tensor) -> tuple[Tensor, Tensor]:
    """Add, multiply, divide; the gain is taken to be in W."""
    R = R + Y
    s = torch.rsqrt(R.float().square().mean(-1, keepdim=True) + EPS)
    return R, (R @ W) * s.to(R.dtype)


def product(R: Tensor, Y: Tensor, W: Tensor,
            gain: Tensor) -> tuple[Tensor, Tensor]:
    """Add and multiply: no norm at all."""
    R = R + Y
    return R, R @ W


PROGRAMS = standard, weightless, deferred, product


def inputs(n: int, k: int, tokens: int, dtype: torch.dtype) -> Operands:
    """A stream of size 0.1 to 10, an update, a matrix, gains of 1."""
    torch.manual_seed(0)
    sizes = torch.logspace(-1, 1, tokens)[:, None]
    R, Y = (torch.randn(2, tokens, n) * sizes).to(dtype)
    return R, Y, (torch.randn(n, k) / n**0.5).to(dtype), torch.ones(
        n, dtype=dtype)


def furthest_from_exact(
        R: Tensor, Y: Tensor, W: Tensor, gain: Tensor,
        programs: Sequence[Program] = PROGRAMS[:3]) -> list[float]:
    """The worst token's error of each program that normalizes, in epsilons."""
    x = (R + Y).double()
    exact = x @ W.double() * torch.rsqrt(
        x.square().mean(-1, keepdim=True) + EPS)
    return [((program(R, Y, W, gain)[1].double() - exact).norm(dim=-1)
             / exact.norm(dim=-1)).max().item() / torch.finfo(R.dtype).eps
            for program in programs]


def ratios(runs: Mapping[str, Program], operands: Operands,
           rounds: int) -> list[float]:
    """Median time of each run over the first one's in the same round."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    order = list(runs)
    for _ in range(rounds):
        random.shuffle(order)
        for name in order:
            times[name].append(seconds(runs[name], operands))
    base = times[next(iter(runs))]
    return [median(t / b for t, b in zip(times[name], base, strict=True))
            for name in runs]


def main() -> None:
    """Print a line for each dtype, shape and number of tokens."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true",
                        help="the smallest shape, one dtype")
    options = parser.parse_args()
    random.seed(0)
    print(f"torch {torch.__version__}, one thread; ratios of times to the"
          " compiled add, norm and product")
    names = ("A/A", "eight", "eager", "weightless", "deferred", "product")
    for dtype in (torch.float32, torch.bfloat16)[:1 if options.quick else 2]:
        print(f"\n{str(dtype).removeprefix('torch.')}\n{'n':>5}{'k':>6}"
              f"{'tokens':>8}" + "".join(f"{name:>12}" for name in names))
        for n, k in SHAPES[:1] if options.quick else SHAPES:
            for tokens in TOKENS:
                torch.compiler.reset()
                operands = inputs(n, k, tokens, dtype)
                fast = [torch.compile(p, dynamic=False) for p in PROGRAMS]
                off = furthest_from_exact(*operands, [*fast[:3], eight_calls])
                assert max(off) < 8, off
                fast[3](*operands)
                runs = dict(zip(("unit", "weightless", "deferred", "product"),
                                fast, strict=True))
                runs |= {"A/A": fast[0], "eight": eight_calls,
                         "eager": standard}
                once = seconds(fast[0], operands)
                rounds = max(31, min(601, int(7 / (14 * once))))
                columns = dict(zip(runs, ratios(runs, operands, rounds),
                                   strict=True))
                busy = ("" if 0.95 < columns["A/A"] < 1.05
                        else "  busy: no verdict")
                print(f"{n:5}{k:6}{tokens:8}" + "".join(
                    f"{columns[name]:12.3f}" for name in names) + busy,
                    flush=True)


if __name__ == "__main__":
    with torch.inference_mode():
        main()
