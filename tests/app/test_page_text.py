"""Text as HTML: spans marked exactly, nothing of the text becoming an element."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.page_text import Mark, escape, text_html

_TEXT = r"We **propose $\phi$-balancing. It saves** 35\% of <b>time</b>."


def words(markup: str) -> str:
    return re.sub(r"<[^<>]*>", "", markup)


def marked(text: str, start: int, end: int) -> str:
    """The words of the one marked place."""
    found = re.findall(r'<mark id="m" tabindex="-1">(.*?)</mark>', text_html(text, marks=[Mark(start, end, "m")]))
    assert len(found) == 1
    return words(found[0])


def test_a_mark_holds_what_is_shown_of_its_span() -> None:
    start = _TEXT.index("It saves")
    assert marked(_TEXT, start, start + len(r"It saves** 35\%")) == "It saves 35%"
    assert marked("plain words here", 6, 11) == "words"


def test_a_span_through_something_shown_whole_takes_it_in() -> None:
    inside = _TEXT.index("phi")
    assert marked(_TEXT, inside, inside + 8) == "ϕ-bal"


def test_emphasis_that_began_before_a_part_holds_in_it() -> None:
    start = _TEXT.index("It saves")
    assert text_html(_TEXT, start, start + 8) == "<strong>It saves</strong>"


def test_what_stands_behind_a_mark_is_put_there_once() -> None:
    shown = text_html("one two three", marks=[Mark(0, 3, "a", "<i>back</i>"), Mark(4, 7, "b")])
    assert shown == '<mark id="a" tabindex="-1">one</mark><i>back</i> <mark id="b" tabindex="-1">two</mark> three'


def test_broken_tex_is_shown_as_it_was_written() -> None:
    assert text_html(r"a $\frac{1$ b") == r'a <span class="tex">$\frac{1$</span> b'


def test_control_characters_and_turned_text_are_left_out() -> None:
    assert escape("a\x00b\u202ec\u2066d\x1b") == "abcd"


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, list[tuple[str, str | None]]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, attrs))


_ALLOWED = {"strong", "em", "u", "code", "sub", "sup", "span", "mark", "br", "math"}


def is_harmless(markup: str) -> None:
    reader = _Elements()
    reader.feed(markup)
    for tag, attributes in reader.found:
        assert tag in _ALLOWED or re.fullmatch(r"m[a-z]{1,11}", tag), tag
        assert not {name for name, _ in attributes} & {"href", "src", "style", "onerror", "onclick"}


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        '<i onclick="alert(1)">x</i>',
        "[x](javascript:alert(1))",
        "![x](http://evil.example/x.png)",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        r"$\text{<script>alert(1)</script>}$",
        r"\href{javascript:alert(1)}{x}",
        "<svg/onload=alert(1)>",
        '"><script>',
    ],
)
def test_hostile_text_is_text(text: str) -> None:
    is_harmless(text_html(text))


@given(st.text(alphabet="<>&\"'/=$\\*{}[]()! scriptmgonx:;", max_size=60), st.integers(0, 60), st.integers(0, 60))
def test_any_text_is_harmless_with_any_mark(text: str, start: int, end: int) -> None:
    is_harmless(text_html(text, marks=[Mark(start, end, "m")]))
