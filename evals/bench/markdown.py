"""What was measured, as the tables of docs/bench.md.

In: results by part, as run.py keeps them. Out: Markdown.
Not known here: how anything was measured.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

_HEAD = """# Measurements

Written by `make bench DATA=FOLDER` from what it measured; every figure is of one machine on one day, so compare
within a table, never between two. The folder holds the ICML 2026 papers (`icml2026.jsonl`), 90,082 other abstracts
(`mlpapers_pool.jsonl.gz`) and retrieval benchmarks in BEIR's layout (`benchmarks/`); none of it is in the repository.
"""


def to_markdown(results: Mapping[str, Mapping[str, Any]]) -> str:
    """The whole page."""
    return "\n".join([_HEAD, *(_section(result) for result in results.values())])


def _section(result: Mapping[str, Any]) -> str:
    title, body = _SECTIONS[result["part"]]
    return f"## {title}\n\n{result['date']}, {result['machine']}.\n\n{body(result['found'])}\n"


def _embedding(found: Mapping[str, Any]) -> str:
    limits = ", ".join(f"{kind} {limit:,.0f}" for kind, limit in found["limits"].items())
    rows = [
        [
            speed["precision"],
            f"{speed['chunks']:.1f}",
            f"{speed['gflops']:.0f}",
            f"{speed['of_fp32']:.0%}",
            "" if speed["of_own"] is None else f"{speed['of_own']:.0%}",
        ]
        for speed in found["speeds"]
    ]
    head = ["precision", "papers/s", "GFLOP/s", "of the fp32 limit", "of its own limit"]
    return (
        f"Limit of multiplying matrices of 2,048, sustained, GFLOP/s: {limits}. The pass is tokenising, the model and "
        "pooling the passages; operations are those of the matrix products over real tokens. Medians of five rounds, "
        f"in turns.\n\n{_table(head, rows)}"
    )


def _precision(found: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        [
            row["benchmark"],
            row["precision"],
            str(row["queries"]),
            f"{row['ndcg']:.4f}",
            "" if row["difference"] is None else f"{row['difference']['mean']:+.4f}",
            "" if row["difference"] is None else f"{row['difference']['p']:.3f}",
        ]
        for row in found
    ]
    head = ["benchmark", "precision of the papers", "queries", "nDCG@10", "against fp32", "p"]
    return (
        "Hybrid retrieval as in the product, questions in fp32; the difference is tested by a paired randomisation "
        f"test.\n\n{_table(head, rows)}"
    )


def _conference(found: Mapping[str, Any]) -> str:
    rows = []
    for name, run in (("first", found["first"]), ("again, no change", found["unchanged"]), ("ten new", found["added"])):
        embedding = run["stages"].get("embedding", 0.0)
        rows.append(
            [
                name,
                str(run["report"]["papers"]),
                f"{run['seconds']:.1f}",
                f"{embedding:.1f}",
                f"{run['seconds'] - embedding:.1f}",
                f"{1 - embedding / run['seconds']:.0%}",
                f"{run['peak'] / 1e6:,.0f}",
            ]
        )
    head = ["ingest", "papers", "seconds", "embedding", "the rest", "share of the rest", "peak MB"]
    stages = ", ".join(f"{stage} {taken:.1f}" for stage, taken in found["first"]["stages"].items())
    times = [
        [name, f"{found['latency'][key]['p50']:.1f}", f"{found['latency'][key]['p95']:.1f}"]
        for name, key in (
            ("retrieval without the question's embedding (best of five runs)", "search"),
            ("the question's embedding", "embed"),
            ("a whole extractive answer", "answer"),
        )
    ]
    return (
        f"{_table(head, rows)}\n\nSeconds of the first by stage: {stages}. Loading the model is part of embedding.\n\n"
        f"The questions of the set icml2026, one user, milliseconds:\n\n{_table(['', 'p50', 'p95'], times)}"
    )


def _scale(found: Sequence[Mapping[str, Any]]) -> str:
    rows = []
    for row in found:
        run, report = row["run"], row["run"]["report"]
        rows.append(
            [
                f"{report['read']:,}",
                f"{report['papers']:,}",
                f"{run['seconds']:.0f}",
                f"{report['read'] / max(run['stages']['merging'], 1e-9):,.0f}",
                f"{run['peak'] / 1e6:,.0f}",
                f"{row['disk'] / 1e6:,.0f}",
                f"{row['cache'] / 1e6:,.0f}",
                f"{row['latency']['search']['p50']:.1f}",
                f"{row['latency']['search']['p95']:.1f}",
            ]
        )
    head = ["records", "papers", "seconds", "merged/s", "peak MB", "index MB", "cache MB", "query p50 ms", "p95 ms"]
    return f"The hashing embedder; the query is a paper's title, without its embedding.\n\n{_table(head, rows)}"


_SECTIONS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "embedding": ("How much of the machine the embedding pass uses", _embedding),
    "precision": ("What a lower precision costs", _precision),
    "conference": ("A whole conference", _conference),
    "scale": ("From 1,000 to 90,000 papers", _scale),
}


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
