"""Whether a lower precision of the papers' vectors costs ranking quality.

In: benchmark folders in BEIR's layout. Out: nDCG@10 by precision, with the paired difference from fp32.
Not known here: how fast any of them is.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.beir import read_corpus, read_queries
from evals.bench.child import run_ingest
from evals.retrieval import values
from evals.stats import Difference, paired_difference
from vectorstore.embedder import open_embedder
from vectorstore.precision import Precision
from vectorstore.search import Searcher

_CUTOFF = 10


@dataclass(frozen=True)
class Quality:
    """Of one benchmark in one precision: queries, mean nDCG@10, and its difference from fp32."""

    benchmark: str
    precision: Precision
    queries: int
    ndcg: float
    difference: Difference | None


def precision_quality(folder: Path, work: Path, kinds: Sequence[Precision]) -> Iterator[Quality]:
    """One row a precision, fp32 first. The indexes stay in `work`, for the next run."""
    source = work / f"{folder.name}.jsonl"
    with source.open("w", encoding="utf-8") as lines:
        for paper in read_corpus(folder):
            row = {"id": f"{folder.name}:{paper.id}", "title": paper.title, "abstract": paper.abstract}
            lines.write(json.dumps(row) + "\n")
    queries = read_queries(folder)
    base: list[float] = []
    for kind in kinds:
        root = work / f"{folder.name}-{kind}"
        run_ingest(root, [source], "minilm", kind)
        searcher = Searcher(root, open_embedder("minilm", kind))
        scores = []
        for query in queries:
            found = searcher.search(query.text, _CUTOFF).evidence
            ranked = tuple(evidence.paper.id.partition(":")[2] for evidence in found)
            scores.append(values(ranked, query.relevant)["nDCG@10"])
        searcher.close()
        base = base or scores
        difference = None if kind == kinds[0] else paired_difference(base, scores)
        yield Quality(folder.name, kind, len(queries), sum(scores) / len(scores), difference)
