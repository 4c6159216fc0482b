"""What is mathematics between dollar signs and what is money; the formulas and sums are from real abstracts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.markup_formulas import find_formulas, is_formula


def found(text: str) -> list[str]:
    return [text[formula.start : formula.end] for formula in find_formulas(text)]


@pytest.mark.parametrize(
    "text",
    [
        "It costs $5 and $7.",
        "It costs $5, while others cost $7, or $10/$20 a day",
        "from $5-$7 to $100K-$200K",
        "US$5 million and US$7 million",
        "only $0.01 per task.",
        r"at only \$0.04 per trajectory, and \$2,500 for all",
        "$5 (see foo_bar) and $7",
        "$10, $20, and $30",
        "a $ sign and b $ sign",
        "set $HOME/bin and $PATH",
        "$ $$ $$$",
        "$not closed",
        "$x is a paragraph\n\nand $another",
    ],
)
def test_money_and_lone_dollars_are_text(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        (r"$\phi$-Balancing", [r"$\phi$"]),
        (r"at $\sim$30\% of 16$\times$16", [r"$\sim$", r"$\times$"]),
        (r"by $4 \times$-$64 \times$, preserving", [r"$4 \times$", r"$64 \times$"]),
        ("we compile $1.2M$ pairs from $125k$ images", ["$1.2M$", "$125k$"]),
        ("$>$90% and $<$3k tokens", ["$>$", "$<$"]),
        ("R$^2$ and $ p $ and $ 0.21$ and $5$", ["$^2$", "$ p $", "$ 0.21$", "$5$"]),
        (r"between $10 and $20 for $\epsilon$", [r"$\epsilon$"]),
        ("pay $3 to get $x$", ["$x$"]),
        (r"with \(n\) nodes, $$x^2$$ and \[y_1\]", [r"\(n\)", "$$x^2$$", r"\[y_1\]"]),
        (r"\begin{equation}a=b\end{equation}", [r"\begin{equation}a=b\end{equation}"]),
        (r"costs \$5 for $f^\$ = 1$", [r"$f^\$ = 1$"]),
        (r"$\mathcal{L}_{total} = \mathcal{L}_{rec}$", [r"$\mathcal{L}_{total} = \mathcal{L}_{rec}$"]),
    ],
)
def test_mathematics_is_found(text: str, formulas: list[str]) -> None:
    assert found(text) == formulas


def test_display_formulas_are_told_from_inline_ones() -> None:
    kinds = {formula.display for formula in find_formulas(r"$$x$$ \[x\]")}
    assert kinds == {True}
    assert not any(formula.display for formula in find_formulas(r"$x$ \(x\)"))


def test_a_digit_behind_the_second_dollar_makes_a_sum_of_a_plain_number_only() -> None:
    assert not is_formula("5-", "7")
    assert is_formula(r"\sim", "7")


@given(st.text(alphabet="$\\()[]{}ab 5\n^_", max_size=60))
def test_formulas_are_in_order_apart_and_inside_the_text(text: str) -> None:
    end = 0
    for formula in find_formulas(text):
        assert end <= formula.start < formula.body_start < formula.body_end < formula.end <= len(text)
        end = formula.end
