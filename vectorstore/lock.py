"""Who may write an index, and which generations are still read: two uses of the operating system's file lock.

In: a path. Out: a lock that ends with the process, however it ends.
Writers contend for `lock`; whoever only wants to know whether somebody writes looks at `writing`, which the writer
holds too. One file for both would turn a writer away because somebody was looking.
Not known here: what is written or read under it. Works on Linux and macOS (flock).
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from vectorstore.errors import IndexLocked, IndexUnwritable


@contextmanager
def writing(root: Path) -> Iterator[None]:
    """Hold the index folder `root` (made if absent) as its one writer.

    Raises IndexLocked at once, naming the holder, when another process writes; IndexUnwritable without rights.
    """
    try:
        root.mkdir(parents=True, exist_ok=True)
        file, shown = (root / "lock").open("a+b", buffering=0), (root / "writing").open("ab", buffering=0)
    except OSError as error:
        raise IndexUnwritable(root, error.strerror or str(error)) from error
    with file, shown:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise IndexLocked(root, file.read().decode().strip() or "another process") from None
        fcntl.flock(shown, fcntl.LOCK_EX)  # waits for those who look just now: an instant
        _sign(file)
        try:
            yield
        finally:
            file.truncate(0)


def being_written(root: Path) -> bool:
    """Whether some process writes the index now."""
    try:
        with (root / "writing").open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def reading(path: Path) -> IO[bytes]:
    """A shared lock on `path`, held until the returned file is closed."""
    file = path.open("rb")
    fcntl.flock(file, fcntl.LOCK_SH)
    return file


def is_read(path: Path) -> bool:
    """Whether somebody holds `path` by `reading`."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _sign(file: IO[bytes]) -> None:
    """Say who writes. On a full disk there is no room for it; a second writer then learns less."""
    file.truncate(0)
    with suppress(OSError):
        file.write(f"process {os.getpid()}".encode())
