"""How much faster does np.einsum become when it may use BLAS?

    python -m benchmarks.einsum_optimize

Three float32 products, each computed by plain einsum, by einsum with
optimize=True, and by `@`. Every line is a ratio of medians, measured in turns,
so that a busy machine slows both sides alike; the A/A column divides a method
by itself, measured the same way: what strays from 1 there is noise.
One thread. Nothing here is asserted: a time belongs to the machine it was
taken on.
"""

import tools.repeatable  # noqa: F401, I001  one thread, before NumPy loads

from statistics import median
from time import perf_counter

import numpy as np


def times(run):
    """Seconds that one call of `run` takes."""
    start = perf_counter()
    run()
    return perf_counter() - start


def ratio(slow, fast, repeats=31):
    """Median time of `slow` over median time of `fast`, taken in turns."""
    slow(), fast()                                  # warm both
    pairs = [(times(slow), times(fast)) for _ in range(repeats)]
    return median(a for a, _ in pairs) / median(b for _, b in pairs)


def cases(rng):
    """Name, einsum string, operands, and the same product by `@`."""
    def normal(*shape):
        return rng.normal(size=shape).astype(np.float32)

    A, B = normal(512, 512), normal(512, 2048)
    yield "512 x 512 x 2048", "nd,dk->nk", (A, B), lambda: A @ B

    X, W = normal(128, 512), normal(512, 8, 64)
    yield ("project: n 128, d 512, h 8, k 64", "nd,dhk->hnk", (X, W),
           lambda: X @ W.transpose(1, 0, 2))

    Q, K = normal(8, 128, 64), normal(8, 160, 64)
    yield ("scores: h 8, n 128, m 160, k 64", "hnk,hmk->hnm", (Q, K),
           lambda: Q @ K.swapaxes(1, 2))


def main():
    print(f"numpy {np.__version__}, one thread, float32, medians of 31")
    print(f"{'':34}{'plain':>8}{'plain':>10}{'A/A':>8}{'A/A':>10}{'A/A':>6}")
    print(f"{'':34}{'/ @':>8}{'/optimize':>10}"
          f"{'plain':>8}{'optimize':>10}{'@':>6}")
    for name, spec, operands, by_matmul in cases(np.random.default_rng(0)):
        def plain(spec=spec, operands=operands):
            return np.einsum(spec, *operands)

        def optimized(spec=spec, operands=operands):
            return np.einsum(spec, *operands, optimize=True)

        for other in (optimized, by_matmul):
            assert np.allclose(plain(), other(), rtol=1e-3, atol=1e-3)
        print(f"{name:34}{ratio(plain, by_matmul):8.1f}"
              f"{ratio(plain, optimized):10.1f}{ratio(plain, plain):8.2f}"
              f"{ratio(optimized, optimized):10.2f}"
              f"{ratio(by_matmul, by_matmul):6.2f}")


if __name__ == "__main__":
    main()
