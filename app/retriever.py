"""The search of the index as a LangChain retriever.

In: a standalone question, with keywords, conditions and k as keyword arguments. Out: one document a paper, best
first, with its `Evidence`, the question's vector and the timings in the metadata.
Not known here: how the question was understood, what is written from the evidence.
"""

from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict

from vectorstore.paper import Filters
from vectorstore.search import Searcher


class PaperRetriever(BaseRetriever):
    """Hybrid search over one generation of an index."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    searcher: Searcher

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        keywords: str | None = None,
        filters: Filters | None = None,
        k: int = 30,
        **_: Any,
    ) -> list[Document]:
        found = self.searcher.search(query, k, filters, keywords)
        shared = {"vector": found.vector, "timings_ms": {"embed": found.embed_ms, "search": found.search_ms}}
        return [
            Document(
                page_content=evidence.paper.abstract,
                id=evidence.paper.id,
                metadata={"evidence": evidence, **shared},
            )
            for evidence in found.evidence
        ]
