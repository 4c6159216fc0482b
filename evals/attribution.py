"""Does each sentence follow from what it cites? Citation recall and precision after ALCE (arXiv 2305.14627).

In: a trial. Out: the share of sentences that their cited passages support, of citations that are needed, and of the
text that is cited at all. The passages are read from the stored papers by the spans that an answer gives, so a quote
that is not there supports nothing.
A quotation is supported by a passage that contains it, mark-up aside; a written sentence by the verifier that the
product shows it by.
Not known here: which papers are the right ones (grounding.py).
"""

import re
from collections.abc import Sequence

from app.answer import LEFT_OUT, Quote, Sentence
from evals.case import Case
from evals.gold import Gold
from evals.grounding import contains
from evals.measure import Measure, Score, Trial, listed
from evals.retrieval import cites

_BOLD = re.compile(r"\*\*.*?\*\*:?")
_MARK = re.compile(r"\[\d+\]")
_WORD = re.compile(r"[^\W_]+")
_SHOWN = 40  # characters of either end of a long sentence in a reason
_FEW = 3  # words that are left of a text and still say nothing


def passages(trial: Trial, quotes: Sequence[Quote]) -> tuple[str, ...]:
    """What stands in the stored papers where the quotes say that they are from."""
    found = []
    for quote in quotes:
        paper = trial.paper(quote.paper_id)
        if paper is None:
            continue
        value = getattr(paper, quote.field)
        if isinstance(value, str) and quote.start is not None and quote.end is not None:
            found.append(value[max(0, quote.start) : max(0, quote.end)])
        else:
            found.append(", ".join(value) if isinstance(value, tuple) else str(value))
    return tuple(found)


def is_supported(sentence: Sentence, spans: Sequence[str]) -> bool:
    """Whether `spans` hold what the sentence says."""
    return all(any(contains(span, part) for span in spans) for part in sentence.text.split(LEFT_OUT))


def citation_recall(trial: Trial) -> Score:
    """Share of the sentences that all their cited passages together support."""
    sentences = _claims(trial)
    if not sentences:
        return Score(value=0.0, reason=trial.why_nothing_cited)
    without = [s for s in sentences if not (s.citations and is_supported(s, passages(trial, s.evidence)))]
    value = 1 - len(without) / len(sentences)
    told = tuple(f"'{_short(sentence.text)}'" for sentence in without)
    return Score(value=value, reason=f"not supported: {listed(told)}" if told else "every sentence is supported")


def citation_need(trial: Trial) -> Score:
    """Share of the citations without which, and with which alone, their sentence is not as well supported: a citation
    counts where its sentence is supported and either it supports it alone or the others do not."""
    numbers = {paper.id: paper.number for paper in trial.answer.papers}
    good = 0
    needless: list[str] = []
    for sentence in _claims(trial):
        whole = is_supported(sentence, passages(trial, sentence.evidence))
        for number in sentence.citations:
            own = [quote for quote in sentence.evidence if numbers.get(quote.paper_id) == number]
            others = [quote for quote in sentence.evidence if numbers.get(quote.paper_id) != number]
            needed = is_supported(sentence, passages(trial, own)) or not is_supported(sentence, passages(trial, others))
            if whole and needed:
                good += 1
            else:
                needless.append(f"[{number}] of '{sentence.text[:40]}'")
    total = good + len(needless)
    if not total:
        return Score(value=0.0, reason=trial.why_nothing_cited)
    return Score(
        value=good / total, reason=f"not needed: {listed(tuple(needless))}" if needless else "each citation counts"
    )


def cited_share(trial: Trial) -> Score:
    """Share of the sentences of the text that have a citation; headings, counts and refusals are no such sentences."""
    answer = trial.answer
    text = answer.text
    for own in (answer.lead.text if answer.lead else "", answer.refusal.message if answer.refusal else ""):
        text = text.replace(own, "\n") if own else text
    cited = [sentence for sentence in answer.sentences if sentence.citations]
    for sentence in sorted(cited, key=lambda sentence: -len(sentence.text)):
        marks = "".join(f"[{number}]" for number in sentence.citations)
        text = text.replace(f"{sentence.text} {marks}", "\n").replace(sentence.text, "\n")
    rest = _MARK.sub(" ", _BOLD.sub(" ", text))
    uncited = tuple(line.strip() for line in rest.split("\n") if len(_WORD.findall(line)) > _FEW)
    if not cited and not uncited:
        return Score(value=1.0, reason="nothing is claimed")
    value = len(cited) / (len(cited) + len(uncited))
    told = listed(tuple(f"'{line[:60]}'" for line in uncited))
    return Score(value=value, reason=f"without citation: {told}" if uncited else "every sentence is cited")


def _short(text: str) -> str:
    return text if len(text) <= 2 * _SHOWN else f"{text[:_SHOWN]} … {text[-_SHOWN:]}"


def _claims(trial: Trial) -> tuple[Sentence, ...]:
    """The sentences of an answer, those of a table's cells included."""
    answer = trial.answer
    if answer.status != "answered":
        return ()
    numbers = {paper.id: paper.number for paper in answer.papers}
    cells = [cell for row in (answer.table.rows if answer.table else ()) for cell in row.cells if cell]
    table = [
        Sentence(text=cell.text, citations=citations, evidence=cell.evidence, support="supported")
        for cell in cells
        if (citations := tuple(dict.fromkeys(numbers[q.paper_id] for q in cell.evidence if q.paper_id in numbers)))
    ]
    return (*answer.sentences, *table)


def _always(case: Case, gold: Gold) -> bool:
    return True


_ALCE = "ALCE (arXiv 2305.14627), with containment and the product's verifier in place of an entailment model"

MEASURES: tuple[Measure, ...] = (
    Measure(
        "ALCE recall",
        "Share of the sentences that the passages they cite support, read from the stored papers. A refusal scores 0.",
        _ALCE,
        cites,
        citation_recall,
    ),
    Measure(
        "ALCE precision",
        "Share of the citations that count: their sentence is supported, by this one alone or not without it. "
        "A refusal scores 0.",
        _ALCE,
        cites,
        citation_need,
    ),
    Measure(
        "sentences cited",
        "Share of the sentences in the answer's text that have a citation; 1 where nothing is claimed.",
        "the complement of the share of uncited sentences (Liu et al., arXiv 2304.09848, ask every sentence to be)",
        _always,
        cited_share,
    ),
)
