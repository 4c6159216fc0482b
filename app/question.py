"""A question to what it asks for: deterministic, without a model.

In: a question that stands on its own. Out: `Question`: its route, its language, the words that carry its topic.
Not known here: the corpus, retrieval, how an answer is written.
"""

import re
from dataclasses import dataclass

from app.answer import Route
from app.language import FUNCTION_WORDS, language_of
from vectorstore.text import plain, terms

# Words that ask or refer to papers in general and so say nothing of what a question is about.
_GENERIC_WORDS = (
    "paper papers work works article articles abstract abstracts author authors study studies publication method "
    "methods approach approaches propose proposed use uses used using show shows showing find finds found recall "
    "remember know knows someone anybody anyone something anything everything thing things tell give list name what "
    "which how much many kind type say says said make makes need needs want get gets do does about deal deals with "
    "paper's here there any please summarise summarize explain describe report reports reported present presented "
    "conference icml corpus collection research researcher researchers looking look interested idea ideas one ones "
    "two three between difference compare compared versus vs stand stands mean means meaning short describe called "
    "is it its me more this that these those and or not no new model models go goes went"
)
GENERIC = frozenset(term for word in _GENERIC_WORDS.split() for term in terms(word))

_GREETING = (
    r"hi|hello|hey|good (?:morning|evening|day)|thanks?|thank you|bye|ok(?:ay)?|cool|great|"
    r"你好|谢谢|hallo|danke|bonjour|merci|hola|gracias"
)
_HERE = r"(?:in|here|in total|altogether|overall|the|this|corpus|collection|index|total)"
_PAPERS = r"(?:papers|works|articles|abstracts|studies)"
# The first route with a pattern that occurs in a question is the question's.
_ROUTES: tuple[tuple[Route, tuple[str, ...]], ...] = (
    (
        "smalltalk",
        (
            rf"^\W*(?:(?:{_GREETING})\b[\s,!.:)]*){{1,3}}"
            r"(?:(?:how are you|what'?s up|how do you do)[\w\s]*)?\W*$",
            r"^\W*how are you\b.{0,20}$",
        ),
    ),
    (
        "meta",
        (
            rf"^\W*how many {_PAPERS} (?:are there|do you (?:have|know)|are (?:in|here))(?: {_HERE})*\W*$",
            r"^\W*what (?:can you do|is this(?: corpus| collection)?|do you know)\W*$",
            r"^\W*what is in (?:this|the) (?:corpus|collection|index)\W*$",
            r"^\W*which conference is this\W*$",
        ),
    ),
    (
        "compare",
        (
            r"\b(?:vs\.?|versus|differences? between|differ from|respectively|do they agree)\b",
            r"^\W*(?:compare|comparison)\b|\b(?:does|do|is|in) each\b",
            r"\bhow (?:are|is|do|does|did) .{3,80} (?:differ|different|compare)\b",
        ),
    ),
    (
        "define",
        (
            r"\b(?:stands? for|short for|meaning of|abbreviat\w+)\b",
            r"^\W*what(?:'s| is| are)? (?:an? |the )?[\w+-]+\W*$",
            r"^\W*[\w+-]+\s*\??\W*$",
            r"^\W*(?:who|what) (?:or what )?is [\w+-]+\W*$",
        ),
    ),
    ("summary", (r"^\W*(?:please )?(?:summari[sz]e|summary of|give (?:me )?(?:a|the) summary|tl;?dr)\b",)),
    (
        "topic",
        (
            rf"\b(?:which|what|list(?: all)?|any|all|show(?: me)?|find(?: me)?|other) (?:the |some )?{_PAPERS}\b",
            rf"\bare there (?:any )?{_PAPERS}\b",
            rf"^\W*(?:{_PAPERS}|methods|research) (?:on|about|that|which|using|for|dealing|with|in|of)\b",
            r"\banything (?:on|about)\b|\bwho (?:does|works on|studies|do)\b|^\W*any work on\b",
            r"^[^?]*\b(?:papers|methods)\s*\??$|: which papers\b",
        ),
    ),
    (
        "find",
        (
            r"\bi (?:recall|remember|seem to recall|am after|'?m looking for|am looking for)\b",
            r"\b(?:which|what) paper\b|\bis there (?:a |any )?(?:paper|work|study|research)\b",
            r"\bpaper (?:that|where|on|about|with)\b|\b(?:someone|somebody|looking for)\b",
        ),
    ),
)
_COMPILED = tuple((route, re.compile("|".join(patterns), re.IGNORECASE)) for route, patterns in _ROUTES)
_ASKS = re.compile(
    r"(?i)\?|^\W*(?:what|which|how|why|when|where|who|whose|does|do|did|is|are|was|were|can|could|should|"
    r"in which|by how|on (?:which|how|what)|for (?:which|what)|to what|up to|number of|max|best)\b"
)
# A coined name shows an inner capital, a digit or a run of capitals; other scripts may stand right beside it.
_COINED = re.compile(
    r"(?<![A-Za-z0-9-])(?=[A-Za-z0-9+-]*[A-Z0-9][A-Za-z0-9+-]*[A-Z0-9]|[A-Z][a-z]+[A-Z])[A-Za-z][A-Za-z0-9-]*\+*"
    r"(?![A-Za-z0-9])"
)


@dataclass(frozen=True)
class Question:
    """A question as understood. `topic` are its index terms that say what it is about, in order, each once;
    `names` the words in it that look like a method's coined name."""

    text: str
    route: Route
    language: str
    topic: tuple[str, ...]
    names: tuple[str, ...]

    @property
    def is_several(self) -> bool:
        """Whether it asks for papers, as many as there are, rather than for one answer."""
        return self.route in ("topic", "list")


def understand(text: str) -> Question:
    """What `text` asks for."""
    asked = plain(text)
    language = language_of(text)
    empty = GENERIC | {term for word in FUNCTION_WORDS.get(language, ()) for term in terms(word)}
    topic = tuple(term for term in dict.fromkeys(terms(asked)) if term not in empty)
    return Question(text, _route(asked), language, topic, tuple(dict.fromkeys(_COINED.findall(asked))))


def _route(text: str) -> Route:
    for route, pattern in _COMPILED:
        if pattern.search(text):
            return route
    return "fact" if _ASKS.search(text) else "find"
