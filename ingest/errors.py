"""What can go wrong while papers are read, each as one line a person can act on.

In: facts about a failure. Out: exceptions whose text says what was got, what was expected, what to do.
Not known here: the index (its own errors are in vectorstore/errors.py), who catches them.
"""

from pathlib import Path


class IngestError(Exception):
    """Root of everything this room raises on purpose."""


class SourceMissing(IngestError):
    def __init__(self, path: Path) -> None:
        super().__init__(f"{path}: no such file. Name a file of papers (JSON lines, or abstracts as text).")


class SourceUnreadable(IngestError):
    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path}: {why}. Expected JSON lines, or UTF-8 text with abstracts between blank lines.")


class NothingRead(IngestError):
    def __init__(self, what: str, first_reason: str = "") -> None:
        because = f" ({first_reason})" if first_reason else ""
        super().__init__(f"{what}: no paper could be read{because}. The index was left as it was.")


class NothingToRebuild(IngestError):
    def __init__(self, root: Path) -> None:
        super().__init__(f"{root}: nothing to rebuild from. Name the sources: `paperchat ingest --rebuild SOURCE...`.")
