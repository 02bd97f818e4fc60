"""Chapter 22's functions against a clock and closed forms."""

import numpy as np
import pytest
import torch

from course.chapter import functions

CHAPTER = functions("22")
INSIDE = CHAPTER.cycles.__globals__                 # where its functions look


def close(got, want, bound=1e-12):
    """Every row within bound of its own length."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape
    off = np.linalg.norm(got - want, axis=-1)
    assert (off <= bound * np.linalg.norm(want, axis=-1)).all(), off.max()


def queued(program, C, K, tokens):
    """The tasks of a program: {name: (unit, names needed)}, in order."""
    tasks = {}
    for t in range(tokens):
        squares = [("square", t, i) for i in range(C)]
        tasks |= {name: ("vector", []) for name in squares}
        if program != "deferred":
            tasks |= {("scale", t, i): ("vector", [squares[-1]])
                      for i in range(C)}
            needs = {"norm first": lambda t, i: [("scale", t, C - 1)],
                     "by chunks": lambda t, i: [("scale", t, i)]}[program]
            tasks |= {("tile", t, i, j): ("matrix", needs(t, i))
                      for i in range(C) for j in range(K)}
            continue
        for j in range(K):                          # column by column
            tasks |= {("tile", t, i, j): ("matrix", []) for i in range(C)}
            tasks["scale", t, j] = ("vector", [("tile", t, C - 1, j),
                                               squares[-1]])
    return tasks


def by_the_clock(tasks):
    """Cycle by cycle: each unit takes the first of its queue, or waits."""
    queues, started = {}, {}
    for name, (unit, needs) in tasks.items():
        queues.setdefault(unit, []).append((name, needs))
    for now in range(10_000):
        for queue in queues.values():
            if queue and all(started.get(need, now) < now
                             for need in queue[0][1]):
                started[queue.pop(0)[0]] = now
        if not any(queues.values()):
            return max(started.values()) + 1
    raise AssertionError


@pytest.mark.parametrize("program", ["norm first", "by chunks", "deferred"])
@pytest.mark.parametrize("C, K", [(1, 1), (1, 4), (2, 3), (3, 2), (5, 1),
                                  (4, 6), (7, 7)])
def test_cycles_by_the_clock(program, C, K):
    for tokens in (1, 2, 5):
        assert CHAPTER.cycles(program, C, K, tokens) == by_the_clock(
            queued(program, C, K, tokens))
    assert CHAPTER.cycles(program, C, K) == C * K + {
        "norm first": 2 * C, "by chunks": C + 1, "deferred": 1}[program]


def test_amdahl_and_bounds():
    for share, factor in ((0.2, 2), (0.3, 1.25), (0.75, 40)):
        left = 1 - share + share / factor
        assert CHAPTER.amdahl(share, factor) == pytest.approx(1 / left)
    assert CHAPTER.amdahl(0.75) == 4 and CHAPTER.amdahl(0.3, 1) == 1
    assert CHAPTER.time_bound(312e6, 1) == pytest.approx(1)
    assert CHAPTER.time_bound(1, 2.039e6) == pytest.approx(1)
    assert CHAPTER.time_bound(6, 8, 3, 2) == 4e6
    assert CHAPTER.time_bound(9, 8, 2, 4) == 4.5e6


def test_a_list_of_calls():
    X, gain = torch.ones(300, 40).half(), torch.ones(40).half()
    with CHAPTER.Calls() as calls:
        Y = (X + X).float()
        CHAPTER.eight_calls(X, gain)
    names, moved = zip(*calls.rows, strict=True)
    assert names[:2] == ("add", "_to_copy") and len(names) == 10
    assert moved[:2] == (3 * X.nbytes, X.nbytes + Y.nbytes)
    torch.add(X, X)                                 # after it is off
    assert len(calls.rows) == 10


def test_eight_calls():
    X = torch.tensor([[3.0, -4], [300, 400]]).half()
    want = X.double() / torch.tensor([[12.5**0.5], [125000**0.5]])
    got = CHAPTER.eight_calls(X, torch.tensor([2.0, 0.5]).half(), 0)
    assert got.dtype == torch.float16
    close(got.double(), want * torch.tensor([2, 0.5]), 2e-3)
    small = CHAPTER.eight_calls(torch.full((1, 8), 1e-3), torch.ones(8))
    close(small, torch.full((1, 8), 2**-0.5), 1e-5)     # eps = mean square


def test_an_estimate():
    calls, ways, product = CHAPTER.estimate([3, 0, 2], 7, 4, d=30, k=50)
    assert calls == 16
    assert ways == pytest.approx(2 * 5 * 7 * 30 / 2.039e6)
    assert product == pytest.approx(
        2 * (7 * 30 + 30 * 50 + 7 * 50) / 2.039e6)  # few tokens: its bytes
    *_, product = CHAPTER.estimate([1], 10**6, 0)
    assert product == pytest.approx(2e6 * 4096 * 6144 / 312e6)


def test_eight_bits():
    rng = np.random.default_rng(8)
    X = torch.tensor(rng.normal(size=(4, 3, 64)) * 10 ** rng.uniform(
        -3, 3, size=(4, 3, 1))).float()
    codes, scale = CHAPTER.to_8_bits(X)
    assert codes.dtype == torch.float8_e4m3fn and scale.shape == (4, 3, 1)
    assert (codes.float().abs().amax(-1) == 448).all()
    assert ((codes.float() * scale - X).abs() <= X.abs() / 16
            + scale * 2**-10).all()                 # half a step, subnormals
    again, twice = CHAPTER.to_8_bits(4 * X)
    assert torch.equal(codes.float(), again.float())
    assert torch.equal(twice, 4 * scale)


def test_bytes_of_passes():
    for n, k, tokens, unfused in ((576, 960, 4096, 13), (40, 7, 3, 2)):
        given = () if unfused == 13 else (unfused, 1e9)
        passes = unfused * n * tokens * 2           # bytes, of 2 each
        deferred = 2 * n * tokens + 2 * k * tokens * 2  # sizes, scaling
        rate = 320e9 if unfused == 13 else 1e9      # bytes a second
        assert CHAPTER.passes_saved(n, k, tokens, *given) == pytest.approx(
            1000 * (passes - deferred) / rate)


def test_pairs_in_a_drawn_order(monkeypatch):
    """On a clock that a run moves: a second call costs 1, 3, 0.5 of the mood.

    A first call costs 1000, the mood of a round drifts, and every fifth round
    of the last run is disturbed.
    """
    clock, calls = [0.0], []
    monkeypatch.setitem(INSIDE, "perf_counter", lambda: clock[0])

    def run(i, cost):
        def step():
            warm = len(calls) % 2 == 0
            now = len(calls) // 6                   # the round
            calls.append(i)
            disturbed = 50 if i == 2 and now % 5 == 0 else 1
            clock[0] += 1000 if warm else cost * (1 + now) * disturbed
        return step

    runs = [run(i, cost) for i, cost in enumerate((1, 3, 0.5))]
    np.random.seed(0)
    got = CHAPTER.paired_ratios(runs, 15)
    np.testing.assert_allclose(got, [1, 3, 0.5])
    rounds = np.reshape(calls, (15, 3, 2))
    assert (rounds[..., 0] == rounds[..., 1]).all()
    assert (np.sort(rounds[..., 0]) == [0, 1, 2]).all()
    assert len({tuple(order) for order in rounds[..., 0]}) > 2
    calls.clear()
    assert CHAPTER.paired_ratios(runs[:1]) == 1 and len(calls) == 120


def test_contenders():
    rng = np.random.default_rng(23)
    X, W, W_2, gain = (torch.tensor(rng.normal(size=size)).float()
                       for size in ((5, 8), (8, 3), (8, 3), 8))
    X *= torch.tensor([[1e-2], [1], [30], [0.1], [3]])
    kept = [a.clone() for a in (X, W, gain, W_2)]
    runs = CHAPTER.contenders(X, W, gain, W_2)      # W_2: not the folded one
    assert list(runs) == ["norm, product", "the same (A/A)", "weightless",
                          "divided after", "product alone"]
    assert runs["norm, product"] is runs["the same (A/A)"]
    x, w, g, w_2 = (a.double() for a in kept)
    mean = x.square().mean(1, True)
    size = (mean + 1e-6).sqrt()
    want = x / size * g @ w
    for _ in range(2):                              # nothing wears out
        for name, what in (("norm, product", want),
                           ("weightless", x / size @ w_2),
                           ("divided after", x @ w_2 / mean.sqrt()),
                           ("product alone", x @ w)):
            close(runs[name](), what, 1e-5)
    folded = CHAPTER.contenders(X[1:3], W, gain, torch.diag(gain) @ W)
    for name in list(folded)[:4]:
        close(folded[name](), want[1:3], 1e-5)
    assert all(map(torch.equal, (X, W, gain, W_2), kept))


def test_blocks_and_turns():
    for rounds in (80, 200, 500):
        given = () if rounds == 200 else (rounds,)
        # 1 to 1.2 in a line: the halves' means are 1.05 and 1.15
        assert CHAPTER.seems("blocks", *given) == pytest.approx(
            1.15 / 1.05, abs=0.005)
        assert CHAPTER.seems("turns", *given) == pytest.approx(1, abs=0.01)
