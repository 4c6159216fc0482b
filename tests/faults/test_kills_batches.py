"""Killed between and inside batches of vectors, an ingest is taken up at the batch where it was."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ingest.build import Request, ingest
from vectorstore.cache import EmbeddingCache
from vectorstore.catalogue import Catalogue
from vectorstore.generation import current_folder
from vectorstore.hashing import HashingEmbedder

SEED = 20261201
BATCH = 64  # chunks between two commits, as in vectorstore/cache.py
INSIDE = 0.1  # seconds at the most after a batch, in which two more can be done
VICTIM = """
import sys
import time
from pathlib import Path
from ingest.build import Request, ingest
from vectorstore.hashing import HashingEmbedder
class Slow(HashingEmbedder):
    def embed(self, chunks):
        time.sleep(0.05)  # else the kill would come after the last batch
        return super().embed(chunks)
tell = lambda stage, done=0, total=0: print(stage, done, flush=True)
ingest(Path(sys.argv[1]), Request((Path(sys.argv[2]),)), Slow(), tell)
"""


def kept(root: Path) -> set[str]:
    with EmbeddingCache(root / "embeddings.sqlite3") as cache:
        return cache.known(HashingEmbedder())


@pytest.mark.parametrize(
    ("papers", "batches"),
    [(500, 3), *(pytest.param(2300, n, marks=pytest.mark.faults) for n in (1, 5, 10, 15, 20, 24, 27, 30))],
)
def test_the_batches_that_were_committed_are_not_computed_again(
    tmp_path: Path, many: Path, papers: int, batches: int
) -> None:
    source, index = tmp_path / "source.jsonl", tmp_path / "index"
    source.write_text("".join(many.read_text().splitlines(keepends=True)[:papers]))
    victim = subprocess.Popen(
        [sys.executable, "-c", VICTIM, str(index), str(source)], stdout=subprocess.PIPE, text=True
    )
    assert victim.stdout is not None
    assert any(line.strip() == f"embedding {batches * BATCH}" for line in victim.stdout)
    time.sleep(random.Random(SEED + batches).uniform(0, INSIDE))
    victim.kill()
    assert victim.wait() < 0, "it had ended"
    assert not (index / "CURRENT").exists()

    before = kept(index)
    assert batches * BATCH <= len(before) < papers, "the kill came too late to prove anything"
    report = ingest(index, Request((source,)), HashingEmbedder())
    catalogue = Catalogue(current_folder(index) / "papers.sqlite3")
    wanted = {key for entry in catalogue.entries() for key in entry.chunks}
    assert catalogue.size == papers
    catalogue.close()
    assert report.embedded == len(wanted - before)
    assert before < wanted == kept(index)
    assert not list(index.glob("tmp-*"))
    print(f"\nkilled after batch {batches}: {len(before)} of {len(wanted)} vectors kept, {report.embedded} embedded")
