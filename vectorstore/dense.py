"""Dense search: the one place that knows chromadb.

In: one vector a chunk, under the chunk's id. Out: the nearest chunks of a question's vector, by cosine similarity.
Chroma's quirks end here: it is written once, in a folder nobody reads yet, in batches under its limit; no texts are
stored in it; its client is closed and its process-wide cache cleared, or a later reader would see stale data.
A folder may begin as a copy of another one's, so that a few new papers do not cost a new graph.
Not known here: papers, what a chunk says, which model made the vectors.
"""

import hashlib
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import numpy as np

from vectorstore.errors import IndexDamaged, IndexUnwritable, VectorstoreError
from vectorstore.vectors import Vectors

_COLLECTION = "chunks"
DATABASE = "chroma.sqlite3"
_SIGNED = 'INSERT INTO "acquire_write"'  # a row for each time that Chroma opened the folder
_BATCH = 2000  # vectors handed to Chroma at once
_SMALL = 2000  # an index of fewer vectors is built anew in a moment, and Chroma rewrites small ones when it opens them
_CHANGES = 0.1  # of a graph's vectors may be added or removed before it is built anew

_T = TypeVar("_T")


class DenseIndex:
    """An approximate-nearest-neighbour index (HNSW) over the chunks of one generation, opened for reading."""

    def __init__(self, folder: Path, fingerprint: str, dimension: int, size: int) -> None:
        """Raises IndexDamaged unless the folder holds `size` vectors of the model `fingerprint`."""
        self._folder = folder
        self._size = size
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        try:
            self._client, self._collection = _sound(folder, fingerprint, dimension, size)
        except IndexDamaged as error:
            # Chroma writes into its folder even to read it, which a full or read-only disk forbids.
            self._copy = tempfile.TemporaryDirectory(prefix="paperchat-", ignore_cleanup_errors=True)
            copy = Path(self._copy.name) / "chroma"
            try:
                shutil.copytree(folder, copy)
                self._client, self._collection = _sound(copy, fingerprint, dimension, size)
            except (OSError, IndexDamaged):
                self._copy.cleanup()
                raise error from None

    def query(self, vector: Vectors, k: int) -> list[tuple[str, float]]:
        """The `k` nearest chunks as (id, cosine similarity), best first, as far as the graph finds them."""
        limit = min(k, self._size)
        if limit < 1:
            return []
        with _as_damage(self._folder, "fails to search"):
            found = self._collection.query(query_embeddings=[vector.tolist()], n_results=limit, include=["distances"])
        pairs = zip(found["ids"][0], found["distances"][0], strict=True)
        return [(id, 1.0 - float(distance)) for id, distance in pairs]

    def close(self) -> None:
        _close(self._client)
        if self._copy is not None:
            self._copy.cleanup()


def _sound(folder: Path, fingerprint: str, dimension: int, size: int) -> tuple[Any, Any]:
    """A client of `folder` and its collection, which was counted and searched once. Raises IndexDamaged."""
    client, collection = _open(folder)
    try:
        with _as_damage(folder, "cannot count and search it"):
            count = collection.count()
            collection.query(query_embeddings=[[1.0] * dimension], n_results=1, include=[])
            built = (collection.metadata or {}).get("fingerprint")
        if built != fingerprint or count != size:
            raise IndexDamaged(folder, f"Chroma holds {count} chunks of {built}, not {size} of {fingerprint}")
    except IndexDamaged:
        _close(client)
        raise
    return client, collection


@dataclass(frozen=True)
class Start:
    """Another index by the same model, of which a new one may become a changed copy; nobody writes it."""

    folder: Path
    ids: frozenset[str]


def build_dense(
    folder: Path, ids: Sequence[str], vectors: Iterable[Vectors], fingerprint: str, start: Start | None = None
) -> None:
    """Write the index of `vectors`, each (d,) of unit length and under the id of its place, into the new `folder`.

    It begins as a copy of `start` where few vectors differ and few have since that graph was built. Raises
    IndexUnwritable.
    """
    with _as_unwritable(folder):
        client, collection, had = _begun(folder, frozenset(ids), fingerprint, start)
        try:
            size = min(client.get_max_batch_size(), _BATCH)
            for gone in _batched(had.difference(ids), size):
                collection.delete(ids=list(gone))
            new = ((id, vector) for id, vector in zip(ids, vectors, strict=True) if id not in had)
            for batch in _batched(new, size):
                collection.add(ids=[id for id, _ in batch], embeddings=np.stack([vector for _, vector in batch]))
        finally:
            _close(client)


def _begun(folder: Path, ids: frozenset[str], fingerprint: str, start: Start | None) -> tuple[Any, Any, frozenset[str]]:
    """A client of `folder`, its collection, and the ids that it starts with."""
    if start is not None and _few(len(start.ids ^ ids), ids) and _copied(start.folder, folder):
        client, collection = _open(folder)
        changed = int((collection.metadata or {}).get("changed", 0)) + len(start.ids ^ ids)
        if _few(changed, ids):
            collection.modify(metadata={"fingerprint": fingerprint, "changed": changed})
            return client, collection, start.ids
        _close(client)
    shutil.rmtree(folder, ignore_errors=True)
    client = _client(folder)
    collection = client.create_collection(
        _COLLECTION,
        embedding_function=None,
        metadata={"fingerprint": fingerprint},
        configuration={"hnsw": {"space": "cosine", "ef_construction": 200, "ef_search": 400, "max_neighbors": 24}},
    )
    return client, collection, frozenset()


def _few(changed: int, ids: frozenset[str]) -> bool:
    """Whether a graph bears so many changes: removed vectors stay in it as ways that lead nowhere."""
    return len(ids) >= _SMALL and changed <= len(ids) * _CHANGES


def _copied(source: Path, folder: Path) -> bool:
    """Copy an index that others may be reading. Chroma touches its database even then, hence SQLite's own copy."""
    try:
        shutil.copytree(source, folder, ignore=shutil.ignore_patterns(f"{DATABASE}*"))
        origin, copy = sqlite3.connect(source / DATABASE), sqlite3.connect(folder / DATABASE)
        try:
            origin.backup(copy)
        finally:
            origin.close()
            copy.close()
    except (OSError, sqlite3.Error):
        return False
    return True


@contextmanager
def _as_unwritable(folder: Path) -> Iterator[None]:
    """Whatever goes wrong in Chroma while it writes, as one error."""
    try:
        yield
    except (VectorstoreError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # its compiled core panics, which is no Exception
        raise IndexUnwritable(folder, f"Chroma cannot write it ({type(error).__name__}: {error})") from error


@contextmanager
def _as_damage(folder: Path, what: str) -> Iterator[None]:
    """Whatever goes wrong in Chroma while it reads, as one error."""
    try:
        yield
    except (VectorstoreError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # as above
        raise IndexDamaged(folder, f"Chroma {what} ({type(error).__name__})") from error


def _batched(items: Iterable[_T], size: int) -> Iterator[list[_T]]:
    """Runs of `size` items, the last one shorter."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


def rows_digest(database: Path) -> str:
    """The sha256 of what Chroma's own database holds, which is the same for ever; its bytes are not, because Chroma
    signs it whenever it opens it. Raises OSError where it can't be read."""
    try:
        with closing(_unlocked(database) or _locked(database)) as connection:
            digest = hashlib.sha256()
            for line in connection.iterdump():
                if _SIGNED not in line:
                    digest.update(line.encode())
            return digest.hexdigest()
    except (sqlite3.Error, UnicodeError) as error:
        raise OSError(f"SQLite cannot read it ({error})") from error


def _unlocked(database: Path) -> sqlite3.Connection | None:
    """A copy in memory that was read while nobody wrote, or None while somebody does.

    A lock would keep Chroma from opening the database for as long as it is held: for ever, if its holder is suspended.
    """
    journal = database.with_name(f"{database.name}-journal")
    before = database.stat()
    content = database.read_bytes()
    after = database.stat()
    if journal.exists() or (before.st_mtime_ns, before.st_size) != (after.st_mtime_ns, after.st_size) or not content:
        return None
    connection = sqlite3.connect(":memory:")
    connection.deserialize(content)
    return connection


def _locked(database: Path) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(f"file:{quote(str(database))}?mode=rw", uri=True)  # may have to roll back
        connection.execute("SELECT 1 FROM sqlite_master")
    except sqlite3.OperationalError:
        connection = sqlite3.connect(f"file:{quote(str(database))}?mode=ro&immutable=1", uri=True)
    return connection


def _client(folder: Path) -> Any:
    import chromadb
    from chromadb.config import Settings

    return chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False, allow_reset=False))


def _open(folder: Path) -> tuple[Any, Any]:
    if not folder.is_dir():
        raise IndexDamaged(folder, "the Chroma folder is missing")
    with _as_damage(folder, "cannot open it"):
        client = _client(folder)
        return client, client.get_collection(_COLLECTION, embedding_function=None)


def _close(client: Any) -> None:
    client.close()
    client.clear_system_cache()
