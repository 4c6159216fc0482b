"""From the file of what people said of answers to a file of cases.

In: a feedback file; cases that somebody made of it. Out: its items, and its broken lines named; the cases appended,
each with an id that the file does not have, and which items are in it already.
Not known here: who decides what becomes of an item (review.py).
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.feedback import Noted, read_line
from evals.case import Case
from evals.dataset import SETS, load
from evals.errors import FeedbackUnreadable, FileUnwritable, OutputInSets
from vectorstore.lock import reading

_ID = re.compile(r"use-(\d+)")


@dataclass(frozen=True)
class Item:
    """One line of a feedback file; `key` tells it from the others wherever the line is."""

    line: int
    key: str
    noted: Noted


@dataclass(frozen=True)
class Broken:
    """A line that is none, in words, with file and line."""

    complaint: str


def read_items(path: Path) -> Iterator[Item | Broken]:
    """Every line of the feedback file at `path` but blank ones. Raises FeedbackUnreadable."""
    try:
        with reading(path) as file:  # nobody appends meanwhile
            stored = file.read()
    except OSError as error:
        raise FeedbackUnreadable(path, error.strerror or "it cannot be read") from None
    for number, line in enumerate(stored.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            yield Item(number, hashlib.sha256(line).hexdigest()[:8], read_line(line))
        except ValueError as error:
            yield Broken(f"{path}:{number}: {error}")


class Cases:
    """The file of cases at `path`, which need not be there yet; never one of the sets that the evals come with."""

    def __init__(self, path: Path) -> None:
        """Raises OutputInSets, FileUnwritable, SetUnreadable or BadCase."""
        if path.resolve().is_relative_to(SETS.resolve()):
            raise OutputInSets(path)
        if path.is_dir():
            raise FileUnwritable(path, "it is a folder")
        if not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
            raise FileUnwritable(path, "no such folder, or no right to write there")
        self._path = path
        self.known = load(str(path)).cases if path.exists() and path.read_bytes().strip() else ()

    def made_of(self, item: Item) -> str:
        """The id of the case that was made of `item`, "" where none was."""
        return next((case.id for case in self.known if case.note.endswith(f"item {item.key}")), "")

    def next_id(self) -> str:
        numbers = [int(found[1]) for case in self.known if (found := _ID.fullmatch(case.id))]
        return f"use-{max(numbers, default=0) + 1:03}"

    def add(self, case: Case) -> None:
        """Append `case`, on a line of its own. Raises FileUnwritable."""
        line = json.dumps(case.model_dump(mode="json"), ensure_ascii=False) + "\n"
        try:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            with os.fdopen(file, "a+b", buffering=0) as output:
                size = output.seek(0, os.SEEK_END)
                is_cut = size > 0 and os.pread(output.fileno(), 1, size - 1) != b"\n"
                output.write((b"\n" if is_cut else b"") + line.encode())
        except OSError as error:
            raise FileUnwritable(self._path, error.strerror or "unknown reason") from None
        self.known = (*self.known, case)


def note_of(item: Item) -> str:
    """What a case says of where it came from."""
    return f"from use, {item.noted.time}, {item.noted.kind}, item {item.key}"
