"""Two reports side by side: what changed, whether it is noise, and which questions did it."""

import pytest

from evals.compare import compare
from evals.dataset import Dataset
from evals.errors import NotComparable
from evals.markdown import comparison_text
from evals.report import Report
from evals.run import evaluate

RIGHT = [("p1", "We raise the bound to $0.8559$.")]
WRONG = [("p2", "Experts are balanced by mirror descent.")]


@pytest.fixture
def reported(scripted, case, answer):
    """A report on twelve questions, those in `wrong` answered from the wrong paper, ranked second."""

    def make(wrong=(), papers=None, **changes) -> Report:
        cases = tuple(case(id=f"c{i}", question=f"q{i}", **changes) for i in range(12))
        answers = {
            f"q{i}": answer(WRONG, retrieved=("p2", "p1", "p3")) if i in wrong else answer(RIGHT) for i in range(12)
        }
        system = scripted(answers) if papers is None else scripted(answers, papers)
        return evaluate(Dataset("mine", cases), system)

    return make


def by_name(comparison):
    return {change.measure: change for change in comparison.changes}


def test_a_report_compared_with_itself_changes_nothing(reported):
    (same,) = compare(reported(), {"again": reported()})
    assert same.flips == ()
    assert {change.p for change in same.changes} == {1}


def test_a_fall_of_many_questions_is_no_noise_and_names_them_with_their_ranks(reported):
    (found,) = compare(reported(), {"b": reported(wrong=range(11))})
    first = by_name(found)["first cited right"]
    assert (first.n, first.before, first.after) == (12, 1, pytest.approx(1 / 12))
    assert first.corrected < 0.05
    assert {flip.id for flip in found.fell} == {f"c{i}" for i in range(11)}
    assert found.rose == ()
    assert found.fell[0].ranks == ((1,), (2,))
    assert by_name(found)["R@5"].p == 1


def test_flips_both_ways_are_listed_and_cancel(reported):
    (found,) = compare(reported(wrong=[0, 1]), {"b": reported(wrong=[2, 3])})
    assert [flip.id for flip in found.fell] == ["c2", "c3"]
    assert [flip.id for flip in found.rose] == ["c0", "c1"]
    assert by_name(found)["first cited right"].difference == pytest.approx(0)
    text = comparison_text(reported(), [found])
    assert "## Got worse (2)" in text
    assert "gold ranks 1 -> 2" in text
    assert "## Got better (2)" in text


def test_many_variants_are_held_to_more_than_one(reported):
    """Six falls of twelve are no noise on their own; among twenty variants they may be."""
    (alone,) = compare(reported(), {"b": reported(wrong=range(6))})
    among = compare(reported(), {str(i): reported(wrong=range(6) if i == 0 else ()) for i in range(20)})
    assert by_name(alone)["first cited right"].p < 0.05
    assert by_name(among[0])["first cited right"].corrected > by_name(alone)["first cited right"].corrected
    assert by_name(among[0])["first cited right"].corrected > 0.05


def test_other_questions_or_papers_are_refused(reported, scripted):
    with pytest.raises(NotComparable, match="b: its questions"):
        compare(reported(), {"b": reported(must_show=("0.824",))})
    papers = scripted({}).papers()[:2]
    with pytest.raises(NotComparable, match="b: its papers"):
        compare(reported(), {"b": reported(papers=papers)})
