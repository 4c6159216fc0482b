"""A conversation as HTML and as the browser keeps it."""

import re
from typing import Any

import pytest

from app.answer import Answer, CitedPaper, PaperCard, Quote, Refusal, Sentence
from app.assistant import Assistant
from app.page_cards import cards_html, quotes_of
from app.page_examples import find_examples
from app.page_kept import LARGEST, MOST, Exchange, history, read_kept, write_kept
from app.page_stream import answering, past_html, stopped
from app.page_turn import answer_html
from vectorstore.paper import Paper

QUESTION = "What is QuantumBoost?"
PAPER = Paper(
    id="p1",
    title="On $x$",
    abstract=r"We **propose $\phi$-bal. It saves** 35\% of time. The end.",
    authors=("Ann <b>Lee</b>",),
    url="javascript:alert(1)",
    venue="ICML",
    year=2026,
    decision="oral",
)


def quote(text: str, **fields: Any) -> Quote:
    start = PAPER.abstract.index(text)
    return Quote(**{"paper_id": "p1", "start": start, "end": start + len(text), "quote": text, **fields})


def answered(*quotes: Quote, **fields: Any) -> Answer:
    sentences = tuple(Sentence(text=q.quote, citations=(1,), evidence=(q,)) for q in quotes)
    made = {
        "question": "q", "standalone_question": "q", "status": "answered", "route": "fact", "text": "t [1]",
        "sentences": sentences, "papers": (CitedPaper.cited(1, PAPER),), "corpus": "c",
    }  # fmt: skip
    return Answer(**{**made, **fields})


def lookup(name: str) -> Paper | None:
    return PAPER if name == "p1" else None


@pytest.fixture(scope="module")
def spoken(cheap: Assistant) -> Answer:
    return cheap.ask(QUESTION)


def test_a_conversation_comes_back_as_it_was_kept(spoken: Answer) -> None:
    kept = (Exchange(question=QUESTION, answer=spoken), Exchange(question="stopped"))
    back = read_kept(write_kept(kept))
    assert [exchange.question for exchange in back] == [QUESTION, "stopped"]
    assert back[0].answer is not None
    assert back[0].answer.sentences == spoken.sentences
    assert back[0].answer.model_dump()["papers"] == spoken.model_dump()["papers"]


@pytest.mark.parametrize(
    "stored", ["", None, "{", "[1]", '[{"question": 1}]', '[{"question": "q", "other": 1}]', "null"]
)
def test_anything_else_is_no_conversation(stored: str | None) -> None:
    assert read_kept(stored) == ()


def test_a_long_conversation_loses_its_oldest_part(spoken: Answer) -> None:
    long = [Exchange(question=f"{n} " + "x" * 50_000, answer=spoken) for n in range(MOST + 5)]
    stored = write_kept(long)
    assert len(stored) <= LARGEST
    assert read_kept(stored)[-1].question.startswith(f"{MOST + 4} ")


def test_follow_ups_refer_to_answers_with_their_papers_and_not_to_bare_refusals(spoken: Answer) -> None:
    refused = answered(
        sentences=(), papers=(), status="refused", refusal=Refusal(reason="off_topic", message="No."), text="No."
    )
    kept = [
        Exchange(question=QUESTION, answer=spoken),
        Exchange(question="hotel", answer=refused),
        Exchange(question="?"),
    ]
    turns = history(kept)
    assert [turn.role for turn in turns] == ["user", "assistant"]
    assert turns[1].papers == tuple(paper.id for paper in spoken.papers)


def test_a_sentence_is_rendered_from_the_stored_text_and_numbered() -> None:
    shown = answer_html(3, answered(quote(r"It saves** 35\% of time.")), lookup)
    assert '<strong>It saves</strong> 35% of time.<span class="cites">' in shown
    assert 'data-card="t3-c1" data-mark="t3-m0-0"' in shown
    assert 'id="t3-s0"' in shown


def test_left_out_words_are_shown_as_such() -> None:
    quotes = (quote("We **propose"), quote("The end."))
    sentence = Sentence(text="We **propose […] The end.", citations=(1,), evidence=quotes)
    shown = answer_html(0, answered(sentences=(sentence,)), lookup)
    assert "[…]" in shown


def test_a_card_marks_every_quote_and_leads_back_to_its_sentence() -> None:
    shown = cards_html(2, answered(quote("The end."), quote(r"It saves** 35\% of time.")), lookup)
    assert (
        '<mark id="t2-m0-0" tabindex="-1">The end.</mark><button type="button" class="back" data-sentence="t2-s0"'
        in shown
    )
    assert re.search(r'<mark id="t2-m1-0" tabindex="-1"><strong>It saves</strong> 35% of time\.</mark>', shown)


def test_a_card_links_only_to_an_address_on_the_web_and_escapes_names() -> None:
    shown = cards_html(0, answered(quote("The end.")), lookup)
    assert "<a " not in shown
    assert "<b>" not in shown
    assert '<span class="decision">oral</span>' in shown


def test_a_quote_that_moved_is_found_by_its_text_and_one_that_is_gone_is_not_marked() -> None:
    moved = quote("The end.", start=0, end=8)
    gone = Quote(paper_id="p1", start=0, end=4, quote="Gone")
    assert [PAPER.abstract[q.start : q.end] for q in quotes_of(0, answered(moved, gone), PAPER)] == ["The end."]


def test_a_paper_that_is_no_longer_there_keeps_its_card() -> None:
    shown = cards_html(0, answered(quote("The end.")), lambda _: None)
    assert "The abstract is not shown here" in shown


def test_a_refusal_shows_the_nearest_papers() -> None:
    answer = answered(
        sentences=(), papers=(), nearest=(PaperCard.of(PAPER),), status="refused",
        refusal=Refusal(reason="not_in_corpus", message="None of the 1 papers."), text="None of the 1 papers.",
    )  # fmt: skip
    assert 'class="open-card" data-card="t0-c1"' in answer_html(0, answer, lookup)
    assert "Nearest papers" in cards_html(0, answer, lookup)


def test_the_cards_come_before_the_first_sentence_and_sentences_come_whole(cheap: Assistant) -> None:
    steps = list(answering((), QUESTION, cheap))
    shown = [step.turn.count('class="sentence') for step in steps]
    assert shown == sorted(shown)
    first = next(step for step in steps if step.cards)
    assert 'class="card"' in str(first.cards)
    assert 'class="sentence' not in first.turn
    assert all(step.turn.count("<math") == step.turn.count("</math>") for step in steps)
    assert [step.is_last for step in steps] == [False] * (len(steps) - 1) + [True]
    assert steps[-1].kept is not None
    assert len(steps[-1].kept) == 1


def test_what_cannot_be_asked_is_said_and_not_kept(cheap: Assistant) -> None:
    *_, last = answering((), "x" * 5000, cheap)
    assert "at most 4,000 are taken" in last.turn
    assert last.kept is None
    assert last.is_last


def test_a_stopped_question_stays_in_the_conversation(cheap: Assistant) -> None:
    step = stopped((), QUESTION)
    assert step.kept == (Exchange(question=QUESTION),)
    turns, cards = past_html(step.kept or (), cheap)
    assert "Stopped" in turns
    assert cards == ""


def test_example_questions_are_of_this_corpus_and_are_answered(cheap: Assistant) -> None:
    examples = find_examples(cheap)
    assert 2 <= len(examples) <= 4
    assert len(set(examples)) == len(examples)
    assert all(cheap.ask(question).status == "answered" for question in examples)
    assert find_examples(cheap) == examples
