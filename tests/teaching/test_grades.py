"""Odd submissions, graded by the one command: what each of them earns."""

import copy
import csv
import gc
import os
import re
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from course.chapter import chapters
from course.code import bound, used
from course.exercise import TERMS, numbers, trio
from course.paths import ROOT
from course.sheets import GRADING
from tests.support import submissions
from tests.support.book import each_chapter
from tests.support.submissions import CHAPTER, ROWS
from tools.grading import cells as roles
from tools.grading import collect, handed, report, sandbox
from tools.grading import grade as grades
from tools.homework import editions

MOST_SECONDS = 5                        # of the processor, for a submission


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """All rows in one batch. -> the folder that the command wrote."""
    try:
        with sandbox.working():
            pass
    except sandbox.NoSandbox as why:
        # A container may forbid namespaces; GitHub's workflow allows them.
        if sys.platform == "linux" and os.environ.get("GITHUB_ACTIONS"):
            pytest.fail(str(why))
        pytest.skip(f"no sandbox works here: {why}")
    folder = tmp_path_factory.mktemp("grades")
    submissions.hand_in(folder / "in")
    grades.main([CHAPTER.number, str(folder / "in"), "--seconds", "2",
                 "--course", str(folder), "--to", str(folder / "out")])
    return folder / "out" / CHAPTER.name


def table(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return [*csv.DictReader(file)]


def found(graded, name):
    """The line of a row in the overview: by its first file."""
    first = next(iter(ROWS[name][0]))
    who = collect.owner(first)[2]
    [line] = [line for line in table(graded / "grades.csv")
              if line["person"].lstrip("'") == who]
    return line


@pytest.mark.parametrize("name", ROWS)
def test_a_submission_earns_what_it_should(graded, name):
    _, points, words = ROWS[name]
    line = found(graded, name)
    got = [line[number] for number in numbers(CHAPTER.notebook)]
    want = ["" if n is None else str(n) for n in points] or [""] * len(got)
    assert got == want
    assert line["points"] == (str(sum(filter(None, points))) if points else "")
    assert line["missing"] == str(points.count(None))
    for each in words:
        assert each in line["what students read"]


def test_no_submission_stops_another(graded):
    assert len(table(graded / "grades.csv")) == len(ROWS)


def test_a_submission_costs_little(graded):
    """But for those that loop until they are stopped."""
    used = [float(line["seconds"]) for line in table(graded / "grades.csv")
            if "stopped" not in line["what students read"]]
    assert len(used) > 20 and 0 < max(used) < MOST_SECONDS


@pytest.mark.parametrize("worked, waited, late", [
    (2, 0, False), (2, 60, False), (2.1, 0, True), (0, 60.1, True)])
def test_a_limit_is_of_work_and_waiting_takes_longer(monkeypatch, worked,
                                                     waited, late):
    """So a busy machine costs nobody points."""
    pytest.importorskip("resource", reason="grading needs Linux")
    from tools.grading import worker

    work, clock = 7, 100
    monkeypatch.setattr(worker, "time", SimpleNamespace(
        clock_gettime=lambda _: work, monotonic=lambda: clock))
    is_late = worker.stopwatch(process=1, seconds=2, patience=60)
    work, clock = work + worked, clock + waited
    assert is_late() is late
    inbox, outbox = os.pipe()
    os.write(outbox, b"four")
    if late:
        with pytest.raises(worker.Silence, match="time"):
            worker.read(inbox, 4, is_late)
    else:
        assert worker.read(inbox, 4, is_late) == b"four"
    os.close(inbox)
    os.close(outbox)


def test_with_pytorch(graded, tmp_path):
    """Its checks load PyTorch, which costs most; the book's answers count."""
    chapter = chapters()[4]
    (tmp_path / "A.ipynb").write_bytes(
        submissions.saved(submissions.edition(chapter)))
    grades.main([chapter.number, str(tmp_path), "--course", str(tmp_path),
                 "--to", str(tmp_path)])
    [line] = table(tmp_path / chapter.name / "grades.csv")
    assert line["points"] == line["of"] and line["look at"] == ""
    assert 0 < float(line["seconds"]) < MOST_SECONDS


def test_the_edition_that_was_handed_out_grades(graded, tmp_path, capsys):
    """Since then, the chapter got other points, check and hidden tests."""
    frozen, student = CHAPTER.notebook, submissions.edition(CHAPTER)
    frozen = copy.deepcopy(frozen)
    _, check, grade = trio(frozen.cells, "0.1")
    grade.metadata.nbgrader["points"] = 3
    check.source = check.source.replace('print(verdict("0.1", check_0_1))',
                                        'print("0.1 correct in its term")')
    grade.source = "assert head_scores"
    editions.make_editions(tmp_path, {CHAPTER.name: frozen})
    [label] = handed.editions(tmp_path, CHAPTER.name)
    student.cells[0].source += f"\n\nEdition {label}"
    trio(student.cells, "0.1")[0].source = submissions.function(
        "0.1", "return 0")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "A.ipynb").write_bytes(submissions.saved(student))
    student.cells[0].source += "0000000"
    (tmp_path / "in" / "B.ipynb").write_bytes(submissions.saved(student))
    grades.main(["00", str(tmp_path / "in"), "--course", str(tmp_path)])
    first, second = table(tmp_path / "grades" / CHAPTER.name / "grades.csv")
    assert f"graded by edition {label}\n" in capsys.readouterr().out
    assert (first["0.1"], first["points"], first["of"]) == ("3", "9", "9")
    assert first["what students read"].startswith("0.1 correct in its term")
    assert first["edition"] == label and "edition" not in first["done"]
    assert second["points"] == "9"
    assert f"{label}0000000, graded by {label}" in second["done"]


def test_the_teacher_reads_more_than_students(graded):
    line = found(graded, "syntax error, and a hidden mistake")
    assert "is it right for n, d, k = 50, 7, 7?" in line["hidden tests"]
    assert "50, 7, 7" not in line["what students read"]
    assert found(graded, "verdict redefined")["look at"].split("\n") == [
        "0.1: verdict", "0.2: global verdict", "0.3: .allclose"]
    assert found(graded, "right, Moodle's folder")["look at"] == ""
    for name, words in (("a cell copied", "2 cells answer it"),
                        ("metadata lost", "metadata lost, found by"),
                        ("a function of Python's redefined", "redefines abs"),
                        ("an untouched copy beside the answers", "of 2")):
        assert words in found(graded, name)["done"]


def test_pages(graded):
    pages = [*(graded / "feedback").iterdir()]
    assert len(pages) == len(ROWS)
    with zipfile.ZipFile(graded / "feedback.zip") as archive:
        assert sorted(archive.namelist()) == sorted(p.name for p in pages)
    for path in pages:
        text = path.read_text("utf-8")
        assert len(text.encode()) <= 100_000
        assert "<script" not in text and "HIDDEN" not in text
        assert "def grade_" not in text and "50, 7, 7" not in text
    [page] = [p for p in pages if p.name.startswith("Sven")]
    text = page.read_text("utf-8")
    assert "Exercise 0.1: 0 of 2 points" in text
    assert "return Q @@ K" in text
    assert text.count("<math") == submissions_formulas()
    assert "$" not in re.sub(r"(?s)<pre.*?</pre>", "", text)
    assert "Åström_101_assignfeedback_file_" in "".join(
        path.name for path in pages)


def submissions_formulas():
    """The formulas in the statements of the chapter's exercises."""
    return sum(len(re.findall(r"\$[^$]+\$", cell.source))
               for cell in CHAPTER.markdown
               if any(f"**Exercise {n}**" in cell.source
                      for n in numbers(CHAPTER.notebook)))


def test_platforms_tables(graded):
    moodle = table(graded / "moodle.csv")
    assert {"Identifier", "Grade", "Last modified (grade)",
            "Feedback comments"} <= set(moodle[0])      # what it asks for
    assert [(line["Identifier"], line["Grade"]) for line in moodle] == [
        ("Participant 102", "8"), ("Participant 101", "8")]
    assert moodle[0]["Feedback comments"].startswith("0.1 correct<br>0.2")
    _, canvas = table(graded / "canvas.csv")
    assert [*canvas][:3] == ["Student", "ID", "Section"]
    assert canvas["ID"] == "2001" and [*canvas.values()][-1] == "8"


def test_without_a_sandbox_nothing_runs(tmp_path, monkeypatch):
    (tmp_path / "A.ipynb").write_bytes(b"{}")
    monkeypatch.setattr(sandbox, "trouble", lambda way: "not here")
    with pytest.raises(SystemExit, match="No sandbox works here, so nothing"):
        grades.main(["00", str(tmp_path), "--course", str(tmp_path),
                     "--to", str(tmp_path / "out")])
    assert not (tmp_path / "out").exists()


def test_a_way_is_tried_not_looked_up():
    def way(*command):
        return sandbox.Way("no", [*command], "python", dict(os.environ))

    here = sys.executable, "-c"
    assert sandbox.trouble(way(*here, "raise SystemExit(3)")) == (
        "it ends with 3")
    assert sandbox.trouble(way(*here, "raise SystemExit('so')")) == "so"
    assert sandbox.trouble(way("/no/such/program")) == "not installed"


def test_the_image_has_the_versions_of_the_course():
    page = GRADING.read_text("utf-8")
    wanted = (ROOT / "requirements.txt").read_text("utf-8").split()
    [line] = re.findall(r"pip install --no-cache-dir (.+) \\\n", page)
    assert line.split() == [package for package in line.split()
                            if package in wanted]
    assert sandbox.IMAGE in page


@pytest.mark.parametrize("path, platform, number, person", [
    ("Anna Ek_17_assignsubmission_file_/x.ipynb", "moodle", "17", "Anna Ek"),
    ("Anna Ek_17_assignsubmission_file/x.ipynb", "moodle", "17", "Anna Ek"),
    ("Participant_17_assignsubmission_file_x_2_3_4.ipynb", "moodle", "17",
     "Participant 17"),
    ("ekanna_LATE_20_3001_x.ipynb", "canvas", "20", "ekanna"),
    ("ekanna_20_3001_04_layer_normalization-1.ipynb", "canvas", "20",
     "ekanna"),
    ("LATE_anon_x7Yz_3001_x.ipynb", "canvas", "anon_x7Yz", "anon_x7Yz"),
    ("2026_05_01_Anna.ipynb", "folder", "", "2026_05_01_Anna"),
    ("04_layer_normalization_Anna Ek.ipynb", "folder", "", "Anna Ek"),
    ("Copy of Copy of Anna (1).ipynb", "folder", "", "Anna"),
    ("04_layer_normalization.ipynb", "folder", "", "04_layer_normalization"),
    ("s01/04_layer_normalization/04_layer_normalization.ipynb", "folder", "",
     "s01")])
def test_whose_notebook(path, platform, number, person):
    assert collect.owner(path)[:3] == (platform, number, person)


class Unsaid(zipfile.ZipInfo):
    """An entry whose name is UTF-8 without saying so, as some write it."""

    def _encodeFilenameFlags(self):
        return self.filename.encode(), 0


def test_an_archive_is_read_as_a_folder(tmp_path):
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as archive:
        archive.writestr("all/Max/x.ipynb", b"1")
        archive.writestr("all/__MACOSX/._x.ipynb", b"2")
        archive.writestr(Unsaid("all/Zoë_7_assignsubmission_file_/x.ipynb"),
                         b"3")
    got = {one.person: one.files[0][1]
           for one in collect.collect(tmp_path / "in.zip")}
    assert got == {"Max": b"1", "Zoë": b"3"}
    with pytest.raises(ValueError, match="does not exist"):
        collect.collect(tmp_path / "nothing")


@each_chapter
def test_the_teachers_copy(chapter):
    """Its exercises, and the part of its lesson that they lean on."""
    copied = roles.GradedChapter(chapter.path)
    assert [exercise.number for exercise in copied.exercises] == numbers(
        chapter.notebook)
    code, ours = copied.leans_on([])
    names = {}
    exec(code, names)
    assert {"close", "verdict", "np"} <= set(ours) <= set(names)
    assert names["close"](1.0, 1.0)                 # outside verdict as well
    taught = {name for node in copied.lesson for name in bound(node)}
    for source in (code, *(cell.source for exercise in copied.exercises
                           for cell in (exercise.check, exercise.grade))):
        assert used(*roles.tree(source)) & taught <= set(names)
    for exercise in copied.exercises:
        stated = int(TERMS.search(exercise.statement)["points"])
        assert exercise.points == stated > 0
        assert exercise.name not in names           # no answer comes with it
        assert f"def {exercise.name}(" in exercise.solution.source
        assert roles.strange(exercise.solution.source) == []


def test_only_what_an_answer_needs_is_loaded():
    chapter = roles.GradedChapter(CHAPTER.path)
    assert "import torch" not in chapter.leans_on(["return 1"])[0]
    code, ours = chapter.leans_on(["return torch.tensor(flops(1))"])
    assert "import torch" in code and "def flops" in code
    assert "torch" in ours and "flops" not in ours


MOODLE = [["Identifier", "Full name", "Status", "Grade", "Maximum Grade",
           "Last modified (grade)", "Feedback comments"],
          ["Participant 7", "Åsa Ek", "x", "1", "8.00", "-", ""],
          ["Participant 8", "Max", "x", "3.00", "8.00", "-", "old"]]
CANVAS = [["Student", "ID", "SIS Login ID", "Section", "Other (5)",
           "00. Shapes and einsum (17)", "0.2 (18)"],
          ["    Points Possible", "", "", "", "1", "8", "2"],
          ["Ek, Asa", "7", "aek", "A", "1", "1", "1"],
          ["Max, M", "8", "max", "A", "1", "5", ""]]


@pytest.mark.parametrize("rows, platform, want", [
    (MOODLE, "moodle", ["Participant 7", "Åsa Ek", "x", "2", "8.00", "-",
                        "0.1 correct<br>0.2 not &lt;b&gt; &#92;&quot; 9"]),
    (CANVAS, "canvas", ["Ek, Asa", "7", "aek", "A", "1", "2", "0"])])
@pytest.mark.parametrize("number, person", [("7", "?"), ("", "åsa ek")])
def test_a_platforms_own_sheet_is_filled(tmp_path, rows, platform, want,
                                         number, person):
    sheet = tmp_path / "sheet.csv"
    report.write(sheet, rows)
    one = grades.Report(collect.Submission(platform, number, person, "x"))
    one.marks = {"0.1": grades.Mark(2, "0.1 correct"),
                 "0.2": grades.Mark(0, '0.2 not <b> \\"\n9')}
    other = grades.Report(collect.Submission(platform, "9", "Eve", "x"))
    copied = roles.GradedChapter(CHAPTER.path)
    got, filled, left = report.fill(copied, [one, other], sheet)
    assert got == platform and left == [other]
    assert filled[-2] == want
    assert filled[0] == rows[0] and filled[-1] == rows[-1]
    one.marks = {"0.1": grades.Mark(None, "0.1 missing")}
    _, filled, _ = report.fill(copied, [one], sheet)
    assert filled[-2][3:6] == rows[-2][3:6]             # missing is not zero


@pytest.mark.parametrize("head, words", [
    (["Name", "Mark"], "no sheet of Moodle's"),
    (["Student", "ID", "Section", "Homework (3)"], "COLUMN")])
def test_a_sheet_that_cannot_be_filled(tmp_path, head, words):
    report.write(tmp_path / "sheet.csv", [head])
    with pytest.raises(report.UnknownSheet, match=words):
        report.fill(roles.GradedChapter(CHAPTER.path), [],
                    tmp_path / "sheet.csv")


def test_cells_are_read_by_many_at_once():
    """Python's parser alone stops here with a SystemError."""
    class Interrupts:
        def __del__(self):
            return [*range(50)]

    def reads(_):
        kept = [Interrupts()]
        kept.append(kept)               # only the collector removes it
        return len(roles.tree(source))

    source = "\n".join(f"def f_{n}(a):\n    return [a * {n}, (a + {n}) ** 2]"
                       for n in range(60))
    before, every = gc.get_threshold(), sys.getswitchinterval()
    gc.set_threshold(1)
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as workers:
            assert {*workers.map(reads, range(60))} == {60}
    finally:
        gc.set_threshold(*before)
        sys.setswitchinterval(every)


@pytest.mark.parametrize("line, failed, points", [
    ("0.1 correct", None, 2), ("0.1 correct", "a mistake", 0),
    ("0.1 not yet: why?", "a mistake", 0), ("0.1 not yet: why?", None, 0)])
def test_points_need_the_check_and_the_hidden_tests(line, failed, points):
    exercise = SimpleNamespace(number="0.1", name="f", points=2)
    heard = {"stage": "done", "said": line, "failed": failed, "changed": [],
             "cell": None}
    assert grades.mark(exercise, heard, 2).points == points
