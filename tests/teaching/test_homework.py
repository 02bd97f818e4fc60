"""Homework: sheets that run alone, and variants that nobody has published."""

import ast
import copy
import re
from functools import partial
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from nbformat.v4 import new_code_cell

from course.answers import AnsweredExercise, stored
from course.chapter import chapters
from course.exercise import numbers
from course.paths import ROOT
from course.sheets import HOMEWORK
from tests.support.book import each_chapter
from tools.battery import battery
from tools.grading import cells, handed
from tools.homework import editions, sheet, teacher, variants
from tools.homework.comparison import first_wrong

SEEDS = "a", "b", "c"
CHAPTER = chapters()[4]


@pytest.fixture(autouse=True)
def course_seed(monkeypatch):
    monkeypatch.setenv("COURSE_SEED", SEEDS[0])


def varied(chapter):
    return [number for number in numbers(chapter.notebook)
            if number in stored(chapter.number).get("VARIANTS", ())]


@each_chapter
def test_a_sheet_runs_alone(chapter, capsys):
    """With its answers: whatever they and the checks need is in its Setup."""
    run(sheet.make(chapter, None, None, None))
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in said] == [
        [number, "correct"] for number in numbers(chapter.notebook)]


def test_a_sheet_with_variants_runs_alone(capsys):
    made = sheet.make(CHAPTER, "4.2,4.1", None, "2027s")
    assert [bool(task.variant) for task in made.tasks] == [False, True]
    run(made)
    assert capsys.readouterr().out == "4.1 correct\n4.2 correct\n"


def run(made):
    names = {}
    for cell in made.notebook.cells:
        if cell.cell_type == "code":
            exec(compile(cell.source, cell.id, "exec"), names)


def as_set(exercise, secret):
    """A variant of an exercise, as an exercise of its own; its solution."""
    _, solution, check, grade = variants.make(exercise, "2027s",
                                              secret).sources
    one = copy.copy(exercise)
    one.check, one.grade = map(new_code_cell, (check, grade))
    return one, solution


def judged(exercise, source, wrapper=lambda answer, *given: answer(*given)):
    """What check and hidden tests say of a solution cell."""
    names = exercise.run(source) | {"first_wrong": first_wrong}
    names[exercise.name] = partial(wrapper, names[exercise.name])
    return exercise.says(names)


@each_chapter
def test_the_published_solution_fails_a_variant(chapter):
    for number in varied(chapter):
        exercise = AnsweredExercise(chapter, number)
        for secret in SEEDS:
            one, solution = as_set(exercise, secret)
            assert judged(one, solution) == (f"{number} correct", None)
            said, raised = judged(one, exercise.solution.source)
            assert said.startswith(f"{number} not yet") and raised


@each_chapter
def test_a_variant_takes_what_students_write(chapter):
    """Work in float32, tensors and lists, where the book takes them."""
    for number in varied(chapter):
        one, solution = as_set(AnsweredExercise(chapter, number), "d")
        for way in battery.kinds(one).values():
            said, raised = judged(one, solution, way)
            assert said.startswith(f"{number} correct") and raised is None


def test_seed_and_term_make_other_tests(tmp_path, monkeypatch):
    exercise = AnsweredExercise(CHAPTER, "4.2")
    grades = {variants.make(exercise, term, secret).sources[3]
              for term in ("2027s", "2027w") for secret in SEEDS}
    assert len(grades) == 6
    assert variants.make(exercise, "2027s", "a") == variants.make(
        exercise, "2027s", "a")
    monkeypatch.delenv("COURSE_SEED")
    assert not variants.SEED.is_relative_to(ROOT)
    monkeypatch.setattr(variants, "SEED", tmp_path / "x" / "seed")
    assert len(variants.seed()) == 32 and variants.seed() == variants.seed()


def test_hidden_cases_are_not_the_shown_ones():
    exercise = AnsweredExercise(CHAPTER, "4.2")
    _, _, check, grade = variants.make(exercise, "2027s", "a").sources
    names = {}
    for source in (check, grade):
        tree = ast.parse(source)
        tree.body = [node for node in tree.body
                     if isinstance(node, ast.FunctionDef)]
        exec(compile(tree, "<cases>", "exec"), names)
    shown, hidden = names["cases_4_2"](), names["hidden_4_2"]()
    assert len(shown) == 2 and len(hidden) >= 6
    assert not {args for args, _ in shown} & {
        variants.mapped(variants.rounded, args) for args, _ in hidden}


@pytest.mark.parametrize("got, hint", [
    ((2.0, [1, 2]), None), ((2.0 + 1e-7, (1, 2)), None),
    ((2.1, [1, 2]), "is number 1 right"), ((2.0, [1, 3]), "is number 2 right"),
    ((2.0, [1, 2, 3]), "has number 2 2 parts"), (3, "has the result 2 parts"),
    (None, "return its result")])
def test_a_comparison_names_the_part(got, hint):
    said = first_wrong(lambda x: got, [((1.0,), (2.0, [1, 2]))],
                       np.allclose)
    assert (said is None) == (hint is None) and (hint or "") in (said or "")


def test_a_changed_argument_is_seen():
    def changes(x):
        x[0] = 9.0
        return 1

    assert "as they were" in first_wrong(changes, [(([0.0],), 1)],
                                         np.allclose)


def test_a_sheet_says_what_is_due():
    made = sheet.make(CHAPTER, "4.3,4.2", "2027-01-15", None)
    first = made.notebook.cells[0].source
    assert "**Due on 15 January 2027.** 6 points, about 25 minutes" in first
    assert "| 4.2 | derive | 10 | 3 |\n| 4.3 | implement | 15 | 3 |" in first
    ids = [cell.id for cell in made.notebook.cells]
    assert ids == ["opening", "setup", "verdict", "exercise-4-2", "paper-4-2",
                   "solution-4-2", "check-4-2", "grade-4-2", "exercise-4-3",
                   "solution-4-3", "check-4-3", "grade-4-3"]
    assert re.findall(r"(?m)^def (\w+)", made.notebook.cells[1].source) == [
        "layer_norm"]
    alone = sheet.make(CHAPTER, "4.1", None, None).notebook.cells[1].source
    assert alone.partition("\n")[2] == "import numpy as np"


@pytest.mark.parametrize("only, due, said", [
    ("4.2,4.8", None, "has no exercise 4.8: it has 4.1, 4.2"),
    ("4.2", "15.1.2027", "is no date")])
def test_what_cannot_be_made(only, due, said):
    with pytest.raises(variants.Impossible, match=said):
        sheet.make(CHAPTER, only, due, None)


def test_the_teachers_sheet():
    text = unescape(teacher.page(sheet.make(CHAPTER, "4.2,4.3", "2027-01-15",
                                            None)))
    for number, what, words, _ in [*stored(CHAPTER.number)["WRONG"],
                                   *stored(CHAPTER.number)["HIDDEN"]]:
        if number in ("4.2", "4.3") and what != "not begun":
            said = re.findall(rf"<td>{re.escape(what)}</td><td>(.*)</td>",
                              text)
            assert any(words in line for line in said), (what, words, said)
    assert "<td>eps at least 0.01</td><td>the check is passed" in text
    assert text.count("<td>2: one slip</td>") == 1 and "for 4.2:" in text
    assert "k = a * root / (a**2" in text and "<script" not in text
    text = teacher.page(sheet.make(CHAPTER, "4.3", None, "2027s"))
    assert "<td>the published solution</td><td>is the result right?" in text
    assert "2: one slip" not in text and "layer normalization; batch" in text


def test_the_command_makes_both(tmp_path, capsys):
    course = "--course", str(tmp_path)
    editions.main([CHAPTER.number, "--only", "4.2", *course])
    edition, page = map(Path, capsys.readouterr().out.splitlines())
    name = f"{CHAPTER.name}_homework"
    assert edition == tmp_path / "release" / name / f"{name}.ipynb"
    [kept] = handed.editions(tmp_path, name).values()
    assert page == kept.with_name("for_teachers.html")
    assert "for teachers</h1>" in page.read_text("utf-8")
    assert [exercise.number for exercise
            in cells.GradedChapter(kept).exercises] == ["4.2"]
    for wrong, words in (
            (["99"], "no chapter 99"),
            (["--due", "2027-01-15"], "of one chapter"),
            ([CHAPTER.number, "--only", "9.1"], "has no exercise 9.1")):
        with pytest.raises(SystemExit, match=words):
            editions.main([*wrong, *course])


def test_the_page_tells_the_kinds_of_variants():
    page = HOMEWORK.read_text("utf-8")
    assert {*re.findall(r"(?m)^\| (\w+) ?[|(]", page)} >= {*teacher.KINDS}
    assert {AnsweredExercise(path, number).variant["asks"]
            for path in chapters() for number in varied(path)} == {
        *teacher.KINDS}


def test_solutions_fit_their_edits():
    """Edits of the book's own lines; what they leave is Python."""
    for path in chapters():
        for number in varied(path):
            exercise = AnsweredExercise(path, number)
            variant = exercise.variant
            for i in range(max(map(len, variant["one of"].values()))):
                numbers = {name: choices[i % len(choices)] for name, choices
                           in variant["one of"].items()}
                source = variants.solution(variant, exercise.solution.source,
                                           numbers)
                assert f"def {exercise.name}(" in source
                assert all(len(line) <= 100 for line in source.splitlines())
                ast.parse(source)
                variant["says"].format(**numbers)



def test_the_words_of_a_variant_are_true_of_it():
    """Its check compares numbers, and neither sees a call nor autograd."""
    for path in chapters():
        for number in varied(path):
            exercise = AnsweredExercise(path, number)
            numbers = variants.values(exercise.variant, "a")
            text, says = variants.statement(exercise.variant,
                                            exercise.statement, numbers)
            assert not re.search(r"\bcheck\b|notice", text), number
            assert text.count(variants.COUNTS.split()[-1]) and says
            assert text.count("\n\nPromises:") == 1


def test_what_a_variant_forbids_is_not_in_its_setup():
    made = sheet.make(chapters()[17], "17.2,17.5", None, "2027s")
    setup, text = (made.notebook.cells[1].source, "\n".join(
        cell.source for cell in made.notebook.cells))
    assert "def write_delta(" in setup and "def delta_rule(" not in setup
    assert "gated_delta_rule" not in text and "length 1," not in text
    assert "times the averages." in text and "with the average of" not in text


def test_a_result_that_is_shown_can_be_read():
    made = sheet.make(chapters()[17], "17.2", None, "2027s")
    [check] = [cell.source for cell in made.notebook.cells
               if cell.id == "check-17-2"]
    numbers = re.findall(r"-?\d+\.\d+(?:e[+-]\d+)?", check)
    assert len(numbers) > 20
    assert all(float(f"{float(number):.10g}") == float(number)
               for number in numbers)
