"""A report as one HTML page that needs no network: plots, means, and for every question what happened and why.

In: a report. Out: HTML. Whatever came from a question, a paper or a model is escaped.
Not known here: how anything was measured, how a figure is drawn (plots.py).
"""

from collections.abc import Iterator
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from evals.judge import MEASURES
from evals.plots import Bar, curves, spans, whiskers
from evals.report import Group, Report

_PAGES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_PLOTTED = (
    "R@5",
    "nDCG@10",
    "first cited right",
    "evidence recall",
    "citation precision",
    "set F1",
    "ALCE recall",
    "abstention",
)


def html(report: Report) -> str:
    """The page."""
    used = [measure for measure in MEASURES if measure.name in report.overall.measures]
    return _PAGES.get_template("report.html").render(
        report=report,
        measures=used,
        groups={**report.categories, "all": report.overall},
        plots=[(name, Markup(drawn)) for name, drawn in _plots(report)],  # noqa: S704  plots.py escapes its labels
        titles=report.titles,
    )


def _plots(report: Report) -> Iterator[tuple[str, str]]:
    groups = {**report.categories, "all": report.overall}
    for name in _PLOTTED:
        if bars := list(_bars(groups, name)):
            yield name, whiskers(f"{name} by category", bars)
    if points := report.abstention.curve:
        lines = {
            "precision": [(point.threshold, point.precision) for point in points],
            "recall": [(point.threshold, point.recall) for point in points],
            "F1": [(point.threshold, point.f1) for point in points],
            "answerable refused": [(point.threshold, point.answerable_refused) for point in points],
        }
        yield "declining over the threshold", curves("declining over the threshold", "refused below this", lines)
    if report.latency_ms:
        rows = {stage: (taken.p50, taken.p95) for stage, taken in report.latency_ms.items()}
        yield "latency, p50 and p95", spans("latency by stage", rows, "ms")


def _bars(groups: dict[str, Group], name: str) -> Iterator[Bar]:
    for label, group in groups.items():
        if found := group.measures.get(name):
            yield Bar(label, found.mean, found.low, found.high, found.n)
