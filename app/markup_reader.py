r"""Cuts a text into segments by rules, each for the character that it begins with.

In: a text and rules. Out: segments that tile the text.
Formulas are masked before any rule looks, so that no mark is closed inside a formula.
Not known here: the rules.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from app.markup_formulas import Formula, find_formulas

Kind = Literal["text", "math", "display", "break"]
Styles = frozenset[str]
MASK = "\x00"  # stands for each character of a formula
LONGEST = 1500  # characters between an opening mark and its closing one
_DEEPEST = 8  # marks within marks


@dataclass(frozen=True)
class Segment:
    """The characters [start, end) of a text. `shown` is what a reader sees of them: "" for mark-up, the TeX without
    its delimiters for a formula. `styles` are of: strong, em, underline, code, caps, sub, sup. A verbatim segment
    shows its characters as they are, so it may be cut anywhere; any other is shown whole or not at all."""

    start: int
    end: int
    shown: str
    kind: Kind = "text"
    styles: Styles = frozenset()
    is_verbatim: bool = False


class Reader:
    """Reads one text. A rule gets the reader, a place, the end of what may be read, and the styles there. It adds
    segments from the place on and returns where they end; the place itself where its character means nothing."""

    def __init__(self, text: str, rules: "Mapping[str, Rule]", special: re.Pattern[str]) -> None:
        """`special` finds the next place at which a rule may apply."""
        self.text = text
        self.found: list[Segment] = []
        self.formulas: dict[int, Formula] = {found.start: found for found in find_formulas(text)}
        self.masked = _masked(text, self.formulas)
        self.groups = _groups(self.masked)
        self._rules = rules
        self._special = special
        self._depth = 0

    def closing_brace(self, at: int, end: int) -> int | None:
        """Where the group closes that opens at `at`."""
        closing = self.groups.get(at)
        return closing if closing is not None and closing < min(end, at + LONGEST) else None

    @property
    def may_nest(self) -> bool:
        return self._depth < _DEEPEST

    def scan(self, at: int, end: int, styles: Styles) -> int:
        """Add the segments of [at, end)."""
        plain = at
        while special := self._special.search(self.masked, at, end):
            at = special.start()
            rule = self._rules.get(self.masked[at])
            self.add(plain, at, styles)
            after = rule(self, at, end, styles) if rule else at
            plain = after
            at = after if after > at else special.end()
        return self.add(plain, end, styles)

    def add(self, start: int, end: int, styles: Styles, shown: str | None = None, kind: Kind = "text") -> int:
        """Add one segment, shown as it is written unless told; text goes on where the text before it ended."""
        if end <= start:
            return end
        if shown is not None:
            self.found.append(Segment(start, end, shown, kind, styles))
            return end
        last = self.found[-1] if self.found else None
        if last is not None and last.is_verbatim and last.styles == styles:
            start = last.start
            self.found.pop()
        self.found.append(Segment(start, end, self.text[start:end], "text", styles, is_verbatim=True))
        return end

    def inside(
        self, at: int, start: int, end: int, closed: int, styles: Styles, around: tuple[str, str] = ("", "")
    ) -> int:
        """Add an opening mark [at, start), what it holds, and a closing mark [end, closed)."""
        self.add(at, start, styles, around[0])
        self._depth += 1
        self.scan(start, end, styles)
        self._depth -= 1
        return self.add(end, closed, styles, around[1])


Rule = Callable[[Reader, int, int, Styles], int]


def _masked(text: str, formulas: Mapping[int, Formula]) -> str:
    parts, at = [], 0
    for start, formula in formulas.items():
        parts += [text[at:start].replace(MASK, " "), MASK * (formula.end - start)]
        at = formula.end
    return "".join([*parts, text[at:].replace(MASK, " ")])


_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)


def _groups(text: str) -> dict[int, int]:
    """The place of each opening brace that is closed, and of the brace that closes it."""
    groups: dict[int, int] = {}
    opened: list[int] = []
    for brace in _BRACE.finditer(text):
        if brace[0] == "{":
            opened.append(brace.start())
        elif brace[0] == "}" and opened:
            groups[opened.pop()] = brace.start()
    return groups
