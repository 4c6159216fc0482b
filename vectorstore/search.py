"""A query to ranked evidence: both legs, fused, with the passages of each paper.

In: a question, conditions on metadata. Out: `Evidence`, best first.
Not known here: how a question is understood, what is done with the evidence.
"""

import time
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from vectorstore.fusion import dense_share, fuse
from vectorstore.generation import open_current
from vectorstore.paper import Evidence, Filters, Paper, searchable
from vectorstore.text import terms
from vectorstore.vectors import Embedder, Vectors

POOL = 200  # candidates a leg hands to the fusion, and so what min-max is taken over


@dataclass(frozen=True)
class Found:
    """What a search returns: evidence best first, the question's vector (d,), and the milliseconds that it took."""

    evidence: tuple[Evidence, ...]
    vector: Vectors
    embed_ms: float
    search_ms: float


class Searcher:
    """The live generation of an index and the model it was built with. Safe to use from several threads."""

    def __init__(self, root: Path, embedder: Embedder, share: float | None = None) -> None:
        """`share` fixes what the dense leg weighs in the fusion: at 0 only the lexical one ranks, at 1 only the dense
        one; None lets the question decide. Raises NoIndex, IndexDamaged, OlderFormat, NewerFormat or OtherModel."""
        self._embedder = embedder
        self._share = share
        self._generation = open_current(root, embedder.fingerprint)
        self._catalogue = self._generation.catalogue
        # Closed when nobody refers to it any more: a question under way keeps the generation that it began with.
        self._closing = weakref.finalize(self, self._generation.close)

    @property
    def corpus(self) -> str:
        """The generation's hash."""
        return self._generation.manifest.hash

    @property
    def size(self) -> int:
        return self._generation.manifest.papers

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the model that the generation's chunks were embedded with."""
        return self._generation.manifest.fingerprint

    def close(self) -> None:
        self._closing()

    def paper(self, name: str) -> Paper | None:
        """The paper with that id, former id, alias or address."""
        number = self._catalogue.number_of(name)
        return None if number is None else self._catalogue.paper(number)

    def papers(self) -> list[Paper]:
        """Every paper, in the order of ids."""
        return list(self._catalogue.all())

    def weights(self, terms: Iterable[str]) -> dict[str, float]:
        """How rare each index term is in this corpus (its inverse document frequency, in nats)."""
        lexical = self._generation.lexical
        return {} if lexical is None else {term: lexical.idf(term) for term in terms}

    def unknown(self, terms: Iterable[str]) -> list[str]:
        """Those of the index terms that no paper holds."""
        lexical = self._generation.lexical
        return [term for term in terms if lexical is None or not lexical.knows(term)]

    def search(self, question: str, k: int = 30, filters: Filters | None = None, keywords: str | None = None) -> Found:
        """The `k` best papers; fewer only where the corpus, or what `filters` leave of it, is smaller.

        `keywords` is what lexical search gets instead of the question: the words of it that can occur in the corpus,
        where it is asked in another language.
        """
        started = time.perf_counter()
        if not self.size:
            return Found((), np.zeros(self._embedder.dimension, np.float32), 0.0, 0.0)
        vector = self._embedder.embed_question(question)
        embedded = time.perf_counter()
        among = self._catalogue.matching(filters) if filters else None
        pool = max(POOL, k)
        assert self._generation.nearest is not None
        dense = self._generation.nearest.papers(vector, pool, among)
        words = question if keywords is None else keywords
        lexical = self._lexical(words, pool, among)
        share = dense_share(self._coverage(words, lexical)) if self._share is None else self._share
        fused = fuse(dense if share > 0 else {}, lexical if share < 1 else {}, share)
        # A paper that neither leg has in its pool still belongs to the ranking's end.
        everyone = range(self.size) if among is None else among
        rest = (number for number in everyone if number not in fused)
        ranking = [*fused.items(), *((number, 0.0) for number in islice(rest, max(0, k - len(fused))))][:k]
        evidence = tuple(
            self._evidence(number, rank, score, dense.get(number), lexical.get(number), vector)
            for rank, (number, score) in enumerate(ranking, start=1)
        )
        done = time.perf_counter()
        return Found(evidence, vector, 1000 * (embedded - started), 1000 * (done - embedded))

    def _lexical(self, question: str, k: int, among: list[int] | None) -> dict[int, float]:
        assert self._generation.lexical is not None
        return dict(self._generation.lexical.query(question, k, among))

    def _coverage(self, words: str, lexical: Mapping[int, float]) -> float:
        """How much of the words' information (their summed idf) the best lexical match holds, 0 to 1."""
        if not lexical:
            return 0.0
        weights = self.weights(terms(words))
        paper = self._catalogue.paper(max(lexical, key=lambda number: lexical[number]))
        held = set(terms(searchable(paper)))
        return sum(weight for term, weight in weights.items() if term in held) / sum(weights.values())

    def _evidence(
        self, number: int, rank: int, score: float, dense: float | None, lexical: float | None, vector: Vectors
    ) -> Evidence:
        paper = self._catalogue.paper(number)
        first, passages = self._catalogue.passages_of(number, paper)
        rows = np.asarray(self._generation.passage_vectors[first : first + len(passages)], np.float32)
        return Evidence(paper, rank, round(score, 6), dense, lexical, passages, _similarities(rows, vector))


def _similarities(rows: Vectors, vector: Vectors) -> tuple[float, ...]:
    """Cosines of `vector` (d,) and each of `rows` (n, d), all freed of the direction that the rows have in common.

    Every sentence of a paper is near a question about it; what is left says which sentence is the nearest.
    """
    if not len(rows):
        return ()
    common = rows.mean(axis=0)
    common /= max(float(np.linalg.norm(common)), 1e-9)
    rest = rows - np.outer(rows @ common, common)
    asked = vector - float(vector @ common) * common
    lengths = np.linalg.norm(rest, axis=1) * np.linalg.norm(asked)
    return tuple(float(value) for value in (rest @ asked) / np.maximum(lengths, 1e-9))
