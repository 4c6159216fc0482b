r"""Where the mathematics of a text is: `$\phi$` is a formula, "$5 and $7" is money.

In: text as published. Out: `Formula` records that hold the places of formulas, in order, none inside another.
Not known here: what a formula looks like, any other mark-up.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_LONGEST = 2000  # characters of one formula; nothing longer is taken for one

_ENVIRONMENTS = r"equation|align|gather|multline|eqnarray|displaymath|math"
_OPENING = re.compile(rf"\\\(|\\\[|\\begin\{{(?P<environment>(?:{_ENVIRONMENTS})\*?)\}}|(?P<escaped>\\.)|\$\$?", re.S)
_DOLLAR = re.compile(r"(?<!\\)(?:\\\\)*\$")
_COMMAND_OR_SCRIPT = re.compile(r"\\[A-Za-z]|[\^_]")
_SIGNS_ONLY = re.compile(r"\s*[<>=≤≥≈~+\-±×/*|∈]+\s*")
_COMMAND = re.compile(r"\\[A-Za-z]+\*?")
_GROUP = re.compile(r"\{[^{}]*\}")
_PROSE = re.compile(r"[A-Za-z]{2,},? +[A-Za-z]{2,}")
_WORD = re.compile(r"[A-Za-z]{2,}")


@dataclass(frozen=True)
class Formula:
    """The characters [start, end) of a text, delimiters and all; its TeX is [body_start, body_end)."""

    start: int
    end: int
    body_start: int
    body_end: int
    display: bool


def find_formulas(text: str) -> tuple[Formula, ...]:
    """The formulas of `text`."""
    return tuple(_formulas(text))


def is_formula(body: str, following: str = "") -> bool:
    """Whether what stands between two dollar signs is mathematics; `following` is the text behind the second.

    What has a command, a script or nothing but signs is, unless words run on in it. Anything else is not when the
    second dollar sign is followed by a digit, as that of a sum of money is, or when white space and a number or a
    word stand at its edges.
    """
    if not body.strip() or "\n\n" in body or _PROSE.search(_outside_groups(body)):
        return False
    if _COMMAND_OR_SCRIPT.search(body) or _SIGNS_ONLY.fullmatch(body):
        return True
    if following[:1].isdigit():
        return False
    trailing = body[-1].isspace()
    is_padded = trailing or body[0].isspace()
    return not (is_padded and _WORD.search(body)) and not (trailing and body.lstrip()[0].isdigit())


def _formulas(text: str) -> Iterator[Formula]:
    at = 0
    while opening := _OPENING.search(text, at):
        at = opening.end()
        if opening["escaped"] and opening[0] not in (r"\(", r"\["):
            continue
        found = _closed(text, opening)
        if found is not None:
            yield found
            at = found.end
        elif opening[0] == "$$":
            at = opening.start() + 1  # "$$" may also be an empty pair, or two sums


def _closed(text: str, opening: re.Match[str]) -> Formula | None:
    """The formula that begins at `opening`, if one does."""
    sign = opening[0]
    start, body = opening.span()
    if sign == "$":
        return _between_dollars(text, start)
    closing = {"$$": "$$", r"\(": r"\)", r"\[": r"\]"}.get(sign) or rf"\end{{{opening['environment']}}}"
    end = text.find(closing, body, body + _LONGEST)
    if end < 0 or not text[body:end].strip() or "\n\n" in text[body:end].strip():
        return None
    if sign == "$$" and not is_formula(text[body:end]):
        return None
    return Formula(start, end + len(closing), body, end, display=sign not in (r"\(",))


def _between_dollars(text: str, start: int) -> Formula | None:
    closing = _DOLLAR.search(text, start + 1, start + _LONGEST)
    if closing is None:
        return None
    end = closing.end() - 1
    if not is_formula(text[start + 1 : end], text[end + 1 : end + 2]):
        return None
    return Formula(start, end + 1, start + 1, end, display=False)


def _outside_groups(body: str) -> str:
    """`body` without its commands and what stands in braces."""
    bare = _COMMAND.sub(" \\\\ ", body)
    while (shorter := _GROUP.sub("", bare)) != bare:
        bare = shorter
    return bare
