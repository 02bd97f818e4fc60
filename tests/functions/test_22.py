"""Chapter 22's functions against a clock, closed forms and a stubbed GPU."""

from contextlib import contextmanager

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from course.chapter import functions

CHAPTER = functions("22")
INSIDE = CHAPTER.cycles.__globals__                 # where its functions look


def close(got, want, bound=1e-12):
    """Every row within bound of its own length."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape
    off = np.linalg.norm(got - want, axis=-1)
    assert (off <= bound * np.linalg.norm(want, axis=-1)).all(), off.max()


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
            return started
    raise AssertionError


def test_each_task_starts_when_it_can():
    rng = np.random.default_rng(22)
    for _ in range(60):
        tasks = {i: (f"unit {rng.integers(3)}",
                     [int(j) for j in rng.permutation(i)[:rng.integers(3)]])
                 for i in range(rng.integers(1, 25))}
        got = CHAPTER.start_cycles(tasks)
        assert got == by_the_clock(tasks)
        assert CHAPTER.cycles(tasks) == max(got.values()) + 1
    with pytest.raises(KeyError, match="later"):
        CHAPTER.start_cycles({"a": ("u", ["later"]), "later": ("u", [])})


@pytest.mark.parametrize("C, K", [(1, 1), (1, 4), (2, 3), (3, 2), (5, 1),
                                  (4, 6), (7, 7)])
def test_three_programs(C, K):
    square = [("square", 9, i) for i in range(C)]
    scale = [("scale", 9, i) for i in range(C)]
    tiles = {("tile", 9, i, j) for i in range(C) for j in range(K)}
    norm = CHAPTER.norm_tasks(C, 9)
    assert list(norm) == square + scale
    assert all(needs == [square[-1]] for name, (_, needs) in norm.items()
               if name in scale)
    assert {unit for unit, _ in norm.values()} == {"vector"}
    assert CHAPTER.cycles(norm) == 2 * C
    programs = {CHAPTER.waiting_tasks: C * K + 2 * C,
                CHAPTER.chunkwise_tasks: C * K + C + 1,
                CHAPTER.deferred_tasks: C * K + 1}
    for make, closed in programs.items():
        assert CHAPTER.cycles(make(C, K)) == closed
        tasks = make(C, K, 9)
        outputs = {("scale", 9, j) for j in range(K)}
        assert tasks.keys() == tiles | {*square} | (
            outputs if make is CHAPTER.deferred_tasks else {*scale})
        assert all((unit == "matrix") == (name in tiles)
                   for name, (unit, _) in tasks.items())
        start = CHAPTER.start_cycles(tasks)
        for B in (1, 2, 5):
            line = CHAPTER.several(make, C, K, B)
            assert len(line) == B * len(tasks)
            assert CHAPTER.start_cycles(line) == by_the_clock(line)
            if C > 1 and K > 1:                     # the matrix never waits
                assert CHAPTER.cycles(line) == closed + (B - 1) * C * K
            assert {name[1] for name in line} == {*range(B)}
        if make is CHAPTER.waiting_tasks:
            assert min(start[t] for t in tiles) == 2 * C
        elif make is CHAPTER.chunkwise_tasks:
            assert all(start[t] > start["scale", 9, t[2]] for t in tiles)
            assert start["tile", 9, 0, 0] == C + 1
            assert all(tasks[t][1] == [("scale", 9, t[2])] for t in tiles)
        else:
            for j in range(K):
                assert {*tasks["scale", 9, j][1]} == {
                    ("tile", 9, C - 1, j), ("square", 9, C - 1)}
                assert start["scale", 9, j] > max(
                    start["square", 9, C - 1],
                    *(start["tile", 9, i, j] for i in range(C)))


def test_what_deferring_saves():
    for C, B in ((1, 1), (2, 3), (4, 1), (4, 64), (7, 2)):
        assert CHAPTER.cycles_saved(C, B) == pytest.approx(
            (2 * C - 1) / (B * C * C + 2 * C))
    assert CHAPTER.cycles_saved(4, 1) == pytest.approx(7 / 24)
    assert CHAPTER.cycles_saved(1, 2) < 1 / 4       # here the vectors wait


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


def test_a_line_for_each_program(monkeypatch, capsys):
    runs = {"first": abs, "the second one": max}
    monkeypatch.setitem(INSIDE, "paired_ratios", lambda given: [
        1.0, 0.456] if given == [abs, max] else None)
    CHAPTER.print_ratios(runs)
    assert capsys.readouterr().out.splitlines() == [
        "first            1.00", "the second one   0.46"]


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
    close(CHAPTER.unfused(X, W, gain, 0.5), x * (mean + 0.5).rsqrt() * g @ w,
          1e-5)
    close(CHAPTER.unfused(X, W, gain), want, 1e-5)
    large = (300 * X[1:2]).half()                   # squares pass 65,504
    got = CHAPTER.unfused(large, W.half(), gain.half())
    assert got.dtype == torch.float16
    close(got, want[1:2], 0.01)


def test_the_worst_token_of_each_program():
    want = torch.tensor([[3.0, 4], [0, 0.001]])
    runs = {"unfused": lambda: want.half(), "norm, product": lambda: want,
            "divided after": lambda: want * torch.tensor([[1.1], [1]]),
            "weightless": lambda: want + torch.tensor([[0.0], [0.0001]]),
            "product alone": lambda: 9 * want}
    got = CHAPTER.furthest_apart(runs)
    assert got == pytest.approx({
        "unfused": 0, "norm, product": 0, "divided after": 0.1,
        "weightless": 0.1 * 2**0.5}, rel=1e-3, abs=1e-3)
    assert not CHAPTER.gpu_contenders(*map(torch.ones, (
        (2, 3), (3, 4), 3, (3, 4)))).keys() ^ {*runs, "the same (A/A)"}


def test_a_race_on_the_cpu(monkeypatch):
    torch.manual_seed(1)
    assert CHAPTER.gpu_race(40, 24, 6, "cpu") is None
    honest, given = CHAPTER.reciprocal_size, []
    for name, where, broken in (
            ("unfused", "unfused", lambda X, W, gain: X @ W),
            ("divided after", "reciprocal_size", lambda X: 1.01 * honest(X)),
            ("weightless", "contenders", lambda *given: {
                **CHAPTER.contenders(*given), "weightless": lambda: F.rms_norm(
                    given[0], (40,), eps=0) @ given[1]})):
        with monkeypatch.context() as patch:
            patch.setitem(INSIDE, where, broken)
            with pytest.raises(AssertionError) as found:
                CHAPTER.gpu_race(40, 24, 6, "cpu")
        [off] = found.value.args
        assert max(off, key=off.get) == name
    monkeypatch.setitem(INSIDE, "contenders", lambda *now: given.append(
        now) or {**CHAPTER.contenders(*now), "product alone": lambda: now[0]
                 [:, :1].expand(-1, 24)})           # it may be anything
    assert CHAPTER.gpu_race(40, 24, 6, "cpu") is None
    [(X, W, gain, W_folded)] = given
    assert X.dtype == W.dtype == gain.dtype == W_folded.dtype == torch.float16
    assert X.shape == (6, 40) and W.shape == (40, 24) and len(set(
        gain.tolist())) > 1
    close(W_folded, torch.diag(gain.float()) @ W.float(), 1e-3)
    size = X.float().square().mean(1).sqrt()
    assert size[-1] > 5 * size[0]


@pytest.fixture
def cuda(monkeypatch):
    """A torch.cuda that tells what it is asked, and a clock to move.

    Here is no GPU; on one, a wait that is missing shows in a result only now
    and then. What has to come before what is asserted, no other order.
    """
    told, clock = [], [0.0]

    class Stream:
        def __init__(self, name="aside"):
            self.name = name

        def wait_stream(self, other):
            told.append(f"{self.name} waits for {other.name}")

    class Event:
        def __init__(self, enable_timing=False):
            assert enable_timing

        def record(self):
            self.time = clock[0]
            told.append("record")

        def elapsed_time(self, other):
            assert told[-1] == "synchronize"
            return other.time - self.time

    @contextmanager
    def inside(stream):
        told.append(f"on {stream.name}")
        yield
        told.append(f"off {stream.name}")

    for name, stub in (("Stream", Stream), ("Event", Event),
                       ("current_stream", lambda: Stream("here")),
                       ("stream", inside),
                       ("synchronize", lambda: told.append("synchronize"))):
        monkeypatch.setattr(torch.cuda, name, stub)
    monkeypatch.setattr(torch.Tensor, "is_cuda", True)
    monkeypatch.setattr(torch.Tensor, "record_stream", lambda tensor, stream:
                        told.append(f"{list(tensor.shape)} {stream.name}"))
    return told, clock


def test_two_streams_wait_for_each_other(cuda, monkeypatch):
    told, _ = cuda
    X, W = torch.randn(5, 8), torch.randn(8, 3)
    kept, want = X.clone(), X @ W / X.square().mean(1, True).sqrt()
    product, size = torch.Tensor.__matmul__, INSIDE["reciprocal_size"]
    scale = torch.Tensor.mul_
    monkeypatch.setattr(torch.Tensor, "__matmul__", lambda *given: told.append(
        "product") or product(*given))
    monkeypatch.setattr(torch.Tensor, "mul_", lambda *given: told.append(
        "scale") or scale(*given))
    monkeypatch.setitem(INSIDE, "reciprocal_size", lambda *given: told.append(
        "size") or size(*given))
    got = CHAPTER.side_by_side(X, W, torch.cuda.Stream())
    close(got, want, 1e-5)
    assert torch.equal(X, kept)

    def comes_in_order(*steps):
        assert all(told.count(step) == 1 for step in steps), told
        assert sorted(steps, key=told.index) == list(steps), told

    comes_in_order("aside waits for here", "on aside", "size", "off aside",
                   "here waits for aside", "scale")
    comes_in_order("product", "scale")
    assert not told.index("on aside") < told.index("product") < told.index(
        "off aside")
    assert "[5, 1] here" in told                    # its memory is kept


def test_the_gpu_s_own_clock(cuda):
    told, clock = cuda

    def run():
        clock[0] += 7 if told else 1000             # the first call is warm
        told.append("run")

    assert CHAPTER.gpu_milliseconds(run) == 7       # the first was not timed
    told.clear()
    assert CHAPTER.gpu_milliseconds(run, 3) == 7
    assert told.count("run") == 4


def test_a_race_on_a_gpu(cuda, monkeypatch):
    told, clock = cuda
    torch.manual_seed(2)
    cost = {"unfused": 9, "norm, product": 2, "the same (A/A)": 2,
            "weightless": 1, "divided after": 3, "product alone": 0.5}
    started = []

    def timed(name, run):
        def step():
            clock[0] += cost[name] * (1 + len(started) // 147)
            started.append(name)
            return run()
        return step

    honest = CHAPTER.contenders
    asked = []

    def watched(*given):
        asked.append(given)
        return {name: timed(name, run) for name, run in honest(*given).items()}

    monkeypatch.setitem(INSIDE, "contenders", watched)
    monkeypatch.setitem(INSIDE, "unfused", lambda *given: timed(
        "unfused", lambda: CHAPTER.unfused(*given))())
    cost["two streams"] = 4
    two = CHAPTER.side_by_side
    monkeypatch.setitem(INSIDE, "side_by_side", lambda *given: timed(
        "two streams", lambda: two(*given))())
    got = CHAPTER.gpu_race(40, 24, 6, "cpu", rounds=5)
    assert list(got) == ["unfused", "norm, product", "the same (A/A)",
                         "weightless", "divided after", "product alone",
                         "two streams"]
    for name, ratio in got.items():
        assert ratio == pytest.approx(cost[name] / 2, rel=0.3)
    rounds = np.reshape(started[7:], (5, 7, 21))    # six, and what is wanted
    assert (rounds == rounds[..., :1]).all()
    assert all(set(order) == set(cost) for order in rounds[..., 0])
    assert len({tuple(order) for order in rounds[..., 0]}) > 1
    _, (X, W, gain, W_folded) = asked               # one matrix in the cache
    assert W_folded is W and (gain == 1).all()
    monkeypatch.setitem(INSIDE, "side_by_side", lambda X, W, aside: X @ W)
    with pytest.raises(AssertionError) as found:
        CHAPTER.gpu_race(40, 24, 6, "cpu", rounds=1)
    [off] = found.value.args
    assert max(off, key=off.get) == "two streams"


def test_blocks_and_turns():
    for rounds in (80, 200, 500):
        given = () if rounds == 200 else (rounds,)
        # 1 to 1.2 in a line: the halves' means are 1.05 and 1.15
        assert CHAPTER.seems("blocks", *given) == pytest.approx(
            1.15 / 1.05, abs=0.005)
        assert CHAPTER.seems("turns", *given) == pytest.approx(1, abs=0.01)
