from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.abstention import MEASURES, curve, declined, summary

(ABSTENTION,) = MEASURES
QUOTED = [("p1", "It was 0.824.")]


@dataclass(frozen=True)
class Decision:
    id: str
    answerable: bool
    declined: bool
    off_topic: bool = False
    confidence: float | None = None
    status: str = "answered"


def test_what_the_corpus_answers_is_to_be_answered(trial, answer):
    assert ABSTENTION.score(trial(answer(QUOTED))).value == 1
    refused = ABSTENTION.score(trial(answer(refused="off_topic")))
    assert (refused.value, refused.reason) == (0, "refused (off_topic); the corpus answers")


@pytest.mark.parametrize("relevant", [(), ("p1",)])
def test_what_it_does_not_answer_is_to_be_refused_also_where_the_paper_exists(trial, answer, relevant):
    asked = {"answerable": False, "relevant": relevant}
    assert ABSTENTION.score(trial(answer(refused="not_in_corpus"), **asked)).value == 1
    assert ABSTENTION.score(trial(answer(QUOTED, refused="not_in_abstract"), **asked)).value == 1
    answered = ABSTENTION.score(trial(answer(QUOTED), **asked))
    assert answered.value == 0
    assert answered.reason.startswith("answered, citing p1")


def test_a_false_premise_may_be_refused_or_denied_with_the_paper_that_denies_it(trial, answer):
    asked = {"answerable": False, "premise_false": True}
    assert declined(trial(answer(refused="not_in_abstract"), **asked))
    assert declined(trial(answer(QUOTED), **asked))
    assert not declined(trial(answer(QUOTED), **asked, must_show=("0.8559",)))
    assert not declined(trial(answer([("p2", "Experts are balanced by mirror descent.")]), **asked))


def test_precision_recall_and_f1_by_hand():
    found = summary(
        [
            Decision("a", answerable=False, declined=True, off_topic=True),
            Decision("b", answerable=False, declined=False, off_topic=True),
            Decision("c", answerable=False, declined=True),
            Decision("d", answerable=False, declined=True),
            Decision("e", answerable=True, declined=True),
            Decision("f", answerable=True, declined=False),
        ]
    )
    assert (found.precision, found.recall, found.f1, found.off_topic_refused) == (0.75, 0.75, 0.75, 0.5)
    assert (found.answerable_refused, found.unanswerable_not_declined) == (("e",), ("b",))


def test_never_refusing_scores_0_and_nothing_to_refuse_scores_nothing():
    never = summary([Decision("a", answerable=False, declined=False)])
    assert (never.precision, never.recall, never.f1) == (0, 0, 0)
    none = summary([Decision("a", answerable=True, declined=False)])
    assert (none.precision, none.recall, none.f1, none.off_topic_refused) == (None, None, None, None)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1))
def test_f1_is_the_harmonic_mean(decisions):
    found = summary([Decision(str(i), *decision) for i, decision in enumerate(decisions)])
    if found.f1:
        assert found.f1 == pytest.approx(2 / (1 / found.precision + 1 / found.recall), abs=1e-5)


def decided(answerable, confidence, declined=False, status="answered"):
    return Decision(f"{answerable}{confidence}", answerable, declined, confidence=confidence, status=status)


def test_the_curve_by_hand():
    """Two unanswerable at .1 and .4, two answerable at .3 and .6."""
    points = curve([decided(False, 0.1), decided(False, 0.4), decided(True, 0.3), decided(True, 0.6)])
    found = [(p.threshold, p.precision, p.recall, p.answerable_refused) for p in points]
    assert found == [
        (0.1, 0, 0, 0),
        (0.3, 1, 0.5, 0),
        (0.4, 0.5, 0.5, 0.5),
        (0.6, pytest.approx(2 / 3, abs=1e-5), 1, 0.5),
        (0.600001, 0.5, 1, 1),
    ]


def test_a_denial_declines_at_every_threshold_and_a_failure_at_none():
    denied = curve([decided(False, 0.9, declined=True), decided(True, 0.5)])
    assert [point.recall for point in denied] == [1, 1, 1]
    failed = curve([decided(False, None, status="failed"), decided(True, 0.5)])
    assert {point.recall for point in failed} == {0}


def test_without_confidences_there_is_no_curve():
    assert curve([decided(False, None), decided(True, None)]) == ()


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1, max_size=80))
def test_a_higher_threshold_never_declines_less(questions):
    points = curve([decided(answerable, confidence) for answerable, confidence in questions])
    assert len(points) <= 41
    assert [p.recall for p in points] == sorted(p.recall for p in points)
    assert [p.answerable_refused for p in points] == sorted(p.answerable_refused for p in points)
    assert points[-1].recall in (0, 1)
