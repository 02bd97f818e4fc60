"""The estimate of minutes: one rate for each kind of reading."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from course.chapter import sections
from course.minutes import reading_minutes

WORDS = "word " * 300


@pytest.mark.parametrize("text, minutes", [
    (WORDS, 2), (f"{WORDS} $x$", 3.75), (f"{WORDS} `x`", 3.7625),
    (f"{WORDS} 1 of 2 or 3", 3.8125), ("$$x$$", 0.75),
    (f"<details>{WORDS}</details>", 0), ("**Predict 1.1.** Why?", 1.52)])
def test_prose(text, minutes):
    assert reading_minutes(sections([new_markdown_cell(text)])) == (
        pytest.approx(minutes, abs=0.001))


def test_code_and_figures():
    cell = new_code_cell("x = 1\n\ny = 2")
    folded = new_code_cell("x = 1", metadata={"tags": ["hide-input"]})
    folded.outputs = [{"output_type": "display_data",
                       "data": {"image/png": ""}}]
    assert reading_minutes(sections([cell, folded])) == pytest.approx(
        16 / 60 + 0.75)
