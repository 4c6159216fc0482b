"""A whole conference: the first ingest, one that changes nothing, one of ten new papers, and questions.

In: the conference's file, and one of other papers. Out: seconds by stage, memory, milliseconds.
Not known here: other sizes (scale.py).
"""

from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from evals.bench.child import Run, run_ingest
from evals.bench.latency import Latency, latency
from evals.bench.source import packed_lines
from vectorstore.embedder import open_embedder
from vectorstore.precision import Precision

_NEW = 10


@dataclass(frozen=True)
class Conference:
    first: Run
    unchanged: Run
    added: Run
    latency: Latency


def conference(source: Path, others: Path, questions: list[str], work: Path, precision: Precision) -> Conference:
    """Measure it in `work`, which must hold no index yet for the first ingest to be one."""
    root, ten = work / "conference", work / "ten.jsonl"
    ten.write_text("".join(islice(packed_lines(others), _NEW)), encoding="utf-8")
    first = run_ingest(root, [source], "minilm", precision)
    unchanged = run_ingest(root, [source], "minilm", precision)
    added = run_ingest(root, [ten], "minilm", precision)
    return Conference(first, unchanged, added, latency(root, open_embedder("minilm", precision), questions))
