"""Is a difference more than noise, and how sure is a mean?

In: scores of questions; for a comparison two systems' scores of the same questions, in the same order. Out: intervals,
differences with their p-values, p-values corrected for many looks. The same numbers give the same result each time.
Not known here: what was scored.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_ROUNDS = 20_000
_RESAMPLES = 2_000


@dataclass(frozen=True)
class Difference:
    """`mean` is b - a; `p` is two-sided."""

    mean: float
    p: float


def paired_difference(a: Sequence[float], b: Sequence[float], seed: int = 0) -> Difference:
    """Paired randomisation test (Smucker, Allan & Carterette, CIKM 2007): under the null hypothesis each question's
    two scores could as well be swapped, which flips the sign of their difference."""
    differences = np.asarray(b, float) - np.asarray(a, float)
    differing = differences[differences != 0]
    if not len(differing):
        return Difference(0.0, 1.0)
    observed = abs(differing.sum())
    signs = np.random.default_rng(seed).choice((-1.0, 1.0), size=(_ROUNDS, len(differing)))
    extreme = np.abs(signs @ differing) >= observed - 1e-9
    return Difference(float(differences.mean()), float((extreme.sum() + 1) / (_ROUNDS + 1)))


def bootstrap_interval(values: Sequence[float], seed: int = 0) -> tuple[float, float]:
    """The 95 % percentile interval of the mean (Efron & Tibshirani 1993, ch. 13), resampling questions.

    Of a handful of questions it is too narrow, and where all score the same it is a point.
    """
    scores = np.asarray(values, float)
    drawn = np.random.default_rng(seed).integers(0, len(scores), size=(_RESAMPLES, len(scores)))
    low, high = np.percentile(scores[drawn].mean(axis=1), (2.5, 97.5))
    return float(low), float(high)


def holm(ps: Sequence[float]) -> list[float]:
    """p-values corrected for their number (Holm, Scand. J. Statist. 6, 1979), in the order given: below .05 together
    they bear a false finding in at most one of twenty families."""
    corrected = [0.0] * len(ps)
    least = 0.0
    for done, place in enumerate(sorted(range(len(ps)), key=lambda place: ps[place])):
        least = max(least, min(1.0, ps[place] * (len(ps) - done)))
        corrected[place] = least
    return corrected
