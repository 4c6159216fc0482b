"""A report as Markdown, for a terminal, a note or a pull request.

In: a report. Out: text: means by category, abstention, what is broken, every miss with its reason, definitions.
Text that came from a question or a model stands in code spans, so that no renderer loads or runs it.
Not known here: how anything was measured.
"""

from collections.abc import Iterator, Mapping, Sequence

from evals.compare import Comparison, Flip
from evals.gate import Verdict
from evals.judge import MEASURES, Question
from evals.report import Group, Report


def markdown(report: Report) -> str:
    """The whole report, most important first."""
    sections = (
        _head(report),
        _table(report),
        _abstention(report),
        _listed("Questions that failed", [f"{_name(q)}: {_code(q.error)}" for q in report.failed]),
        _listed("Violated invariants", [f"{_name(q)}: {_code(v)}" for q in report.violated for v in q.violations]),
        _listed("Misses", [line for question in report.questions for line in _miss(question)]),
        _latency(report),
        _definitions(report),
    )
    return "\n".join("\n".join(section) for section in sections if section)


def verdict_text(report: Report, verdict: Verdict) -> str:
    """What the gate says: every reason to stop, then what fell and may be noise."""
    lines = [*_head(report), "gate: passed" if verdict.passed else f"gate: stopped, {len(verdict.stops)} reasons", ""]
    lines += [f"- {_plain(reason)}" for reason in verdict.stops]
    if verdict.within:
        lines += ["", "Fell within noise:", "", *(f"- {_plain(fall)}" for fall in verdict.within)]
    return "\n".join(lines) + "\n"


def comparison_text(base: Report, comparisons: Sequence[Comparison]) -> str:
    """Each comparison with `base`: a table of measures, then the questions that flipped, both ways."""
    lines = [f"# {base.set.name}: compared with {base.system.method} at {base.commit}", ""]
    if len(comparisons) > 1:
        lines += [f"p-values are corrected for {sum(len(c.changes) for c in comparisons)} looks (Holm).", ""]
    for comparison in comparisons:
        lines += [f"## {comparison.name}", "", _row(["measure", "n", "before", "after", "difference", "p", "Holm p"])]
        lines.append(_row(["---", *["--:"] * 6]))
        for change in comparison.changes:
            sure = "**" if change.corrected < 0.05 else ""
            figures = (f"{change.before:.3f}", f"{change.after:.3f}", f"{sure}{change.difference:+.3f}{sure}")
            lines.append(_row([change.measure, str(change.n), *figures, f"{change.p:.3g}", f"{change.corrected:.3g}"]))
        lines += ["", *_listed("Got worse", [_flip(flip) for flip in comparison.fell])]
        lines += _listed("Got better", [_flip(flip) for flip in comparison.rose])
    return "\n".join(lines)


def table_text(base: Report, others: Mapping[str, Report], comparisons: Sequence[Comparison]) -> str:
    """Every report as a row of means over all questions; what differs from the first one by more than noise is bold."""
    names = [measure.name for measure in MEASURES if measure.name in base.overall.measures]
    looks = sum(len(comparison.changes) for comparison in comparisons)
    sure = {(c.name, change.measure) for c in comparisons for change in c.changes if change.corrected < 0.05}
    applies = [f"{name} ({base.overall.measures[name].n})" for name in names]
    lines = [
        f"# {base.set.name}: {base.overall.n} questions, {base.system.papers} papers",
        "",
        f"Commit {base.commit}, set {base.set.digest}, embedder {base.system.embedder}. Bold: differs from "
        f"{base.system.method}, p < .05 by a paired randomisation test, corrected for {looks} looks (Holm).",
        "",
        _row(["system", *applies]),
        _row(["---", *["--:"] * len(names)]),
    ]
    for label, report in {base.system.method: base, **others}.items():
        cells = []
        for name in names:
            found = report.overall.measures.get(name)
            mark = "**" if (label, name) in sure else ""
            cells.append(f"{mark}{found.mean:.3f}{mark}" if found else "-")
        lines.append(_row([label, *cells]))
    return "\n".join([*lines, ""])


def _flip(flip: Flip) -> str:
    scores = ", ".join(f"{name} {a:.3g} -> {b:.3g}" for name, (a, b) in (*flip.worse.items(), *flip.better.items()))
    ranks = f"gold ranks {_ranks(flip.ranks[0])} -> {_ranks(flip.ranks[1])}"
    status = f"; {flip.status[0]} -> {flip.status[1]}" if flip.status[0] != flip.status[1] else ""
    return f"**{flip.id}** {flip.category} {_code(flip.question)}: {scores}; {ranks}{status}"


def _ranks(ranks: tuple[int, ...]) -> str:
    return ", ".join(map(str, ranks[:5])) + (" ..." if len(ranks) > 5 else "") if ranks else "none"


def _plain(text: str) -> str:
    return " ".join(text.split())


def _head(report: Report) -> list[str]:
    system = report.system
    made_with = f"embedder {system.embedder}; writer {', '.join(system.writers) or 'none'}"
    return [
        f"# {report.set.name}: {report.overall.n} questions, {system.method}",
        "",
        f"Commit {report.commit}. Set {report.set.digest}; {system.papers} papers, index {report.corpus}; {made_with}.",
        "",
    ]


def _table(report: Report) -> list[str]:
    names = [measure.name for measure in MEASURES if measure.name in report.overall.measures]
    categories = dict.fromkeys(question.category for question in report.questions)
    return [
        "## Means",
        "",
        _row(["category", "n", *names]),
        _row(["---", *["--:"] * (len(names) + 1)]),
        *(_row(_cells(name, report.categories[name], names)) for name in categories),
        _row(_cells("**all**", report.overall, names)),
        _row(_intervals(report.overall, names)),
        "",
        "(n) where a measure applies to fewer questions than the row has; - where it applies to none. Intervals by",
        "bootstrap; those of the categories stand in the JSON and on the HTML page.",
        "",
    ]


def _cells(title: str, group: Group, names: Sequence[str]) -> Iterator[str]:
    yield from (title, str(group.n))
    for name in names:
        found = group.measures.get(name)
        fewer = f" ({found.n})" if found and found.n != group.n else ""
        yield f"{found.mean:.3f}{fewer}" if found else "-"


def _intervals(group: Group, names: Sequence[str]) -> Iterator[str]:
    yield from ("95 % interval", "")
    yield from (f"{group.measures[name].low:.2f} to {group.measures[name].high:.2f}" for name in names)


def _abstention(report: Report) -> list[str]:
    found = report.abstention
    if found.precision is None:
        return []
    off_topic = "-" if found.off_topic_refused is None else f"{found.off_topic_refused:.3f}"
    return [
        "## Abstention",
        "",
        f"Precision {found.precision:.3f}, recall {found.recall:.3f}, F1 {found.f1:.3f}; "
        f"off-topic refused {off_topic}.",
        f"Answerable and refused: {', '.join(found.answerable_refused) or 'none'}.",
        f"Unanswerable and not declined: {', '.join(found.unanswerable_not_declined) or 'none'}.",
        "",
    ]


def _miss(question: Question) -> Iterator[str]:
    """One line for a question that lost points, each distinct reason once."""
    reasons: dict[str, list[str]] = {}
    for name, score in question.misses.items():
        reasons.setdefault(score.reason, []).append(f"{name} {score.value:.3g}")
    if reasons and question.status != "failed":
        what = "; ".join(f"{', '.join(names)}: {_code(reason)}" for reason, names in reasons.items())
        yield f"{_name(question)} {_code(question.question)}: {what}"


def _latency(report: Report) -> list[str]:
    rows = [_row([stage, f"{p.p50:.1f}", f"{p.p95:.1f}"]) for stage, p in report.latency_ms.items()]
    return ["## Latency, ms", "", _row(["stage", "p50", "p95"]), _row(["---", "--:", "--:"]), *rows, ""] if rows else []


def _definitions(report: Report) -> list[str]:
    used = [measure for measure in MEASURES if measure.name in report.overall.measures]
    return ["## Measures", "", *(f"- **{m.name}**: {m.definition} ({m.source})" for m in used), ""]


def _listed(title: str, lines: Sequence[str]) -> list[str]:
    return [f"## {title} ({len(lines)})", "", *(f"- {line}" for line in lines), ""] if lines else []


def _name(question: Question) -> str:
    return f"**{question.id}** {question.category}"


def _row(cells: Sequence[str] | Iterator[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _code(text: str) -> str:
    return "`" + " ".join(text.replace("`", "'").split()) + "`"
