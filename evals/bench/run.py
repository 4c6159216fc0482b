"""Measures part by part, keeps what was found, and lays all of it out.

In: the folder of data (icml2026.jsonl, mlpapers_pool.jsonl.gz, benchmarks/), a folder to work in, names of parts.
Out: one JSON file a part in the work folder, and Markdown of every part that was ever measured there.
Not known here: how a part is measured.
"""

import datetime
import json
import os
import platform
import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

from app.answer import Record
from evals.bench.conference import conference
from evals.bench.embedding import embedding_speeds
from evals.bench.precision import precision_quality
from evals.bench.scale import scale
from evals.dataset import load
from evals.errors import DataMissing
from ingest.readers import read
from vectorstore.paper import Paper
from vectorstore.precision import Precision, fastest_precision

CONFERENCE, POOL, BENCHMARKS = "icml2026.jsonl", "mlpapers_pool.jsonl.gz", ("scifact", "litsearch_10k")


def measure(part: str, data: Path, work: Path) -> None:
    """Measure `part` and keep the result in `work`. Raises DataMissing."""
    for needed in _NEEDED[part]:
        if not (data / needed).exists():
            raise DataMissing(data / needed, part)
    work.mkdir(parents=True, exist_ok=True)
    for stale in _STALE.get(part, ()):
        for path in work.glob(stale):
            shutil.rmtree(path)
    result = {
        "part": part,
        "date": datetime.date.today().isoformat(),
        "machine": f"{os.cpu_count()} cores, {_processor()}, Python {platform.python_version()}",
        "found": PARTS[part](data, work),
    }
    (work / f"{part}.json").write_text(json.dumps(result, indent=1, default=_plain), encoding="utf-8")


def measured(work: Path) -> dict[str, dict[str, Any]]:
    """What was measured in `work`, by part, in the order of PARTS."""
    files = {part: work / f"{part}.json" for part in PARTS}
    return {part: json.loads(file.read_text(encoding="utf-8")) for part, file in files.items() if file.exists()}


def _plain(record: Any) -> Any:
    return record.model_dump() if isinstance(record, Record) else asdict(record)


def _embedding(data: Path, work: Path) -> object:
    papers = [paper for paper in read(data / CONFERENCE) if isinstance(paper, Paper)]
    limits, speeds = embedding_speeds(papers)
    return {"limits": limits, "speeds": speeds}


def _precision(data: Path, work: Path) -> object:
    kinds = get_args(Precision)
    return [row for name in BENCHMARKS for row in precision_quality(data / "benchmarks" / name, work, kinds)]


def _conference(data: Path, work: Path) -> object:
    questions = [case.question for case in load("icml2026").cases]
    return conference(data / CONFERENCE, data / POOL, questions, work, fastest_precision())


def _scale(data: Path, work: Path) -> object:
    return list(scale(data / POOL, work))


PARTS: dict[str, Callable[[Path, Path], object]] = {
    "embedding": _embedding,
    "precision": _precision,
    "conference": _conference,
    "scale": _scale,
}
_NEEDED = {
    "embedding": (CONFERENCE,),
    "precision": tuple(f"benchmarks/{name}/corpus.jsonl" for name in BENCHMARKS),
    "conference": (CONFERENCE, POOL),
    "scale": (POOL,),
}
# Indexes of an earlier run would make a first ingest one that changes nothing.
_STALE = {"conference": ("conference",), "scale": ("scale-*[0-9]",)}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
