"""How much of the machine the embedding pass uses, by precision.

In: papers. Out: papers a second, GFLOP/s, and the share of the matmul limit, measured in turns within one run, so
that what else the machine does falls on all alike.
Not known here: where the papers come from.
"""

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from evals.bench.matmul import matmul_limit
from ingest.chunks import chunks_of
from ingest.sentences import sentence_spans
from vectorstore.embedder import SentenceTransformerEmbedder, open_embedder
from vectorstore.paper import Paper
from vectorstore.precision import Precision, fastest_precision

_ROUNDS = 5
_PAPERS = 128


@dataclass(frozen=True)
class Speed:
    """Medians over the rounds: chunks a second, GFLOP/s, and these as shares of the fp32 limit and of the limit in
    the same precision (None where that is not measured)."""

    precision: Precision
    chunks: float
    gflops: float
    of_fp32: float
    of_own: float | None


def embedding_speeds(papers: Sequence[Paper]) -> tuple[dict[str, float], list[Speed]]:
    """The limits by precision (GFLOP/s, medians), and the speed of each precision that this processor has."""
    kinds: list[Precision] = [p for p in get_args(Precision) if p != "bf16" or fastest_precision() == "bf16"]
    embedders = {kind: open_embedder("minilm", kind) for kind in kinds}
    first = embedders[kinds[0]]
    assert isinstance(first, SentenceTransformerEmbedder)
    step = max(1, len(papers) // _PAPERS)
    chunks = [
        chunk
        for paper in papers[::step]
        for chunk in chunks_of(paper, sentence_spans(paper.abstract), first.max_tokens, first.count_tokens)
    ]
    chunks.sort(key=lambda chunk: -len(chunk.text))
    work = sum(first.operations(tokens) for tokens in first.count_tokens([chunk.text for chunk in chunks])) / 1e9
    limits: dict[str, list[float]] = {kind: [] for kind in kinds if kind != "int8"}
    seconds: dict[Precision, list[float]] = {kind: [] for kind in kinds}
    for embedder in embedders.values():
        embedder.embed(chunks[-8:])
    for _ in range(_ROUNDS):
        for kind, embedder in embedders.items():
            if kind in limits:
                limits[kind].append(matmul_limit(kind))
            started = time.perf_counter()
            embedder.embed(chunks)
            seconds[kind].append(time.perf_counter() - started)
    rows = []
    for kind, times in seconds.items():
        rates = [work / each for each in times]
        own = _share(rates, limits[kind]) if kind in limits else None
        rows.append(
            Speed(
                kind,
                statistics.median(len(chunks) / each for each in times),
                statistics.median(rates),
                _share(rates, limits["fp32"]),
                own,
            )
        )
    return {kind: statistics.median(found) for kind, found in limits.items()}, rows


def _share(rates: Sequence[float], limits: Sequence[float]) -> float:
    """The median of the rounds' shares: both were measured within seconds of each other."""
    return statistics.median(rate / limit for rate, limit in zip(rates, limits, strict=True))
