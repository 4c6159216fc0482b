"""What becomes of time, memory and disk as a corpus grows, with the hashing embedder.

In: a large file of papers. Out: one row a size.
Not known here: a real model, whose pass grows with the number of papers alone.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from evals.bench.child import Run, run_ingest
from evals.bench.latency import Latency, latency
from evals.bench.source import packed_lines
from vectorstore.hashing import HashingEmbedder

SIZES = (1_000, 6_600, 20_000, 100_000)
_QUESTIONS = 100


@dataclass(frozen=True)
class Size:
    """`disk` is the generation's bytes, `cache` the embedding cache's."""

    run: Run
    disk: int
    cache: int
    latency: Latency


def scale(source: Path, work: Path) -> Iterator[Size]:
    """One row for each of SIZES, or for as many records as there are. Every title's words are a question."""
    for size in SIZES:
        root, part = work / f"scale-{size}", work / f"scale-{size}.jsonl"
        lines = list(islice(packed_lines(source), size))
        part.write_text("".join(lines), encoding="utf-8")
        run = run_ingest(root, [part], "hashing", "fp32")
        questions = [json.loads(line)["title"] for line in lines[:: max(1, len(lines) // _QUESTIONS)]][:_QUESTIONS]
        disk = sum(file.stat().st_size for file in root.glob("gen-*/**/*") if file.is_file())
        cache = (root / "embeddings.sqlite3").stat().st_size
        yield Size(run, disk, cache, latency(root, HashingEmbedder(), [q for q in questions if q], answers=False))
