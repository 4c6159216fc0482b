"""A cheap double of an embedding model, for tests and for trying the machinery at scale.

In: chunks, a question. Out: unit vectors that are near when the texts share terms.
Not known here: meaning.
"""

import hashlib
from collections.abc import Sequence

import numpy as np

from vectorstore.text import terms
from vectorstore.vectors import Chunk, Embedded, Vectors, unit


class HashingEmbedder:
    """A cheap double: signed feature hashing of terms (Weinberger et al., arXiv 0902.2206). No weights, no meaning."""

    fingerprint = "hashing-256-v1"
    dimension = 256
    max_tokens: int | None = None

    def embed(self, chunks: Sequence[Chunk]) -> list[Embedded]:
        return [
            Embedded(self._vector(c.text), self._stack([self._vector(c.text[s:e]) for s, e in c.spans])) for c in chunks
        ]

    def embed_question(self, question: str) -> Vectors:
        return self._vector(question)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def _stack(self, vectors: list[Vectors]) -> Vectors:
        return np.array(vectors, np.float32).reshape(-1, self.dimension)

    def _vector(self, text: str) -> Vectors:
        vector = np.zeros(self.dimension, np.float32)
        for term in terms(text):
            digest = hashlib.blake2b(term.encode(), digest_size=4).digest()
            vector[int.from_bytes(digest[:3]) % self.dimension] += 1 if digest[3] % 2 else -1
        return unit(vector)
