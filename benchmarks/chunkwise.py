"""What do chunks cost beside the loops, and beside attention?

    python -m benchmarks.chunkwise [--quick]

Float32, one thread, one text, four heads, d_k = d_v = 64, forward and backward.
Each number is a ratio of best processor times, over those of the chunkwise form
(chunks of 64). The methods take turns, in an order that is drawn anew for each
round. The last column divides the chunkwise form by itself, measured the same
way: what strays from 1 there is noise. A second table does the same for other
chunk lengths, a third for the loop by rows with other numbers of heads: 256
heads are 64 texts of four. Processor time of one thread is the time of a quiet
machine; it does not count the waits of a busy one. Nothing here is asserted: a
time belongs to the machine it was taken on.
"""

import course.one_thread  # noqa: F401, I001  before torch loads

import argparse
import random
from collections.abc import Callable
from time import process_time

import torch

from course.chapter import functions

CHAPTER = functions("18")
Tensor = torch.Tensor
Rule = Callable[..., tuple[Tensor, Tensor | None]]
LENGTHS = (1, 4, 16, 32, 64, 128, 256, 1024, 4096)


def rule_by_products(Q: Tensor, K: Tensor, V: Tensor,
                     beta: Tensor) -> tuple[Tensor, Tensor]:
    """The fastest loop that we know: rows at once, and batched products."""
    Q, K, V = (X[..., None] for X in (Q, K, V))     # (h, n, d, 1)
    beta = beta[..., None, None]
    state, Y = V.new_zeros(len(V), V.shape[-2], K.shape[-2]), []
    for q, k, v, b in zip(Q.unbind(1), K.unbind(1), V.unbind(1),
                          beta.unbind(1), strict=True):
        d = b * torch.baddbmm(v, state, k, alpha=-1)
        state = torch.baddbmm(state, d, k.mT)
        Y.append(torch.bmm(state, q))
    return torch.stack(Y, dim=1)[..., 0], state


METHODS: dict[str, Rule] = {
    "chunks of 64": CHAPTER.delta_rule_chunkwise,
    "chunks again": CHAPTER.delta_rule_chunkwise,
    "loop by rows": CHAPTER.delta_rule_by_rows,
    "loop by products": rule_by_products,
    "attention written out": CHAPTER.attention_written_out,
    "fused attention": CHAPTER.softmax_rule}


def seconds(rule: Rule, inputs: tuple[Tensor, ...]) -> float:
    """Processor time of one forward and backward pass."""
    start = process_time()
    rule(*inputs)[0].sum().backward()
    return process_time() - start


def of(chunk: int) -> Rule:
    """The chunkwise form with chunks of this length."""
    def rule(*inputs: Tensor) -> tuple[Tensor, Tensor]:
        return CHAPTER.delta_rule_chunkwise(*inputs, chunk=chunk)
    return rule


def length_ratios(n: int, rounds: int) -> dict[str, float]:
    """{chunk length: its best time over that of chunks of 64}."""
    inputs = CHAPTER.memory_inputs(n)
    rules = {str(chunk): of(chunk) for chunk in LENGTHS} | {"again": of(64)}
    times: dict[str, list[float]] = {name: [] for name in rules}
    for i in range(rounds + 1):
        names = list(rules)
        random.shuffle(names)
        for name in names:
            taken = seconds(rules[name], inputs)
            times[name] += [taken] * (i > 0)        # the first is warm-up
    unit = min(times["64"])
    return {name: min(several) / unit for name, several in times.items()}


def ratio_of_loop(heads: int, rounds: int, n: int = 256) -> float:
    """The loop by rows: its best time over that of chunks."""
    inputs = CHAPTER.memory_inputs(n, h=heads)
    times = [[seconds(METHODS[name], inputs) for name in (
        "loop by rows", "chunks of 64")] for _ in range(rounds + 1)]
    loop, chunks = (min(several) for several in zip(*times[1:], strict=True))
    return loop / chunks


def ratios(n: int, rounds: int) -> dict[str, float]:
    """{method: its best time over that of chunks}."""
    inputs = CHAPTER.memory_inputs(n)
    times: dict[str, list[float]] = {name: [] for name in METHODS}
    for rule in METHODS.values():
        seconds(rule, inputs)                       # warm
    for _ in range(rounds):
        names = list(METHODS)
        random.shuffle(names)
        for name in names:
            times[name].append(seconds(METHODS[name], inputs))
    unit = min(times["chunks of 64"])
    return {name: min(of_method) / unit
            for name, of_method in times.items()}


def main() -> None:
    """Print a line for each length of the text, then one for each chunk."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    random.seed(0)
    names = [name for name in METHODS if name not in (
        "chunks of 64", "chunks again")] + ["chunks again"]
    print("| tokens |", " | ".join(names[:-1]), "| chunks, again |")
    print("| ---: |" + " ---: |" * len(names), flush=True)
    for n, rounds in ((256, 41), (1024, 21), (4096, 9)):
        ratio = ratios(n, 1 if quick else rounds)
        print(f"| {n} |", " | ".join(f"{ratio[name]:.1f}" for name in
                                     names[:-1]),
              f"| {ratio[names[-1]]:.2f} |", flush=True)
    print("\n| chunk length, 4096 tokens | time |\n| ---: | ---: |")
    for name, ratio_of_time in length_ratios(4096, 1 if quick else 9).items():
        print(f"| {'64, again' if name == 'again' else name} |",
              f"{ratio_of_time:.2f} |")
    print("\n| heads, 256 tokens | loop by rows |\n| ---: | ---: |")
    for heads, rounds in ((1, 41), (4, 41), (16, 21), (256, 5)):
        print(f"| {heads} |",
              f"{ratio_of_loop(heads, 1 if quick else rounds):.1f} |")


if __name__ == "__main__":
    main()
