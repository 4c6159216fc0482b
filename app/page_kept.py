"""A conversation as the browser keeps it: the server holds nothing of it, so no two can mix and a restart loses none.

In: JSON from a browser, which may be anything. Out: questions with their answers; the turns that follow-ups refer to.
Not known here: HTML, how a browser stores it.
"""

from collections.abc import Sequence

from pydantic import TypeAdapter, ValidationError

from app.answer import Answer, Record, Turn

MOST = 25  # exchanges; older ones are dropped
LARGEST = 800_000  # characters of JSON


class Exchange(Record):
    """A question and its answer; None where it was stopped. `alone`: it was asked without what came before."""

    question: str
    answer: Answer | None = None
    alone: bool = False


_EXCHANGES = TypeAdapter(tuple[Exchange, ...])
_LEFT_OUT = {"__all__": {"answer": {"retrieved": True, "timings_ms": True}}}


def read_kept(stored: str | None) -> tuple[Exchange, ...]:
    """The conversation in `stored`; none when it can't be read, as after an update."""
    if not stored or len(stored) > LARGEST:
        return ()
    try:
        return _EXCHANGES.validate_json(stored)[-MOST:]
    except ValidationError:
        return ()


def write_kept(kept: Sequence[Exchange]) -> str:
    """JSON for `read_kept`, without the oldest exchanges where it would be too large."""
    kept = tuple(kept[-MOST:])
    while len(stored := _EXCHANGES.dump_json(kept, exclude=_LEFT_OUT).decode()) > LARGEST:
        kept = kept[1:]
    return stored


def history(kept: Sequence[Exchange]) -> list[Turn]:
    """The turns before the next question. A refusal without sources gives a follow-up nothing to refer to."""
    turns = []
    for exchange in kept:
        answer = exchange.answer
        if answer is not None and (answer.status == "answered" or answer.papers):
            turns.append(Turn(role="user", content=exchange.question))
            cited = tuple(paper.id for paper in answer.papers)
            turns.append(Turn(role="assistant", content=answer.text, papers=cited))
    return turns
