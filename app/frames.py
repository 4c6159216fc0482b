"""The sentences that are ours and not a paper's: refusals and leads, each once.

In: a reason, counts. Out: text for people. Page, evals and tests import these.
Not known here: when to refuse.
"""

from app.answer import RefusalReason

REFUSALS: dict[RefusalReason, str] = {
    "off_topic": "This is outside the papers of this collection, so there is nothing to cite for it.",
    "not_in_corpus": "None of the {papers} papers here answers that. The nearest ones are listed below.",
    "not_in_abstract": "The abstract does not say. The full paper may: its address is listed below.",
    "empty_corpus": "There are no papers yet. Run `paperchat ingest SOURCE` first.",
    "needs_model": "This needs a language model, and none is configured.",
}


def refusal(reason: RefusalReason, papers: int) -> str:
    """The sentence that says why nothing is answered, over a corpus of `papers` papers."""
    return REFUSALS[reason].format(papers=f"{papers:,}")


def corpus_lead(papers: int, venues: str) -> str:
    """What the collection holds."""
    return f"This collection holds {papers:,} papers{f' ({venues})' if venues else ''}. Ask about any of them."
