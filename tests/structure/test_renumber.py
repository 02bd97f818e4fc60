"""make renumber: what means a chapter gets its new number, nothing else."""

import shutil

import nbformat
import pytest

from course.chapter import Chapter, chapters
from course.exercise import exercises, faults
from course.paths import ROOT
from tools import new_chapter
from tools.renumber import PAGE, PROGRAM, TEXT, Renumbering, renumber

KNOWN = {"tag": {"9.1", "9.2", "10.5"}, "exercise": {"8.1", "9.1", "9.2"}}
RENUMBERING = Renumbering(9, 22, KNOWN)


@pytest.mark.parametrize("where, before, after", [
    ({TEXT}, "[chapter 09](09_masks.ipynb), 22_*.ipynb",
     "[chapter 10](10_masks.ipynb), 23_*.ipynb"),
    ({TEXT}, "(sheet-09)=\n## 09. Masks, see [10](10_positions.ipynb)",
     "(sheet-10)=\n## 10. Masks, see [11](11_positions.ipynb)"),
    ({TEXT}, "Chapters 07, 08 and 09, chapter\n22's; `ok` (09), `f` (00)",
     "Chapters 07, 08 and 10, chapter\n23's; `ok` (10), `f` (00)"),
    ({TEXT}, r"\tag{9.1} By (9.1) and (10.5), exercises 9.1 and 9.2",
     r"\tag{10.1} By (10.1) and (11.5), exercises 10.1 and 10.2"),
    ({TEXT}, "**Predict 9.3.** 9.1 correct, make test CHAPTER=09",
     "**Predict 10.3.** 10.1 correct, make test CHAPTER=10"),
    ({TEXT}, "test_09.py, chapter_10.py: check_9_1()",
     "test_10.py, chapter_11.py: check_10_1()"),
    ({TEXT}, "solution-9-1", "solution-10-1"),
    ({PAGE}, "By 01, 04 and 15, in 14 and 19, (15, Deeper); week 3: 11 to 15",
     "By 01, 04 and 16, in 15 and 20, (16, Deeper); week 3: 12 to 16"),
    ({PAGE}, "of 11, 12 and 22, | x | 09: \"Masks\"",
     "of 12, 13 and 23, | x | 10: \"Masks\""),
    ({PROGRAM}, 'functions("09"), {"9.1": 1}, ("14", "text-run")',
     'functions("10"), {"10.1": 1}, ("15", "text-run")'),
    ({TEXT, PAGE, PROGRAM}, "arXiv 1910.09123, 9.1 of 10.5 $(9.1)$ f(9.1) "
     "(9.7) in 16 bits, 10 %, `10_000`, 2027-10-12, chapter 08, 99_new", None),
])
def test_a_reference_moves_and_another_number_stays(where, before, after):
    assert RENUMBERING.text(before, where) == (after or before)


@pytest.mark.parametrize("file, before, after", [
    ("bibliography.md", "| 11, 14 | Elhage |", "| 12, 15 | Elhage |"),
    ("notation.md", "| 16 | a number |", None),
    ("teaching_lectures.md",
     "| 9 | 10, 11 | 10, 11 (120) | 8.1, 9.1 (20) | 10 |",
     "| 9 | 11, 12 | 11, 12 (120) | 8.1, 10.1 (20) | 10 |"),
])
def test_a_column_of_chapters_moves(file, before, after):
    assert RENUMBERING.text(before, {PAGE}, file) == (after or before)


def test_code_is_not_text():
    code = ('x = f(9.1) + (9.1)           # (9.1), chapter 09\n'
            'print(verdict("9.1", check_9_1), "(9.2)")')
    assert RENUMBERING.code(code, {TEXT}) == (
        'x = f(9.1) + (9.1)           # (10.1), chapter 10\n'
        'print(verdict("10.1", check_10_1), "(10.2)")')


def test_what_is_doubtful_is_told():
    renumbering = Renumbering(9, 22, KNOWN)
    renumbering.text("as in (9.7), by the 12 and 14 of it", {TEXT, PAGE})
    assert [words.partition("(9.7)")[1] for words in renumbering.doubts] == [
        "(9.7)", "(9.7)"]


def contents(root):
    return {path.name: path.read_text("utf-8")
            for path in root.rglob("*") if path.is_file()}


def test_room_is_made_and_a_stub_put_there(tmp_path):
    before, at = chapters()[8:10]
    (tmp_path / "book").mkdir()
    (tmp_path / "tests/exercises").mkdir(parents=True)
    for name in (f"book/{before}.ipynb", f"book/{at}.ipynb", "_toc.yml",
                 "book/teaching_chapters.md"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "CHANGELOG.md").write_text("Chapter 09 is new.", "utf-8")
    old = contents(tmp_path)
    dry = [*renumber(9, tmp_path, write=False)]
    assert contents(tmp_path) == old
    assert [*renumber(9, tmp_path)] == dry
    new = contents(tmp_path)
    moved = f"10{at.name[2:]}.ipynb"
    assert new.keys() - old.keys() == {moved}
    assert new["CHANGELOG.md"] == old["CHANGELOG.md"]
    for words in "# 10.", "Exercise 10.1", "check_10_1()", '"id": "check-10-1':
        assert words in new[moved], words
    with pytest.raises(ValueError, match="no chapter 09"):
        [*renumber(9, tmp_path)]

    stub = Chapter(new_chapter.make(9, "again", tmp_path))
    nbformat.validate(stub.notebook)
    assert stub.heading == "09. Again" and not faults(stub.notebook, "09")
    assert [each.number for each in exercises(stub)] == ["9.1", "9.2", "9.3"]
    assert "99" not in stub.path.read_text("utf-8")
    for name in "_toc.yml", "teaching_chapters.md":
        assert "09_again" in contents(tmp_path)[name]
