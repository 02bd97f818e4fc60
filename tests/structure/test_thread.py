"""The drawings of the thread and their words are as the tool writes them."""

import re

from course.chapter import chapters
from tools.refresh import thread


def test_what_is_stored_is_what_is_drawn():
    """Else: .venv/bin/python -m tools.refresh --write-only"""
    assert thread.stale() == {}


def test_every_chapter_stands_at_a_dot():
    numbers = [number for group in thread.dots().values()
               for number in re.findall(r"\d\d", group)]
    assert {*thread.dots()} == {*thread.DOTS}
    first_and_last = {numbers[0], numbers[-1]}
    assert first_and_last == {chapters()[0].number, chapters()[-1].number}
    assert numbers == sorted({*numbers})


def test_a_changed_drawing_is_drawn_anew(tmp_path):
    (tmp_path / "book" / "_static").mkdir(parents=True)
    for page in "README.md", "book/intro.md":
        (tmp_path / page).write_text(
            'src="thread-light.svg" alt="old"\n', "utf-8")
    assert len(thread.write(tmp_path)) == 6
    assert thread.write(tmp_path) == []
    path = tmp_path / "book" / "_static" / "thread-dark.svg"
    path.write_text(path.read_text("utf-8").replace("nan", "inf"), "utf-8")
    assert thread.write(tmp_path) == [path]
    assert "old" not in (tmp_path / "README.md").read_text("utf-8")
