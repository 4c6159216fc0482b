"""What tests of several rooms share: the bundled sample, two embedders, an index by each of them.

An index takes a second to build with the hashing embedder and half a minute with the real model, so each is built
once a session. `index` is a copy that a test may spoil; `minilm_index` must be left as it is.
"""

import shutil
from pathlib import Path

import pytest

from ingest.build import Request, ingest
from vectorstore.embedder import open_embedder
from vectorstore.hashing import HashingEmbedder
from vectorstore.vectors import Embedder

SAMPLES = Path(__file__).parents[1] / "ingest" / "samples"


@pytest.fixture(scope="session")
def sample() -> Path:
    """The bundled corpus: 37 papers with their titles, as JSON lines."""
    return SAMPLES / "icml2026_sample.jsonl"


@pytest.fixture(scope="session")
def text_samples() -> tuple[Path, Path]:
    """The same 37 papers as 38 untitled abstracts in two text files; one paper is in both."""
    return SAMPLES / "000_caae8dde29d61980.txt", SAMPLES / "001_05c0b4a12cc4046f.txt"


@pytest.fixture(scope="session")
def hashing() -> HashingEmbedder:
    return HashingEmbedder()


@pytest.fixture(scope="session")
def pristine_index(tmp_path_factory: pytest.TempPathFactory, sample: Path, hashing: HashingEmbedder) -> Path:
    """The folder that `index` copies; not to be touched."""
    root = tmp_path_factory.mktemp("hashing") / "index"
    ingest(root, Request((sample,)), hashing)
    return root


@pytest.fixture
def index(tmp_path: Path, pristine_index: Path) -> Path:
    """The folder of an index of the sample, built with the hashing embedder; the test's own."""
    return Path(shutil.copytree(pristine_index, tmp_path / "index"))


@pytest.fixture(scope="session")
def minilm() -> Embedder:
    """The bundled model. Its first use in a session loads torch (seconds)."""
    return open_embedder("minilm")


@pytest.fixture(scope="session")
def minilm_index(tmp_path_factory: pytest.TempPathFactory, sample: Path, minilm: Embedder) -> Path:
    """The folder of an index of the sample, built with the bundled model; shared, so read it only."""
    root = tmp_path_factory.mktemp("minilm") / "index"
    ingest(root, Request((sample,)), minilm)
    return root
