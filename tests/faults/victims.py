"""Ingests that are killed (-9), each in a process of its own; run by test_kills.py.

In: on standard input one JSON object a line, {"root", "source", "event"} or {"root", "source", "seconds"}. Out: one
JSON object a line: the last stage that was told, the last audited event in the index folder, and how many there were.
An ingest dies when it is about to do its `event`-th thing to a file of the index (open, rename, remove, connect, ...,
counted from 1), or after `seconds`; with neither it ends. Forks after everything heavy is imported and before Chroma
starts its threads.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import bm25s  # noqa: F401
import chromadb  # noqa: F401

from ingest.build import Request, ingest
from vectorstore.hashing import HashingEmbedder

_EVENTS = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "shutil.rmtree", "sqlite3.connect"}


def victim(job: dict[str, Any], told: int) -> None:
    """Ingest in this process, writing each stage and event as a line to the descriptor `told`."""
    root, count = str(Path(job["root"]).resolve()), 0

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal count
        if event in _EVENTS and root in str(arguments[0]):
            count += 1
            name = Path(str(arguments[0])).name
            os.write(told, f"event {count} {event} {name}\n".encode())
            if count == job.get("event"):
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)
    ingest(
        Path(root),
        Request((Path(job["source"]),)),
        HashingEmbedder(),
        lambda stage, done=0, total=0: os.write(told, f"stage {stage}\n".encode()) and None,
    )


def run(job: dict[str, Any]) -> dict[str, Any]:
    ear, mouth = os.pipe()
    started = time.monotonic()
    if (child := os.fork()) == 0:
        os.close(ear)
        try:
            victim(job, mouth)
        finally:
            os._exit(0)
    os.close(mouth)
    if seconds := job.get("seconds"):
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    with os.fdopen(ear) as lines:
        told = lines.read().splitlines()
    killed = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    events = [line.split(" ", 2) for line in told if line.startswith("event")]
    stages = [line.split(" ", 1)[1] for line in told if line.startswith("stage")]
    return {
        "killed": killed,
        "stage": stages[-1] if stages else "starting",
        "event": events[-1][2] if events else "",
        "events": len(events),
        "seconds": time.monotonic() - started,
    }


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), flush=True)
