"""Files of papers, and records as readers make them."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from vectorstore.paper import Paper

WriteRows = Callable[..., Path]


def build_abstract(number: int, sentences: int = 3) -> str:
    """An abstract of its own, long enough to be recognised: every sentence names its number."""
    return " ".join(
        f"Sentence {place} of study {number} reports what we measured with instrument {number * 31 + place}."
        for place in range(sentences)
    )


def build_record(number: int, **fields: Any) -> Paper:
    """The record of paper `number` in the source "a.jsonl"."""
    made = {"id": f"x-{number}", "title": f"Study {number}", "abstract": build_abstract(number)}
    return Paper(**{**made, "sources": ("a.jsonl",), **fields})


@pytest.fixture
def abstract() -> Callable[..., str]:
    return build_abstract


@pytest.fixture
def record() -> Callable[..., Paper]:
    return build_record


@pytest.fixture
def row() -> Callable[..., dict[str, Any]]:
    """The raw fields of paper `number`, as a line of JSON would hold them."""

    def made(number: int, **fields: Any) -> dict[str, Any]:
        return {"id": f"x-{number}", "title": f"Study {number}", "abstract": build_abstract(number), **fields}

    return made


@pytest.fixture
def write_rows(tmp_path: Path) -> WriteRows:
    """Writes a file of JSON lines from objects and ready-made lines."""

    def write(rows: Sequence[Mapping[str, Any] | str], name: str = "papers.jsonl") -> Path:
        file = tmp_path / name
        file.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows) + "\n")
        return file

    return write
