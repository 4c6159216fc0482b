"""Killed at whatever moment, an ingest leaves the old corpus or the new one, whole, and nothing is embedded twice.

Twelve kills run with the other tests; `make faults` runs the campaign, prints what was hit and, where
PAPERCHAT_FAULTS_REPORT names a file, writes it there as a Markdown table.
"""

import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from app.settings import Settings
from app.whole import open_assistant
from ingest.build import Request, ingest
from vectorstore.cache import EmbeddingCache
from vectorstore.catalogue import Catalogue
from vectorstore.generation import current_folder
from vectorstore.hashing import HashingEmbedder
from vectorstore.records import any_records

VICTIMS = Path(__file__).with_name("victims.py")
SEED = 20261201
QUESTION = "What certified lower bound on the Steiner ratio was found?"


@dataclass(frozen=True)
class Change:
    """An index to start from (None: there is none), a source that is ingested into it, and the index it leads to."""

    name: str
    start: Path | None
    source: Path
    end: Path


class Undertaker:
    """Kills ingests, and remembers what was hit."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(VICTIMS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.hits: Counter[tuple[str, str, str]] = Counter()

    def run(self, change: Change, root: Path, **when: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        if change.start is not None:
            shutil.copytree(change.start, root)
        job = {"root": str(root), "source": str(change.source), **when}
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        found: dict[str, Any] = json.loads(self._process.stdout.readline())
        return found

    def close(self) -> None:
        self._process.communicate()


@pytest.fixture(scope="module")
def undertaker() -> Iterator[Undertaker]:
    works = Undertaker()
    yield works
    works.close()
    if works.hits:
        lines = ["| change | killed in | left | times |", "| --- | --- | --- | --- |"]
        lines += [f"| {' | '.join(key)} | {count} |" for key, count in sorted(works.hits.items())]
        lines.append(f"| all | | | {sum(works.hits.values())} |")
        print("\n" + "\n".join(lines))
        if report := os.environ.get("PAPERCHAT_FAULTS_REPORT"):
            Path(report).write_text("\n".join(lines) + "\n", encoding="utf-8")


def made(folder: Path, sources: list[Path]) -> Path:
    for source in sources:
        ingest(folder, Request((source,)), HashingEmbedder())
    return folder


@pytest.fixture(scope="module")
def changes(tmp_path_factory: pytest.TempPathFactory, sample: Path, many: Path) -> dict[str, Change]:
    """The first ingest; a small index that is built anew; a large one of which a changed copy is made."""
    home = tmp_path_factory.mktemp("changes")
    lines = sample.read_text().splitlines(keepends=True)
    some = home / "some.jsonl"
    some.write_text("".join(lines[:20]))
    small, large = made(home / "small", [some]), made(home / "large", [many, some])
    pairs = (("first", None), ("small", small), ("large", large))
    ends = {}
    for name, start in pairs:
        end = home / f"{name}-end"
        if start is not None:
            shutil.copytree(start, end)
        ends[name] = made(end, [sample])
    return {name: Change(name, start, sample, ends[name]) for name, start in pairs}


def papers(root: Path) -> list[tuple[str, str]]:
    catalogue = Catalogue(current_folder(root) / "papers.sqlite3")
    found = [(paper.id, paper.abstract) for paper in catalogue.all()]
    catalogue.close()
    return found


def unfinished(root: Path, end: Path) -> int:
    """How many chunks of the corpus in `end` have no vector in the cache of `root`."""
    catalogue = Catalogue(current_folder(end) / "papers.sqlite3")
    wanted = {key for entry in catalogue.entries() for key in entry.chunks}
    catalogue.close()
    if not (root / "embeddings.sqlite3").exists():
        return len(wanted)
    with EmbeddingCache(root / "embeddings.sqlite3") as cache:
        return len(wanted - cache.known(HashingEmbedder()))


def examine(change: Change, root: Path) -> str:
    """See that the index is the old one or the new one, that it answers, and that the ingest can be taken up again.

    Returns which one it was: "old", "new", or "none" where there was none before.
    """
    left = "none"
    if (root / "CURRENT").exists() or change.start is not None or any_records(root):
        told: list[str] = []
        assistant = open_assistant(Settings(index_dir=root, embedder="hashing"), told.append)
        found = [(paper.id, paper.abstract) for paper in assistant.papers()]
        assert found in ([] if change.start is None else papers(change.start), papers(change.end))
        left = "new" if found == papers(change.end) else "old"
        answer = assistant.ask(QUESTION)
        assert answer.status in ("answered", "refused")
        assert answer.corpus == assistant.corpus
        assistant.close()
        assert change.start is None or told == [], "an ingest that was killed left an index that had to be mended"
    missing = unfinished(root, change.end)
    report = ingest(root, Request((change.source,)), HashingEmbedder())
    assert report.embedded == missing
    assert papers(root) == papers(change.end)
    assert not list(root.glob("tmp-*"))
    assert len(list(root.glob("gen-*"))) == len(list(root.glob("records-*"))) == 1
    return left


def kill_and_examine(undertaker: Undertaker, change: Change, root: Path, **when: Any) -> None:
    found = undertaker.run(change, root, **when)
    left = examine(change, root)
    where = f"{found['stage']}: {found['event'].split(' ')[0]}" if "event" in when else found["stage"]
    undertaker.hits[change.name, where if found["killed"] else "after its end", left] += 1
    shutil.rmtree(root)


@pytest.mark.parametrize("name", ["first", "small", "large"])
@pytest.mark.parametrize("share", [0.15, 0.5, 0.8, 0.97])
def test_an_ingest_killed_on_its_way_leaves_one_of_the_two_corpora(
    undertaker: Undertaker, changes: dict[str, Change], tmp_path: Path, name: str, share: float
) -> None:
    events = undertaker.run(changes[name], tmp_path / "whole")["events"]
    kill_and_examine(undertaker, changes[name], tmp_path / "index", event=max(1, round(share * events)))


@pytest.mark.faults
@pytest.mark.parametrize("name", ["first", "small", "large"])
def test_at_every_kind_of_event(undertaker: Undertaker, changes: dict[str, Change], tmp_path: Path, name: str) -> None:
    """Evenly over all events, and each of the last forty: rename, records, switch, sweep."""
    events = undertaker.run(changes[name], tmp_path / "whole")["events"]
    moments = {round(1 + n * (events - 1) / 29) for n in range(30)} | set(range(max(1, events - 40), events + 1))
    for event in sorted(moments):
        kill_and_examine(undertaker, changes[name], tmp_path / "index", event=event)


@pytest.mark.faults
@pytest.mark.parametrize("name", ["first", "small", "large"])
def test_at_random_moments(undertaker: Undertaker, changes: dict[str, Change], tmp_path: Path, name: str) -> None:
    """Also between events: inside SQLite, inside Chroma."""
    seconds = undertaker.run(changes[name], tmp_path / "whole")["seconds"]
    chance = random.Random(SEED)
    for _ in range(30):
        kill_and_examine(undertaker, changes[name], tmp_path / "index", seconds=chance.uniform(0.01, seconds))
