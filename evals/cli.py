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
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.process import settle

if TYPE_CHECKING:
    from evals.dataset import Dataset
    from evals.report import Report

cli = typer.Typer(
    help="Score paperchat's answers on a set of questions.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Set = Annotated[str, typer.Argument(metavar="SET", help="A file of cases, or a set in evals/sets.", show_default=True)]


@cli.command()
def run(
    set_name: Set = "seeds",
    json_file: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the report as JSON.")] = None,
    markdown_file: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="Write what is printed to a file, too.")
    ] = None,
    category: Annotated[str, typer.Option(metavar="C", help="Ask the questions of this category only.")] = "",
) -> None:
    """Ask every question of SET, print the report as Markdown."""
    with _one_line():
        from evals.dataset import load
        from evals.markdown import markdown

        dataset = load(set_name)
        targets = [path for path in (json_file, markdown_file) if path is not None]
        _demand_writable(targets)
        report = _evaluate(dataset.only(category) if category else dataset)
        text = markdown(report)
        if json_file is not None:
            _write(json_file, report.to_json())
        if markdown_file is not None:
            _write(markdown_file, text)
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
        from evals.review import run_review

        run_review(feedback, None if only_list else output)


def main() -> None:
    """The entry point."""
    settle()
    cli(prog_name="paperchat-evals")


def _evaluate(dataset: Dataset) -> Report:
    from app.settings import read_settings
    from app.whole import open_assistant
    from evals.run import evaluate

    assistant = open_assistant(read_settings())
    try:
        return evaluate(dataset, assistant)
    finally:
        assistant.close()


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
