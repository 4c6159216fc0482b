"""Which sentences of a paper answer a question.

In: a question, one paper's evidence, how rare each of the question's terms is. Out: the passages, best first.
A sentence answers when it holds what sets the question apart inside this abstract (a term that every sentence has
tells nothing), has the kind of thing that is asked for, and adds something to what the question already says.
Not known here: other papers, whether the question is answered at all.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.kinds import kinds_asked_for
from app.question import Question
from vectorstore.paper import Evidence, Passage
from vectorstore.text import plain, terms


@dataclass(frozen=True)
class Ranked:
    """A passage and how well it answers. Scores compare passages of one question; `coverage` (0 to 1) is the share
    of the question's information that the passage holds."""

    passage: Passage
    score: float
    coverage: float


# Where papers are asked for, the sentence to show is the one that says what the paper does.
_SAYS_WHAT_IT_DOES = re.compile(
    r"(?i)\b(?:we|this (?:paper|work)|our (?:work|method|approach)) (?:\w+ )?(?:propos|introduc|present|develop|stud|"
    r"show|investigat|prov|analy[sz]|formaliz|design|demonstrat|address|revisit|find|establish|cast|recast|apply)"
)
_DOES_WEIGHT = 1.5
_TERM_WEIGHT, _SIMILARITY_WEIGHT, _NEW_WEIGHT, _OPENING_PENALTY = 2.6, 1.8, 0.9, 4.0
_WHERE_CODE_IS = re.compile(
    r"(?i)^\W*(?:our |the |all )?(?:source |experimental )?(?:code|data|implementation|project page|models?)\b.{0,60}"
    r"\b(?:available|released?|open[- ]sourced?|found at|at http)|^\W*(?:code|project)\b.{0,12}https?:"
)
_ASKS_FOR_CODE = re.compile(
    r"(?i)\b(?:code|github|repository|implementation|open[- ]source|available|project page|url|link)\b"
)
_BACKWARD = re.compile(r"^\W*(?:This|These|It|They|Such|\w+ (?:by|on|from|with) (?:this|these)|As a result)\b")
_INHERITED = 0.5  # share of the foregoing sentence's term score that a sentence which refers back to it gets


def rank_passages(question: Question, evidence: Evidence, weights: Mapping[str, float]) -> list[Ranked]:
    """The paper's passages with scores, best first; ties in reading order. `weights` holds idf by index term."""
    held = [set(terms(passage.text)) for passage in evidence.passages]
    asked = question.topic or tuple(weights)
    local = _local_weights(asked, held, weights)
    matches = _matches(evidence.passages, [_share(local, words) for words in held])
    kinds = kinds_asked_for(question.text)
    everything = {term: weights.get(term, 0.0) for term in asked}
    ranked = []
    for place, passage in enumerate(evidence.passages):
        text = plain(passage.text)
        score = _TERM_WEIGHT * matches[place] + _SIMILARITY_WEIGHT * evidence.similarities[place]
        score += _NEW_WEIGHT * math.log1p(len(held[place].difference(asked)))
        gives = all(kind.given.search(text) for kind in kinds)
        score += sum(kind.worth for kind in kinds if kind.given.search(text))
        if question.is_several and _SAYS_WHAT_IT_DOES.search(text):
            score += _DOES_WEIGHT
        elif place == 0 and len(held) > 2 and not (kinds and matches[0] == max(matches) and gives):
            score -= _OPENING_PENALTY  # it says what the field is about
        if _WHERE_CODE_IS.search(text) and not _ASKS_FOR_CODE.search(question.text):
            score -= _OPENING_PENALTY
        ranked.append(Ranked(passage, score, _share(everything, held[place])))
    return sorted(ranked, key=lambda found: -found.score)


def _local_weights(asked: Sequence[str], held: Sequence[set[str]], weights: Mapping[str, float]) -> dict[str, float]:
    """idf of each asked term, times how few of this abstract's sentences hold it; terms that none holds are out."""
    local = {}
    for term in asked:
        holders = sum(term in words for words in held)
        if holders:
            local[term] = weights.get(term, 0.0) * math.log1p(len(held) / holders)
    return local


def _share(weights: Mapping[str, float], words: set[str]) -> float:
    total = sum(weights.values())
    return sum(weight for term, weight in weights.items() if term in words) / total if total else 0.0


def _matches(passages: Sequence[Passage], shares: Sequence[float]) -> list[float]:
    """Term scores; a sentence that refers back ("This imbalance ...") shares in the one before."""
    return [
        max(share, _INHERITED * shares[place - 1]) if place and _BACKWARD.match(passages[place].text) else share
        for place, share in enumerate(shares)
    ]
