"""Settings from the environment, and what `doctor` finds."""

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import ValidationError

from app import doctor
from app.doctor import Finding, examine
from app.errors import BadSetting
from app.settings import OFFLINE, Settings, read_settings
from vectorstore.lock import writing

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("PAPERCHAT_")]:
        monkeypatch.delenv(name)


def test_without_an_environment_there_are_defaults() -> None:
    settings = read_settings()
    assert (settings.index_dir, settings.embedder, settings.allowed_hosts) == (Path("index"), "minilm", "")


def test_the_environment_decides(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PAPERCHAT_INDEX_DIR", str(tmp_path))
    monkeypatch.setenv("PAPERCHAT_EMBEDDER", "hashing")
    monkeypatch.setenv("PAPERCHAT_ALLOWED_HOSTS", "a.example, b.example")
    monkeypatch.setenv("PAPERCHAT_COLOUR", "red")  # not ours, or another version's
    settings = read_settings()
    assert (settings.index_dir, settings.embedder) == (tmp_path, "hashing")
    assert settings.allowed_hosts == "a.example, b.example"


def test_settings_do_not_change() -> None:
    with pytest.raises(ValidationError):
        Settings().embedder = "other"  # type: ignore[misc]


def test_a_bad_setting_is_one_line_that_names_it(
    monkeypatch: pytest.MonkeyPatch, paperchat: Run, complaint: Callable[[str], str]
) -> None:
    class Strict(Settings):
        port: int = 1

    monkeypatch.setattr("app.settings.Settings", Strict)
    monkeypatch.setenv("PAPERCHAT_PORT", "many")
    with pytest.raises(BadSetting, match="PAPERCHAT_PORT"):
        read_settings()
    for command in (("ask", "x"), ("papers",), ("doctor",), ("serve",), ("ingest", "x")):
        code, out, err = paperchat(*command)
        assert (code, out) == (2, "")
        assert "PAPERCHAT_PORT" in complaint(err)


def test_the_flags_are_those_that_keep_libraries_quiet() -> None:
    assert OFFLINE["HF_HUB_OFFLINE"] == "1"
    assert OFFLINE["TRANSFORMERS_OFFLINE"] == "1"
    assert OFFLINE["GRADIO_ANALYTICS_ENABLED"] == "False"
    assert OFFLINE["ANONYMIZED_TELEMETRY"] == "False"
    assert OFFLINE["LANGSMITH_TRACING"] == "false"
    assert {name: os.environ.get(name) for name in OFFLINE} == OFFLINE


# doctor


def problems(findings: list[Finding]) -> list[str]:
    return [finding.text for finding in findings if not finding.ok]


def test_doctor_finds_nothing_wrong(paperchat: Run) -> None:
    code, out, err = paperchat("doctor")
    assert (code, err) == (0, "")
    assert all(line.startswith("ok  ") for line in out.splitlines())
    for word in ("Python 3.", "SQLite 3.", "torch 2.", "hashing-256-v1", "37 papers", "can be written"):
        assert word in out


def test_doctor_checks_the_bundled_model() -> None:
    findings = examine(Settings(index_dir=Path("nowhere"), embedder="minilm"))
    assert problems(findings) == []
    assert any("all-MiniLM-L6-v2" in finding.text for finding in findings)


def test_no_index_is_no_problem_but_said(paperchat: Run, tmp_path: Path) -> None:
    code, out, _ = paperchat("doctor", index=tmp_path / "none")
    assert code == 0
    assert "paperchat ingest SOURCE" in out
    assert not (tmp_path / "none").exists()


def test_another_model_is_a_problem_with_its_remedy(paperchat: Run) -> None:
    code, out, _ = paperchat("doctor", embedder="minilm")
    assert code == 1
    (line,) = [line for line in out.splitlines() if line.startswith("PROBLEM")]
    assert "--rebuild" in line


@pytest.mark.parametrize("lost", ["papers.sqlite3", "passages.npy", "chroma/chroma.sqlite3", "manifest.json"])
def test_a_damaged_index_is_a_problem(lost: str, paperchat: Run, index: Path) -> None:
    part = index / (index / "CURRENT").read_text().strip() / lost
    part.write_bytes(part.read_bytes()[:10])
    code, out, _ = paperchat("doctor", index=index)
    assert code == 1
    assert "is damaged" in out


def test_a_model_that_is_not_there_is_a_problem(paperchat: Run) -> None:
    code, out, _ = paperchat("doctor", embedder="no-such-model")
    assert code == 1
    assert "no-such-model" in out


def test_an_old_sqlite_is_a_problem_with_its_remedy(monkeypatch: pytest.MonkeyPatch, hashing_root: Path) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 31, 1))
    monkeypatch.setattr(sqlite3, "sqlite_version", "3.31.1")
    (text,) = problems(examine(Settings(index_dir=hashing_root, embedder="hashing")))
    assert "3.31.1" in text
    assert "newer Python" in text


def test_an_old_python_and_no_torch_are_problems(monkeypatch: pytest.MonkeyPatch, hashing_root: Path) -> None:
    def missing(name: str) -> str:
        raise doctor.importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(doctor.importlib.metadata, "version", missing)
    monkeypatch.setattr(doctor.sys, "version_info", (3, 9, 1))
    texts = problems(examine(Settings(index_dir=hashing_root, embedder="hashing")))
    assert any("3.9.1" in text for text in texts)
    assert any("make setup" in text for text in texts)


def test_an_index_being_written_is_told(index: Path) -> None:
    with writing(index):
        findings = examine(Settings(index_dir=index, embedder="hashing"))
    assert problems(findings) == []
    assert any("being written right now" in finding.text for finding in findings)


def test_a_folder_that_cannot_be_written_is_a_problem(monkeypatch: pytest.MonkeyPatch, index: Path) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    (text,) = problems(examine(Settings(index_dir=index, embedder="hashing")))
    assert "PAPERCHAT_INDEX_DIR" in text
