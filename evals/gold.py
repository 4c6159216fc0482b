"""The papers that a set names, found in the corpus at hand.

In: cases, a system. Out: for each case the ids under which the corpus has its papers. A paper of the bundled sample
whose id is absent is known by the exact text of its abstract: that is how the sample is recognised when it was
ingested from its two text files, which have no ids.
Not known here: answers, measures.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from evals.case import Case
from evals.errors import GoldMissing
from evals.system import System
from ingest.document import Skipped
from ingest.readers import read

SAMPLE = Path(__file__).parent.parent / "ingest" / "samples" / "icml2026_sample.jsonl"

_INGEST_SAMPLE = (
    "The questions are about the bundled sample: run `paperchat ingest ingest/samples/icml2026_sample.jsonl`."
)
_INGEST_OTHER = "Run `paperchat ingest` on the corpus that the set was written for."


@dataclass(frozen=True)
class Gold:
    """The corpus's own ids of a case's papers. `whole`: every paper of the corpus is relevant."""

    relevant: frozenset[str] = frozenset()
    neutral: frozenset[str] = frozenset()
    whole: bool = False


def find_gold(cases: Iterable[Case], system: System) -> dict[str, Gold]:
    """Gold by case id. Raises GoldMissing where a paper is found neither by id nor by text."""
    papers = system.papers()
    by_id = {paper.id: paper.id for paper in papers}
    by_text = {paper.abstract: paper.id for paper in papers if paper.abstract}
    sample = _sample_abstracts()
    missing: dict[str, str] = {}

    def home(id: str, case: Case) -> str:
        found = by_id.get(id)
        if found is None and (paper := system.paper(id)) is not None:
            found = paper.id
        if found is None:
            found = by_text.get(sample.get(id, ""))
        if found is None:
            missing.setdefault(id, case.id)
        return found or id

    golds: dict[str, Gold] = {}
    for case in cases:
        relevant = frozenset(home(id, case) for id in case.relevant)
        neutral = frozenset(home(id, case) for id in case.neutral) - relevant
        golds[case.id] = Gold(relevant, neutral, len(relevant) == len(papers))
    _demand_none(missing, sample)
    return golds


def _sample_abstracts() -> dict[str, str]:
    """Abstracts of the bundled sample by id, cleaned as an ingest cleans them."""
    return {paper.id: paper.abstract for paper in read(SAMPLE) if not isinstance(paper, Skipped)}


def _demand_none(missing: Mapping[str, str], sample: Mapping[str, str]) -> None:
    for id, case in missing.items():
        remedy = _INGEST_SAMPLE if id in sample else _INGEST_OTHER
        raise GoldMissing(case, id, len(missing) - 1, remedy)
