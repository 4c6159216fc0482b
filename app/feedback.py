"""What people said of answers, kept as lines of one local file.

In: an answer and what was said of it; the path that the owner of the server set. Out: one JSON line for each, appended
whole, whoever else appends; an error in words where that can't be done. A line read back.
Only what was asked, answered and said is kept: nothing of the person, the browser or the network. The file is its
owner's alone (mode 0600), and bounded.
Not known here: HTTP, the page, what becomes of the lines (evals/review/).
"""

import errno
import fcntl
import json
import logging
import os
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from app.answer import Answer, Quote, Record, Turn
from app.errors import FeedbackUnusable, NotNoted

Kind = Literal["unhelpful", "wrong_paper"]

LARGEST = 50_000_000  # bytes of the file; then no more is taken
TURNS = 10  # of the conversation before the question that are kept, the last ones
_PATIENCE = 5.0  # seconds for somebody else who appends just now
_WIDER = 0o077  # rights of others

_log = logging.getLogger("paperchat")


class Noted(Record):
    """One line. `quotes` are what was shown, `cited` the ids, `model` is what the papers were embedded with."""

    time: str
    kind: Kind
    question: str
    history: tuple[Turn, ...] = ()
    standalone_question: str
    status: Literal["answered", "refused"]
    route: str
    cited: tuple[str, ...] = ()
    quotes: tuple[Quote, ...] = ()
    text: str
    corpus: str
    model: str
    comment: str = ""


def note(
    kind: Kind, answer: Answer, history: Sequence[Turn], model: str, comment: str = "", now: datetime | None = None
) -> Noted:
    """What is kept of `answer`, of which somebody said `kind`."""
    shown = [quote for sentence in answer.sentences for quote in sentence.evidence]
    for row in answer.table.rows if answer.table else ():
        shown += [quote for cell in row.cells if cell for quote in cell.evidence]
    return Noted(
        time=(now or datetime.now(UTC)).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        kind=kind,
        question=answer.question,
        history=tuple(history[-TURNS:]),
        standalone_question=answer.standalone_question,
        status=answer.status,
        route=answer.route,
        cited=tuple(paper.id for paper in answer.papers),
        quotes=tuple(shown),
        text=answer.text,
        corpus=answer.corpus,
        model=model,
        comment=comment,
    )


def to_line(noted: Noted) -> bytes:
    """One line of ASCII: no character of a text can end it, and half an emoji survives."""
    return json.dumps(noted.model_dump(mode="python", exclude=None if noted.history else {"history"})).encode() + b"\n"


def read_line(line: bytes) -> Noted:
    """What `to_line` made a line of. Raises ValueError, which says in one line why it is none."""
    try:
        return Noted.model_validate(json.loads(line))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ValueError(f"{where}: {first['msg']}" if where else first["msg"]) from None
    except (ValueError, RecursionError):
        raise ValueError("it is no JSON") from None


class FeedbackFile:
    """The file at `path`, to append to. It may be moved away at any time: the next line starts a new one."""

    def __init__(self, path: Path, largest: int = LARGEST) -> None:
        """Makes the file where there is none. Raises FeedbackUnusable."""
        self._path = path.absolute()
        self._largest = largest
        self._told = ""
        with _opened(self._path):
            pass

    def append(self, noted: Noted) -> None:
        """Append one line, or nothing. Raises NotNoted, whose text tells no path; the log does."""
        try:
            with _opened(self._path) as file:
                _lock(file)
                _append(file, to_line(noted), self._largest)
            self._told = ""
        except FeedbackUnusable as error:
            self._tell(str(error))
            raise NotNoted("the file for it cannot be used; the server's log tells more") from None
        except _NoMore as error:
            self._tell(f"feedback file {self._path}: {error}. Move it away; the next line starts a new one.")
            raise NotNoted(str(error)) from None
        except OSError as error:
            why = (error.strerror or "unknown reason").lower()
            self._tell(f"feedback file {self._path}: {why}.")
            raise NotNoted(why) from None

    def _tell(self, line: str) -> None:
        if line != self._told:  # once, however many presses
            _log.error("%s", line)
        self._told = line


def examine_feedback(path: Path) -> int:
    """How many bytes the feedback file has, 0 where it is still to be made. Raises FeedbackUnusable."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        folder = path.absolute().parent
        if not os.access(folder, os.W_OK | os.X_OK):
            raise FeedbackUnusable(path, f"{folder} is no folder that can be written to") from None
        return 0
    except OSError as error:
        raise FeedbackUnusable(path, error.strerror or str(error)) from None
    _demand_own(path, found)
    if not os.access(path, os.R_OK | os.W_OK):
        raise FeedbackUnusable(path, "it cannot be written to")
    return found.st_size


class _NoMore(Exception):
    """The file is as large as it may be, or somebody else holds it."""


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    """The file, made if there is none. Raises FeedbackUnusable."""
    try:
        file = _open(path)
    except OSError as error:
        why = "it is a link" if error.errno == errno.ELOOP else error.strerror or str(error)
        raise FeedbackUnusable(path, why) from None
    try:
        _demand_own(path, os.fstat(file))
        yield file
    finally:
        os.close(file)


def _open(path: Path) -> int:
    flags = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    while True:
        try:
            file = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            try:
                return os.open(path, flags)
            except FileNotFoundError:
                continue  # moved away between the two
        os.fchmod(file, 0o600)  # whatever the umask is
        return file


def _demand_own(path: Path, found: os.stat_result) -> None:
    """That the file is an ordinary one and nobody else's to read. One with wider rights is refused, not narrowed: it
    may be a file that was never meant for this."""
    if stat.S_ISLNK(found.st_mode):
        raise FeedbackUnusable(path, "it is a link")
    if not stat.S_ISREG(found.st_mode):
        raise FeedbackUnusable(path, "it is no ordinary file")
    if found.st_mode & _WIDER:
        mode = stat.S_IMODE(found.st_mode)
        raise FeedbackUnusable(path, f"others have rights to it (mode {mode:04o}). Run `chmod 600 {path}`")


def _lock(file: int) -> None:
    """Hold the file against other threads and processes, until it is closed."""
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > end:
                raise _NoMore("another process holds the file for it") from None
            time.sleep(0.01)


def _append(file: int, line: bytes, largest: int) -> None:
    """Add `line` in one write; what a full disk took only a part of is taken back."""
    size = os.fstat(file).st_size
    if size and os.pread(file, 1, size - 1) != b"\n":
        line = b"\n" + line  # behind a line that was cut off, so that only that one is lost
    if size + len(line) > largest:
        raise _NoMore(f"the file for it is full ({largest / 1e6:g} MB)")
    written = os.write(file, line)
    if written < len(line):
        os.ftruncate(file, size)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
