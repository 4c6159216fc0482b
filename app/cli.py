"""The command line: `paperchat`.

In: arguments. Out: text or JSON on standard output, one line on standard error when something is wrong.
Exit codes: 0 done, 1 done but a check failed, 2 nothing could be done, 130 interrupted.
Heavy libraries are imported by the commands that need them, so that --help answers at once.
Not known here: how anything is done.
"""

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.process import settle

if TYPE_CHECKING:
    from app.assistant import Assistant

_INTERRUPTED = 130

cli = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Ask questions over the paper abstracts of a conference; every sentence of the answer is cited.",
)


@cli.command()
def ingest(
    sources: Annotated[list[Path] | None, typer.Argument(help="Files of papers.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write what was done to this file, as JSON.")] = None,
    format: Annotated[str | None, typer.Option(help="jsonl or text; else the content decides.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 when a record was skipped.")] = False,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Build the index anew, with the model that the settings ask for.")
    ] = False,
) -> None:
    """Read papers and bring the index up to date."""
    from app.settings import read_settings
    from app.show import TerminalProgress
    from app.whole import chosen_embedder
    from ingest.build import Request
    from ingest.build import ingest as run
    from ingest.readers import READERS

    if format is not None and format not in READERS:
        raise typer.BadParameter(f"got {format}, expected one of {', '.join(READERS)}", param_hint="--format")
    if not sources and not rebuild:
        raise typer.BadParameter("name at least one file of papers", param_hint="SOURCES")
    if report is not None and (report.is_dir() or not report.absolute().parent.is_dir()):
        raise typer.BadParameter(
            f"{report} cannot be written: no such folder, or a folder itself", param_hint="--report"
        )
    settings = read_settings()
    request = Request(tuple(sources or ()), format, rebuild)
    with TerminalProgress() as progress:
        done = run(settings.index_dir, request, chosen_embedder(settings), progress)
    if report is not None:
        report.write_text(json.dumps(done.to_json(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    for number, line in enumerate(done.lines()):
        print(line, file=sys.stderr if number else sys.stdout)
    if strict and done.skipped:
        raise typer.Exit(1)


@cli.command()
def ask(
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole answer as JSON.")] = False,
    history: Annotated[Path | None, typer.Option(help="A JSON array of earlier turns.")] = None,
    k: Annotated[int, typer.Option("-k", min=1, max=1000, help="How many papers to rank.")] = 30,
) -> None:
    """Answer a question from the papers, each sentence cited."""
    from app.errors import EmptyQuestion
    from app.history import read_history
    from app.show import answer_text

    if not question.strip():
        raise EmptyQuestion
    turns = read_history(history) if history is not None else []
    answer = _assistant().ask(question, turns, k=k)
    print(answer.model_dump_json(indent=1) if as_json else answer_text(answer))


@cli.command()
def papers(as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False) -> None:
    """List the papers of the index."""
    from app.answer import paper_json
    from app.show import reference

    try:
        for paper in _assistant().papers():
            print(json.dumps(paper_json(paper), ensure_ascii=False) if as_json else f"{paper.id}  {reference(paper)}")
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@cli.command()
def show(id: Annotated[str, typer.Argument(metavar="ID", help="A paper's id, alias or address.")]) -> None:
    """Show one paper."""
    from app.errors import UnknownPaper
    from app.show import paper_text

    paper = _assistant().paper(id)
    if paper is None:
        raise UnknownPaper(id)
    print(paper_text(paper))


@cli.command()
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 7860,
) -> None:
    """Serve the page and the REST interface."""
    from app.serve import serve as run
    from app.settings import read_settings

    run(read_settings(), host, port)


@cli.command()
def doctor() -> None:
    """Check the installation and the index."""
    from app.doctor import examine
    from app.settings import read_settings

    findings = examine(read_settings())
    for finding in findings:
        print(f"{'ok     ' if finding.ok else 'PROBLEM'}  {finding.text}")
    if not all(finding.ok for finding in findings):
        raise typer.Exit(1)


def main() -> None:
    """The console script: runs a command, turns what is raised on purpose into one line and an exit code."""
    settle()
    sys.exit(run_command(sys.argv[1:] or ["--help"]))


def run_command(arguments: list[str]) -> int:
    """Run `arguments` and return the exit code."""
    try:
        code = int(cli(arguments, standalone_mode=False) or 0)
    except (typer.Abort, KeyboardInterrupt):
        code = _INTERRUPTED
    except typer.Exit as error:
        code = error.exit_code
    except Exception as error:
        # What typer raises for wrong arguments has this method; typer does not export the class.
        if callable(message := getattr(error, "format_message", None)):
            return _say(f"{message().rstrip('.')}. See `paperchat --help`.", 2)
        if not isinstance(error, _expected()):
            raise
        return _say(str(error), 2)
    return _say("interrupted; nothing that was finished is lost.", code) if code == _INTERRUPTED else code


def _expected() -> tuple[type[Exception], ...]:
    from app.errors import AppError
    from ingest.errors import IngestError
    from vectorstore.errors import VectorstoreError

    return (AppError, IngestError, VectorstoreError)


def _say(message: str, code: int) -> int:
    if message:
        print(f"paperchat: {message}", file=sys.stderr)
    return code


def _assistant() -> "Assistant":
    from app.settings import read_settings  # first: it keeps the libraries off the network

    settings = read_settings()
    from app.show import TerminalProgress
    from app.whole import open_assistant

    def tell(line: str) -> None:
        print(f"paperchat: {line} ...", file=sys.stderr, flush=True)

    if not sys.stderr.isatty():  # one line is enough where nobody watches
        return open_assistant(settings, tell)
    with TerminalProgress() as progress:
        return open_assistant(settings, tell, progress)
