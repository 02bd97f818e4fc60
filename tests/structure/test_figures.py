"""Every figure can be read aloud, and a changed one is noticed."""

import ast
import io

import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image

import tools.run.pictures
from course.paths import BOOK
from tests.support.book import each_chapter
from tools.run.pictures import distance, unlike


def called(tree):
    """The name that each call in `tree` uses, and its keywords."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            words = {word.arg for word in node.keywords
                     if getattr(word.value, "value", True)}
            yield name, words


def unlabelled(source, helpers):
    """What the figure drawn by `source` leaves without a name."""
    tree = ast.parse(source)
    trees = [tree] + [helpers[name] for name, _ in called(tree)
                      if name in helpers]
    calls = [call for tree in trees for call in called(tree)]
    said = {word for name, words in calls for word in {name, *words}}
    said |= {key.value for tree in trees for node in ast.walk(tree)
             if isinstance(node, ast.Dict) for key in node.keys
             if isinstance(key, ast.Constant)}
    given = [getattr(word, "value", None) for tree in trees
             for node in ast.walk(tree) if isinstance(node, ast.Call)
             if getattr(node.func, "attr", "") == "axis" for word in node.args]
    bare = {"color bar" for name, words in calls
            if name == "colorbar" and "label" not in words}
    if "set_axis_off" in said or "off" in given:
        return bare
    return bare | {label for label in ("xlabel", "ylabel")
                   if not {label, f"set_{label}"} & said}


@each_chapter
def test_figures_have_alt_text(chapter):
    for cell in chapter.code:
        if any("image/png" in out.get("data", {}) for out in cell.outputs):
            image = cell.metadata.get("mystnb", {}).get("image", {})
            assert len(image.get("alt", "").split()) >= 10, cell.id


@each_chapter
def test_figures_are_labelled_and_shown_once(chapter):
    code, bare = chapter.code, {}
    helpers = {node.name: node for cell in code
               for node in ast.parse(cell.source).body
               if isinstance(node, ast.FunctionDef)}
    for cell in code:
        shown = sum("image/png" in out.get("data", {}) for out in cell.outputs)
        assert shown <= 1, cell.id
        if shown:
            bare[cell.id] = unlabelled(cell.source, helpers)
            assert cell.source.rstrip().endswith("plt.show()"), cell.id
    assert not {cell: names for cell, names in bare.items() if names}


BARE = {
    'ax.set(xlim=(0, 1)); plt.show()': {"xlabel", "ylabel"},
    'ax.set(xlabel="step", ylabel="")': {"ylabel"},
    'ax.set(**{"xlabel": "key", "ylabel": "query"})': set(),
    'ax.set_axis_off(); fig.colorbar(image)': {"color bar"},
    'ax.axis("off"); fig.colorbar(image, label="share")': set(),
    'ax.axis("equal")': {"xlabel", "ylabel"},
    'drawing()': set(),
}


@pytest.mark.parametrize("source", BARE)
def test_a_missing_label_is_seen(source):
    helpers = {"drawing": ast.parse("ax.set_axis_off()")}
    assert unlabelled(source, helpers) == BARE[source]


def drawn(drop=0, to=0, ls="-", size=(6, 3), **words):
    """A small figure, as pixels: with a defect, or without."""
    x = np.delete(np.linspace(0.5, 9.5, 10), [4] * drop)
    with plt.rc_context(fname=BOOK / "matplotlibrc"):
        fig, ax = plt.subplots(figsize=size)
        ax.plot(x, x**2, "o", label="measured")
        ax.plot([0, 10], [20 + to, 90 + to], ls=ls)
        ax.set(**{"xlabel": "size", "ylabel": "float32",
                  "xticks": [0, 5, 10], "ylim": (0, 100)} | words)
        file = io.BytesIO()
        fig.savefig(file, dpi=120)
        plt.close(fig)
    return np.asarray(Image.open(file).convert("RGB"), dtype=float)


@pytest.mark.parametrize("defect", [
    {"drop": 1}, {"to": 1}, {"ls": "--"}, {"ylabel": "float64"},
    {"xticklabels": [0, 6, 10]}, {"ylim": (0, 103)}, {"size": (6, 3.01)}],
    ids=str)
def test_a_changed_picture_is_seen(defect):
    assert distance(drawn(), drawn(**defect)) > 1


def test_rounding_errors_are_not_seen():
    assert distance(drawn(), drawn()) == 0
    assert 0 < distance(drawn(), drawn(to=0.02)) < 0.5


def test_a_failure_names_the_numbers_and_keeps_both(tmp_path, monkeypatch):
    monkeypatch.setattr(tools.run.pictures, "FOLDER", tmp_path)
    one, other = drawn(), drawn(drop=1)
    assert unlike("04-eps", [one], [one]) == [] and not [*tmp_path.iterdir()]
    [said] = unlike("04-eps", [one], [other])
    assert "_build/pictures/04-eps." in said
    kept = {kind: np.asarray(Image.open(tmp_path / f"04-eps.{kind}.png"))
            for kind in ("stored", "new", "difference")}
    assert (kept["stored"] == one).all() and (kept["new"] == other).all()
    assert kept["difference"].any()
