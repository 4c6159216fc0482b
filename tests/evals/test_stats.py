"""A difference that is noise looks like noise, one that is not does not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.stats import paired_difference

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
