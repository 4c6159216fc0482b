"""May this change go in? What fell against the committed baseline by more than noise, or below a floor.

In: a report and its baseline. Out: a `Verdict` with every reason to stop, each naming its questions.
A gate that stops for nothing costs a look, one that lets a fall through costs users, so its p-values are not
corrected for their number: six questions that fall and none that rises stop it, in one category or over all.
Broken invariants and questions that fail stop it without statistics.
Not known here: how the report came about.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.baseline import BASELINES, Baseline, Fall, falls
from evals.errors import BadFloors
from evals.report import Report
from evals.stats import paired_difference

_ALPHA = 0.05
FLOORS = BASELINES / "floors.json"


@dataclass(frozen=True)
class Verdict:
    """`stops`: reasons not to go on, in words. `within`: what fell and may be noise."""

    stops: tuple[str, ...]
    within: tuple[str, ...]

    @property
    def passed(self) -> bool:
        return not self.stops


def gate(report: Report, baseline: Baseline, floors: Mapping[str, float]) -> Verdict:
    """Raises OtherBaseline where the two can't be compared."""
    stops = [f"{question.id} failed: {question.error}" for question in report.failed]
    stops += [
        f"{question.id} breaks an invariant: {what}" for question in report.violated for what in question.violations
    ]
    stops += _below(report, floors)
    within: list[str] = []
    for fall in falls(report, baseline):
        p = _p(fall)
        if p < _ALPHA:
            stops.append(f"{fall} (p = {p:.3g})")
        else:
            within.append(f"{fall} (p = {p:.3g}, may be noise)")
    return Verdict(tuple(stops), tuple(within))


def read_floors(set_name: str, path: Path = FLOORS) -> dict[str, float]:
    """The least that each measure over a whole set may be, by hand; none where the file does not name the set.

    Raises BadFloors.
    """
    if not path.exists():
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8")).get(set_name, {})
        return {str(name): float(least) for name, least in found.items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise BadFloors(path, str(error)) from error


def _below(report: Report, floors: Mapping[str, float]) -> list[str]:
    told = []
    for name, least in floors.items():
        found = report.overall.measures.get(name)
        value = found.mean if found else getattr(report.abstention, name.removeprefix("abstention "), None)
        if value is None or value < least:
            told.append(f"{name} is {value}, below the floor of {least}")
    return told


def _p(fall: Fall) -> float:
    before: Sequence[float] = [pair[0] for pair in fall.pairs]
    after: Sequence[float] = [pair[1] for pair in fall.pairs]
    return paired_difference(before, after).p
