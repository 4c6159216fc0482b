"""What the tests of this room share: the sample, indexes over it, assistants, and the contract as a check.

In: the bundled sample. Out: fixtures. The functions that check an answer know the contract of design.md and not the
product's own validation, so that a slip there cannot hide one here.
"""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from app.assistant import Assistant
from ingest.build import Request, ingest
from vectorstore.hashing import HashingEmbedder
from vectorstore.vectors import Embedder

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "ingest" / "samples" / "icml2026_sample.jsonl"

PAPER_KEYS = {"id", "label", "title", "authors", "venue", "year", "url"}
ANSWER_KEYS = {
    *("question", "standalone_question", "language", "status", "refusal", "route", "interpreted_as", "lead", "text"),
    *("sentences", "table", "papers", "nearest", "retrieved", "writer", "model_uses", "corpus", "timings_ms"),
}
ROUTES = {
    *("fact", "find", "topic", "define", "summary", "compare", "list", "count", "author", "title", "meta", "smalltalk")
}
REASONS = {"off_topic", "not_in_corpus", "not_in_abstract", "empty_corpus", "needs_model"}


@pytest.fixture(scope="session")
def sample_file() -> Path:
    return SAMPLE


@pytest.fixture(scope="session")
def sample_rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]


Build = Callable[..., Path]


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Ingest rows into an index folder, a new one unless named, and return it."""

    def of(rows: Sequence[Mapping[str, Any]], root: Path | None = None, embedder: Embedder | None = None) -> Path:
        source = tmp_path_factory.mktemp("source") / "papers.jsonl"
        source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        root = root or tmp_path_factory.mktemp("index")
        ingest(root, Request((source,)), embedder or HashingEmbedder())
        return root

    return of


@pytest.fixture(scope="session")
def hashing_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of the sample by the cheap double. Tests only read it."""
    root = tmp_path_factory.mktemp("hashing")
    ingest(root, Request((SAMPLE,)), HashingEmbedder())
    return root


@pytest.fixture(scope="session")
def cheap(hashing_root: Path) -> Iterator[Assistant]:
    """An assistant over the sample that needs no weights."""
    assistant = Assistant(hashing_root, HashingEmbedder())
    yield assistant
    assistant.close()


@pytest.fixture(scope="session")
def real(minilm_index: Path, minilm: Embedder) -> Iterator[Assistant]:
    """An assistant over the sample with the model that is shipped."""
    assistant = Assistant(minilm_index, minilm)
    assistant.warm_up()
    yield assistant
    assistant.close()


@pytest.fixture(scope="session")
def empty_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index that holds no paper."""
    from vectorstore.commit import write_generation

    root = tmp_path_factory.mktemp("empty")
    write_generation(root, [], [], [], HashingEmbedder())
    return root


@pytest.fixture
def paperchat(hashing_root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Run a command in this process over the sample's index, or another: (exit code, out, err)."""
    from app.cli import run_command

    def run(*arguments: object, index: Path = hashing_root, embedder: str = "hashing") -> tuple[int, str, str]:
        monkeypatch.setenv("PAPERCHAT_INDEX_DIR", str(index))
        monkeypatch.setenv("PAPERCHAT_EMBEDDER", embedder)
        capsys.readouterr()
        code = run_command([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def hear_interrupts() -> None:
    """What is started in the background ignores SIGINT, and so do its children; a person's Ctrl-C is not ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def spawn(hashing_root: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start a command in a process of its own, as the console script does; what is left of it ends with the test."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: object, index: Path = hashing_root, **environment: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", "from app.cli import main; main()", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            preexec_fn=hear_interrupts,
            env={
                **os.environ,
                "PAPERCHAT_INDEX_DIR": str(index),
                "PAPERCHAT_EMBEDDER": "hashing",
                "PYTHONUNBUFFERED": "1",
                **environment,
            },
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture(scope="session")
def complaint() -> Callable[[str], str]:
    """The one line that says what is wrong, from all that a command wrote on standard error."""

    def of(err: str) -> str:
        assert "Traceback" not in err
        progress = re.compile(r"(?:reading|merging|indexing) \.\.\.|(?:splitting|embedding) \d+/\d+.*")
        lines = [line for line in err.splitlines() if not progress.fullmatch(line)]
        assert len(lines) == 1, err
        assert lines[0].startswith("paperchat: ")
        assert len(lines[0]) > len("paperchat: ")
        return lines[0]

    return of


Check = Callable[[dict[str, Any], Assistant], None]


@pytest.fixture(scope="session")
def check() -> Check:
    """Assert that an answer's JSON keeps the contract of design.md, whatever was asked."""

    def keeps_the_contract(answer: dict[str, Any], assistant: Assistant) -> None:
        _has_its_shape(answer)
        _is_grounded(answer, assistant)
        _is_decided(answer)
        _says_only_what_is_quoted(answer)

    return keeps_the_contract


def _has_its_shape(answer: dict[str, Any]) -> None:
    assert set(answer) == ANSWER_KEYS
    assert answer["status"] in ("answered", "refused")
    assert answer["route"] in ROUTES
    assert re.fullmatch(r"[a-z]{2}", answer["language"])
    assert answer["refusal"] is None or set(answer["refusal"]) == {"reason", "message"}
    assert answer["lead"] is None or set(answer["lead"]) == {"text", "criterion", "count", "interval", "complete"}
    assert answer["table"] is None or set(answer["table"]) == {"papers", "rows"}
    assert isinstance(answer["interpreted_as"], dict)
    for sentence in answer["sentences"]:
        assert set(sentence) == {"text", "citations", "support", "evidence"}
        assert sentence["support"] in ("quoted", "supported", "weak")
        for quote in sentence["evidence"]:
            assert set(quote) == {"paper_id", "field", "start", "end", "quote"}
    assert all(set(paper) >= PAPER_KEYS | {"number"} for paper in answer["papers"])
    assert all(set(paper) >= PAPER_KEYS and "number" not in paper for paper in answer["nearest"])
    for row in answer["retrieved"]:
        assert set(row) == {"id", "rank", "score", "found_by"}
        assert isinstance(row["score"], float)
        assert 0 <= row["score"] <= 1
        assert set(row["found_by"]) <= {"dense", "lexical"}
    assert [row["rank"] for row in answer["retrieved"]] == list(range(1, len(answer["retrieved"]) + 1))
    assert len({row["id"] for row in answer["retrieved"]}) == len(answer["retrieved"])
    scores = [row["score"] for row in answer["retrieved"]]
    assert scores == sorted(scores, reverse=True)
    assert set(answer["timings_ms"]) >= {"write", "total"}


def _is_grounded(answer: dict[str, Any], assistant: Assistant) -> None:
    ids = {paper["number"]: paper["id"] for paper in answer["papers"]}
    mentioned = list(dict.fromkeys(n for sentence in answer["sentences"] for n in sentence["citations"]))
    assert list(ids) == mentioned == list(range(1, len(mentioned) + 1))
    assert len(set(ids.values())) == len(ids)
    for sentence in answer["sentences"]:
        assert sentence["citations"]
        assert sentence["evidence"]
        assert {quote["paper_id"] for quote in sentence["evidence"]} == {ids[n] for n in sentence["citations"]}
        if sentence["support"] == "quoted":
            assert sentence["text"] == " […] ".join(quote["quote"] for quote in sentence["evidence"])
        for quote in sentence["evidence"]:
            paper = assistant.paper(quote["paper_id"])
            assert paper is not None
            assert quote["quote"]
            if quote["field"] in ("abstract", "title"):
                assert getattr(paper, quote["field"])[quote["start"] : quote["end"]] == quote["quote"]
            else:
                assert quote["start"] is quote["end"] is None
    assert all(assistant.paper(paper["id"]) for paper in (*answer["papers"], *answer["nearest"], *answer["retrieved"]))


def _is_decided(answer: dict[str, Any]) -> None:
    assert (answer["status"] == "refused") == (answer["refusal"] is not None)
    if answer["refusal"] is None:
        assert answer["sentences"] or answer["lead"]
        assert answer["nearest"] == []
        return
    assert answer["refusal"]["reason"] in REASONS
    assert answer["refusal"]["message"].strip()
    assert answer["text"].startswith(answer["refusal"]["message"])
    assert answer["refusal"]["reason"] == "not_in_abstract" or answer["papers"] == answer["sentences"] == []
    assert bool(answer["nearest"]) == bool(answer["retrieved"])


def _says_only_what_is_quoted(answer: dict[str, Any]) -> None:
    """The text holds the refusal or the lead, the sentences with their marks, the papers' labels, and nothing else."""
    text = answer["text"]
    for part in (answer["refusal"] or {}).get("message"), (answer["lead"] or {}).get("text"):
        text = text.replace(part or "", "", 1)
    for sentence in sorted(answer["sentences"], key=lambda s: -len(s["text"])):
        marked = f"{sentence['text']} {''.join(f'[{n}]' for n in sentence['citations'])}"
        assert marked in text
        text = text.replace(marked, "", 1)
    for paper in sorted(answer["papers"], key=lambda p: -len(p["label"])):
        text = text.replace(f"**{paper['label']}**", "")
    assert re.fullmatch(r"[\s:*\-]*", text), text
