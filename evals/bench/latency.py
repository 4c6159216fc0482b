"""How long a question takes, by stage.

In: an index and questions. Out: percentiles in milliseconds.
Not known here: what was answered.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.assistant import Assistant
from evals.report import Percentiles
from evals.report import latency as percentiles
from vectorstore.search import Searcher
from vectorstore.vectors import Embedder

_RUNS = 5


@dataclass(frozen=True)
class Latency:
    """Milliseconds: retrieval without the question's embedding (the best of five runs), embedding, whole answers."""

    search: Percentiles
    embed: Percentiles
    answer: Percentiles | None


def latency(root: Path, embedder: Embedder, questions: Sequence[str], answers: bool = True) -> Latency:
    """Latencies of `questions`, one user at a time."""
    searcher = Searcher(root, embedder)
    runs = []
    for _ in range(_RUNS):
        found = [searcher.search(question) for question in questions]
        runs.append(percentiles([{"search": each.search_ms, "embed": each.embed_ms} for each in found]))
    searcher.close()
    best = min(runs, key=lambda run: run["search"].p95)
    return Latency(best["search"], best["embed"], _answers(root, embedder, questions) if answers else None)


def _answers(root: Path, embedder: Embedder, questions: Sequence[str]) -> Percentiles:
    assistant = Assistant(root, embedder)
    assistant.warm_up()
    times = []
    for question in questions:
        started = time.perf_counter()
        assistant.ask(question)
        times.append({"answer": 1000 * (time.perf_counter() - started)})
    assistant.close()
    return percentiles(times)["answer"]
