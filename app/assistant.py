"""A question and its history to a cited answer: the whole chain, as LangChain runnables.

In: a question, turns, conditions. Out: `Answer`.
standalone question -> understanding -> retrieval -> refusal or writing. Switches to a new generation of the index
between two questions.
Not known here: transports, how answers are shown or judged.
"""

import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.documents import Document
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough

from app.answer import Answer, Conditions, RefusalReason, Turn
from app.compose import Draft, compose
from app.errors import EmptyQuestion, QuestionTooLong
from app.everyday import SUBJECTS
from app.extractive import Written, write
from app.question import Question, understand
from app.relevance import confidence, read_signs, reason_to_refuse
from app.retriever import PaperRetriever
from app.rewrite import standalone
from vectorstore.errors import VectorstoreError
from vectorstore.generation import current_folder
from vectorstore.paper import Evidence, Paper
from vectorstore.search import Searcher
from vectorstore.vectors import Chunk, Embedder, Vectors

_log = logging.getLogger("paperchat")

LONGEST_QUESTION = 4000  # characters; the model reads some 2,000


@dataclass(frozen=True)
class Asked:
    """What the chain starts from."""

    question: str
    history: tuple[Turn, ...]
    conditions: Conditions
    k: int
    started: float


class Assistant:
    """Answers questions from the live generation of one index. Safe to use from several threads."""

    def __init__(self, root: Path, embedder: Embedder, share: float | None = None) -> None:
        """`share` fixes what dense search weighs (`Searcher`).

        Raises NoIndex, IndexDamaged, OlderFormat, NewerFormat, OtherModel or ModelUnusable.
        """
        self._root = root
        self._embedder = embedder
        self._switching = threading.Lock()
        self._share = share
        self._searcher = Searcher(root, embedder, share)
        self._told = ""
        self._folder = current_folder(root)

    @property
    def corpus(self) -> str:
        """The hash of the live generation."""
        return self._live().corpus

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the model that the papers were embedded with."""
        return self._live().fingerprint

    @property
    def size(self) -> int:
        """How many papers there are."""
        return self._live().size

    def papers(self) -> list[Paper]:
        return self._live().papers()

    def paper(self, name: str) -> Paper | None:
        """The paper with that id, former id, alias or address."""
        return self._live().paper(_sound(name))

    def close(self) -> None:
        self._searcher.close()

    def warm_up(self) -> None:
        """Load the model, so that the first question does not wait for it."""
        self._everyday  # noqa: B018

    def ask(
        self, question: str, history: Sequence[Turn] = (), conditions: Conditions | None = None, k: int = 30
    ) -> Answer:
        """The cited answer, or an honest refusal, with the `k` best papers in `retrieved`.

        Raises EmptyQuestion or QuestionTooLong.
        """
        asked = Asked(_checked(question), tuple(history), conditions or Conditions(), k, time.perf_counter())
        answer: Answer = self.chain().invoke(asked)
        return answer

    def search(self, question: str, conditions: Conditions | None = None, k: int = 30) -> tuple[Evidence, ...]:
        """The ranking alone. Raises EmptyQuestion or QuestionTooLong."""
        return self._live().search(_checked(question), k, (conditions or Conditions()).filters()).evidence

    def chain(self) -> Runnable[Asked, Answer]:
        """The runnable from `Asked` to `Answer`; streaming it shows the question and the evidence before the text."""
        searcher = self._live()
        retriever = PaperRetriever(searcher=searcher)

        def read(asked: Asked) -> dict[str, Any]:
            alone = standalone(asked.question, asked.history, searcher.paper)
            return {"asked": asked, "standalone": alone, "question": understand(alone)}

        def retrieve(known: dict[str, Any]) -> list[Document]:
            asked: Asked = known["asked"]
            keywords = _keywords(known["question"], searcher)
            filters = asked.conditions.filters()
            return retriever.invoke(known["standalone"], keywords=keywords, filters=filters, k=asked.k)

        return (
            RunnableLambda(read)
            | RunnablePassthrough.assign(documents=RunnableLambda(retrieve))
            | RunnablePassthrough.assign(draft=RunnableLambda(lambda known: self._draft(known, searcher)))
            | RunnableLambda(lambda known: compose(known["draft"], known["asked"].started))
        )

    def _draft(self, known: dict[str, Any], searcher: Searcher) -> Draft:
        """Decide on refusal and write."""
        question: Question = known["question"]
        documents: list[Document] = known["documents"]
        evidence = [document.metadata["evidence"] for document in documents]
        weights = searcher.weights(question.topic)
        reason: RefusalReason | None = "empty_corpus"
        sure = 0.0
        if documents:
            everyday = float((self._everyday @ documents[0].metadata["vector"]).max())
            signs = read_signs(question, evidence, weights, searcher.unknown(question.topic), everyday)
            reason = reason_to_refuse(question, evidence, signs)
            sure = confidence(evidence, signs, reason)
        elif searcher.size:
            reason = "not_in_corpus"  # the conditions leave no paper
        written = Written() if reason or question.route == "meta" else write(question, evidence, weights)
        return Draft(
            asked=known["asked"].question,
            question=question,
            evidence=evidence,
            reason=reason or (None if written.sentences or question.route == "meta" else "not_in_corpus"),
            written=written,
            confidence=sure,
            corpus=searcher.corpus,
            papers=searcher.size,
            conditions=known["asked"].conditions,
            timings_ms=documents[0].metadata["timings_ms"] if documents else {"embed": 0.0, "search": 0.0},
        )

    def _live(self) -> Searcher:
        """The searcher of the live generation, opened anew when CURRENT names another that can be opened."""
        with self._switching:
            try:
                folder = current_folder(self._root)
                if folder != self._folder:
                    self._folder = folder  # also when it can't be opened: one line, not one a question
                    self._searcher = Searcher(self._root, self._embedder, self._share)
            except VectorstoreError as error:
                if str(error) != self._told:
                    _log.error("still answering from corpus %s: %s", self._searcher.corpus, error)
                self._told = str(error)
            return self._searcher

    @cached_property
    def _everyday(self) -> Vectors:
        """The vectors of the everyday subjects, shape (subjects, d)."""
        return np.stack([found.text for found in self._embedder.embed([Chunk(subject) for subject in SUBJECTS])])


def _checked(question: str) -> str:
    if not question.strip():
        raise EmptyQuestion
    if len(question) > LONGEST_QUESTION:
        raise QuestionTooLong(len(question), LONGEST_QUESTION)
    return _sound(question.strip())


def _sound(text: str) -> str:
    """Text without the lone surrogates that stray bytes and cut emoji leave behind."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _keywords(question: Question, searcher: Searcher) -> str | None:
    """What lexical search gets: the question; the name alone where that is asked about; of a question in another
    language the words that occur in the corpus."""
    if question.language == "en":
        return " ".join(question.topic) if question.route == "define" and question.topic else None
    unknown = set(searcher.unknown(question.topic))
    return " ".join(term for term in question.topic if term not in unknown)
