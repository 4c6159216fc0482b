"""Published text to searchable text: what a reader sees as one word must be one term."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vectorstore.text import plain, terms

# Separated by spaces: what mark-up, terms and scripts could stumble over.
PIECES = [
    " ",
    *"\n \t \u3000 \u2028".split(" "),
    *"We $ \\phi { } ** * \\textbf{ <b> </b> < > \\% \\ ~ \\\"o \\'{e} 0.8559 37,448 论文 オフ é e\u0301 - [ ]".split(
        " "
    ),
    *"optimise 😀 \x00 _ ^ .".split(" "),
]
ENTITIES = ["&amp;", "&lt;", "&"]
MESSY = st.one_of(st.text(max_size=80), st.lists(st.sampled_from(PIECES + ENTITIES), max_size=30).map("".join))


@pytest.mark.parametrize(
    ("published", "expected"),
    [
        ("We propose **$\\phi$-balancing**, a framework", "We propose phi-balancing, a framework"),
        ("\\textbf{X} and \\emph{y} in \\mathbb{R}^d", "X and y in R^d"),
        ("a gain of $1.5\\%$ in A\\&B", "a gain of 1.5% in A&B"),
        ("see Section~3", "see Section 3"),
        ("\\textbf{D}iscrete \\underline{\\textbf{P}}rompting", "Discrete Prompting"),
        ("H<sub>2</sub>O is <i>wet</i>", "H 2 O is wet"),
        ("salt &amp; pepper", "salt & pepper"),
        ("&lt;p&gt;escaped mark-up&lt;/p&gt;", "escaped mark-up"),
        ("$3 < 5$ and $k > 2$", "3 < 5 and k > 2"),
        ("G\\\"odel, Poincar\\'e, Erd\\H{o}s, \\v{S}ar\\=a, Fran\\c{c}ois", "Godel, Poincare, Erdos, Sara, Francois"),
        ('na{\\"\\i}ve', "naive"),
        ("a\\, b\\; c", "a b c"),
        ("  spaces \t everywhere ", "spaces everywhere"),
        ("", ""),
    ],
)
def test_plain_leaves_the_words_and_takes_the_markup(published: str, expected: str) -> None:
    assert plain(published) == expected


@pytest.mark.parametrize("command", ["cdot", "rho", "varepsilon", "varphi", "upsilon", "vec", "rightarrow", "citep"])
def test_a_command_whose_name_begins_like_an_accent_keeps_its_name(command: str) -> None:
    assert plain(f"$\\{command}$") == command


def test_an_address_in_a_url_command_stays_an_address() -> None:
    assert plain("Code: \\url{https://github.com/a/b}") == "Code: https://github.com/a/b"


@pytest.mark.parametrize(
    "text",
    [
        "for $n<m$ nodes, error drops when $k>p$",
        "if a<b and c>d then",
    ],
)
def test_what_stands_between_less_and_greater_is_not_a_tag(text: str) -> None:
    assert re.findall(r"[a-z]+", plain(text)) == re.findall(r"[a-z]+", text)


def test_the_parts_of_a_fraction_are_words_of_their_own() -> None:
    assert {"1", "epsilon"} <= set(terms("$\\frac{1}{\\epsilon}$ steps"))


@given(MESSY)
def test_any_text_becomes_plain_and_terms_without_complaint(text: str) -> None:
    assert plain(text) == plain(text).strip()
    for term in terms(text):
        assert term
        assert not re.search(r"[\s_]", term)


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_plain_text_is_plain_already(text: str) -> None:
    """But for a twice escaped entity, which is once escaped afterwards."""
    assert plain(plain(text)) == plain(text)


def test_no_markup_is_left_of_the_sample(sample: Path) -> None:
    for row in map(json.loads, sample.read_text().splitlines()):
        for text in (row["title"], row["abstract"]):
            assert not re.search(r"[\\${}]|\*\*|</?[a-z]+>|&[a-z]+;", plain(text)), row["id"]


def test_every_decimal_of_the_sample_is_one_term(sample: Path) -> None:
    for row in map(json.loads, sample.read_text().splitlines()):
        decimals = re.findall(r"(?<![\w.])\d+\.\d+(?![\w.]*\d)", row["abstract"])
        assert set(decimals) <= set(terms(row["abstract"])), row["id"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Poincaré", "Poincare"),
        ("Poincaré", "Poincare\u0301"),
        ('G\\"{o}del', "Gödel"),
        ("$\\phi$-Balancing", "phi balancing"),
        ("Optimising", "optimizing"),
        ("generalisation", "generalization"),
        ("regularised", "regularized"),
        ("MODELS", "model"),
        ("lower bounds", "lower bound"),
        ("**TokenDrop**", "tokendrop"),
        ("$0.8559$", "0.8559"),
        ("mixture-of-experts", "mixture of experts"),
    ],
)
def test_two_spellings_of_a_word_are_one_term(one: str, other: str) -> None:
    assert terms(one) == terms(other) != []


@pytest.mark.parametrize(("one", "other"), [("0.8559", "0.8558"), ("precise", "precize"), ("university", "universe2")])
def test_different_words_stay_different(one: str, other: str) -> None:
    assert terms(one) != terms(other)


def test_numbers_stay_whole() -> None:
    assert terms("0.8559 of 37,448 papers, 1.5\\% and 3.") == ["0.8559", "37,448", "paper", "1.5", "3"]


def test_words_that_carry_no_topic_are_left_out() -> None:
    assert terms("What is the role of it in our model?") == ["role", "model"]


def test_one_letter_words_are_terms() -> None:
    assert terms("C and R") == ["c", "r"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("论文列表", ["论文", "文列", "列表"]),
        ("图", ["图"]),
        ("PsumQuant能降低", ["psumquant", "能降", "降低"]),
        ("ICML 2026 论文", ["icml", "2026", "论文"]),
        ("学習", ["学習"]),
        ("모델을", ["모델", "델을"]),
    ],
)
def test_cjk_text_becomes_overlapping_pairs(text: str, expected: list[str]) -> None:
    assert terms(text) == expected
