"""Figures as SVG, for a page that needs nothing else.

In: values and their intervals, curves, percentiles. Out: `<svg>` elements as text. Colours come from the page's style,
so that they suit a dark one, too; every mark has a <title> that says its figures.
Not known here: reports.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

_ROW = 22  # px a row
_LABEL = 190  # px for the labels at the left
_WIDTH = 300  # px from 0 to 1


@dataclass(frozen=True)
class Bar:
    """A labelled value from 0 to 1 with its interval; `n` observations."""

    label: str
    value: float
    low: float
    high: float
    n: int


def whiskers(title: str, bars: Sequence[Bar]) -> str:
    """A dot a row, with its interval as a line, from 0 to 1."""
    height = _ROW * len(bars) + 30
    marks = [_grid(height - 22)]
    for place, bar in enumerate(bars):
        y = 14 + place * _ROW
        at, low, high = (_LABEL + _WIDTH * part for part in (bar.value, bar.low, bar.high))
        told = escape(f"{bar.label}: {bar.value:.3f} [{bar.low:.2f}, {bar.high:.2f}], n = {bar.n}")
        marks.append(
            f'<g><title>{told}</title><text x="{_LABEL - 8}" y="{y + 4}" text-anchor="end">{escape(bar.label)}</text>'
            f'<line class="interval" x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}"/>'
            f'<circle class="dot" cx="{at:.1f}" cy="{y}" r="4.5"/>'
            f'<text class="value" x="{_LABEL + _WIDTH + 10}" y="{y + 4}">{bar.value:.2f}</text></g>'
        )
    return _svg(title, _LABEL + _WIDTH + 50, height, marks)


def curves(title: str, axis: str, lines: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """Lines over a common horizontal axis, the vertical one from 0 to 1. Each line's name stands in the legend."""
    places = [x for points in lines.values() for x, _ in points]
    least, most = min(places), max(places)
    width, height, left, top = 460, 230, 40, 12
    marks = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = top + height * (1 - share)
        marks.append(f'<line class="grid" x1="{left}" x2="{left + width}" y1="{y}" y2="{y}"/>')
        marks.append(f'<text class="tick" x="{left - 6}" y="{y + 4}" text-anchor="end">{share:g}</text>')
    for step in range(5):
        x, value = left + width * step / 4, least + (most - least) * step / 4
        marks.append(f'<text class="tick" x="{x}" y="{top + height + 16}" text-anchor="middle">{value:.2f}</text>')
    marks.append(
        f'<text class="tick" x="{left + width / 2}" y="{top + height + 32}" text-anchor="middle">{escape(axis)}</text>'
    )
    for place, (name, points) in enumerate(lines.items()):
        at = [(left + width * _share(x, least, most), top + height * (1 - y)) for x, y in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
        marks.append(f'<polyline class="line line{place}" points="{path}"><title>{escape(name)}</title></polyline>')
        y = top + height + 52 + 16 * (place // 2)
        x = left + (place % 2) * 230
        marks.append(f'<line class="line line{place}" x1="{x}" x2="{x + 22}" y1="{y - 4}" y2="{y - 4}"/>')
        marks.append(f'<text x="{x + 28}" y="{y}">{escape(name)}</text>')
    return _svg(title, left + width + 20, top + height + 62 + 16 * ((len(lines) - 1) // 2), marks)


def spans(title: str, rows: Mapping[str, tuple[float, float]], unit: str) -> str:
    """A bar a row to its first value (the median), with a line to its second (the 95th percentile)."""
    most = max((high for _, high in rows.values()), default=1) or 1
    marks = []
    for place, (label, (middle, high)) in enumerate(rows.items()):
        y = 6 + place * _ROW
        told = escape(f"{label}: p50 {middle:.1f} {unit}, p95 {high:.1f} {unit}")
        end = _LABEL + _WIDTH * high / most
        marks.append(
            f'<g><title>{told}</title><text x="{_LABEL - 8}" y="{y + 12}" text-anchor="end">{escape(label)}</text>'
            f'<rect class="bar" x="{_LABEL}" y="{y + 3}" width="{_WIDTH * middle / most:.1f}" height="11"/>'
            f'<line class="interval" x1="{_LABEL}" x2="{end:.1f}" y1="{y + 8.5}" y2="{y + 8.5}"/>'
            f'<text class="value" x="{end + 8:.1f}" y="{y + 12}">{middle:.1f} / {high:.1f} {unit}</text></g>'
        )
    return _svg(title, _LABEL + _WIDTH + 130, _ROW * len(rows) + 12, marks)


def _grid(height: float) -> str:
    lines = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        x = _LABEL + _WIDTH * share
        lines.append(f'<line class="grid" x1="{x}" x2="{x}" y1="2" y2="{height}"/>')
        lines.append(f'<text class="tick" x="{x}" y="{height + 14}" text-anchor="middle">{share:g}</text>')
    return "".join(lines)


def _share(value: float, least: float, most: float) -> float:
    return (value - least) / (most - least) if most > least else 0.0


def _svg(title: str, width: float, height: float, marks: Sequence[str]) -> str:
    return (
        f'<svg role="img" aria-label="{escape(title)}" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}">{"".join(marks)}</svg>'
    )
