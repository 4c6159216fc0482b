r"""Published text as a reader should see it: emphasis without asterisks, "%" without its backslash, formulas marked.

In: a title, an abstract or a name as published, with its LaTeX, Markdown and HTML. Out: segments that tile the text,
each with what is shown of it, so that a span of the stored text can be found again in what is shown.
What is not understood is shown as it is written. Nothing here makes a link or an element of anything in the text.
Not known here: what a formula or an emphasis looks like on a page.
"""

import re
from functools import lru_cache

from app import markup_latex, markup_marks
from app.markup_reader import Reader, Segment

_RULES = {**markup_marks.RULES, **markup_latex.RULES}
_SPECIAL = re.compile(r"https?://|[\\*_`~<&{\[\n\x00]|!(?=\[)|--")


@lru_cache(maxsize=1024)
def segments(text: str) -> tuple[Segment, ...]:
    """`text`, cut into segments that follow one another without a gap."""
    reader = Reader(text, _RULES, _SPECIAL)
    reader.scan(0, len(text), frozenset())
    return tuple(reader.found)


def visible(text: str) -> str:
    """`text` as plain words on one line; a formula is its TeX between dollar signs."""
    parts = (f"${part.shown}$" if part.kind in ("math", "display") else part.shown for part in segments(text))
    return " ".join("".join(parts).split())
