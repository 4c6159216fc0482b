"""One ingest in a process of its own, so that its time and its memory are its alone.

In: arguments (sources, index, embedder, precision). Out: one JSON object on standard output.
Not known here: what is compared with what.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_MAIN = "import sys; from evals.bench.child import main; main(sys.argv[1:])"


@dataclass(frozen=True)
class Run:
    """An ingest: seconds from the start of the process to its end, seconds by stage, bytes at the peak, and counts."""

    seconds: float
    stages: dict[str, float]
    peak: int
    report: dict[str, Any]


def run_ingest(root: Path, sources: Sequence[Path], embedder: str, precision: str) -> Run:
    """Ingest `sources` into `root` in a new process. Raises CalledProcessError when that fails."""
    started = time.perf_counter()
    arguments = [str(root), embedder, precision, *map(str, sources)]
    done = subprocess.run([sys.executable, "-c", _MAIN, *arguments], check=True, stdout=subprocess.PIPE, text=True)
    seconds = time.perf_counter() - started
    found = json.loads(done.stdout.splitlines()[-1])
    return Run(seconds, found["stages"], found["peak"], found["report"])


class _Stopwatch:
    """A Progress that sums seconds by stage."""

    def __init__(self) -> None:
        self.stages: dict[str, float] = {}
        self._stage, self._since = "starting", time.perf_counter()

    def __call__(self, stage: str, done: int = 0, total: int = 0) -> None:
        now = time.perf_counter()
        self.stages[self._stage] = self.stages.get(self._stage, 0.0) + now - self._since
        self._stage, self._since = stage, now


def main(arguments: Sequence[str]) -> None:
    """The new process: index, embedder, precision, sources."""
    import app.settings  # noqa: F401  first: it keeps the libraries off the network
    from app.process import settle
    from ingest.build import Request, ingest
    from vectorstore.embedder import open_embedder

    root, embedder, precision, *sources = arguments
    settle()
    watch = _Stopwatch()
    report = ingest(Path(root), Request(tuple(map(Path, sources))), open_embedder(embedder, precision), watch)  # type: ignore[arg-type]
    watch("done")
    counts = {key: value for key, value in report.to_json().items() if key != "skipped"}
    print(json.dumps({"stages": watch.stages, "peak": _peak(), "report": counts}))


def _peak() -> int:
    """Bytes of memory at the most. What Linux reports as ru_maxrss begins with the size of the process that started
    this one, so it is asked for this program's own."""
    try:
        status = Path("/proc/self/status").read_text().split()
        return 1024 * int(status[status.index("VmHWM:") + 1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
