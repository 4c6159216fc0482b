"""One ingest that kills itself (-9) at a given moment, or is killed from outside; run by test_kills_whole.py.

In: on the command line one JSON object, {"root", "sources", "rebuild", "moment"}. Out: a line on standard output for
each stage that is told and each moment that is passed. A moment is right before or right after something that is done
to a file of the index: opened, made, renamed, removed, flushed, connected to. Moments are counted from 1; without
"moment" the ingest ends by itself. Nothing is imported beforehand: a kill from outside hits the imports, too.
"""

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

BEFORE = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "shutil.rmtree", "sqlite3.connect"}
AFTER = {os: ("rename", "replace", "unlink", "mkdir", "rmdir", "fsync"), shutil: ("rmtree",)}


def watch(root: str, last: int) -> None:
    """Tell every moment, and die at the `last` one."""
    count = 0

    def passed(name: str, path: object) -> None:
        nonlocal count
        if root in str(path) or isinstance(path, int):
            count += 1
            os.write(1, f"moment {count} {name} {Path(str(path)).name}\n".encode())
            if count == last:
                os.kill(os.getpid(), signal.SIGKILL)

    def told_after(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def work(*arguments: Any, **named: Any) -> Any:
            result = original(*arguments, **named)
            passed(f"after {name}", arguments[0])
            return result

        return work

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if event in BEFORE and not isinstance(arguments[0], int):
            passed(f"before {event}", arguments[0])

    for module, names in AFTER.items():
        for name in names:
            setattr(module, name, told_after(f"{module.__name__}.{name}", getattr(module, name)))
    sys.addaudithook(audit)


def tell(stage: str, done: int = 0, total: int = 0) -> None:
    os.write(1, f"stage {stage} {done}\n".encode())


if __name__ == "__main__":
    job = json.loads(sys.argv[1])
    from ingest.build import Request, ingest
    from vectorstore.hashing import HashingEmbedder

    root = Path(job["root"]).resolve()
    tell("starting")
    if job["moment"] is not None:
        watch(str(root), job["moment"])
    ingest(root, Request(tuple(map(Path, job["sources"])), rebuild=job["rebuild"]), HashingEmbedder(), tell)
