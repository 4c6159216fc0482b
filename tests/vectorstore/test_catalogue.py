"""The papers of a generation in SQLite: written once, read back whole."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vectorstore.catalogue import Catalogue, Entry, build_catalogue, chunk_ids, stored_records
from vectorstore.errors import IndexDamaged
from vectorstore.paper import Filters, Paper

PAPERS = (
    Paper("a", "On α", "One. Two 😀.", ("José Núñez",), year=2026, url="https://x.org/a", aliases=("arxiv:1", "old")),
    Paper("b", "No abstract", authors=("Bo Ek",), extra={"nested": {"list": [1, None, "x"]}}),
    Paper("c", "", "Three. Four. Five.", aliases=("b", "arxiv:1"), decision="oral", sources=("s.txt",)),
)
ENTRIES = (
    Entry(PAPERS[0], ((0, 4), (5, 11)), ("k0",)),
    Entry(PAPERS[1], (), ("k1",)),
    Entry(PAPERS[2], ((0, 6), (7, 12)), ("k2", "k0", "k3")),
)
RECORDS = (
    Paper("z", "Z", sources=("one.jsonl",)),
    Paper("a", "A", sources=("two.jsonl",), extra={"k": [1]}),
    Paper("a", "A'", sources=("one.jsonl",)),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    build_catalogue(tmp_path / "papers.sqlite3", ENTRIES, RECORDS)
    return tmp_path / "papers.sqlite3"


@pytest.fixture
def catalogue(path: Path) -> Iterator[Catalogue]:
    opened = Catalogue(path)
    yield opened
    opened.close()


def test_papers_come_back_as_they_were_by_number_and_in_order(catalogue: Catalogue) -> None:
    assert list(catalogue.all()) == list(PAPERS)
    assert [catalogue.paper(number) for number in range(3)] == list(PAPERS)
    assert (catalogue.size, catalogue.passages, catalogue.chunks) == (3, 4, 5)


def test_a_paper_is_found_by_id_alias_and_address(catalogue: Catalogue) -> None:
    assert [catalogue.number_of(name) for name in ("a", "old", "https://x.org/a", "c")] == [0, 0, 0, 2]
    assert catalogue.number_of("nobody") is None
    assert catalogue.number_of("") is None


def test_an_id_beats_another_papers_alias(catalogue: Catalogue) -> None:
    assert catalogue.number_of("b") == 1


def test_an_alias_of_two_papers_names_the_first(catalogue: Catalogue) -> None:
    assert catalogue.number_of("arxiv:1") == 0


def test_passages_keep_their_order_and_the_row_of_their_vectors(catalogue: Catalogue) -> None:
    first, passages = catalogue.passages_of(0, PAPERS[0])
    assert (first, [passage.text for passage in passages]) == (0, ["One.", "Two 😀."])
    assert catalogue.passages_of(1, PAPERS[1]) == (2, ())
    first, passages = catalogue.passages_of(2, PAPERS[2])
    assert (first, [passage.text for passage in passages]) == (2, ["Three.", "Four."])


def test_chunks_know_their_paper(catalogue: Catalogue) -> None:
    assert list(catalogue.paper_of_chunk.values()) == [0, 1, 2, 2, 2]
    assert catalogue.paper_of_chunk["k0-0"] == 0
    assert catalogue.paper_of_chunk["k0-1"] == 2


def test_records_come_back_in_the_order_they_were_ingested(path: Path) -> None:
    assert stored_records(path) == list(RECORDS)


def test_matching_numbers_fulfil_the_filter(catalogue: Catalogue) -> None:
    assert catalogue.matching(Filters(authors=("jose nunez",))) == [0]
    assert catalogue.matching(Filters(decision="oral")) == [2]
    assert catalogue.matching(Filters(year=1999)) == []


def test_an_empty_catalogue(tmp_path: Path) -> None:
    build_catalogue(tmp_path / "papers.sqlite3", [], [])
    catalogue = Catalogue(tmp_path / "papers.sqlite3")
    assert (catalogue.size, list(catalogue.all()), stored_records(tmp_path / "papers.sqlite3")) == (0, [], [])
    catalogue.close()


def test_a_number_that_does_not_exist_is_damage(catalogue: Catalogue) -> None:
    with pytest.raises(IndexDamaged, match="no paper 99"):
        catalogue.paper(99)


def test_it_can_be_read_from_several_threads(catalogue: Catalogue) -> None:
    wrong: list[object] = []

    def look(number: int) -> None:
        for _ in range(200):
            if catalogue.paper(number) != PAPERS[number] or catalogue.number_of(PAPERS[number].id) != number:
                wrong.append(number)

    threads = [threading.Thread(target=look, args=(number % 3,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_reading_never_changes_the_file(path: Path, catalogue: Catalogue) -> None:
    before = path.read_bytes(), path.stat().st_mtime_ns
    list(catalogue.all())
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        catalogue._database.execute("DELETE FROM papers")
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert [other.name for other in path.parent.iterdir()] == ["papers.sqlite3"]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.unlink(),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"garbage" * 1000),
        lambda path: path.write_bytes(path.read_bytes()[:5000]),
    ],
    ids=["missing", "empty", "garbage", "cut"],
)
def test_a_damaged_file_is_refused(path: Path, spoil: Callable[[Path], object]) -> None:
    spoil(path)
    with pytest.raises(IndexDamaged, match="paperchat ingest --rebuild"):
        Catalogue(path)


def test_damage_that_shows_only_later_is_an_error_of_ours_too(path: Path) -> None:
    database = sqlite3.connect(path)
    database.execute("DROP TABLE records")
    database.execute("DROP TABLE names")
    database.commit()
    database.close()
    catalogue = Catalogue(path)
    with pytest.raises(IndexDamaged, match="no such table"):
        catalogue.number_of("a")
    catalogue.close()
    with pytest.raises(IndexDamaged, match="records cannot be read"):
        stored_records(path)


def test_entries_come_back_with_everything_the_next_generation_needs(catalogue: Catalogue) -> None:
    found = list(catalogue.entries())
    assert [(e.paper, e.passages, e.chunks) for e in found] == [(e.paper, e.passages, e.chunks) for e in ENTRIES]
    assert [entry.terms for entry in found] == [entry.terms for entry in ENTRIES]
    assert "four" in found[2].terms


@given(st.lists(st.sampled_from(["a" * 64, "b" * 64, "c" * 64]), max_size=12))
def test_every_chunk_has_an_id_of_its_own_and_keeps_it_when_others_are_added_behind(keys: list[str]) -> None:
    ids = chunk_ids(keys)
    assert len(set(ids)) == len(keys)
    assert chunk_ids([*keys, "a" * 64])[: len(keys)] == ids


@given(
    st.lists(st.sampled_from("abcd"), max_size=12).flatmap(lambda keys: st.tuples(st.just(keys), st.permutations(keys)))
)
def test_a_chunk_keeps_its_id_wherever_it_stands_and_whatever_goes(drawn: tuple[list[str], list[str]]) -> None:
    """Only equal chunks count one another."""
    keys, turned = ([key * 64 for key in some] for some in drawn)
    assert sorted(chunk_ids(keys)) == sorted(chunk_ids(turned))
    without = [key for key in keys if not key.startswith("a")]
    assert chunk_ids(without) == [id for id in chunk_ids(keys) if not id.startswith("a")]


@pytest.mark.parametrize("folder", ["papers #1", "50%25 done", "what?"])
def test_the_folder_may_have_any_name(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir()
    build_catalogue(tmp_path / folder / "papers.sqlite3", ENTRIES, RECORDS)
    catalogue = Catalogue(tmp_path / folder / "papers.sqlite3")
    assert catalogue.size == 3
    catalogue.close()
