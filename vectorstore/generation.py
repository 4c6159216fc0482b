"""The life of an index: immutable generations, one commit point.

In: papers with their vectors. Out: a folder `gen-<hash>` that never changes again, and CURRENT, the name of the
live one. Whatever is killed at whatever moment, a reader finds the old generation or the new one, whole.
Not known here: where papers come from, how vectors are made, how a search ranks.

    index/embeddings.sqlite3   the embedding cache
    index/gen-<hash>/          papers.sqlite3  chroma/  lexical/  passages.npy  manifest.json
    index/CURRENT              replaced atomically: the only commit point
    index/lock                 the one writer
"""

import hashlib
import json
import os
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from vectorstore.catalogue import Catalogue, Entry, build_catalogue
from vectorstore.dense import DenseIndex, build_dense
from vectorstore.embedder import Embedded, Embedder, Vectors
from vectorstore.errors import IndexDamaged, IndexUnwritable, NoIndex, OtherFormat, OtherModel
from vectorstore.lexical import LexicalIndex, build_lexical
from vectorstore.lock import is_read, reading
from vectorstore.paper import Paper

FORMAT = 1  # raise it when a change makes older generations unreadable or differently ranked


@dataclass(frozen=True)
class Manifest:
    """What a generation holds; written last, read first."""

    format: int
    hash: str
    fingerprint: str
    dimension: int
    papers: int
    passages: int
    chunks: int
    files: dict[str, int]  # bytes of each file that never changes again; a lost tail shows before it is searched


class Generation:
    """One generation, opened for reading and protected from removal until `close`."""

    def __init__(self, folder: Path) -> None:
        """Raises IndexDamaged or OtherFormat unless everything the manifest promises is there."""
        self.manifest = read_manifest(folder)
        try:
            self._held = reading(folder / "manifest.json")
        except OSError as error:
            raise IndexDamaged(folder, "it was removed while it was being opened") from error
        sizes = _files(folder)
        changed = sorted(name for name, size in self.manifest.files.items() if sizes.get(name) != size)
        if changed:
            self._held.close()
            raise IndexDamaged(folder, f"{changed[0]} has not the size that it was written with")
        self.catalogue = Catalogue(folder / "papers.sqlite3")
        found = (self.catalogue.size, self.catalogue.passages, self.catalogue.chunks)
        if found != (self.manifest.papers, self.manifest.passages, self.manifest.chunks):
            raise IndexDamaged(folder, f"its catalogue counts {found}, its manifest says otherwise")
        self.dense: DenseIndex | None = None
        self.lexical: LexicalIndex | None = None
        self.passage_vectors: Vectors = np.zeros((0, self.manifest.dimension), np.float32)
        if self.manifest.papers:
            self.dense = DenseIndex(folder / "chroma", self.manifest.fingerprint, self.manifest.chunks)
            self.lexical = LexicalIndex(folder / "lexical", self.manifest.papers)
            self.passage_vectors = _mapped(folder / "passages.npy", self.manifest)

    def close(self) -> None:
        if self.dense is not None:
            self.dense.close()
        self.catalogue.close()
        self._held.close()


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a generation. Raises IndexDamaged, or OtherFormat for another version's."""
    try:
        stored = json.loads((folder / "manifest.json").read_text())
        if stored["format"] != FORMAT:
            raise OtherFormat(stored["format"], FORMAT)
        return Manifest(**stored)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise IndexDamaged(folder, "its manifest is missing or unreadable") from error


def current_folder(root: Path) -> Path:
    """The folder of the live generation. Raises NoIndex when there never was one."""
    try:
        name = (root / "CURRENT").read_text(errors="replace").strip()
    except OSError:
        raise NoIndex(root) from None
    if not name.startswith("gen-") or "/" in name:
        raise IndexDamaged(root, "CURRENT does not name a generation")
    return root / name


def open_current(root: Path, fingerprint: str) -> Generation:
    """The live generation. Raises NoIndex, IndexDamaged, OtherFormat, or OtherModel for another fingerprint."""
    while True:
        folder = current_folder(root)
        try:
            built = read_manifest(folder).fingerprint
            if built != fingerprint:
                raise OtherModel(built, fingerprint)
            return Generation(folder)
        except IndexDamaged:
            if current_folder(root) == folder:
                raise  # else it was replaced, and swept, while it was being opened


def write_generation(
    root: Path, entries: Sequence[Entry], vectors: Sequence[Embedded], records: Sequence[Paper], embedder: Embedder
) -> Manifest:
    """Build, check and switch to the generation of `entries`; `vectors` holds one a chunk, in the entries' order.

    The caller holds the writer's lock. Leaves the live generation alone when it already is this one.
    Raises IndexUnwritable with nothing changed when the disk does not let it.
    """
    manifest = Manifest(
        format=FORMAT,
        hash=_hash(entries, records, embedder.fingerprint),
        fingerprint=embedder.fingerprint,
        dimension=embedder.dimension,
        papers=len(entries),
        passages=sum(len(entry.passages) for entry in entries),
        chunks=sum(entry.chunks for entry in entries),
        files={},
    )
    folder = root / f"gen-{manifest.hash}"
    try:
        if not _is_whole(folder):
            _build(root / f"tmp-{manifest.hash}", folder, manifest, entries, vectors, records)
        manifest = read_manifest(folder)
        _commit(root, folder)
    except OSError as error:
        raise IndexUnwritable(root, error.strerror or str(error)) from error
    except sqlite3.Error as error:
        raise IndexUnwritable(root, str(error)) from error
    _sweep(root, folder)
    return manifest


def _build(
    tmp: Path,
    folder: Path,
    manifest: Manifest,
    entries: Sequence[Entry],
    vectors: Sequence[Embedded],
    records: Sequence[Paper],
) -> None:
    for leftover in (tmp, folder):
        shutil.rmtree(leftover, ignore_errors=True)
    tmp.mkdir(parents=True)
    build_catalogue(tmp / "papers.sqlite3", entries, records)
    if entries:
        build_dense(tmp / "chroma", np.stack([vector.text for vector in vectors]), manifest.fingerprint)
        build_lexical(tmp / "lexical", [searchable(entry.paper) for entry in entries])
        np.save(tmp / "passages.npy", np.concatenate([vector.spans for vector in vectors]).astype(np.float16))
    manifest = replace(manifest, files=_files(tmp))
    (tmp / "manifest.json").write_text(json.dumps(asdict(manifest), indent=1))
    _check(tmp, vectors)
    _flush(tmp)
    os.rename(tmp, folder)


def searchable(paper: Paper) -> str:
    """What lexical search sees of a paper."""
    return f"{paper.title}\n{paper.abstract}\n{' '.join(paper.authors)}"


def _check(folder: Path, vectors: Sequence[Embedded]) -> None:
    """Open what was built and ask it for a sample of its own vectors; each must find itself or an equal."""
    generation = Generation(folder)
    try:
        for number in range(0, len(vectors), max(1, len(vectors) // 50)):
            assert generation.dense is not None
            best = generation.dense.query(vectors[number].text, 1)
            if not best or best[0][1] < float(vectors[number].text @ vectors[number].text) - 1e-3:
                raise IndexDamaged(folder, f"chunk {number} does not find itself")
    finally:
        generation.close()


def _commit(root: Path, folder: Path) -> None:
    """Make `folder` the live generation, atomically and durably."""
    draft = root / "CURRENT.tmp"
    draft.write_text(folder.name + "\n")
    with draft.open() as file:
        os.fsync(file.fileno())
    os.replace(draft, root / "CURRENT")


def _flush(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open() as file:
                os.fsync(file.fileno())


def _files(folder: Path) -> dict[str, int]:
    """Size by path of the files that never change again.

    Chroma touches its own database on opening, and rewrites a graph that it has not flushed to disk (one without
    index_metadata.pickle, of fewer than 1,000 vectors).
    """
    found = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "manifest.json"]
    settled = {path.parent for path in found if path.name == "index_metadata.pickle"}
    kept = [path for path in found if "chroma" not in path.relative_to(folder).parts or path.parent in settled]
    return {str(path.relative_to(folder)): path.stat().st_size for path in kept}


def _is_whole(folder: Path) -> bool:
    try:
        Generation(folder).close()
    except (IndexDamaged, OtherFormat):
        return False
    return True


def _sweep(root: Path, live: Path) -> None:
    """Remove generations and leftovers that nobody reads, but for the live one."""
    for folder in (*root.glob("gen-*"), *root.glob("tmp-*")):
        if folder != live and not is_read(folder / "manifest.json"):
            with suppress(OSError):
                shutil.rmtree(folder)


def _hash(entries: Sequence[Entry], records: Sequence[Paper], fingerprint: str) -> str:
    content = hashlib.sha256(f"{FORMAT} {fingerprint}".encode())
    for entry in entries:
        content.update(json.dumps([entry.paper.to_json(), entry.passages, entry.chunks], sort_keys=True).encode())
    for record in records:
        content.update(json.dumps(record.to_json(), sort_keys=True).encode())
    return content.hexdigest()[:12]


def _mapped(path: Path, manifest: Manifest) -> Vectors:
    try:
        vectors: Vectors = np.load(path, mmap_mode="r")
    except (OSError, ValueError, EOFError) as error:
        raise IndexDamaged(path, "the passages' vectors cannot be read") from error
    if vectors.shape != (manifest.passages, manifest.dimension):
        raise IndexDamaged(path, f"it holds vectors of shape {vectors.shape}")
    return vectors
