"""A follow-up to a question that stands on its own.

In: a question, the turns before it, and a way to look up the papers they cite. Out: the standalone question.
A question that refers back gets the labels of the papers that it refers to, or, where a client kept no ids, the
words of the last answer.
Not known here: retrieval, routes.
"""

import re
from collections.abc import Callable, Sequence

from app.answer import Turn
from app.question import understand
from vectorstore.paper import Paper
from vectorstore.text import plain

_REFERS = re.compile(
    r"(?i)\b(?:it|its|it's|they|them|their|he|she|his|her|this|these|those|the (?:authors?|paper|method|approach|model|"
    r"system|same|other|former|latter|first|second|third|last)(?: (?:one|paper))?|number \d|"
    r"(?:first|second|third|last|other) one|do i need|back to|"
    r"(?:about|of|for|with|does|do|is|was|on|behind|would|why|to|than) that|that (?:one|paper|method|work))\b"
    r"|^\W*that\b|#\d|\[\d+\]"
)
_CONTINUES = re.compile(
    r"(?i)^\W*(?:and|but|so|also|what about|how about|why|how come|who wrote|which of|did any|how much|how many)\b"
)
_GOES_ON = re.compile(r"(?i)^\W*(?:and|but|so|also|what about|how about)\b")
# Only a paper spoken of has these: "code?", "what is the speedup?"
_ASPECT = re.compile(
    r"(?i)^\W*(?:(?:what(?:'s| is| are| about)|any) )?(?:the |its )?(?:code|data|datasets?|results?|authors?|link|url|"
    r"github|details?|limitations?|baselines?|metrics?|speed-?up|accuracy|gain|cost|main (?:idea|result))\W*$"
)
# A question that names its subject stands alone, however short: "In how many cities was UrbanFusion evaluated?"
_PROPER_NOUN = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+\b")
_STANDS_ALONE = ("topic", "find", "summary")
_TURNS_AWAY = re.compile(
    r"(?i)\b(?:different (?:topic|question)|new topic|something else|changing the subject|unrelated)\b"
)
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "last": -1}
_ORDINAL = re.compile(
    r"(?i)\b(first|second|third|fourth|fifth|last)\b(?: one| paper)?|(?:\bnumber|\bno\.?|#|\[)\s*(\d+)\b"
)
_CONTEXT = 300  # characters of an answer's text that stand in for the papers it named
_SHORT = 4  # topic words; with fewer a question seldom stands alone


def standalone(question: str, history: Sequence[Turn], paper: Callable[[str], Paper | None]) -> str:
    """`question` itself, or with what it refers to in brackets behind it."""
    answers = [turn for turn in history if turn.role == "assistant"]
    if not answers or _TURNS_AWAY.search(question) or not _is_follow_up(question):
        return question
    about = _about(question, answers[-1], paper)
    return f"{question} [about: {about}]" if about else question


def _is_follow_up(question: str) -> bool:
    asked = understand(question)
    if asked.route in ("smalltalk", "meta"):
        return False
    if not asked.topic or _REFERS.search(question) or _GOES_ON.search(question) or _ASPECT.search(question):
        return True
    if asked.route in _STANDS_ALONE or asked.names or _PROPER_NOUN.search(question):
        return False
    if _CONTINUES.search(question):
        return len(asked.topic) <= _SHORT
    return len(asked.topic) < _SHORT and asked.route != "define"


def _about(question: str, answer: Turn, paper: Callable[[str], Paper | None]) -> str:
    cited = [found for name in answer.papers if (found := paper(name)) is not None]
    ordinal = _ORDINAL.search(question)
    place = None
    if ordinal:
        place = _ORDINALS[ordinal[1].lower()] if ordinal[1] else int(ordinal[2])
    if cited:
        chosen = cited[place - 1 if place and place > 0 else -1] if place and abs(place) <= len(cited) else cited[0]
        return plain(chosen.label)
    text = " ".join(answer.content.split())
    if place and (item := re.search(rf"(?:^|\s){place}[.)]\s+(.+?)(?=\s\d[.)]\s|$)", text)):
        return item[1][:_CONTEXT]
    return text[:_CONTEXT]
