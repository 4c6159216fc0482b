"""A field as read to a field as stored.

In: a title, an abstract or a name from a source. Out: the same text but for line ends, outer white space, the
wrapping mark-up of a format and mojibake that can be undone with certainty; and what was repaired, in words.
LaTeX and HTML inside the text stay: spans refer to what is stored here, and the search text is derived elsewhere.
Not known here: readers, papers.
"""

import re

import ftfy

_WRAPPER = re.compile(r"^\s*<(p|abstract|jats:p)>(.*)</\1>\s*$", re.DOTALL | re.IGNORECASE)
_UNSTORABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def clean(text: str) -> tuple[str, tuple[str, ...]]:
    """The text to store, and the repairs made: "mojibake", "wrapping mark-up", "control characters"."""
    repairs: list[str] = []
    cleaned = text.replace("\r\n", "\n").replace("\r", "\n")
    without = _UNSTORABLE.sub("", cleaned)
    if without != cleaned:
        repairs.append("control characters")
    unwrapped = without
    while (inner := _WRAPPER.match(unwrapped)) and f"<{inner[1]}>" not in inner[2]:
        unwrapped = inner[2]
    if unwrapped != without:
        repairs.append("wrapping mark-up")
    fixed = unwrapped if unwrapped.isascii() else ftfy.fix_encoding(unwrapped)
    if fixed != unwrapped:
        repairs.append("mojibake")
    return fixed.strip(), tuple(repairs)


def line(text: str) -> str:
    """A field of one line: cleaned, with single spaces."""
    return " ".join(clean(text)[0].split())
