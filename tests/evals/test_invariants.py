"""Every broken answer here is made without the records' own checks, as a faulty writer would."""

import pytest

from app.answer import Answer, CitedPaper, Quote, Sentence
from evals.invariants import violations

GOOD = ("p1", "It was 0.824.")


def broken(answer, **changes):
    return answer.model_copy(update=changes)


def quote(**fields):
    return Quote.model_construct(
        **{"paper_id": "p1", "field": "abstract", "start": 32, "end": 45, "quote": GOOD[1], **fields}
    )


def sentence(*evidence, **fields):
    made = {
        "text": " […] ".join(q.quote for q in evidence),
        "citations": (1,),
        "support": "quoted",
        "evidence": evidence,
    }
    return Sentence.model_construct(**{**made, **fields})


def test_a_right_answer_violates_nothing(trial, answer):
    assert violations(trial(answer([GOOD, ("p2", "Experts are balanced by mirror descent.")]))) == ()
    assert violations(trial(answer(refused="off_topic"))) == ()


@pytest.mark.parametrize(
    "wrong",
    [
        {"quote": "It was 0.825."},
        {"start": 31},
        {"start": None},
        {"start": 32, "end": 450},
        {"start": -13, "end": None},
        {"field": "title"},
        {"field": "year", "start": None, "end": None, "quote": "2026"},
        {"field": "topic", "start": None, "end": None, "quote": ""},
        {"field": "authors", "start": None, "end": None, "quote": "Ann"},
        {"field": "authors", "quote": "Ann Lee"},
    ],
)
def test_a_quote_that_is_not_its_span_is_a_violation(trial, answer, wrong):
    (found,) = violations(trial(broken(answer([GOOD]), sentences=(sentence(quote(**wrong)),))))
    assert found.startswith("p1 ")


@pytest.mark.parametrize("value", ["Ann Lee", "Ann Lee, Bo Ek"])
def test_a_field_is_quoted_as_stored(trial, answer, value):
    authors = quote(field="authors", start=None, end=None, quote=value)
    assert violations(trial(broken(answer([GOOD]), sentences=(sentence(authors),)))) == ()


def test_a_sentence_without_a_citation_is_a_violation(trial, answer):
    found = violations(trial(broken(answer([GOOD]), sentences=(sentence(quote(), citations=()),))))
    assert "sentence 1 has no citation" in found
    assert "papers are [1], cited are []" in found


def test_a_citation_of_nothing_is_a_violation(trial, answer):
    found = violations(trial(broken(answer([GOOD]), sentences=(sentence(quote(), citations=(1, 7)),))))
    assert "sentence 1 cites [7], which is no paper of the answer" in found


def test_a_paper_that_no_sentence_cites_is_a_violation(trial, answer):
    good = answer([GOOD])
    extra = CitedPaper.model_construct(**{**good.papers[0].model_dump(), "number": 2, "id": "p2"})
    assert violations(trial(broken(good, papers=(*good.papers, extra)))) == ("papers are [1, 2], cited are [1]",)


def test_quoting_a_paper_without_citing_it_is_a_violation(trial, answer):
    other = quote(paper_id="p2", start=0, end=7, quote="Experts")
    assert violations(trial(broken(answer([GOOD]), sentences=(sentence(quote(), other),)))) == (
        "sentence 1 quotes p2 without citing it",
    )
    lost = violations(trial(broken(answer([GOOD]), sentences=(sentence(quote(paper_id="p9")),))))
    assert "a quote is of p9, which is not in the corpus" in lost


def test_a_quoted_sentence_is_its_quotes_and_nothing_else(trial, answer):
    found = violations(trial(broken(answer([GOOD]), sentences=(sentence(quote(), text="It was 0.9."),))))
    assert found == ("sentence 1 is marked as quoted and is not its quotes joined",)
    written = sentence(quote(), text="It used to be 0.824.", support="supported")
    assert violations(trial(broken(answer([GOOD]), sentences=(written,)))) == ()


@pytest.mark.parametrize("place", ["text", "lead", "refusal", "sentence"])
def test_what_must_not_be_shown_is_looked_for_everywhere(trial, answer, place):
    bad = "see evil.example/x"
    made: Answer = answer([GOOD], count=1)
    if place == "refusal":
        made = answer(refused="off_topic")
        made = broken(made, refusal=made.refusal.model_copy(update={"message": bad}))
    elif place == "lead":
        made = broken(made, lead=made.lead.model_copy(update={"text": bad}))
    elif place == "sentence":
        made = broken(made, sentences=(sentence(quote(), text=bad, support="supported"),))
    else:
        made = broken(made, text=bad)
    assert violations(trial(made, must_not_show=("evil.example",))) == ("'evil.example' must not be shown and is",)
