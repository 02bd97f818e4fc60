"""`make portable` can fail: on text, a picture, an error, a moved bit."""

import ast
import base64
import builtins
import io
import math
import operator

import numpy as np
import pytest
import torch
from nbformat.v4 import new_code_cell, new_output
from PIL import Image

from tools.run import perturb, portable

x = np.array([0.1, 0.2, 0.8])


def moves(f, *args, rule="ulp", **kwargs):
    """What f(*args) becomes under 40 seeds, less what it is, in ulps."""
    exact = f(*args, **kwargs)
    found = {np.ravel((perturb.Nudge(rule, seed).call(f, *args, **kwargs)
                       - exact) / np.spacing(exact))[0] for seed in range(40)}
    return sorted(map(float, found))


@pytest.mark.parametrize("f, args", [
    (np.exp, [0.3]), (np.exp, [x]), (np.exp, [x.astype(np.float32)]),
    (math.exp, [0.3]), (np.sum, [x]),
    (x.sum, []), (x.mean, []), (np.mean, [x]), (np.linalg.norm, [x]),
    (operator.matmul, [x, x]), (np.einsum, ["i,i->", x, x]),
    (operator.pow, [0.3, 0.7])])
def test_what_is_open_moves_by_one_ulp(f, args):
    assert moves(f, *args) == [-1, 0, 1]


@pytest.mark.parametrize("f, args", [
    (np.add, [0.1, 0.2]), (np.sqrt, [0.3]), (np.cumsum, [x]), (np.max, [x]),
    (np.exp, [0.0]), (np.sum, [np.arange(9.0)]), (np.sum, [[2, 2]]),
    (np.sum, [[0.1, 0.2]]), (np.mean, [np.arange(9.0)]), (x.astype, ["f4"]),
    (operator.matmul, [np.eye(3), x]),
    (operator.matmul, [np.float32([1e8, 1]), np.float32([1, 1])]),
    (operator.pow, [0.3, 2]),
    (operator.pow, [2.0, -3]), (np.log, [0.0 + np.inf]), (operator.add, [2, 2]),
    (np.sum, [np.array([0.5, 0.25, 8.125])])])
def test_what_is_fixed_stays(f, args):
    assert np.array_equal(perturb.Nudge("order", 1).call(f, *args), f(*args))


def test_another_order_is_felt_where_terms_cancel():
    terms = np.array([1e9, 0.1, -1e9])
    assert max(map(abs, moves(np.sum, terms, rule="order"))) > 1000
    assert moves(np.sum, terms, rule="ulp") == [-1, 0, 1]


def test_float16_moves_where_it_is_not_made_in_float32():
    half = x.astype(np.float16)
    assert moves(np.exp, half, rule="float16") == [-1, 0, 1]
    assert moves(np.exp, half, rule="ulp") == [0]
    assert moves(np.exp, x, rule="float16") == [0]
    assert moves(np.sum, half, rule="float16") == [0]


def test_a_processor_always_answers_alike():
    nudge = perturb.Nudge("order", 3)
    rows = np.random.default_rng(0).normal(size=(7, 5))
    twice = nudge.call(np.exp, np.vstack([rows, -rows, rows[::-1]]))
    assert (twice[:7] == twice[:13:-1]).all() and (twice[:7] != (
        np.exp(rows))).any()
    left = nudge.call(operator.matmul, rows, rows.T)
    assert (left == left.T).all() and (left != rows @ rows.T).any()
    scaled = nudge.call(operator.matmul, 8 * rows, rows.T / 2)
    assert (scaled == 4 * left).all()
    odd = nudge.call(np.tanh, rows) + nudge.call(np.tanh, -rows)
    assert (odd == 0).all()


def test_a_token_that_may_not_be_seen_moves_nothing():
    nudge = perturb.Nudge("order", 1)
    values = np.arange(35.0).reshape(7, 5)
    shares = np.tril(np.random.default_rng(0).random((7, 7)))
    changed = values.copy()
    changed[3] += 0.1234567
    one, other = (nudge.call(operator.matmul, shares, v)
                  for v in (values, changed))
    assert (one[:3] == other[:3]).all() and (one[3:] != other[3:]).all()


def test_calls_and_operators_of_a_cell_are_reached(monkeypatch):
    code = """
class Square:
    def __init__(self, *args, scale=1):
        super().__init__()
        self.value = args[0] @ args[0] * scale
found = Square(x, scale=1).value, x[0] ** 0.7
"""
    monkeypatch.setattr(builtins, "__matmul__", operator.matmul, raising=False)
    monkeypatch.setattr(builtins, "__power__", operator.pow, raising=False)
    sums, powers = set(), set()
    for seed in range(40):
        nudge = perturb.Nudge("ulp", seed)
        monkeypatch.setattr(builtins, "__nudged__", nudge.call, raising=False)
        names, tree = {"x": x}, perturb.Rewrite().visit(ast.parse(code))
        exec(compile(tree, "", "exec"), names)
        sums.add(names["found"][0])
        powers.add(names["found"][1])
    assert len(sums) == len(powers) == 3


def test_torch_is_reached_backward_as_well():
    w = torch.tensor([0.1, 0.2, 0.8], requires_grad=True)
    sums, slopes, fixed, halves, still, steps = (set() for _ in range(6))
    for seed in range(40):
        with perturb.torch_mode(perturb.Nudge("ulp", seed)):
            sums.add(w.exp().sum().item())
            slopes.add(torch.autograd.grad(w.tanh().sum(), w)[0][2].item())
            fixed.add((torch.ones(3).sum() + w.max() * w[0]).item())
            still.add(w.detach().add(0 * w, alpha=-0.1)[2].item())
            steps.add(w.detach().add(w, alpha=-0.1)[2].item())
            halves.add(w.bfloat16().exp()[0].item())
    assert len(sums) > 3 and len(slopes) > 3
    assert len(fixed) == len(halves) == len(still) == 1 < len(steps)


def cell(said="loss 0.31\n", shade=None, tags=(), error=None):
    """A cell that printed, drew a square of one shade, or failed."""
    outputs = [new_output("stream", name="stdout", text=said)]
    if shade is not None:
        file = io.BytesIO()
        Image.new("RGB", (96, 96), (shade,) * 3).save(file, "png")
        png = base64.b64encode(file.getvalue()).decode()
        outputs += [new_output("display_data", {"image/png": png})]
    if error:
        outputs += [new_output("error", ename="AssertionError", evalue=error)]
    return new_code_cell("", outputs=outputs, metadata={"tags": [*tags]})


def test_what_differs_is_told():
    assert portable.compare(cell(shade=9), cell(shade=9)) == (0, [])
    assert portable.compare(cell("loss 0.32\n"), cell())[1] == [
        "-loss 0.31", "+loss 0.32"]
    assert portable.compare(cell(error="too far\nat 3"), cell())[1] == [
        "raises AssertionError: too far"]
    far, [told] = portable.compare(cell(shade=200), cell(shade=9))
    assert far > 1 and told.startswith("picture: ")
    assert portable.compare(cell(), cell(shade=9))[1][-1] == (
        "0 pictures, not 1")


def test_half_of_the_tolerance_is_the_limit():
    for shade, wrong in ((12, 0), (14, 1)):  # 3 and 5 of a tolerance of 8
        assert len(portable.compare(cell(shade=shade), cell(shade=9))[1]) == (
            wrong)


def test_an_ignored_output_may_differ_but_not_raise():
    tags = ["nbval-ignore-output"]
    assert portable.compare(cell("2\n", 1, tags), cell("1\n", 9)) == (0, [])
    assert portable.compare(cell(tags=tags, error="no"), cell())[1]


def test_a_skipped_setting_is_named_with_its_reason():
    found = {"plain": "a", "Haswell": "b", "Zen": "b", "SkylakeX": None}
    assert portable.sift(found) == {
        "plain": None, "Haswell": None, "Zen": "the same as Haswell here",
        "SkylakeX": "this processor lacks it"}


def test_settings_do_not_leak_into_each_other(monkeypatch):
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    monkeypatch.setenv("OPENBLAS_L2_SIZE", "512")
    plain = portable.environment("plain")
    assert not {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"} & set(plain)
    alone = portable.environment("MKL AVX2")
    assert alone["MKL_CBWR"] == "AVX2" and "OPENBLAS_CORETYPE" not in alone


def test_a_row_counts_and_shows_each_failure(tmp_path):
    row = portable.row(tmp_path / "20_flash.ipynb", "Haswell", 0.7, {
        "eps": ["picture: 0.70 of the tolerance"],
        "loss": ["-loss 0.31", "+loss 0.32"]}).splitlines()
    assert row[0].split() == ["20", "Haswell", "pictures", "0.70", "text",
                              "1", "errors", "0"]
    assert row[1:] == ["      eps: picture: 0.70 of the tolerance",
                       "      loss: -loss 0.31", "      loss: +loss 0.32"]


def test_a_dead_kernel_fails_and_the_others_go_on(monkeypatch, capsys):
    def run(path, setting):
        if path == "04_dies":
            raise RuntimeError("Kernel died")
        return 0, {}
    monkeypatch.setattr(portable, "SETTINGS", {"plain": {}})
    monkeypatch.setattr(portable, "probe", str)
    monkeypatch.setattr(portable, "run", run)
    monkeypatch.setattr(portable, "row", lambda *told: str(told))
    assert portable.main(["04_dies", "07_lives"], jobs=1)
    assert "Kernel died" in (said := capsys.readouterr().out)
    assert "2 runs, 1 with failures" in said
    assert not portable.main(["07_lives"], jobs=1)
