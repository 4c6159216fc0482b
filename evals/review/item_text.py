"""An item of what people said of answers, as lines for a terminal.

In: an item, a way to look up papers. Out: lines without characters that could move a terminal's cursor: they come from
anybody.
Not known here: what is asked about it, where it is from.
"""

from collections.abc import Callable

from app.feedback import Noted
from evals.review.personal import find_personal
from vectorstore.paper import Paper

Lookup = Callable[[str], Paper | None]

_SHOWN = 1000  # characters of one text


def shown(noted: Noted, lookup: Lookup | None = None) -> str:
    """What was asked, answered, cited and said; ids are named as unknown where a `lookup` does not know them."""
    rows = [("question", noted.question)]
    if noted.standalone_question != noted.question:
        rows.append(("read as", noted.standalone_question))
    rows += [("before", f"{turn.role}: {turn.content}") for turn in noted.history]
    rows.append((noted.status, f"({noted.route}) {noted.text}"))
    for id in noted.cited:
        paper = lookup(id) if lookup else None
        rows.append(
            ("cited", f"{id}  {paper.label}" if paper else id if lookup is None else f"{id}  (not in the index)")
        )
        rows += [("  quoted", quote.quote) for quote in noted.quotes if quote.paper_id == id]
    if noted.comment:
        rows.append(("comment", noted.comment))
    texts = (noted.question, noted.comment, *(turn.content for turn in noted.history))
    personal = [f"{found.kind} {found.text}" for text in texts for found in find_personal(text)]
    if personal:
        rows.append(("personal?", "; ".join(personal)))
    head = f"{noted.kind.replace('_', ' ')}, {visible(noted.time)}"
    return "\n".join([head, *(f"  {name:<10} {visible(text)}" for name, text in rows)])


def visible(text: str) -> str:
    """`text` on one line, shortened, with control characters spelled out."""
    cut = text if len(text) <= _SHOWN else text[:_SHOWN] + f"… ({len(text):,} characters)"
    return "".join(
        c if c.isprintable() else " " if c.isspace() else c.encode("unicode_escape").decode() for c in cut
    ).strip()
