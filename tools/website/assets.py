"""What a page makes a browser load and lay out: only what it shows.

Plots are WebP; pictures know their size before they are there, and load when
they are near. The theme's 300 kB of icons are cut to those that
its pages show; course.css names the cut fonts. Code has an element for a token
with a color only. Scripts wait until the page is there.
"""

import posixpath
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pydata_sphinx_theme
from docutils import nodes
from fontTools import subset
from fontTools.ttLib import TTFont
from PIL import Image
from pygments.lexers import PythonLexer
from pygments.token import Name, Punctuation, Text, _TokenType
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

WEBFONTS = (Path(pydata_sphinx_theme.__file__).parent / "theme"
            / "pydata_sphinx_theme/static/vendor/fontawesome/webfonts")
# An icon that is missing here still shows: its page loads the whole font.
ICONS = {
    "fa-solid-900": {
        0xf00c: "check", 0xf00d: "xmark", 0xf015: "house", 0xf019: "download",
        0xf002: "magnifying-glass", 0xf03a: "list", 0xf042: "half-stroke",
        0xf053: "chevron-left", 0xf054: "chevron-right", 0xf062: "arrow-up",
        0xf065: "expand", 0xf078: "chevron-down", 0xf0c1: "link",
        0xf0c9: "bars", 0xf104: "angle-left", 0xf105: "angle-right",
        0xf107: "angle-down", 0xf135: "rocket", 0xf15b: "file",
        0xf185: "sun", 0xf186: "moon", 0xf1c1: "file-pdf", 0xf304: "pen"},
    "fa-brands-400": {0xf09b: "github"},
}
PLAIN = Name, Punctuation, Text.Whitespace


def size(path: Path) -> tuple[int, int]:
    """Width and height of a picture in pixels, or of a drawing in its units."""
    if path.suffix == ".svg":
        box = ElementTree.parse(path).getroot().get("viewBox").split()
        return round(float(box[2])), round(float(box[3]))
    with Image.open(path) as image:
        return image.size


def visit_image(translator: HTML5Translator, node: nodes.image) -> None:
    """An <img> that waits, with its size; a plot leads to itself, to zoom in.
    """
    builder = translator.builder
    path = Path(builder.srcdir, node["uri"])
    name = builder.images[node["uri"]]
    # What describes a page to others reads the address that Sphinx would give.
    node["uri"] = posixpath.join(builder.imgpath, name)
    shown = node["uri"]
    if plot := path.suffix == ".png":
        shown = f"{posixpath.splitext(shown)[0]}.webp"
        folder = Path(builder.outdir, builder.imagedir)
        folder.mkdir(exist_ok=True)
        with Image.open(path) as image:
            image.save((folder / name).with_suffix(".webp"), lossless=True,
                       method=2)
    wide, high = size(path)
    image = translator.emptytag(
        node, "img", "", src=shown, alt=node.get("alt", ""), width=str(wide),
        height=str(high), loading="lazy", decoding="async")
    translator.body.append(
        f'<a class="plot" href="{shown}">{image}</a>\n' if plot else image)


class ColoredLexer(PythonLexer):
    """Python, whose plain names and brackets are text: half the elements."""

    def get_tokens_unprocessed(
            self, *args: Any) -> Iterator[tuple[int, _TokenType, str]]:
        for start, kind, text in super().get_tokens_unprocessed(*args):
            yield start, Text if kind in PLAIN else kind, text


def defer_scripts(app: Sphinx, page: str, template: str,
                  context: dict[str, Any], doctree: nodes.document | None
                  ) -> None:
    """Let a page be read before its scripts run.

    What stands inside a page is the theme's settings, for its own search and
    for other versions; only ours has an id.
    """
    context["script_files"] = [
        script for script in context["script_files"]
        if script.filename or "id" in script.attributes]
    for script in context["script_files"]:
        if script.filename:
            script.attributes["defer"] = "defer"


def cut_icons(app: Sphinx, error: Exception | None) -> None:
    """Write the fonts that course.css names."""
    if error or app.builder.format != "html":
        return
    for name, icons in ICONS.items():
        font = TTFont(WEBFONTS / f"{name}.woff2", recalcTimestamp=False)
        cutter = subset.Subsetter(subset.Options(layout_features=[]))
        cutter.populate(unicodes=icons)
        cutter.subset(font)
        font.flavor = "woff2"
        font.save(Path(app.outdir, "_static", f"{name}.woff2"))


def setup(app: Sphinx) -> None:
    app.add_node(nodes.image, override=True, html=(visit_image, None))
    app.add_lexer("python", ColoredLexer)
    # The theme adds its settings at 500.
    app.connect("html-page-context", defer_scripts, priority=501)
    app.connect("build-finished", cut_icons)
