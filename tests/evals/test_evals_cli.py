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
