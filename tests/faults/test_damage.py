"""What was removed, spoilt, filled up or written by another version is mended by the next command, or is one line.

Every command is a process of its own: none may end by a signal, with a traceback or with a page of complaints.
"""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from vectorstore.generation import current_folder

COMMANDS = Path(__file__).with_name("commands.py")
QUESTION = "What certified lower bound on the Steiner ratio was found?"
ANSWER = "0.8559"

Damage = Callable[[Path], object]


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def complaints(self) -> list[str]:
        return [line for line in self.err.splitlines() if line.startswith("paperchat: ")]


class Commands:
    """Runs commands, and sees that none ends in a way that no command may."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(COMMANDS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __call__(self, index: Path, *arguments: str | Path, room: int | None = None) -> Done:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        job = {"index": str(index), "arguments": list(map(str, arguments)), "room": room}
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        done = Done(**json.loads(self._process.stdout.readline()))
        assert done.code >= 0, f"ended by signal {-done.code}: {done.err}"
        assert "Traceback" not in done.err, done.err
        assert "panicked" not in done.err, done.err
        assert done.code in (0, 2), done
        assert len(done.complaints) <= 1, done.err
        return done

    def close(self) -> None:
        self._process.communicate()


@pytest.fixture(scope="module")
def paperchat() -> Iterator[Commands]:
    commands = Commands()
    yield commands
    commands.close()


@pytest.fixture
def more(tmp_path: Path) -> Path:
    """A source of one more paper."""
    path = tmp_path / "more.jsonl"
    path.write_text('{"id": "new", "title": "Quokka", "abstract": "Quokkas smile in the sun."}\n')
    return path


def generation(index: Path) -> Path:
    return current_folder(index)


def chroma_files(index: Path) -> list[Path]:
    return [path for path in (generation(index) / "chroma").rglob("*") if path.is_file()]


def remove(*paths: Path) -> None:
    for path in paths:
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def remove_generation(index: Path) -> None:
    remove(generation(index))


def remove_all_but(index: Path, *patterns: str) -> None:
    kept = {path for pattern in patterns for path in index.glob(pattern)}
    remove(*(path for path in index.iterdir() if path not in kept))


def remove_graph(index: Path) -> None:
    remove(*(path for path in chroma_files(index) if not path.name.startswith("chroma.sqlite3")))


def remove_one_graph_file(index: Path) -> None:
    remove(next(path for path in chroma_files(index) if path.name == "data_level0.bin"))


def change_manifest(index: Path, **values: object) -> None:
    path = generation(index) / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def write_current(index: Path, content: bytes) -> None:
    (index / "CURRENT").write_bytes(content)


def spoil_cache_header(index: Path) -> None:
    path = index / "embeddings.sqlite3"
    path.write_bytes(b"garbage!" * 64 + path.read_bytes()[512:])


def spoil_cache_middle(index: Path) -> None:
    path = index / "embeddings.sqlite3"
    content = path.read_bytes()
    third = len(content) // 3
    path.write_bytes(content[:third] + b"\xa5" * third + content[2 * third :])


def remove_cache(index: Path) -> None:
    remove(*index.glob("embeddings.sqlite3*"))


def spoil_records(index: Path) -> None:
    for path in index.glob("records-*"):
        path.write_bytes(b"garbage" * 99)


def make_older(index: Path) -> None:
    """As the first version wrote it: the catalogue without keys and terms, sizes for digests, no records beside."""
    folder = generation(index)
    database = sqlite3.connect(folder / "papers.sqlite3")
    with database:
        database.execute("ALTER TABLE chunks DROP COLUMN key")
        database.execute("ALTER TABLE papers DROP COLUMN terms")
    database.close()
    remove(*index.glob("records-*"))
    names = json.loads((folder / "manifest.json").read_text())["files"]
    change_manifest(index, format=1, files={name: (folder / name).stat().st_size for name in names})


def both(*damages: Damage) -> Damage:
    return lambda index: [damage(index) for damage in damages]


# The answer comes at once, and nobody is told: what is spoilt is not needed to answer.
UNNOTICED: dict[str, Damage] = {
    "nothing": lambda index: None,
    "records removed": lambda index: remove(*index.glob("records-*")),
    "records garbage": spoil_records,
    "cache removed": remove_cache,
    "cache header garbage": spoil_cache_header,
    "cache middle garbage": spoil_cache_middle,
    "locks removed": lambda index: remove(index / "lock", index / "writing"),
    "leftovers of a build": lambda index: shutil.copytree(generation(index), index / "tmp-0123456789ab"),
}

# One line, then the answer; the next command says nothing any more.
MENDED: dict[str, Damage] = {
    "Chroma folder removed": lambda index: remove(generation(index) / "chroma"),
    "Chroma's database removed": lambda index: remove(generation(index) / "chroma" / "chroma.sqlite3"),
    "Chroma's files removed": lambda index: remove(*chroma_files(index)),
    "Chroma folder is a file": both(
        lambda index: remove(generation(index) / "chroma"),
        lambda index: (generation(index) / "chroma").write_bytes(b"x"),
    ),
    "catalogue removed": lambda index: remove(generation(index) / "papers.sqlite3"),
    "catalogue empty": lambda index: (generation(index) / "papers.sqlite3").write_bytes(b""),
    "terms removed": lambda index: remove(generation(index) / "lexical"),
    "passage vectors removed": lambda index: remove(generation(index) / "passages.npy"),
    "manifest removed": lambda index: remove(generation(index) / "manifest.json"),
    "manifest empty": lambda index: (generation(index) / "manifest.json").write_bytes(b""),
    "manifest a list": lambda index: (generation(index) / "manifest.json").write_text("[]"),
    "manifest of another count": lambda index: change_manifest(index, papers=36),
    "manifest without files": lambda index: change_manifest(index, files=None),
    "CURRENT removed": lambda index: remove(index / "CURRENT"),
    "CURRENT empty": lambda index: write_current(index, b""),
    "CURRENT garbage": lambda index: write_current(index, b"\xff\x00garbage\n" * 99),
    "CURRENT cut": lambda index: write_current(index, (index / "CURRENT").read_bytes()[:9]),
    "CURRENT names what never was": lambda index: write_current(index, b"gen-000000000000\n"),
    "generation removed": remove_generation,
    "generation and cache removed": both(remove_generation, remove_cache),
    "generation removed, cache header garbage": both(remove_generation, spoil_cache_header),
    "generation removed, cache middle garbage": both(remove_generation, spoil_cache_middle),
    "all but records and cache removed": lambda index: remove_all_but(index, "records-*", "embeddings.sqlite3*"),
    "all but records removed": lambda index: remove_all_but(index, "records-*"),
    "records and passage vectors removed": lambda index: remove(
        *index.glob("records-*"), generation(index) / "passages.npy"
    ),
    "records garbage, terms removed": both(spoil_records, lambda index: remove(generation(index) / "lexical")),
    "format older": make_older,
}

# One line, exit code 2: the records themselves are gone.
LOST: dict[str, Damage] = {
    "generation and records removed": both(remove_generation, lambda index: remove(*index.glob("records-*"))),
    "generation removed, records garbage": both(remove_generation, spoil_records),
    "all but the cache removed": lambda index: remove_all_but(index, "embeddings.sqlite3*"),
}


@pytest.mark.parametrize("name", UNNOTICED)
def test_what_is_not_needed_to_answer_is_not_missed(paperchat: Commands, index: Path, more: Path, name: str) -> None:
    UNNOTICED[name](index)
    done = paperchat(index, "ask", QUESTION)
    assert (done.code, ANSWER in done.out, done.err) == (0, True, "")
    assert "38 papers in the index" in paperchat(index, "ingest", more).out
    assert not list(index.glob("tmp-*"))
    assert len(list(index.glob("records-*"))) == 1


@pytest.mark.parametrize("name", MENDED)
def test_what_can_be_built_again_is_one_line_and_the_answer(paperchat: Commands, index: Path, name: str) -> None:
    before = paperchat(index, "papers").out
    MENDED[name](index)
    done = paperchat(index, "ask", QUESTION)
    assert (done.code, ANSWER in done.out) == (0, True), done
    assert len(done.err.splitlines()) == 1, done.err
    assert "Building it again" in done.complaints[0]
    again = paperchat(index, "papers")
    assert (again.out, again.err) == (before, "")
    assert len(list(index.glob("gen-*"))) == len(list(index.glob("records-*"))) == 1


@pytest.mark.parametrize("name", LOST)
def test_what_cannot_be_built_again_is_one_line(paperchat: Commands, index: Path, sample: Path, name: str) -> None:
    LOST[name](index)
    done = paperchat(index, "ask", QUESTION)
    assert (done.code, done.out) == (2, "")
    assert len(done.err.splitlines()) == len(done.complaints) == 1, done.err
    assert "paperchat ingest" in done.complaints[0]  # what to do
    assert "37 papers in the index" in paperchat(index, "ingest", "--rebuild", sample).out
    assert ANSWER in paperchat(index, "ask", QUESTION).out


LARGE = {
    "Chroma folder removed": MENDED["Chroma folder removed"],
    "Chroma's graph removed": remove_graph,
    "a file of Chroma's graph removed": remove_one_graph_file,
    "Chroma's files removed": MENDED["Chroma's files removed"],
}
LARGE_BY_DEFAULT = "Chroma's graph removed"  # the others only with `make faults`


@pytest.mark.parametrize(
    "name",
    [LARGE_BY_DEFAULT, *(pytest.param(name, marks=pytest.mark.faults) for name in LARGE if name != LARGE_BY_DEFAULT)],
)
def test_a_large_index_without_files_of_chroma_is_built_again(
    paperchat: Commands, tmp_path: Path, large_index: Path, name: str
) -> None:
    """From 1,000 vectors on Chroma keeps its graph in files of its own, and reads them when it is first searched."""
    index = Path(shutil.copytree(large_index, tmp_path / "index"))
    LARGE[name](index)
    done = paperchat(index, "ask", QUESTION)
    assert (done.code, ANSWER in done.out, len(done.err.splitlines())) == (0, True, 1), done
    assert paperchat(index, "ask", QUESTION).err == ""


def test_a_later_format_is_one_line_and_not_touched(paperchat: Commands, index: Path, more: Path) -> None:
    change_manifest(index, format=99, files={})

    def content() -> dict[str, bytes]:
        ignored = ("lock", "writing")
        paths = [path for path in index.rglob("*") if path.is_file() and path.name not in ignored]
        return {str(path.relative_to(index)): path.read_bytes() for path in paths}

    before = content()
    for arguments in (("ask", QUESTION), ("ingest", str(more)), ("ingest", "--rebuild", str(more)), ("papers",)):
        done = paperchat(index, *arguments)
        assert (done.code, len(done.complaints)) == (2, 1), done
        assert "later version" in done.complaints[0]
        assert content() == before


def test_a_second_ingest_is_turned_away_and_the_first_one_ends(
    paperchat: Commands, index: Path, tmp_path: Path, more: Path, many: Path
) -> None:
    """The first one is stopped while it holds the lock, as one that takes hours would seem to be, then goes on."""
    some = tmp_path / "some.jsonl"
    some.write_text("".join(many.read_text().splitlines(keepends=True)[:200]))
    environment = {**os.environ, "PAPERCHAT_INDEX_DIR": str(index), "PAPERCHAT_EMBEDDER": "hashing"}
    first = subprocess.Popen(
        [sys.executable, "-c", "from app.cli import main; main()", "ingest", str(some)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    end = time.monotonic() + 30
    while not (index / "lock").read_bytes():  # it signs when it holds the lock
        assert time.monotonic() < end
        assert first.poll() is None
        time.sleep(0.002)
    first.send_signal(signal.SIGSTOP)
    try:
        done = paperchat(index, "ingest", more)
        asked = paperchat(index, "ask", QUESTION)
    finally:
        first.send_signal(signal.SIGCONT)
    out, _ = first.communicate(timeout=60)
    assert (done.code, len(done.complaints)) == (2, 1), done
    assert f"process {first.pid}" in done.complaints[0]
    assert (asked.code, ANSWER in asked.out, asked.err) == (0, True, "")  # whoever asks is not turned away
    assert (first.returncode, "237 papers in the index" in out) == (0, True), out
    assert "238 papers in the index" in paperchat(index, "ingest", more).out


@pytest.mark.parametrize("kilobytes", [4, 60, 250, *(pytest.param(n, marks=pytest.mark.faults) for n in (1, 30, 120))])
def test_a_file_that_may_not_grow_is_one_line_and_the_old_corpus(
    paperchat: Commands, index: Path, sample: Path, more: Path, kilobytes: int
) -> None:
    """As on a full disk, also where no file system may be mounted."""
    before = paperchat(index, "papers").out
    done = paperchat(index, "ingest", more, room=1024 * kilobytes)
    if done.code == 2:
        assert len(done.complaints) == 1, done.err
        assert "cannot write" in done.complaints[0]
        assert paperchat(index, "papers") == Done(0, before, "")
        assert ANSWER in paperchat(index, "ask", QUESTION).out
    assert "38 papers in the index" in paperchat(index, "ingest", more).out
    assert not list(index.glob("tmp-*"))
