"""Links lead somewhere: to a file, a heading in it, a picture, a command.

What leaves the site is tried weekly.
"""

import re
from functools import cache
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt

from course.chapter import Chapter
from course.paths import BOOK, ROOT, chapter_paths
from tests.support.pages import slug

ABOUT = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / ".github").rglob("*.md"))]
TEXTS = [*ABOUT, *sorted(BOOK.glob("*.md")), *chapter_paths()]
each_text = pytest.mark.parametrize(
    "path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))

MARKDOWN = MarkdownIt("commonmark").enable("table")
IN_HTML = re.compile(r'\b(?:href|src|srcset)="([^"]+)"')
ANCHOR = re.compile(r'\b(?:id|name)="([^"]+)"')
LABEL = re.compile(r"^\(([\w-]+)\)=$", re.MULTILINE)     # MyST's, in pages
ELSEWHERE = re.compile(r"[a-z]+:|//")
TARGET = re.compile(r"^([\w./-]+):", re.MULTILINE)
COMMAND = re.compile(r"\bmake ((?!-)[\w./-]+)")
FILE = re.compile(r"(?:[\w.*-]+/)+[\w.*-]*|[\w-]+\.(?:cff|md|toml|txt|yml)")
MADE = {".colab", ".nbgrader", ".venv", "_build", "data"}   # not in the clone


def source(path):
    if path.suffix == ".md":
        return path.read_text("utf-8")
    return "\n\n".join(cell.source for cell in Chapter(path).cells
                       if cell.cell_type == "markdown")


def tokens(text):
    for token in MARKDOWN.parse(text):
        yield token
        yield from token.children or []


def targets(text):
    """Where the links and pictures of a text lead."""
    for token in tokens(text):
        if token.type in ("link_open", "image"):
            yield unquote(token.attrs.get("href") or token.attrs["src"])
        elif token.type in ("html_inline", "html_block"):
            yield from IN_HTML.findall(token.content)


def anchors(text):
    found, heading = set(), False
    for token in tokens(text):
        if heading:
            name = slug("".join(part.content for part in token.children))
            found.add(f"{name}-1" if name in found else name)
        heading = token.type == "heading_open"
    return found | set(ANCHOR.findall(text)) | set(LABEL.findall(text))


@cache
def labels():
    """What a page of the site may name instead of a file."""
    return {label for page in BOOK.glob("*.md")
            for label in LABEL.findall(source(page))}


def missing(text, path):
    """The targets in `text`, were it the text of `path`, that are not there."""
    for target in targets(text):
        if ELSEWHERE.match(target):
            continue
        name, _, anchor = target.partition("#")
        file = path.parent / name if name else path
        if path.parent == BOOK and path.suffix == ".md" and name in labels():
            continue
        if not file.exists():
            yield target
        elif anchor:
            there = source(file) if name else text
            if anchor not in anchors(there):
                yield target


def absent(text):
    """The commands and files that a text names in code and that are not."""
    commands = set(TARGET.findall((ROOT / "Makefile").read_text("utf-8")))
    for token in tokens(text):
        if token.type not in ("code_inline", "code_block", "fence"):
            continue
        for command in COMMAND.findall(token.content):
            if command not in commands:
                yield f"make {command}"
        for word in token.content.split() * (token.type == "code_inline"):
            first = word.partition("/")[0]
            if FILE.fullmatch(word) and first not in MADE:
                pattern = word.replace("NN", "[0-9][0-9]").rstrip("/")
                if not any([*ROOT.glob(pattern), *ROOT.glob(f"*/{pattern}")]):
                    yield word


@each_text
def test_every_link_leads_somewhere(path):
    assert not [*missing(source(path), path)]


@pytest.mark.parametrize(
    "path", ABOUT, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_command_and_file_that_is_named_exists(path):
    assert not [*absent(source(path))]


@pytest.mark.parametrize("text, lost", [
    ("[a](book/intro.md) ![b](book/_static/gone.png)",
     ["book/_static/gone.png"]),
    ("# Two words\n\n[here](#two-words) [there](#three-words)",
     ["#three-words"]),
    ("[x](LICENSE)\n\n<img src='' srcset=\"book/gone.svg\">",
     ["book/gone.svg"]),
    ("[grading](book/teaching.md#grade-it) [x](book/teaching.md#gone)",
     ["book/teaching.md#gone"]),
    ("[label](own-tests)", ["own-tests"])])         # a page of the site only
def test_a_link_to_nowhere_is_found(text, lost):
    assert [*missing(text, ROOT / "README.md")] == lost


@pytest.mark.parametrize("text, lost", [
    ("`make book`, `make gone CHAPTER=04`", ["make gone"]),
    ("`tests/structure/test_links.py`, `tests/gone.py`", ["tests/gone.py"]),
    ("`tests/functions/test_NN.py`, `book/_static/gone-*.svg`, `torch.nn`",
     ["book/_static/gone-*.svg"]),
    ("`.venv/bin/pip install nbdime`, `data/`", [])])
def test_a_command_or_file_that_is_not_there_is_found(text, lost):
    assert [*absent(text)] == lost
