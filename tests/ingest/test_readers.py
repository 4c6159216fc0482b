"""From a path to a reader: what is taken, what is refused and how that is said."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ingest import readers
from ingest.document import Skipped
from ingest.errors import SourceMissing, SourceUnreadable
from ingest.readers import read
from vectorstore.paper import Paper

ABSTRACT = (
    "We study how bees find their way home after rain and show with forty hives that they follow the smell of "
    "their own queen rather than the sun or any landmark nearby."
)
JSON_LINE = json.dumps({"title": "Bees", "abstract": ABSTRACT})


def papers(path: Path, format: str | None = None) -> list[Paper]:
    return [item for item in read(path, format) if isinstance(item, Paper)]


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.ndjson", "a.txt", "a", "a.data"])
def test_json_lines_are_known_by_their_content(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("\n  \n" + JSON_LINE)
    assert papers(tmp_path / name)[0].title == "Bees"


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.TXT", "a"])
def test_prose_is_taken_from_text_files(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("Papers\n\n" + ABSTRACT)
    assert [paper.abstract for paper in papers(tmp_path / name)] == [ABSTRACT]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "id,title\n1,Bees"),
        ("a.py", "print('hello')"),
        ("a.txt", "<html><body>Bees</body></html>"),
        ("a.txt", "@article{bees, title={Bees}}"),
        ("a.json", "[" + JSON_LINE + "]"),
    ],
)
def test_other_formats_are_refused_with_the_known_ones_named(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(SourceUnreadable, match=r"format is not known \(formats: jsonl, text\)") as caught:
        read(tmp_path / name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("first", ['"title": "Bees", "abstract": "cut in half"}', "42", "null", "[1, 2]"])
def test_a_broken_first_line_costs_only_itself(tmp_path: Path, first: str) -> None:
    (tmp_path / "a.jsonl").write_text(f"{first}\n{JSON_LINE}\n")
    skipped, paper = read(tmp_path / "a.jsonl")
    assert isinstance(skipped, Skipped)
    assert skipped.line == 1
    assert isinstance(paper, Paper)


def test_a_format_given_by_name_beats_the_content(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("Papers\n\n" + ABSTRACT)
    assert len(papers(tmp_path / "a.csv", "text")) == 1
    (tmp_path / "b.txt").write_text(ABSTRACT)
    assert [type(item) for item in read(tmp_path / "b.txt", "jsonl")] == [Skipped]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_byte_order_marks_are_understood(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.txt").write_bytes(f"论文列表\n\n{ABSTRACT} Naïve 😀.".encode(encoding))
    assert papers(tmp_path / "a.txt")[0].abstract == f"{ABSTRACT} Naïve 😀."


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is empty"),
        (b" \n\t\n", "it is empty"),
        (b"PK\x03\x04\x00\x00binary", "it is binary"),
        (b"%PDF-1.7\n\xe2\xe3\xcf\xd3", "it is not UTF-8 (byte 9)"),
        ("Papers\n\nUn café".encode("latin-1"), "it is not UTF-8 (byte 14)"),
    ],
)
def test_what_is_no_text_is_refused_in_one_line(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "a.txt").write_bytes(content)
    with pytest.raises(SourceUnreadable) as caught:
        read(tmp_path / "a.txt")
    assert str(caught.value).startswith(f"{tmp_path / 'a.txt'}: {reason}")
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceMissing, match=r"a\.jsonl: no such file"):
        read(tmp_path / "a.jsonl")
    with pytest.raises(SourceUnreadable, match="it is a folder"):
        read(tmp_path)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt").write_text(ABSTRACT)

    def fail(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", fail)
    with pytest.raises(SourceUnreadable, match="Permission denied"):
        read(tmp_path / "a.txt")


def test_the_source_of_a_record_is_the_files_full_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt").write_text(ABSTRACT)
    monkeypatch.chdir(tmp_path)
    assert papers(Path("a.txt"))[0].sources == (str((tmp_path / "a.txt").resolve()),)


def test_the_bundled_samples(sample: Path, text_samples: tuple[Path, Path]) -> None:
    titled = papers(sample)
    untitled = [paper for path in text_samples for paper in papers(path)]
    assert (len(titled), len(untitled)) == (37, 38)
    assert {paper.abstract for paper in untitled} == {paper.abstract for paper in titled}
    assert not any(isinstance(item, Skipped) for path in (sample, *text_samples) for item in read(path))
    assert all(paper.title and paper.authors and paper.url and paper.year == 2026 for paper in titled)
    assert not any(paper.title for paper in untitled)


# Packed files


def pack(path: Path, content: bytes) -> Path:
    path.write_bytes(gzip.compress(content))
    return path


@pytest.mark.parametrize("name", ["papers.jsonl.gz", "papers.gz", "papers.JSONL.GZ", "papers"])
def test_a_packed_file_is_read_as_what_it_holds(tmp_path: Path, name: str) -> None:
    content = b'{"id": "x-1", "title": "One", "abstract": "We study whales."}\nnot json\n'
    (tmp_path / "packed").mkdir()
    packed = list(read(pack(tmp_path / "packed" / name, content)))
    assert [getattr(item, "title", item.__class__.__name__) for item in packed] == ["One", "Skipped"]


def test_packed_prose_is_prose(tmp_path: Path) -> None:
    text = "We study whales and how they sing to each other in the deep sea.\n" * 5
    (found,) = read(pack(tmp_path / "abstracts.txt.gz", text.encode()))
    assert isinstance(found, Paper)


@pytest.mark.parametrize(
    "spoil", [lambda c: c[: len(c) // 2], lambda c: c[:12] + b"garbage" + c[19:], lambda c: c[:-3]]
)
def test_a_damaged_packed_file_is_told(tmp_path: Path, spoil: Callable[[bytes], bytes]) -> None:
    content = json.dumps({"id": "x", "title": "One", "abstract": "We study whales. " * 99}).encode()
    path = pack(tmp_path / "papers.jsonl.gz", content)
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(SourceUnreadable, match="damaged gzip file"):
        read(path)


def test_a_file_that_unpacks_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "_LARGEST", 10_000)
    with pytest.raises(SourceUnreadable, match="unpacks to more than 10,000 bytes"):
        read(pack(tmp_path / "papers.jsonl.gz", b" " * 1_000_000))


def test_a_file_that_is_only_called_packed_is_read_as_it_is(tmp_path: Path) -> None:
    """As browsers leave it that unpack what they load."""
    (tmp_path / "papers.jsonl.gz").write_text(JSON_LINE)
    assert [paper.title for paper in papers(tmp_path / "papers.jsonl.gz")] == ["Bees"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"PK\x03\x04\x00\x00binary", "it is binary"),
        (gzip.compress(b""), "it is empty"),
        (gzip.compress(b"PK\x03\x04\x00\x00binary"), "it is binary"),
        (gzip.compress(b"id,title\n1,caf\xe9"), "it is not UTF-8"),
        (gzip.compress(b"<html>Bees</html>"), "its format is not known"),
        (b"\x1f\x8b", "it is a damaged gzip file"),
    ],
)
def test_what_is_no_text_is_refused_in_one_line_packed_or_called_so(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    (tmp_path / "papers.txt.gz").write_bytes(content)
    with pytest.raises(SourceUnreadable) as caught:
        read(tmp_path / "papers.txt.gz")
    assert str(caught.value).startswith(f"{tmp_path / 'papers.txt.gz'}: {reason}")
    assert "\n" not in str(caught.value)
