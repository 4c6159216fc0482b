"""What was found, decided and written, put together as an `Answer`.

In: a `Draft`. Out: `Answer`, with its text as Markdown.
Not known here: how any of it came about.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.answer import (
    Answer,
    CitedPaper,
    Conditions,
    Lead,
    PaperCard,
    Refusal,
    RefusalReason,
    Retrieved,
)
from app.extractive import Written
from app.frames import corpus_lead, refusal
from app.question import Question
from vectorstore.paper import Evidence, Paper

_NEAREST = 3  # papers named beside a refusal


@dataclass(frozen=True)
class Draft:
    """Everything an answer is made of."""

    asked: str
    question: Question
    evidence: Sequence[Evidence]
    reason: RefusalReason | None
    written: Written
    confidence: float
    corpus: str
    papers: int
    conditions: Conditions
    timings_ms: Mapping[str, float]


def compose(draft: Draft, started: float) -> Answer:
    """The answer; `started` is when it was asked (time.perf_counter), for the timings."""
    refused = Refusal(reason=draft.reason, message=refusal(draft.reason, draft.papers)) if draft.reason else None
    lead = _lead(draft) if draft.question.route == "meta" and not refused else None
    cited = tuple(CitedPaper.cited(n, paper) for n, paper in enumerate(draft.written.papers, start=1))
    nearest = tuple(PaperCard.of(found.paper) for found in draft.evidence[:_NEAREST]) if refused else ()
    total = 1000 * (time.perf_counter() - started)
    spent = {stage: round(ms, 2) for stage, ms in draft.timings_ms.items()}
    return Answer(
        question=draft.asked,
        standalone_question=draft.question.text,
        language=draft.question.language,
        status="refused" if refused else "answered",
        refusal=refused,
        route=draft.question.route,
        interpreted_as=_interpretation(draft),
        lead=lead,
        text=refused.message if refused else lead.text if lead else _markdown(draft),
        sentences=draft.written.sentences,
        papers=cited,
        nearest=nearest,
        retrieved=tuple(
            Retrieved(id=found.paper.id, rank=found.rank, score=found.score, found_by=found.found_by)
            for found in draft.evidence
        ),
        corpus=draft.corpus,
        confidence=round(draft.confidence, 6),
        timings_ms={**spent, "write": round(total - sum(spent.values()), 2), "total": round(total, 2)},
    )


def _markdown(draft: Draft) -> str:
    """The sentences with their marks; a list with a line a paper where papers were asked for."""
    marked = [
        f"{sentence.text} {''.join(f'[{number}]' for number in sentence.citations)}"
        for sentence in draft.written.sentences
    ]
    if not draft.question.is_several:
        return " ".join(marked)
    labels = [draft.written.papers[sentence.citations[0] - 1].label for sentence in draft.written.sentences]
    return "\n".join(f"- **{label}**: {line}" for label, line in zip(labels, marked, strict=True))


def _interpretation(draft: Draft) -> dict[str, Any]:
    """How the question was understood: the names in it that the cited papers hold, and the conditions set."""
    held = " ".join(f"{paper.title} {paper.abstract}" for paper in draft.written.papers).casefold()
    names = [name for name in draft.question.names if name.casefold() in held]
    return {**({"names": names} if names else {}), **draft.conditions.model_dump(exclude_defaults=True)}


def _lead(draft: Draft) -> Lead:
    venues = sorted({_venue(found.paper) for found in draft.evidence} - {""})
    return Lead(
        text=corpus_lead(draft.papers, ", ".join(venues)), criterion="all papers of the index", count=draft.papers
    )


def _venue(paper: Paper) -> str:
    return " ".join(str(part) for part in (paper.venue, paper.year) if part)
