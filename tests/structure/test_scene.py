"""The story of the front page is what the trained model sees in it."""

import re
import shutil

import pytest

from course.paths import BOOK
from tools.refresh import scene

STATIC = BOOK / "_static"


@pytest.mark.parametrize("color", scene.COLORS)
def test_what_is_stored_is_what_is_drawn(color):
    """Else: .venv/bin/python -m tools.refresh --write-only"""
    stored = (STATIC / f"scene-{color}.svg").read_text("utf-8")
    assert stored == scene.drawing(color)


def test_the_words_for_those_who_cannot_see_it_say_its_numbers():
    numbers = re.findall(r">(?:Eva )?(\d\.\d\d)<", scene.drawing("light"))
    told = re.findall(r"\n:class: only-(?:light|dark) scene\n:alt: (.*)",
                      (BOOK / "intro.md").read_text("utf-8"))
    assert len(numbers) == 4
    assert [re.findall(r"\d\.\d\d", alt) for alt in told] == [numbers] * 2


def test_a_changed_drawing_is_drawn_anew(tmp_path):
    for color in scene.COLORS:
        shutil.copy(STATIC / f"scene-{color}.svg", tmp_path)
    path = tmp_path / "scene-dark.svg"
    path.write_text(path.read_text("utf-8").replace("0.99", "0.98"), "utf-8")
    assert [*scene.write(tmp_path)] == [path]
    assert [*scene.write(tmp_path)] == []
