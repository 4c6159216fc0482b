"""What the page shows while a question is answered, step by step.

In: a conversation so far, a question, an assistant. Out: steps, each the HTML of the answer and of the cards beside
it; the last one with the conversation to keep. The cards come before the first sentence; an answer grows by whole
sentences, so that no formula is ever seen in half.
Not known here: how a browser gets them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from app.answer import Answer
from app.assistant import Assistant
from app.errors import AppError
from app.page_cards import cards_html
from app.page_feedback import no_feedback_html
from app.page_kept import Exchange, history
from app.page_turn import STOPPED, answer_html, notice_html, pending_html, turn_html
from vectorstore.errors import VectorstoreError

Under = Callable[[int, Answer, bool], str]  # what stands under a finished answer: its place, itself, asked alone

_STEPS = 6  # at most, however long the answer


@dataclass(frozen=True)
class Step:
    """The turn and its cards, None where these are as before. `kept` is the conversation with the finished exchange,
    None while it is unfinished and where it failed."""

    turn: str
    cards: str | None = ""
    kept: tuple[Exchange, ...] | None = None
    is_last: bool = False


def answering(
    kept: Sequence[Exchange], question: str, assistant: Assistant, alone: bool = False, under: Under = no_feedback_html
) -> Iterator[Step]:
    """The steps of answering `question`, on its own if it is to stand `alone`; what goes wrong on purpose is the last
    one's text."""
    place = len(kept)
    yield Step(turn_html(place, question, pending_html(), is_busy=True))
    try:
        answer = assistant.ask(question, () if alone else history(kept))
    except (AppError, VectorstoreError) as error:
        yield Step(turn_html(place, question, notice_html(str(error))), is_last=True)
        return
    cards = cards_html(place, answer, assistant.paper)
    for shown in range(min(len(answer.sentences), _STEPS)):
        inner = answer_html(place, answer, assistant.paper, shown)
        yield Step(turn_html(place, question, inner or pending_html(), is_busy=True), None if shown else cards)
    done = turn_html(place, question, answer_html(place, answer, assistant.paper) + under(place, answer, alone))
    exchange = Exchange(question=question, answer=answer, alone=alone)
    yield Step(done, None if answer.sentences else cards, (*kept, exchange), is_last=True)


def stopped(kept: Sequence[Exchange], question: str) -> Step:
    """The turn of a question that was stopped."""
    turn = turn_html(len(kept), question, notice_html(STOPPED))
    return Step(turn, "", (*kept, Exchange(question=question)), is_last=True)


def past_html(kept: Sequence[Exchange], assistant: Assistant, under: Under = no_feedback_html) -> tuple[str, str]:
    """The turns of a conversation and all their cards."""
    turns, cards = [], []
    for place, exchange in enumerate(kept):
        if exchange.answer is None:
            turns.append(turn_html(place, exchange.question, notice_html(STOPPED)))
            continue
        inner = answer_html(place, exchange.answer, assistant.paper) + under(place, exchange.answer, exchange.alone)
        turns.append(turn_html(place, exchange.question, inner))
        cards.append(cards_html(place, exchange.answer, assistant.paper))
    return "".join(turns), "".join(cards)
