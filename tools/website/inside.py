"""Look inside: its page alone loads the engine, the page's script and style.

The weights come later, by the engine, when a reader chooses their model.
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

PAGE = "book/inside"
SCRIPTS = ("explorables/shared", "inside/model", "inside/page")


def load(app: Sphinx, page: str, template: str, context: dict[str, Any],
         doctree: nodes.document | None) -> None:
    """Load what the page needs, on this page."""
    if page == PAGE:
        app.add_css_file("inside.css")
        for script in SCRIPTS:
            app.add_js_file(f"{script}.js", loading_method="defer")


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", load)
