"""The papers of one generation, in SQLite: what a vector or a term index can't hold.

In: papers with the spans of their passages and chunks, and every source's own record of them. Out: papers by
number, by id or by any former id; passages; the records, for the next merge.
A paper's number is its place in the id order; it is what the dense and the lexical index speak of.
Not known here: vectors, ranking, how records were merged.
"""

import json
import sqlite3
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any
from urllib.parse import quote

from vectorstore.errors import IndexDamaged
from vectorstore.paper import Filters, Paper, Passage, searchable
from vectorstore.text import terms

_SCHEMA = """
CREATE TABLE papers (
    number INTEGER PRIMARY KEY, json TEXT NOT NULL, terms TEXT NOT NULL, first_passage INTEGER NOT NULL
);
CREATE TABLE names (name TEXT PRIMARY KEY, number INTEGER NOT NULL);
CREATE TABLE passages (
    number INTEGER PRIMARY KEY, paper INTEGER NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL
);
CREATE INDEX passages_of_paper ON passages (paper);
CREATE TABLE chunks (number INTEGER PRIMARY KEY, paper INTEGER NOT NULL, key TEXT NOT NULL);
CREATE INDEX chunks_of_paper ON chunks (paper);
CREATE TABLE records (source TEXT NOT NULL, id TEXT NOT NULL, json TEXT NOT NULL, PRIMARY KEY (source, id));
"""


@dataclass(frozen=True)
class Entry:
    """One paper as it is to be stored: the spans of its passages, and the keys of the chunks it is made of."""

    paper: Paper
    passages: tuple[tuple[int, int], ...]
    chunks: tuple[str, ...]
    known_terms: str | None = None  # what `terms` was, where that is known

    @cached_property
    def terms(self) -> list[str]:
        """The index terms of the paper, in order."""
        return terms(searchable(self.paper)) if self.known_terms is None else self.known_terms.split()


class Catalogue:
    """`papers.sqlite3` of one generation, read-only. Safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turn = threading.Lock()
        try:
            self._database = sqlite3.connect(_read_only(path), uri=True, check_same_thread=False)
            self.size = int(self._rows("SELECT COUNT(*) FROM papers")[0][0])
            self.passages = int(self._rows("SELECT COUNT(*) FROM passages")[0][0])
            self.chunks = int(self._rows("SELECT COUNT(*) FROM chunks")[0][0])
        except sqlite3.Error as error:
            raise IndexDamaged(path, f"SQLite cannot read it ({error})") from error

    def close(self) -> None:
        self._database.close()

    def paper(self, number: int) -> Paper:
        """The paper of that number. Raises IndexDamaged where there is none."""
        rows = self._rows("SELECT json FROM papers WHERE number = ?", number)
        if not rows:
            raise IndexDamaged(self._path, f"it has no paper {number}")
        return Paper.from_json(json.loads(rows[0][0]))

    def number_of(self, name: str) -> int | None:
        """The number of the paper with that id, former id, alias or address, or None."""
        rows = self._rows("SELECT number FROM names WHERE name = ?", name)
        return int(rows[0][0]) if rows else None

    def passages_of(self, number: int, paper: Paper) -> tuple[int, tuple[Passage, ...]]:
        """The paper's passages in reading order, and the number of the first (the row of its vector)."""
        rows = self._rows('SELECT start, "end" FROM passages WHERE paper = ? ORDER BY number', number)
        first = self._rows("SELECT first_passage FROM papers WHERE number = ?", number)[0][0]
        return int(first), tuple(Passage(paper, start, end) for start, end in rows)

    @cached_property
    def paper_of_chunk(self) -> Mapping[str, int]:
        """Paper numbers by chunk id, in the order of chunks."""
        rows = self._rows("SELECT key, paper FROM chunks ORDER BY number")
        return dict(zip(chunk_ids(key for key, _ in rows), (int(paper) for _, paper in rows), strict=True))

    def all(self) -> Iterable[Paper]:
        """Every paper, in the order of numbers."""
        return (Paper.from_json(json.loads(row[0])) for row in self._rows("SELECT json FROM papers ORDER BY number"))

    def entries(self) -> Iterator[Entry]:
        """Every paper as it was stored, in the order of numbers."""
        passages, chunks = defaultdict(list), defaultdict(list)
        for paper, start, end in self._rows('SELECT paper, start, "end" FROM passages ORDER BY number'):
            passages[paper].append((start, end))
        for paper, key in self._rows("SELECT paper, key FROM chunks ORDER BY number"):
            chunks[paper].append(key)
        for number, stored, known in self._rows("SELECT number, json, terms FROM papers ORDER BY number"):
            paper = Paper.from_json(json.loads(stored))
            yield Entry(paper, tuple(passages[number]), tuple(chunks[number]), known)

    def matching(self, filters: Filters) -> list[int]:
        """Numbers of the papers that fulfil `filters`."""
        return [number for number, paper in enumerate(self.all()) if filters.matches(paper)]

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with self._turn:
            try:
                return self._database.execute(query, values).fetchall()
            except sqlite3.DatabaseError as error:
                raise IndexDamaged(self._path, f"SQLite cannot read it ({error})") from error


def chunk_ids(keys: Iterable[str]) -> list[str]:
    """An id for each chunk, that no other chunk of the generation has and that it keeps in the next one.

    Equal chunks, of papers that differ in nothing that is embedded, are told apart by their order.
    """
    seen: Counter[str] = Counter()
    ids = []
    for key in keys:
        ids.append(f"{key[:24]}-{seen[key]}")
        seen[key] += 1
    return ids


def stored_records(path: Path) -> list[Paper]:
    """Every source's own record, as it was read, from the catalogue at `path`, of this format or an older one.

    Raises IndexDamaged.
    """
    try:
        database = sqlite3.connect(_read_only(path), uri=True)
        try:
            rows = database.execute("SELECT json FROM records ORDER BY rowid").fetchall()
        finally:
            database.close()
        return [Paper.from_json(json.loads(row[0])) for row in rows]
    except (sqlite3.Error, ValueError, TypeError, KeyError) as error:
        raise IndexDamaged(path, f"its records cannot be read ({type(error).__name__})") from error


def _read_only(path: Path) -> str:
    return f"file:{quote(str(path))}?mode=ro&immutable=1"


def build_catalogue(path: Path, entries: Sequence[Entry], records: Sequence[Paper]) -> None:
    """Write `entries`, numbered by their order, and `records` into the new file `path`."""
    database = sqlite3.connect(path)
    try:
        with database:
            database.executescript(_SCHEMA)
            first = accumulate((len(entry.passages) for entry in entries), initial=0)
            papers = (
                (n, _json(e.paper), " ".join(e.terms), f) for n, (e, f) in enumerate(zip(entries, first, strict=False))
            )
            passages = ((n, start, end) for n, entry in enumerate(entries) for start, end in entry.passages)
            chunks = ((n, key) for n, entry in enumerate(entries) for key in entry.chunks)
            database.executemany("INSERT INTO papers VALUES (?, ?, ?, ?)", papers)
            database.executemany('INSERT INTO passages (paper, start, "end") VALUES (?, ?, ?)', passages)
            database.executemany("INSERT INTO chunks (paper, key) VALUES (?, ?)", chunks)
            # An id is its own paper's for certain; only then may it stand for another one's alias.
            for own in (True, False):
                names = [(name, n) for n, e in enumerate(entries) for name in _names(e.paper, own)]
                database.executemany("INSERT OR IGNORE INTO names VALUES (?, ?)", names)
            rows = [(record.sources[0], record.id, _json(record)) for record in records]
            database.executemany("INSERT INTO records VALUES (?, ?, ?)", rows)
    finally:
        database.close()


def _names(paper: Paper, own: bool) -> tuple[str, ...]:
    return (paper.id,) if own else (*paper.aliases, *((paper.url,) if paper.url else ()))


def _json(paper: Paper) -> str:
    return json.dumps(paper.to_json(), sort_keys=True)
