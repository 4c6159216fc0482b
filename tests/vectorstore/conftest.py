"""Small corpora written straight into an index: no files, no readers, no model."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from vectorstore.catalogue import Entry
from vectorstore.commit import write_generation
from vectorstore.hashing import HashingEmbedder
from vectorstore.manifest import Manifest
from vectorstore.paper import Paper
from vectorstore.vectors import Chunk, Embedder

SUBJECTS = ("Steiner trees", "diffusion models", "protein folding", "bandit regret", "code privacy")


def build_paper(number: int, **fields: Any) -> Paper:
    """Paper `number`: two sentences about a subject of its own."""
    subject = SUBJECTS[number % len(SUBJECTS)]
    made = {
        "id": f"p{number}",
        "title": f"On {subject}, part {number}",
        "abstract": f"We study {subject} for the {number}th time. A bound of 0.{number}55 is proved.",
        "sources": ("papers.jsonl",),
    }
    return Paper(**{**made, **fields})


def entry_of(paper: Paper) -> Entry:
    """The paper with one passage a sentence (cut at a full stop and a space) and one chunk."""
    spans, start = [], 0
    for sentence in paper.abstract.split(". "):
        spans.append((start, start + len(sentence)))
        start += len(sentence) + 2
    passages = tuple(spans) if paper.abstract else ()
    return Entry(paper, passages, (chunk_of(paper, passages).key,))


def chunk_of(paper: Paper, passages: tuple[tuple[int, int], ...]) -> Chunk:
    return Chunk(paper.abstract or paper.title, passages)


def write_papers(root: Path, papers: Sequence[Paper], embedder: Embedder | None = None) -> Manifest:
    """Switch the index in `root` to these papers."""
    embedder = embedder or HashingEmbedder()
    entries = [entry_of(paper) for paper in papers]
    chunks = [chunk_of(entry.paper, entry.passages) for entry in entries]
    return write_generation(root, entries, embedder.embed(chunks), list(papers), embedder)


@pytest.fixture(scope="session")
def paper() -> Callable[..., Paper]:
    return build_paper


@pytest.fixture(scope="session")
def entry() -> Callable[[Paper], Entry]:
    return entry_of


@pytest.fixture(scope="session")
def write() -> Callable[..., Manifest]:
    return write_papers
