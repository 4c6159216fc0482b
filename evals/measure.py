"""What a measure is: a name, a definition with its source, which cases it applies to, and how one answer scores.

In: nothing; these are records. Out: nothing but their shape.
Whether a measure applies depends on the case and never on the answer: so a question that fails or is refused scores 0
where it could have scored, and a mean always has the same n.
Not known here: any particular measure (retrieval.py, grounding.py, abstention.py).
"""

from collections.abc import Callable
from dataclasses import dataclass

from app.answer import Answer, Record
from evals.case import Case
from evals.gold import Gold
from vectorstore.paper import Paper


class Score(Record):
    """A value from 0 to 1, higher is better, and why it is that, in words."""

    value: float
    reason: str


@dataclass(frozen=True)
class Trial:
    """One answer to one case. `paper` looks a paper up in the corpus that answered."""

    case: Case
    gold: Gold
    answer: Answer
    paper: Callable[[str], Paper | None]

    @property
    def cited(self) -> tuple[str, ...]:
        """Ids of the papers that an answer cites, in order, without neutral ones; none when it refuses."""
        papers = self.answer.papers if self.answer.status == "answered" else ()
        return tuple(paper.id for paper in papers if paper.id not in self.gold.neutral)

    @property
    def why_nothing_cited(self) -> str:
        refusal = self.answer.refusal
        return f"refused ({refusal.reason})" if refusal else "no paper that counts is cited"


@dataclass(frozen=True)
class Measure:
    """How one aspect of an answer is scored."""

    name: str
    definition: str
    source: str
    applies: Callable[[Case, Gold], bool]
    score: Callable[[Trial], Score]


def listed(ids: tuple[str, ...] | frozenset[str], limit: int = 3) -> str:
    """Ids in words, shortened: "a, b, c and 4 more"."""
    shown = list(ids) if isinstance(ids, tuple) else sorted(ids)
    rest = len(shown) - limit
    return ", ".join(shown[:limit]) + (f" and {rest} more" if rest > 0 else "")
