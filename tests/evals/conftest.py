"""A corpus of three papers, and answers over it that a test spells out in a line."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from app.answer import Answer, CitedPaper, Lead, Quote, Refusal, Retrieved, Sentence, Turn
from evals.case import Case
from evals.gold import Gold
from evals.measure import Trial
from vectorstore.paper import Paper

PAPERS = (
    Paper(
        id="p1", title="Steiner", abstract="We raise the bound to $0.8559$. It was 0.824.", authors=("Ann Lee", "Bo Ek")
    ),
    Paper(id="p2", title="Balance", abstract="Experts are balanced by mirror descent. It costs **1.5\\%** more."),
    Paper(id="p3", title="Rain", abstract="Rain is forecast on ERA5 in 11.52 s.", year=2026, decision="oral"),
)


class Scripted:
    """A system that gives prepared answers; an exception among them is raised."""

    corpus = "c0ffee"
    fingerprint = "scripted-v1"

    def __init__(self, answers: Mapping[str, Answer | Exception], papers: Sequence[Paper] = PAPERS) -> None:
        self.answers = answers
        self.asked: list[tuple[str, tuple[Turn, ...]]] = []
        self._papers = list(papers)

    def ask(self, question: str, history: Sequence[Turn] = ()) -> Answer:
        self.asked.append((question, tuple(history)))
        found = self.answers[question]
        if isinstance(found, Exception):
            raise found
        return found

    def papers(self) -> list[Paper]:
        return self._papers

    def paper(self, name: str, /) -> Paper | None:
        return next((paper for paper in self._papers if name in (paper.id, *paper.aliases)), None)


def build_answer(
    quotes: Sequence[tuple[str, str]] = (),
    retrieved: Sequence[str] = ("p1", "p2", "p3"),
    refused: Any = None,
    count: int | None = None,
    **fields: Any,
) -> Answer:
    """An answer with one sentence for each (paper id, quote of its abstract), each id numbered when first met."""
    numbers = {id: place for place, id in enumerate(dict.fromkeys(id for id, _ in quotes), start=1)}
    by_id = {paper.id: paper for paper in PAPERS}
    sentences = []
    for id, quote in quotes:
        start = by_id[id].abstract.index(quote)
        evidence = Quote(paper_id=id, start=start, end=start + len(quote), quote=quote)
        sentences.append(Sentence(text=quote, citations=(numbers[id],), evidence=(evidence,)))
    made = {
        "question": "q",
        "standalone_question": "q",
        "status": "refused" if refused else "answered",
        "refusal": Refusal(reason=refused, message="Not in these papers.") if refused else None,
        "route": "fact",
        "lead": None if quotes or refused else Lead(text="This collection holds papers."),
        "text": " ".join(quote for _, quote in quotes),
        "sentences": tuple(sentences),
        "papers": tuple(CitedPaper.cited(number, by_id[id]) for id, number in numbers.items()),
        "retrieved": tuple(
            Retrieved(id=id, rank=rank, score=1 / rank, found_by=("dense",)) for rank, id in enumerate(retrieved, 1)
        ),
        "corpus": "c0ffee",
        "timings_ms": {"search": 2.0, "total": 3.0},
    }
    if count is not None:
        made["lead"] = Lead(text=f"{count} papers", count=count)
    return Answer(**{**made, **fields})


def build_case(**fields: Any) -> Case:
    """A case about p1, but for what is given."""
    return Case(**{"id": "c1", "category": "fact", "question": "q", "relevant": ("p1",), **fields})


def build_trial(answer: Answer, whole: bool = False, **fields: Any) -> Trial:
    """The trial of `answer` at the case of those fields."""
    case = build_case(**fields)
    gold = Gold(frozenset(case.relevant), frozenset(case.neutral), whole)
    return Trial(case, gold, answer, Scripted({}).paper)


@pytest.fixture
def scripted() -> type[Scripted]:
    return Scripted


@pytest.fixture
def answer() -> Any:
    return build_answer


@pytest.fixture
def case() -> Any:
    return build_case


@pytest.fixture
def trial() -> Any:
    return build_trial
