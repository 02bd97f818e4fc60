"""Each text is read and written as UTF-8, on Windows as well: what ruff's
PLW1514 does not see, the methods of paths."""

import ast

from course.paths import ROOT

PLACE = {"read_text": 0, "write_text": 1}       # of the encoding


def silent(source):
    """The lines that read or write a text and name no encoding."""
    return [node.lineno for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.Call)
            and getattr(node.func, "attr", "") in PLACE
            and len(node.args) <= PLACE[node.func.attr]
            and "encoding" not in {word.arg for word in node.keywords}]


def test_every_text_names_its_encoding():
    lines = {path.relative_to(ROOT).as_posix(): silent(path.read_text("utf-8"))
             for folder in ("course", "tools", "tests", "experiments",
                            "benchmarks")
             for path in (ROOT / folder).rglob("*.py")}
    assert len(lines) > 100
    assert not {name: found for name, found in lines.items() if found}
