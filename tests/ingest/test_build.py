"""From files to the next index: counts that add up, work that is done once, and the old index until the new one is."""

import json
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from ingest.build import Request, ingest
from ingest.errors import IngestError, NothingRead, NothingToRebuild, SourceMissing, SourceUnreadable
from ingest.report import Report
from vectorstore import cache as cache_module
from vectorstore.errors import IndexDamaged, IndexLocked, NewerFormat, NoIndex, OtherModel
from vectorstore.generation import Generation, current_folder
from vectorstore.hashing import HashingEmbedder
from vectorstore.lock import writing
from vectorstore.manifest import read_manifest
from vectorstore.paper import Paper
from vectorstore.search import Searcher
from vectorstore.vectors import Chunk, Embedded, Embedder

WriteRows = Callable[..., Path]
Row = Callable[..., dict[str, Any]]


class Counting(HashingEmbedder):
    """Remembers every text that it had to embed."""

    def __init__(self, fingerprint: str = HashingEmbedder.fingerprint) -> None:
        self.fingerprint = fingerprint
        self.texts: list[str] = []

    def embed(self, chunks: Sequence[Chunk]) -> list[Embedded]:
        self.texts += [chunk.text for chunk in chunks]
        return super().embed(chunks)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "index"


def papers(root: Path, embedder: Embedder | None = None) -> list[Paper]:
    searcher = Searcher(root, embedder or HashingEmbedder())
    found = searcher.papers()
    searcher.close()
    return found


def titles(root: Path) -> list[str]:
    return [paper.title for paper in papers(root)]


def add(root: Path, *sources: Path, embedder: Embedder | None = None, rebuild: bool = False) -> Report:
    report = ingest(root, Request(sources, rebuild=rebuild), embedder or HashingEmbedder())
    assert report.read == report.new + report.updated + report.unchanged + report.merged
    assert report.papers == len(papers(root, embedder))
    return report


# The bundled samples


def test_two_text_files_then_the_titled_one(
    root: Path, sample: Path, text_samples: tuple[Path, Path], hashing: HashingEmbedder
) -> None:
    report = add(root, *text_samples)
    assert report == Report(38, 37, 0, 0, 1, 0, (), 37, 37)
    former = [paper.id for paper in papers(root)]

    report = add(root, sample)
    assert report == Report(37, 0, 0, 0, 37, 0, (), 37, 37)
    assert all(paper.title and paper.authors and paper.year == 2026 for paper in papers(root))
    searcher = Searcher(root, hashing)
    for name in former:
        found = searcher.paper(name)
        assert found is not None
        assert found.id.startswith("icml2026-")
    assert searcher.search("certified lower bound on the Steiner ratio").evidence[0].paper.authors
    searcher.close()

    again = add(root, *text_samples, sample)
    assert again == Report(75, 0, 0, 75, 0, 0, (), 37, 0)


def test_the_titled_file_then_the_text_files_gives_the_same_papers(
    root: Path, tmp_path: Path, sample: Path, text_samples: tuple[Path, Path]
) -> None:
    assert add(root, sample) == Report(37, 37, 0, 0, 0, 0, (), 37, 37)
    embedder = Counting()
    assert add(root, *text_samples, embedder=embedder) == Report(38, 0, 0, 0, 38, 0, (), 37, 0)
    assert embedder.texts == []
    add(tmp_path / "other", *text_samples, sample)
    for one, other in zip(papers(root), papers(tmp_path / "other"), strict=True):
        assert (one.id, one.title, one.abstract, set(one.aliases)) == (
            other.id,
            other.title,
            other.abstract,
            set(other.aliases),
        )


def test_one_text_file_after_the_other_counts_the_shared_paper_as_merged(
    root: Path, text_samples: tuple[Path, Path]
) -> None:
    assert add(root, text_samples[0]).new == 19
    report = add(root, text_samples[1])
    assert (report.read, report.new, report.merged, report.papers, report.embedded) == (19, 18, 1, 37, 18)


def test_every_passage_of_the_index_is_the_text_of_its_span(index: Path, hashing: HashingEmbedder) -> None:
    searcher = Searcher(index, hashing)
    for evidence in searcher.search("anything", 100).evidence:
        rest = evidence.paper.abstract
        for passage in evidence.passages:
            assert passage.text == evidence.paper.abstract[passage.start : passage.end]
            rest = rest.replace(passage.text, "", 1)
        assert rest.strip() == ""
    searcher.close()


# Again, and again with changes


def test_an_unchanged_file_changes_nothing_and_embeds_nothing(root: Path, sample: Path) -> None:
    add(root, sample)
    live = current_folder(root)
    embedder = Counting()
    assert add(root, sample, embedder=embedder) == Report(37, 0, 0, 37, 0, 0, (), 37, 0)
    assert embedder.texts == []
    assert current_folder(root) == live


def test_only_the_changed_record_is_updated_and_embedded(root: Path, write_rows: WriteRows, row: Row) -> None:
    file = write_rows([row(n) for n in range(10)])
    add(root, file)
    embedder = Counting()
    write_rows([row(n, **({"title": "A better title"} if n == 4 else {})) for n in range(10)])
    report = add(root, file, embedder=embedder)
    assert (report.read, report.updated, report.unchanged, report.new, report.embedded) == (10, 1, 9, 0, 1)
    assert [text.splitlines()[0] for text in embedder.texts] == ["A better title"]
    assert titles(root).count("A better title") == 1
    assert "Study 4" not in titles(root)


def test_a_change_of_bibliographic_facts_needs_no_embedding(root: Path, write_rows: WriteRows, row: Row) -> None:
    file = write_rows([row(1)])
    add(root, file)
    write_rows([row(1, decision="Accept (oral)")])
    report = add(root, file)
    assert (report.updated, report.embedded) == (1, 0)
    assert papers(root)[0].decision == "oral"


def test_records_that_left_the_file_stay(root: Path, write_rows: WriteRows, row: Row) -> None:
    file = write_rows([row(1), row(2)])
    add(root, file)
    write_rows([row(2), row(3)])
    assert add(root, file).papers == 3


def test_the_same_record_from_another_file_is_merged(root: Path, write_rows: WriteRows, row: Row) -> None:
    add(root, write_rows([row(1)], "a.jsonl"))
    report = add(root, write_rows([row(1), row(2)], "b.jsonl"))
    assert (report.merged, report.new, report.papers) == (1, 1, 2)
    assert [Path(source).name for source in papers(root)[0].sources] == ["a.jsonl", "b.jsonl"]


def test_a_record_twice_in_one_file_is_counted_twice_and_kept_once(root: Path, write_rows: WriteRows, row: Row) -> None:
    report = add(root, write_rows([row(1), row(1), row(1, title="Corrected")]))
    assert (report.read, report.new, report.unchanged, report.updated, report.papers) == (3, 1, 1, 1, 1)
    assert titles(root) == ["Corrected"]


def test_the_order_of_two_ingests_changes_no_count(root: Path, tmp_path: Path, write_rows: WriteRows, row: Row) -> None:
    one = write_rows([row(1), row(2, authors=["Ann Lee"]), {"abstract": row(3)["abstract"]}], "a.jsonl")
    other = write_rows([row(3), {"title": "Study 2", "authors": "Ann Lee"}, row(4)], "b.jsonl")
    add(root, one)
    add(root, other)
    add(tmp_path / "turned", other)
    add(tmp_path / "turned", one)
    assert titles(root) == titles(tmp_path / "turned") == ["Study 1", "Study 2", "Study 3", "Study 4"]


def test_nothing_asked_of_an_index_changes_nothing(index: Path) -> None:
    before = current_folder(index)
    assert add(index) == Report(0, 0, 0, 0, 0, 0, (), 37, 0)
    assert current_folder(index) == before


def test_papers_without_abstract_are_kept_counted_and_found(
    root: Path, write_rows: WriteRows, row: Row, hashing: HashingEmbedder
) -> None:
    report = add(root, write_rows([row(1), {"title": "Zebra counting", "authors": ["Bo Ek"]}]))
    assert (report.new, report.without_abstract, report.papers) == (2, 1, 2)
    searcher = Searcher(root, hashing)
    best = searcher.search("Bo Ek").evidence[0]
    searcher.close()
    assert (best.paper.title, best.passages) == ("Zebra counting", ())


def test_skipped_lines_are_named_and_the_rest_is_read(root: Path, write_rows: WriteRows, row: Row) -> None:
    file = write_rows([row(1), json.dumps(row(2))[:50], "[]", {"id": "x-9"}, row(3)])
    report = add(root, file)
    assert (report.read, report.new, report.papers) == (2, 2, 2)
    assert [(skip.source, skip.line) for skip in report.skipped] == [(str(file.resolve()), n) for n in (2, 3, 4)]


def test_an_abstract_of_2000_words_is_searchable_to_its_end(root: Path, write_rows: WriteRows, row: Row) -> None:
    class Narrow(HashingEmbedder):
        fingerprint, max_tokens = "narrow", 100

    long = " ".join(f"Sentence {n} reports what we measured in experiment {n} of many." for n in range(200))
    report = add(root, write_rows([row(1, abstract=long + " Quokkas smile."), row(2)]), embedder=Narrow())
    assert report.embedded > 10
    searcher = Searcher(root, Narrow())
    best = searcher.search("quokkas smile").evidence[0]
    searcher.close()
    assert len(best.passages) == len(best.similarities) == 201
    assert max(zip(best.similarities, best.passages, strict=True), key=lambda pair: pair[0])[1].text == "Quokkas smile."


# Sources that give nothing


@pytest.fixture
def bad_sources(tmp_path: Path) -> dict[str, Path]:
    contents = {
        "empty.txt": b"",
        "binary.txt": b"\x7fELF\x00\x01",
        "latin.txt": "café".encode("latin-1"),
        "table.csv": b"id,title\n1,Bees\n",
        "short.txt": b"Only a few words",
        "broken.jsonl": b'{"title": "Bees"\n{"id": 1}\n',
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder.jsonl").mkdir()
    return {name: tmp_path / name for name in (*contents, "folder.jsonl", "missing.jsonl")}


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("missing.jsonl", SourceMissing, "no such file"),
        ("empty.txt", SourceUnreadable, "it is empty"),
        ("binary.txt", SourceUnreadable, "it is binary"),
        ("folder.jsonl", SourceUnreadable, "it is a folder"),
        ("latin.txt", SourceUnreadable, "it is not UTF-8"),
        ("table.csv", SourceUnreadable, "its format is not known"),
        ("short.txt", NothingRead, "no paper could be read"),
        ("broken.jsonl", NothingRead, r"no paper could be read \(line 1: not valid JSON"),
    ],
)
def test_a_source_that_gives_nothing_is_one_line_and_the_index_stays(
    index: Path, sample: Path, bad_sources: dict[str, Path], name: str, kind: type[IngestError], message: str
) -> None:
    before = current_folder(index)
    for sources in ((bad_sources[name],), (sample, bad_sources[name])):
        if kind is NothingRead and len(sources) > 1:
            continue
        with pytest.raises(kind, match=message) as caught:
            ingest(index, Request(sources), HashingEmbedder())
        assert name in str(caught.value)
        assert "\n" not in str(caught.value)
        assert current_folder(index) == before
    assert len(papers(index)) == 37


def test_a_failed_first_ingest_leaves_no_index(root: Path, tmp_path: Path) -> None:
    with pytest.raises(SourceMissing):
        ingest(root, Request((tmp_path / "missing",)), HashingEmbedder())
    with pytest.raises(NoIndex):
        current_folder(root)


@pytest.mark.parametrize("extra", ['"note": "half an emoji \\ud83d"', '"key \\ud83d": 1'])
def test_half_an_emoji_in_any_field_does_not_stop_an_ingest(root: Path, write_rows: WriteRows, extra: str) -> None:
    assert add(root, write_rows([f'{{"title": "Bees", {extra}}}'])).papers == 1


def test_an_index_in_a_folder_of_any_name(tmp_path: Path, sample: Path) -> None:
    assert add(tmp_path / "papers #1 (50%25)?", sample).papers == 37


# Another model, and damage


def test_another_model_needs_rebuild_and_then_keeps_every_record(
    index: Path, sample: Path, write_rows: WriteRows, row: Row
) -> None:
    other = Counting("another-model")
    with pytest.raises(OtherModel, match="another-model"):
        ingest(index, Request((sample,)), other)
    assert len(papers(index)) == 37
    assert other.texts == []

    report = add(index, write_rows([row(1)]), embedder=other, rebuild=True)
    assert (report.new, report.papers, report.embedded) == (1, 38, 38)
    assert read_manifest(current_folder(index)).fingerprint == "another-model"
    back = add(index, rebuild=True)
    assert (back.papers, back.embedded) == (38, 1)


def test_another_precision_needs_rebuild_too_and_is_searched_all_the_same(
    root: Path, write_rows: WriteRows, row: Row
) -> None:
    """One index holds vectors of one precision only."""
    exact, rough = Counting("x-fp32"), Counting("x-bf16")
    add(root, write_rows([row(1), row(2)]), embedder=rough)
    more = write_rows([row(3)], "more.jsonl")
    with pytest.raises(OtherModel, match="x-bf16; settings ask for x-fp32"):
        ingest(root, Request((more,)), exact)
    assert exact.texts == []
    assert len(papers(root, exact)) == 2

    report = add(root, more, embedder=exact, rebuild=True)
    assert (report.new, report.papers, report.embedded) == (1, 3, 3)
    assert read_manifest(current_folder(root)).fingerprint == "x-fp32"
    back = add(root, embedder=rough, rebuild=True)
    assert (back.papers, back.embedded) == (3, 1)


def test_rebuild_without_sources_takes_the_stored_records(index: Path) -> None:
    before = papers(index)
    assert add(index, rebuild=True) == Report(0, 0, 0, 0, 0, 0, (), 37, 0)
    assert papers(index) == before


def test_rebuild_of_nothing_is_told(root: Path) -> None:
    with pytest.raises(NothingToRebuild, match="Name the sources"):
        ingest(root, Request(rebuild=True), HashingEmbedder())


def spoil_manifest(folder: Path) -> None:
    (folder / "manifest.json").write_text("{")


def spoil_format(folder: Path) -> None:
    file = folder / "manifest.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "format": 99}))


def spoil_catalogue(folder: Path) -> None:
    (folder / "papers.sqlite3").write_bytes(b"garbage" * 1000)


def spoil_all(folder: Path) -> None:
    shutil.rmtree(folder)


@pytest.mark.parametrize("spoil", [spoil_manifest, spoil_catalogue, spoil_all])
def test_a_damaged_index_is_mended_by_the_next_ingest_and_nothing_is_embedded_again(
    index: Path, sample: Path, write_rows: WriteRows, row: Row, spoil: Callable[[Path], None]
) -> None:
    """With the papers of every source, not only of the one that is ingested now."""
    spoil(current_folder(index))
    report = add(index, write_rows([row(1)]))
    assert (report.new, report.papers, report.embedded) == (1, 38, 1)
    assert "damaged" in report.mended
    assert add(index, sample).unchanged == 37


@pytest.mark.parametrize("spoil", [spoil_manifest, spoil_catalogue, spoil_all])
def test_a_damaged_index_is_whole_again_without_any_source(index: Path, spoil: Callable[[Path], None]) -> None:
    before = current_folder(index)
    spoil(before)
    report = add(index)
    assert (report.read, report.papers, report.embedded) == (0, 37, 0)
    Generation(current_folder(index)).close()
    assert current_folder(index) == before


def test_an_index_of_an_earlier_version_is_brought_up_to_date_from_its_catalogue(index: Path) -> None:
    """It has no records beside it, its manifest another format, and its catalogue other columns."""
    folder = current_folder(index)
    for kept in index.glob("records-*"):
        kept.unlink()
    file = folder / "manifest.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "format": 1, "files": {"papers.sqlite3": 4096}}))
    database = sqlite3.connect(folder / "papers.sqlite3")
    database.execute("ALTER TABLE chunks DROP COLUMN key")
    database.execute("ALTER TABLE papers DROP COLUMN terms")
    database.commit()
    database.close()
    report = add(index)
    assert (report.papers, report.embedded) == (37, 0)
    assert "earlier version" in report.mended


def test_an_index_of_a_later_version_is_left_alone_even_by_a_rebuild(index: Path, sample: Path) -> None:
    spoil_format(current_folder(index))
    before = sorted(path.name for path in index.iterdir())
    for rebuild in (False, True):
        with pytest.raises(NewerFormat, match="later version"):
            add(index, sample, rebuild=rebuild)
    assert sorted(path.name for path in index.iterdir()) == before


def test_with_neither_records_nor_catalogue_the_sources_are_needed(index: Path, sample: Path) -> None:
    spoil_all(current_folder(index))
    for kept in index.glob("records-*"):
        kept.write_bytes(b"garbage")
    with pytest.raises(IndexDamaged, match="--rebuild"):
        add(index, sample)
    report = add(index, sample, rebuild=True)
    assert (report.new, report.papers, report.embedded) == (37, 37, 0)


def test_vectors_that_were_lost_are_computed_again(
    index: Path, write_rows: Callable[..., Path], row: Callable[..., Any]
) -> None:
    """Also those of papers that did not change."""
    (index / "embeddings.sqlite3").write_bytes(b"garbage" * 2000)
    assert add(index, write_rows([row(1)])).embedded == 38


@pytest.mark.parametrize("part", ["chroma", "lexical"])
def test_a_damaged_search_index_is_mended_by_any_ingest(index: Path, sample: Path, part: str) -> None:
    before = current_folder(index)
    shutil.rmtree(before / part)
    report = add(index, sample)
    assert (report.unchanged, report.papers, report.embedded) == (37, 37, 0)
    assert "damaged" in report.mended
    Generation(before).close()
    assert add(index, sample).mended == ""


def test_records_that_the_catalogue_lost_are_still_kept_beside_it(index: Path) -> None:
    database = sqlite3.connect(current_folder(index) / "papers.sqlite3")
    database.execute("DROP TABLE records")
    database.commit()
    database.close()
    report = add(index)
    assert (report.papers, report.embedded) == (37, 0)
    assert "papers.sqlite3" in report.mended


def test_records_that_cannot_be_read_are_rebuilt_from_the_sources(index: Path, sample: Path) -> None:
    database = sqlite3.connect(current_folder(index) / "papers.sqlite3")
    database.execute("DROP TABLE records")
    database.commit()
    database.close()
    for kept in index.glob("records-*"):
        kept.unlink()
    with pytest.raises(IndexDamaged, match="--rebuild"):
        add(index, sample)
    report = add(index, sample, rebuild=True)
    assert (report.papers, report.embedded) == (37, 0)


def test_a_damaged_cache_is_made_anew(index: Path, write_rows: WriteRows, row: Row) -> None:
    for name in ("embeddings.sqlite3-wal", "embeddings.sqlite3-shm"):
        (index / name).unlink(missing_ok=True)
    (index / "embeddings.sqlite3").write_bytes(b"garbage" * 1000)
    report = add(index, write_rows([row(1)]))
    assert (report.papers, report.embedded) == (38, 38)


def test_a_deleted_cache_costs_time_only(index: Path, write_rows: WriteRows, row: Row) -> None:
    for file in index.glob("embeddings.sqlite3*"):
        file.unlink()
    report = add(index, write_rows([row(1)]))
    assert (report.papers, report.embedded) == (38, 38)


# Interruptions


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "_BATCH", 10)


@pytest.mark.parametrize("stage", ["reading", "merging", "splitting", "embedding", "indexing"])
def test_ctrl_c_at_any_stage_leaves_the_old_index_and_the_lock_free(
    index: Path, write_rows: WriteRows, row: Row, stage: str
) -> None:
    before = current_folder(index)

    def interrupt(now: str, done: int = 0, total: int = 0) -> None:
        if now == stage:
            raise KeyboardInterrupt

    source = write_rows([row(n) for n in range(3)])
    with pytest.raises(KeyboardInterrupt):
        ingest(index, Request((source,)), HashingEmbedder(), interrupt)
    assert current_folder(index) == before
    assert len(papers(index)) == 37
    assert add(index, source).papers == 40


@pytest.mark.usefixtures("small_batches")
def test_ctrl_c_keeps_finished_embeddings(root: Path, write_rows: WriteRows, row: Row) -> None:
    source = write_rows([row(n) for n in range(25)])

    def interrupt(stage: str, done: int = 0, total: int = 0) -> None:
        if (stage, done) == ("embedding", 20):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ingest(root, Request((source,)), HashingEmbedder(), interrupt)
    with pytest.raises(NoIndex):
        current_folder(root)
    embedder = Counting()
    report = add(root, source, embedder=embedder)
    assert (report.new, report.embedded, len(embedder.texts)) == (25, 5, 5)


@pytest.mark.usefixtures("small_batches")
def test_progress_tells_the_stages_in_order_and_how_much_is_embedded(
    root: Path, write_rows: WriteRows, row: Row
) -> None:
    told: list[tuple[str, int, int]] = []
    source = write_rows([row(n) for n in range(25)])
    ingest(
        root, Request((source,)), HashingEmbedder(), lambda stage, done=0, total=0: told.append((stage, done, total))
    )
    assert told == [
        ("reading", 0, 0),
        ("merging", 0, 0),
        ("splitting", 0, 25),
        ("splitting", 25, 25),
        *(("embedding", done, 25) for done in (0, 10, 20, 25)),
        ("indexing", 0, 0),
    ]


def test_a_second_writer_is_refused_at_once(index: Path, sample: Path) -> None:
    with writing(index), pytest.raises(IndexLocked, match="process"):
        ingest(index, Request((sample,)), HashingEmbedder())
    assert add(index, sample).unchanged == 37


def test_a_reader_keeps_its_corpus_while_the_next_one_is_built(
    index: Path, write_rows: WriteRows, row: Row, hashing: HashingEmbedder
) -> None:
    reader = Searcher(index, hashing)
    corpus = reader.corpus
    add(index, write_rows([row(1)]))
    assert (reader.size, reader.corpus, len(reader.search("anything", 100).evidence)) == (37, corpus, 37)
    reader.close()
    assert len(papers(index)) == 38


def test_with_the_bundled_model_nothing_is_embedded_twice(
    tmp_path: Path, minilm_index: Path, minilm: Embedder, sample: Path
) -> None:
    root = Path(shutil.copytree(minilm_index, tmp_path / "index"))
    report = ingest(root, Request((sample,)), minilm)
    assert (report.unchanged, report.papers, report.embedded) == (37, 37, 0)
