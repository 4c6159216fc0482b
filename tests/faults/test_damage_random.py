"""Random bytes written over files of an index: the next command answers as before, or mends it with one line.

In a small index what is quiet must be the same to the last rank: damage that changes an answer without a word is the
worst kind. What is mended must list the same papers and give the same text. So must a large index; its ranks are not
compared, because Chroma adds the newest vectors to the graph anew whenever it opens one, and then papers that hardly
differ may change places, in a whole index too.
"""

import json
import random
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from vectorstore.generation import current_folder

COMMANDS = Path(__file__).with_name("commands.py")
SEED = 20261203
QUESTIONS = ("What certified lower bound on the Steiner ratio was found?", "papers on privacy when fine-tuning LLMs")
LENGTHS = (1, 16, 512, 4096, 65536)

Seen = list[dict[str, Any]]


class Looker:
    """Asks and lists by `paperchat`, each command in a process of its own."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(COMMANDS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __call__(self, index: Path, *arguments: str) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"index": str(index), "arguments": list(arguments)}) + "\n")
        self._process.stdin.flush()
        done: dict[str, Any] = json.loads(self._process.stdout.readline())
        return done

    def see(self, index: Path) -> Seen:
        """Two answers, and the papers."""
        return [*(self(index, "ask", "--json", question) for question in QUESTIONS), self(index, "papers", "--json")]

    def close(self) -> None:
        self._process.communicate()


@pytest.fixture(scope="module")
def looker() -> Iterator[Looker]:
    looker = Looker()
    yield looker
    looker.close()


def answer(done: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done["out"])
    del found["timings_ms"]
    return found


def judged(seen: Seen, expected: Seen, ranks: bool = True) -> str:
    """ "quiet" or "mended"; fails on everything else."""
    for done in seen:
        assert done["code"] == 0, f"exit {done['code']}: {done['err'][-400:]}"
    assert len(seen[0]["err"].splitlines()) <= 1, seen[0]["err"]
    assert seen[1]["err"] == seen[2]["err"] == ""  # once mended, nobody is told again
    assert seen[2]["out"] == expected[2]["out"]
    mended = bool(seen[0]["err"])
    for done, before in zip(map(answer, seen[:2]), map(answer, expected[:2]), strict=True):
        assert done["text"] == before["text"]
        if not ranks:
            del done["retrieved"], before["retrieved"]
        assert mended or done == before, "another answer without a word"
    return "mended" if mended else "quiet"


def overwrite(path: Path, chance: random.Random) -> str:
    content = bytearray(path.read_bytes())
    length = min(len(content), chance.choice(LENGTHS))
    first = chance.randrange(len(content) - length + 1)
    content[first : first + length] = chance.randbytes(length)
    path.write_bytes(content)
    return f"{length} bytes from {first} of {path.name}"


def spoiled(
    looker: Looker, pristine: Path, index: Path, count: int, but: tuple[str, ...], ranks: bool = True
) -> Counter[str]:
    """Spoil one file of a copy so many times, every file about as often, and look. Returns how it went."""
    outcomes: Counter[str] = Counter()
    expected = looker.see(pristine)
    relative = [path.relative_to(pristine) for path in sorted(pristine.rglob("*")) if path.is_file()]
    paths = [path for path in relative if (pristine / path).stat().st_size and path.name not in but]
    for number in range(count):
        shutil.rmtree(index, ignore_errors=True)
        shutil.copytree(pristine, index)
        path = paths[number % len(paths)]
        how = overwrite(index / path, random.Random(SEED + number))
        try:
            outcomes[judged(looker.see(index), expected, ranks)] += 1
        except AssertionError as error:
            raise AssertionError(f"{how}, seed {SEED + number}: {error}") from error
    print(f"\n{dict(outcomes)}")
    return outcomes


@pytest.mark.faults
def test_random_bytes_in_a_small_index(looker: Looker, pristine_index: Path, tmp_path: Path) -> None:
    outcomes = spoiled(looker, pristine_index, tmp_path / "index", 75, but=("lock", "writing"))
    assert set(outcomes) == {"quiet", "mended"}


@pytest.mark.faults
def test_random_bytes_in_a_large_index(looker: Looker, large_index: Path, tmp_path: Path) -> None:
    outcomes = spoiled(looker, large_index, tmp_path / "index", 45, ("lock", "writing"), ranks=False)
    assert set(outcomes) == {"quiet", "mended"}


@pytest.mark.faults
def test_random_bytes_in_the_database_of_a_large_chroma(looker: Looker, large_index: Path, tmp_path: Path) -> None:
    others = tuple({path.name for path in large_index.rglob("*")} - {"chroma.sqlite3"})
    assert spoiled(looker, large_index, tmp_path / "index", 30, but=others, ranks=False)


@pytest.mark.faults
def test_random_bytes_in_the_database_of_a_small_chroma(looker: Looker, pristine_index: Path, tmp_path: Path) -> None:
    others = tuple({path.name for path in pristine_index.rglob("*")} - {"chroma.sqlite3"})
    assert spoiled(looker, pristine_index, tmp_path / "index", 60, but=others)


def test_a_chroma_database_whose_migrations_cannot_be_read_is_mended(
    looker: Looker, pristine_index: Path, index: Path
) -> None:
    """Chroma compares its migrations when it opens a folder, and panics on a name that is no text."""
    path = current_folder(index) / "chroma" / "chroma.sqlite3"
    content = path.read_bytes()
    assert b".sqlite.sql" in content
    path.write_bytes(content.replace(b".sqlite.sql", b"\xff" * 11))
    assert judged(looker.see(index), looker.see(pristine_index)) == "mended"


def test_spoilt_vectors_in_chromas_database_are_mended(looker: Looker, pristine_index: Path, index: Path) -> None:
    """Fewer than 1,000 vectors lie in the database, as rows of a queue, and the graph is made of them."""
    path = current_folder(index) / "chroma" / "chroma.sqlite3"
    database = sqlite3.connect(path)
    vectors = [row[0] for row in database.execute("SELECT vector FROM embeddings_queue ORDER BY seq_id")]
    database.close()
    content, chance = path.read_bytes(), random.Random(SEED)
    for vector in vectors[::2]:
        assert vector[:256] in content
        content = content.replace(vector[:256], chance.randbytes(256))
    path.write_bytes(content)
    assert judged(looker.see(index), looker.see(pristine_index)) == "mended"
