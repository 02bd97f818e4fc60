"""Formulas as MathML: what pandoc is told, and what its MathML is given."""

import re

import pytest
from docutils import nodes

from tools.website import formulas

THIN = f'<mspace width="{formulas.THIN}"></mspace>'


@pytest.mark.parametrize("tex, part, times", [
    (r"\begin{pmatrix}1&0\cr0&1\end{pmatrix}", "<mtr>", 2),
    (r"\ln x", f"{THIN}<mi>x</mi>", 1), (r"\max_j x", f"{THIN}<mi>x</mi>", 1),
    (r"2\ln x", f"<mn>2</mn>{THIN}", 1), (r"-\ln(x)", THIN, 0),
    (r"\mathrm{ids}", "<mi>ids</mi>", 1),
    (r"\begin{aligned}a&=b\cr c&=d\end{aligned}", 'class="right at"', 2),
    (r"\begin{aligned}a&=b\cr c&=d\end{aligned}", 'displaystyle="true"', 1),
    (r"\begin{cases}a&b\cr c&d\end{cases}", 'class="left"', 4),
    (r"\begin{cases}a&b\cr c&d\end{cases}", "displaystyle", 0)])
def test_what_browsers_do_not_draw_is_added(tex, part, times):
    unreadable, shown = formulas.mathml([(r"\nosuch x", False), (tex, False)])
    assert unreadable is None
    assert shown.count(part) == times
    assert not re.search("annotation|xmlns|columnalign| style=", shown)


def test_a_tag_stands_beside_its_formula():
    node = nodes.math_block("", "a = b .\n\\tag{3.2}")
    assert formulas.parts(node) == (("a = b .", True), "3.2")


def test_punctuation_stays_with_its_formula():
    line = ('see (<span class="math notranslate nohighlight"><math><mi>x</mi>'
            "</math></span>), and y")
    kept = formulas.INLINE.sub("[\\g<0>]", line)
    assert re.sub(r"<[^>]*>", "", kept) == "see [(x),] and y"
