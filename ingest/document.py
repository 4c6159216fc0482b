"""A source's content as text, on its way from a place (sources/) to a reader (readers/).

In: nothing. Out: the type both sides share.
Not known here: where it came from, what format it is in.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Document:
    """The text of one file or download.

    `source` is the name its records are kept under: an absolute path, an address, "icml:2026" or "stdin".
    `notes` tell a person what had to be assumed to get the text, such as an encoding or a copy that may be old.
    """

    source: str
    text: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Skipped:
    """Something in a source that is no paper: its line (from 1; 0 is the whole source) and why it was left out."""

    source: str
    line: int
    reason: str
