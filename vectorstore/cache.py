"""Vectors that were computed once, kept for ever: what makes an interrupted ingest cheap to take up again.

In: chunks and the model's fingerprint. Out: their vectors, from the cache where it has them.
An append-only SQLite file; every batch is committed before the next one is computed. Only an ingest that holds the
index's lock opens it.
Not known here: papers, which model it is.
"""

import hashlib
import json
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from vectorstore.embedder import Chunk, Embedded, Embedder
from vectorstore.errors import IndexUnwritable

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

    def embed(
        self,
        chunks: Sequence[Chunk],
        embedder: Embedder,
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> tuple[list[Embedded], int]:
        """Vectors of `chunks` in their order, and how many had to be computed.

        `progress(done, total)` counts computed chunks. Longest first, so that batches hold texts of like length.
        """
        try:
            return self._embed(chunks, embedder, progress)
        except sqlite3.OperationalError as error:
            raise IndexUnwritable(self._path.parent, str(error)) from error
        except sqlite3.DatabaseError:
            self._start_over()
            return self._embed(chunks, embedder, progress)

    def _embed(
        self, chunks: Sequence[Chunk], embedder: Embedder, progress: Callable[[int, int], None]
    ) -> tuple[list[Embedded], int]:
        found = {key: hit for key in map(_key, chunks) if (hit := self._get(key, embedder)) is not None}
        missing = {_key(chunk): chunk for chunk in chunks if _key(chunk) not in found}
        work = sorted(missing.items(), key=lambda item: (-len(item[1].text), item[0]))
        progress(0, len(work))
        for first in range(0, len(work), _BATCH):
            batch = work[first : first + _BATCH]
            vectors = embedder.embed([chunk for _, chunk in batch])
            self._put([(key, vector) for (key, _), vector in zip(batch, vectors, strict=True)], embedder)
            # Read back, so that a cached and a fresh run build the same index bit for bit.
            found.update({key: hit for key, _ in batch if (hit := self._get(key, embedder)) is not None})
            progress(min(first + _BATCH, len(work)), len(work))
        return [found[_key(chunk)] for chunk in chunks], len(work)

    def _start_over(self) -> None:
        if hasattr(self, "_database"):
            self._database.close()
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        self._database = _open(self._path)

    def _get(self, key: bytes, embedder: Embedder) -> Embedded | None:
        row = self._database.execute(
            "SELECT text, spans FROM embeddings WHERE key = ? AND fingerprint = ?", (key, embedder.fingerprint)
        ).fetchone()
        if row is None:
            return None
        spans = np.frombuffer(row[1], np.float16).astype(np.float32).reshape(-1, embedder.dimension)
        return Embedded(np.frombuffer(row[0], np.float32), spans)

    def _put(self, batch: Sequence[tuple[bytes, Embedded]], embedder: Embedder) -> None:
        rows = [
            (key, embedder.fingerprint, e.text.astype(np.float32).tobytes(), e.spans.astype(np.float16).tobytes())
            for key, e in batch
        ]
        with self._database:
            self._database.executemany("INSERT OR REPLACE INTO embeddings VALUES (?, ?, ?, ?)", rows)


def _open(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path)
    try:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=NORMAL")
        database.execute(
            "CREATE TABLE IF NOT EXISTS embeddings (key BLOB, fingerprint TEXT, text BLOB, spans BLOB, "
            "PRIMARY KEY (key, fingerprint)) WITHOUT ROWID"
        )
    except sqlite3.Error:
        database.close()
        raise
    return database


def _key(chunk: Chunk) -> bytes:
    return hashlib.sha256(json.dumps([chunk.text, chunk.spans]).encode()).digest()
