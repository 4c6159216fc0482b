"""Dense search against exact arithmetic, and a Chroma folder that is not what it should be."""

import hashlib
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from vectorstore.dense import DenseIndex, Start, build_dense, rows_digest
from vectorstore.errors import IndexDamaged
from vectorstore.vectors import Vectors

MODEL = "model-a"


def unit_vectors(count: int, dimension: int = 16, seed: int = 7) -> Vectors:
    rows = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def names(count: int) -> list[str]:
    """The id of each vector: its place, in words that no number is taken for."""
    return [f"chunk-{place}" for place in range(count)]


@pytest.fixture(scope="module")
def vectors() -> Vectors:
    return unit_vectors(60)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, vectors: Vectors) -> Path:
    path = tmp_path_factory.mktemp("dense") / "chroma"
    build_dense(path, names(60), vectors, MODEL)
    return path


@pytest.fixture
def dense(folder: Path) -> Iterator[DenseIndex]:
    index = DenseIndex(folder, MODEL, 16, 60)
    yield index
    index.close()


def test_the_nearest_are_those_of_exact_cosines(dense: DenseIndex, vectors: Vectors) -> None:
    query = unit_vectors(1, seed=1)[0]
    exact = vectors @ query
    found = dense.query(query, 10)
    assert [id for id, _ in found] == [f"chunk-{place}" for place in np.argsort(-exact)[:10]]
    assert [score for _, score in found] == pytest.approx(sorted(exact, reverse=True)[:10], abs=1e-5)


def test_every_vector_finds_itself(dense: DenseIndex, vectors: Vectors) -> None:
    for number, vector in enumerate(vectors):
        assert dense.query(vector, 1) == [(f"chunk-{number}", pytest.approx(1, abs=1e-5))]


def test_more_than_there_are_returns_all(dense: DenseIndex, vectors: Vectors) -> None:
    assert sorted(id for id, _ in dense.query(vectors[0], 1000)) == sorted(names(60))


@pytest.mark.parametrize("k", [0, -1])
def test_none_asked_none_returned(dense: DenseIndex, vectors: Vectors, k: int) -> None:
    assert dense.query(vectors[0], k) == []


def test_two_readers_in_one_process_do_not_disturb_each_other(folder: Path, vectors: Vectors, tmp_path: Path) -> None:
    build_dense(tmp_path / "chroma", names(5), unit_vectors(5, seed=3), MODEL)
    first, second = DenseIndex(folder, MODEL, 16, 60), DenseIndex(tmp_path / "chroma", MODEL, 16, 5)
    same = DenseIndex(folder, MODEL, 16, 60)
    same.close()
    second.close()
    assert first.query(vectors[5], 1)[0][0] == "chunk-5"
    first.close()


def test_a_rebuilt_folder_is_read_anew_by_the_same_process(tmp_path: Path) -> None:
    old, new = unit_vectors(4, seed=1), unit_vectors(6, seed=2)
    build_dense(tmp_path / "chroma", names(4), old, MODEL)
    index = DenseIndex(tmp_path / "chroma", MODEL, 16, 4)
    index.close()
    shutil.rmtree(tmp_path / "chroma")
    build_dense(tmp_path / "chroma", names(6), new, MODEL)
    index = DenseIndex(tmp_path / "chroma", MODEL, 16, 6)
    assert index.query(new[5], 1)[0] == ("chunk-5", pytest.approx(1, abs=1e-5))
    index.close()


def test_a_corpus_larger_than_one_batch_is_whole(tmp_path: Path) -> None:
    vectors = unit_vectors(2300, 8)
    build_dense(tmp_path / "chroma", names(2300), vectors, MODEL)
    index = DenseIndex(tmp_path / "chroma", MODEL, 8, 2300)
    for number in (0, 1999, 2000, 2299):
        assert index.query(vectors[number], 1)[0][0] == f"chunk-{number}"
    index.close()


@pytest.mark.parametrize(("model", "size"), [("model-b", 60), (MODEL, 59), (MODEL, 61)])
def test_vectors_of_another_model_or_number_are_refused(folder: Path, model: str, size: int) -> None:
    with pytest.raises(IndexDamaged, match="paperchat ingest --rebuild"):
        DenseIndex(folder, model, 16, size)


def test_a_missing_folder_is_refused_and_not_made(tmp_path: Path) -> None:
    with pytest.raises(IndexDamaged, match="missing"):
        DenseIndex(tmp_path / "chroma", MODEL, 16, 60)
    assert not (tmp_path / "chroma").exists()


@pytest.mark.parametrize("content", [None, b"", b"garbage" * 300])
def test_a_damaged_database_is_refused(folder: Path, tmp_path: Path, content: bytes | None) -> None:
    damaged = Path(shutil.copytree(folder, tmp_path / "chroma"))
    (damaged / "chroma.sqlite3").unlink()
    if content is not None:
        (damaged / "chroma.sqlite3").write_bytes(content)
    with pytest.raises(IndexDamaged, match="Chroma cannot"):
        DenseIndex(damaged, MODEL, 16, 60)


def test_after_a_refusal_another_folder_opens(folder: Path, tmp_path: Path, vectors: Vectors) -> None:
    (tmp_path / "chroma").mkdir()
    with pytest.raises(IndexDamaged):
        DenseIndex(tmp_path / "chroma", MODEL, 16, 60)
    index = DenseIndex(folder, MODEL, 16, 60)
    assert index.query(vectors[9], 1)[0][0] == "chunk-9"
    index.close()


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """So many vectors (over 1,000) that Chroma reads its graph from files of its own."""
    path = tmp_path_factory.mktemp("large") / "chroma"
    build_dense(path, names(1500), unit_vectors(1500, 8), MODEL)
    return path


@pytest.mark.parametrize(("name", "content"), [("length.bin", None), ("index_metadata.pickle", b"garbage")])
def test_a_damaged_graph_is_refused(large: Path, tmp_path: Path, name: str, content: bytes | None) -> None:
    damaged = Path(shutil.copytree(large, tmp_path / "chroma"))
    (file,) = damaged.rglob(name)
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(IndexDamaged):
        DenseIndex(damaged, MODEL, 8, 1500)


def test_a_question_of_the_wrong_width_is_an_error_of_ours(dense: DenseIndex) -> None:
    with pytest.raises(IndexDamaged, match="fails to search"):
        dense.query(np.ones(5, np.float32), 3)


# An index that starts as a copy of another one


def found_by_all(folder: Path, ids: list[str], vectors: Vectors) -> bool:
    index = DenseIndex(folder, MODEL, vectors.shape[1], len(ids))
    try:
        return all(index.query(vector, 1)[0][0] == id for id, vector in zip(ids, vectors, strict=True))
    finally:
        index.close()


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Start:
    """2,200 vectors, enough that a copy is worth its while."""
    path = tmp_path_factory.mktemp("start") / "chroma"
    build_dense(path, names(2200), unit_vectors(2200, 8, seed=11), MODEL)
    return Start(path, frozenset(names(2200)))


@pytest.mark.parametrize(("gone", "added"), [(0, 10), (10, 0), (30, 40), (0, 0)])
def test_a_changed_copy_holds_what_one_built_anew_would(start: Start, tmp_path: Path, gone: int, added: int) -> None:
    old = unit_vectors(2200, 8, seed=11)
    ids = names(2200)[gone:] + [f"new-{place}" for place in range(added)]
    vectors = np.concatenate([old[gone:], unit_vectors(added, 8, seed=12)]) if added else old[gone:]
    build_dense(tmp_path / "chroma", ids, vectors, MODEL, start)
    assert found_by_all(tmp_path / "chroma", ids, vectors)
    assert graph_files(tmp_path / "chroma") == graph_files(start.folder), "it was built anew"


def graph_files(folder: Path) -> dict[str, bytes]:
    """Chroma flushes a graph every 1,000 vectors, so few more leave its files as they were."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.pickle")}


def test_a_copy_leaves_its_source_as_it_was_also_while_that_is_read(start: Start, tmp_path: Path) -> None:
    reader = DenseIndex(start.folder, MODEL, 8, 2200)
    old = unit_vectors(2200, 8, seed=11)
    ids = [*names(2200), "new"]
    build_dense(tmp_path / "chroma", ids, np.concatenate([old, unit_vectors(1, 8, seed=13)]), MODEL, start)
    assert reader.query(old[77], 1)[0][0] == "chunk-77"
    reader.close()
    assert found_by_all(start.folder, names(2200), old)


def test_a_graph_that_changed_too_much_since_it_was_built_is_built_anew(start: Start, tmp_path: Path) -> None:
    """Little by little, too: a removed vector stays in the graph."""
    known, ids, vectors = start, names(2200), unit_vectors(2200, 8, seed=11)
    graphs = [graph_files(start.folder)]
    for step in range(3):
        ids = [*ids[100:], *(f"step-{step}-{place}" for place in range(10))]
        vectors = np.concatenate([vectors[100:], unit_vectors(10, 8, seed=20 + step)])
        folder = tmp_path / f"chroma-{step}"
        build_dense(folder, ids, vectors, MODEL, known)
        known = Start(folder, frozenset(ids))
        graphs.append(graph_files(folder))
    assert found_by_all(known.folder, ids, vectors)
    assert graphs[0] == graphs[1]
    assert graphs[-1] != graphs[0]


@pytest.mark.parametrize("spoil", ["missing", "garbage"])
def test_a_source_that_cannot_be_copied_costs_time_and_nothing_else(start: Start, tmp_path: Path, spoil: str) -> None:
    source = tmp_path / "source"
    if spoil == "garbage":
        shutil.copytree(start.folder, source)
        (source / "chroma.sqlite3").write_bytes(b"garbage" * 900)
    vectors = unit_vectors(2200, 8, seed=11)
    build_dense(tmp_path / "chroma", names(2200), vectors, MODEL, Start(source, start.ids))
    assert found_by_all(tmp_path / "chroma", names(2200), vectors)


def ranked(folder: Path, size: int, queries: Vectors) -> list[list[str]]:
    index = DenseIndex(folder, MODEL, queries.shape[1], size)
    try:
        return [[id for id, _ in index.query(query, 10)] for query in queries]
    finally:
        index.close()


def test_a_changed_copy_ranks_as_one_built_anew_and_as_exact_cosines(tmp_path: Path) -> None:
    """120 of 2,500 vectors are removed, all from one side, and as many added elsewhere in the order."""
    old, added = unit_vectors(2500, 16, seed=31), unit_vectors(120, 16, seed=32)
    build_dense(tmp_path / "old", names(2500), old, MODEL)
    kept = np.sort(np.argsort(old[:, 0])[:-120])
    ids = [*(f"new-{place}" for place in range(120)), *(f"chunk-{place}" for place in kept)]
    vectors = np.concatenate([added, old[kept]])
    build_dense(tmp_path / "copy", ids, vectors, MODEL, Start(tmp_path / "old", frozenset(names(2500))))
    build_dense(tmp_path / "fresh", ids, vectors, MODEL)
    assert graph_files(tmp_path / "copy") == graph_files(tmp_path / "old"), "it was built anew"
    queries = unit_vectors(40, 16, seed=33)
    exact = [[ids[place] for place in np.argsort(-(vectors @ query))[:10]] for query in queries]
    assert ranked(tmp_path / "copy", 2500, queries) == ranked(tmp_path / "fresh", 2500, queries) == exact


def test_a_copy_changes_no_file_and_no_row_of_its_source(start: Start, tmp_path: Path) -> None:
    def contents() -> tuple[dict[str, bytes], list[str]]:
        files = {str(path): path.read_bytes() for path in start.folder.rglob("*") if path.is_file()}
        kept = {name: content for name, content in files.items() if "chroma.sqlite3" not in name}
        with closing(sqlite3.connect(start.folder / "chroma.sqlite3")) as database:
            return kept, list(database.iterdump())

    before = contents()
    vectors = np.concatenate([unit_vectors(2200, 8, seed=11)[50:], unit_vectors(50, 8, seed=14)])
    ids = [*names(2200)[50:], *(f"new-{place}" for place in range(50))]
    build_dense(tmp_path / "chroma", ids, vectors, MODEL, start)
    assert contents() == before


def test_too_many_changes_at_once_are_built_anew(start: Start, tmp_path: Path) -> None:
    vectors = np.concatenate([unit_vectors(2200, 8, seed=11), unit_vectors(300, 8, seed=15)])
    ids = [*names(2200), *(f"new-{place}" for place in range(300))]
    build_dense(tmp_path / "chroma", ids, vectors, MODEL, start)
    assert graph_files(tmp_path / "chroma").keys() != graph_files(start.folder).keys()
    assert found_by_all(tmp_path / "chroma", ids, vectors)


def test_who_verifies_a_database_shuts_no_writer_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock held meanwhile would keep everybody from opening the index if its holder were suspended."""
    database = tmp_path / "chroma.sqlite3"
    with closing(sqlite3.connect(database)) as connection:
        connection.executescript("CREATE TABLE papers (id); INSERT INTO papers VALUES (1), (2), (3), (4);")
    written: list[bool] = []

    class Digest:
        def update(self, line: bytes) -> None:
            with closing(sqlite3.connect(database, timeout=0)) as connection:
                connection.execute("BEGIN EXCLUSIVE")
                written.append(True)

        def hexdigest(self) -> str:
            return ""

    monkeypatch.setattr(hashlib, "sha256", Digest)
    rows_digest(database)
    assert written
