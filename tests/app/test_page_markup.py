"""Published text to segments: what a reader sees, and that every character of the stored text keeps its place."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.markup import segments, visible


def styled(text: str) -> list[tuple[str, str]]:
    """What is shown in a style, with the style."""
    return [(part.shown, "+".join(sorted(part.styles))) for part in segments(text) if part.styles and part.shown]


def tiles(text: str) -> None:
    parts = segments(text)
    assert "".join(text[part.start : part.end] for part in parts) == text
    assert all(part.shown == text[part.start : part.end] for part in parts if part.is_verbatim)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r"reduces FLOPs by 30--35\% while retaining over 98\%", "reduces FLOPs by 30–35% while retaining over 98%"),
        ("datasets---a domain", "datasets—a domain"),
        ("a policy --flag of x", "a policy --flag of x"),
        ("Dao \\& Gu~(2024), MIPLIB~2017", "Dao & Gu (2024), MIPLIB 2017"),
        ("up to ~9x, gains of 3.0%~7.6%", "up to ~9x, gains of 3.0%~7.6%"),
        ("``weak learners'' and `trials' and ``one\"", "“weak learners” and ‘trials' and “one”"),
        (
            r"at \url{https://anonymous.4open.science/r/dvpd_demo-E630}.",
            "at https://anonymous.4open.science/r/dvpd_demo-E630.",
        ),
        (r"in \href{https://a.example/x}{the repository}", "in the repository"),
        (r"as \citep{bousquet_theory_2021} show", "as (bousquet_theory_2021) show"),
        (r"The system \method outperforms \mathlib{}", "The system method outperforms mathlib"),
        (r"na\"ive M\"untz-Sz\'asz, Poincar\'e, Fr\'echet, {\'e}, \c{c}", "naïve Müntz-Szász, Poincaré, Fréchet, é, ç"),
        (r"M\textbf{A}GIC {BERT} 55{,}545", "MAGIC BERT 55,545"),
        (r"0<p<1 and x &lt; y &amp; z", "0<p<1 and x < y & z"),
        ("the set {0, 1} of A* search and C*-algebras", "the set {0, 1} of A* search and C*-algebras"),
        ("available [here](https://a.example/x)", "available here (https://a.example/x)"),
        ("see ![a plot](http://evil.example/x.png)", "see a plot (http://evil.example/x.png)"),
        ("[x](javascript:alert(1))", "x (javascript:alert(1))"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        (r"\textbf{unclosed", r"\textbf{unclosed"),
        ("**Variance Driven Exploration, a", "**Variance Driven Exploration, a"),
        (r"costs \$0.04", "costs $0.04"),
        ("private\ntraining data", "private training data"),
        (r"a $\frac{1}{2}$ b", r"a $\frac{1}{2}$ b"),
    ],
)
def test_what_a_reader_sees(text: str, shown: str) -> None:
    assert visible(text).replace("\xa0", " ") == shown
    tiles(text)


@pytest.mark.parametrize(
    ("text", "styles"),
    [
        ("the *softmax* function", [("softmax", "em")]),
        (r"propose **$\phi$-balancing**, a", [(r"\phi", "strong"), ("-balancing", "strong")]),
        (r"\textbf{bold \emph{both}}", [("bold ", "strong"), ("both", "em+strong")]),
        (r"{\bf Partial Scan} and {\em static}", [("Partial Scan", "strong"), ("static", "em")]),
        (r"\underline{D}uality of \texttt{code}", [("D", "underline"), ("code", "code")]),
        ("*with $f^*$ inside*", [("with ", "em"), ("f^*", "em"), (" inside", "em")]),
        ("snake_case_name and _emph_", [("emph", "em")]),
        ("<i>one</i> <b>two</b>", [("one", "em"), ("two", "strong")]),
        ("__**first**__", [("first", "strong")]),
    ],
)
def test_emphasis(text: str, styles: list[tuple[str, str]]) -> None:
    assert styled(text) == styles
    tiles(text)


def test_an_empty_line_is_a_break_and_so_is_the_next_item_of_a_list() -> None:
    assert [part.kind for part in segments("one\n\ntwo\n- three")] == ["text", "break", "text", "break", "text"]


def test_the_sample_reads_without_any_markup_left(sample_file: Path) -> None:
    for line in sample_file.read_text(encoding="utf-8").splitlines():
        paper = json.loads(line)
        for text in (paper["title"], paper["abstract"]):
            tiles(text)
            words = "".join(part.shown for part in segments(text) if part.kind == "text" and "http" not in part.shown)
            assert not set(words) & set("\\*{}`$"), words


@given(st.text(alphabet="$\\*_`~<>&{}[]()!-\n ab1;ibe'\"\x00", max_size=80))
def test_segments_tile_any_text(text: str) -> None:
    tiles(text)


@pytest.mark.parametrize(
    "unit",
    ["*", "a", "\\textbf{", "$", "{", "<i>", "``", "[a](", "*a ", "_a ", "\\[", "$a ", "&", "`a ", "http://", "<p "],
)
def test_fifty_kilobytes_of_anything_are_read_in_a_moment(unit: str) -> None:
    text = unit * (50_000 // len(unit))
    started = time.perf_counter()
    tiles(text)
    assert time.perf_counter() - started < 5
