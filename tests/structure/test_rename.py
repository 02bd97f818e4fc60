"""make rename: a name changes where it is meant, and nowhere else."""

import pytest

from course.chapter import chapters
from course.code import definitions
from tools import rename

NAME = next(each.name for cell in chapters()[0].code
            for each in definitions(cell.source))


@pytest.mark.parametrize("before, after", [
    ("x = causal_mask(3)                  # causal_mask",
     "x = look_back_mask(3)               # look_back_mask"),
    ("say('what does causal_mask see?', my_causal_mask, x.causal_mask)",
     "say('what does look_back_mask see?', my_causal_mask, x.causal_mask)"),
    ("functions('09').causal_mask(3) @ CHAPTER.causal_mask(3)",
     "functions('09').look_back_mask(3) @ CHAPTER.look_back_mask(3)"),
    ("ANSWER = '''\nreturn causal_mask(n) & x\n'''",
     "ANSWER = '''\nreturn look_back_mask(n) & x\n'''"),
    ("class M:\n    def causal_mask(self):\n        self.causal_mask()",
     "class M:\n    def causal_mask(self):\n        self.causal_mask()")])
def test_code(before, after):
    assert rename.code(before, "causal_mask", "look_back_mask") == after


@pytest.mark.parametrize("before, after", [
    ("To look: `look(x)` or look(3), as `F.look` does.",
     "To look: `read(x)` or read(3), as `F.look` does."),
    ("`x = look` is `looking`", "`x = read` is `looking`")])
def test_a_word_of_english_counts_in_code_alone(before, after):
    assert rename.prose(before, "look", "read") == after


def test_the_key_of_a_chapter_stays():
    source = 'DOTS = {"feed_forward": feed_forward}'
    assert rename.code(source, "feed_forward", "mlp") == (
        'DOTS = {"feed_forward": mlp}')


@pytest.mark.parametrize("old, new, reason", [
    (NAME, "class", "'class' is no name in Python"),
    (NAME, "sum", "sum is a name of Python's own"),
    ("gone", "held_back", "no chapter defines gone"),
    (NAME, NAME, f"{NAME} is used already: ")])
def test_what_would_break_something_is_refused(old, new, reason):
    with pytest.raises(SystemExit, match=f"Nothing is renamed: {reason}"):
        rename.main(old, new)


def test_a_file_is_written_anew(tmp_path, monkeypatch, capsys):
    """Every file that names it; the history of releases stays."""
    page, history = tmp_path / "README.md", tmp_path / "CHANGELOG.md"
    for path in page, history:
        path.write_text(f"See `{NAME}`, x.{NAME}.", "utf-8")
    monkeypatch.setattr(rename, "ROOT", tmp_path)
    rename.main(NAME, "held_back")
    assert page.read_text("utf-8") == f"See `held_back`, x.{NAME}."
    assert NAME in history.read_text("utf-8")
    assert capsys.readouterr().out.startswith(
        "README.md: 2 places, 1 of them left as they are\n")
