"""Formulas as MathML: drawn when they are sound, None when they are not, and safe whatever they hold."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.page_mathml import mathml


@pytest.mark.parametrize(
    ("tex", "held"),
    [
        (r"\phi", "ϕ"),
        (r"\frac{1}{2}", "<mfrac><mrow><mn>1</mn></mrow><mrow><mn>2</mn></mrow></mfrac>"),
        (r"\mathbb{R}^n", "ℝ"),
        (r"\mathcal L", "ℒ"),
        (r"\mathbf{x}", "𝐱"),
        (r"\boldsymbol{\theta}", "𝜽"),
        (r"\operatorname{argmin}_x", 'mathvariant="normal">a<'),
        (r"14.94\\%", "%"),
        (r"\text{\emph{training}}", "training"),
        (r"T \ln T", '<mspace width="0.17em"></mspace><mi>ln</mi>'),
        (r"\log^2 n", "<msup><mi>log</mi><mn>2</mn></msup>"),
        (r"\begin{aligned}a&=b\\c&=d\end{aligned}", "<mtable"),
        (r"^2", "<msup><mrow></mrow><mn>2</mn></msup>"),
    ],
)
def test_formulas_are_drawn(tex: str, held: str) -> None:
    drawn = mathml(tex)
    assert drawn is not None
    assert held in drawn
    ElementTree.fromstring(drawn)


@pytest.mark.parametrize(
    "tex", [r"\frac{1", r"x_1^", r"\left( x", r"\unknowncommand x", "}", "{", r"\frac", "", "x" * 5000]
)
def test_broken_or_unknown_tex_is_not_drawn(tex: str) -> None:
    assert mathml(tex) is None


def test_a_display_formula_is_a_block_with_its_limits_above_and_below() -> None:
    drawn = mathml(r"\sum_{i=1}^n x_i", display=True)
    assert drawn is not None
    assert 'display="block"' in drawn
    assert "<munderover>" in drawn


@pytest.mark.parametrize(
    "tex",
    [
        r"\text{<script>alert(1)</script>}",
        r"\text{<img src=x onerror=alert(1)>}",
        r"\href{javascript:alert(1)}{x}",
        r"\style{background:url(http://evil.example)}{x}",
        r"\class{evil}{x}",
        r'x" onmouseover="alert(1)',
        "&lt;script&gt;",
    ],
)
def test_nothing_in_a_formula_becomes_an_element_or_an_attribute(tex: str) -> None:
    is_harmless(mathml(tex) or "")


@given(st.text(alphabet="\\{}^_&<>\"'= abcfrtexhs12%", max_size=40))
def test_whatever_comes_in_only_listed_markup_comes_out(tex: str) -> None:
    is_harmless(mathml(tex) or "<math></math>")


def is_harmless(drawn: str) -> None:
    for element in ElementTree.fromstring(drawn or "<math></math>").iter():
        assert re.fullmatch(r"m[a-z]+", element.tag)
        assert not {"href", "style", "src", "id"} & set(element.attrib)
        assert not any(name.startswith("on") for name in element.attrib)
