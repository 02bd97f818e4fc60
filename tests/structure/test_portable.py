"""`make portable` can fail: on text, a picture, an error."""

import base64
import io

import pytest
from nbformat.v4 import new_code_cell, new_output
from PIL import Image

import tools.run.pictures
from course.chapter import chapter
from tools.run import portable


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


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tools.run.pictures, "FOLDER", tmp_path)


def compare(new, stored):
    """What is told of one cell, its text and then its pictures."""
    return [line for told in (portable.changes([new], [stored]),
                              portable.redrawn([new], [stored], "04-plain"))
            for lines in told.values() for line in lines]


def test_what_differs_is_told():
    assert compare(cell(shade=9), cell(shade=9)) == []
    assert compare(cell("loss 0.32\n"), cell()) == ["-loss 0.31", "+loss 0.32"]
    assert compare(cell(error="too far\nat 3"), cell()) == [
        "raises AssertionError: too far"]
    [line] = compare(cell(shade=200), cell(shade=9))
    assert "tolerance 4: see _build/pictures/04-plain-" in line
    assert compare(cell(), cell(shade=9))[-1].endswith(
        "0 pictures, not 1")


def test_half_of_the_tolerance_is_the_limit():
    for shade, wrong in ((12, 0), (14, 1)):  # 3 and 5 of a tolerance of 8
        assert len(compare(cell(shade=shade), cell(shade=9))) == wrong


def test_an_ignored_output_may_differ_but_not_raise():
    tags = ["nbval-ignore-output"]
    assert compare(cell("2\n", 1, tags), cell("1\n", 9)) == []
    assert compare(cell(tags=tags, error="no"), cell())


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


def test_a_dead_kernel_fails_and_the_others_go_on(monkeypatch, capsys):
    def run(chapter, setting):
        if chapter is dies:
            raise RuntimeError("Kernel died")
        return {}
    monkeypatch.setattr(portable, "SETTINGS", {"plain": {}})
    monkeypatch.setattr(portable, "probe", str)
    monkeypatch.setattr(portable, "run", run)
    dies, lives = chapter("04"), chapter("07")
    assert portable.main([dies, lives], jobs=1)
    assert "Kernel died" in (said := capsys.readouterr().out)
    assert "2 runs, 1 with failures" in said
    assert not portable.main([lives], jobs=1)
