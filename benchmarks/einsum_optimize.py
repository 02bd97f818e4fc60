"""How much faster does np.einsum become when it may use BLAS?

    python -m benchmarks.einsum_optimize

Three float32 products, each computed by plain einsum, by einsum with
optimize=True, and by `@`. Every number is a ratio of best times, out of 31 that
are taken in turns: what disturbs a machine only ever adds time. The A/A columns
divide a method by itself, measured the same way: what strays from 1 there is
noise, and beyond 0.9..1.1 the run says that it is too noisy to report.
One thread. Nothing here is asserted: a time belongs to the machine it was
taken on, and to its NumPy: before pull request 23513 of numpy/numpy,
optimize=True had no way to BLAS for a letter that both arrays share and the
result keeps, as h in the scores.
"""

import course.one_thread  # noqa: F401, I001  before NumPy loads

from collections.abc import Callable, Iterator
from time import perf_counter

import numpy as np

REPEATS = 31
Product = Callable[[], np.ndarray]


def seconds(run: Product) -> float:
    """Seconds that one call of `run` takes."""
    start = perf_counter()
    run()
    return perf_counter() - start


def ratio(slow: Product, fast: Product) -> float:
    """Best time of `slow` over best time of `fast`, taken in turns."""
    slow(), fast()                                  # warm both
    pairs = [(seconds(slow), seconds(fast)) for _ in range(REPEATS)]
    return min(a for a, _ in pairs) / min(b for _, b in pairs)


def cases(rng: np.random.Generator) -> Iterator[
        tuple[str, str, tuple[np.ndarray, np.ndarray], Product]]:
    """Name, einsum string, operands, and the same product by `@`."""
    def normal(*shape):
        return rng.normal(size=shape).astype(np.float32)

    left, right = normal(512, 512), normal(512, 2048)
    yield "512 x 512 x 2048", "nd,dk->nk", (left, right), lambda: left @ right

    X, W_Q = normal(128, 512), normal(8, 512, 64)
    yield ("project: n 128, d 512, h 8, k 64", "nd,hdk->hnk", (X, W_Q),
           lambda: X @ W_Q)

    Q, K = normal(8, 128, 64), normal(8, 160, 64)
    yield ("scores: h 8, n 128, m 160, k 64", "hnk,hmk->hnm", (Q, K),
           lambda: Q @ K.swapaxes(1, 2))


def main() -> None:
    """Print a line for each product."""
    print(f"numpy {np.__version__}, one thread, float32, best of {REPEATS}")
    print(f"{'':34}{'plain':>8}{'plain':>10}{'A/A':>8}{'A/A':>10}{'A/A':>6}")
    print(f"{'':34}{'/ @':>8}{'/optimize':>10}"
          f"{'plain':>8}{'optimize':>10}{'@':>6}")
    noise = []
    for name, spec, operands, by_matmul in cases(np.random.default_rng(0)):
        def plain(spec=spec, operands=operands):
            return np.einsum(spec, *operands)

        def optimized(spec=spec, operands=operands):
            return np.einsum(spec, *operands, optimize=True)

        for other in (optimized, by_matmul):
            assert np.allclose(plain(), other(), rtol=1e-3, atol=1e-3)
        same = [ratio(run, run) for run in (plain, optimized, by_matmul)]
        noise += same
        print(f"{name:34}{ratio(plain, by_matmul):8.1f}"
              f"{ratio(plain, optimized):10.1f}"
              f"{same[0]:8.2f}{same[1]:10.2f}{same[2]:6.2f}")
    if not all(0.9 < control < 1.1 for control in noise):
        print("too noisy to report: an A/A control lies outside 0.9..1.1")


if __name__ == "__main__":
    main()
