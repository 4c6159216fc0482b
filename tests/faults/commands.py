"""Commands of `paperchat`, each in a process of its own; run by test_damage.py.

In: on standard input one JSON object a line, {"index", "arguments", "room"}. Out: one JSON object a line: exit code
(negative: the signal that ended it), standard output, standard error. `room`, where given, is the most bytes that a
file may have: the disk is full for whatever grows beyond. Forks after everything heavy is imported and before Chroma
starts its threads, so that a command costs a fraction of a second.
"""

import json
import os
import resource
import signal
import sys
import tempfile
import traceback
from typing import Any

import bm25s  # noqa: F401
import chromadb  # noqa: F401

from app import assistant, cli, show, whole  # noqa: F401

_PATIENCE = 60  # seconds; what takes longer hangs, and is ended by SIGALRM


def command(job: dict[str, Any], out: int, err: int) -> int:
    """Run it in this process, which is its own."""
    os.dup2(out, 1)
    os.dup2(err, 2)
    signal.alarm(_PATIENCE)
    os.environ.update({"PAPERCHAT_INDEX_DIR": job["index"], "PAPERCHAT_EMBEDDER": "hashing"})
    if room := job.get("room"):
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    try:
        return cli.run_command(job["arguments"])
    except BaseException:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.getrlimit(resource.RLIMIT_FSIZE)[1],) * 2)
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


def run(job: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        if (child := os.fork()) == 0:
            code = 1
            try:
                code = command(job, out.fileno(), err.fileno())
            finally:
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        out.seek(0)
        err.seek(0)
        return {"code": code, "out": out.read().decode(), "err": err.read().decode()}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), flush=True)
