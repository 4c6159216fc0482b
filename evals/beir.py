"""A retrieval benchmark in BEIR's layout (Thakur et al., arXiv 2104.08663) to papers and queries.

In: a folder with corpus.jsonl, queries.jsonl and qrels.tsv. Out: papers, and queries with the ids that are relevant.
Not known here: how anything is ranked.
"""

import csv
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
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


def paper_id(folder: Path, id: str) -> str:
    """What a paper of the benchmark is called in an index: its id alone is often a bare number."""
    return f"{folder.name}:{id}"


def read_corpus(folder: Path) -> list[Paper]:
    """The papers of a benchmark, with their title and abstract. Raises BenchmarkUnreadable."""
    return [
        Paper(row["_id"], row["title"], row["text"], sources=(folder.name,))
        for row in _rows(folder / FILES[0], title="")
        if row["text"].strip() or row["title"]
    ]


def read_queries(folder: Path) -> list[Query]:
    """The queries that have a relevant paper; of SciFact the "dev" split, of LitSearch those whose gold is complete.

    Raises BenchmarkUnreadable.
    """
    relevant = _judgements(folder / FILES[2])
    return [
        Query(row["_id"], row["text"], frozenset(relevant[row["_id"]]))
        for row in _rows(folder / FILES[1])
        if row.get("split", "dev") == "dev" and row.get("complete", True) and relevant.get(row["_id"])
    ]


def _judgements(path: Path) -> dict[str, set[str]]:
    """The ids of the relevant papers by the id of their query."""
    relevant: dict[str, set[str]] = defaultdict(set)
    place = str(path)
    try:
        with path.open(encoding="utf-8", newline="") as file:
            for number, row in enumerate(csv.DictReader(file, delimiter="\t"), start=2):
                place = f"{path}:{number}"
                if int(row["score"] or "") > 0:
                    relevant[row["query-id"]].add(row["corpus-id"])
    except (OSError, ValueError, KeyError, csv.Error) as error:
        raise BenchmarkUnreadable(place, _why(error)) from error
    return relevant


def _rows(path: Path, **defaults: str) -> Iterator[dict[str, Any]]:
    """The objects of a file, each with an "_id" of its own, a "text", and what `defaults` names, all of them text."""
    taken: set[str] = set()
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield _row(f"{path}:{number}", line, defaults, taken)
    except (OSError, UnicodeDecodeError) as error:
        raise BenchmarkUnreadable(path, _why(error)) from error


def _row(place: str, line: str, defaults: Mapping[str, str], taken: set[str]) -> dict[str, Any]:
    try:
        row = {**defaults, **json.loads(line)}
        if strange := [key for key in ("_id", "text", *defaults) if not isinstance(row[key], str)]:
            raise TypeError(f"{strange[0]!r} is no text")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BenchmarkUnreadable(place, _why(error)) from error
    if row["_id"] in taken:
        raise BenchmarkUnreadable(place, f"the id {row['_id']!r} is taken by an earlier line")
    taken.add(row["_id"])
    return row


def _why(error: Exception) -> str:
    return f"{error} is missing" if isinstance(error, KeyError) else getattr(error, "strerror", None) or str(error)
