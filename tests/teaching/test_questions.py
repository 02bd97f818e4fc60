"""The questions for Moodle: whole, each right once, none betrayed.

Counted against notebooks and page by other means than the tool's.
"""

import re
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from course import prediction
from course.paths import BOOK
from course.sheets import SHEETS
from tests.support.book import each_chapter
from tests.support.sample import PREDICT
from tools import prose
from tools.quiz import banks, moodle
from tools.quiz import export as questions
from tools.quiz.written import linked, plain, written

SITE = "https://ada.github.io/course"
LETTER = re.compile(r"(?<!\w)\([A-D]\)(?!\w)|If you chose|\b[Cc]hoice [A-D]\b")
ELSEWHERE = re.compile(r"\b(as|see|check|run|table|figure|picture|cell)s? "
                       r"(above|below)\b")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """All questions, as they are written to all.xml."""
    path = tmp_path_factory.mktemp("questions") / "all.xml"
    book = [*banks.banks()]
    moodle.write(written(book, SITE), path)
    return SimpleNamespace(banks=book, moodle=[*from_moodle(
        ElementTree.parse(path).getroot())])


def words_of(element, *path):
    return element.findtext("/".join(f"{{*}}{name}" for name in path)) or ""


def from_moodle(quiz):
    """[(category, ident, text, [(choice, right, feedback), ...], why), ...]."""
    category = ""
    for question in quiz:
        if question.get("type") == "category":
            category = words_of(question, "category", "text")
            continue
        yield (category, words_of(question, "idnumber"),
               words_of(question, "questiontext", "text"),
               [(words_of(answer, "text"), answer.get("fraction"),
                 words_of(answer, "feedback", "text"))
                for answer in question.findall("answer")],
               words_of(question, "generalfeedback", "text"))


def answered(choices, why):
    """What a student reads apart from the question."""
    return [why, *(part for choice, _, word in choices
                   for part in (choice, word))]


@each_chapter
def test_every_prediction_and_belief_is_a_question(chapter, made):
    asked = sum(cell.source.count("**Predict ")
                for cell in chapter.markdown)
    sheet = SHEETS.read_text("utf-8").partition(f"\n## {chapter.number}. ")[2]
    rows = [line for line in sheet.partition("\n## ")[0].splitlines()
            if ' | "' in line]
    points = chapter.prose.partition("\n## Summary\n")[2].partition("\n## ")[0]
    assert asked > 2 and len(rows) > 2

    def of(kind):
        return [question for question in made.moodle
                if question[0].endswith(f"/{kind}")
                and f"/{chapter.number}. " in question[0]]

    right = ["true" if choices[0][1] == "100" else "false"
             for *_, choices, _ in of("True or false")]
    assert len(of("Predictions")) == asked
    assert right.count("false") == len(rows)
    assert 0 < right.count("true") <= points.count("\n- ") + 1


def test_true_sentences_stand_among_the_false(made):
    right = [choices[0][1] for category, *_, choices, _ in made.moodle
             if category.endswith("/True or false")]
    assert 0.25 < right.count("100") / len(right) < 0.5


def test_a_true_sentence_is_the_summary_s_and_stands_alone():
    chapter = toy([])
    chapter.prose = ("## Summary\n\n- It leans on what stood before it, so it"
                     " is left out.\n- Short.\n- A norm measures each token"
                     " alone, and $x.y$ is\n  no end. More.\n\n## Deeper\n")
    [one] = banks.truths(chapter)
    assert one.text == ("True or false? “A norm measures each token alone, and"
                        " $x.y$ is no end.”")
    assert [choice.word for choice in one.choices] == [
        "", "True: A norm measures each token alone, and $x.y$ is no end."
        " More."]


def test_one_choice_is_right_and_each_other_has_a_word(made):
    for category, ident, text, choices, why in made.moodle:
        assert text and why, ident
        if category.endswith("/Self-test"):
            assert not choices and "True or false" not in text
            continue
        rights = [fraction for _, fraction, _ in choices if fraction != "0"]
        assert rights == ["100"] and len(choices) in (2, 3, 4), ident
        assert all(bool(re.sub("<[^>]*>", "", word).strip()) == (
            fraction == "0") for _, fraction, word in choices), ident
        assert len({choice for choice, *_ in choices}) == len(choices), ident


def test_the_self_test_has_its_answers(made):
    page = (BOOK / "students.md").read_text("utf-8")
    [bank] = [bank for bank in made.banks if bank.path[-1] == "Self-test"]
    assert len(bank.questions) == 8
    for one in bank.questions:
        assert " ".join(page.split()).count(one.text) == 1, one.title
        assert " ".join(page.split()).count(one.why) == 1, one.title
    assert bank.questions[2].why.startswith("`[1, 9]`")
    assert "the page for students" in made.moodle[0][-1]


def test_the_right_choice_is_that_of_the_notebook():
    [of] = [bank for bank in banks.banks("04")
            if bank.path[-1] == "Predictions"]
    rights = [[choice.text for choice in one.choices if not choice.word]
              for one in of.questions]
    assert rights == [[r"$-\hat{x}$"], ["`nan`, although the output is 0"],
                      ["it is divided by 10"]]


def test_no_letter_and_no_place_that_is_not_there(made):
    """A platform shuffles choices, and shows an answer alone."""
    for _, ident, text, choices, why in made.moodle:
        assert re.fullmatch("[a-z0-9-]{10,100}", ident)
        for part in answered(choices, why):
            assert not ELSEWHERE.search(part), (ident, part)
        for part in (text, *answered(choices, why)):
            assert not LETTER.search(part), (ident, part)


def test_an_equation_that_is_named_is_there(made):
    for bank in made.banks:
        for one in bank.questions:
            parts = [one.text, one.why, *(
                part for choice in one.choices
                for part in (choice.text, choice.word))]
            for number in banks.CITED.findall("\n".join(parts)):
                assert f"\\tag{{{number}}}" in one.context + one.why, one.ident


def toy(cells):
    """A chapter with these cells."""
    return SimpleNamespace(
        number="07", name="07_tokens", cells=cells,
        markdown=[cell for cell in cells if cell.cell_type == "markdown"])


def test_names_stay_and_are_given_once(made):
    names = [one.ident for bank in made.banks for one in bank.questions]
    assert len({*names}) == len(names)
    rows = [("A", "a", "One"), ("B", "b", "One")]
    before, after = ({one.title: one.ident for one in banks.beliefs(
        toy([]), some)} for some in (rows, [("C", "c", "Two"), *rows]))
    assert before.items() <= after.items()


def test_formulas_are_as_moodle_shows_them(made):
    tex = str(made.moodle)
    prose = re.sub(r"(?s)<pre>.*?</pre>|<code>.*?</code>", "", tex)
    # Counted: pytest would compare megabytes for "in", and never end.
    assert prose.count("$") == 2 * prose.count("$course$")
    assert tex.count("<math") == 0
    assert tex.count(r"\(") == tex.count(r"\)") > 900


def test_the_same_bytes_each_time(tmp_path, monkeypatch):
    monkeypatch.setattr(questions, "FOLDER", tmp_path / "questions")
    bytes_of = []
    for _ in range(2):
        questions.main("00")
        bytes_of.append({path.name: path.read_bytes() for path
                         in (tmp_path / "questions").iterdir()})
    assert bytes_of[0] == bytes_of[1]
    assert {*bytes_of[0]} == {"00_shapes_and_einsum.xml"}


def test_no_such_chapter():
    with pytest.raises(SystemExit, match="CHAPTER=04"):
        questions.main("99")


def test_a_prediction_has_its_parts():
    text = "Before it.\n\n" + PREDICT.format(i=1).replace(
        "(A) If", "More of it.\n\n- and more\n\n(A) If")
    assert prediction.read(text) == prediction.Prediction(
        "7.1", "Before it.", "How long is a token?",
        {"A": "short", "B": "long", "C": "both"}, "B",
        "because it is.\n\nMore of it.\n\n- and more",
        {"A": "You counted letters.", "C": "You counted twice."})


def test_a_question_has_what_its_section_says_before_it():
    folded = {"tags": ["hide-input"]}
    chapter = toy([
        new_markdown_cell("# 7. Tokens\n\n$$\na\n\\tag{7.1}\n$$"),
        new_markdown_cell("## Before\n\nnot this"),
        new_markdown_cell("## Here\n\nthis"),
        new_code_cell("print(1)", outputs=[
            new_output("stream", text="1\n")]),
        new_code_cell("draw()", metadata={
            "mystnb": {"image": {"alt": "A line."}}, **folded}),
        new_code_cell("check()", metadata=folded),
        new_markdown_cell("By (7.1).\n\n" + PREDICT.format(i=1).replace(
            "because", "by (7.1)"))])
    [one] = banks.predictions(chapter)
    assert one.context == (
        "this\n\n```\nprint(1)\n```\n\n```\n1\n```\n\n*Picture:* A line."
        "\n\nBy (7.1).\n\n$$\na\n\\tag{7.1}\n$$")
    assert (one.heading, one.anchor) == ("Here", "predict-7-1")


def test_links_lead_to_the_site_or_are_words():
    html = ('<a href="04_x.ipynb#a">b</a> <a\nhref="notation.md">c</a> '
            '<a href="https://arxiv.org">d</a>')
    assert linked(html, "") == 'b c <a href="https://arxiv.org">d</a>'
    assert linked(html, SITE).startswith(
        f'<a href="{SITE}/book/04_x.html#a">b</a> '
        f'<a href="{SITE}/book/notation.html">c</a> <a')


def test_a_title_is_plain():
    assert plain(r"why `view`, *she* and $d_k$") == "why view, she and d_k"


def test_markdown_becomes_html_formulas_as_wished():
    texts = ["a $x_1<2$ *b*", "$$\na\n\\tag{4.6}\n$$", "```\n1 < 2\n```"]
    first, second, third = prose.html(texts, moodle.formula)
    assert first == r"<p>a \(x_1&lt;2\) <em>b</em></p>"
    assert re.search(r"\\\[a\s*\\tag\{4.6\}\\\]", second)
    assert third == "<pre><code>1 &lt; 2</code></pre>"
    assert "</math> (4.6)" in prose.html(texts)[1]
