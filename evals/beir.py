"""A retrieval benchmark in BEIR's layout (Thakur et al., arXiv 2104.08663) to papers and queries.

In: a folder with corpus.jsonl, queries.jsonl and qrels.tsv. Out: papers, and queries with the ids that are relevant.
Not known here: how anything is ranked.
"""

import csv
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.errors import BenchmarkUnreadable
from vectorstore.paper import Paper

FILES = ("corpus.jsonl", "queries.jsonl", "qrels.tsv")


@dataclass(frozen=True)
class Query:
    """A text to search with, and the ids of the papers that should be found."""

    id: str
    text: str
    relevant: frozenset[str]


def read_corpus(folder: Path) -> list[Paper]:
    """The papers of a benchmark, with their title and abstract. Raises BenchmarkUnreadable."""
    return [
        Paper(row["_id"], row.get("title", ""), row["text"], sources=(folder.name,))
        for row in _rows(folder / FILES[0])
        if row["text"].strip() or row.get("title")
    ]


def paper_id(folder: Path, id: str) -> str:
    """The id of a benchmark's paper in an index: a bare number means something in one source only."""
    return f"{folder.name}:{id}"


def read_queries(folder: Path) -> list[Query]:
    """The queries that have a relevant paper; of SciFact the "dev" split, of LitSearch those whose gold is complete.

    Raises BenchmarkUnreadable.
    """
    relevant: dict[str, set[str]] = defaultdict(set)
    try:
        with (folder / FILES[2]).open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                if int(row["score"]) > 0:
                    relevant[row["query-id"]].add(row["corpus-id"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BenchmarkUnreadable(folder / FILES[2], str(error)) from error
    return [
        Query(row["_id"], row["text"], frozenset(relevant[row["_id"]]))
        for row in _rows(folder / FILES[1])
        if row.get("split", "dev") == "dev" and row.get("complete", True) and relevant.get(row["_id"])
    ]


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with path.open(encoding="utf-8") as lines:
            yield from (json.loads(line) for line in lines if line.strip())
    except (OSError, ValueError) as error:
        raise BenchmarkUnreadable(path, str(error)) from error
