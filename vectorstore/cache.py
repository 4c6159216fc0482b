"""Vectors that were computed once, kept for ever: what makes an interrupted ingest cheap to take up again.

In: chunks, and the model that embeds those whose vectors are not there. Out: vectors by the key of their chunk.
An append-only SQLite file; every batch is committed before the next one is computed. Only an ingest that holds the
index's lock opens it.
Not known here: papers, which model it is.
"""

import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vectorstore.errors import IndexUnwritable, VectorsLost
from vectorstore.vectors import Chunk, Embedded, Embedder, Vectors

_BATCH = 64  # chunks between two commits: about 2 s of work on two cores


class EmbeddingCache:
    """The file `embeddings.sqlite3` of an index. Closes with `close`, or as a context manager."""

    def __init__(self, path: Path) -> None:
        """Opens `path`, made if absent. A damaged file is made anew: it costs time, and nothing else."""
        self._path = path
        try:
            self._database = _open(path)
        except sqlite3.OperationalError as error:
            raise IndexUnwritable(path.parent, str(error)) from error
        except sqlite3.DatabaseError:
            self._start_over()

    def __enter__(self) -> "EmbeddingCache":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._database.close()

    def known(self, embedder: Embedder) -> set[str]:
        """The keys of the chunks whose vectors by `embedder` are there."""
        with self._guarded():
            query = "SELECT key FROM embeddings WHERE fingerprint = ?"
            return {bytes(row[0]).hex() for row in self._database.execute(query, (embedder.fingerprint,))}

    def fill(
        self,
        chunks: Iterable[Chunk],
        embedder: Embedder,
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> int:
        """Compute and keep the vectors of those `chunks` that are not there. Returns how many.

        `progress(done, total)` counts computed chunks. Longest first, so that the cores end together.
        """
        known = self.known(embedder)
        missing = {chunk.key: chunk for chunk in chunks if chunk.key not in known}
        work = sorted(missing.values(), key=lambda chunk: (-len(chunk.text), chunk.key))
        progress(0, len(work))
        for first in range(0, len(work), _BATCH):
            batch = work[first : first + _BATCH]
            self._put(batch, embedder.embed(batch), embedder.fingerprint)
            progress(min(first + _BATCH, len(work)), len(work))
        return len(work)

    def vectors(self, keys: Sequence[str], embedder: Embedder) -> "KeptVectors":
        """The vectors kept under `keys`, in that order, read as they are asked for, each time they are asked for."""
        return KeptVectors(self, keys, embedder)

    def vector(self, key: str, embedder: Embedder) -> Embedded:
        """The vectors kept under `key`.

        Raises VectorsLost where there are none; what is left can be relied on, so that `fill` mends it.
        """
        name = (bytes.fromhex(key), embedder.fingerprint)
        with self._guarded():
            query = "SELECT text, spans, crc FROM embeddings WHERE key = ? AND fingerprint = ?"
            text, spans, crc = self._database.execute(query, name).fetchone() or (b"", b"", None)
            if crc != _crc(text, spans):
                with self._database:
                    self._database.execute("DELETE FROM embeddings WHERE crc IS NOT crc(text, spans)")
                raise VectorsLost(self._path)
        rows = np.frombuffer(spans, np.float16).astype(np.float32).reshape(-1, embedder.dimension)
        return Embedded(np.frombuffer(text, np.float32), rows)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """What SQLite cannot write is the folder's fault; where it cannot read, everything is lost."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise IndexUnwritable(self._path.parent, str(error)) from error
        except sqlite3.DatabaseError as error:
            self._start_over()
            raise VectorsLost(self._path) from error

    def _put(self, batch: Sequence[Chunk], vectors: Sequence[Embedded], fingerprint: str) -> None:
        rows = []
        for chunk, found in zip(batch, vectors, strict=True):
            text, spans = _bytes(found.text, np.float32), _bytes(found.spans, np.float16)
            rows.append((bytes.fromhex(chunk.key), fingerprint, text, spans, _crc(text, spans)))
        with self._guarded(), self._database:
            self._database.executemany("INSERT OR REPLACE INTO embeddings VALUES (?, ?, ?, ?, ?)", rows)

    def _start_over(self) -> None:
        if hasattr(self, "_database"):
            self._database.close()
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        self._database = _open(self._path)


@dataclass(frozen=True)
class KeptVectors(Iterable[Embedded]):
    """Vectors in a cache, as an iterable. Iterating raises VectorsLost."""

    cache: EmbeddingCache
    keys: Sequence[str]
    embedder: Embedder

    def __iter__(self) -> Iterator[Embedded]:
        return (self.cache.vector(key, self.embedder) for key in self.keys)


def _open(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path)
    try:
        database.create_function("crc", 2, _crc, deterministic=True)
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=NORMAL")
        database.execute(
            "CREATE TABLE IF NOT EXISTS embeddings (key BLOB, fingerprint TEXT, text BLOB, spans BLOB, crc INTEGER, "
            "PRIMARY KEY (key, fingerprint)) WITHOUT ROWID"
        )
        if "crc" not in {column[1] for column in database.execute("PRAGMA table_info(embeddings)")}:
            _add_sums(database)
    except sqlite3.Error:
        database.close()
        raise
    return database


def _add_sums(database: sqlite3.Connection) -> None:
    """A file of the first version has no checksums: take its vectors as they are."""
    with database:
        database.execute("BEGIN")
        database.execute("ALTER TABLE embeddings ADD COLUMN crc INTEGER")
        database.execute("UPDATE embeddings SET crc = crc(text, spans)")


def _crc(text: object, spans: object) -> int:
    """A checksum of a row's vectors; -1, which none has, of what are no bytes."""
    return zlib.crc32(spans, zlib.crc32(text)) if isinstance(text, bytes) and isinstance(spans, bytes) else -1


def _bytes(vectors: Vectors, kind: type[np.floating[Any]]) -> bytes:
    return vectors.astype(kind).tobytes()
