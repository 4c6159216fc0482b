"""An index that is not whole is whole again before anybody is bothered with it."""

import json
import resource
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from app.errors import NotMended
from app.settings import Settings
from app.whole import chosen_embedder, open_assistant
from vectorstore.embedder import open_embedder
from vectorstore.errors import NewerFormat, OtherModel
from vectorstore.generation import current_folder, live_fingerprint
from vectorstore.hashing import HashingEmbedder
from vectorstore.precision import fastest_precision, precision_in


def hashing_settings(index: Path) -> Settings:
    return Settings(index_dir=index, embedder="hashing")


def delete_generation(index: Path) -> None:
    shutil.rmtree(current_folder(index))


def delete_chroma(index: Path) -> None:
    shutil.rmtree(current_folder(index) / "chroma")


def spoil_chroma(index: Path) -> None:
    (current_folder(index) / "chroma" / "chroma.sqlite3").write_bytes(b"garbage" * 999)


def spoil_catalogue(index: Path) -> None:
    (current_folder(index) / "papers.sqlite3").write_bytes(b"garbage" * 999)


def spoil_terms(index: Path) -> None:
    for path in (current_folder(index) / "lexical").iterdir():
        path.write_bytes(path.read_bytes()[::-1])


def spoil_current(index: Path) -> None:
    (index / "CURRENT").write_text("nonsense")


def delete_current(index: Path) -> None:
    (index / "CURRENT").unlink()


def delete_manifest(index: Path) -> None:
    (current_folder(index) / "manifest.json").unlink()


def age(index: Path) -> None:
    file = current_folder(index) / "manifest.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "format": 1}))


FAULTS = (
    delete_generation,
    delete_chroma,
    spoil_chroma,
    spoil_catalogue,
    spoil_terms,
    spoil_current,
    delete_current,
    delete_manifest,
    age,
)


@pytest.mark.parametrize("fault", FAULTS)
def test_the_next_command_answers_from_the_same_corpus_and_says_one_line(
    index: Path, fault: Callable[[Path], None]
) -> None:
    corpus = current_folder(index).name.removeprefix("gen-")
    fault(index)
    told: list[str] = []
    assistant = open_assistant(hashing_settings(index), told.append)
    answer = assistant.ask("What certified lower bound on the Steiner ratio was found?")
    assert (assistant.size, assistant.corpus, answer.status) == (37, corpus, "answered")
    assistant.close()
    assert len(told) == 1
    assert "Building it again from its records" in told[0]
    assert "\n" not in told[0]
    told.clear()
    open_assistant(hashing_settings(index), told.append).close()
    assert told == []


def test_nothing_is_embedded_again(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    delete_generation(index)
    monkeypatch.setattr(HashingEmbedder, "embed", lambda *_: pytest.fail("it was embedded again"))
    open_assistant(hashing_settings(index)).close()


def test_what_cannot_be_mended_is_said_with_both_reasons(index: Path) -> None:
    delete_generation(index)
    for kept in index.glob("records-*"):
        kept.write_bytes(b"garbage")
    with pytest.raises(NotMended, match=r"is damaged: .*; it could not be built again: .*--rebuild"):
        open_assistant(hashing_settings(index))


def test_a_damaged_index_of_another_model_is_not_embedded_anew_unasked(index: Path) -> None:
    delete_generation(index)
    with pytest.raises(NotMended, match="hashing-256-v1"):
        open_assistant(Settings(index_dir=index, embedder="minilm"))


def test_an_index_of_a_later_version_is_not_touched(index: Path) -> None:
    file = current_folder(index) / "manifest.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "format": 99}))
    before = sorted(path.name for path in index.iterdir())
    with pytest.raises(NewerFormat):
        open_assistant(hashing_settings(index))
    assert sorted(path.name for path in index.iterdir()) == before


def test_left_to_choose_a_new_index_gets_the_machines_precision(tmp_path: Path) -> None:
    assert precision_in(chosen_embedder(Settings(index_dir=tmp_path)).fingerprint) == fastest_precision()


@pytest.mark.parametrize("fault", [lambda index: None, delete_generation, spoil_current, delete_manifest])
def test_left_to_choose_an_index_keeps_its_own_precision(
    minilm_index: Path, tmp_path: Path, fault: Callable[[Path], None]
) -> None:
    """Also a damaged one: in another precision all its papers would be embedded again."""
    index = Path(shutil.copytree(minilm_index, tmp_path / "index"))
    fault(index)
    assert chosen_embedder(Settings(index_dir=index)).fingerprint == open_embedder("minilm", "fp32").fingerprint
    assert live_fingerprint(index) == open_embedder("minilm", "fp32").fingerprint


def test_the_precision_that_is_asked_for_is_taken(index: Path) -> None:
    chosen = chosen_embedder(Settings(index_dir=index, precision="int8"))
    assert precision_in(chosen.fingerprint) == "int8"


def test_another_model_is_told_not_mended(index: Path) -> None:
    with pytest.raises(OtherModel):
        open_assistant(Settings(index_dir=index, embedder="minilm"))


def test_where_nothing_can_be_written_the_damage_is_one_line_with_both_reasons(index: Path) -> None:
    """And mended when there is room again."""
    delete_generation(index)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        with pytest.raises(NotMended, match=r"is damaged: .*; it could not be built again: cannot write") as caught:
            open_assistant(hashing_settings(index), lambda line: None)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "\n" not in str(caught.value)
    assistant = open_assistant(hashing_settings(index), lambda line: None)
    assert assistant.size == 37
    assistant.close()
