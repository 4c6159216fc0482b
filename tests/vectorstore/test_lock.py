"""One writer, whatever becomes of it."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from vectorstore.errors import IndexLocked, IndexUnwritable
from vectorstore.lock import being_written, is_read, reading, writing

HOLDER = """
import sys
from pathlib import Path
from vectorstore.lock import reading, writing
if sys.argv[1] == "write":
    with writing(Path(sys.argv[2])):
        print("held", flush=True)
        sys.stdin.read()
else:
    held = reading(Path(sys.argv[2]))
    print("held", flush=True)
    sys.stdin.read()
"""
Hold = Callable[[str, Path], "subprocess.Popen[str]"]


@pytest.fixture
def hold() -> Iterator[Hold]:
    """Starts a process that holds a path for writing or reading until its input is closed or it is killed."""
    started: list[subprocess.Popen[str]] = []

    def start(how: str, path: Path) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, how, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_a_second_writer_fails_at_once_and_is_told_who_writes(tmp_path: Path, hold: Hold) -> None:
    holder = hold("write", tmp_path)
    with pytest.raises(IndexLocked, match=rf"is being written by process {holder.pid}\."), writing(tmp_path):
        pytest.fail("two writers")
    assert being_written(tmp_path)
    holder.communicate()
    with writing(tmp_path):
        pass
    assert not being_written(tmp_path)


def test_the_lock_of_a_killed_writer_is_free(tmp_path: Path, hold: Hold) -> None:
    holder = hold("write", tmp_path)
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert not being_written(tmp_path)
    with writing(tmp_path):
        assert (tmp_path / "lock").read_text() == f"process {os.getpid()}"


def test_two_writers_of_one_process_exclude_each_other(tmp_path: Path) -> None:
    with writing(tmp_path), pytest.raises(IndexLocked, match=f"process {os.getpid()}"), writing(tmp_path):
        pytest.fail("two writers")


def test_a_writer_that_fails_lets_go(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), writing(tmp_path):
        raise ZeroDivisionError
    assert not being_written(tmp_path)
    assert (tmp_path / "lock").read_text() == ""
    with writing(tmp_path):
        assert being_written(tmp_path)


def test_an_absent_folder_is_made_for_a_writer_and_not_by_a_look(tmp_path: Path) -> None:
    assert not being_written(tmp_path / "a")
    assert not (tmp_path / "a").exists()
    with writing(tmp_path / "a" / "b"):
        assert (tmp_path / "a" / "b").is_dir()


def test_looking_whether_somebody_writes_stops_nobody(tmp_path: Path) -> None:
    with writing(tmp_path):
        assert being_written(tmp_path)
        assert being_written(tmp_path)
    with writing(tmp_path):
        pass


def test_a_writer_that_starts_while_somebody_looks_is_not_refused(tmp_path: Path) -> None:
    """A server that waits for its first index looks all the time, and each health request does."""
    with writing(tmp_path):
        pass
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            being_written(tmp_path)

    looking = threading.Thread(target=look)
    looking.start()
    try:
        for _ in range(3000):
            with writing(tmp_path):
                pass
    finally:
        done.set()
        looking.join()


def test_an_index_that_is_a_file_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "index").write_text("x")
    with pytest.raises(IndexUnwritable, match="PAPERCHAT_INDEX_DIR"), writing(tmp_path / "index"):
        pytest.fail("written into a file")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_without_rights_the_index_is_unwritable(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(IndexUnwritable, match="Permission denied"), writing(tmp_path / "index"):
        pytest.fail("written without rights")
    tmp_path.chmod(0o700)


def test_what_another_process_reads_is_read_until_it_is_gone(tmp_path: Path, hold: Hold) -> None:
    file = tmp_path / "manifest.json"
    file.write_text("{}")
    assert not is_read(file)
    holder = hold("read", file)
    assert is_read(file)
    with reading(file):
        pass
    assert is_read(file)
    holder.kill()
    holder.wait()
    assert not is_read(file)


def test_what_does_not_exist_is_not_read(tmp_path: Path) -> None:
    assert not is_read(tmp_path / "manifest.json")
