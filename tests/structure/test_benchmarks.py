"""What the benchmark times computes what it says. No time is asserted."""

from contextlib import contextmanager

import numpy as np
import pytest
import torch

from benchmarks import deferred_norm as bench
from benchmarks import fused_competitor as fused
from benchmarks import norm_on_gpu as gpu


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("n, k, tokens", [(24, 40, 7), (576, 96, 1)])
def test_programs_agree_with_float64(n, k, tokens, dtype):
    off = bench.furthest_from_exact(*bench.inputs(n, k, tokens, dtype))
    assert len(off) == 3 and max(off.values()) < 8


def test_a_wrong_program_would_be_seen(monkeypatch):
    def one_size_for_all(X, W, gain):
        return X @ W * torch.rsqrt(X.square().mean() + bench.EPS)

    monkeypatch.setattr(bench, "PROGRAMS", (one_size_for_all,))
    off = bench.furthest_from_exact(*bench.inputs(24, 40, 7, torch.float32))
    assert off["one_size_for_all"] > 1e5


def test_the_standard_over_itself_is_there():
    operands = bench.inputs(24, 40, 7, torch.float32)
    milliseconds, ratios = bench.ratios(operands, rounds=3)
    assert milliseconds > 0 and len(ratios) == 4


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("n, k, tokens", [(24, 40, 7), (576, 96, 1)])
def test_fused_programs_agree_with_float64(n, k, tokens, dtype):
    operands = fused.inputs(n, k, tokens, dtype)
    assert max(fused.furthest_from_exact(*operands)) < 8
    wrong = fused.furthest_from_exact(*operands, [fused.product])
    assert wrong[0] > 20


def test_the_unit_over_itself_is_there():
    operands = fused.inputs(24, 40, 7, torch.float32)
    runs = {"unit": fused.standard, "A/A": fused.standard,
            "deferred": fused.deferred}
    ratios = fused.ratios(runs, operands, rounds=3)
    assert ratios[0] == 1 and len(ratios) == 3 and min(ratios) > 0


def test_gpu_programs_agree_without_a_gpu(monkeypatch, capsys):
    runs, operands = gpu.contenders(False), gpu.inputs(40, 24, 6, "cpu")
    off = gpu.furthest_apart(runs, operands)
    assert off.keys() == runs.keys() - {"product alone"}
    assert max(off.values()) < 5e-3
    off = gpu.furthest_apart(
        {"undivided": lambda X, W, gain: X @ W}, operands)
    assert off["undivided"] > 0.5
    X, W, gain = (a.float() for a in operands)
    gain = gain + torch.arange(40)
    x = X.double()
    want = x * (x.square().mean(1, True) + gpu.EPS).rsqrt() * gain @ W.double()
    torch.testing.assert_close(gpu.unfused(X, W, gain).double(), want,
                               rtol=1e-4, atol=1e-3)
    large = (X * 300).half()                        # squares pass 65,504
    assert gpu.unfused(large, operands[1], operands[2]).isfinite().all()
    monkeypatch.setattr("sys.argv", ["norm_on_gpu"])
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    gpu.main()
    assert "not timed" in capsys.readouterr().out


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
    monkeypatch.setattr(torch.Tensor, "record_stream", lambda tensor, stream:
                        told.append(f"{list(tensor.shape)} {stream.name}"))
    return told, clock


def test_two_streams_wait_for_each_other(cuda, monkeypatch):
    told, _ = cuda
    X, W = torch.randn(5, 8), torch.randn(8, 3)
    kept, want = X.clone(), bench.deferred(X, W, torch.ones(8))
    size, scale = torch.rsqrt, torch.Tensor.mul_
    monkeypatch.setattr(gpu, "product", lambda *given: told.append(
        "product") or bench.product(*given))
    monkeypatch.setattr(torch, "rsqrt", lambda *given: told.append(
        "size") or size(*given))
    monkeypatch.setattr(torch.Tensor, "mul_", lambda *given: told.append(
        "scale") or scale(*given))
    got = gpu.contenders(True)["two streams"](X, W, torch.ones(8))
    torch.testing.assert_close(got, want)
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

    assert gpu.milliseconds(run, ()) == 7           # the first was not timed
    told.clear()
    assert gpu.milliseconds(run, (), 3) == 7
    assert told.count("run") == 4


def test_gpu_ratios_in_a_drawn_order(cuda):
    _, clock = cuda
    started = []

    def costs(name, cost):
        def step():
            clock[0] += cost * (1 + len(started) // 63)     # a warmer machine
            started.append(name)
        return step

    runs = {name: costs(name, cost) for name, cost in (
        ("unit", 2), ("half", 1), ("more", 3))}
    got = gpu.ratios(runs, (), 5)
    assert list(got) == list(runs)
    assert list(got.values()) == pytest.approx([1, 0.5, 1.5])
    rounds = np.reshape(started, (5, 3, 21))
    assert (rounds == rounds[..., :1]).all()
    assert all(set(order) == set(runs) for order in rounds[..., 0])
    assert len({tuple(order) for order in rounds[..., 0]}) > 1
