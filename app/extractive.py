"""The extractive writer: an answer made of the papers' own sentences.

In: a question as understood and ranked evidence. Out: quoted sentences with their citations, and the papers cited,
numbered in order of first mention. One to three sentences from the paper that answers; from several papers where
several are asked for or the question names several.
Not known here: whether to refuse, the question's history, how the answer is shown.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.answer import Quote, Sentence
from app.passages import Ranked, rank_passages
from app.question import Question
from vectorstore.paper import Evidence, Paper
from vectorstore.text import terms

SENTENCES = 3  # at most, from the paper that answers
SENTENCES_OF_MANY = 1  # from each paper, where many are listed
_WORTH = 2.0  # how far below the best sentence's score a further one may lie
_LISTED = 10  # papers, at most, where papers are asked for
_TOPIC_SCORE = 0.45  # of the best paper's fused score that a listed paper reaches
_TOPIC_COVERAGE = 0.5  # of the topic's information that a listed paper holds, or it is as similar as:
_TOPIC_SIMILARITY = 0.8  # of the best paper's similarity
_RARE = 0.75  # of the idf of the question's rarest term in the corpus: a term that names one thing
_COMPARED = 2
_BEARERS = 3  # papers, at most, that share a coined name


@dataclass(frozen=True)
class Written:
    """The sentences of an answer and the papers they cite; paper i of `papers` has number i + 1."""

    sentences: tuple[Sentence, ...] = ()
    papers: tuple[Paper, ...] = ()


def write(question: Question, evidence: Sequence[Evidence], weights: Mapping[str, float]) -> Written:
    """Quote what answers `question`. `weights` holds idf by index term of the question."""
    if question.is_several:
        chosen = [(found, SENTENCES_OF_MANY) for found in _on_topic(question, evidence, weights)]
    else:
        papers = _that_answer(question, evidence, weights)
        share = SENTENCES if len(papers) == 1 else 2
        chosen = [(found, share) for found in papers]
    sentences: list[Sentence] = []
    cited: list[Paper] = []
    for found, most in chosen:
        best = _best_sentences(rank_passages(question, found, weights), most)
        if best:
            cited.append(found.paper)
            sentences += [quoted(ranked, len(cited)) for ranked in best]
    return Written(tuple(sentences), tuple(cited))


def quoted(ranked: Ranked, number: int) -> Sentence:
    """A passage as a sentence of the answer, citing paper `number`."""
    passage = ranked.passage
    quote = Quote(paper_id=passage.paper.id, start=passage.start, end=passage.end, quote=passage.text)
    return Sentence(text=passage.text, citations=(number,), evidence=(quote,))


def _best_sentences(ranked: Sequence[Ranked], most: int) -> list[Ranked]:
    """The best sentences, best first: none that lies far below the best."""
    return [found for found in ranked[:most] if found.score >= ranked[0].score - _WORTH]


def _that_answer(question: Question, evidence: Sequence[Evidence], weights: Mapping[str, float]) -> list[Evidence]:
    """The first paper with an abstract, and for each name in the question that it lacks the first one that holds it."""
    quotable = [found for found in evidence if found.passages]
    if not quotable:
        return []
    chosen = [_named_first(question, quotable)]
    words = {found.paper.id: _words(found) for found in quotable}
    known = [t for t in question.topic if any(t in words[found.paper.id] for found in quotable)]
    rarest = max((weights.get(term, 0.0) for term in known), default=0.0)
    named = {term for name in question.names for term in terms(name)}
    for term in known:
        if (term in named or question.route == "compare") and weights.get(term, 0.0) >= _RARE * rarest:
            holders = [found for found in quotable if term in words[found.paper.id]]
            bearer = next((found for found in holders if _bears(found, term)), None)
            if bearer and not any(found in chosen for found in holders):
                chosen.append(bearer)
    if question.route == "compare" and len(chosen) < _COMPARED:
        chosen += [found for found in quotable if found not in chosen][: _COMPARED - len(chosen)]
    return chosen


def _on_topic(question: Question, evidence: Sequence[Evidence], weights: Mapping[str, float]) -> list[Evidence]:
    """The papers that are about the topic asked for."""
    total = sum(weights.get(term, 0.0) for term in question.topic)
    best = max((found.dense or 0.0 for found in evidence), default=0.0)
    chosen = []
    for found in evidence:
        held = sum(weights.get(term, 0.0) for term in set(question.topic) & _words(found))
        near = (found.dense or 0.0) >= _TOPIC_SIMILARITY * best or (total > 0 and held / total >= _TOPIC_COVERAGE)
        if found.passages and near and found.score >= _TOPIC_SCORE * evidence[0].score:
            chosen.append(found)
    return chosen[:_LISTED]


def _named_first(question: Question, quotable: Sequence[Evidence]) -> Evidence:
    """The first paper, unless it lacks a name that the question spells just as another paper does ("STAGE", where the
    first one only speaks of stages)."""
    asked = question.text.split()
    names = question.names or ((asked[0].strip("?!. ").upper(),) if len(question.topic) == 1 else ())
    for name in names if question.route in ("define", "summary") else ():
        exact = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
        texts = [f"{found.paper.title}\n{found.paper.abstract}" for found in quotable]
        if exact.search(texts[0]):
            continue
        bearers = [found for found, text in zip(quotable, texts, strict=True) if len(exact.findall(text)) > 1]
        if 0 < len(bearers) <= _BEARERS:
            return bearers[0]
    return quotable[0]


def _bears(found: Evidence, term: str) -> bool:
    """Whether a paper's title holds the term, or its abstract speaks of it more than once."""
    return term in terms(found.paper.title) or terms(found.paper.abstract).count(term) > 1


def _words(found: Evidence) -> set[str]:
    return set(terms(f"{found.paper.title} {found.paper.abstract}"))
