"""Papers by cosine: with a graph or without, the same as exact arithmetic says."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vectorstore.dense import DenseIndex, build_dense
from vectorstore.nearest import Nearest
from vectorstore.vectors import Vectors

CHUNKS = 90
OWNERS = [number for number in range(60) for _ in range(1 + number % 2)]  # every other paper has two chunks


def unit_vectors(count: int, seed: int) -> Vectors:
    rows = np.random.default_rng(seed).normal(size=(count, 16)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


VECTORS = unit_vectors(CHUNKS, 7)
OWNER = {f"chunk-{row}": owner for row, owner in enumerate(OWNERS)}


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DenseIndex]:
    folder = tmp_path_factory.mktemp("nearest") / "chroma"
    build_dense(folder, list(OWNER), VECTORS, "model")
    index = DenseIndex(folder, "model", 16, CHUNKS)
    yield index
    index.close()


def expected(query: Vectors, k: int, among: range | list[int] = range(60)) -> list[tuple[int, float]]:
    best = {number: max(float(VECTORS[row] @ query) for row in rows_of(number)) for number in among}
    return sorted(best.items(), key=lambda item: -item[1])[:k]


def rows_of(number: int) -> list[int]:
    return [row for row, owner in enumerate(OWNERS) if owner == number]


@pytest.mark.parametrize("k", [0, 1, 5, 59, 60, 500])
@pytest.mark.parametrize("seed", range(5))
def test_graph_and_exact_search_agree(graph: DenseIndex, seed: int, k: int) -> None:
    query = unit_vectors(1, 100 + seed)[0]
    for nearest in (Nearest(OWNER, VECTORS, graph), Nearest(OWNER, VECTORS, None)):
        found = list(nearest.papers(query, k).items())
        assert [number for number, _ in found] == [number for number, _ in expected(query, k)]
        assert [score for _, score in found] == pytest.approx([score for _, score in expected(query, k)], abs=1e-5)


@given(st.sets(st.integers(0, 59)), st.integers(0, 70), st.integers(0, 1000))
def test_restricted_to_some_papers_only_those_are_ranked(among: set[int], k: int, seed: int) -> None:
    query = unit_vectors(1, seed)[0]
    found = Nearest(OWNER, VECTORS, None).papers(query, k, among)
    assert list(found) == [number for number, _ in expected(query, k, sorted(among))]


def test_a_graph_of_other_vectors_proposes_but_does_not_score(tmp_path: Path) -> None:
    """As when a database is spoilt and still opens: what it says of how near something is does not count."""
    build_dense(tmp_path / "chroma", list(OWNER), np.roll(VECTORS, 3, axis=1), "model")
    other = DenseIndex(tmp_path / "chroma", "model", 16, CHUNKS)
    query = unit_vectors(1, 5)[0]
    assert Nearest(OWNER, VECTORS, other).papers(query, 60) == pytest.approx(dict(expected(query, 60)), abs=1e-5)
    other.close()
