"""Formulas as MathML: what pandoc is told, and what its MathML is given."""

from re import findall, sub

import pytest

from tools.website import formulas

THIN = f'<mspace width="{formulas.THIN}"></mspace>'


def shown(tex, display=False):
    return formulas.mathml([(tex, display)])[0]


def test_formulas_keep_their_order():
    first, second = formulas.mathml([("a+b", False), ("c", True)])
    assert "<mi>a</mi>" in first and 'display="block"' not in first
    assert "<mi>c</mi>" in second and 'display="block"' in second


def test_what_pandoc_cannot_read_is_none_and_the_others_stay():
    assert formulas.mathml([("x", False), (r"\nosuchcommand x", False),
                            ("y", False)])[1] is None


@pytest.mark.parametrize("rows", [
    r"\begin{pmatrix}1&0\cr0&1\end{pmatrix}",
    r"\begin{pmatrix}1&0\\0&1\end{pmatrix}",
])
def test_rows_end_in_either_way(rows):
    assert shown(rows).count("<mtr>") == 2


def test_nothing_is_left_for_other_readers():
    assert not findall("annotation|semantics|xmlns|columnalign| style=",
                       shown(r"\begin{aligned}a&=b\cr c&=d\end{aligned}"))


@pytest.mark.parametrize("tex, expected", [
    (r"\ln x", f"<mi>x</mi> after {THIN}"),
    (r"\max_j x", f"<mi>x</mi> after {THIN}"),
    (r"2\ln x", f"<mn>2</mn> before {THIN}"),
])
def test_functions_stand_apart_from_their_argument(tex, expected):
    element, where, space = expected.partition(" after ")
    if where:
        assert space + element in shown(tex)
    else:
        element, _, space = expected.partition(" before ")
        assert element + space in shown(tex)


@pytest.mark.parametrize("tex", [r"\ln(x)", r"-\ln(x)", r"\operatorname{f}(x)"])
def test_functions_touch_their_bracket(tex):
    assert THIN not in shown(tex)


def test_letters_of_a_name_are_one_name():
    assert "<mi>ids</mi>" in shown(r"\mathrm{ids}")
    assert '<mi mathvariant="normal">d</mi>' in shown(r"\mathrm{d}x")


def test_lines_are_aligned_at_their_sign():
    out = shown(r"\begin{aligned}a&=b\cr c&=\sum_i d_i\end{aligned}", True)
    assert out.count('class="right at"') == out.count('class="left at"') == 2
    assert '<mtable displaystyle="true">' in out


def test_cases_are_aligned_left_and_not_displayed():
    out = shown(r"\begin{cases}a&b\cr c&d\end{cases}")
    assert out.count('class="left"') == 4 and "displaystyle" not in out


def test_a_tag_stands_beside_its_formula():
    from docutils import nodes
    node = nodes.math_block("", "a = b .\n\\tag{3.2}")
    assert formulas.parts(node) == (("a = b .", True), "3.2")
    assert formulas.parts(nodes.math("", "a")) == (("a", False), None)


def test_punctuation_stays_with_its_formula():
    line = ('see (<span class="math notranslate nohighlight"><math><mi>x</mi>'
            "</math></span>), and y")
    kept = formulas.INLINE.sub("[\\g<0>]", line)
    assert sub(r"<[^>]*>", "", kept) == "see [(x),] and y"
