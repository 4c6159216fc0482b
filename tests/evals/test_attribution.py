"""Citation recall and precision by hand: a sentence is worth what stands in the stored papers where it says."""

import pytest

from app.answer import CitedPaper, Quote, Sentence
from evals.attribution import MEASURES

RECALL, PRECISION, CITED = MEASURES
STEINER = "We raise the bound to $0.8559$."
BALANCE = "Experts are balanced by mirror descent."
RAIN = "Rain is forecast on ERA5 in 11.52 s."


def score(measure, trial):
    return measure.score(trial).value


@pytest.mark.parametrize("quotes", [[("p1", STEINER)], [("p1", STEINER), ("p2", BALANCE), ("p3", RAIN)]])
def test_quotations_are_supported_and_needed(trial, answer, quotes):
    made = trial(answer(quotes))
    assert score(RECALL, made) == score(PRECISION, made) == score(CITED, made) == 1


def spoilt(answer, **changes):
    """An answer of two sentences, the second one changed without the records' own checks."""
    good = answer([("p1", STEINER), ("p2", BALANCE)])
    sentence = good.sentences[1].model_copy(update=changes)
    return good.model_copy(update={"sentences": (good.sentences[0], sentence)})


def test_an_invented_number_is_not_supported(trial, answer):
    made = trial(spoilt(answer, text="Experts are balanced by mirror descent in 7 steps.", support="supported"))
    assert score(RECALL, made) == score(PRECISION, made) == 0.5
    assert "in 7 steps" in RECALL.score(made).reason


def test_a_quote_that_is_not_in_the_paper_supports_nothing(trial, answer):
    """The passage is read from the stored paper, whatever the answer says that it is."""
    false = Quote(paper_id="p2", start=0, end=20, quote=BALANCE)
    assert score(RECALL, trial(spoilt(answer, evidence=(false,)))) == 0.5
    elsewhere = Quote(paper_id="p9", start=0, end=len(BALANCE), quote=BALANCE)
    assert score(RECALL, trial(spoilt(answer, evidence=(elsewhere,)))) == 0.5


def test_a_sentence_without_citation_is_neither_supported_nor_cited(trial, answer):
    made = spoilt(answer, citations=())
    assert score(RECALL, trial(made)) == 0.5
    assert score(CITED, trial(made)) == 0.5


def test_a_citation_that_adds_nothing_is_not_counted(trial, answer):
    """p1 says it all; p3 is cited beside it."""
    good = answer([("p1", STEINER), ("p3", RAIN)])
    sentence = good.sentences[0].model_copy(
        update={"citations": (1, 2), "evidence": (*good.sentences[0].evidence, *good.sentences[1].evidence)}
    )
    made = good.model_copy(update={"sentences": (sentence,)})
    assert score(RECALL, trial(made)) == 1
    assert score(PRECISION, trial(made)) == 0.5
    assert "[2]" in PRECISION.score(trial(made)).reason


def test_two_citations_that_are_both_needed_both_count(trial, answer):
    quotes = answer([("p1", STEINER), ("p3", RAIN)])
    evidence = (*quotes.sentences[0].evidence, *quotes.sentences[1].evidence)
    joined = Sentence(text=f"{STEINER} […] {RAIN}", citations=(1, 2), evidence=evidence)
    made = quotes.model_copy(update={"sentences": (joined,)})
    assert score(RECALL, trial(made)) == score(PRECISION, trial(made)) == 1


def test_a_metadata_value_supports_what_it_says(trial, answer, scripted):
    paper = scripted({}).paper("p1")
    quote = Quote(paper_id="p1", field="authors", quote="Ann Lee, Bo Ek")
    sentence = Sentence(text="Ann Lee, Bo Ek", citations=(1,), evidence=(quote,))
    made = answer().model_copy(update={"sentences": (sentence,), "papers": (CitedPaper.cited(1, paper),)})
    assert score(RECALL, trial(made)) == 1


def test_refusals_support_nothing_and_claim_nothing(trial, answer):
    refused = trial(answer(refused="not_in_corpus", text="Not in these papers."))
    assert score(RECALL, refused) == score(PRECISION, refused) == 0
    assert "refused" in RECALL.score(refused).reason
    assert score(CITED, refused) == 1


def test_text_that_no_sentence_carries_is_uncited(trial, answer):
    made = answer([("p1", STEINER)], text=f"{STEINER} [1]\nThis is the best result there ever was.")
    assert score(CITED, trial(made)) == 0.5
    assert "best result" in CITED.score(trial(made)).reason


def test_labels_marks_and_leads_are_no_claims(trial, answer):
    text = f"- **A Label of Several Long Words**: {STEINER} [1]\n- **Balance**: {BALANCE} [2]"
    assert score(CITED, trial(answer([("p1", STEINER), ("p2", BALANCE)], text=text))) == 1
