"""Dense search against exact arithmetic, and a Chroma folder that is not what it should be."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from vectorstore.dense import DenseIndex, build_dense
from vectorstore.embedder import Vectors
from vectorstore.errors import IndexDamaged

MODEL = "model-a"


def unit_vectors(count: int, dimension: int = 16, seed: int = 7) -> Vectors:
    rows = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def vectors() -> Vectors:
    return unit_vectors(60)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, vectors: Vectors) -> Path:
    path = tmp_path_factory.mktemp("dense") / "chroma"
    build_dense(path, vectors, MODEL)
    return path


@pytest.fixture
def dense(folder: Path) -> Iterator[DenseIndex]:
    index = DenseIndex(folder, MODEL, 60)
    yield index
    index.close()


def test_the_nearest_are_those_of_exact_cosines(dense: DenseIndex, vectors: Vectors) -> None:
    query = unit_vectors(1, seed=1)[0]
    exact = vectors @ query
    found = dense.query(query, 10)
    assert [number for number, _ in found] == list(np.argsort(-exact)[:10])
    assert [score for _, score in found] == pytest.approx(sorted(exact, reverse=True)[:10], abs=1e-5)


def test_every_vector_finds_itself(dense: DenseIndex, vectors: Vectors) -> None:
    for number, vector in enumerate(vectors):
        assert dense.query(vector, 1) == [(number, pytest.approx(1, abs=1e-5))]


def test_more_than_there_are_returns_all(dense: DenseIndex, vectors: Vectors) -> None:
    assert sorted(number for number, _ in dense.query(vectors[0], 1000)) == list(range(60))


@pytest.mark.parametrize("k", [0, -1])
def test_none_asked_none_returned(dense: DenseIndex, vectors: Vectors, k: int) -> None:
    assert dense.query(vectors[0], k) == []


def test_among_restricts_and_keeps_the_order(dense: DenseIndex, vectors: Vectors) -> None:
    among = [3, 17, 40, 59]
    found = dense.query(vectors[0], 10, among)
    assert [number for number, _ in found] == sorted(among, key=lambda n: -float(vectors[n] @ vectors[0]))
    assert dense.query(vectors[0], 2, among) == found[:2]
    assert dense.query(vectors[0], 10, []) == []


def test_two_readers_in_one_process_do_not_disturb_each_other(folder: Path, vectors: Vectors, tmp_path: Path) -> None:
    build_dense(tmp_path / "chroma", unit_vectors(5, seed=3), MODEL)
    first, second = DenseIndex(folder, MODEL, 60), DenseIndex(tmp_path / "chroma", MODEL, 5)
    same = DenseIndex(folder, MODEL, 60)
    same.close()
    second.close()
    assert first.query(vectors[5], 1)[0][0] == 5
    first.close()


def test_a_rebuilt_folder_is_read_anew_by_the_same_process(tmp_path: Path) -> None:
    old, new = unit_vectors(4, seed=1), unit_vectors(6, seed=2)
    build_dense(tmp_path / "chroma", old, MODEL)
    index = DenseIndex(tmp_path / "chroma", MODEL, 4)
    index.close()
    shutil.rmtree(tmp_path / "chroma")
    build_dense(tmp_path / "chroma", new, MODEL)
    index = DenseIndex(tmp_path / "chroma", MODEL, 6)
    assert index.query(new[5], 1)[0] == (5, pytest.approx(1, abs=1e-5))
    index.close()


def test_a_corpus_larger_than_one_batch_is_whole(tmp_path: Path) -> None:
    vectors = unit_vectors(2300, 8)
    build_dense(tmp_path / "chroma", vectors, MODEL)
    index = DenseIndex(tmp_path / "chroma", MODEL, 2300)
    for number in (0, 1999, 2000, 2299):
        assert index.query(vectors[number], 1)[0][0] == number
    index.close()


@pytest.mark.parametrize(("model", "size"), [("model-b", 60), (MODEL, 59), (MODEL, 61)])
def test_vectors_of_another_model_or_number_are_refused(folder: Path, model: str, size: int) -> None:
    with pytest.raises(IndexDamaged, match="paperchat ingest --rebuild"):
        DenseIndex(folder, model, size)


def test_a_missing_folder_is_refused_and_not_made(tmp_path: Path) -> None:
    with pytest.raises(IndexDamaged, match="missing"):
        DenseIndex(tmp_path / "chroma", MODEL, 60)
    assert not (tmp_path / "chroma").exists()


@pytest.mark.parametrize("content", [None, b"", b"garbage" * 300])
def test_a_damaged_database_is_refused(folder: Path, tmp_path: Path, content: bytes | None) -> None:
    damaged = Path(shutil.copytree(folder, tmp_path / "chroma"))
    (damaged / "chroma.sqlite3").unlink()
    if content is not None:
        (damaged / "chroma.sqlite3").write_bytes(content)
    with pytest.raises(IndexDamaged, match="Chroma cannot open it"):
        DenseIndex(damaged, MODEL, 60)


def test_after_a_refusal_another_folder_opens(folder: Path, tmp_path: Path, vectors: Vectors) -> None:
    (tmp_path / "chroma").mkdir()
    with pytest.raises(IndexDamaged):
        DenseIndex(tmp_path / "chroma", MODEL, 60)
    index = DenseIndex(folder, MODEL, 60)
    assert index.query(vectors[9], 1)[0][0] == 9
    index.close()


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """So many vectors (over 1,000) that Chroma reads its graph from files of its own."""
    path = tmp_path_factory.mktemp("large") / "chroma"
    build_dense(path, unit_vectors(1500, 8), MODEL)
    return path


@pytest.mark.parametrize(("name", "content"), [("length.bin", None), ("index_metadata.pickle", b"garbage")])
def test_a_damaged_graph_is_refused(large: Path, tmp_path: Path, name: str, content: bytes | None) -> None:
    damaged = Path(shutil.copytree(large, tmp_path / "chroma"))
    (file,) = damaged.rglob(name)
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(IndexDamaged):
        DenseIndex(damaged, MODEL, 1500)


def test_a_question_of_the_wrong_width_is_an_error_of_ours(dense: DenseIndex) -> None:
    with pytest.raises(IndexDamaged, match="fails to search"):
        dense.query(np.ones(5, np.float32), 3)
