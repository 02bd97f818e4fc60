"""The Sphinx extension of this book: one module a concern, set up in order.

Handlers of one event run in the order in which modules stand here: cells get
their folds and names before their text is kept, and the search and the
glossary read what was kept.
"""

from sphinx.application import Sphinx

MODULES = ("launch", "assets", "formulas", "notebook_cells", "section_text",
           "glossary", "search", "explorables", "inside")


def setup(app: Sphinx) -> None:
    """Set up each module."""
    for module in MODULES:
        app.setup_extension(f"{__name__}.{module}")
