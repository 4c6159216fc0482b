"""A difference that is noise looks like noise, one that is not does not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.stats import bootstrap_interval, holm, paired_difference

scores = st.lists(st.floats(0, 1), min_size=1, max_size=40)


@given(scores)
def test_a_system_does_not_differ_from_itself(values: list[float]) -> None:
    found = paired_difference(values, values)
    assert found.mean == 0
    assert found.p == 1


@given(scores)
def test_the_order_of_the_systems_changes_the_sign_alone(values: list[float]) -> None:
    other = values[::-1]
    one, two = paired_difference(values, other), paired_difference(other, values)
    assert one.mean == pytest.approx(-two.mean)
    assert one.p == pytest.approx(two.p)


def test_the_p_value_of_a_small_case_is_the_one_counted_by_hand() -> None:
    """Four questions, each better by the same: of 16 sign patterns 2 are as extreme."""
    assert paired_difference([0.0] * 4, [0.1] * 4).p == pytest.approx(2 / 16, abs=0.01)


def test_many_small_gains_are_no_noise_and_mixed_ones_are() -> None:
    base = np.linspace(0.2, 0.8, 60)
    assert paired_difference(base.tolist(), (base + 0.02).tolist()).p < 0.001
    mixed = base + np.where(np.arange(60) % 2, 0.2, -0.2)
    assert paired_difference(base.tolist(), mixed.tolist()).p > 0.5


def test_few_changes_among_many_questions_are_tested_as_if_the_others_were_not_there() -> None:
    """Questions that score the same tell nothing: 6 of 200 that all fall are as rare as 6 of 6."""
    base, few = [1.0] * 200, [0.0] * 6 + [1.0] * 194
    assert paired_difference(base, few).p == pytest.approx(2 / 64, abs=0.01)


@given(scores)
def test_an_interval_holds_its_mean_and_is_the_same_each_time(values: list[float]) -> None:
    low, high = bootstrap_interval(values)
    assert low - 1e-9 <= float(np.mean(values)) <= high + 1e-9 or len(values) < 5
    assert 0 <= low <= high <= 1
    assert bootstrap_interval(values) == (low, high)


def test_an_interval_is_about_as_wide_as_theory_says() -> None:
    """Of 100 questions of which half score 1: 0.5 +- 1.96 * 0.05."""
    low, high = bootstrap_interval([0.0, 1.0] * 50)
    assert (low, high) == (pytest.approx(0.402, abs=0.02), pytest.approx(0.598, abs=0.02))


def test_holms_correction_of_the_textbook() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=20))
def test_a_corrected_p_is_never_smaller_and_keeps_the_order(ps: list[float]) -> None:
    found = holm(ps)
    assert all(p <= q <= 1 for p, q in zip(ps, found, strict=True))
    assert sorted(range(len(ps)), key=lambda i: (ps[i], found[i])) == sorted(range(len(ps)), key=lambda i: ps[i])
