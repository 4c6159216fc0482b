"""Did it get better or worse, and is that more than noise?

In: two reports, or more, on the same questions over the same papers. Out: for each measure the paired difference with
its p-value, corrected for the number of looks; the questions that flipped, both ways.
Not known here: how a report came about, what is done about a fall.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evals.errors import NotComparable
from evals.judge import MEASURES, Question
from evals.report import Report
from evals.stats import holm, paired_difference

_LEAST = 1e-6  # scores are rounded to six places


@dataclass(frozen=True)
class Change:
    """One measure over the questions that it applies to; `corrected` is Holm's p among all that were looked at."""

    measure: str
    n: int
    before: float
    after: float
    p: float
    corrected: float

    @property
    def difference(self) -> float:
        return self.after - self.before


@dataclass(frozen=True)
class Flip:
    """A question whose scores changed: by measure before and after, and the ranks of its gold papers."""

    id: str
    category: str
    question: str
    worse: Mapping[str, tuple[float, float]]
    better: Mapping[str, tuple[float, float]]
    ranks: tuple[tuple[int, ...], tuple[int, ...]]
    status: tuple[str, str]
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Comparison:
    """Of a report with the first one: changes in the order of measures; flips, the worst first."""

    name: str
    changes: tuple[Change, ...]
    flips: tuple[Flip, ...]

    @property
    def fell(self) -> tuple[Flip, ...]:
        return tuple(flip for flip in self.flips if flip.worse)

    @property
    def rose(self) -> tuple[Flip, ...]:
        return tuple(flip for flip in self.flips if flip.better and not flip.worse)


def compare(base: Report, others: Mapping[str, Report]) -> list[Comparison]:
    """Each of `others`, by its name, with `base`. p-values are corrected over all measures of all of them.

    Raises NotComparable where they speak of other questions or papers.
    """
    for name, other in others.items():
        demand_alike(base, other, name)
    looks = [(name, measure) for name in others for measure in _measures(base, others[name])]
    pairs = {look: _scores(base, others[look[0]], look[1]) for look in looks}
    found = {look: paired_difference(*pairs[look]) for look in looks}
    corrected = dict(zip(looks, holm([found[look].p for look in looks]), strict=True))
    return [
        Comparison(
            name,
            tuple(
                Change(measure, len(a), sum(a) / len(a), sum(b) / len(b), found[look].p, corrected[look])
                for look in looks
                if look[0] == name
                for measure, (a, b) in ((look[1], pairs[look]),)
            ),
            flips(base.questions, other.questions),
        )
        for name, other in others.items()
    ]


def demand_alike(base: Report, other: Report, name: str) -> None:
    """Raises NotComparable unless both speak of the same questions over the same papers."""
    for what, before, now in (
        ("questions", (base.set.name, base.set.digest), (other.set.name, other.set.digest)),
        ("papers", base.system.texts, other.system.texts),
    ):
        if before != now:
            raise NotComparable(name, what)


def flips(before: Sequence[Question], after: Sequence[Question]) -> tuple[Flip, ...]:
    """The questions whose scores differ, those that lost most first."""
    later = {question.id: question for question in after}
    found = [_flip(question, later[question.id]) for question in before if question.id in later]
    changed = [flip for flip in found if flip.worse or flip.better]
    return tuple(sorted(changed, key=lambda flip: (_gain(flip), flip.id)))


def _flip(before: Question, after: Question) -> Flip:
    both = {
        name: (before.scores[name].value, after.scores[name].value)
        for name in before.scores
        if name in after.scores and abs(before.scores[name].value - after.scores[name].value) > _LEAST
    }
    return Flip(
        id=before.id,
        category=before.category,
        question=before.question,
        worse={name: pair for name, pair in both.items() if pair[1] < pair[0]},
        better={name: pair for name, pair in both.items() if pair[1] > pair[0]},
        ranks=(before.ranks, after.ranks),
        status=(_status(before), _status(after)),
        reasons=tuple(dict.fromkeys(after.scores[name].reason for name in both)),
    )


def _status(question: Question) -> str:
    return f"refused ({question.refusal})" if question.refusal else question.status


def _gain(flip: Flip) -> float:
    return sum(after - before for before, after in (*flip.worse.values(), *flip.better.values()))


def _measures(base: Report, other: Report) -> list[str]:
    return [
        measure.name
        for measure in MEASURES
        if measure.name in base.overall.measures and measure.name in other.overall.measures
    ]


def _scores(base: Report, other: Report, measure: str) -> tuple[list[float], list[float]]:
    """The measure's scores of the questions that have it in both, in the same order."""
    later = {question.id: question.scores for question in other.questions}
    both = [
        (question.scores[measure].value, later[question.id][measure].value)
        for question in base.questions
        if measure in question.scores and measure in later.get(question.id, {})
    ]
    return [a for a, _ in both], [b for _, b in both]
