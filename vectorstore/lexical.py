"""Lexical search: the one place that knows bm25s.

In: the index terms of each paper. Out: the papers that share terms with a question, by BM25 score.
bm25s's quirks end here: terms are ours (its tokeniser drops one-character words and takes a Chinese
sentence for one word), k never exceeds the corpus, papers that share no term are not returned.
Not known here: papers, spans, dense vectors.
"""

import math
import sys
from collections.abc import Collection, Iterable
from pathlib import Path

import bm25s
import numpy as np

from vectorstore.errors import IndexDamaged
from vectorstore.text import terms


class LexicalIndex:
    """BM25 (Lucene's variant, k1 = 1.5, b = 0.75; arXiv 2407.03618) over one generation, memory-mapped."""

    def __init__(self, folder: Path, size: int) -> None:
        """Raises IndexDamaged unless the folder holds an index of `size` papers."""
        try:
            self._bm25 = bm25s.BM25.load(folder, mmap=True)
        except (OSError, ValueError, KeyError, EOFError) as error:
            raise IndexDamaged(folder, f"bm25s cannot open it ({type(error).__name__})") from error
        if self._bm25.scores["num_docs"] != size:
            raise IndexDamaged(folder, f"it holds {self._bm25.scores['num_docs']} papers, not {size}")
        self._size = size

    def query(self, question: str, k: int, among: Collection[int] | None = None) -> list[tuple[int, float]]:
        """The `k` best papers as (paper number, score), best first; only `among`, where given."""
        known = [term for term in terms(question) if term in self._bm25.vocab_dict]
        if not known:
            return []
        scores = self._bm25.get_scores(known)
        if among is not None:
            kept = np.zeros(self._size, bool)
            kept[list(among)] = True
            scores = np.where(kept, scores, 0)
        best = np.argsort(-scores, kind="stable")[: min(k, self._size)]
        return [(int(number), float(scores[number])) for number in best if scores[number] > 0]

    def idf(self, term: str) -> float:
        """How rare an index term is, in nats: ln(1 + (N - n + 0.5) / (n + 0.5)), n the papers that hold it."""
        column = self._bm25.vocab_dict.get(term)
        holders = 0
        if column is not None:
            holders = int(self._bm25.scores["indptr"][column + 1] - self._bm25.scores["indptr"][column])
        return math.log(1 + (self._size - holders + 0.5) / (holders + 0.5))

    def knows(self, term: str) -> bool:
        """Whether any paper holds the index term."""
        return term in self._bm25.vocab_dict


def build_lexical(folder: Path, papers: Iterable[Iterable[str]]) -> None:
    """Write the index of `papers`, each as its index terms, into the new folder `folder`."""
    index = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    # One string a term, however often it occurs: 90,000 abstracts have 13 million occurrences.
    index.index([[sys.intern(term) for term in found] or [""] for found in papers], show_progress=False)
    index.save(folder)
