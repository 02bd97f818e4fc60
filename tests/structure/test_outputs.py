"""What is stored is one silent run, from top to bottom, of the cells shown."""

import json
import re

import nbformat
import pytest

from course.chapter import chapter as course_chapter
from tests.support.book import each_chapter

TRACES = {
    "an address": r"0x[0-9a-f]{6,}",
    "a path": r"(?<![\w.])/(home|root|tmp|usr|work|Users|content)/|[A-Z]:\\\\",
    "the name of a Python": r"site-packages|ipykernel_\d+",
}


@each_chapter
def test_ran_once_from_top_to_bottom(chapter):
    counts = [cell.execution_count for cell in chapter.code]
    assert counts == list(range(1, len(counts) + 1))


@each_chapter
def test_ran_in_silence(chapter):
    for cell in chapter.code:
        kinds = {output.get("name", output.output_type)
                 for output in cell.outputs}
        assert not kinds & {"stderr", "error"}, cell.id


@each_chapter
def test_outputs_are_the_same_anywhere(chapter):
    for cell in chapter.code:
        text = json.dumps([
            {**output, "data": {kind: data for kind, data
                                in output.get("data", {}).items()
                                if kind != "image/png"}}
            for output in cell.outputs])
        for what, trace in TRACES.items():
            assert not re.search(trace, text), f"{cell.id}: {what}"


@pytest.mark.parametrize("number, cell_id", [
    ("14", "course-text"), ("19", "text-run")])
def test_what_depends_on_a_text_was_made_with_shakespeare(number, cell_id):
    shown = course_chapter(number).cell(cell_id)
    assert shown.outputs[0].text.startswith("Tiny Shakespeare: 1,115,394")


@each_chapter
def test_file_is_as_refresh_writes_it(chapter):
    nb = chapter.notebook
    nbformat.validate(nb)
    assert nbformat.writes(nb) + "\n" == chapter.path.read_text("utf-8")
    assert set(nb.metadata) == {"kernelspec", "language_info"}
    assert nb.metadata.language_info == {"name": "python"}
    for cell in nb.cells:
        if cell.cell_type == "code":
            assert cell.source.strip()
            assert not cell.source.rstrip().endswith(";"), "nbval fails here"
