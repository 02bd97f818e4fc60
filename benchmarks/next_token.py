"""What does the next word cost, with a cache and without?

    python -m benchmarks.next_token

Float32, one thread, the kite model of chapter 13 (with the weights that it is
born with: a time does not depend on them), after texts of several lengths: the
whole text again, or one row and the cache. Best times of many, taken in turns:
what disturbs a machine only ever adds time. Nothing here is asserted: a time
belongs to the machine it was taken on.
"""

import course.one_thread  # noqa: F401, I001  before torch loads

from collections.abc import Callable
from time import perf_counter

import torch

from course.chapter import functions

CHAPTER = functions("15")
LENGTHS = 64, 256, 1024, 2048


@torch.no_grad()
def milliseconds(run: Callable[[], object]) -> float:
    """Of one call."""
    start = perf_counter()
    run()
    return 1e3 * (perf_counter() - start)


def fastest(runs: dict[object, Callable[[], object]],
            repeats: int) -> dict[object, float]:
    """{name: the best time of many}, taken in turns."""
    rounds = [{name: milliseconds(run) for name, run in runs.items()}
              for _ in range(repeats)]
    return {name: min(times[name] for times in rounds) for name in runs}


def by_length(repeats: int = 20) -> dict[object, float]:
    """Milliseconds of a word, by whether there is a cache, and the length."""
    torch.manual_seed(0)
    model = CHAPTER.Transformer()
    runs: dict[object, Callable[[], object]] = {}
    for n in LENGTHS:
        ids = torch.randint(36, (1, n))
        with torch.no_grad():
            _, caches = CHAPTER.next_logits(
                model, ids[:, :-1], CHAPTER.empty_caches(model))
        runs["everything again", n] = lambda ids=ids: model(ids)
        runs["with the cache", n] = lambda ids=ids, caches=caches: (
            CHAPTER.next_logits(model, ids[:, -1:], caches))
    return fastest(runs, repeats)


def main() -> None:
    """Print the table."""
    times = by_length()
    print("| milliseconds for a word |",
          " | ".join(f"{n} words" for n in LENGTHS), "|")
    for name in ("everything again", "with the cache"):
        print(f"| {name} |", " | ".join(f"{times[name, n]:.2f}"
                                        for n in LENGTHS), "|", flush=True)


if __name__ == "__main__":
    main()
