"""The number format that suits the machine, and what a fingerprint says of it."""

from pathlib import Path

import numpy as np
import pytest

from vectorstore.embedder import open_embedder
from vectorstore.precision import Precision, fastest_precision, precision_in, without_precision
from vectorstore.vectors import Chunk, Embedder

TEXT = "We prove a lower bound of 0.8559 for the Steiner ratio. It improves on what was known for thirty years."


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("flags : fpu avx2 avx512f", "fp32"),
        ("flags : fpu avx512_bf16 avx2", "bf16"),
        ("flags : amx_tile amx_bf16", "bf16"),
        ("Features : asimd bf16 i8mm", "bf16"),
        ("model name : bf16-like", "fp32"),
        ("", "fp32"),
    ],
)
def test_bf16_is_taken_where_the_processor_computes_in_it(tmp_path: Path, flags: str, expected: Precision) -> None:
    (tmp_path / "cpuinfo").write_text(f"processor : 0\n{flags}\n")
    assert fastest_precision(tmp_path / "cpuinfo") == expected


def test_a_machine_that_does_not_tell_computes_in_fp32(tmp_path: Path) -> None:
    assert fastest_precision(tmp_path / "nothing") == "fp32"


@pytest.mark.parametrize("precision", ["fp32", "bf16", "int8"])
def test_a_fingerprint_ends_with_its_precision(precision: Precision) -> None:
    fingerprint = open_embedder("minilm", precision).fingerprint
    assert precision_in(fingerprint) == precision
    assert without_precision(fingerprint) == without_precision(open_embedder("minilm").fingerprint)


def test_a_model_without_precisions_has_none() -> None:
    assert precision_in("hashing-256-v1") is None
    assert without_precision("hashing-256-v1") == "hashing-256-v1"


@pytest.mark.parametrize(("precision", "nearest"), [("bf16", 0.99), ("int8", 0.7)])
def test_a_lower_precision_gives_almost_the_same_vectors(
    minilm: Embedder, precision: Precision, nearest: float
) -> None:
    chunk = Chunk(TEXT, ((0, 55), (56, len(TEXT))))
    (exact,) = minilm.embed([chunk])
    (found,) = open_embedder("minilm", precision).embed([chunk])
    assert float(exact.text @ found.text) > nearest
    assert float(np.sum(exact.spans * found.spans, axis=1).min()) > nearest
    assert not np.array_equal(exact.text, found.text)


def test_questions_are_read_in_fp32_whatever_the_papers_are_in(minilm: Embedder) -> None:
    found = open_embedder("minilm", "bf16").embed_question(TEXT)
    assert np.array_equal(found, minilm.embed_question(TEXT))
