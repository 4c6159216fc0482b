"""A disk that is full or may not be written: one line, the old corpus, and nothing to repair.

A real file system of a few megabytes where this user may mount one (root); skipped with that word elsewhere.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

Mount = Callable[[int], Path]
INDEX_MB = 8  # roughly what an index of the sample takes, Chroma's database and a second generation included


@pytest.fixture
def mount(tmp_path: Path) -> Iterator[Mount]:
    """Makes a file system of so many kilobytes."""
    mounted: list[Path] = []

    def make(kilobytes: int) -> Path:
        place = tmp_path / f"disk-{len(mounted)}"
        place.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(place)]
        if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("this user may not mount a file system")
        mounted.append(place)
        return place

    yield make
    for place in mounted:
        subprocess.run(["umount", "-l", str(place)], check=True)


def paperchat(index: Path, *arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    """The command in a process of its own: whatever a library does there, it must not die by a signal."""
    code = "from app.cli import main; main()"
    environment = {**os.environ, "PAPERCHAT_INDEX_DIR": str(index), "PAPERCHAT_EMBEDDER": "hashing"}
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode >= 0, f"killed by signal {-done.returncode}"
    assert "Traceback" not in done.stderr
    return done


def complaint(done: "subprocess.CompletedProcess[str]") -> str:
    lines = [line for line in done.stderr.splitlines() if line.startswith("paperchat: ")]
    assert len(lines) == 1, done.stderr
    return lines[0]


def fill(place: Path, left: int) -> Path:
    """Write a file that leaves so many kilobytes."""
    free = os.statvfs(place)
    file = place / "ballast"
    file.write_bytes(b"x" * max(0, free.f_bavail * free.f_frsize - left * 1024))
    return file


@pytest.mark.parametrize(
    "left", [0, 8, 400, *(pytest.param(n, marks=pytest.mark.faults) for n in (64, 200, 800, 1600, 2400))]
)
def test_a_full_disk_is_one_line_and_the_old_corpus_and_goes_on_when_there_is_room(
    mount: Mount, pristine_index: Path, sample: Path, tmp_path: Path, left: int
) -> None:
    """With so little left that the cache, the catalogue, Chroma or the records hit the end."""
    disk = mount(40_000)
    index = Path(shutil.copytree(pristine_index, disk / "index"))
    more = tmp_path / "more.jsonl"
    row = {"title": "Quokka", "abstract": "Quokkas smile in the sun."}
    rows = [json.dumps({**row, "id": f"new-{n}", "title": f"Quokka {n}"}) for n in range(9)]
    more.write_text("\n".join(rows))
    ballast = fill(disk, left)
    done = paperchat(index, "ingest", more)
    if done.returncode == 0:  # there was room enough, after all
        assert left >= 400
    else:
        assert done.returncode == 2
        assert "cannot write" in complaint(done)
        assert len(paperchat(index, "papers").stdout.splitlines()) == 37
        assert "0.8559" in paperchat(index, "ask", "What certified lower bound on the Steiner ratio was found?").stdout
    ballast.unlink()
    assert "46 papers in the index" in paperchat(index, "ingest", more).stdout
    assert not list(index.glob("tmp-*"))


def test_a_first_ingest_on_a_full_disk_leaves_no_half_index(mount: Mount, sample: Path) -> None:
    disk = mount(900)
    done = paperchat(disk / "index", "ingest", sample)
    assert done.returncode == 2
    assert "cannot write" in complaint(done)
    assert "no index in" in complaint(paperchat(disk / "index", "ask", "What is TokenDrop?"))


def test_a_folder_that_is_read_only_can_be_asked_and_not_changed(
    mount: Mount, pristine_index: Path, sample: Path, tmp_path: Path
) -> None:
    disk = mount(40_000)
    index = Path(shutil.copytree(pristine_index, disk / "index"))
    before = paperchat(index, "papers").stdout
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    try:
        done = paperchat(index, "ingest", sample)
        assert done.returncode == 2
        assert "cannot write" in complaint(done)
        shown = paperchat(index, "papers")
        assert (shown.returncode, shown.stdout) == (0, before)
        assert paperchat(index, "ask", "What is TokenDrop?").returncode == 0
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)


def test_a_damaged_index_on_a_read_only_disk_is_one_line_with_both_reasons(mount: Mount, pristine_index: Path) -> None:
    disk = mount(40_000)
    index = Path(shutil.copytree(pristine_index, disk / "index"))
    next(index.glob("gen-*/passages.npy")).unlink()
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    try:
        done = paperchat(index, "ask", "What is TokenDrop?")
        assert done.returncode == 2
        assert "passages.npy" in done.stderr
        assert "cannot write" in done.stderr
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)


SPOILT = {
    "cut": lambda content: content[: len(content) // 2],
    "zeros": lambda content: bytes(len(content)),
    "shifted": lambda content: content[1:] + content[:1],
    "garbage in the middle": lambda c: c[: len(c) // 3] + b"\xa5" * (len(c) // 3) + c[len(c) // 3 * 2 :],
}


# One way with the other tests, all of them with `make faults`.
HOWS = [how if how == "shifted" else pytest.param(how, marks=pytest.mark.faults) for how in SPOILT]


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("part", ["chroma", "lexical", "papers.sqlite3", "passages.npy", "manifest.json"])
def test_spoilt_files_end_no_process_and_the_next_command_answers(index: Path, part: str, how: str) -> None:
    """All files of the part at once; sizes as they were, but for the first way."""
    spoil(next(index.glob("gen-*")) / part, how)
    done = paperchat(index, "ask", "What certified lower bound on the Steiner ratio was found?")
    assert done.returncode == 0
    assert "0.8559" in done.stdout
    assert len(done.stderr.splitlines()) <= 1


def spoil(path: Path, how: str) -> None:
    for file in path.rglob("*") if path.is_dir() else (path,):
        if file.is_file():
            file.write_bytes(SPOILT[how](file.read_bytes()))


@pytest.mark.faults
@pytest.mark.parametrize("how", list(SPOILT))
@pytest.mark.parametrize("part", ["chroma", "lexical", "papers.sqlite3", "passages.npy"])
def test_spoilt_files_of_a_large_index_end_no_process(tmp_path: Path, part: str, how: str, large_index: Path) -> None:
    """From 1,000 vectors on Chroma reads its graph from files of its own."""
    index = Path(shutil.copytree(large_index, tmp_path / "index"))
    spoil(next(index.glob("gen-*")) / part, how)
    done = paperchat(index, "ask", "What certified lower bound on the Steiner ratio was found?")
    assert (done.returncode, "0.8559" in done.stdout) == (0, True)


@pytest.mark.parametrize("how", HOWS)
def test_a_spoilt_cache_costs_time_and_nothing_else(index: Path, tmp_path: Path, how: str) -> None:
    spoil(index / "embeddings.sqlite3", how)
    more = tmp_path / "more.jsonl"
    more.write_text('{"id": "new", "title": "Quokka", "abstract": "Quokkas smile in the sun."}')
    done = paperchat(index, "ingest", more)
    assert (done.returncode, "38 papers in the index" in done.stdout) == (0, True)
    assert "0.8559" in paperchat(index, "ask", "What certified lower bound on the Steiner ratio was found?").stdout
