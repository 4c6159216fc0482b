"""Six kills of an ingest with the real model: what it had embedded is not embedded again."""

import json
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.settings import Settings
from app.whole import open_assistant
from ingest.build import Request, ingest
from vectorstore.cache import EmbeddingCache
from vectorstore.catalogue import Catalogue
from vectorstore.embedder import open_embedder
from vectorstore.generation import current_folder
from vectorstore.vectors import Embedder

QUESTION = "What certified lower bound on the Steiner ratio was found?"
SEED = 20261201
VICTIM = """
import sys
from pathlib import Path
from ingest.build import Request, ingest
from vectorstore.embedder import open_embedder
tell = lambda stage, done=0, total=0: print(stage, done, flush=True)
ingest(Path(sys.argv[1]), Request((Path(sys.argv[2]),)), open_embedder("minilm", "fp32"), tell)
"""
# When the process says so, and up to so many seconds later.
MOMENTS = [
    ("reading 0", 0.0),
    ("embedding 0", 0.5),
    ("embedding 64", 0.0),
    ("embedding 128", 0.5),
    ("indexing 0", 0.0),
    ("indexing 0", 1.0),
]


@pytest.fixture(scope="module")
def model() -> Embedder:
    return open_embedder("minilm", "fp32")


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory, sample: Path, model: Embedder) -> Path:
    home = tmp_path_factory.mktemp("model")
    some = home / "some.jsonl"
    some.write_text("".join(sample.read_text().splitlines(keepends=True)[:20]))
    ingest(home / "index", Request((some,)), model)
    return home / "index"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory, sample: Path, many: Path) -> Path:
    """17 papers that the start has not, and 150 made ones: three batches of vectors."""
    path = tmp_path_factory.mktemp("source") / "source.jsonl"
    path.write_text("".join((*sample.read_text().splitlines(True), *many.read_text().splitlines(True)[:150])))
    return path


@pytest.fixture(scope="module")
def end(tmp_path_factory: pytest.TempPathFactory, start: Path, source: Path, model: Embedder) -> Path:
    root = tmp_path_factory.mktemp("end") / "index"
    shutil.copytree(start, root)
    ingest(root, Request((source,)), model)
    return root


def ids(root: Path) -> list[str]:
    catalogue = Catalogue(current_folder(root) / "papers.sqlite3")
    found = [paper.id for paper in catalogue.all()]
    catalogue.close()
    return found


def unfinished(root: Path, end: Path, model: Embedder) -> int:
    catalogue = Catalogue(current_folder(end) / "papers.sqlite3")
    wanted = {key for entry in catalogue.entries() for key in entry.chunks}
    catalogue.close()
    with EmbeddingCache(root / "embeddings.sqlite3") as cache:
        return len(wanted - cache.known(model))


@pytest.mark.faults
@pytest.mark.parametrize("moment", range(len(MOMENTS)))
def test_an_ingest_with_the_real_model_is_taken_up_where_it_was_killed(
    tmp_path: Path, start: Path, source: Path, end: Path, model: Embedder, moment: int
) -> None:
    word, later = MOMENTS[moment]
    index = Path(shutil.copytree(start, tmp_path / "index"))
    victim = subprocess.Popen(
        [sys.executable, "-c", VICTIM, str(index), str(source)], stdout=subprocess.PIPE, text=True
    )
    assert victim.stdout is not None
    assert any(line.strip() == word for line in victim.stdout), f"it never said {word!r}"
    time.sleep(random.Random(SEED + moment).uniform(0, later))
    victim.kill()
    killed = victim.wait() < 0

    told: list[str] = []
    assistant = open_assistant(Settings(index_dir=index, embedder="minilm", precision="fp32"), told.append)
    found = [paper.id for paper in assistant.papers()]
    answer = assistant.ask(QUESTION)
    assistant.close()
    assert told == []
    assert found in (ids(start), ids(end))
    assert answer.status in ("answered", "refused")

    missing = unfinished(index, end, model)
    report = ingest(index, Request((source,)), model)
    assert report.embedded == missing
    assert ids(index) == ids(end)
    assert not list(index.glob("tmp-*"))
    print(json.dumps({"said": word, "killed": killed, "new": found == ids(end), "embedded after it": missing}))
