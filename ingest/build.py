"""The way from sources to the next index.

In: paths, the index folder, an embedder. Out: the index switched to the new generation, and a report.
Reads and merges against the records of the live generation, embeds what the cache lacks, builds beside, switches.
What is the same as in the live generation is taken from there.
Not known here: how a format is read, how an index is laid out, how progress is shown.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from ingest.chunks import chunks_of_all
from ingest.document import Skipped
from ingest.errors import NothingRead, NothingToRebuild
from ingest.merge import merge
from ingest.readers import read
from ingest.report import Report
from ingest.sentences import sentence_spans
from vectorstore.cache import EmbeddingCache
from vectorstore.catalogue import Catalogue, Entry
from vectorstore.commit import tidy, write_generation
from vectorstore.errors import IndexDamaged, OtherModel, VectorsLost
from vectorstore.generation import Live, live_fingerprint, open_live, problem_in
from vectorstore.lock import writing
from vectorstore.manifest import fingerprint_in
from vectorstore.paper import Paper
from vectorstore.vectors import Chunk, Embedder

_TELL = 200  # papers between two words on progress


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

    Without sources it is made whole again: from the records of a generation that was spoiled or deleted or is of an
    older format, and the vectors in the cache. Raises an IngestError or a VectorstoreError with the live generation
    as it was.
    """
    with writing(root):
        live = _live(root, embedder, request.rebuild)
        progress("reading")
        fresh, skipped = _read(request)
        if request.rebuild and not live.records and not request.sources:
            raise NothingToRebuild(root)
        records = list({_key(record): record for record in (*live.records, *fresh)}.values())
        same = live.folder is not None and fingerprint_in(live.folder) == embedder.fingerprint
        if live.folder is not None and same and records == live.records and not request.rebuild:
            if (problem := problem_in(live.folder)) is None:
                tidy(root, live.folder)  # what an ingest that was killed after it switched left behind
                return replace(_unchanged(live.folder, len(fresh)), skipped=tuple(skipped))
            live = Live(None, live.records, problem)
        progress("merging")
        papers = merge(records)
        start = None if request.rebuild else live.folder
        computed = _index(root, papers, records, embedder, start, progress)
        report = _report(live.records, fresh, papers)
        return replace(report, skipped=tuple(skipped), embedded=computed, mended=str(live.problem or ""))


def _live(root: Path, embedder: Embedder, rebuild: bool) -> Live:
    """What is there to go on from: nothing where it can't be read and is to be rebuilt. Raises OtherModel."""
    built = live_fingerprint(root)
    if built not in (None, embedder.fingerprint) and not rebuild:
        raise OtherModel(str(built), embedder.fingerprint)
    try:
        return open_live(root)
    except IndexDamaged:
        if rebuild:
            return Live(None, [])
        raise


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
    root: Path,
    papers: Sequence[Paper],
    records: Sequence[Paper],
    embedder: Embedder,
    live: Path | None,
    progress: Progress,
) -> int:
    """Embed, build and switch. Returns how many chunks had to be embedded.

    Papers that the live generation holds as they are keep their passages and chunks, if their vectors are at hand.
    """
    show: Callable[[int, int], None] = lambda done, total: progress("embedding", done, total)  # noqa: E731

    def build(known: Mapping[str, Entry]) -> int:
        entries, chunks = _plan(papers, known, embedder, progress)
        computed = cache.fill(chunks, embedder, show)
        progress("indexing")
        vectors = cache.vectors([key for entry in entries for key in entry.chunks], embedder)
        write_generation(root, entries, vectors, records, embedder, live)
        return computed

    with EmbeddingCache(root / "embeddings.sqlite3") as cache:
        try:
            return build(_known_entries(live, cache, embedder))
        except VectorsLost:  # kept ones turned out to be unreadable, and the cache is rid of them
            return build({})


def _known_entries(live: Path | None, cache: EmbeddingCache, embedder: Embedder) -> dict[str, Entry]:
    """The entries of the live generation whose vectors are cached, by the id of their paper."""
    if live is None:
        return {}
    cached = cache.known(embedder)
    with closing(Catalogue(live / "papers.sqlite3")) as catalogue:
        return {entry.paper.id: entry for entry in catalogue.entries() if cached.issuperset(entry.chunks)}


def _plan(
    papers: Sequence[Paper], known: Mapping[str, Entry], embedder: Embedder, progress: Progress
) -> tuple[list[Entry], list[Chunk]]:
    """The entries of `papers`, and the chunks of those that are not `known` as they are."""
    entries = {paper.id: entry for paper in papers if (entry := known.get(paper.id)) and entry.paper == paper}
    fresh = [paper for paper in papers if paper.id not in entries]
    chunks: list[Chunk] = []
    for first in range(0, len(fresh), _TELL):
        progress("splitting", first, len(fresh))
        split = [(paper, sentence_spans(paper.abstract)) for paper in fresh[first : first + _TELL]]
        for (paper, spans), own in zip(
            split, chunks_of_all(split, embedder.max_tokens, embedder.count_tokens), strict=True
        ):
            entries[paper.id] = Entry(paper, tuple(spans), tuple(chunk.key for chunk in own))
            chunks += own
    progress("splitting", len(fresh), len(fresh))
    return [entries[paper.id] for paper in papers], chunks


def _unchanged(folder: Path, read: int) -> Report:
    """The report on records that the generation in `folder` was made of already."""
    with closing(Catalogue(folder / "papers.sqlite3")) as catalogue:
        without = sum(not paper.abstract for paper in catalogue.all())
        return Report(read, 0, 0, read, 0, without_abstract=without, skipped=(), papers=catalogue.size)


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
    return Report(len(fresh), **counts, without_abstract=without, skipped=(), papers=len(papers))  # type: ignore[arg-type]


def _key(record: Paper) -> tuple[str, str]:
    return record.sources[0], record.id
