"""Benchmarks in BEIR's layout: what is read, and what is said of a folder that is none."""

import json
from pathlib import Path

import pytest

from evals.beir import Query, read_corpus, read_queries
from evals.errors import BenchmarkUnreadable

CORPUS = [
    {"_id": "a", "title": "Whales", "text": "Whales sing."},
    {"_id": "b", "text": "Banks lend."},
    {"_id": "c", "title": "", "text": " "},
]
QUERIES = [
    {"_id": "1", "text": "who sings", "split": "dev"},
    {"_id": "2", "text": "who lends", "split": "train"},
    {"_id": "3", "text": "who knows", "complete": False},
    {"_id": "4", "text": "nobody", "complete": True},
    {"_id": "5", "text": "both", "complete": True},
]
QRELS = "query-id\tcorpus-id\tscore\n1\ta\t1\n1\tb\t0\n2\tb\t1\n3\ta\t1\n5\ta\t1\n5\tb\t2\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, rows in (("corpus", CORPUS), ("queries", QUERIES)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    (tmp_path / "qrels.tsv").write_text(QRELS)
    return tmp_path


def test_papers_have_their_title_and_text_and_empty_ones_are_left_out(folder: Path) -> None:
    assert [(p.id, p.title, p.abstract) for p in read_corpus(folder)] == [
        ("a", "Whales", "Whales sing."),
        ("b", "", "Banks lend."),
    ]


def test_queries_are_those_of_the_split_with_complete_gold(folder: Path) -> None:
    assert read_queries(folder) == [Query("1", "who sings", frozenset("a")), Query("5", "both", frozenset("ab"))]


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels.tsv"])
def test_a_folder_that_is_no_benchmark_is_named_with_what_is_missing(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(BenchmarkUnreadable, match=rf"{name}: .*Expected a folder with corpus\.jsonl"):
        read_corpus(folder), read_queries(folder)


def test_a_line_that_is_no_json_is_an_error_of_the_file(folder: Path) -> None:
    (folder / "corpus.jsonl").write_text("{\n")
    with pytest.raises(BenchmarkUnreadable, match=r"corpus\.jsonl"):
        read_corpus(folder)
