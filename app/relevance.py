"""Whether the corpus answers a question at all.

In: a question as understood, what the search found, how near everyday subjects are to it. Out: the reason to refuse, or
None. Not known here: how a refusal is worded, which sentences answer.

Measured on questions over 37 and 6,605 papers: the similarity of the best paper alone can't tell a question about
hotels from one about research, because the best of many papers is always a little similar; what tells them apart is
whether an everyday subject is nearer than every paper.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.answer import RefusalReason
from app.question import GENERIC, Question
from vectorstore.paper import Evidence, searchable
from vectorstore.text import plain, terms

_EVERYDAY_MARGIN = 0.16  # by how much an everyday subject must be nearer than the best paper
_LEAST = 0.2  # of similarity + _PER_COVERAGE * coverage of the best papers
_PER_COVERAGE = 0.35
_NAMED_COVERAGE = 0.5  # a question of which a paper holds this much is about that paper, however it is put
_FEW = 3  # with so few other topic words a question is about the name that it holds

_ASK_FOR_A_DETAIL = ("fact", "define", "summary", "compare")

# Details that abstracts leave out. Each is answered only by an abstract that speaks of it.
_DETAILS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (re.compile(ask, re.IGNORECASE), re.compile(held, re.IGNORECASE))
    for ask, held in (
        (r"\blearning rates?\b", r"learning rate"),
        (r"\bbatch sizes?\b", r"batch siz"),
        (
            r"\bhow many (?:\w+ )?gpus?\b|\bnumber of gpus?\b|\bgpu (?:hours|days)\b",
            r"\d+\s*(?:\w+\s+)?gpus?\b|gpu[- ](?:hour|day)",
        ),
        (r"\bhow many (?:\w+ )?epochs\b|\bnumber of (?:\w+ )?epochs\b", r"\d+ epochs"),
        (r"\blicen[cs]e[ds]?\b", r"licen[cs]e"),
        (r"\bhow many parameters\b|\bparameter count\b|\bnumber of parameters\b", r"\d+(?:\.\d+)?\s*[mb]\b|parameters"),
        (r"\brandom seeds?\b|\bhow many seeds\b", r"\bseeds?\b"),
        (r"\bweight decay\b", r"weight decay"),
        (r"\bdropout rate\b", r"dropout"),
        (
            r"\b(?:latency|runtime|inference time)\b.*\b(?:in )?(?:ms|milliseconds|seconds)\b",
            r"\d\s*(?:ms|milliseconds?|s|seconds?)\b",
        ),
        (r"\b(?:training|wall[- ]clock) time\b.*\b(?:hours|days)\b", r"\d\s*(?:hours?|days?)\b"),
        (
            r"\b(?:proof|prove) of (?:theorem|lemma)\b|\btheorem \d|\blemma \d|\btable \d|\bfigure \d|\bappendix\b",
            r"(?!)",
        ),
    )
)


@dataclass(frozen=True)
class Signs:
    """What a refusal is decided on: the cosine of the question and the nearest everyday subject, the share of the
    question's information that the best paper holds, and its terms that no paper holds."""

    everyday: float
    coverage: float
    unknown: tuple[str, ...]


def read_signs(
    question: Question,
    evidence: Sequence[Evidence],
    weights: Mapping[str, float],
    unknown: Sequence[str],
    everyday: float,
) -> Signs:
    """The signs for a question: `weights` holds idf by topic term, `unknown` the terms that no paper holds."""
    total = sum(weights.get(term, 0.0) for term in question.topic)
    held = set(terms(searchable(evidence[0].paper))) if evidence else set()
    covered = sum(weights.get(term, 0.0) for term in question.topic if term in held)
    return Signs(everyday, covered / total if total else 0.0, tuple(unknown))


def reason_to_refuse(question: Question, evidence: Sequence[Evidence], signs: Signs) -> RefusalReason | None:
    """Why the question is not to be answered from `evidence` (best first), or None."""
    if not evidence:
        return "empty_corpus"
    if question.route == "meta":
        return None
    if question.route == "smalltalk":
        return "off_topic"
    if _asks_for_unknown_name(question, signs):
        return "not_in_corpus"
    if _is_off_topic(question, evidence, signs):
        return "off_topic"
    if not question.is_several and not evidence[0].passages:
        return "not_in_abstract"
    if question.route in _ASK_FOR_A_DETAIL and _asks_for_left_out_detail(question, evidence[0]):
        return "not_in_abstract"
    return None


def confidence(evidence: Sequence[Evidence], signs: Signs, reason: RefusalReason | None) -> float:
    """How much speaks for an answer, 0 or more: what the refusal of off-topic questions weighs, as one number.

    A question that is refused for another reason than its subject is at 0: no threshold decides that.
    """
    if reason not in (None, "off_topic"):
        return 0.0
    best = _best(evidence)
    return max(0.0, best + _PER_COVERAGE * signs.coverage - max(0.0, signs.everyday - best))


def _best(evidence: Sequence[Evidence]) -> float:
    """The cosine of the question and the paper nearest to it."""
    return max((found.dense for found in evidence if found.dense is not None), default=0.0)


def _is_off_topic(question: Question, evidence: Sequence[Evidence], signs: Signs) -> bool:
    if question.language != "en":  # the default model reads English: only the words that occur in papers speak
        return signs.coverage == 0.0
    best = _best(evidence)
    if signs.everyday - best > _EVERYDAY_MARGIN and signs.coverage < 1.0:
        return True
    return best + _PER_COVERAGE * signs.coverage < _LEAST and signs.coverage < _NAMED_COVERAGE


def _asks_for_unknown_name(question: Question, signs: Signs) -> bool:
    """Whether the question is about a name that no paper holds ("What datasets does QuokkaNet use?")."""
    unknown = set(signs.unknown)
    strange = [name for name in question.names if unknown.intersection(terms(name))]
    others = set(question.topic).difference(*(terms(name) for name in question.names)) - GENERIC
    return bool(strange) and len(strange) == len(question.names) and len(others) < _FEW


def _asks_for_left_out_detail(question: Question, best: Evidence) -> bool:
    asked, held = plain(question.text), plain(f"{best.paper.title} {best.paper.abstract}")
    return any(ask.search(asked) and not answer.search(held) for ask, answer in _DETAILS)
