"""The way from sources to the next index.

In: paths, the index folder, an embedder. Out: the index switched to the new generation, and a report.
Reads and merges against the records of the live generation, embeds what the cache lacks, builds beside, switches.
Not known here: how a format is read, how an index is laid out, how progress is shown.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from ingest.chunks import chunks_of
from ingest.errors import NothingRead, NothingToRebuild
from ingest.merge import merge
from ingest.readers import read
from ingest.readers.record import Skipped
from ingest.report import Report
from ingest.sentences import sentence_spans
from vectorstore.cache import EmbeddingCache
from vectorstore.catalogue import Catalogue, Entry
from vectorstore.embedder import Chunk, Embedder
from vectorstore.errors import NoIndex, OtherModel, VectorstoreError
from vectorstore.generation import current_folder, read_manifest, write_generation
from vectorstore.lock import writing
from vectorstore.paper import Paper


class Progress(Protocol):
    """Told what is being done: a stage by name, with how much of it is done where that is known."""

    def __call__(self, stage: str, done: int = 0, total: int = 0) -> None: ...


def silent(stage: str, done: int = 0, total: int = 0) -> None:
    """A Progress that shows nothing."""


@dataclass(frozen=True)
class Request:
    """What to ingest, and how. `rebuild` starts from the stored records whatever model they were embedded with."""

    sources: tuple[Path, ...] = ()
    format: str | None = None
    rebuild: bool = False


def ingest(root: Path, request: Request, embedder: Embedder, progress: Progress = silent) -> Report:
    """Bring the index in `root` up to date with the sources, and switch to it.

    Raises an IngestError or a VectorstoreError with the live generation as it was.
    """
    with writing(root):
        known = _live_records(root, embedder, request.rebuild)
        progress("reading")
        fresh, skipped = _read(request)
        if request.rebuild and not known and not request.sources:
            raise NothingToRebuild(root)
        records = list({_key(record): record for record in (*known, *fresh)}.values())
        progress("merging")
        papers = merge(records)
        computed = _index(root, papers, records, embedder, progress)
        return replace(_report(known, fresh, papers), skipped=tuple(skipped), embedded=computed)


def _live_records(root: Path, embedder: Embedder, rebuild: bool) -> list[Paper]:
    """The records of the live generation; none where there is none or, when rebuilding, where it can't be read."""
    try:
        folder = current_folder(root)
        built = read_manifest(folder).fingerprint
        if built != embedder.fingerprint and not rebuild:
            raise OtherModel(built, embedder.fingerprint)
        catalogue = Catalogue(folder / "papers.sqlite3")
    except NoIndex:
        return []
    except VectorstoreError:
        if rebuild:
            return []
        raise
    try:
        return catalogue.records()
    except (VectorstoreError, ValueError, TypeError, KeyError):
        if rebuild:
            return []
        raise
    finally:
        catalogue.close()


def _read(request: Request) -> tuple[list[Paper], list[Skipped]]:
    fresh: list[Paper] = []
    skipped: list[Skipped] = []
    for path in request.sources:
        for item in read(path, request.format):
            (skipped if isinstance(item, Skipped) else fresh).append(item)  # type: ignore[arg-type]
    if request.sources and not fresh:
        reason = f"line {skipped[0].line}: {skipped[0].reason}" if skipped else "no block of it is an abstract"
        raise NothingRead(" ".join(map(str, request.sources)), reason)
    return fresh, skipped


def _index(
    root: Path, papers: Sequence[Paper], records: Sequence[Paper], embedder: Embedder, progress: Progress
) -> int:
    """Embed, build and switch. Returns how many chunks had to be embedded."""
    entries: list[Entry] = []
    chunks: list[Chunk] = []
    for paper in papers:
        spans = sentence_spans(paper.abstract)
        own = chunks_of(paper, spans, embedder.max_tokens, embedder.count_tokens)
        entries.append(Entry(paper, tuple(spans), len(own)))
        chunks += own
    show: Callable[[int, int], None] = lambda done, total: progress("embedding", done, total)  # noqa: E731
    with EmbeddingCache(root / "embeddings.sqlite3") as cache:
        vectors, computed = cache.embed(chunks, embedder, show)
    progress("indexing")
    write_generation(root, entries, vectors, records, embedder)
    return computed


def _report(known: Sequence[Paper], fresh: Sequence[Paper], papers: Sequence[Paper]) -> Report:
    """Count every fresh record once: repeated, replaced, joined to a paper that others tell of, or new."""
    before = {_key(record): record for record in known}
    home = {name: paper.id for paper in papers for name in (*paper.aliases, paper.id)}
    settled = {home[record.id] for record in known}
    counts = {"new": 0, "updated": 0, "unchanged": 0, "merged": 0}
    for record in fresh:
        earlier = before.get(_key(record))
        if earlier is not None:
            counts["unchanged" if earlier == record else "updated"] += 1
        else:
            counts["merged" if home[record.id] in settled else "new"] += 1
        settled.add(home[record.id])
        before[_key(record)] = record
    without = sum(not paper.abstract for paper in papers)
    return Report(read=len(fresh), without_abstract=without, skipped=(), papers=len(papers), **counts)


def _key(record: Paper) -> tuple[str, str]:
    return record.sources[0], record.id
