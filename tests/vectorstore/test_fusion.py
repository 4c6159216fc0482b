"""Two rankings into one: bounds, order, and what an empty or undecided leg does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vectorstore.fusion import (
    DENSE_SHARE,
    DENSE_SHARE_OF_NAMES,
    FULL_COVERAGE,
    TRUSTED_COVERAGE,
    dense_share,
    fuse,
    min_max,
)

SCORES = st.dictionaries(st.integers(0, 30), st.floats(-1e6, 1e6, allow_subnormal=False), max_size=20)
SHARES = st.floats(0, 1)


@given(SCORES)
def test_min_max_reaches_from_zero_to_one_and_keeps_the_order(scores: dict[int, float]) -> None:
    stretched = min_max(scores)
    assert stretched.keys() == scores.keys()
    assert all(0 <= value <= 1 for value in stretched.values())
    if scores:
        assert max(stretched.values()) == 1
    if len(set(scores.values())) > 1:
        assert min(stretched.values()) == 0
    for one, score in scores.items():
        for other, lower in scores.items():
            assert score <= lower or stretched[one] >= stretched[other]


def test_a_leg_whose_scores_are_all_alike_counts_fully_for_each() -> None:
    assert min_max({1: 3.0, 2: 3.0}) == {1: 1.0, 2: 1.0}
    assert min_max({7: -2.0}) == {7: 1.0}
    assert min_max({}) == {}


@given(SCORES, SCORES, SHARES)
def test_the_fused_ranking_holds_every_paper_of_both_legs_best_first(
    dense: dict[int, float], lexical: dict[int, float], share: float
) -> None:
    fused = fuse(dense, lexical, share)
    assert fused.keys() == dense.keys() | lexical.keys()
    assert all(0 <= score <= 1 + 1e-9 for score in fused.values())
    assert list(fused) == sorted(fused, key=lambda key: (-fused[key], key))


@given(SCORES, SCORES, SHARES)
def test_a_paper_that_both_legs_rank_at_least_as_high_is_not_ranked_lower(
    dense: dict[int, float], lexical: dict[int, float], share: float
) -> None:
    fused = fuse(dense, lexical, share)
    both = dense.keys() & lexical.keys()
    for one in both:
        for other in both:
            if dense[one] >= dense[other] and lexical[one] >= lexical[other]:
                assert fused[one] >= fused[other] - 1e-12


@given(SCORES, SCORES)
def test_swapping_legs_and_shares_changes_nothing(dense: dict[int, float], lexical: dict[int, float]) -> None:
    assert fuse(dense, lexical, 0.25) == pytest.approx(fuse(lexical, dense, 0.75))


@given(SCORES.filter(bool), st.floats(0.01, 1))
def test_with_one_empty_leg_the_other_one_ranks(scores: dict[int, float], share: float) -> None:
    expected = sorted(min_max(scores).items(), key=lambda item: (-item[1] * share, item[0]))
    assert list(fuse(scores, {}, share)) == [key for key, _ in expected]


def test_two_empty_legs_find_nothing() -> None:
    assert fuse({}, {}) == {}


def test_half_and_half_by_hand() -> None:
    fused = fuse({1: 0.9, 2: 0.5, 3: 0.1}, {2: 10.0, 4: 5.0, 3: 0.0})
    assert fused == pytest.approx({2: 0.75, 1: 0.5, 4: 0.25, 3: 0.0})
    assert list(fused) == [2, 1, 4, 3]


def test_ties_are_broken_by_key() -> None:
    assert list(fuse({9: 1.0, 3: 1.0}, {9: 2.0, 3: 2.0})) == [3, 9]


@given(st.floats(0, 1), st.floats(0, 1))
def test_the_dense_share_falls_with_coverage_and_never_to_nothing(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 1 >= dense_share(low) >= dense_share(high) >= DENSE_SHARE_OF_NAMES


def test_a_trusted_lexical_match_has_its_full_share_and_none_has_no_say() -> None:
    assert dense_share(TRUSTED_COVERAGE) == dense_share(FULL_COVERAGE - 0.01) == DENSE_SHARE
    assert dense_share(FULL_COVERAGE) == dense_share(1.0) == DENSE_SHARE_OF_NAMES < DENSE_SHARE
    assert dense_share(0.0) == 1
    assert dense_share(TRUSTED_COVERAGE / 2) == pytest.approx((1 + DENSE_SHARE) / 2)
