"""A function that several chapters repeat is the same in all of them."""

import ast
from collections import defaultdict

from chapters import CHAPTERS, cells


def test_one_name_one_body():
    bodies = defaultdict(lambda: defaultdict(set))
    for path in CHAPTERS:
        for cell in cells(path, "code"):
            for node in ast.parse(cell.source).body:
                if isinstance(node, ast.FunctionDef | ast.ClassDef):
                    bodies[node.name][ast.unparse(node)].add(path.stem)
    drifted = {name: [*b.values()] for name, b in bodies.items() if len(b) > 1}
    assert not drifted
