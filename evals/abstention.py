"""Does it refuse what the corpus cannot answer, and only that?

In: trials, and later what was decided for each. Out: whether a question was declined; precision, recall and F1 of
declining, the share of off-topic questions refused, the answerable ones refused.
A question with a false premise is declined by a refusal or by an answer that cites first the paper that denies it,
and shows the words where the case names them.
Not known here: why something was refused.
"""

from collections.abc import Sequence
from typing import Protocol

from app.answer import Record
from evals.case import Case
from evals.gold import Gold
from evals.grounding import contains, shown_quotes
from evals.measure import Measure, Score, Trial, listed


def declined(trial: Trial) -> bool:
    """Whether the system said, in one way or the other, that there is no such answer."""
    return trial.answer.status == "refused" or _denied(trial)


def _denied(trial: Trial) -> bool:
    if not (trial.case.premise_false and trial.cited and trial.cited[0] in trial.gold.relevant):
        return False
    quotes = [quote for id, quote in shown_quotes(trial) if id in trial.gold.relevant]
    return all(any(contains(quote, wanted) for quote in quotes) for wanted in trial.case.must_show)


def _abstention(trial: Trial) -> Score:
    refusal = trial.answer.refusal
    said = f"refused ({refusal.reason})" if refusal else f"answered, citing {listed(trial.cited) or 'nothing'}"
    if trial.case.answerable:
        return Score(value=float(not refusal), reason=f"{said}; the corpus answers")
    right = declined(trial)
    if trial.case.premise_false and right and not refusal:
        said += ", which denies the premise"
    return Score(value=float(right), reason=f"{said}; the corpus does not answer")


def _always(case: Case, gold: Gold) -> bool:
    return True


MEASURES: tuple[Measure, ...] = (
    Measure(
        "abstention",
        "1 when an unanswerable question is declined or an answerable one answered, else 0; in a category of "
        "unanswerable questions its mean is the share declined.",
        "accuracy of abstaining (Wen et al., arXiv 2407.18418)",
        _always,
        _abstention,
    ),
)


class Decided(Protocol):
    """What the summary needs to know of a question that was put."""

    @property
    def id(self) -> str: ...
    @property
    def answerable(self) -> bool: ...
    @property
    def off_topic(self) -> bool: ...
    @property
    def status(self) -> str: ...
    @property
    def declined(self) -> bool: ...
    @property
    def confidence(self) -> float | None: ...


class Point(Record):
    """What declining everything below `threshold` of confidence would give."""

    threshold: float
    precision: float
    recall: float
    f1: float
    answerable_refused: float


_POINTS = 40


class Abstention(Record):
    """Declining as a detector of unanswerable questions (Wen et al., arXiv 2407.18418; SQuAD 2.0, arXiv 1806.03822).

    precision = unanswerable declined / all declined; recall = unanswerable declined / all unanswerable; F1 their
    harmonic mean; each None where there is no unanswerable question. `off_topic_refused` is recall among off-topic
    questions. The lists hold ids. `curve` holds the same three over the threshold, with the share of the answerable
    questions that would be refused, from refusing none to refusing all; empty where a system tells no confidence.
    """

    precision: float | None
    recall: float | None
    f1: float | None
    off_topic_refused: float | None
    answerable_refused: tuple[str, ...]
    unanswerable_not_declined: tuple[str, ...]
    curve: tuple[Point, ...] = ()


def summary(questions: Sequence[Decided]) -> Abstention:
    """How well declining told the unanswerable questions apart. One that failed was not declined."""
    unanswerable = [question for question in questions if not question.answerable]
    right = [question for question in unanswerable if question.declined]
    wrong = tuple(question.id for question in questions if question.answerable and question.declined)
    off_topic = [question.declined for question in unanswerable if question.off_topic]
    any_at_all = bool(unanswerable)
    return Abstention(
        precision=_share(len(right), len(right) + len(wrong)) if any_at_all else None,
        recall=_share(len(right), len(unanswerable)) if any_at_all else None,
        f1=_share(2 * len(right), len(right) + len(wrong) + len(unanswerable)) if any_at_all else None,
        off_topic_refused=_share(sum(off_topic), len(off_topic)) if off_topic else None,
        answerable_refused=wrong,
        unanswerable_not_declined=tuple(question.id for question in unanswerable if not question.declined),
        curve=curve(questions) if any_at_all else (),
    )


def curve(questions: Sequence[Decided]) -> tuple[Point, ...]:
    """Precision, recall and F1 of declining, over the threshold, at up to 40 of the confidences that occur.

    A denial of a false premise declines at every threshold, a question that failed at none.
    """
    found = sorted({question.confidence for question in questions if question.confidence is not None})
    if not found:
        return ()
    places = sorted({round(step * (len(found) - 1) / (_POINTS - 1)) for step in range(_POINTS)})
    return (*(_point(questions, found[place]) for place in places), _point(questions, found[-1] + 1e-6))


def _point(questions: Sequence[Decided], threshold: float) -> Point:
    declined = [
        question
        for question in questions
        if (question.declined and question.status == "answered")
        or (question.confidence is not None and question.confidence < threshold)
    ]
    unanswerable = [question for question in questions if not question.answerable]
    wrong = sum(question.answerable for question in declined)
    right = len(declined) - wrong
    return Point(
        threshold=round(threshold, 6),
        precision=_share(right, right + wrong),
        recall=_share(right, len(unanswerable)),
        f1=_share(2 * right, right + wrong + len(unanswerable)),
        answerable_refused=_share(wrong, len(questions) - len(unanswerable)),
    )


def _share(part: int, whole: int) -> float:
    return round(part / whole, 6) if whole else 0.0
