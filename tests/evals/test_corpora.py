"""A benchmark's folder is a set that brings its papers."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.settings import Settings
from evals.beir import read_corpus, read_queries
from evals.cli import cli
from evals.corpora import settings_for
from evals.dataset import load
from evals.errors import BenchmarkUnreadable

PAPERS = {
    "1": ("Steiner trees", "We raise the bound on Steiner trees."),
    "2": ("Experts", "Experts are balanced by mirror descent."),
    "3": ("Rain", "Rain is forecast a week ahead."),
    "4": ("Quokkas", "Quokkas smile in the sun."),
    "5": ("", "A text without a title, on bandits."),
}
QUERIES = {"q1": ("bound on Steiner trees", ["1"]), "q2": ("mirror descent for experts", ["2", "4"]), "q3": ("-", [])}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "mini"
    path.mkdir()
    corpus = [json.dumps({"_id": id, "title": title, "text": text}) for id, (title, text) in PAPERS.items()]
    queries = [json.dumps({"_id": id, "text": text}) for id, (text, _) in QUERIES.items()]
    qrels = [f"{id}\t{paper}\t1" for id, (_, papers) in QUERIES.items() for paper in papers] + ["q1\t3\t0"]
    (path / "corpus.jsonl").write_text("\n".join(corpus) + "\n")
    (path / "queries.jsonl").write_text("\n".join(queries) + "\n")
    (path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + "\n".join(qrels) + "\n")
    return path


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("PAPERCHAT_INDEX_DIR", str(tmp_path / "index"))
    monkeypatch.setenv("PAPERCHAT_EMBEDDER", "hashing")
    return Settings()


def test_the_queries_that_have_papers_are_its_cases(folder: Path) -> None:
    dataset = load(str(folder))
    assert (dataset.name, dataset.corpus) == ("mini", folder)
    assert [(case.id, case.category, case.relevant) for case in dataset.cases] == [
        ("q1", "mini", ("mini:1",)),
        ("q2", "mini", ("mini:2", "mini:4")),
    ]


def test_its_papers_get_an_index_beside_the_users_which_is_left_alone(folder: Path, settings: Settings) -> None:
    stages: list[tuple[str, int, int]] = []

    def progress(stage: str, done: int = 0, total: int = 0) -> None:
        stages.append((stage, done, total))

    own = settings_for(load(str(folder)), settings, progress)
    assert own.index_dir == settings.index_dir.with_name("index-sets") / "mini" / "index"
    assert not settings.index_dir.exists()
    assert ("embedding", 5, 5) in stages
    stages.clear()
    assert settings_for(load(str(folder)), settings, progress) == own
    assert not [stage for stage in stages if stage[0] == "embedding"]


def test_a_set_without_papers_is_about_the_users_index(settings: Settings) -> None:
    assert settings_for(load("seeds"), settings) is settings


@pytest.mark.parametrize("system", ["paperchat", "bm25", "recipe"])
def test_the_command_scores_a_folder(folder: Path, settings: Settings, tmp_path: Path, system: str) -> None:
    report = tmp_path / "r.json"
    done = CliRunner().invoke(cli, ["run", str(folder), "--system", system, "--json", str(report)])
    assert done.exit_code == 0, done.output
    found = json.loads(report.read_text())
    assert (found["system"]["method"], found["system"]["papers"], found["overall"]["n"]) == (system, 5, 2)
    assert found["questions"][0]["ranks"] == [1]


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels.tsv"])
def test_a_missing_file_is_one_line(folder: Path, settings: Settings, name: str) -> None:
    (folder / name).unlink()
    done = CliRunner().invoke(cli, ["run", str(folder)])
    assert done.exit_code == 2
    assert name in done.stderr
    assert "Expected a folder with corpus.jsonl, queries.jsonl and qrels.tsv" in done.stderr


def test_a_folder_without_judged_queries_is_told(folder: Path) -> None:
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n")
    with pytest.raises(BenchmarkUnreadable, match="no query has a relevant paper"):
        load(str(folder))


@pytest.mark.parametrize(
    ("name", "line", "told"),
    [
        ("corpus.jsonl", "{", "corpus.jsonl:6"),
        ("corpus.jsonl", "[1]", "corpus.jsonl:6"),
        ("corpus.jsonl", '{"_id": 7, "text": "x"}', "corpus.jsonl:6: '_id' is no text"),
        ("corpus.jsonl", '{"_id": "1", "text": "again"}', "corpus.jsonl:6: the id '1' is taken"),
        ("queries.jsonl", '{"_id": "q9"}', "queries.jsonl:4: 'text' is missing"),
        ("qrels.tsv", "q1\t1\tmuch", "qrels.tsv:6"),
        ("qrels.tsv", "q1", "qrels.tsv:6"),
    ],
)
def test_a_broken_line_is_told_with_its_number(folder: Path, name: str, line: str, told: str) -> None:
    with (folder / name).open("a") as file:
        file.write(line + "\n")
    read = read_corpus if name == "corpus.jsonl" else read_queries
    with pytest.raises(BenchmarkUnreadable) as raised:
        read(folder)
    assert told in str(raised.value)
