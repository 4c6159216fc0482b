"""Expected values are worked out by hand from the definitions."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.retrieval import MEASURES, gold_ranks, values

IDS = [f"p{i}" for i in range(30)]
BY_NAME = {measure.name: measure for measure in MEASURES}


def score(name, trial):
    return BY_NAME[name].score(trial)


def test_gold_at_ranks_2_and_6_of_3():
    found = values(("x", "a", "y", "z", "w", "b", "v"), frozenset({"a", "b", "c"}))
    best = 1 / math.log2(2) + 1 / math.log2(3) + 1 / math.log2(4)
    assert found == {
        "R@1": 0,
        "R@3": pytest.approx(1 / 3),
        "R@5": pytest.approx(1 / 3),
        "R@10": pytest.approx(2 / 3),
        "Success@5": 1,
        "RR": pytest.approx(1 / 2),
        "nDCG@10": pytest.approx((1 / math.log2(3) + 1 / math.log2(7)) / best),
    }


def test_gold_beyond_every_cut_off_still_has_a_reciprocal_rank():
    found = values(tuple(IDS), frozenset({"p19"}))
    assert found.pop("RR") == pytest.approx(1 / 20)
    assert set(found.values()) == {0}


def test_nothing_retrieved_scores_0():
    assert set(values((), frozenset({"a"})).values()) == {0}


@given(st.permutations(IDS), st.sets(st.sampled_from([*IDS, "absent"]), min_size=1, max_size=12))
def test_they_agree_with_their_definitions(ranked, relevant):
    found = values(tuple(ranked), frozenset(relevant))
    hits = [id in relevant for id in ranked]
    gains = [hit / math.log2(rank + 1) for rank, hit in enumerate(hits[:10], 1)]
    best = [1 / math.log2(rank + 1) for rank in range(1, min(10, len(relevant)) + 1)]
    assert found["RR"] == pytest.approx(max((hit / rank for rank, hit in enumerate(hits, 1)), default=0))
    assert found["nDCG@10"] == pytest.approx(sum(gains) / sum(best))
    assert found["Success@5"] == any(hits[:5])
    for k in (1, 3, 5, 10):
        assert found[f"R@{k}"] == pytest.approx(sum(hits[:k]) / len(relevant))


def test_neutral_papers_take_no_place_in_the_ranking(trial, answer):
    tried = trial(answer(retrieved=("p3", "p2", "p1")), neutral=("p3",))
    assert gold_ranks(tried) == (2,)
    assert score("RR", tried).value == 0.5
    assert score("RR", tried).reason == "gold papers (1) at rank 2"


def test_a_gold_paper_that_is_not_retrieved_is_told(trial, answer):
    assert score("R@10", trial(answer(retrieved=("p2", "p3")))).reason == "none of 1 gold papers among the 2 retrieved"


def test_first_cited_right(trial, answer):
    first, second = ("p1", "It was 0.824."), ("p2", "Experts are balanced by mirror descent.")
    assert score("first cited right", trial(answer([first, second]))).value == 1
    wrong = score("first cited right", trial(answer([second, first])))
    assert (wrong.value, wrong.reason) == (0, "cites p2 first; gold: p1")
    assert score("first cited right", trial(answer([second, first]), neutral=("p2",))).value == 1


def test_a_refusal_cites_nothing_right_even_where_it_names_the_paper(trial, answer):
    refused = trial(answer([("p1", "It was 0.824.")], refused="not_in_abstract"))
    assert score("first cited right", refused).reason == "refused (not_in_abstract); gold: p1"
    assert score("first cited right", refused).value == 0


def test_what_applies_depends_on_the_case_alone(trial, answer):
    def applying(tried):
        return {measure.name for measure in MEASURES if measure.applies(tried.case, tried.gold)}

    assert applying(trial(answer())) == set(BY_NAME)
    assert applying(trial(answer(), whole=True)) == set(BY_NAME) - {"first cited right"}
    assert applying(trial(answer(), answerable=False)) == set(BY_NAME) - {"first cited right"}
    assert applying(trial(answer(), answerable=False, relevant=())) == set()
