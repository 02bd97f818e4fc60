"""Derivations of all students on a page: read, never run or set."""

import csv

import nbformat
from nbformat.v4 import new_markdown_cell, new_notebook

from course.chapter import chapters
from tools.grading import cells, collect, derivations, judge
from tools.homework import editions, sheet

HANDED_IN = {
    "Anna": [("paper-4-2", "By (4.4): $k = a <b>$")],
    "Ben": [("lost", "![me](attachment:me.png)")],
    "Eva": [], "Tom": [("paper-9-9", "elsewhere")],
}


def made(folder):
    """The sheet, what four students handed in, and what was found."""
    path = folder / "04.ipynb"
    editions.write(sheet.make(chapters()[4], "4.2,4.3", None, None).notebook,
                   path)
    chapter = cells.GradedChapter(path)
    given = chapter.cell("paper-4-2").source
    (folder / "in").mkdir()
    for person, papers in HANDED_IN.items():
        nbformat.write(new_notebook(cells=[
            new_markdown_cell(f"{given}\n\n{words}" if name == "lost"
                              else words, id=name)
            for name, words in papers]), folder / f"in/{person}.ipynb")
    submissions = collect.collect(folder / "in")
    return chapter, submissions, [judge.Report(
        one.platform, one.id, one.person, one.page, marks={
            "4.2": judge.Mark(2, "4.2 correct")}) for one in submissions]


def test_a_page_an_exercise_and_a_table_of_levels(tmp_path):
    chapter, submissions, reports = made(tmp_path / "a")
    out = tmp_path / "out"
    out.mkdir()
    assert derivations.write_all(chapter, submissions, reports, out) == [
        "derivations/", "levels.csv"]
    [page] = (out / "derivations").iterdir()            # 4.3 derives nothing
    words = page.read_text("utf-8")
    assert page.name == "4.2.html" and "script" not in words
    assert "<pre>By (4.4): $k = a &lt;b&gt;$</pre>" in words
    assert "With a picture: open Ben.ipynb" in words
    assert words.count("<td>nothing</td><td>2</td><td></td>") == 2
    assert chapter.cell("paper-4-2").source not in words
    table = out / "levels.csv"
    rows = [*csv.reader(table.open(encoding="utf-8-sig"))]
    assert rows == [["person", "platform", "id", "4.2 level"], *(
        [person, "folder", "", ""] for person in HANDED_IN)]
    table.write_text("levels", "utf-8")
    derivations.write_all(chapter, submissions, reports, out)
    assert table.read_text("utf-8") == "levels"


def test_a_chapter_without_such_cells_has_no_page(tmp_path):
    chapter = cells.GradedChapter(chapters()[4].path)
    assert derivations.write_all(chapter, [], [], tmp_path) == []
    assert [*tmp_path.iterdir()] == []
