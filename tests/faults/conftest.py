"""What the faults share: sources and an index of more papers than Chroma keeps in its database alone."""

import json
import random
from pathlib import Path

import pytest

from ingest.build import Request, ingest
from vectorstore.hashing import HashingEmbedder

SEED = 20261201


def synthesised(path: Path, count: int) -> Path:
    """A file of so many papers about nothing, the same every time."""
    words = "graph kernel bandit token policy tensor regret diffusion privacy protein".split()
    chance = random.Random(SEED)
    rows = []
    for number in range(count):
        text = " ".join(chance.choices(words, k=12))
        title, abstract = f"Study {number} of {text[:30]}", f"We study {text}. It is {number}."
        rows.append({"id": f"made-{number}", "title": title, "abstract": abstract})
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    return path


@pytest.fixture(scope="session")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of 2,300 papers."""
    return synthesised(tmp_path_factory.mktemp("many") / "many.jsonl", 2300)


@pytest.fixture(scope="session")
def large_index(tmp_path_factory: pytest.TempPathFactory, many: Path, sample: Path) -> Path:
    """An index of these and the sample, to be copied."""
    root = tmp_path_factory.mktemp("large") / "index"
    ingest(root, Request((many, sample)), HashingEmbedder())
    return root
