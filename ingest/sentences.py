"""An abstract to the spans of its sentences.

In: an abstract as published. Out: [start, end) character spans, in order, disjoint, without outer white space,
that together cover every other character.
Not known here: papers, embedding.
"""

import re

from sentencex import get_sentence_boundaries

# What must not end a sentence is masked by letters of the same length, so that the spans still fit the original.
_MASKED = re.compile(
    r"\$\$.*?\$\$|\$(?=\S)[^$\n]{0,300}?[^$\s]\$(?!\d)|\\\[.*?\\\]|\\\(.*?\\\)"  # mathematics, not two prices
    r"|https?://[^\s{}]*[^\s{}.,;:)\]]"  # addresses, without the full stop that ends their sentence
    r"|\\[A-Za-z]+\{[^{}]*\}"  # macros
    r"|\b(?:e\.g|i\.e|et al|cf|vs|w\.r\.t|resp|approx|a\.k\.a|viz|No|Dr)\."
    r"|\b(?:Eq|Eqs|Fig|Figs|Sec|Tab|Thm|Lem|Prop|Def|Ref)\.",
    re.DOTALL,
)


# A list mark ("2.", "(iii)") belongs to what follows it.
_LIST_MARK = re.compile(r"\W*(?:\d{1,2}|[ivx]{1,4}|[a-zA-Z])\W*")
_LINE_BREAKS = re.compile(r"(?:\n[ \t]*)+(?P<mark>(?:[-*•]|\(?\d{1,2}[.)])\s)?")
# Where an enumeration goes on inside a sentence ("We give: 1. speed"), its mark opens the next piece.
_MARK_AT_END = re.compile(r"(?:(?<=[:;,])|(?<=\band))\s+(?=\(?\d{1,2}[.)]\s*$)")
# Inside unbalanced quotation marks or brackets sentencex ends no sentence; there this plain rule decides.
_LONG = 350
_PLAIN_END = re.compile(r"(?<=[.!?])[\"'”’)*]*\s+(?=[\"'“‘(*$\\]*[A-Z])")


def sentence_spans(abstract: str) -> list[tuple[int, int]]:
    """Spans of the sentences of `abstract` (English rules, which also end a sentence at 。！？)."""
    masked = _MASKED.sub(lambda found: "x" * len(found.group()), abstract)
    masked = _LINE_BREAKS.sub(_unwrapped, masked)
    spans: list[tuple[int, int]] = []
    mark: int | None = None
    for start, end in _boundaries(masked):
        start, end = _trimmed(abstract, start if mark is None else mark, end)
        mark = start if _LIST_MARK.fullmatch(abstract, start, end) else None
        if mark is None and start < end:
            spans.append((start, end))
    if mark is not None:
        spans.append(_trimmed(abstract, mark, len(abstract)))
    return spans


def _unwrapped(breaks: re.Match[str]) -> str:
    """A single line break as spaces; an empty line, or a break before a list mark, as it is."""
    text = breaks.group()
    return text if breaks["mark"] or text.count("\n") > 1 else " " * len(text)


def _boundaries(masked: str) -> list[tuple[int, int]]:
    cuts: list[tuple[int, int]] = []
    for found in get_sentence_boundaries("en", masked):
        start, end = found["start_index"] if not cuts else cuts[-1][1], found["end_index"]
        if end - start > _LONG:
            for inner in _PLAIN_END.finditer(masked, start, end):
                cuts.append((start, inner.end()))
                start = inner.end()
        moved = _MARK_AT_END.search(masked, start, end)
        cuts.append((start, moved.end() if moved else end))
    if cuts and cuts[-1][1] < len(masked):
        cuts.append((cuts[-1][1], len(masked)))
    return cuts


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    if not piece.strip():
        return end, end
    return start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())
