"""The contract of an answer: what the record itself refuses to be, its JSON, and what holds whatever is asked."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from app.answer import Answer, CitedPaper, Conditions, Quote, Refusal, Sentence, Table, paper_json
from app.assistant import LONGEST_QUESTION, Assistant
from app.errors import EmptyQuestion, QuestionTooLong
from vectorstore.hashing import HashingEmbedder
from vectorstore.paper import Paper

PAPERS = [Paper(id=f"p-{n}", title=f"Paper {n}", abstract=f"Sentence of paper {n}.") for n in (1, 2, 3)]


def sentence(*citations: int, **changed: Any) -> Sentence:
    quotes = tuple(Quote(paper_id=f"p-{n}", start=0, end=20, quote=f"Sentence of paper {n}.") for n in citations)
    text = " […] ".join(quote.quote for quote in quotes)
    return Sentence(**{"text": text, "citations": citations, "evidence": quotes, **changed})


def answer(*sentences: Sentence, papers: tuple[int, ...] = (), **changed: Any) -> Answer:
    cited = tuple(CitedPaper.cited(n, PAPERS[n - 1]) for n in papers)
    plain = {"question": "q", "standalone_question": "q", "status": "answered", "route": "fact", "text": "t"}
    return Answer(**{**plain, "corpus": "c", "sentences": sentences, "papers": cited, **changed})


def refused(reason: str) -> dict[str, Any]:
    return {"status": "refused", "refusal": Refusal(reason=reason, message="no")}  # type: ignore[arg-type]


# What the record accepts and what it does not


def test_papers_are_the_cited_ones_in_order_of_first_mention() -> None:
    made = answer(sentence(1), sentence(2, 1), sentence(3), papers=(1, 2, 3))
    assert [paper.id for paper in made.papers] == ["p-1", "p-2", "p-3"]


@pytest.mark.parametrize(
    ("sentences", "papers"),
    [
        ([(1,), (2,)], (1,)),  # cites a paper that is not served
        ([(1,)], (1, 2)),  # serves a paper that is not cited
        ([], (1,)),
        ([(2,), (1,)], (1, 2)),  # numbered, but not in order of first mention
        ([(2,), (1,)], (2, 1)),
        ([(1,), (3,)], (1, 3)),  # a number is left out
        ([(2,)], (2,)),  # does not start at 1
        ([(0,)], ()),
    ],
)
def test_other_papers_than_the_cited_ones_are_rejected(
    sentences: list[tuple[int, ...]], papers: tuple[int, ...]
) -> None:
    with pytest.raises(ValidationError):
        answer(*(sentence(*citations) for citations in sentences), papers=papers)


def test_the_same_paper_served_twice_is_rejected() -> None:
    with pytest.raises(ValidationError):
        answer(sentence(1), papers=(1, 1))


def test_a_sentence_needs_a_citation_and_evidence() -> None:
    with pytest.raises(ValidationError):
        sentence(1, citations=())
    with pytest.raises(ValidationError):
        sentence(1, evidence=())


def test_a_refusal_goes_with_being_refused() -> None:
    assert answer(**refused("off_topic")).refusal is not None
    with pytest.raises(ValidationError):
        answer(status="refused")
    with pytest.raises(ValidationError):
        answer(sentence(1), papers=(1,), refusal=Refusal(reason="off_topic", message="no"))


@pytest.mark.parametrize("reason", ["off_topic", "not_in_corpus", "empty_corpus", "needs_model"])
def test_a_refusal_quotes_nothing(reason: str) -> None:
    with pytest.raises(ValidationError):
        answer(sentence(1), papers=(1,), **refused(reason))


def test_only_a_missing_detail_may_be_refused_beside_the_paper_asked_about() -> None:
    assert answer(sentence(1), papers=(1,), **refused("not_in_abstract")).papers[0].id == "p-1"


def test_a_refusal_serves_no_papers_through_a_table_either() -> None:
    with pytest.raises(ValidationError):
        answer(papers=(1,), table=Table(papers=(1,), rows=()), **refused("off_topic"))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("status", "maybe"),
        ("route", "essay"),
        ("unknown", 1),
        ("refusal", {"reason": "bored", "message": "no"}),
        ("retrieved", [{"id": "p-1", "rank": 1, "score": 0.5, "found_by": [], "extra": 1}]),
    ],
)
def test_words_outside_the_contract_are_rejected(field: str, value: object) -> None:
    with pytest.raises(ValidationError):
        answer(**{field: value})


def test_a_quoted_sentence_is_its_quotes() -> None:
    with pytest.raises(ValidationError):
        answer(sentence(1, text="Something else."), papers=(1,))


def test_a_sentence_quotes_the_papers_it_cites() -> None:
    foreign = Quote(paper_id="p-2", start=0, end=20, quote="Sentence of paper 2.")
    with pytest.raises(ValidationError):
        answer(sentence(1, text=foreign.quote, evidence=(foreign,)), papers=(1,))


def test_an_answer_says_something() -> None:
    with pytest.raises(ValidationError):
        answer(text="")


def test_records_do_not_change() -> None:
    with pytest.raises(ValidationError):
        answer().text = "other"  # type: ignore[misc]


# Its JSON, in full shape, over the sample

QUESTIONS = {
    "fact": "What certified lower bound on the Steiner ratio was found?",
    "find": "I recall a paper that skips the backward pass of uninformative tokens",
    "topic": "Which papers are about mixture-of-experts?",
    "define": "What is TokenDrop?",
    "summary": "Summarize QuantumBoost",
    "compare": "PrivCode++ vs PISA: what does each protect?",
    "meta": "How many papers are there?",
    "smalltalk": "Hello, how are you?",
}
REFUSED = {
    "off_topic": "hello!",
    "not_in_corpus": "What datasets does QuokkaNet use?",
    "not_in_abstract": "What learning rate does TokenDrop use?",
}


@pytest.mark.parametrize(("route", "question"), QUESTIONS.items())
@pytest.mark.parametrize("name", ["cheap", "real"])
def test_every_kind_of_answer_keeps_the_contract(
    route: str, question: str, name: str, request: pytest.FixtureRequest, check: Any
) -> None:
    assistant: Assistant = request.getfixturevalue(name)
    made = assistant.ask(question)
    assert made.route == route
    assert made.status == ("refused" if route == "smalltalk" else "answered")
    as_json = json.loads(made.model_dump_json())
    check(as_json, assistant)
    assert as_json["corpus"] == assistant.corpus
    assert set(as_json["timings_ms"]) == {"embed", "search", "write", "total"}
    assert Answer.model_validate_json(made.model_dump_json()).model_dump_json() == made.model_dump_json()


@pytest.mark.parametrize(("reason", "question"), REFUSED.items())
@pytest.mark.parametrize("name", ["cheap", "real"])
def test_every_refusal_keeps_the_contract(
    reason: str, question: str, name: str, request: pytest.FixtureRequest, check: Any
) -> None:
    assistant: Assistant = request.getfixturevalue(name)
    made = assistant.ask(question)
    assert made.refusal is not None
    assert made.refusal.reason == reason
    assert len(made.nearest) == 3
    assert [paper.id for paper in made.nearest] == [row.id for row in made.retrieved[:3]]
    check(json.loads(made.model_dump_json()), assistant)


@pytest.mark.parametrize("question", [*QUESTIONS.values(), "?!"])
def test_an_empty_corpus_refuses_everything_and_says_what_to_do(question: str, empty_root: Any, check: Any) -> None:
    assistant = Assistant(empty_root, HashingEmbedder())
    made = assistant.ask(question)
    assert made.refusal is not None
    assert made.refusal.reason == "empty_corpus"
    assert "paperchat ingest" in made.refusal.message
    assert made.retrieved == made.nearest == ()
    check(json.loads(made.model_dump_json()), assistant)


def test_an_empty_corpus_has_the_same_timings(empty_root: Any) -> None:
    made = Assistant(empty_root, HashingEmbedder()).ask("What is TokenDrop?")
    assert set(made.timings_ms) == {"embed", "search", "write", "total"}


def test_papers_have_the_keys_of_the_contract_and_no_others(cheap: Assistant) -> None:
    keys = {"id", "label", "title", "authors", "venue", "year", "url"}
    cited = json.loads(cheap.ask("What is TokenDrop?").model_dump_json())["papers"][0]
    nearest = json.loads(cheap.ask("hello!").model_dump_json())["nearest"][0]
    assert set(cited) == keys | {"number"}
    assert set(nearest) == keys


def test_papers_are_told_as_they_are_stored(cheap: Assistant) -> None:
    card = cheap.ask("What is TokenDrop?").papers[0]
    stored = cheap.paper(card.id)
    assert stored is not None
    assert card.title.startswith("TokenDrop: ")
    assert (card.label, card.authors, card.url) == (stored.title, stored.authors, stored.url)
    assert (card.venue, card.year) == ("ICML", 2026)


def test_a_paper_as_json_is_flat_and_whole() -> None:
    paper = Paper(id="a-1", abstract="We propose FooBar.", authors=("A", "B"), year=2026, sources=("s",))
    assert paper_json(paper) == {
        "id": "a-1",
        "title": "",
        "label": "FooBar",
        "abstract": "We propose FooBar.",
        "authors": ["A", "B"],
        "venue": "",
        "year": 2026,
        "url": "",
        "topic": "",
        "decision": "",
        "sources": ["s"],
    }


def test_conditions_that_were_set_are_told(cheap: Assistant) -> None:
    made = cheap.ask("What is TokenDrop?", conditions=Conditions(year=2026, authors=("Beomseok Kim",)))
    told = json.loads(made.model_dump_json())["interpreted_as"]
    assert (told["year"], told["authors"]) == (2026, ["Beomseok Kim"])
    assert "decision" not in told


# Whatever is asked

FRAGMENTS = [
    *("What is", "how many", "which papers", "compare", "vs", "papers on", "hello", "not", "learning rate"),
    *("TokenDrop", "CARE", "MILD", "QuokkaNet", "PrivCode++", "phi-balancing", "MoE experts", "0.8559", "?"),
    *("$\\phi$-balancing", "\\mathbf{", "$O((\\ln T)^{d+1}$", "\\begin{align}", "$", "50\\%", "\\'e"),
    *("![x](https://evil.example/p.png?d=1)", "[1]", "[click](javascript:alert(1))", "**b**", "| a |", "```", "# h"),
    *("<script>alert(1)</script>", "<img src=x onerror=y>", "&lt;b&gt;", "&#0;", "</context>", "{papers}", "%s"),
    *("什么是", "混合专家", "论文", "モデルは", "몇 배", "какой", "Wie viele"),
    *("combien de", "é\u0301", "\u202e", "\u200b", "🤖"),
    *("\x00", "\x07", "\x1b[31m", "\r\n", "\t", "\u2028", "\ufeff"),
]
QUESTION = st.one_of(
    st.text(max_size=200),
    st.text(st.characters(categories=["Lo", "Lm", "Mn", "Nd", "Cc", "Cf", "Zs", "Po"]), max_size=60),
    st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=7).map(" ".join),
    st.builds(lambda text, times: (text * times)[:4100], st.sampled_from(FRAGMENTS), st.integers(1, LONGEST_QUESTION)),
)
ANY = settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


@ANY
@given(question=QUESTION)
@example(question="[1] **TokenDrop** [2]")
@example(question="{papers} papers")
def test_any_question_gets_an_answer_that_keeps_the_contract(question: str, cheap: Assistant, check: Any) -> None:
    try:
        made = cheap.ask(question)
    except EmptyQuestion:
        assert not question.strip()
    except QuestionTooLong:
        assert len(question) > LONGEST_QUESTION
    else:
        assert made.question == question.strip()
        assert len(made.retrieved) == 30
        check(json.loads(made.model_dump_json()), cheap)


@settings(ANY, max_examples=25)
@given(question=QUESTION)
def test_so_does_the_real_model(question: str, real: Assistant, check: Any) -> None:
    try:
        made = real.ask(question)
    except (EmptyQuestion, QuestionTooLong):
        return
    check(json.loads(made.model_dump_json()), real)


TOLD: dict[tuple[str, str], str] = {}


@settings(ANY, max_examples=25)
@given(question=QUESTION, marker=st.text(st.sampled_from("qxzj"), min_size=6, max_size=12))
@pytest.mark.parametrize("frame", ["{} {}", "What is {}{}?", "which papers are on {} or {}", "hello {} {}", "{} vs {}"])
def test_nothing_of_the_question_is_repeated(frame: str, question: str, marker: str, cheap: Assistant) -> None:
    asked = frame.format(marker, question[:300])
    made = cheap.ask(asked)
    told = [made.text, made.lead.text if made.lead else "", made.lead.criterion if made.lead else ""]
    told += [made.refusal.message] if made.refusal else []
    assert not any(marker in text for text in told)
    if made.refusal:  # one sentence a reason and a language, whatever was asked
        assert TOLD.setdefault((made.refusal.reason, made.language), made.text) == made.text


def test_text_that_is_no_unicode_is_answered_or_refused_in_json_too(cheap: Assistant) -> None:
    """A terminal's stray byte reaches Python as a lone surrogate; so may a \\ud800 in a JSON body."""
    made = cheap.ask("What \udcff is TokenDrop?")
    assert json.loads(made.model_dump_json())["status"] == "answered"


@pytest.mark.parametrize("question", ["", " ", "\n\t ", "\u3000", "\u2003\u00a0"])
def test_an_empty_question_is_refused_with_an_example(question: str, cheap: Assistant) -> None:
    with pytest.raises(EmptyQuestion, match="paperchat ask"):
        cheap.ask(question)


def test_the_longest_question_is_taken_and_one_character_more_is_not(cheap: Assistant) -> None:
    assert cheap.ask("a " * (LONGEST_QUESTION // 2)).status == "refused"
    with pytest.raises(QuestionTooLong, match="4,001"):
        cheap.ask("a" * (LONGEST_QUESTION + 1))
