"""What the site's pages load: the parts that decide it, without a browser."""

import sys

import pytest
from chapters import ROOT
from fontTools.ttLib import TTFont
from PIL import Image

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import light


def test_rules_of_a_style_sheet():
    css = """@import "x.css"; a{b:c} @media print{d{e:f} g{h:i}}
        j{background:url("data:,}(k)")} l{content:"}"}"""
    assert [*light.rules(css)] == [
        ('@import "x.css"', None), ("a", "b:c"),
        ("@media print", "d{e:f} g{h:i}"),
        ("j", 'background:url("data:,}(k)")'), ("l", 'content:"}"')]


def test_selectors_of_a_group():
    assert [*light.selectors("a, b:is(c, d),[e='f,g']")] == [
        "a", "b:is(c, d)", "[e='f,g']"]


@pytest.mark.parametrize("selector, lives", [
    ("p", True), (".there", True), (".gone", False), ("#there .gone", False),
    (".there:not(.gone)", True), (":is(.gone, .there)", True),
    (r".sm\:there", False), ("a[class='gone']", True),
])
def test_a_selector_lives_if_its_names_occur(selector, lives):
    assert light.alive(selector, {"there"}) is lives


def test_a_purge_keeps_what_can_meet_something():
    css = (".a,.gone{x:y}.gone{x:y}@media print{.gone{x:y}}"
           "@media print{.a{x:y}}@font-face{src:url(z)}/* .a{} */")
    assert light.purge(css, {"a"}) == (
        ".a{x:y}@media print{.a{x:y}}@font-face{src:url(z)}")


def page_with(tmp_path, image):
    (tmp_path / "_images").mkdir()
    Image.effect_noise((40, 30), 9).save(tmp_path / "_images" / "noise.png")
    Image.new("RGB", (400, 300), "white").save(tmp_path / "_images/plain.png")
    for path in (tmp_path / "_images").glob("*.png"):
        light.shrink(path)
    page = tmp_path / "page.html"
    return light.slim(f"<html><head><title>t</title></head>{image}</html>",
                      page, tmp_path, "_static/site.css")


def test_a_picture_has_a_size_and_waits(tmp_path):
    html = page_with(tmp_path, '<img alt="plain" src="_images/plain.png" />')
    assert ('<a class="plot" href="_images/plain.webp">'
            '<img alt="plain" src="_images/plain.webp" width="400"'
            ' height="300" loading="lazy" decoding="async"></a>') in html
    page = tmp_path / "page.html"
    again = light.slim(html, page, tmp_path, "_static/site.css")
    assert again.count("<a ") == again.count("loading=") == 1
    with Image.open(tmp_path / "_images" / "plain.webp") as small:
        assert small.convert("RGB").getcolors() == [(120_000, (255,) * 3)]


def test_a_picture_from_elsewhere_stays(tmp_path):
    image = '<img src="_static/logo.svg" alt="">'
    assert image in page_with(tmp_path, image)


@pytest.mark.parametrize("script, stays", [
    ("fontawesome.js", False), ("togglebutton.js", False),
    ("searchindex.js", False), ("copybutton.js", True)])
def test_scripts_that_a_page_uses_are_deferred(tmp_path, script, stays):
    html = page_with(tmp_path, f'<script src="../{script}?v=1"></script>')
    assert (script in html) is stays
    assert ("<script defer" in html) is stays


def test_the_theme_measures_when_idle(caplog):
    whole = "".join(light.AT_ONCE)
    idle = light.wait_until_idle(whole)
    assert idle == "".join(light.IDLE)
    assert light.wait_until_idle(idle) == idle           # by a second build
    assert not caplog.records
    light.wait_until_idle("another theme")
    assert len(caplog.records) == 2


def test_the_colors_are_known_before_the_page(tmp_path):
    known = f"<script data-x>theme = {light.KNOWN}</script>"
    assert known in page_with(tmp_path, known.replace(light.KNOWN,
                                                      light.UNKNOWN))


def test_the_page_has_one_style_sheet(tmp_path):
    html = page_with(tmp_path, '<link rel="stylesheet" href="_static/a.css">'
                               '<link rel="icon" href="_static/f.svg">')
    assert html.count("stylesheet") == 1 and "_static/site.css" in html
    assert 'rel="icon"' in html


def test_the_font_of_formulas_says_that_it_was_cut():
    font = TTFont(ROOT / "book" / "_static" / "math.woff2")
    assert font["name"].getDebugName(1) == "Course Math"
    assert "MATH" in font
    assert "GUST Font License" in (
        ROOT / "book" / "_static" / "math-font.txt").read_text()
