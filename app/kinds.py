"""The kinds of thing a question asks for, and what sentences that give it look like.

In: a question. Out: for each kind that it asks for, a pattern of answering sentences and what a match is worth.
The weights were fitted, with those of app/passages.py, on which sentence of the gold abstract holds the answer
(pairwise logistic regression on 141 development questions) and rounded.
Not known here: passages, papers.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """A kind of answer: how it is asked for, how it is given, and what it is worth that a sentence gives it."""

    asked: re.Pattern[str]
    given: re.Pattern[str]
    worth: float


def kinds_asked_for(question: str) -> list[Kind]:
    """The kinds of answer that `question` asks for; often none."""
    return [kind for kind in _KINDS if kind.asked.search(question)]


def _words(*alternatives: str, also: str = "") -> re.Pattern[str]:
    """A pattern of whole words, in any case, or of `also` anywhere."""
    pattern = rf"(?i:\b(?:{'|'.join(alternatives)})\b)"
    return re.compile(f"{pattern}|{also}" if also else pattern)


_FIGURE = Kind(
    asked=_words(
        "how (?:many|much|big|large|far|fast|often|long|high|low|small)",
        "by (?:how|what)",
        "(?:number|size|value) of|what value",
        "what (?:percent\\w*|share|fraction|rate|gain|accuracy|score|size|speed\\w*|factor)",
        "(?:max|maximum|best|average|mean) \\w+",
        "gains?|savings?|saved?|percentage|reduction|speed-?ups?|bound|accuracy|cost",
        "faster|slower|cheaper|quicker",
        "wie ?vielen?|combien|cuánt[oa]s?",
        also="多少|几|몇|얼마|どれくらい|いくつ",
    ),
    given=_words(
        "two|three|four|five|six|seven|eight|nine|ten|half|twice|double|dozens?|hundreds?|thousands?|millions?|billions?",
        also=r"\d|\b(?:Omega|Theta|O|log|ln|sqrt)\b",
    ),
    worth=1.7,
)
_DATA = Kind(
    asked=_words("data ?sets?|data|benchmarks?|corpus|corpora|test suites?", "(?:tested|evaluated|tried|run) on"),
    given=_words("data ?sets?|benchmarks?|experiments?|evaluat\\w*|test(?:ed|s)?|corpus|suites?", also=r"\bon [A-Z]"),
    worth=2.1,
)
_MEANS = Kind(
    asked=_words(
        "how (?:does|do|is|are|did|can)",
        "uses?",
        "(?:what|which) (?:\\w+ )?(?:method|optimi\\w+|algorithm|technique|trick|mechanism|tool|estimator|format|"
        "architecture|primitive|strategy|module|idea)s?",
    ),
    given=_words(
        "via|using|uses|through|leverag\\w+|employ\\w*|obtain\\w*|replac\\w+|comput\\w+|estimat\\w+",
        "by \\w+ing|based on|with an?",
    ),
    worth=0.6,
)
_CAUSE = Kind(
    asked=_words(
        "why|reasons?|causes?|wrong|problems?|fails?|badly|suffer\\w*|limit\\w*",
        "what (?:causes?|explains?|drives?|inspired)",
    ),
    given=_words(
        "because|due to|since|caus\\w+|lead\\w* to|suffer\\w*|results? in|arises?|stem\\w*|owing|thereby|as",
        "however|challeng\\w*|problem|issue|bias|explain\\w*",
    ),
    worth=0.6,
)
_RESULT = Kind(
    asked=_words("gains?|improv\\w+|outperform\\w*|achiev\\w*|reach\\w*|results?|better|best|performance|find|show"),
    given=_words(
        "gains?|improv\\w+|outperform\\w*|achiev\\w*|results?|reduc\\w+|increas\\w+|establish\\w*|demonstrat\\w*",
        "up to|show that|find that",
    ),
    worth=0.7,
)
_KINDS = (_FIGURE, _DATA, _MEANS, _CAUSE, _RESULT)
