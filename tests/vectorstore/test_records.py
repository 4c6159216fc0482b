"""What an index was made of survives beside it."""

import gzip
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vectorstore.errors import IndexDamaged
from vectorstore.paper import Paper
from vectorstore.records import any_records, forget_records, keep_records, kept_fingerprint, kept_records

texts = st.text(st.characters())  # with stray halves of characters, which st.text() alone leaves out
papers = st.lists(
    st.builds(Paper, id=texts.filter(bool), title=texts, abstract=texts, sources=st.just(("s.jsonl",))),
    max_size=5,
)


@given(papers)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_records_come_back_as_they_were(tmp_path: Path, records: list[Paper]) -> None:
    """Whatever is in a text: line ends of every kind, other scripts, stray halves of characters."""
    keep_records(tmp_path, "abc", "model-fp32", records)
    assert kept_records(tmp_path, "abc") == records
    assert kept_fingerprint(tmp_path, "abc") == kept_fingerprint(tmp_path, None) == "model-fp32"
    assert [path.name for path in tmp_path.iterdir()] == ["records-abc.jsonl.gz"]


def test_without_a_name_the_ones_kept_last_come_back(tmp_path: Path) -> None:
    for number, hash in enumerate(("old", "new")):
        keep_records(tmp_path, hash, "m", [Paper(hash, sources=("s",))])
        path = tmp_path / f"records-{hash}.jsonl.gz"
        os.utime(path, (number, number))
    assert [record.id for record in kept_records(tmp_path, None)] == ["new"]


def test_only_the_live_ones_are_kept(tmp_path: Path) -> None:
    for hash in ("a", "b"):
        keep_records(tmp_path, hash, "m", [])
    (tmp_path / "records-c.jsonl.gz.tmp").write_bytes(b"half")
    forget_records(tmp_path, but="b")
    assert [path.name for path in tmp_path.iterdir()] == ["records-b.jsonl.gz"]
    assert any_records(tmp_path)


@pytest.mark.parametrize("content", [None, b"", b"garbage", "half", gzip.compress(b""), gzip.compress(b"[]\n")])
def test_records_that_cannot_be_read_are_damage(tmp_path: Path, content: bytes | str | None) -> None:
    keep_records(tmp_path, "a", "m", [Paper(f"p{number}", "A title", sources=("s",)) for number in range(50)])
    path = tmp_path / "records-a.jsonl.gz"
    whole = path.read_bytes()
    path.unlink()
    if content is not None:
        path.write_bytes(whole[: len(whole) // 2] if content == "half" else bytes(content))  # type: ignore[arg-type]
    with pytest.raises(IndexDamaged, match="records cannot be read"):
        kept_records(tmp_path, "a")


@pytest.mark.parametrize("place", [0.1, 0.5, 0.9])
def test_records_with_a_wrong_byte_are_damage_not_other_records(tmp_path: Path, place: float) -> None:
    keep_records(tmp_path, "a", "m", [Paper(f"p{number}", f"Title {number}", sources=("s",)) for number in range(500)])
    path = tmp_path / "records-a.jsonl.gz"
    content = bytearray(path.read_bytes())
    content[int(len(content) * place)] ^= 0x55
    path.write_bytes(content)
    with pytest.raises(IndexDamaged, match="records cannot be read"):
        kept_records(tmp_path, "a")


@pytest.mark.parametrize("content", [None, b"", b"garbage", gzip.compress(b""), gzip.compress(b"[]\n")])
def test_records_that_cannot_be_read_tell_no_model(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "records-a.jsonl.gz").write_bytes(content)
    assert kept_fingerprint(tmp_path, "a") is None
    assert kept_fingerprint(tmp_path, None) is None
