"""What is repaired in a field, and what must stay as it was published."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.clean import clean, line


@pytest.mark.parametrize(
    ("read", "stored", "repairs"),
    [
        ("One.\r\nTwo.\rThree.", "One.\nTwo.\nThree.", ()),
        ("  \n One. \t\n", "One.", ()),
        ("One\x00 two\x07.", "One two.", ("control characters",)),
        ("bad \ud83d half", "bad  half", ("control characters",)),
        ("<p>One.</p>", "One.", ("wrapping mark-up",)),
        (" <P>\nOne.\n</P> ", "One.", ("wrapping mark-up",)),
        ("<abstract><p>One.</p></abstract>", "One.", ("wrapping mark-up",)),
        ("<jats:p>One.</jats:p>", "One.", ("wrapping mark-up",)),
        ("naÃ¯ve modelâ€™s", "naïve model’s", ("mojibake",)),
        ("<p>naÃ¯ve\x00</p>", "naïve", ("control characters", "wrapping mark-up", "mojibake")),
        ("", "", ()),
    ],
)
def test_repairs_are_made_and_named(read: str, stored: str, repairs: tuple[str, ...]) -> None:
    assert clean(read) == (stored, repairs)


@pytest.mark.parametrize(
    "text",
    [
        "We show $\\phi(x) \\leq \\frac{1}{2}$ and \\textbf{bold} \\& 5\\%.",
        "<p>One.</p><p>Two.</p>",
        "H<sub>2</sub>O &amp; <b>x</b>",
        "<p>unclosed",
        "a < b and b > c",
        "naïve café, Erdős, 论文, 😀, “quotes” — dash",
        "One.\n\nTwo.\tTabbed.",
        "Two  spaces",
    ],
)
def test_what_was_published_stays(text: str) -> None:
    assert clean(text) == (text, ())


def test_a_line_has_single_spaces() -> None:
    assert line("  A\n title\t of  \r\n two lines ") == "A title of two lines"


@given(st.text())
def test_cleaning_never_fails_leaves_nothing_unstorable_and_is_done_once(text: str) -> None:
    stored, _ = clean(text)
    stored.encode()
    assert "\r" not in stored
    assert "\x00" not in stored
    assert stored == stored.strip()
    assert clean(stored)[0] == stored


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126)))
def test_plain_ascii_loses_nothing_but_its_wrapper(text: str) -> None:
    stored, repairs = clean(text)
    assert stored == text.strip() or repairs == ("wrapping mark-up",)
