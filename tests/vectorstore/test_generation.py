"""The life of an index: what is committed is whole, whatever happens to the writer."""

import errno
import hashlib
import json
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest

from vectorstore import commit, generation
from vectorstore.catalogue import Entry
from vectorstore.commit import write_generation
from vectorstore.errors import (
    IndexDamaged,
    IndexUnwritable,
    NewerFormat,
    NoIndex,
    OlderFormat,
    OtherModel,
    VectorstoreError,
)
from vectorstore.generation import Generation, current_folder, open_current, open_live
from vectorstore.hashing import HashingEmbedder
from vectorstore.manifest import FORMAT, Manifest, read_manifest
from vectorstore.paper import Paper
from vectorstore.vectors import Chunk, Vectors

MODEL = HashingEmbedder.fingerprint
Write = Callable[..., Manifest]
MakePaper = Callable[..., Paper]
KILLED = Path(__file__).with_name("killed_writers.py")


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory, pristine_index: Path) -> Path:
    """An index of the sample, to be copied."""
    return Path(shutil.copytree(pristine_index, tmp_path_factory.mktemp("first") / "index"))


def ids(root: Path) -> list[str]:
    """The papers that a reader finds, each by its own text in both legs of the search."""
    live = open_current(root, MODEL)
    try:
        found = list(live.catalogue.all())
        for number, paper in enumerate(found):
            text = paper.abstract or paper.title
            assert live.lexical is not None
            assert live.nearest is not None
            assert live.lexical.query(text, 1)[0][0] == number
            assert live.nearest.papers(HashingEmbedder().embed_question(text), 1)[number] > 0.5
        return [paper.id for paper in found]
    finally:
        live.close()


def folders(root: Path) -> set[str]:
    return {path.name for path in root.iterdir() if path.is_dir()}


def test_what_is_written_is_read_back(tmp_path: Path, write: Write, paper: MakePaper) -> None:
    manifest = write(tmp_path, [paper(0), paper(1)])
    folder = tmp_path / f"gen-{manifest.hash}"
    files = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in manifest.files}
    files[DATABASE] = manifest.files[DATABASE]  # of its rows
    counts = {"papers": 2, "passages": 4, "chunks": 2}
    assert manifest == Manifest(FORMAT, manifest.hash, MODEL, 256, **counts, exact=True, files=files)
    assert {"papers.sqlite3", "vectors.npy", "passages.npy"} < files.keys()
    assert folders(tmp_path) == {f"gen-{manifest.hash}"}
    assert current_folder(tmp_path) == tmp_path / f"gen-{manifest.hash}"
    assert read_manifest(current_folder(tmp_path)) == manifest
    live = open_current(tmp_path, MODEL)
    assert list(live.catalogue.all()) == open_live(tmp_path).records == [paper(0), paper(1)]
    assert live.passage_vectors.shape == (4, 256)
    passage = HashingEmbedder().embed_question("A bound of 0.055 is proved.")
    assert np.asarray(live.passage_vectors[1]) @ passage > 0.99
    live.close()


def test_the_same_content_is_the_same_generation_wherever_it_is(tmp_path: Path, write: Write, paper: MakePaper) -> None:
    one, other = (write(tmp_path / name, [paper(0), paper(1)]) for name in ("a", "b"))
    assert one.hash == other.hash
    assert (one.papers, one.passages, one.chunks) == (other.papers, other.passages, other.chunks)


@pytest.mark.parametrize(
    "change",
    [{"title": "Other"}, {"abstract": "We study Steiner trees. It is new."}, {"year": 2026}, {"extra": {"k": 1}}],
)
def test_any_change_of_content_is_another_generation(
    tmp_path: Path, write: Write, paper: MakePaper, change: dict[str, object]
) -> None:
    assert write(tmp_path / "a", [paper(0)]).hash != write(tmp_path / "b", [paper(0, **change)]).hash


def test_another_model_is_another_generation(tmp_path: Path, write: Write, paper: MakePaper) -> None:
    class Other(HashingEmbedder):
        fingerprint = "hashing-other"

    assert write(tmp_path / "a", [paper(0)]).hash != write(tmp_path / "b", [paper(0)], Other()).hash


def test_writing_what_is_live_already_rebuilds_nothing(tmp_path: Path, write: Write, paper: MakePaper) -> None:
    """Chroma rewrites files of its folder whenever it is opened, so files are known by their inode."""
    write(tmp_path, [paper(0)])
    files = {path: path.stat().st_ino for path in current_folder(tmp_path).rglob("*")}
    write(tmp_path, [paper(0)])
    assert {path: path.stat().st_ino for path in current_folder(tmp_path).rglob("*")} == files


def test_a_new_generation_replaces_the_old_one_and_its_folder_goes(
    tmp_path: Path, write: Write, paper: MakePaper
) -> None:
    write(tmp_path, [paper(0)])
    new = write(tmp_path, [paper(1), paper(2)])
    assert folders(tmp_path) == {f"gen-{new.hash}"}
    assert ids(tmp_path) == ["p1", "p2"]


def test_a_generation_that_is_read_is_kept_until_its_reader_left(
    tmp_path: Path, write: Write, paper: MakePaper
) -> None:
    old = write(tmp_path, [paper(0)])
    reader = open_current(tmp_path, MODEL)
    middle = write(tmp_path, [paper(1)])
    assert folders(tmp_path) == {f"gen-{old.hash}", f"gen-{middle.hash}"}
    assert reader.catalogue.paper(0).id == "p0"
    assert reader.dense is not None
    assert (
        reader.dense.query(HashingEmbedder().embed_question("Steiner trees"), 5)[0][0]
        in reader.catalogue.paper_of_chunk
    )
    assert ids(tmp_path) == ["p1"]
    reader.close()
    new = write(tmp_path, [paper(2)])
    assert folders(tmp_path) == {f"gen-{new.hash}"}


def test_leftovers_of_a_killed_writer_are_swept(tmp_path: Path, write: Write, paper: MakePaper) -> None:
    (tmp_path / "tmp-0123456789ab" / "chroma").mkdir(parents=True)
    (tmp_path / "gen-0123456789ab").mkdir()
    (tmp_path / "mine").mkdir()
    live = write(tmp_path, [paper(0)])
    assert folders(tmp_path) == {f"gen-{live.hash}", "mine"}


def test_a_corpus_of_no_papers_is_a_generation_too(tmp_path: Path, write: Write) -> None:
    write(tmp_path, [])
    live = open_current(tmp_path, MODEL)
    assert (live.manifest.papers, live.dense, live.lexical, len(live.passage_vectors)) == (0, None, None, 0)
    live.close()


def test_papers_without_abstracts_only(tmp_path: Path, write: Write, paper: MakePaper) -> None:
    write(tmp_path, [paper(0, abstract=""), paper(1, abstract="")])
    live = open_current(tmp_path, MODEL)
    assert (live.manifest.passages, live.passage_vectors.shape) == (0, (0, 256))
    live.close()


# What is no index, or not this one


def test_no_index(tmp_path: Path) -> None:
    for root in (tmp_path, tmp_path / "absent"):
        with pytest.raises(NoIndex, match="paperchat ingest"):
            open_current(root, MODEL)


@pytest.mark.parametrize("name", ["", "gen-", "gen-000000000000", "../gen-0", "/etc/passwd", "tmp-0", "gen-0/../gen-1"])
def test_a_broken_current_is_damage(index: Path, name: str) -> None:
    (index / "CURRENT").write_text(name)
    with pytest.raises(IndexDamaged, match="paperchat ingest --rebuild"):
        open_current(index, MODEL)


def test_a_binary_current_is_damage(index: Path) -> None:
    (index / "CURRENT").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(IndexDamaged):
        open_current(index, MODEL)


def test_another_model_is_told_by_both_names(index: Path) -> None:
    with pytest.raises(OtherModel, match=r"hashing-256-v1; settings ask for minilm-x") as caught:
        open_current(index, "minilm-x")
    assert "paperchat ingest --rebuild" in str(caught.value)


@pytest.mark.parametrize(
    ("format", "error"),
    [(0, OlderFormat), (1, OlderFormat), (FORMAT + 1, NewerFormat), ("x", IndexDamaged), (None, IndexDamaged)],
)
def test_another_format_is_told(index: Path, format: object, error: type[VectorstoreError]) -> None:
    file = current_folder(index) / "manifest.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "format": format}))
    with pytest.raises(error, match=rf"reads format {FORMAT}|manifest"):
        open_current(index, MODEL)


@pytest.mark.parametrize(
    "content",
    [
        None,
        b"",
        b"{",
        b"[]",
        b"null",
        f'{{"format": {FORMAT}}}'.encode(),
        b"\xff",
        f'{{"format": {FORMAT}, "x": 1}}'.encode(),
    ],
)
def test_a_broken_manifest_is_damage(index: Path, content: bytes | None) -> None:
    file = current_folder(index) / "manifest.json"
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(IndexDamaged, match="manifest"):
        open_current(index, MODEL)


@pytest.mark.parametrize("field", ["papers", "passages", "chunks", "dimension"])
def test_a_manifest_that_promises_something_else_is_damage(index: Path, field: str) -> None:
    file = current_folder(index) / "manifest.json"
    stored = json.loads(file.read_text())
    file.write_text(json.dumps({**stored, field: stored[field] + 1}))
    with pytest.raises(IndexDamaged):
        open_current(index, MODEL)


@pytest.mark.parametrize("part", ["", "chroma", "lexical", "papers.sqlite3", "passages.npy"])
def test_a_deleted_part_is_damage(index: Path, part: str) -> None:
    path = current_folder(index) / part
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    with pytest.raises(IndexDamaged, match="paperchat ingest --rebuild"):
        open_current(index, MODEL)


@pytest.mark.parametrize("content", [b"garbage", b"\x93NUMPY"])
def test_broken_passage_vectors_are_damage(index: Path, content: bytes) -> None:
    (current_folder(index) / "passages.npy").write_bytes(content)
    with pytest.raises(IndexDamaged, match="passages"):
        open_current(index, MODEL)


def test_empty_passage_vectors_are_damage(index: Path) -> None:
    (current_folder(index) / "passages.npy").write_bytes(b"")
    with pytest.raises(IndexDamaged):
        open_current(index, MODEL)


def test_a_damaged_live_generation_is_replaced_by_writing_it_again(
    tmp_path: Path, write: Write, paper: MakePaper
) -> None:
    write(tmp_path, [paper(0), paper(1)])
    shutil.rmtree(current_folder(tmp_path) / "chroma")
    write(tmp_path, [paper(0), paper(1)])
    assert ids(tmp_path) == ["p0", "p1"]


def test_a_reader_that_opens_while_another_generation_is_committed_gets_one_of_the_two(
    tmp_path: Path, write: Write, paper: MakePaper, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, [paper(0)])
    read = generation.read_manifest
    waiting = [paper(1)]

    def read_after_a_commit(folder: Path) -> Manifest:
        if waiting:
            write(tmp_path, [waiting.pop()])
        return read(folder)

    monkeypatch.setattr(generation, "read_manifest", read_after_a_commit)
    live = open_current(tmp_path, MODEL)
    assert live.catalogue.paper(0).id in ("p0", "p1")
    live.close()


def test_a_reader_whose_generation_is_swept_a_moment_later_gets_the_next_one(
    tmp_path: Path, write: Write, paper: MakePaper, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, [paper(0)])
    hold = generation.reading
    waiting = [paper(1)]

    def hold_after_a_commit(path: Path) -> object:
        if waiting:
            write(tmp_path, [waiting.pop()])
        return hold(path)

    monkeypatch.setattr(generation, "reading", hold_after_a_commit)
    live = open_current(tmp_path, MODEL)
    assert live.catalogue.paper(0).id in ("p0", "p1")
    live.close()


OPENING = """
import sys, time
from pathlib import Path
from vectorstore.generation import open_current

open_current(Path(sys.argv[1]), sys.argv[2]).close()
print("ready", flush=True)
sys.stdin.readline()
end = time.monotonic() + 2
while time.monotonic() < end:
    open_current(Path(sys.argv[1]), sys.argv[2]).close()
"""


def test_several_processes_may_open_a_generation_at_once(index: Path) -> None:
    """As a server and a command do."""
    command = [sys.executable, "-c", OPENING, str(index), MODEL]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    readers = [subprocess.Popen(command, text=True, **pipes) for _ in range(3)]  # type: ignore[call-overload]
    for reader in readers:
        reader.stdout.readline()
    for reader in readers:
        reader.stdin.write("\n")
        reader.stdin.flush()
    told = [reader.communicate()[1].strip().splitlines()[-1:] for reader in readers]
    assert told == [[], [], []]


@pytest.mark.parametrize("name", ["header.bin", "length.bin", "data_level0.bin"])
def test_a_reader_that_was_killed_while_opening_leaves_no_damage(index: Path, name: str) -> None:
    """Under 1,000 chunks Chroma writes these files whenever it opens, and never reads them."""
    (file,) = current_folder(index).rglob(name)
    file.write_bytes(b"")
    assert len(ids(index)) == 37


# Whatever happens to the writer

BEFORE = (
    "build_catalogue|build_dense|after build_dense|build_lexical|_lost|_flush|os.rename|keep_records|"
    "os.replace|after os.replace|after keep_records|_switch"
).split("|")
AFTER = ["after _switch", "tidy", "after shutil.rmtree", "forget_records", "after forget_records"]


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory, first: Path) -> Path:
    """Copies of an index, in each of which a writer was killed at the point that is the copy's name."""
    target = tmp_path_factory.mktemp("killed")
    subprocess.run([sys.executable, str(KILLED), str(first), str(target)], check=True)
    assert {path.name for path in target.iterdir()} == {*BEFORE, *AFTER}
    return target


@pytest.mark.parametrize("point", BEFORE)
def test_a_writer_killed_before_the_commit_leaves_the_old_corpus(killed: Path, first: Path, point: str) -> None:
    assert ids(killed / point) == ids(first)


@pytest.mark.parametrize("point", AFTER)
def test_a_writer_killed_after_the_commit_leaves_the_new_corpus(killed: Path, point: str) -> None:
    assert ids(killed / point) == ["new0", "new1", "new2"]


@pytest.mark.parametrize("point", [*BEFORE, *AFTER])
def test_after_a_killed_writer_the_next_one_succeeds_and_cleans_up(
    killed: Path, tmp_path: Path, write: Write, paper: MakePaper, point: str
) -> None:
    root = Path(shutil.copytree(killed / point, tmp_path / "index"))
    new = write(root, [paper(0), paper(1)])
    assert folders(root) == {f"gen-{new.hash}"}
    assert ids(root) == ["p0", "p1"]


@pytest.mark.parametrize("name", ["build_catalogue", "build_lexical", "_flush", "keep_records", "_switch"])
def test_a_disk_that_fails_leaves_the_old_corpus_and_says_so(
    tmp_path: Path, write: Write, paper: MakePaper, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    write(tmp_path, [paper(0)])

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(commit, name, fail)
        with pytest.raises(IndexUnwritable, match=r"No space left on device\. Nothing was changed"):
            write(tmp_path, [paper(1)])
    assert ids(tmp_path) == ["p0"]
    write(tmp_path, [paper(1)])
    assert ids(tmp_path) == ["p1"]


@contextmanager
def files_no_larger_than(limit: int) -> Iterator[None]:
    """A disk that is full, as the operating system tells it: writes beyond `limit` bytes of a file fail."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("limit", [0, 8_000, 60_000])
def test_a_full_disk_never_harms_the_old_corpus(tmp_path: Path, write: Write, paper: MakePaper, limit: int) -> None:
    write(tmp_path, [paper(0)])
    with files_no_larger_than(limit), pytest.raises(Exception, match=r"\w"):
        write(tmp_path, [paper(1)])
    assert ids(tmp_path) == ["p0"]
    write(tmp_path, [paper(1)])
    assert ids(tmp_path) == ["p1"]


@pytest.mark.parametrize("limit", [0, 8_000, 60_000])
def test_a_full_disk_is_told_as_such(tmp_path: Path, write: Write, paper: MakePaper, limit: int) -> None:
    write(tmp_path, [paper(0)])
    with files_no_larger_than(limit), pytest.raises(IndexUnwritable):
        write(tmp_path, [paper(1)])


@pytest.mark.parametrize("cut", [0.5, None])
def test_a_file_that_lost_its_tail_is_damage_before_a_library_sees_it(
    tmp_path: Path, write: Write, paper: MakePaper, cut: float | None
) -> None:
    """Chroma counts all the same where its graph is gone, and ends the process (SIGSEGV) where it is cut in half."""
    manifest = write(tmp_path, [paper(0), paper(1)])
    folder = tmp_path / f"gen-{manifest.hash}"
    for name in manifest.files:
        content = (folder / name).read_bytes()
        if not content:
            continue
        (folder / name).unlink()
        if cut is not None:
            (folder / name).write_bytes(content[: int(len(content) * cut)])
        with pytest.raises(IndexDamaged, match=r"not what was written|missing"):
            Generation(folder)
        (folder / name).write_bytes(content)
    Generation(folder).close()


def test_a_graph_that_does_not_find_its_vectors_is_not_relied_on(
    tmp_path: Path, write: Write, paper: MakePaper, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when an index library loses some: the new generation is checked with its own vectors."""
    monkeypatch.setattr(commit, "EXACT", 0)
    assert not write(tmp_path, [paper(0)]).exact
    build = commit.build_dense

    def build_others(folder: Path, ids: list[str], vectors: Iterable[Vectors], model: str, start: object) -> None:
        build(folder, ids, (np.roll(vector, 7) for vector in vectors), model, None)

    monkeypatch.setattr(commit, "build_dense", build_others)
    assert write(tmp_path, [paper(1), paper(2)]).exact
    monkeypatch.undo()
    assert ids(tmp_path) == ["p1", "p2"]


@pytest.mark.parametrize("exact_up_to", [0, commit.EXACT])
def test_of_a_thousand_papers_that_hardly_differ_each_is_found(
    tmp_path: Path, write: Write, paper: MakePaper, monkeypatch: pytest.MonkeyPatch, exact_up_to: int
) -> None:
    """A graph of them falls into islands, and which ones it loses is a matter of chance."""
    monkeypatch.setattr(commit, "EXACT", exact_up_to)
    papers = [paper(number, abstract=f"We study the bandit problem {number} times.") for number in range(1050)]
    write(tmp_path, papers)
    live = open_current(tmp_path, MODEL)
    assert live.nearest is not None
    for vector in live.vectors:
        assert max(live.nearest.papers(vector, 3).values()) > 1 - 1e-5
    live.close()


def test_chunks_and_passages_of_several_papers_stay_with_their_paper(tmp_path: Path, paper: MakePaper) -> None:
    embedder = HashingEmbedder()
    long, short = paper(0), paper(1)
    cut = long.abstract.index(". ") + 1
    chunks = [Chunk(long.abstract[:cut], ((0, cut),)), Chunk(long.abstract[cut + 1 :], ((0, 10),))]
    chunks.append(Chunk(short.abstract, ((0, len(short.abstract)),)))
    entries = [
        Entry(long, ((0, cut), (cut + 1, len(long.abstract))), (chunks[0].key, chunks[1].key)),
        Entry(short, chunks[2].spans, (chunks[2].key,)),
    ]
    write_generation(tmp_path, entries, embedder.embed(chunks), [long, short], embedder)
    live = Generation(current_folder(tmp_path))
    assert list(live.catalogue.paper_of_chunk.values()) == [0, 0, 1]
    assert live.catalogue.passages_of(1, short)[0] == 2
    assert np.asarray(live.passage_vectors[2]) @ embedder.embed_question(short.abstract) > 0.99
    live.close()


def test_a_byte_that_changed_in_any_settled_file_is_damage(tmp_path: Path, write: Write, paper: MakePaper) -> None:
    """A graph or a table with a wrong byte may answer nonsense, or end the process."""
    manifest = write(tmp_path, [paper(0), paper(1)])
    folder = tmp_path / f"gen-{manifest.hash}"
    assert manifest.files
    for name in manifest.files.keys() - {DATABASE}:
        content = bytearray((folder / name).read_bytes())
        if not content:
            continue
        content[len(content) // 2] ^= 1
        (folder / name).write_bytes(content)
        with pytest.raises(IndexDamaged, match="not what was written"):
            Generation(folder)
        content[len(content) // 2] ^= 1
        (folder / name).write_bytes(content)
    Generation(folder).close()


LEXICAL = (
    "data.csc.index.npy",
    "indices.csc.index.npy",
    "indptr.csc.index.npy",
    "params.index.json",
    "vocab.index.json",
)
DATABASE = "chroma/chroma.sqlite3"
GRAPH = ("data_level0.bin", "header.bin", "index_metadata.pickle", "length.bin", "link_lists.bin")
SETTLED = (
    "papers.sqlite3",
    "passages.npy",
    "vectors.npy",
    *(f"lexical/{name}" for name in LEXICAL),
    *(f"chroma/{name}" for name in GRAPH),
)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory, write: Write, paper: MakePaper) -> Path:
    """A generation of so many papers (over 1,000) that Chroma keeps its graph in files of its own.

    Of words by chance: of a thousand papers that hardly differ the graph loses some.
    """
    root = tmp_path_factory.mktemp("large")
    words = "graph kernel bandit token policy tensor regret diffusion privacy protein".split()
    chance = random.Random(20261201)
    texts = [f"We study {' '.join(chance.choices(words, k=12))}. It is {number}." for number in range(1050)]
    write(root, [paper(number, abstract=text) for number, text in enumerate(texts)])
    return current_folder(root)


def settled(folder: Path) -> dict[str, Path]:
    """The files whose digests the manifest of `folder` holds; the folder of a graph has a name of chance."""
    files = (Path(name) for name in read_manifest(folder).files)
    return {str(Path(*file.parts[:1], *file.parts[1:][-1:])): folder / file for file in files}


def test_the_files_that_are_changed_here_are_all_that_settle(large: Path) -> None:
    assert sorted(settled(large)) == sorted([*SETTLED, DATABASE])


def test_a_row_of_chromas_database_that_changed_is_told_and_a_visit_is_not(large: Path) -> None:
    """Chroma signs its database whenever it opens it, so the bytes of it may differ."""
    database, copy = large / DATABASE, large.parent / "copy.sqlite3"
    Generation(large).close()
    shutil.copy(database, copy)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE collection_metadata SET str_value = 'm' WHERE key = 'fingerprint'")
    with pytest.raises(IndexDamaged, match=r"chroma.sqlite3 is not what was written"):
        Generation(large)
    shutil.copy(copy, database)
    Generation(large).close()


@pytest.mark.parametrize("place", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("name", SETTLED)
def test_one_bit_that_changed_anywhere_is_told_with_the_files_name(large: Path, name: str, place: float) -> None:
    file = settled(large)[name]
    whole = file.read_bytes()
    content = bytearray(whole)
    content[int((len(content) - 1) * place)] ^= 1
    file.write_bytes(content)
    try:
        with pytest.raises(IndexDamaged, match=rf"{file.name} is not what was written"):
            Generation(large)
    finally:
        file.write_bytes(whole)
    Generation(large).close()


@pytest.mark.parametrize("lost", ["papers.sqlite3", "manifest.json", "", "CURRENT"])
def test_a_writer_finds_the_records_of_a_generation_that_is_not_whole(
    tmp_path: Path, write: Write, paper: MakePaper, lost: str
) -> None:
    write(tmp_path, [paper(0), paper(1)])
    path = tmp_path / "CURRENT" if lost == "CURRENT" else current_folder(tmp_path) / lost
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    found = open_live(tmp_path)
    assert found.folder is None
    assert found.problem is not None
    assert found.records == [paper(0), paper(1)]


def test_without_the_kept_records_the_catalogue_has_them(tmp_path: Path, write: Write, paper: MakePaper) -> None:
    write(tmp_path, [paper(0), paper(1)])
    for kept in tmp_path.glob("records-*"):
        kept.unlink()
    (current_folder(tmp_path) / "passages.npy").unlink()
    assert open_live(tmp_path).records == [paper(0), paper(1)]


def test_with_neither_records_nor_catalogue_the_damage_is_told(tmp_path: Path, write: Write, paper: MakePaper) -> None:
    write(tmp_path, [paper(0)])
    for kept in tmp_path.glob("records-*"):
        kept.write_bytes(b"garbage")
    (current_folder(tmp_path) / "papers.sqlite3").write_bytes(b"garbage")
    with pytest.raises(IndexDamaged, match=r"papers\.sqlite3 is not what was written"):
        open_live(tmp_path)


def test_a_reader_takes_the_vectors_of_its_model_in_any_precision(
    tmp_path: Path, write: Write, paper: MakePaper
) -> None:
    class Half(HashingEmbedder):
        fingerprint = "hashing-x-bf16"

    write(tmp_path, [paper(0)], Half())
    open_current(tmp_path, "hashing-x-fp32").close()
    with pytest.raises(OtherModel):
        open_current(tmp_path, "hashing-y-bf16")
