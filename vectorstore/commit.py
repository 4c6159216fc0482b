"""From papers with their vectors to the next live generation.

In: entries, their vectors, the records they were merged from. Out: a folder `gen-<hash>` that never changes again,
built beside the live one, checked, and switched to by replacing CURRENT. Whatever is killed at whatever moment, a
reader finds the old generation or the new one, whole.
Not known here: where papers come from, how vectors are made.
"""

import hashlib
import json
import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from vectorstore.catalogue import Catalogue, Entry, build_catalogue, chunk_ids
from vectorstore.dense import DenseIndex, Start, build_dense
from vectorstore.errors import IndexDamaged, IndexUnwritable
from vectorstore.generation import Generation, problem_in
from vectorstore.lexical import build_lexical
from vectorstore.lock import is_read
from vectorstore.manifest import FORMAT, NAME, Manifest, read_manifest, write_manifest
from vectorstore.paper import Paper
from vectorstore.records import forget_records, keep_records
from vectorstore.vectors import Embedded, Embedder, Vectors

# So many chunks are all looked at: 6,605 take 0.3 ms where the graph takes 1.7, finds .98 of the nearest 200, and other
# ones each time it is opened. Beyond, the graph is faster.
EXACT = 20_000
_SAMPLE = 50  # chunks that must find themselves before a generation goes live


def write_generation(
    root: Path,
    entries: Sequence[Entry],
    vectors: Iterable[Embedded],
    records: Sequence[Paper],
    embedder: Embedder,
    live: Path | None = None,
) -> Manifest:
    """Build, check and switch to the generation of `entries`; `vectors` yields one a chunk, in the entries' order.

    The caller holds the writer's lock. `vectors` can be iterated over again. `live` is the folder of a generation that
    this one may start from. Raises IndexUnwritable with nothing changed when the disk does not let it.
    """
    hash = _hash(entries, records, embedder.fingerprint)
    folder = root / f"gen-{hash}"
    tmp = root / f"tmp-{hash}"
    try:
        if problem_in(folder) is not None:
            shutil.rmtree(folder, ignore_errors=True)
            start = None if live == folder else _start(live, embedder.fingerprint)
            try:
                _build(tmp, hash, entries, vectors, records, embedder, start)
            except (IndexDamaged, IndexUnwritable):
                if start is None:
                    raise
                _build(tmp, hash, entries, vectors, records, embedder, None)  # what it started from was not sound
            _flush(tmp)
            os.rename(tmp, folder)
        keep_records(root, hash, embedder.fingerprint, records)
        _switch(root, folder)
    except (OSError, sqlite3.Error) as error:
        raise IndexUnwritable(root, getattr(error, "strerror", None) or str(error)) from error
    finally:
        shutil.rmtree(tmp, ignore_errors=True)  # frees a full disk, too
    tidy(root, folder)
    return read_manifest(folder)


def _build(
    folder: Path,
    hash: str,
    entries: Sequence[Entry],
    vectors: Iterable[Embedded],
    records: Sequence[Paper],
    embedder: Embedder,
    start: Start | None,
) -> None:
    """Write the files of a generation into the new `folder` and see that they hold what they should."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    passages = sum(len(entry.passages) for entry in entries)
    ids = chunk_ids(key for entry in entries for key in entry.chunks)
    fresh = [id for id in ids if start is not None and id not in start.ids]
    wanted = {*ids[:: max(1, len(ids) // _SAMPLE)], *fresh[:_SAMPLE]}
    sample: dict[str, Vectors] = {}

    def written(texts: "_Rows", spans: "_Rows") -> Iterator[Vectors]:
        for id, vector in zip(ids, vectors, strict=True):
            texts.add(vector.text)
            spans.add(vector.spans)
            if id in wanted:
                sample[id] = vector.text
            yield vector.text

    build_catalogue(folder / "papers.sqlite3", entries, records)
    if entries:
        width = embedder.dimension
        with (
            _Rows(folder / "vectors.npy", len(ids), width, np.float32) as texts,
            _Rows(folder / "passages.npy", passages, width, np.float16) as spans,
        ):
            build_dense(folder / "chroma", ids, written(texts, spans), embedder.fingerprint, start)
        build_lexical(folder / "lexical", (entry.terms for entry in entries))
    counts = {"papers": len(entries), "passages": passages, "chunks": len(ids)}
    manifest = Manifest(FORMAT, hash, embedder.fingerprint, embedder.dimension, **counts, exact=False, files={})
    write_manifest(folder, manifest)
    lost = _lost(folder, sample)
    if lost and start is not None:
        raise IndexDamaged(folder, f"chunk {lost[0]} does not find itself")
    if lost or len(ids) <= EXACT:  # a graph built anew loses some of many papers that hardly differ
        write_manifest(folder, replace(manifest, exact=True))


class _Rows:
    """A new .npy file of `rows` vectors, written as they come. Not mapped: on a full disk writing to a mapped file ends
    the process, where this raises OSError."""

    def __init__(self, path: Path, rows: int, dimension: int, kind: type[np.floating[Any]]) -> None:
        self._file = path.open("wb")
        self._kind = kind
        header = {"descr": np.lib.format.dtype_to_descr(np.dtype(kind)), "fortran_order": False}
        np.lib.format.write_array_header_1_0(self._file, {**header, "shape": (rows, dimension)})

    def __enter__(self) -> "_Rows":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, vectors: Vectors) -> None:
        self._file.write(vectors.astype(self._kind).tobytes())


def _start(live: Path | None, fingerprint: str) -> Start | None:
    """What the dense index may begin as a copy of."""
    if live is None or read_manifest(live).fingerprint != fingerprint or not (live / "chroma").is_dir():
        return None
    catalogue = Catalogue(live / "papers.sqlite3")
    try:
        return Start(live / "chroma", frozenset(catalogue.paper_of_chunk))
    finally:
        catalogue.close()


def _lost(folder: Path, sample: Mapping[str, Vectors]) -> list[str]:
    """Open what was built and ask its graph for a sample of its own vectors: those that find neither themselves nor an
    equal."""
    with closing(Generation(folder)) as generation:
        return [id for id, vector in sample.items() if not _finds(generation.dense, vector)]


def _finds(dense: DenseIndex | None, vector: Vectors) -> bool:
    assert dense is not None
    best = dense.query(vector, 1)
    return bool(best) and best[0][1] >= float(vector @ vector) - 1e-3


def _switch(root: Path, folder: Path) -> None:
    """Make `folder` the live generation, atomically and durably."""
    draft = root / "CURRENT.tmp"
    draft.write_text(folder.name + "\n")
    with draft.open() as file:
        os.fsync(file.fileno())
    os.replace(draft, root / "CURRENT")
    _sync_folder(root)


def _flush(folder: Path) -> None:
    for path in (*folder.rglob("*"), folder):
        if path.is_file():
            with path.open() as file:
                os.fsync(file.fileno())
        else:
            _sync_folder(path)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def tidy(root: Path, live: Path) -> None:
    """Remove generations and leftovers that nobody reads, and the records of others, but for the live one's."""
    for folder in (*root.glob("gen-*"), *root.glob("tmp-*")):
        if folder != live and not is_read(folder / NAME):
            with suppress(OSError):
                shutil.rmtree(folder)
    with suppress(OSError):
        forget_records(root, but=live.name.removeprefix("gen-"))


def _hash(entries: Sequence[Entry], records: Sequence[Paper], fingerprint: str) -> str:
    content = hashlib.sha256(f"{FORMAT} {fingerprint}".encode())
    for entry in entries:
        content.update(json.dumps([entry.paper.to_json(), entry.passages, entry.chunks], sort_keys=True).encode())
    for record in records:
        content.update(json.dumps(record.to_json(), sort_keys=True).encode())
    return content.hexdigest()[:12]
