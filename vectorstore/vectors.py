"""What is embedded, what comes back, and what an embedding model must offer.

In: chunks of text with the spans of their sentences. Out: the names that the rest of the project uses for them.
Not known here: any model.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Chunk:
    """What is embedded as one text, and the [start, end) spans in it that get a vector of their own."""

    text: str
    spans: tuple[tuple[int, int], ...] = ()

    @cached_property
    def key(self) -> str:
        """A digest of the text and its spans, in hexadecimal: what its vectors are kept under."""
        return hashlib.sha256(json.dumps([self.text, self.spans]).encode()).hexdigest()


@dataclass(frozen=True)
class Embedded:
    """A chunk's vectors: `text` has shape (d,), `spans` (number of spans, d)."""

    text: Vectors
    spans: Vectors


class Embedder(Protocol):
    """A text-embedding model. `fingerprint` changes whenever the vectors of its chunks would."""

    fingerprint: str
    dimension: int
    max_tokens: int | None

    def embed(self, chunks: Sequence[Chunk]) -> list[Embedded]: ...

    def embed_question(self, question: str) -> Vectors: ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]: ...


def unit(vector: Vectors) -> Vectors:
    """The vector with length 1, or the zero vector as it is."""
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0 else vector
