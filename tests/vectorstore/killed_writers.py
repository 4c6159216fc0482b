"""Writers that are killed (-9) at a given point of a commit; run by test_generation.py, in a process of its own.

In: the folder of an index with a first generation, and a folder for one damaged copy a point. Out: those copies.
Forks after everything heavy is imported and before Chroma starts its threads.
"""

import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import chromadb  # noqa: F401

from vectorstore import commit
from vectorstore.catalogue import Entry
from vectorstore.hashing import HashingEmbedder
from vectorstore.paper import Paper
from vectorstore.vectors import Chunk

POINTS = (
    "build_catalogue",
    "build_dense",
    "after build_dense",
    "build_lexical",
    "_lost",
    "_flush",
    "os.rename",
    "keep_records",
    "os.replace",
    "after os.replace",
    "after keep_records",
    "_switch",
    "after _switch",
    "tidy",
    "forget_records",
    "after forget_records",
    "after shutil.rmtree",
)


def die(*_: Any, **__: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def kill_at(point: str) -> None:
    """Replace the function named by `point` so that it kills the process, first or when it has worked."""
    *owner, name = point.removeprefix("after ").split(".")
    holder = getattr(commit, owner[0]) if owner else commit
    original = getattr(holder, name)

    def work_and_die(*arguments: Any, **named: Any) -> None:
        # Leftovers are removed before a build, too, where most often there are none.
        idle = name == "rmtree" and not arguments[0].exists()
        original(*arguments, **named)
        if not idle:
            die()

    setattr(holder, name, work_and_die if point.startswith("after ") else die)


def write_second(root: Path) -> None:
    embedder = HashingEmbedder()
    papers = [Paper(f"new{i}", f"New {i}", f"We study new thing {i}.", sources=("n",)) for i in range(3)]
    chunks = [Chunk(paper.abstract, ((0, len(paper.abstract)),)) for paper in papers]
    entries = [Entry(paper, chunk.spans, (chunk.key,)) for paper, chunk in zip(papers, chunks, strict=True)]
    vectors = embedder.embed(chunks)
    commit.write_generation(root, entries, vectors, papers, embedder)


if __name__ == "__main__":
    first, target = Path(sys.argv[1]), Path(sys.argv[2])
    children = []
    for point in POINTS:
        root = Path(shutil.copytree(first, target / point))
        if (child := os.fork()) == 0:
            kill_at(point)
            write_second(root)
            os._exit(0)
        children.append(child)
    sys.exit(any(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != -signal.SIGKILL for child in children))
