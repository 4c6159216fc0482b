"""The report for a machine and for a person."""

import json
from dataclasses import replace

import pytest

from ingest import errors
from ingest.document import Skipped
from ingest.errors import IngestError
from ingest.report import Report

REPORT = Report(5, 1, 1, 1, 2, 0, (), 9, 3)


def test_json_has_the_promised_keys() -> None:
    skipped = Skipped("a.jsonl", 3, "it is a JSON list, not an object")
    stored = json.loads(json.dumps(Report(5, 1, 1, 1, 2, 4, (skipped,), 9, 3).to_json()))
    assert stored == {
        "read": 5,
        "new": 1,
        "updated": 1,
        "unchanged": 1,
        "merged": 2,
        "without_abstract": 4,
        "skipped": [{"source": "a.jsonl", "line": 3, "reason": "it is a JSON list, not an object"}],
        "papers": 9,
        "embedded": 3,
        "mended": "",
    }


def test_a_person_gets_the_counts_in_one_line() -> None:
    assert REPORT.lines() == ["5 read, 1 new, 1 updated, 1 unchanged, 2 merged: 9 papers in the index"]


def test_what_lacks_or_was_left_out_is_named_whenever_there_is_any() -> None:
    skipped = (Skipped("a.jsonl", 3, "broken"), Skipped("b.txt", 7, "short"))
    summary, *rest = Report(5, 1, 1, 1, 2, 4, skipped, 9, 3).lines()
    assert "4 without abstract" in summary
    assert "2 skipped" in summary
    assert rest == ["skipped a.jsonl:3: broken", "skipped b.txt:7: short"]
    assert "without" not in REPORT.lines()[0]
    assert "skipped" not in REPORT.lines()[0]


@pytest.mark.parametrize(
    ("error", "parts"),
    [
        (errors.SourceMissing("/a.jsonl"), ["/a.jsonl", "no such file", "JSON lines"]),
        (errors.SourceUnreadable("/a.bin", "it is binary"), ["/a.bin", "it is binary", "JSON lines", "UTF-8"]),
        (errors.NothingRead("/a.txt", "line 1: broken"), ["/a.txt", "line 1: broken", "left as it was"]),
        (errors.NothingToRebuild("/index"), ["/index", "paperchat ingest --rebuild SOURCE"]),
    ],
)
def test_an_error_is_one_line_with_what_was_got_and_what_to_do(error: IngestError, parts: list[str]) -> None:
    assert isinstance(error, IngestError)
    assert "\n" not in str(error)
    assert all(part in str(error) for part in parts)


def test_an_index_that_was_made_whole_is_named() -> None:
    mended = replace(REPORT, mended="index x is damaged: it is gone. Run `paperchat ingest --rebuild`.")
    assert mended.lines()[1] == "mended: index x is damaged: it is gone"
