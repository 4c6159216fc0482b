"""Ingests of thousands of papers, mending and rebuilding, each killed (-9) in a real process from its first moment on.

Wider than test_kills.py: the process is killed while it starts, too; right after a call as well as before it; with the
cache half filled; and what is left is looked at by `paperchat` in another process, which must list exactly the old
papers or exactly the new ones, every field of them. Prints a table; where PAPERCHAT_FAULTS_REPORT names a file
`X.md`, the table is written to `X-whole.md` and every single kill to `X-whole.json`.
"""

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

from ingest.build import Request, ingest
from vectorstore.catalogue import Catalogue
from vectorstore.generation import current_folder
from vectorstore.hashing import HashingEmbedder

VICTIM = Path(__file__).with_name("ingest_to_kill.py")
COMMANDS = Path(__file__).with_name("commands.py")
SEED = 20261202
QUESTION = "What certified lower bound on the Steiner ratio was found?"
ANSWER = "0.8559"

# Kills at random moments, and kills at moments that are counted, for each change.
KILLS = {"first": (12, 14), "many": (14, 16), "copy": (14, 20), "mending": (6, 12), "rebuild": (6, 12)}


@dataclass(frozen=True)
class Change:
    """An index to start from (None: there is none), what is ingested into it, and what must be there at its end."""

    name: str
    start: Path | None
    sources: tuple[Path, ...]
    rebuild: bool
    old: str | None  # what `paperchat papers --json` prints; None where there is no index
    new: str
    names: frozenset[str]  # of everything in the folder at the end
    wanted: frozenset[str]  # keys of the vectors that the new corpus needs

    def quiet(self) -> bool:
        """Whether the index is whole at its start, so that nobody may be told of a repair."""
        return self.start is not None and self.name != "mending"


@dataclass(frozen=True)
class Kill:
    """One kill, and what was seen after it."""

    change: str
    way: str
    stage: str
    moment: str
    killed: bool
    left: str
    mended: bool
    kept: int
    embedded: int


class Commands:
    """Runs `paperchat`, each command in a process of its own."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(COMMANDS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __call__(self, index: Path, *arguments: str | Path) -> tuple[int, str, str]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"index": str(index), "arguments": list(map(str, arguments))}) + "\n")
        self._process.stdin.flush()
        done = json.loads(self._process.stdout.readline())
        assert done["code"] in (0, 2), done
        assert sum(line.startswith("paperchat: ") for line in done["err"].splitlines()) <= 1, done["err"]
        return done["code"], done["out"], done["err"]

    def close(self) -> None:
        self._process.communicate()


@pytest.fixture(scope="module")
def paperchat() -> Iterator[Commands]:
    commands = Commands()
    yield commands
    commands.close()


@pytest.fixture(scope="module")
def kills() -> Iterator[list[Kill]]:
    """What was done so far; told at the end."""
    done: list[Kill] = []
    yield done
    if not done:
        return
    counts = Counter((kill.change, kill.stage, kill.way, kill.left) for kill in done)
    lines = [f"Seed {SEED}.", "", "| change | killed in | how | left | times |", "|---|---|---|---|--:|"]
    lines += [f"| {' | '.join(key)} | {count} |" for key, count in sorted(counts.items())]
    lines.append(f"| all {len(done)}, of which {sum(kill.killed for kill in done)} are kills | | | | {len(done)} |")
    print("\n" + "\n".join(lines))
    if report := os.environ.get("PAPERCHAT_FAULTS_REPORT"):
        path = Path(report)
        path.with_name(f"{path.stem}-whole.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
        path.with_name(f"{path.stem}-whole.json").write_text(json.dumps([asdict(kill) for kill in done], indent=1))


@pytest.fixture(scope="module")
def changes(
    tmp_path_factory: pytest.TempPathFactory, sample: Path, many: Path, paperchat: Commands
) -> dict[str, Change]:
    """The first ingest of 2,337 papers; the same on top of 20; one that changes a copy of 2,320; mending; rebuilding.

    The copied one adds 97 papers and changes the abstracts of 40, more than one batch and fewer than a tenth;
    rebuilding does the same with a new graph; mending makes a generation of the sample's papers that was removed.
    """
    home = tmp_path_factory.mktemp("whole")
    lines = sorted(sample.read_text().splitlines(), key=lambda line: "Steiner" not in line)
    rows = [json.loads(line) for line in many.read_text().splitlines()]
    some, few = home / "some.jsonl", home / "few.jsonl"
    some.write_text("\n".join(lines[:20]) + "\n")
    new = [{**row, "id": f"new-{n}", "title": f"New {row['title']}"} for n, row in enumerate(rows[:80])]
    changed = [{**row, "abstract": f"Again. {row['abstract']}"} for row in rows[100:140]]
    few.write_text("\n".join((*lines[20:], *map(json.dumps, (*new, *changed)))) + "\n")
    # A record's source is the name of its file: changed papers must come from the file that they came from.
    base = home / "base" / "few.jsonl"
    base.parent.mkdir()
    base.write_text(many.read_text())

    def made(name: str, *sources: Path) -> Path:
        for source in sources:
            ingest(home / name, Request((source,)), HashingEmbedder())
        return home / name

    twenty, large, whole = made("twenty", some), made("large", base, some), made("sample", sample)
    broken = Path(shutil.copytree(whole, home / "broken"))
    shutil.rmtree(current_folder(broken))
    both = (sample, many)
    return {
        "first": change(paperchat, home, "first", None, both),
        "many": change(paperchat, home, "many", twenty, both),
        "copy": change(paperchat, home, "copy", large, (few,)),
        "mending": change(paperchat, home, "mending", broken, (), old=paperchat(whole, "papers", "--json")[1]),
        "rebuild": change(paperchat, home, "rebuild", large, (few,), rebuild=True),
    }


def change(
    paperchat: Commands,
    home: Path,
    name: str,
    start: Path | None,
    sources: tuple[Path, ...],
    rebuild: bool = False,
    old: str | None = None,
) -> Change:
    """The change, and what it leads to when nobody is killed."""
    if start is not None and old is None:
        old = paperchat(start, "papers", "--json")[1]
    end = home / f"{name}-end"
    if start is not None:
        shutil.copytree(start, end)
    ingest(end, Request(sources, rebuild=rebuild), HashingEmbedder())
    catalogue = Catalogue(current_folder(end) / "papers.sqlite3")
    wanted = frozenset(key for entry in catalogue.entries() for key in entry.chunks)
    catalogue.close()
    new = paperchat(end, "papers", "--json")[1]
    return Change(name, start, sources, rebuild, old, new, names(end), wanted)


def names(index: Path) -> frozenset[str]:
    """What is in the folder, but for SQLite's own leftovers and a draft of records that the next ingest sweeps."""
    passing = ("-wal", "-shm", ".tmp")
    return frozenset(path.name for path in index.iterdir() if not path.name.endswith(passing))


def kept(index: Path) -> set[str]:
    """The keys of the vectors that are committed."""
    if not (index / "embeddings.sqlite3").exists():
        return set()
    database = sqlite3.connect(index / "embeddings.sqlite3")
    try:
        return {bytes(key).hex() for (key,) in database.execute("SELECT key FROM embeddings")}
    except sqlite3.OperationalError:  # killed before there was a table
        return set()
    finally:
        database.close()


def run(change: Change, index: Path, moment: int | None, seconds: float | None = None) -> tuple[bool, list[str]]:
    """Start the change in `index`, made anew, and have it killed. Returns whether it was, and what it told."""
    shutil.rmtree(index, ignore_errors=True)
    if change.start is not None:
        shutil.copytree(change.start, index)
    job = {"root": str(index), "sources": list(map(str, change.sources)), "rebuild": change.rebuild, "moment": moment}
    victim = subprocess.Popen([sys.executable, str(VICTIM), json.dumps(job)], stdout=subprocess.PIPE, text=True)
    if seconds is not None:
        time.sleep(seconds)
        victim.kill()
    told, _ = victim.communicate(timeout=120)
    assert victim.returncode in (0, -9), victim.returncode
    return victim.returncode == -9, told.splitlines()


def examine(paperchat: Commands, change: Change, index: Path, way: str, killed: bool, told: list[str]) -> Kill:
    """See what is left, then do the same ingest again."""
    stages = [line.split()[1:] for line in told if line.startswith("stage")]
    moments = [line.split(" ", 2)[2] for line in told if line.startswith("moment")]
    done = max((int(count) for stage, count in stages if stage == "embedding"), default=0)
    started = kept(change.start) if change.start is not None else set()

    code, out, err = paperchat(index, "papers", "--json")
    if code == 2:
        assert change.start is None, err
        assert "no index in" in err
        left = "none"
    else:
        assert out in (change.old, change.new), "neither the old papers nor the new ones"
        left = "new" if out == change.new else "old"
        assert ANSWER in paperchat(index, "ask", QUESTION)[1]
    assert not change.quiet() or err == "", "an ingest that was killed left an index that had to be mended"

    before = kept(index)
    assert started <= before
    assert len(before - started) >= done, "vectors that were said to be done were not kept"
    report = index.with_name("report.json")
    if change.sources:
        again = ("ingest", *(("--rebuild",) if change.rebuild else ()), *change.sources, "--report", report)
        assert paperchat(index, *again)[0] == 0
        embedded = json.loads(report.read_text())["embedded"]
        assert embedded == len(change.wanted - before)
    else:  # looking at it has mended it
        embedded = 0
        assert kept(index) == started
    assert paperchat(index, "papers", "--json") == (0, change.new, "")
    assert ANSWER in paperchat(index, "ask", QUESTION)[1]
    assert names(index) == change.names
    stage = (stages[-1][0] if stages else "imports") if killed else "after its end"
    moment = moments[-1] if moments and killed else ""
    return Kill(change.name, way, stage, moment, killed, left, bool(err) and code == 0, len(before), embedded)


@pytest.mark.faults
@pytest.mark.parametrize("name", KILLS)
def test_at_random_moments_from_the_start_of_the_process(
    paperchat: Commands, changes: dict[str, Change], kills: list[Kill], tmp_path: Path, name: str
) -> None:
    """Evenly spread over the duration of one that is not killed: each share of it is hit once, somewhere."""
    started = time.monotonic()
    assert not run(changes[name], tmp_path / "index", None)[0]
    duration = time.monotonic() - started
    chance, count = random.Random(SEED), KILLS[name][0]
    for share in range(count):
        killed, told = run(
            changes[name], tmp_path / "index", None, seconds=duration * (share + chance.random()) / count
        )
        kills.append(examine(paperchat, changes[name], tmp_path / "index", "at a random moment", killed, told))


@pytest.mark.faults
@pytest.mark.parametrize("name", KILLS)
def test_before_and_after_what_is_done_to_files(
    paperchat: Commands, changes: dict[str, Change], kills: list[Kill], tmp_path: Path, name: str
) -> None:
    """Half of them evenly over all moments, half from the rename of the generation on: records, switch, sweep."""
    killed, told = run(changes[name], tmp_path / "index", 0)
    assert not killed
    moments = [line for line in told if line.startswith("moment")]
    commit = next(n for n, line in enumerate(moments, 1) if " before os.rename tmp-" in line)
    half = KILLS[name][1] // 2
    spread = {round(1 + n * (commit - 2) / (half - 1)) for n in range(half)}
    spread |= {round(commit + n * (len(moments) - commit) / (half - 1)) for n in range(half)}
    for moment in sorted(spread):
        killed, told = run(changes[name], tmp_path / "index", moment)
        kills.append(examine(paperchat, changes[name], tmp_path / "index", "at an event", killed, told))
