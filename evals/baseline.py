"""What a report is compared with: the figures of an earlier one, small enough to be committed.

In: a report. Out: its baseline as text, one category and one question a line, no timings; later, for a new report, the
measures that fell and the questions that made them fall.
Not known here: whether a fall is more than noise.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from app.answer import Record
from evals.errors import NoBaseline, NotABaseline, OtherBaseline
from evals.judge import Question
from evals.report import Group, Report, SetName, SystemName

BASELINES = Path(__file__).parent / "baselines"

_OVERALL = "all"
_ABSTENTION: Mapping[str, Callable[[Question], bool]] = {  # which questions each is about
    "precision": lambda question: True,
    "recall": lambda question: not question.answerable,
    "f1": lambda question: True,
    "off_topic_refused": lambda question: question.off_topic,
}


class Baseline(Record):
    """Pooled measures by category and over all, and every question's scores below 1 (the others were 1)."""

    set: SetName
    system: SystemName
    groups: Mapping[str, Group]
    abstention: Mapping[str, float]
    below_one: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Fall:
    """A pooled measure that is lower than it was; `flipped` are the questions whose own score fell, `pairs` every
    question's score before and after."""

    group: str
    measure: str
    before: float
    after: float
    flipped: tuple[str, ...]
    pairs: tuple[tuple[float, float], ...]

    def __str__(self) -> str:
        return f"{self.group}: {self.measure} fell from {self.before} to {self.after}: {'; '.join(self.flipped)}"


def path_of(set_name: str, fingerprint: str) -> Path:
    """Where the baseline of that set and embedding model is kept."""
    return BASELINES / f"{set_name}-{fingerprint}.json"


def baseline_of(report: Report) -> Baseline:
    """The part of `report` to compare with. Raises NotABaseline where questions failed."""
    if report.failed:
        raise NotABaseline(len(report.failed), f"{report.failed[0].id}, {report.failed[0].error}")
    scores = {q.id: {name: s.value for name, s in q.scores.items() if s.value < 1} for q in report.questions}
    return Baseline(
        set=report.set,
        system=report.system,
        groups=_groups(report),
        abstention=_abstention(report),
        below_one={id: below for id, below in scores.items() if below},
    )


def to_text(baseline: Baseline) -> str:
    """JSON with sorted keys."""
    return _laid_out(baseline.model_dump(mode="json")) + "\n"


def read_baseline(path: Path, set_name: str) -> Baseline:
    """Raises NoBaseline or, where the file is of another make, OtherBaseline."""
    try:
        return Baseline.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise NoBaseline(path, set_name) from None
    except (OSError, ValidationError):
        raise OtherBaseline(path, "code (it cannot be read)", set_name) from None


def falls(report: Report, baseline: Baseline) -> tuple[Fall, ...]:
    """The measures of `report` that are below the baseline's. Raises OtherBaseline where they can't be compared."""
    _demand_alike(report, baseline)
    after = _groups(report)
    return tuple(
        Fall(group, name, old.mean, new, *_changed(_members(report, group), baseline, name))
        for group, old_group in baseline.groups.items()
        for name, old in old_group.measures.items()
        if (new := _mean(after.get(group), name)) < old.mean
    ) + tuple(_abstention_falls(report, baseline))


def _demand_alike(report: Report, baseline: Baseline) -> None:
    path = path_of(report.set.name, report.system.embedder)
    for what, before, now in (
        ("questions", baseline.set.digest, report.set.digest),
        ("papers", baseline.system.texts, report.system.texts),
        ("embedder", baseline.system.embedder, report.system.embedder),
    ):
        if before != now:
            raise OtherBaseline(path, what, report.set.name)


def _groups(report: Report) -> dict[str, Group]:
    return {**report.categories, _OVERALL: report.overall}


def _members(report: Report, group: str) -> list[Question]:
    return [question for question in report.questions if group in (_OVERALL, question.category)]


def _mean(group: Group | None, name: str) -> float:
    """A measure that is no longer taken counts as 0."""
    return group.measures[name].mean if group and name in group.measures else 0.0


def _abstention(report: Report) -> dict[str, float]:
    found = {name: getattr(report.abstention, name) for name in _ABSTENTION}
    return {name: value for name, value in found.items() if value is not None}


def _abstention_falls(report: Report, baseline: Baseline) -> Iterator[Fall]:
    after = _abstention(report)
    for name, old in baseline.abstention.items():
        if after.get(name, 0.0) < old:
            asked = [question for question in report.questions if _ABSTENTION[name](question)]
            changed = _changed(asked, baseline, "abstention")
            yield Fall(_OVERALL, f"abstention {name}", old, after.get(name, 0.0), *changed)


def _changed(
    questions: Iterable[Question], baseline: Baseline, measure: str
) -> tuple[tuple[str, ...], tuple[tuple[float, float], ...]]:
    """Those of the questions whose score fell, in words, and the score of each before and after."""
    fell, pairs = [], []
    for question in questions:
        if measure in question.scores:
            before, now = baseline.below_one.get(question.id, {}).get(measure, 1.0), question.scores[measure]
            pairs.append((before, now.value))
            if now.value < before:
                fell.append(f"{question.id} {before:g} -> {now.value:g} ({now.reason})")
    return tuple(fell), tuple(pairs)


def _laid_out(value: Any, depth: int = 2, indent: str = "") -> str:
    """JSON that is spread over lines down to `depth` and no deeper: a change of one question changes one line."""
    if depth == 0 or not isinstance(value, dict) or not value:
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    rows = (f"{indent} {json.dumps(key)}: {_laid_out(value[key], depth - 1, indent + ' ')}" for key in sorted(value))
    return "{\n" + ",\n".join(rows) + f"\n{indent}}}"
