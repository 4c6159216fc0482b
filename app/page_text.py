"""Published text as HTML: everything escaped, formulas as MathML, spans of the stored text marked.

In: text as published, the part of it to show, spans to mark. Out: HTML that holds no link, no image, no script and
no attribute that comes from the text.
Not known here: papers, answers, where on the page it goes.
"""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from app.markup import segments
from app.markup_reader import Segment
from app.page_mathml import mathml

_ELEMENTS = {"strong": "strong", "em": "em", "underline": "u", "code": "code", "sub": "sub", "sup": "sup"}
_LONG = 28  # characters of TeX that may not fit on a narrow screen
# Control characters, and those that turn the direction of the text around them (U+202E).
_UNSHOWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff]")


@dataclass(frozen=True)
class Mark:
    """The characters [start, end) of a text, to be highlighted as the element `id`; `after` is HTML put behind it."""

    start: int
    end: int
    id: str
    after: str = ""


def escape(text: object) -> str:
    """`text` as HTML text or attribute value, without control characters."""
    return html.escape(_UNSHOWN.sub("", str(text)))


def text_html(text: str, start: int = 0, end: int | None = None, marks: Sequence[Mark] = ()) -> str:
    """[start, end) of `text`, with `marks`. A span that cuts through something shown whole (a formula, an escape)
    takes it in."""
    end = len(text) if end is None else end
    edges = sorted({start, end, *(edge for mark in marks for edge in (mark.start, mark.end))})
    pieces = [piece for segment in segments(text) for piece in _cut(segment, edges) if _overlap(piece, start, end)]
    shown = []
    for marked, run in groupby(pieces, key=lambda piece: _first(marks, piece)):
        inner = "".join(_piece_html(piece, text) for piece in run)
        shown.append(inner if marked is None else _marked_html(marked, inner))
    return "".join(shown)


def _overlap(piece: Segment, start: int, end: int) -> bool:
    return piece.start < end and piece.end > start


def _first(marks: Sequence[Mark], piece: Segment) -> Mark | None:
    return next((mark for mark in marks if _overlap(piece, mark.start, mark.end)), None)


def _marked_html(mark: Mark, inner: str) -> str:
    return f'<mark id="{escape(mark.id)}" tabindex="-1">{inner}</mark>{mark.after}'


def _cut(segment: Segment, edges: Sequence[int]) -> Iterator[Segment]:
    """The segment, cut at the edges where it may be cut."""
    if not segment.is_verbatim:
        yield segment
        return
    places = [segment.start, *(edge for edge in edges if segment.start < edge < segment.end), segment.end]
    for start, end in pairwise(places):
        shown = segment.shown[start - segment.start : end - segment.start]
        yield Segment(start, end, shown, "text", segment.styles, is_verbatim=True)


def _piece_html(piece: Segment, text: str) -> str:
    if piece.kind == "break":
        return '<br class="gap">'
    if not piece.shown:
        return ""
    inner = escape(piece.shown) if piece.kind == "text" else _formula_html(piece, text[piece.start : piece.end])
    for style in sorted(piece.styles):
        element = _ELEMENTS.get(style)
        inner = f"<{element}>{inner}</{element}>" if element else f'<span class="{style}">{inner}</span>'
    return inner


def _formula_html(piece: Segment, written: str) -> str:
    """A formula; as it was written where it can't be drawn."""
    is_display = piece.kind == "display"
    drawn = mathml(piece.shown, is_display)
    if drawn is None:
        return f'<span class="tex">{escape(written)}</span>'
    kind = "formula display" if is_display else "formula long" if len(piece.shown) > _LONG else "formula"
    return f'<span class="{kind}">{drawn}</span>'
