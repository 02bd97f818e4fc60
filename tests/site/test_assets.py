"""What the site's pages load: the parts that decide it, without a browser."""

import re

import pytest
from fontTools.ttLib import TTFont
from PIL import Image
from sphinx.application import Sphinx

from course.paths import ROOT
from tools.website import assets

PAGE = """
A page
======

.. image:: noise.png
   :alt: noise

.. image:: plain.png
   :alt: plain & simple
   :class: wide

.. image:: drawing.svg
.. image:: https://example.org/badge.png

.. code-block:: python

   print([x for x in numbers])
"""


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """The page above, built."""
    folder = tmp_path_factory.mktemp("assets")
    Image.effect_noise((40, 30), 9).save(folder / "noise.png")
    Image.new("RGB", (400, 300), "white").save(folder / "plain.png")
    (folder / "drawing.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 60.4 20"/>',
        "utf-8")
    (folder / "index.rst").write_text(PAGE, "utf-8")
    Sphinx(folder, None, folder / "html", folder / "trees", "html", {
        "extensions": ["tools.website.assets"], "html_theme": "basic"},
        status=None).build()
    return folder / "html"


def test_a_picture_has_a_size_waits_and_leads_to_itself(out):
    [plain] = re.findall('<a[^>]*><img alt="plain[^>]*></a>',
                         (out / "index.html").read_text("utf-8"))
    assert plain.startswith('<a class="plot" href="_images/plain.webp"><img ')
    for attribute in ('alt="plain &amp; simple"', 'class="wide"',
                      'src="_images/plain.webp"', 'width="400"',
                      'height="300"', 'loading="lazy"', 'decoding="async"'):
        assert attribute in plain
    with Image.open(out / "_images" / "plain.webp") as small:
        assert small.convert("RGB").getcolors() == [(120_000, (255,) * 3)]


def test_a_picture_stays_where_webp_is_not_smaller(tmp_path, monkeypatch):
    path = tmp_path / "dot.png"
    Image.new("1", (1, 1)).save(path)
    monkeypatch.setattr(assets, "as_webp", lambda path: path.read_bytes())
    assert assets.in_page(path, tmp_path) == "dot.png"


def test_a_drawing_knows_its_size_and_another_site_its_own(out):
    html = (out / "index.html").read_text("utf-8")
    [drawing] = re.findall("<img[^>]*drawing.svg[^>]*>", html)
    assert 'width="60"' in drawing and 'height="20"' in drawing
    [badge] = re.findall("<img[^>]*badge.png[^>]*>", html)
    assert "width" not in badge


def test_plain_names_are_text(out):
    [code] = re.findall("(?s)<pre>.*?</pre>",
                        (out / "index.html").read_text("utf-8"))
    assert re.findall('<span class="(.*?)">', code) == ["nb", "k", "ow"]
    assert re.sub("<.*?>", "", code).strip() == "print([x for x in numbers])"


def test_scripts_wait(out):
    scripts = re.findall("<script[^>]*src=[^>]*>",
                         (out / "index.html").read_text("utf-8"))
    assert scripts
    assert all("defer" in script for script in scripts)


@pytest.mark.parametrize("name", assets.ICONS)
def test_icons_are_cut(out, name):
    path = out / "_static" / f"{name}.woff2"
    assert path.stat().st_size < 4_000
    assert {*TTFont(path).getBestCmap()} == {*assets.ICONS[name]}
    css = (ROOT / "book" / "_static" / "course.css").read_text("utf-8")
    assert f'url("{path.name}")' in css


def test_the_font_of_formulas_says_that_it_was_cut():
    static = ROOT / "book" / "_static"
    font = TTFont(static / "math.woff2")
    assert font["name"].getDebugName(1) == "Course Math"
    assert "MATH" in font
    assert "GUST Font License" in (static / "math-font.txt").read_text("utf-8")
