"""Dense search: the one place that knows chromadb.

In: one vector a chunk. Out: the nearest chunks of a question's vector, by cosine similarity.
Chroma's quirks end here: it is written once, in a folder nobody reads yet, in batches under its limit; no texts are
stored in it; its client is closed and its process-wide cache cleared, or a later reader would see stale data.
Not known here: papers, what a chunk says, which model made the vectors.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vectorstore.embedder import Vectors
from vectorstore.errors import IndexDamaged, IndexUnwritable

_COLLECTION = "chunks"


class DenseIndex:
    """An approximate-nearest-neighbour index (HNSW) over the chunks of one generation, opened for reading."""

    def __init__(self, folder: Path, fingerprint: str, size: int) -> None:
        """Raises IndexDamaged unless the folder holds `size` vectors of the model `fingerprint`."""
        self._folder = folder
        self._size = size
        self._client, self._collection = _open(folder)
        metadata: dict[str, Any] = self._collection.metadata or {}
        try:
            count = self._collection.count()
        except Exception as error:  # chromadb raises many kinds, also bare ones of its compiled core
            self.close()
            raise IndexDamaged(folder, f"Chroma cannot count it ({type(error).__name__})") from error
        if metadata.get("fingerprint") != fingerprint or count != size:
            self.close()
            raise IndexDamaged(
                folder, f"Chroma holds {metadata.get('fingerprint')}, not {size} chunks of {fingerprint}"
            )

    def query(self, vector: Vectors, k: int, among: Sequence[int] | None = None) -> list[tuple[int, float]]:
        """The `k` nearest chunks as (chunk number, cosine similarity), best first; only `among`, where given."""
        limit = min(k, self._size if among is None else len(among))
        if limit < 1:
            return []
        ids = None if among is None else [str(number) for number in among]
        try:
            found = self._collection.query(
                query_embeddings=[vector.tolist()], n_results=limit, ids=ids, include=["distances"]
            )
        except Exception as error:  # as above
            raise IndexDamaged(self._folder, f"Chroma fails to search ({type(error).__name__})") from error
        pairs = zip(found["ids"][0], found["distances"][0], strict=True)
        return [(int(number), 1.0 - float(distance)) for number, distance in pairs]

    def close(self) -> None:
        _close(self._client)


def build_dense(folder: Path, vectors: Vectors, fingerprint: str) -> None:
    """Write the index of `vectors`, shape (chunks, d), unit length, into the new folder `folder`."""
    client = None
    try:
        client = _client(folder)
        collection = client.create_collection(
            _COLLECTION,
            embedding_function=None,
            metadata={"fingerprint": fingerprint},
            configuration={"hnsw": {"space": "cosine", "ef_construction": 200, "ef_search": 400, "max_neighbors": 24}},
        )
        batch = min(client.get_max_batch_size(), 2000)
        for first in range(0, len(vectors), batch):
            rows = np.asarray(vectors[first : first + batch])
            collection.add(ids=[str(first + i) for i in range(len(rows))], embeddings=rows)
    except Exception as error:  # as above
        raise IndexUnwritable(folder, f"Chroma cannot write it ({type(error).__name__}: {error})") from error
    finally:
        if client is not None:
            _close(client)


def _client(folder: Path) -> Any:
    import chromadb
    from chromadb.config import Settings

    return chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False, allow_reset=False))


def _open(folder: Path) -> tuple[Any, Any]:
    if not folder.is_dir():
        raise IndexDamaged(folder, "the Chroma folder is missing")
    try:
        client = _client(folder)
        return client, client.get_collection(_COLLECTION, embedding_function=None)
    except Exception as error:  # as above
        raise IndexDamaged(folder, f"Chroma cannot open it ({type(error).__name__})") from error


def _close(client: Any) -> None:
    client.close()
    client.clear_system_cache()
