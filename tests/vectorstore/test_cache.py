"""Vectors are computed once: across batches, runs and crashes."""

import signal
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from vectorstore import cache as cache_module
from vectorstore.cache import EmbeddingCache
from vectorstore.errors import VectorsLost
from vectorstore.hashing import HashingEmbedder
from vectorstore.vectors import Chunk, Embedded


class CountingEmbedder(HashingEmbedder):
    """Remembers the batches that it was asked for; stops with an error after `allowed` of them."""

    def __init__(self, fingerprint: str = "counting", allowed: int = 1000) -> None:
        self.fingerprint = fingerprint
        self.batches: list[list[str]] = []
        self._allowed = allowed

    def embed(self, chunks: Sequence[Chunk]) -> list[Embedded]:
        if len(self.batches) == self._allowed:
            raise KeyboardInterrupt
        self.batches.append([chunk.text for chunk in chunks])
        return super().embed(chunks)

    @property
    def embedded(self) -> list[str]:
        return [text for batch in self.batches for text in batch]


CHUNKS = [Chunk(f"Steiner tree number {i} " + "bound " * (i % 7), ((0, 7), (8, 12))) for i in range(25)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "embeddings.sqlite3"


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "_BATCH", 10)


def embed(cache: EmbeddingCache, chunks: Sequence[Chunk], embedder: HashingEmbedder) -> tuple[list[Embedded], int]:
    """What an ingest does: compute what is missing, read all; the vectors, and how many were computed."""
    computed = cache.fill(chunks, embedder)
    return list(cache.vectors([chunk.key for chunk in chunks], embedder)), computed


def same(one: Sequence[Embedded], other: Sequence[Embedded]) -> bool:
    return len(one) == len(other) and all(
        np.array_equal(a.text, b.text) and np.array_equal(a.spans, b.spans) for a, b in zip(one, other, strict=True)
    )


def test_vectors_come_in_the_order_of_the_chunks_whatever_the_order_of_work(path: Path) -> None:
    embedder = CountingEmbedder()
    with EmbeddingCache(path) as cache:
        vectors, computed = embed(cache, CHUNKS, embedder)
    assert computed == 25
    for chunk, vector in zip(CHUNKS, vectors, strict=True):
        assert np.array_equal(vector.text, embedder.embed_question(chunk.text))
        assert vector.spans.shape == (2, 256)
        assert np.allclose(vector.spans[0], embedder.embed_question("Steiner"), atol=1e-3)


def test_what_is_known_is_not_computed_again_and_is_bit_for_bit_the_same(path: Path) -> None:
    with EmbeddingCache(path) as cache:
        fresh, _ = embed(cache, CHUNKS, CountingEmbedder())
        again, computed = embed(cache, CHUNKS, CountingEmbedder(allowed=0))
    assert computed == 0
    assert same(fresh, again)


def test_it_survives_reopening(path: Path) -> None:
    with EmbeddingCache(path) as cache:
        fresh, _ = embed(cache, CHUNKS, CountingEmbedder())
    with EmbeddingCache(path) as cache:
        again, computed = embed(cache, CHUNKS[::-1], CountingEmbedder(allowed=0))
    assert computed == 0
    assert same(fresh, again[::-1])


def test_only_what_is_new_is_computed(path: Path) -> None:
    embedder = CountingEmbedder()
    with EmbeddingCache(path) as cache:
        embed(cache, CHUNKS[:20], CountingEmbedder())
        _, computed = embed(cache, CHUNKS, embedder)
    assert computed == 5
    assert sorted(embedder.embedded) == sorted(chunk.text for chunk in CHUNKS[20:])


def test_a_repeated_chunk_is_computed_once_and_returned_each_time(path: Path) -> None:
    embedder = CountingEmbedder()
    with EmbeddingCache(path) as cache:
        vectors, computed = embed(cache, [CHUNKS[0], CHUNKS[1], CHUNKS[0]], embedder)
    assert computed == len(embedder.embedded) == 2
    assert same([vectors[0]], [vectors[2]])


def test_the_same_text_with_other_spans_is_another_chunk(path: Path) -> None:
    with EmbeddingCache(path) as cache:
        vectors, computed = embed(cache, [Chunk("Steiner tree", ((0, 7),)), Chunk("Steiner tree")], CountingEmbedder())
    assert computed == 2
    assert [len(vector.spans) for vector in vectors] == [1, 0]


def test_models_do_not_share_vectors(path: Path) -> None:
    with EmbeddingCache(path) as cache:
        embed(cache, CHUNKS, CountingEmbedder("a"))
        _, computed = embed(cache, CHUNKS, CountingEmbedder("b"))
        assert computed == 25
        _, computed = embed(cache, CHUNKS, CountingEmbedder("a", allowed=0))
        assert computed == 0


def test_longest_texts_are_computed_first(path: Path) -> None:
    embedder = CountingEmbedder()
    with EmbeddingCache(path) as cache:
        embed(cache, CHUNKS, embedder)
    lengths = [len(text) for text in embedder.embedded]
    assert lengths == sorted(lengths, reverse=True)
    assert [len(batch) for batch in embedder.batches] == [10, 10, 5]


def test_progress_counts_what_is_computed(path: Path) -> None:
    seen: list[tuple[int, int]] = []
    with EmbeddingCache(path) as cache:
        embed(cache, CHUNKS[:3], CountingEmbedder())
        cache.fill(CHUNKS, CountingEmbedder(), lambda done, total: seen.append((done, total)))
        assert seen == [(0, 22), (10, 22), (20, 22), (22, 22)]


def test_nothing_to_embed(path: Path) -> None:
    with EmbeddingCache(path) as cache:
        assert embed(cache, [], CountingEmbedder(allowed=0)) == ([], 0)


def test_an_interrupted_run_keeps_its_finished_batches(path: Path) -> None:
    with EmbeddingCache(path) as cache, pytest.raises(KeyboardInterrupt):
        embed(cache, CHUNKS, CountingEmbedder(allowed=2))
    rest = CountingEmbedder()
    with EmbeddingCache(path) as cache:
        _, computed = embed(cache, CHUNKS, rest)
    assert computed == len(rest.embedded) == 5


KILLED = """
import os, signal, sys
from pathlib import Path
from vectorstore import cache
from vectorstore.hashing import HashingEmbedder
from vectorstore.vectors import Chunk

class Deadly(HashingEmbedder):
    batches = 0
    def embed(self, chunks):
        self.batches += 1
        if self.batches == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().embed(chunks)

cache._BATCH = 10
chunks = [Chunk(f"text {i:02}", ()) for i in range(25)]
cache.EmbeddingCache(Path(sys.argv[1])).fill(chunks, Deadly())
"""


def test_a_killed_run_keeps_its_finished_batches(path: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert ended.returncode == -signal.SIGKILL
    rest = CountingEmbedder(HashingEmbedder.fingerprint)
    with EmbeddingCache(path) as cache:
        _, computed = embed(cache, [Chunk(f"text {i:02}", ()) for i in range(25)], rest)
    assert computed == len(rest.embedded) == 5


def test_a_chunk_without_sentences_has_an_empty_matrix(path: Path) -> None:
    with EmbeddingCache(path) as cache:
        (vector,), _ = embed(cache, [Chunk("A title")], HashingEmbedder())
    assert vector.spans.shape == (0, 256)


def test_closed_files_leave_no_lock_behind(path: Path) -> None:
    with EmbeddingCache(path) as cache:
        embed(cache, CHUNKS, CountingEmbedder())
    with sqlite3.connect(path, timeout=0) as other:
        other.execute("BEGIN EXCLUSIVE")
    other.close()


def test_what_was_never_computed_is_told(path: Path) -> None:
    with EmbeddingCache(path) as cache, pytest.raises(VectorsLost, match="paperchat ingest"):
        list(cache.vectors([CHUNKS[0].key], HashingEmbedder()))


def spoil(path: Path, where: float, length: int) -> None:
    """Overwrite `length` bytes at that share of the file."""
    content = bytearray(path.read_bytes())
    start = int(len(content) * where)
    content[start : start + length] = b"x" * length
    path.write_bytes(content)


@pytest.mark.parametrize("where", [0.0, 0.2, 0.5, 0.9])
def test_a_spoiled_file_costs_time_and_nothing_else(path: Path, where: float) -> None:
    """Wherever it is spoiled: what can't be read is computed again, once."""
    with EmbeddingCache(path) as cache:
        fresh, _ = embed(cache, CHUNKS, CountingEmbedder())
    spoil(path, where, 9000)
    with EmbeddingCache(path) as cache:
        for _ in range(2):
            try:
                again, _ = embed(cache, CHUNKS, CountingEmbedder())
                break
            except VectorsLost:
                continue
        else:
            pytest.fail("it does not mend")
        _, computed = embed(cache, CHUNKS, CountingEmbedder(allowed=0))
    assert computed == 0
    assert same(again, fresh)


def test_a_vector_of_the_wrong_length_is_computed_again(path: Path) -> None:
    with EmbeddingCache(path) as cache:
        fresh, _ = embed(cache, CHUNKS, CountingEmbedder())
    with sqlite3.connect(path) as database:
        database.execute("UPDATE embeddings SET text = x'00' WHERE key = ?", (bytes.fromhex(CHUNKS[3].key),))
    database.close()
    with EmbeddingCache(path) as cache:
        with pytest.raises(VectorsLost):
            embed(cache, CHUNKS, CountingEmbedder(allowed=0))
        again, computed = embed(cache, CHUNKS, CountingEmbedder())
    assert computed == 1
    assert same(fresh, again)


@pytest.mark.parametrize("column", ["text", "spans"])
@pytest.mark.parametrize("change", [b"\x01", 7, "text", None])
def test_vectors_of_another_value_are_computed_again_all_at_once(path: Path, column: str, change: object) -> None:
    """A flipped byte keeps the length; whatever stands there instead of the vector, no row is taken for sound."""
    with EmbeddingCache(path) as cache:
        fresh, _ = embed(cache, CHUNKS, CountingEmbedder())
    keys = [bytes.fromhex(chunk.key) for chunk in (CHUNKS[3], CHUNKS[7], CHUNKS[20])]
    with sqlite3.connect(path) as database:
        for key in keys:
            old = database.execute(f"SELECT {column} FROM embeddings WHERE key = ?", (key,)).fetchone()[0]
            new = change + old[1:] if isinstance(change, bytes) else change
            database.execute(f"UPDATE embeddings SET {column} = ? WHERE key = ?", (new, key))
    database.close()
    with EmbeddingCache(path) as cache:
        with pytest.raises(VectorsLost):
            embed(cache, CHUNKS, CountingEmbedder(allowed=0))
        again, computed = embed(cache, CHUNKS, CountingEmbedder())
    assert computed == 3
    assert same(fresh, again)


def test_a_file_of_the_first_version_keeps_its_vectors(path: Path) -> None:
    with EmbeddingCache(path) as cache:
        fresh, _ = embed(cache, CHUNKS, CountingEmbedder())
    with sqlite3.connect(path) as database:
        database.execute("ALTER TABLE embeddings DROP COLUMN crc")
    database.close()
    for _ in range(2):
        with EmbeddingCache(path) as cache:
            again, computed = embed(cache, CHUNKS, CountingEmbedder(allowed=0))
        assert computed == 0
        assert same(fresh, again)


@pytest.mark.parametrize("share", [0.3, 0.5, 0.9])
def test_a_file_that_lost_its_tail_is_computed_again_and_the_same(path: Path, share: float) -> None:
    with EmbeddingCache(path) as cache:
        fresh, _ = embed(cache, CHUNKS, CountingEmbedder())
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    embedder = CountingEmbedder()
    with EmbeddingCache(path) as cache:
        try:
            again, _ = embed(cache, CHUNKS, embedder)
        except VectorsLost:
            again, _ = embed(cache, CHUNKS, embedder)
        assert same(fresh, again)
        assert embed(cache, CHUNKS, CountingEmbedder(allowed=0))[1] == 0
    assert 0 < len(embedder.embedded) <= 25


def test_vectors_are_read_as_they_are_asked_for_and_as_often(path: Path) -> None:
    embedder = CountingEmbedder()
    with EmbeddingCache(path) as cache:
        vectors = cache.vectors([chunk.key for chunk in CHUNKS], embedder)
        with pytest.raises(VectorsLost):
            next(iter(vectors))
        assert cache.fill(CHUNKS, embedder) == 25
        assert same(list(vectors), list(vectors))
        assert cache.known(embedder) == {chunk.key for chunk in CHUNKS}
        assert cache.known(CountingEmbedder("other")) == set()
