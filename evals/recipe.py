"""The recipe of most tutorials, to compare with: LangChain, Chroma, similarity search over 1,000-character chunks.

In: settings. Out: a `System` that quotes the four chunks nearest to a question, whatever it is; it knows no refusal,
no names, no history. The embedding model is the product's, so that what differs is the rest.
The one place that knows langchain-chroma and LangChain's text splitters, which only evaluations need.
Not known here: how it is scored.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from app.answer import Answer, CitedPaper, Quote, Retrieved, Sentence, Turn
from app.assistant import Assistant
from app.settings import Settings
from app.whole import open_assistant
from evals.errors import PackageMissing
from vectorstore.cache import EmbeddingCache
from vectorstore.paper import Paper
from vectorstore.vectors import Chunk, Embedder

_CHUNK, _OVERLAP = 1000, 200  # characters
_SHOWN = 4  # chunks in an answer, LangChain's default
_RANKED = 30  # papers
_BATCH = 2000  # documents added at once; Chroma takes 5,461


def open_recipe(settings: Settings) -> "Recipe":
    """The recipe over the papers of the settings' index; its vectors are cached beside it. Raises PackageMissing."""
    from app.whole import chosen_embedder

    product = open_assistant(settings)
    folder = settings.index_dir.with_name(f"{settings.index_dir.name}-recipe")
    folder.mkdir(parents=True, exist_ok=True)
    return Recipe(product, chosen_embedder(settings), folder)


class _Cached(Embeddings):
    """The product's model as LangChain's, each text computed once."""

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        self._embedder, self._path = embedder, folder / "embeddings.sqlite3"

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        chunks = [Chunk(text) for text in texts]
        with EmbeddingCache(self._path) as cache:
            cache.fill(chunks, self._embedder)
            return [cache.vector(chunk.key, self._embedder).text.tolist() for chunk in chunks]

    def embed_query(self, text: str) -> list[float]:
        found: list[float] = self._embedder.embed_question(text).tolist()
        return found


class Recipe:
    """Similarity search and nothing else. Papers without an abstract can't be found."""

    def __init__(self, product: Assistant, embedder: Embedder, folder: Path) -> None:
        try:
            from langchain_chroma import Chroma
            from langchain_text_splitters import RecursiveCharacterTextSplitter
        except ImportError as error:
            raise PackageMissing("recipe", "langchain-chroma langchain-text-splitters") from error
        self._product = product
        self._papers = {paper.id: paper for paper in product.papers()}
        splitter = RecursiveCharacterTextSplitter(chunk_size=_CHUNK, chunk_overlap=_OVERLAP, add_start_index=True)
        sources = [
            Document(page_content=paper.abstract, metadata={"id": paper.id})
            for paper in self._papers.values()
            if paper.abstract
        ]
        chunks = splitter.split_documents(sources)
        self._size = len(chunks)
        self._store: Any = Chroma(
            collection_name=f"recipe-{uuid4().hex}",
            embedding_function=_Cached(embedder, folder),
            collection_metadata={"hnsw:space": "cosine"},
        )
        for first in range(0, len(chunks), _BATCH):
            self._store.add_documents(chunks[first : first + _BATCH])

    @property
    def corpus(self) -> str:
        return self._product.corpus

    @property
    def fingerprint(self) -> str:
        return self._product.fingerprint

    def papers(self) -> list[Paper]:
        return list(self._papers.values())

    def paper(self, name: str, /) -> Paper | None:
        return self._product.paper(name)

    def close(self) -> None:
        self._store.delete_collection()
        self._product.close()

    def ask(self, question: str, history: Sequence[Turn] = ()) -> Answer:
        """The nearest chunks, quoted. The history is not looked at."""
        started = time.perf_counter()
        found: list[tuple[Document, float]] = self._store.similarity_search_with_score(
            question, k=min(self._size, 4 * _RANKED)
        )
        searched = time.perf_counter()
        ranked = dict[str, float]()
        for document, distance in found:
            ranked.setdefault(document.metadata["id"], 1 - distance)
        rows = [(id, score) for id, score in ranked.items()][:_RANKED]
        shown = [document for document, _ in found[:_SHOWN]]
        numbers = {id: n for n, id in enumerate(dict.fromkeys(d.metadata["id"] for d in shown), start=1)}
        sentences = tuple(self._quoted(document, numbers) for document in shown)
        return Answer(
            question=question,
            standalone_question=question,
            status="answered",
            route="find",
            text="\n\n".join(f"{sentence.text} [{sentence.citations[0]}]" for sentence in sentences),
            sentences=sentences,
            papers=tuple(CitedPaper.cited(number, self._papers[id]) for id, number in numbers.items()),
            retrieved=tuple(
                Retrieved(id=id, rank=rank, score=max(0.0, score), found_by=("dense",))
                for rank, (id, score) in enumerate(rows, start=1)
            ),
            writer="recipe",
            corpus=self.corpus,
            timings_ms={"search": round(1000 * (searched - started), 2)},
        )

    def _quoted(self, document: Document, numbers: dict[str, int]) -> Sentence:
        id, start, text = document.metadata["id"], int(document.metadata["start_index"]), document.page_content
        quote = Quote(paper_id=id, start=start, end=start + len(text), quote=text)
        return Sentence(text=text, citations=(numbers[id],), evidence=(quote,))
