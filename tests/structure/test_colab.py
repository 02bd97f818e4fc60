"""Each notebook opens alone in Colab: nothing to install, one text to fetch."""

import ast
import sys

from tests.support.book import each_chapter

CARRIED = {"numpy", "matplotlib", "torch"}
NETWORK = {"ftplib", "http", "socket", "subprocess", "urllib"}
# and do without, if they must
DOWNLOADS = {"14_training_a_transformer", "19_fast_weight_transformer"}


@each_chapter
def test_imports_are_there(chapter):
    code = "\n".join(cell.source for cell in chapter.code)
    modules = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            modules |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules.add(node.module.split(".")[0])
    assert modules <= CARRIED | sys.stdlib_module_names
    assert bool(modules & NETWORK) == (chapter.name in DOWNLOADS)
