"""Odd submissions, graded by the one command: what each of them earns."""

import ast
import copy
import csv
import inspect
import json
import os
import random
import re
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from course.answers import AnsweredExercise
from course.chapter import chapters
from course.code import bound, used
from course.exercise import TERMS, numbers, trio, with_body
from course.paths import ROOT
from course.sheets import GRADING
from tests.support import submissions
from tests.support.book import each_chapter
from tests.support.submissions import ATTACKS, CHAPTER, ROWS
from tools.grading import answer, collect, handed, judge, report, sandbox
from tools.grading import cells as roles
from tools.grading import grade as grades
from tools.homework import editions
from tools.homework import sheet as homework

# float16, callbacks, watched functions, memory, nested weights; GRADE_ALL=1
# tries each answer of each chapter, which takes five minutes.
SAMPLED = "05", "09", "16", "17", "18", "22"
MOST_SECONDS = 5                        # of the processor, for a submission


@pytest.fixture(scope="module")
def way():
    try:
        return sandbox.working()
    except sandbox.NoSandbox as why:
        # A container may forbid namespaces; GitHub's workflow allows them.
        if sys.platform == "linux" and os.environ.get("GITHUB_ACTIONS"):
            pytest.fail(str(why))
        pytest.skip(f"no sandbox works here: {why}")


@pytest.fixture(scope="module")
def graded(way, tmp_path_factory):
    """All rows in one batch. -> the folder that the command wrote."""
    folder = tmp_path_factory.mktemp("grades")
    submissions.hand_in(folder / "batch")
    run(folder)
    return folder / "grades" / CHAPTER.name / "batch"


def run(folder, *more):
    grades.main([CHAPTER.number, str(folder / "batch"), "--seconds", "1",
                 "--course", str(folder), *more])


def answered(exercise, body):
    return roles.Answer(with_body(exercise.solution.source, body))


@pytest.fixture(scope="module")
def attacked(way):
    """{name: what its attack earned}, all judged in a row."""
    teachers = roles.GradedChapter(CHAPTER.path)
    by_number = {each.number: each for each in teachers.exercises}
    made, _ = judge.marks(way, teachers, [
        (by_number[number], answered(by_number[number], body))
        for _, number, body in ATTACKS.values()], 1)
    return dict(zip(ATTACKS, made, strict=True))


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_earns_what_it_computes(attacked, name):
    assert attacked[name].points == ATTACKS[name][0], attacked[name]


def bodies(chapter):
    """(exercise, what it earns, an answer) for each that tests know of."""
    for each in roles.GradedChapter(chapter.path).exercises:
        known = AnsweredExercise(chapter, each.number)
        wrong, hidden = known.mistakes()
        for points, rows in ((each.points, known.right), (0, wrong),
                             (0, hidden)):
            yield from ((each, points, body) for _, body in rows)
        names = re.findall(r"def ((?:reference|cases)_\w+)", each.check.source)
        given = inspect.getfullargspec(known.names("pass")[each.name]).args
        for name in names:
            yield each, 0, f"return {name}({', '.join(given)})"


@pytest.mark.parametrize("chapter", chapters(
    *() if "GRADE_ALL" in os.environ else SAMPLED), ids=str)
def test_every_known_answer_earns_what_it_should(way, chapter):
    """Right ones all, wrong ones and references nothing."""
    rows = [*bodies(chapter)]
    if "GRADE_ALL" not in os.environ:
        rows = random.Random(1).sample(rows, 9)
    made, _ = judge.marks(way, roles.GradedChapter(chapter.path), [
        (each, answered(each, body)) for each, _, body in rows], 20)
    for (each, points, body), mark in zip(rows, made, strict=True):
        assert mark.points == points, (each.number, body, mark)


def table(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return [*csv.DictReader(file)]


def found(graded, name):
    """The line of a row in the overview: by its first file."""
    first = next(iter(ROWS[name][0]))
    who = collect.owner(collect.decoded(os.fsencode(first)))[2]
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


def test_a_batch_goes_on_where_it_stopped(graded, tmp_path, capsys):
    """A line is lost, one is cut off; one person is graded again."""
    def lines(folder):
        text = (folder / "results.jsonl").read_text("utf-8")
        return text.split("\n")[1:-1]

    kept = lines(graded)
    assert len(kept) == len(ROWS)
    (tmp_path / "results.jsonl").write_text(
        "\n".join(["", *kept[2:], kept[1][:50]]), "utf-8")
    again = json.loads(kept[2])["person"]
    run(graded.parents[2], "--to", str(tmp_path), "--again", again)
    assert f"{len(kept) - 3} were graded before" in capsys.readouterr().out
    assert len(lines(tmp_path)) == len(kept) + 2
    before, after = (table(folder / "grades.csv")
                     for folder in (graded, tmp_path))
    for line in *before, *after:
        line.pop("seconds")
    assert before == after


def test_with_pytorch(way, tmp_path):
    """Its checks load PyTorch, which costs most; the book's answers count."""
    chapter = chapters()[4]
    (tmp_path / "A.ipynb").write_bytes(
        submissions.saved(submissions.edition(chapter)))
    grades.main([chapter.number, str(tmp_path), "--course", str(tmp_path),
                 "--to", str(tmp_path)])
    [line] = table(tmp_path / "grades.csv")
    assert line["points"] == line["of"]
    assert 0 < float(line["seconds"]) < MOST_SECONDS


def test_the_edition_that_was_handed_out_grades(way, tmp_path, capsys):
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
    first, second = table(
        tmp_path / "grades" / CHAPTER.name / "in" / "grades.csv")
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
    for name, words in (("a cell copied", "2 cells answer it"),
                        ("metadata lost", "metadata lost, found by"),
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
    monkeypatch.setattr(sandbox.Sandbox, "trouble", lambda way: "not here")
    with pytest.raises(SystemExit, match="No sandbox works here, so nothing"):
        grades.main(["00", str(tmp_path), "--course", str(tmp_path),
                     "--to", str(tmp_path / "out")])
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="grading needs WSL")
def test_a_way_is_tried_not_looked_up():
    def trouble(program):
        return sandbox.Sandbox("bwrap", [], program).trouble()

    assert trouble("/no/such/program") == "not installed"
    assert trouble("false") == "it ends with 1"
    assert trouble("cat").startswith("cat: ")


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
    assert [one.person for one in collect.collect(tmp_path / "in.zip")] == [
        "Max", "Zoë"]
    with pytest.raises(ValueError, match="does not exist"):
        collect.collect(tmp_path / "nothing")


@each_chapter
def test_the_teachers_copy(chapter):
    """Its exercises, and the part of its lesson that they lean on."""
    copied = roles.GradedChapter(chapter.path)
    assert [exercise.number for exercise in copied.exercises] == numbers(
        chapter.notebook)
    code, names = copied.for_judge(), {}
    exec(code, names)
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
        own = [node.name for cell in (exercise.check, exercise.grade)
               for node in roles.tree(cell.source)
               if isinstance(node, ast.FunctionDef)]
        for name in own:                # nor goes any to an answer
            assert f"def {name}(" not in copied.for_answers([name])


def test_only_what_an_answer_needs_is_loaded():
    chapter = roles.GradedChapter(CHAPTER.path)
    assert "import torch" not in chapter.for_answers(["return 1"])
    code = chapter.for_answers(["return torch.tensor(flops(1))"])
    assert "import torch" in code and "def flops" in code


@pytest.mark.parametrize("value", [
    None, True, 3, -0.5, "\ud83d", 2j, (1, [2.0, {"a": (3,)}]), {4, 5},
    np.float32(0.1), np.array([[1, 2]], "float16"), np.zeros((0, 3)),
    np.array(7), np.array(["é"]), {1: np.ones((2, 1, 3), bool)},
    torch.ones(2, 3, dtype=torch.bfloat16), torch.tensor(4)])
def test_data_cross_as_they_are(value):
    peer = answer.Peer(0, 0)
    packed = json.loads(json.dumps(peer.pack(value, {})))
    got = peer.unpack(packed, [])
    assert type(got) is type(value) and repr(got) == repr(value)
    assert not peer.here


def test_what_became_of_arguments_crosses_back():
    """And what was returned as it came is the same object."""
    (a, b), (c, d) = os.pipe(), os.pipe()
    here, there = answer.Peer(c, b), answer.Peer(a, d)
    first, second, third = np.arange(3.0), [np.zeros(2), 5], {"x": [1]}

    def change(array, parts, *, more):
        parts[0][1], parts[1], more["y"] = 7, 6, 8
        return array

    there.here = [change]
    with ThreadPoolExecutor(1) as worker:
        served = worker.submit(lambda: there.serve(there.receive()))
        inner = second[0]
        here.call(0, (first, second), {"more": third})
        served.result()
        there.here = [lambda array, f: f(array)]
        served = worker.submit(lambda: there.serve(there.receive()))
        assert here.call(0, (first, lambda array: array), {}) is first
    assert second[0] is inner and inner.tolist() == [0, 7] and second[1] == 6
    assert third == {"x": [1], "y": 8} and first.tolist() == [0, 1, 2]
    for pipe in a, b, c, d:
        os.close(pipe)


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
    one = judge.Report(platform, number, person, "x", marks={
        "0.1": judge.Mark(2, "0.1 correct"),
        "0.2": judge.Mark(0, '0.2 not <b> \\"\n9')})
    other = judge.Report(platform, "9", "Eve", "x")
    copied = roles.GradedChapter(CHAPTER.path)
    got, filled, left = report.fill(copied, [one, other], sheet)
    assert got == platform and left == [other]
    assert filled[-2] == want
    assert filled[0] == rows[0] and filled[-1] == rows[-1]
    one.marks = {"0.1": judge.Mark(None, "0.1 missing")}
    _, filled, _ = report.fill(copied, [one], sheet)
    assert filled[-2][3:6] == rows[-2][3:6]             # missing is not zero


@pytest.mark.parametrize("handed_in, late", [
    ("Friday, 15 January 2027, 11:59 PM", ""),
    ("Saturday, 16 January 2027, 12:00 AM", "16 January 2027"),
    ("Tuesday, 2 February 2027, 9:01 AM", "2 February 2027"), ("-", "")])
def test_who_is_late_is_marked(tmp_path, capsys, handed_in, late):
    """By Moodle's sheet and the day that the homework names."""
    gradebook, path = tmp_path / "a.csv", tmp_path / "b" / "00.ipynb"
    editions.write(homework.make(CHAPTER, "0.1", "2027-01-15", None).notebook,
                   path)
    report.write(gradebook, [[*MOODLE[0], report.HANDED_IN],
                         [*MOODLE[1], handed_in], [*MOODLE[2], "-"]])
    one = judge.Report("moodle", "7", "Eva", "x", marks={
        "0.1": judge.Mark(2, "0.1 correct")})
    report.write_all(roles.GradedChapter(path), [one], tmp_path, gradebook,
                     None)
    [line] = table(tmp_path / "grades.csv")
    assert line["late"] == late and line["points"] == "2"
    assert ("late: 'Eva'" in capsys.readouterr().out) == bool(late)


@pytest.mark.parametrize("page, late", [
    ("ekanna_LATE_20_3001_x ", "late"), ("LATE_anon_x7Yz_3001_x ", "late"),
    ("ekanna_20_3001_LATE_x ", ""), ("latevaeva_20_3001_x ", "")])
def test_who_is_late_in_canvas(tmp_path, page, late):
    one = judge.Report("canvas", "20", "Eva", page, marks={})
    report.write_all(roles.GradedChapter(CHAPTER.path), [one], tmp_path,
                     None, None)
    [line] = table(tmp_path / "grades.csv")
    assert line["late"] == late


@pytest.mark.parametrize("head, words", [
    (["Name", "Mark"], "no sheet of Moodle's"),
    (["Student", "ID", "Section", "Homework (3)"], "COLUMN")])
def test_a_sheet_that_cannot_be_filled(tmp_path, head, words):
    report.write(tmp_path / "sheet.csv", [head])
    with pytest.raises(report.UnknownSheet, match=words):
        report.fill(roles.GradedChapter(CHAPTER.path), [],
                    tmp_path / "sheet.csv")
