"""Answers, papers and progress as text in a terminal.

In: records. Out: lines. Not known here: how they were made, where they are printed.
"""

import sys
import time

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

from app.answer import Answer, PaperCard
from vectorstore.paper import Paper

_AUTHORS = 4  # named before "et al."
_EVERY = 5.0  # seconds between two lines of progress where no terminal redraws one


def answer_text(answer: Answer) -> str:
    """An answer with the papers it cites, or a refusal with the nearest ones."""
    lines = [answer.text, ""]
    lines += [f"[{paper.number}] {reference(paper)}" for paper in answer.papers]
    if answer.nearest:
        lines += ["Nearest papers:", *(f"  - {reference(paper)}" for paper in answer.nearest)]
    return "\n".join(lines).rstrip()


def reference(paper: PaperCard | Paper) -> str:
    """One line that says which paper it is."""
    authors = ", ".join(paper.authors[:_AUTHORS]) + (" et al" if len(paper.authors) > _AUTHORS else "")
    place = " ".join(str(part) for part in (paper.venue, paper.year) if part)
    return ". ".join(part for part in (paper.label, authors, place, paper.url or f"id {paper.id}") if part)


def paper_text(paper: Paper) -> str:
    """One paper, whole."""
    facts = {
        "id": paper.id,
        "authors": ", ".join(paper.authors),
        "venue": " ".join(str(part) for part in (paper.venue, paper.year) if part),
        "decision": paper.decision,
        "topic": paper.topic,
        "url": paper.url,
        "sources": ", ".join(paper.sources),
    }
    lines = [paper.label, *(f"{name}: {value}" for name, value in facts.items() if value)]
    return "\n".join([*lines, "", paper.abstract or "(no abstract)"])


class TerminalProgress:
    """Shows stages of an ingest on standard error: a bar in a terminal, now and then a line elsewhere."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task("", total=None, rate="")
        self._stage, self._since, self._shown = "", 0.0, 0.0

    def __enter__(self) -> "TerminalProgress":
        if self._live:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._bar.stop()

    def __call__(self, stage: str, done: int = 0, total: int = 0) -> None:
        now = time.monotonic()
        fresh = stage != self._stage
        if fresh:
            self._stage, self._since, self._shown = stage, now, 0.0
        rate = done / (now - self._since) if done and now > self._since else 0.0
        speed = f"{rate:.1f}/s" if rate else ""
        if self._live:
            self._bar.update(self._task, description=stage, completed=done, total=total or None, rate=speed)
        elif fresh or (total and (done == total or now - self._shown > _EVERY)):
            self._shown = now
            left = f", about {(total - done) / rate:.0f} s left" if rate and done < total else ""
            print(f"{stage} {done}/{total} {speed}{left}".rstrip() if total else f"{stage} ...", file=sys.stderr)
            sys.stderr.flush()
