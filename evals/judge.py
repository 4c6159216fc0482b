"""One question's row of the report: what came back, and what every measure makes of it.

In: a trial, or a case with the error that it ended in. Out: a `Question`.
Not known here: other questions, means.
"""

from collections.abc import Mapping
from typing import Literal

from app.answer import Record
from evals import abstention, attribution, grounding, invariants, retrieval
from evals.case import Case
from evals.gold import Gold
from evals.measure import Measure, Score, Trial

MEASURES: tuple[Measure, ...] = (
    *retrieval.MEASURES,
    *grounding.MEASURES,
    *attribution.MEASURES,
    *abstention.MEASURES,
    *invariants.MEASURES,
)

_RETRIEVED_KEPT = 10  # as deep as the deepest cut-off


class Shown(Record):
    """A quote as it was shown with the answer."""

    paper: str
    quote: str


class Question(Record):
    """What a system made of one case. Ids are the corpus's own; `ranks` are the gold papers' in the ranking.

    `confidence` is what the system says for an answer, where it says it: it refuses what is below its threshold.
    `scores` holds every measure that applies to the case. `error` is empty unless the status is "failed".
    """

    id: str
    category: str
    question: str
    answerable: bool
    off_topic: bool
    status: Literal["answered", "refused", "failed"]
    refusal: str = ""
    route: str = ""
    declined: bool = False
    confidence: float | None = None
    gold: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    retrieved: tuple[str, ...] = ()
    cited: tuple[str, ...] = ()
    shown: tuple[Shown, ...] = ()
    scores: Mapping[str, Score] = {}
    violations: tuple[str, ...] = ()
    error: str = ""

    @property
    def misses(self) -> Mapping[str, Score]:
        """The scores that a perfect answer would have had higher; recall can't be 1 before the gold papers fit in."""
        short = {f"R@{k}" for k in retrieval.CUTOFFS if k < len(self.gold)}
        return {name: score for name, score in self.scores.items() if score.value < 1 and name not in short}


def judge(trial: Trial) -> Question:
    """The row of an answer."""
    case, answer = trial.case, trial.answer
    return Question(
        id=case.id,
        category=case.category,
        question=case.question,
        answerable=case.answerable,
        off_topic=case.off_topic,
        status=answer.status,
        refusal=answer.refusal.reason if answer.refusal else "",
        route=answer.route,
        declined=abstention.declined(trial),
        confidence=answer.confidence,
        gold=tuple(sorted(trial.gold.relevant)),
        ranks=retrieval.gold_ranks(trial),
        retrieved=retrieval.ranking(trial)[:_RETRIEVED_KEPT],
        cited=tuple(paper.id for paper in answer.papers),
        shown=tuple(Shown(paper=paper, quote=quote) for paper, quote in grounding.shown_quotes(trial)),
        scores={m.name: _rounded(m.score(trial)) for m in MEASURES if m.applies(case, trial.gold)},
        violations=invariants.violations(trial),
    )


def failed(case: Case, gold: Gold, error: Exception) -> Question:
    """The row of a question that ended in an error: it scores 0 on everything that applies."""
    lines = str(error).strip().splitlines()
    what = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
    return Question(
        id=case.id,
        category=case.category,
        question=case.question,
        answerable=case.answerable,
        off_topic=case.off_topic,
        status="failed",
        gold=tuple(sorted(gold.relevant)),
        scores={m.name: Score(value=0.0, reason=f"failed: {what}") for m in MEASURES if m.applies(case, gold)},
        error=what,
    )


def _rounded(score: Score) -> Score:
    return Score(value=round(score.value, 6), reason=score.reason)
