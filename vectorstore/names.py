"""What to call a paper that has no title.

In: an abstract. Out: the name it coins for its own method, or its first clause; never a number or a hash.
Not known here: papers, titles, indexes.
"""

import re

from vectorstore.text import plain

_VERB = r"\b(?:[Pp]ropos|[Ii]ntroduc|[Pp]resent|[Dd]evelop|[Dd]esign|[Ii]nstantiat)(?:e|es|ed|s|ing)?\s+"
# A coined name shows an inner capital, a digit after a capital, or a plus: "TokenDrop", "DyCo-CL", "PrivCode++".
_COINED = r"(?=[\w-]*[A-Z][\w-]*[A-Z0-9+])[A-Z][\w-]*\+*(?<!-based)(?<!-aware)(?<!-free)(?<!-level)"
_WORDS = r"[A-Z][\w-]+(?: (?:[A-Z][\w-]+|with|of|for)){0,5} [A-Z][\w-]+"
_NAME = rf"(?P<name>{_WORDS}|{_COINED})(?P<short> \({_COINED}\))?"
_END = r"(?![\w-])"
# From the surest to the loosest place for a name.
_PLACES = [
    re.compile(_VERB + _NAME + _END),
    re.compile(
        r"\b(?:called|named|termed|dubbed|introduction of|(?:framework|algorithm|method|model) as) " + _NAME + _END
    ),
    re.compile(_VERB + rf"[^.;]{{0,80}}?[,:] (?P<name>{_COINED})(?P<short>)(?= \(|, )"),
    re.compile(_VERB + rf"[^.;,]{{0,100}}?\((?P<name>{_COINED})(?P<short>)\)"),
]
# Between the verb and a name: then the name is what is built on ("a test that allows known martingales (CTMs) ...").
_BUILDS_ON = re.compile(r"\b(?:that|which|of|for|to|in|on|based|support|variant|using|with)\b")
_WORDS_OF_CLAUSE = 12
_COMMA = re.compile(r"(.*?(?:^|\s)[^\s-]+), ")  # the first one not behind a compound ("an algorithm-independent, ...")


def name_of_untitled(abstract: str) -> str:
    """The name an abstract coins ("Global PSRO"), else its first clause; "" for an empty abstract."""
    text = " ".join(plain(abstract).split())
    return coined_name(text) or first_clause(text)


def coined_name(text: str) -> str:
    """The name that `text` gives what it proposes, with its short form where one follows, or ""."""
    for place in _PLACES:
        found = place.search(text)
        if found and not (place in _PLACES[2:] and _BUILDS_ON.search(text, found.start(), found.start("name"))):
            return found["name"] + (found["short"] or "")
    return ""


def first_clause(text: str) -> str:
    """The text up to its first comma, semicolon or full stop, at most a dozen words."""
    clause = re.split(r"[;:]\s|\.\s|\.$|\s[—–]\s", text, maxsplit=1)[0]
    if comma := _COMMA.match(clause):
        clause = comma[1]
    words = clause.split()
    return " ".join(words[:_WORDS_OF_CLAUSE]) + (" …" if len(words) > _WORDS_OF_CLAUSE else "")
