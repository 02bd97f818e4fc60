"""What the benchmark times computes what it says. No time is asserted."""

import pytest
import torch

from benchmarks import deferred_norm as bench
from benchmarks import fused_competitor as fused


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
