"""The command `paperchat-evals`.

In: arguments. Out: a report on standard output and in files, a baseline; one line and exit code 2 where nothing could
be done.
Nothing heavy is imported before a command needs it, so that `--help` answers at once.
Not known here: what is measured.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.process import settle

if TYPE_CHECKING:
    from evals.dataset import Dataset
    from evals.report import Report
    from evals.system import System

cli = typer.Typer(
    help="Score paperchat's answers on a set of questions.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Set = Annotated[
    str,
    typer.Argument(
        metavar="SET", help="A file of cases, a set in evals/sets, or a folder in BEIR's layout.", show_default=True
    ),
]


@cli.command()
def run(
    set_name: Set = "seeds",
    json_file: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the report as JSON.")] = None,
    markdown_file: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="Write what is printed to a file, too.")
    ] = None,
    html_file: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write the report as one page, with plots.")
    ] = None,
    system: Annotated[str, typer.Option(metavar="S", help="paperchat, bm25, dense, hybrid or recipe.")] = "paperchat",
    category: Annotated[str, typer.Option(metavar="C", help="Ask the questions of this category only.")] = "",
) -> None:
    """Ask every question of SET, print the report as Markdown."""
    with _one_line():
        from evals.dataset import load
        from evals.markdown import markdown

        dataset = load(set_name)
        targets = [path for path in (json_file, markdown_file, html_file) if path is not None]
        _demand_writable(targets)
        report = _evaluate(dataset.only(category) if category else dataset, system)
        text = markdown(report)
        if json_file is not None:
            _write(json_file, report.to_json())
        if markdown_file is not None:
            _write(markdown_file, text)
        if html_file is not None:
            from evals.html import html

            _write(html_file, html(report))
        typer.echo(text)


@cli.command()
def baseline(set_name: Set = "seeds") -> None:
    """Ask every question of SET and keep the figures that later runs are compared with, in evals/baselines."""
    with _one_line():
        from evals.baseline import baseline_of, path_of, to_text
        from evals.dataset import load

        report = _evaluate(load(set_name))
        path = path_of(report.set.name, report.system.embedder)
        _write(path, to_text(baseline_of(report)))
        typer.echo(f"{path}: {report.overall.n} questions, {len(report.categories)} categories")


@cli.command()
def gate(
    set_name: Set = "seeds",
    json_file: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the report as JSON.")] = None,
) -> None:
    """Ask every question of SET; exit 1 where it did worse than the baseline by more than noise."""
    with _one_line():
        from evals.baseline import path_of, read_baseline
        from evals.dataset import load
        from evals.gate import gate as decide
        from evals.gate import read_floors
        from evals.markdown import verdict_text
        from evals.run import evaluate

        dataset = load(set_name)
        floors = read_floors(dataset.name)
        _demand_writable([json_file] if json_file else [])
        with _system(dataset) as system:
            baseline = read_baseline(path_of(dataset.name, system.fingerprint), dataset.name)
            report = evaluate(dataset, system)
        if json_file is not None:
            _write(json_file, report.to_json())
        verdict = decide(report, baseline, floors)
        typer.echo(verdict_text(report, verdict))
        if not verdict.passed:
            raise typer.Exit(1)


@cli.command()
def compare(
    reports: Annotated[list[Path], typer.Argument(metavar="A B ...", help="Reports that `run --json` wrote.")],
    markdown_file: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="Write what is printed to a file, too.")
    ] = None,
    table: Annotated[bool, typer.Option("--table", help="Only a row of means for each report.")] = False,
) -> None:
    """What changed from report A to B (and to every further one): by measure, with p-values, and by question."""
    with _one_line():
        from evals.compare import compare as compared
        from evals.markdown import comparison_text, table_text
        from evals.report import read_report

        if len(reports) < 2:
            raise typer.BadParameter("name at least two reports", param_hint="A B")
        base, *others = [read_report(path) for path in reports]
        named = dict(zip(_names(reports[1:], others), others, strict=True))
        found = compared(base, named)
        text = table_text(base, named, found) if table else comparison_text(base, found)
        if markdown_file is not None:
            _write(markdown_file, text)
        typer.echo(text)


@cli.command()
def systems(
    set_name: Set = "seeds",
    system: Annotated[
        list[str] | None, typer.Option(metavar="S", help="One to compare, the first being compared with; else all.")
    ] = None,
    reports: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write each report there as SET-SYSTEM.json.")
    ] = None,
) -> None:
    """Put SET to several systems and print a row for each: the product, its legs, the recipe of most tutorials."""
    with _one_line():
        from evals.compare import compare as compared
        from evals.dataset import load
        from evals.markdown import table_text
        from evals.systems import SYSTEMS, demand_known

        demand_known(system or ())
        dataset = load(set_name)
        if reports is not None:
            _demand_writable([reports / "x"] if reports.exists() else [reports])
        found: dict[str, Report] = {}
        for name in system or SYSTEMS:
            typer.echo(f"asking {name} ...", err=True)
            found[name] = _evaluate(dataset, name)
            if reports is not None:
                _write(reports / f"{dataset.name}-{name}.json", found[name].to_json())
        first, *rest = found
        others = {name: found[name] for name in rest}
        typer.echo(table_text(found[first], others, compared(found[first], others)))


@cli.command()
def bench(
    parts: Annotated[list[str] | None, typer.Argument(metavar="PART", help="embedding, precision, ...")] = None,
    data: Annotated[Path, typer.Option(help="The folder of the data to measure with.")] = Path("data"),
    work: Annotated[Path, typer.Option(help="Where indexes and results are kept.")] = Path(".bench"),
    output: Annotated[Path, typer.Option(help="The page to write.")] = Path("docs/bench.md"),
) -> None:
    """Measure speed, size and precision (all parts: about an hour), and write the page of measurements."""
    with _one_line():
        from evals.bench.markdown import to_markdown
        from evals.bench.run import PARTS, measure, measured
        from evals.errors import NoSuchPart

        _demand_writable([output])
        if unknown := [part for part in parts or () if part not in PARTS]:
            raise NoSuchPart(unknown[0], list(PARTS))
        for part in parts or PARTS:
            typer.echo(f"measuring {part} ...", err=True)
            measure(part, data, work)
            _write(output, to_markdown(measured(work)))
        typer.echo(str(output))


@cli.command()
def review(
    feedback: Annotated[Path, typer.Argument(metavar="FEEDBACK_FILE", help="What people said of answers.")],
    output: Annotated[Path, typer.Option(help="The file of cases to append to.")] = Path("cases.jsonl"),
    only_list: Annotated[bool, typer.Option("--list", help="Show what there is, ask nothing.")] = False,
) -> None:
    """Go through what people said of answers, one by one, and make cases of what is worth keeping."""
    with _one_line():
        from evals.review.run import run_review

        run_review(feedback, None if only_list else output)


def main() -> None:
    """The entry point."""
    settle()
    cli(prog_name="paperchat-evals")


def _evaluate(dataset: Dataset, method: str = "paperchat") -> Report:
    from evals.run import evaluate

    with _system(dataset, method) as system:
        return evaluate(dataset, system, method)


@contextmanager
def _system(dataset: Dataset, method: str = "paperchat") -> Iterator[System]:
    """The system called `method`, over the papers of the set."""
    from app.settings import read_settings
    from app.show import TerminalProgress
    from evals.corpora import settings_for
    from evals.systems import open_system

    with TerminalProgress() as progress:
        settings = settings_for(dataset, read_settings(), progress)
    with closing(open_system(method, settings)) as system:
        yield system


def _names(paths: list[Path], reports: list[Report]) -> list[str]:
    """What reports are called: their systems where these differ, else their files."""
    methods = [report.system.method for report in reports]
    return methods if len(set(methods)) == len(methods) > 1 else [str(path) for path in paths]


def _demand_writable(paths: list[Path]) -> None:
    """Before minutes of work, not after."""
    from evals.errors import FileUnwritable

    for path in paths:
        if path.is_dir():
            raise FileUnwritable(path, "it is a folder")
        if not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
            raise FileUnwritable(path, "no such folder, or no right to write there")


def _write(path: Path, text: str) -> None:
    from evals.errors import FileUnwritable

    try:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileUnwritable(path, error.strerror or "unknown reason") from error


@contextmanager
def _one_line() -> Iterator[None]:
    """Every error that is raised on purpose becomes one line and exit code 2; Ctrl-C is 130."""
    from app.errors import AppError
    from evals.errors import EvalsError
    from ingest.errors import IngestError
    from vectorstore.errors import VectorstoreError

    try:
        yield
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    except (EvalsError, AppError, IngestError, VectorstoreError) as error:
        print(f"paperchat-evals: {error}", file=sys.stderr)
        raise typer.Exit(2) from None
