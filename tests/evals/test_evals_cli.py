import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from evals import baseline as baselines
from evals.cli import cli
from evals.gold import SAMPLE
from ingest.build import Request, ingest
from vectorstore.hashing import HashingEmbedder

HEAVY = ("torch", "chromadb", "gradio", "langchain", "langchain_core", "sentence_transformers", "transformers", "numpy")


@pytest.fixture
def index(tmp_path, monkeypatch):
    """An index folder of the sample, named in the environment."""
    root = tmp_path / "index"
    ingest(root, Request(sources=(SAMPLE,)), HashingEmbedder())
    monkeypatch.setenv("PAPERCHAT_INDEX_DIR", str(root))
    monkeypatch.setenv("PAPERCHAT_EMBEDDER", "hashing")
    for name in ("PAPERCHAT_MODEL", "PAPERCHAT_MODEL_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return root


def call(*arguments: object):
    return CliRunner().invoke(cli, list(map(str, arguments)))


def complaint(*arguments: object) -> str:
    result = call(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("paperchat-evals: ")
    return result.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["baseline", "--help"]])
def test_help_imports_nothing_heavy(arguments):
    code = (
        f"import sys; sys.argv = ['paperchat-evals', *{arguments!r}]\n"
        "from evals.cli import main\n"
        "try: main()\n"
        f"finally: print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")
    assert "Usage: paperchat-evals" in done.stdout


def test_run_prints_markdown_and_writes_both_reports(index, tmp_path):
    files = [tmp_path / "r.json", tmp_path / "r.md"]
    result = call("run", "seeds", "--category", "name_lookup", "--json", files[0], "--markdown", files[1])
    assert result.exit_code == 0, result.output
    assert result.stdout == files[1].read_text() + "\n"
    assert "| name_lookup | 8 |" in result.stdout
    assert len(json.loads(files[0].read_text())["questions"]) == 8


def test_baseline_writes_a_file_that_is_named_by_set_and_model(index, tmp_path, monkeypatch):
    monkeypatch.setattr(baselines, "BASELINES", tmp_path / "baselines")
    few = tmp_path / "few.jsonl"
    few.write_text('{"id": "a", "category": "fact", "question": "PuzzleMoE?", "relevant": ["icml2026-D7pFsC7UAr"]}')
    result = call("baseline", few)
    assert result.exit_code == 0, result.output
    (path,) = (tmp_path / "baselines").iterdir()
    assert path.name == "few-hashing-256-v1.json"
    assert baselines.read_baseline(path, "few").groups["all"].n == 1


def test_a_set_that_is_missing_or_malformed_is_one_line(tmp_path):
    assert "nowhere: neither a file" in complaint("run", "nowhere")
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"id": "a", "relevent": []}\n')
    assert f"{bad}:1: unknown key 'relevent'" in complaint("run", bad)
    assert f"{bad}:1: unknown key 'relevent'" in complaint("baseline", bad)


def test_a_category_or_a_file_that_cannot_be_is_one_line(tmp_path):
    assert "no case is of category 'fakt'" in complaint("run", "--category", "fakt")
    assert "no such folder" in complaint("run", "--json", tmp_path / "none" / "r.json")
    assert "it is a folder" in complaint("run", "--markdown", tmp_path)


def test_no_index_and_an_index_of_another_model_are_one_line(index, tmp_path, monkeypatch):
    monkeypatch.setenv("PAPERCHAT_EMBEDDER", "minilm")
    assert "built with model hashing-256-v1" in complaint("run")
    monkeypatch.setenv("PAPERCHAT_INDEX_DIR", str(tmp_path / "nothing"))
    assert "no index" in complaint("run")


def test_another_corpus_is_one_line(index, tmp_path):
    other = tmp_path / "other.jsonl"
    other.write_text('{"id": "a", "category": "fact", "question": "why?", "relevant": ["x1"]}')
    assert "x1, named by case a, is not in the index" in complaint("run", other)


# Gate and comparison

NAMES = ("PuzzleMoE", "CARE", "MILD", "TokenDrop", "Global PSRO", "Least-Loaded Expert Parallelism", "Steiner ratio")


@pytest.fixture
def few(index, tmp_path, monkeypatch):
    """Seven questions whose answer is whatever the product cites first, and baselines of their own."""
    monkeypatch.setattr(baselines, "BASELINES", tmp_path / "baselines")
    first = tmp_path / "first.jsonl"
    rows = [
        {"id": f"q{i}", "category": "fact", "question": f"What is {name}?", "relevant": ["icml2026-D7pFsC7UAr"]}
        for i, name in enumerate(NAMES)
    ]
    first.write_text("".join(json.dumps(row) + "\n" for row in rows))
    report = tmp_path / "first.json"
    assert call("run", first, "--json", report).exit_code == 0
    found = {question["id"]: question["retrieved"][0] for question in json.loads(report.read_text())["questions"]}
    path = tmp_path / "few.jsonl"
    path.write_text("".join(json.dumps({**row, "relevant": [found[row["id"]]]}) + "\n" for row in rows))
    return path


def test_a_gate_without_a_baseline_says_so(few):
    assert "no baseline" in complaint("gate", few)
    assert "paperchat-evals baseline few" in complaint("gate", few)


def test_the_gate_passes_what_did_not_change_and_stops_a_fall(few, monkeypatch):
    assert call("baseline", few).exit_code == 0
    passed = call("gate", few)
    assert (passed.exit_code, "gate: passed" in passed.stdout) == (0, True)
    with monkeypatch.context() as patch:
        patch.setattr("app.assistant.reason_to_refuse", lambda *_: "off_topic")
        stopped = call("gate", few)
    assert stopped.exit_code == 1
    assert "all: abstention fell from 1.0 to 0.0: q0 1 -> 0 (refused (off_topic)" in stopped.stdout


def test_two_reports_are_compared_and_other_files_refused(few, tmp_path, monkeypatch):
    before, after = tmp_path / "a.json", tmp_path / "b.json"
    assert call("run", few, "--json", before, "--html", tmp_path / "a.html").exit_code == 0
    assert (tmp_path / "a.html").read_text().count("<details") == 7
    with monkeypatch.context() as patch:
        patch.setattr("app.assistant.reason_to_refuse", lambda *_: "off_topic")
        assert call("run", few, "--json", after).exit_code == 0
    told = call("compare", before, after, "--markdown", tmp_path / "c.md")
    assert told.exit_code == 0, told.output
    assert "## Got worse (7)" in told.stdout
    assert "answered -> refused (off_topic)" in told.stdout
    assert (tmp_path / "c.md").read_text() in told.stdout
    assert "Expected a report" in complaint("compare", before, few)
    assert "Expected a report" in complaint("compare", before, tmp_path / "none.json")


def test_two_runs_give_the_same_json_but_for_the_timings(few, tmp_path):
    found = []
    for name in ("a.json", "b.json"):
        assert call("run", few, "--json", tmp_path / name).exit_code == 0
        report = json.loads((tmp_path / name).read_text())
        del report["latency_ms"]
        found.append(report)
    assert found[0] == found[1]


def test_several_systems_in_one_command_and_the_same_table_from_their_reports(few, tmp_path):
    folder = tmp_path / "reports"
    told = call("systems", few, "--system", "hybrid", "--system", "bm25", "--system", "recipe", "--reports", folder)
    assert told.exit_code == 0, told.output
    rows = [line.split(" |")[0] for line in told.stdout.splitlines() if line.startswith("| ")]
    assert rows == ["| system", "| ---", "| hybrid", "| bm25", "| recipe"]
    files = [folder / f"few-{name}.json" for name in ("hybrid", "bm25", "recipe")]
    assert call("compare", "--table", *files).stdout == told.stdout
    assert "no system 'bm52'" in complaint("systems", few, "--system", "bm52")
