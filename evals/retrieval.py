"""Is the right paper found? Measures of the ranking, and of the paper that an answer cites first.

In: a trial. Out: Recall@k, Success@5, reciprocal rank and nDCG@10 of `Answer.retrieved`, computed by ir_measures
(MacAvaney et al., arXiv 2111.13466); whether the first cited paper is gold.
Neutral papers are taken out of the ranking before it is scored (condensed lists: Sakai, "Alternatives to Bpref",
SIGIR 2007). Relevance is binary.
Not known here: what the answer says.
"""

from collections.abc import Callable
from functools import lru_cache

import ir_measures

from evals.case import Case
from evals.gold import Gold
from evals.measure import Measure, Score, Trial, listed

CUTOFFS = (1, 3, 5, 10)

_MEASURES = (
    *(ir_measures.R @ k for k in CUTOFFS),
    ir_measures.Success @ 5,
    ir_measures.RR,
    ir_measures.nDCG @ 10,
)


def ranking(trial: Trial) -> tuple[str, ...]:
    """Ids as retrieved, best first, each once, without neutral ones."""
    rows = sorted(trial.answer.retrieved, key=lambda row: row.rank)
    return tuple(dict.fromkeys(row.id for row in rows if row.id not in trial.gold.neutral))


def gold_ranks(trial: Trial) -> tuple[int, ...]:
    """Ranks, from 1, of the gold papers that were retrieved."""
    return tuple(rank for rank, id in enumerate(ranking(trial), start=1) if id in trial.gold.relevant)


@lru_cache(maxsize=256)
def values(ranked: tuple[str, ...], relevant: frozenset[str]) -> dict[str, float]:
    """Every ranking measure by its ir_measures name, for one query."""
    qrels = [ir_measures.Qrel("q", id, 1) for id in sorted(relevant)]
    run = [ir_measures.ScoredDoc("q", id, float(len(ranked) - place)) for place, id in enumerate(ranked)]
    return {str(found.measure): found.value for found in ir_measures.iter_calc(_MEASURES, qrels, run)}


def _scorer(name: str) -> Callable[[Trial], Score]:
    return lambda trial: Score(value=values(ranking(trial), trial.gold.relevant)[name], reason=_where(trial))


def _where(trial: Trial) -> str:
    gold, ranks, retrieved = len(trial.gold.relevant), gold_ranks(trial), len(ranking(trial))
    if not ranks:
        return f"none of {gold} gold papers among the {retrieved} retrieved"
    shown = listed(tuple(map(str, ranks)), limit=10)
    missing = f", {gold - len(ranks)} not retrieved" if len(ranks) < gold else ""
    return f"gold papers ({gold}) at rank {shown}{missing}"


def _has_gold(case: Case, gold: Gold) -> bool:
    return bool(gold.relevant)


def cites(case: Case, gold: Gold) -> bool:
    """Whether the answer should cite: it has gold papers, and they are not simply all there are."""
    return case.answerable and bool(gold.relevant) and not gold.whole


def _first_cited(trial: Trial) -> Score:
    cited = trial.cited
    if not cited:
        return Score(value=0.0, reason=f"{trial.why_nothing_cited}; gold: {listed(trial.gold.relevant)}")
    if cited[0] in trial.gold.relevant:
        return Score(value=1.0, reason=f"cites {cited[0]} first, which is gold")
    return Score(value=0.0, reason=f"cites {cited[0]} first; gold: {listed(trial.gold.relevant)}")


def _ranked(name: str, definition: str, source: str) -> Measure:
    return Measure(name, definition, source, _has_gold, _scorer(name))


_TEXTBOOK = "Manning, Raghavan, Schütze, Introduction to Information Retrieval, 2008, ch. 8"
_TREC = "TREC's definition; some papers call it recall@k"
_RR = "Kantor, Voorhees, The TREC-5 Confusion Track, Information Retrieval 2, 2000"
_NDCG = "Järvelin, Kekäläinen, Cumulated gain-based evaluation of IR techniques, ACM TOIS 20(4), 2002"

MEASURES: tuple[Measure, ...] = (
    *(
        _ranked(f"R@{k}", f"Recall: share of the gold papers among the first {k} retrieved.", _TEXTBOOK)
        for k in CUTOFFS
    ),
    _ranked("Success@5", "1 when any gold paper is among the first 5 retrieved, else 0.", _TREC),
    _ranked("RR", "1 / rank of the first gold paper, 0 when none is retrieved; its mean is MRR.", _RR),
    _ranked("nDCG@10", "Sum of 1 / log2(1 + rank) over gold papers in the first 10, over its best value.", _NDCG),
    Measure(
        "first cited right",
        "1 when the answer's first cited paper that is not neutral is gold. A refusal scores 0.",
        "precision at 1 of the citations; evals/sets/README.md",
        cites,
        _first_cited,
    ),
)
