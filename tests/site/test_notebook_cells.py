"""What notebook_cells.py makes of a notebook, and of some out of form."""

import re
from html import unescape
from io import StringIO
from types import SimpleNamespace

import pytest
from nbformat import v4, write
from sphinx.application import Sphinx

from course.paths import ROOT
from tests.support.sample import EXERCISE, PREDICT, code

QUESTION = PREDICT.format(i=1)
PYTHON = {"language_info": {"name": "python", "pygments_lexer": "python"}}
SOLUTION = '''# @title Solution 7.1
def cut(text, size=2,
        step=1):
    """Cut a text.

    text: of any length.
    """
    ### BEGIN SOLUTION
    return secret(text)
    ### END SOLUTION'''
RIGHT = [
    v4.new_markdown_cell("# A page\n\n## Setup"),
    code("import numpy as np"),
    code("# @title From earlier chapters, unchanged", "hide-input"),
    v4.new_markdown_cell("## Tokens\n\nBefore.\n\n" + QUESTION.replace(
        "(A) If", "More of it.\n\n- and more\n\n(A) If") + "\n\nAfter."),
    code("# @title Check: one <b>", "hide-input", said="ok: 12 comparisons\n"),
    code("# @title How we know: two", "hide-input",
         said="a table\nok: 1 comparison\n"),
    v4.new_markdown_cell("## Exercises\n\n" + EXERCISE.format(i=1)),
    code(SOLUTION, "hide-input"),
    code("# @title Check 7.1", "hide-input", said="7.1 correct\n")]
OUT_OF_FORM = {                         # what is changed: from, to
    "a number": (r"7\.1", "seven"),
    "a choice": (r"- \(B\) long\n", ""),
    "a letter": (r"- \(C\) both", "- both"),
    "only two": (r"(?s)- \(C\) both\n(.*)\(C\).*?\n\n", r"\1"),
    "one more": (r"- \(C\) both\n", r"\g<0>- neither\n"),
    "a list": (r"- \(", "("),
    "an answer": ("<summary>Answer", "<summary>Reply"),
    "an end": ("</details>", ""),
    "the right one": (r"\*\*\(B\)\*\* because", "Because"),
    "a word": (r"\(C\) If you chose C, you", "Not C,"),
    "the same word": (r"\(C\) If you chose C", "(A) If you chose A"),
}
CELLS_OUT_OF_FORM = {
    "silent": code("# @title Check: x", "hide-input"),
    "late": code("# @title Check: x", "hide-input",
                 said="ok: 3 comparisons\nerror\n"),
    "no docstring": code("# @title Solution 7.1\ndef cut(text):\n    pass",
                         "hide-input"),
    "no title": code("x = 1", "hide-input"),
    "no function": code("# @title Solution 7.1\ncut = len", "hide-input"),
}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The page of RIGHT, and what is said of each page that breaks the form."""
    folder = tmp_path_factory.mktemp("cells")
    pages = {"index": RIGHT}
    for what, (old, new) in OUT_OF_FORM.items():
        broken, times = re.subn(old, new, QUESTION)
        assert times
        pages[what] = [v4.new_markdown_cell(f"# {what}\n\n{broken}")]
    for what, cell in CELLS_OUT_OF_FORM.items():
        pages[what] = [v4.new_markdown_cell(f"# {what}\n\n## Setup"),
                       v4.new_markdown_cell("## Next"), cell]
    for name, cells in pages.items():
        write(v4.new_notebook(cells=cells, metadata=PYTHON),
              folder / f"{name}.ipynb")
    warnings = StringIO()
    app = Sphinx(folder, None, folder / "html", folder / "trees", "html", {
        "extensions": ["myst_nb", "tools.website.notebook_cells"],
        "nb_execution_mode": "off", "html_theme": "basic",
        "html_static_path": [str(ROOT / "book" / "_static")]},
        status=None, warning=warnings)
    app.build()
    html = (folder / "html" / "index.html").read_text("utf-8")
    return SimpleNamespace(html=html, warnings=warnings.getvalue())


def folds(html):
    """What stands on each fold, closed and opened, and what it holds."""
    return [(unescape(closed), unescape(opened), inside)
            for closed, opened, inside in re.findall(
                r'<details class="admonition.*?<summary>\s*<p[^>]*>(.*?)</p>'
                r"\s*<p[^>]*>(.*?)</p>\s*</summary>(.*?)</details>", html,
                re.DOTALL)]


def text(html):
    return unescape(re.sub(r"<[^>]*>", "", html))


def test_imports_are_folded(built):
    closed, opened, inside = folds(built.html)[0]
    assert (closed, opened) == ("Show: imports", "Hide: imports")
    assert "import numpy" in text(inside)


def test_a_fold_says_its_title(built):
    closed, opened, _ = folds(built.html)[1]
    assert closed == "Show: from earlier chapters, unchanged"
    assert opened == "Hide: from earlier chapters, unchanged"
    assert folds(built.html)[4][0] == "Show: solution 7.1"


def test_a_check_is_one_line_drawn_from_its_output(built):
    closed, opened, inside = folds(built.html)[2]
    assert closed == opened == (
        "✓ Check: one <b> · 12 comparisons passed when last run")
    assert "ok: 12 comparisons" in text(inside)


def test_a_table_of_a_check_stays_in_the_open(built):
    closed, _, inside = folds(built.html)[3]
    assert closed.startswith("✓ How we know: two · 1 comparison passed")
    assert "a table" not in inside and "a table" in built.html


def test_a_prediction_has_named_parts(built):
    [(number, right, inside)] = re.findall(
        r'<div class="predict" role="group" aria-labelledby="predict-7-1" '
        r'data-number="(.*?)" data-right="(.)">(.*)</details></div><p>After',
        built.html.replace("\n", ""))
    assert (number, right) == ("7.1", "B")
    assert inside.startswith('<p id="predict-7-1"><strong>Predict 7.1.')
    assert re.findall(r'<ul class="[^"]*choices', inside)
    words = dict(re.findall(r'<div class="word" data-on="(.)">(.*?)</div>',
                            inside))
    assert {letter: text(word) for letter, word in words.items()} == {
        "B": "(B) because it is.More of it.and more",
        "A": "(A) If you chose A, you counted letters.",
        "C": "(C) If you chose C, you counted twice."}


def test_without_a_script_the_answer_is_folded(built):
    assert "<details><summary>Answer</summary>" in built.html
    assert "<button" not in built.html


def test_each_page_knows_how_many_predictions_there_are(built):
    [tag] = re.findall(r'<script[^>]*predictions\.js[^>]*>', built.html)
    assert 'data-predictions="{&quot;7&quot;: 1}"' in tag and "defer" in tag


def test_a_signature_stands_above_its_folded_solution(built):
    [shown] = re.findall(r'<div class="signature.*?</pre>', built.html,
                         re.DOTALL)
    assert text(shown).strip() == ('def cut(text, size=2,\n        step=1):\n'
                                   '    """Cut a text."""')
    assert built.html.index(shown) < built.html.index("secret")


def test_correct_is_said_of_the_solution_alone(built):
    closed, _, inside = folds(built.html)[-1]
    assert closed == "Check 7.1, and what it says of the solution above"
    assert "7.1 correct" in text(inside)
    assert text(built.html).count("7.1 correct") == 1


def test_an_exercise_has_an_address(built):
    assert re.search(r'<p class="exercise" id="exercise-7-1">.*\n?.*<a class='
                     r'"headerlink[^>]*href="#exercise-7-1"', built.html)


def test_a_fold_is_called_what_stands_on_it(built):
    assert "<summary aria-label" not in built.html


@pytest.mark.parametrize("page", [*OUT_OF_FORM, *CELLS_OUT_OF_FORM])
def test_what_breaks_the_form_is_a_warning(built, page):
    said = re.findall(rf"{page}\.ipynb:\d+: WARNING: (.*)", built.warnings)
    assert any(line.startswith(("not in the grammar", "Check: x: ",
                                "Solution 7.1: ", "a folded cell without"))
               for line in said), said


def test_what_keeps_the_form_is_none(built):
    assert "index.ipynb" not in built.warnings
