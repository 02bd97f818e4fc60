"""Every figure can be read aloud, and a changed one is noticed."""

import re

import numpy as np
from chapters import cells, each_chapter

from conftest import alike

LABELS = re.compile(r"set\(|set_xlabel|set_axis_off|axis\(\"off\"\)")


@each_chapter
def test_figures_have_alt_text(path):
    for cell in cells(path, "code"):
        if any("image/png" in out.get("data", {}) for out in cell.outputs):
            image = cell.metadata.get("mystnb", {}).get("image", {})
            assert len(image.get("alt", "").split()) >= 10, cell.id


@each_chapter
def test_figures_are_labelled_and_shown_once(path):
    for cell in cells(path, "code"):
        pictures = sum("image/png" in out.get("data", {})
                       for out in cell.outputs)
        assert pictures <= 1, cell.id
        if pictures:
            assert LABELS.search(cell.source), cell.id
            assert cell.source.rstrip().endswith("plt.show()"), cell.id


def test_alike_sees_a_moved_line_but_not_its_anti_aliasing():
    page = np.full((120, 200, 3), 255.0)
    line, soft, moved = page.copy(), page.copy(), page.copy()
    line[60] = 0
    soft[60], soft[61] = 12, 243
    moved[64] = 0
    assert alike(line, soft)
    assert not alike(line, moved)
    assert not alike(line, line[:-1])
