"""The life of an index: immutable generations, one of them live.

In: the index folder. Out: the live generation, opened and verified, or what can be told of one that is not whole.
Not known here: how a generation is written (commit.py), where papers come from, how a search ranks.

    index/embeddings.sqlite3        the embedding cache
    index/gen-<hash>/               papers.sqlite3  chroma/  lexical/  vectors.npy  passages.npy  manifest.json
    index/records-<hash>.jsonl.gz   what it was made of
    index/CURRENT                   names the live one, replaced atomically: the only commit point
    index/lock, index/writing       the one writer
"""

from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vectorstore.catalogue import Catalogue, stored_records
from vectorstore.dense import DenseIndex
from vectorstore.errors import IndexDamaged, NoIndex, OlderFormat, OtherModel
from vectorstore.lexical import LexicalIndex
from vectorstore.lock import reading
from vectorstore.manifest import NAME, fingerprint_in, read_manifest, verify
from vectorstore.nearest import Nearest
from vectorstore.paper import Paper
from vectorstore.precision import without_precision
from vectorstore.records import any_records, kept_fingerprint, kept_records
from vectorstore.vectors import Vectors


class Generation:
    """One generation, opened for reading and protected from removal until `close`."""

    def __init__(self, folder: Path) -> None:
        """Raises IndexDamaged, OlderFormat or NewerFormat unless everything the manifest promises is there."""
        self.manifest = manifest = read_manifest(folder)
        self.dense: DenseIndex | None = None
        self.nearest: Nearest | None = None
        self.lexical: LexicalIndex | None = None
        self.vectors: Vectors = np.zeros((0, manifest.dimension), np.float32)
        self.passage_vectors: Vectors = np.zeros((0, manifest.dimension), np.float32)
        with ExitStack() as opened:
            try:
                opened.enter_context(reading(folder / NAME))
            except OSError as error:
                raise IndexDamaged(folder, "it was removed while it was being opened") from error
            verify(folder, manifest)
            self.catalogue = opened.enter_context(closing(Catalogue(folder / "papers.sqlite3")))
            found = (self.catalogue.size, self.catalogue.passages, self.catalogue.chunks)
            if found != (manifest.papers, manifest.passages, manifest.chunks):
                raise IndexDamaged(folder, f"its catalogue counts {found}, its manifest says otherwise")
            if manifest.papers:
                dense = DenseIndex(folder / "chroma", manifest.fingerprint, manifest.dimension, manifest.chunks)
                self.dense = opened.enter_context(closing(dense))
                self.vectors = _mapped(folder / "vectors.npy", (manifest.chunks, manifest.dimension))
                graph = None if manifest.exact else dense
                self.nearest = Nearest(self.catalogue.paper_of_chunk, self.vectors, graph)
                self.lexical = LexicalIndex(folder / "lexical", manifest.papers)
                self.passage_vectors = _mapped(folder / "passages.npy", (manifest.passages, manifest.dimension))
            self._opened = opened.pop_all()

    def close(self) -> None:
        self._opened.close()


@dataclass(frozen=True)
class Live:
    """What a writer finds: the folder of the live generation, the records it was made of, and what is wrong with it."""

    folder: Path | None
    records: list[Paper]
    problem: IndexDamaged | OlderFormat | None = None


def current_folder(root: Path) -> Path:
    """The folder of the live generation. Raises NoIndex when there never was one, IndexDamaged."""
    try:
        name = (root / "CURRENT").read_text(errors="replace").strip()
    except OSError:
        if any_records(root) or any(root.glob("gen-*")):
            raise IndexDamaged(root, "CURRENT is missing") from None
        raise NoIndex(root) from None
    if not name.startswith("gen-") or "/" in name:
        raise IndexDamaged(root, "CURRENT does not name a generation")
    return root / name


def open_current(root: Path, fingerprint: str) -> Generation:
    """The live generation, of the model with that fingerprint in whatever precision.

    Raises NoIndex, IndexDamaged, OlderFormat, NewerFormat or OtherModel.
    """
    while True:
        folder = current_folder(root)
        try:
            built = read_manifest(folder).fingerprint
            if without_precision(built) != without_precision(fingerprint):
                raise OtherModel(built, fingerprint)
            return Generation(folder)
        except IndexDamaged:
            if current_folder(root) == folder:
                raise  # else it was replaced, and swept, while it was being opened


def live_fingerprint(root: Path) -> str | None:
    """The model that the live generation was built with, whatever its state; None where nothing tells."""
    try:
        folder = current_folder(root)
    except NoIndex:
        return None
    except IndexDamaged:
        return kept_fingerprint(root, None)
    return fingerprint_in(folder) or kept_fingerprint(root, _hash_of(folder)) or kept_fingerprint(root, None)


def open_live(root: Path) -> Live:
    """What is there to go on from, for a writer who holds the lock.

    The records come from the generation or, where that is damaged, deleted or of an older format, from what is kept
    beside it. Chroma, which takes as long to open as all the rest to verify, is left to `problem_in`.
    Raises IndexDamaged when neither can be read; NewerFormat.
    """
    folder: Path | None = None
    try:
        folder = current_folder(root)
        verify(folder, read_manifest(folder))
        return Live(folder, stored_records(folder / "papers.sqlite3"))
    except NoIndex:
        return Live(None, [])
    except (IndexDamaged, OlderFormat) as problem:
        return Live(None, _rescued(root, folder, problem), problem)


def problem_in(folder: Path) -> IndexDamaged | OlderFormat | None:
    """Why the generation in `folder` can't be used, or None when it is whole. Raises NewerFormat."""
    try:
        Generation(folder).close()
    except (IndexDamaged, OlderFormat) as problem:
        return problem
    return None


def _rescued(root: Path, folder: Path | None, problem: IndexDamaged | OlderFormat) -> list[Paper]:
    """The records of a generation that is not whole, or else the ones kept last, or else those of the last generation
    that has any. Raises `problem` without any."""
    if folder is not None:
        with suppress(IndexDamaged):
            return kept_records(root, _hash_of(folder))
        with suppress(IndexDamaged):
            return stored_records(folder / "papers.sqlite3")
    with suppress(IndexDamaged):
        return kept_records(root, None)
    for other in sorted(root.glob("gen-*"), key=lambda path: path.stat().st_mtime, reverse=True):
        with suppress(IndexDamaged):
            return stored_records(other / "papers.sqlite3")
    raise problem


def _hash_of(folder: Path) -> str:
    return folder.name.removeprefix("gen-")


def _mapped(path: Path, shape: tuple[int, int]) -> Vectors:
    try:
        vectors: Vectors = np.load(path, mmap_mode="r")
    except (OSError, ValueError, EOFError) as error:
        raise IndexDamaged(path, "its vectors cannot be read") from error
    if vectors.shape != shape:
        raise IndexDamaged(path, f"it holds vectors of shape {vectors.shape}")
    return vectors
