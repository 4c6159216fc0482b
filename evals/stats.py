"""Is a difference more than noise?

In: two systems' scores of the same questions, in the same order. Out: their mean difference and its p-value.
Not known here: what was scored.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_ROUNDS = 20_000


@dataclass(frozen=True)
class Difference:
    """`mean` is b - a; `p` is two-sided."""

    mean: float
    p: float


def paired_difference(a: Sequence[float], b: Sequence[float], seed: int = 0) -> Difference:
    """Paired randomisation test (Smucker, Allan & Carterette, CIKM 2007): under the null hypothesis each question's
    two scores could as well be swapped, which flips the sign of their difference."""
    differences = np.asarray(b, float) - np.asarray(a, float)
    observed = abs(differences.mean())
    signs = np.random.default_rng(seed).choice((-1.0, 1.0), size=(_ROUNDS, len(differences)))
    extreme = np.abs((signs * differences).mean(axis=1)) >= observed - 1e-12
    return Difference(float(differences.mean()), float((extreme.sum() + 1) / (_ROUNDS + 1)))
