"""Measurements are of the real thing, and their page says what was found."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from evals.bench import run as bench
from evals.bench import scale as scale_module
from evals.bench.child import run_ingest
from evals.bench.latency import latency
from evals.bench.markdown import to_markdown
from evals.cli import cli
from vectorstore.embedder import open_embedder
from vectorstore.hashing import HashingEmbedder


def test_an_ingest_of_its_own_process_tells_stages_memory_and_counts(tmp_path: Path, sample: Path) -> None:
    found = run_ingest(tmp_path / "index", [sample], "hashing", "fp32")
    assert found.report["papers"] == 37
    assert {"reading", "merging", "embedding", "indexing"} <= set(found.stages)
    assert sum(found.stages.values()) <= found.seconds
    assert 20e6 < found.peak < 4e9


def test_latencies_are_those_of_the_index(index: Path) -> None:
    found = latency(index, HashingEmbedder(), ["What is TokenDrop?", "Which papers study label noise?"])
    assert found.answer is not None
    assert 0 < found.search.p50 <= found.search.p95 <= found.answer.p95


def test_sizes_are_measured_one_by_one_and_laid_out(
    tmp_path: Path, sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scale_module, "SIZES", (10, 30))
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / bench.POOL.removesuffix(".gz")).write_bytes(sample.read_bytes())
    monkeypatch.setattr(bench, "POOL", bench.POOL.removesuffix(".gz"))
    monkeypatch.setitem(bench._NEEDED, "scale", (bench.POOL,))
    bench.measure("scale", tmp_path / "data", tmp_path / "work")
    rows = bench.measured(tmp_path / "work")
    assert [row["run"]["report"]["papers"] for row in rows["scale"]["found"]] == [10, 30]
    page = to_markdown(rows)
    assert "| 10 | 10 |" in page
    assert "| 30 | 30 |" in page


def test_a_second_measurement_starts_from_nothing(
    tmp_path: Path, sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work" / "scale-10").mkdir(parents=True)
    (tmp_path / "work" / "scale-10" / "CURRENT").write_text("gen-old")
    monkeypatch.setattr(bench, "POOL", sample.name)
    monkeypatch.setitem(bench._NEEDED, "scale", (sample.name,))
    monkeypatch.setattr(scale_module, "SIZES", (10,))
    bench.measure("scale", sample.parent, tmp_path / "work")
    assert bench.measured(tmp_path / "work")["scale"]["found"][0]["run"]["report"]["new"] == 10


def test_data_that_is_not_there_is_said_in_one_line(tmp_path: Path) -> None:
    ran = CliRunner().invoke(
        cli,
        [
            "bench",
            "scale",
            "--data",
            str(tmp_path),
            "--work",
            str(tmp_path / "w"),
            "--output",
            str(tmp_path / "page.md"),
        ],
    )
    assert ran.exit_code == 2
    assert len(ran.stderr.splitlines()) == 2  # what is being measured, and what is missing
    assert "mlpapers_pool.jsonl.gz is not there" in ran.stderr


def test_an_unknown_part_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    ran = CliRunner().invoke(cli, ["bench", "speed", "--output", str(tmp_path / "page.md")])
    assert ran.exit_code == 2
    assert "embedding, precision, conference, scale" in ran.stderr


def test_the_page_in_the_repository_is_laid_out_by_the_code_that_stands_here() -> None:
    """Its tables have the columns that the code writes; it was not edited by hand."""
    page = (Path(__file__).parents[2] / "docs" / "bench.md").read_text(encoding="utf-8")
    for heading in ("uses", "lower precision costs", "A whole conference", "90,000 papers"):
        assert heading in page


def test_operations_grow_with_the_text_and_agree_with_arithmetic() -> None:
    """MiniLM: 6 layers of width 384, inner width 1,536; 98 tokens and two special ones."""
    embedder = open_embedder("minilm")
    by_hand = 6 * (2 * 100 * (4 * 384 * 384 + 2 * 384 * 1536) + 4 * 100 * 100 * 384)
    assert embedder.operations(98) == by_hand  # type: ignore[attr-defined]
