"""Papers by the cosine of their nearest chunk: the graph proposes, the vectors decide.

In: a question's vector, and perhaps the papers that are allowed. Out: cosines by paper number, best first.
Cosines are always taken from the generation's own vectors, whose file has a digest; a graph can pass something by,
but can't misstate it. Where papers are restricted, and in a generation that is to be searched exactly, every vector is
looked at.
Not known here: papers, lexical search, how the graph is kept.
"""

from collections.abc import Collection, Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from vectorstore.dense import DenseIndex
from vectorstore.vectors import Vectors


class Nearest:
    """The chunks of one generation: `owner` is the paper of each by its id, in the order of the rows of `vectors`."""

    def __init__(self, owner: Mapping[str, int], vectors: Vectors, graph: DenseIndex | None) -> None:
        """Without a `graph` every search is exact. Papers own consecutive rows, and at least one each."""
        self._vectors = vectors
        self._graph = graph
        self._owners = np.fromiter(owner.values(), np.int64, len(owner))
        self._first_rows = np.flatnonzero(np.diff(self._owners, prepend=-1))
        self._row_of = {id: row for row, id in enumerate(owner)}

    def papers(self, vector: Vectors, k: int, among: Collection[int] | None = None) -> dict[int, float]:
        """The `k` papers nearest to `vector` (d,), of unit length; only `among`, where given."""
        if among is not None:
            best = self.cosines(vector)
            return _top(np.fromiter(among, np.int64, len(among)), best[list(among)], k)
        if self._graph is None:
            best = self.cosines(vector)
            return _top(np.arange(len(best)), best, k)
        wanted = k
        while True:
            rows = self._rows(id for id, _ in self._graph.query(vector, wanted))
            owners, places = np.unique(self._owners[rows], return_inverse=True)
            if len(owners) >= k or wanted >= len(self._owners):
                scores = np.full(len(owners), -1.0, np.float32)
                np.maximum.at(scores, places, self._vectors[rows] @ vector)
                return _top(owners, scores, k)
            wanted *= 2  # some papers have several chunks

    def cosines(self, vector: Vectors) -> Vectors:
        """The cosine of every paper's nearest chunk and `vector` (d,), by paper number."""
        found: Vectors = np.maximum.reduceat(self._vectors @ vector, self._first_rows)
        return found

    def _rows(self, ids: Iterable[str]) -> NDArray[np.int64]:
        return np.array([self._row_of[id] for id in ids if id in self._row_of], np.int64)


def _top(papers: NDArray[np.int64], scores: Vectors, k: int) -> dict[int, float]:
    best = np.lexsort((papers, -scores))[:k]
    return {int(papers[place]): float(scores[place]) for place in best}
