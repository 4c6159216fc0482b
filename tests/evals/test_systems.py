"""Each system ranks by what its name says, over real indexes."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from app.settings import Settings
from evals.dataset import load
from evals.errors import NoSuchSystem
from evals.gold import SAMPLE
from evals.run import evaluate
from evals.system import System
from evals.systems import SYSTEMS, open_system
from ingest.build import Request, ingest
from vectorstore.cache import EmbeddingCache
from vectorstore.hashing import HashingEmbedder
from vectorstore.paper import searchable
from vectorstore.text import terms

QUESTION = "How are experts balanced in a mixture?"


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    root = tmp_path_factory.mktemp("systems") / "index"
    ingest(root, Request(sources=(SAMPLE,)), HashingEmbedder())
    return Settings(index_dir=root, embedder="hashing")


@pytest.fixture
def opened(settings: Settings) -> Iterator[Callable[[str], System]]:
    systems: list[System] = []

    def make(name: str) -> System:
        systems.append(open_system(name, settings))
        return systems[-1]

    yield make
    for system in systems:
        system.close()


def ranked(system: System, question: str = QUESTION) -> list[str]:
    return [row.id for row in system.ask(question).retrieved]


def test_dense_ranks_by_cosine_alone(opened: Callable[[str], System], settings: Settings) -> None:
    system = opened("dense")
    embedder = HashingEmbedder()
    question = embedder.embed_question(QUESTION)
    with closing(EmbeddingCache(settings.index_dir / "embeddings.sqlite3")) as cache:
        known = cache.known(embedder)
        assert len(known) == 37
        best = max(float(cache.vector(key, embedder).text @ question) for key in known)
    rows = [evidence.dense for evidence in system.search(QUESTION)]  # type: ignore[attr-defined]
    assert rows[0] == pytest.approx(best, abs=1e-5)
    assert rows == sorted(rows, reverse=True)


def test_bm25_ranks_by_words_alone(opened: Callable[[str], System]) -> None:
    system = opened("bm25")
    found = system.search(QUESTION)  # type: ignore[attr-defined]
    scores = [evidence.lexical for evidence in found if evidence.lexical is not None]
    assert scores == sorted(scores, reverse=True)
    assert [evidence.lexical is None for evidence in found] == sorted(evidence.lexical is None for evidence in found)
    asked = set(terms(QUESTION))
    assert asked & set(terms(searchable(found[0].paper)))


def test_the_legs_and_their_fusions_differ(opened: Callable[[str], System]) -> None:
    question = "Which methods make the training of large language models on noisy data more efficient and private?"
    rankings = {name: tuple(ranked(opened(name), question)) for name in ("bm25", "dense", "hybrid")}
    assert len(set(rankings.values())) == 3
    assert {len(ranking) for ranking in rankings.values()} == {30}


def test_the_recipe_ranks_by_its_nearest_chunk_and_refuses_nothing(opened: Callable[[str], System]) -> None:
    system = opened("recipe")
    for question in (QUESTION, "Which hotel has a pool?", "?"):
        answer = system.ask(question)
        assert answer.status == "answered"
        assert len(answer.sentences) == 4
        assert [row.rank for row in answer.retrieved] == list(range(1, 31))
        scores = [row.score for row in answer.retrieved]
        assert scores == sorted(scores, reverse=True)
        assert answer.papers[0].id == answer.retrieved[0].id
        for sentence in answer.sentences:
            (quote,) = sentence.evidence
            paper = system.paper(quote.paper_id)
            assert paper is not None
            assert paper.abstract[quote.start : quote.end] == quote.quote == sentence.text
            assert len(quote.quote) <= 1000


def test_the_recipes_vectors_are_the_models(opened: Callable[[str], System]) -> None:
    """A chunk asked for in its own words is the nearest, at cosine 1."""
    system = opened("recipe")
    paper = next(paper for paper in system.papers() if 0 < len(paper.abstract) < 1000)
    answer = system.ask(paper.abstract)
    assert (answer.retrieved[0].id, np.round(answer.retrieved[0].score, 3)) == (paper.id, 1.0)


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_system_can_be_scored_and_breaks_no_invariant(opened: Callable[[str], System], name: str) -> None:
    report = evaluate(load("seeds").only("fact_number"), opened(name), name)
    assert report.system.method == name
    assert report.failed == report.violated == ()


def test_a_system_that_there_is_not_is_one_line(settings: Settings) -> None:
    with pytest.raises(NoSuchSystem, match=r"no system 'bm52'\. .* paperchat, bm25, dense, hybrid, recipe"):
        open_system("bm52", settings)


def test_what_the_recipe_embedded_is_cached_beside_the_index(
    opened: Callable[[str], System], settings: Settings
) -> None:
    opened("recipe")
    cache = settings.index_dir.with_name("index-recipe") / "embeddings.sqlite3"
    before = cache.stat().st_mtime_ns
    opened("recipe")
    assert cache.stat().st_mtime_ns == before
    assert not list(Path.cwd().glob("chroma*"))
