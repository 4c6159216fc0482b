"""What in a text may tell who somebody is or let somebody in, so that it does not end in a set of questions.

In: a text. Out: what was found, where and of which kind: e-mail addresses, telephone numbers, web addresses and words
that carry a key, names that people give as theirs. It warns a person who decides, so it would rather find too much;
what papers are full of (dates, figures, arXiv numbers, addresses of code) it leaves alone.
Not known here: where the text is from, what is done about it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

# Lengths are bounded, so that no text takes long.
_EMAIL = re.compile(
    r"(?i)(?<![\w.+'-])[\w.+'-]{1,64}(?:[@＠][\w-]{1,63}(?:\.[\w-]{1,63}){0,4}\.[a-z]{2,24}"
    r"|\s?(?:[(\[]at[)\]]|\sat\s)\s?[\w-]{1,63}(?:\s?(?:[(\[]dot[)\]]|\sdot\s)\s?[\w-]{1,63}){1,5})(?![\w-])"
)
_PHONE = re.compile(r"(?<![\w.,/-])(?:\+|\(\+?|00)?\d[\d\s()./\u2010-\u2013-]{5,22}\d(?![\w-]|[.,]\d)")
_DATE = re.compile(
    r"(?:19|20)\d\d(?:[-./–]\d\d?){1,2}|\d\d?[-./]\d\d?[-./](?:19|20)?\d\d|(?:19|20)\d\d\s?[-–/]\s?(?:19|20)?\d\d"
)
_ARXIV = re.compile(r"\d{4}\.\d{4,5}")
_URL = re.compile(r"\b(?:https?|ftp|wss?)://[^\s<>\"'）】]+|\bwww\.[^\s<>\"']+", re.IGNORECASE)
_SECRET_NAME = re.compile(
    r"(?i)(?:^|[?&#;])(?:[\w-]{0,40}(?:token|secret|password|passwd|pwd|signature|session|credential|api_?key)[\w-]{0,40}"
    r"|(?:[\w-]{0,40}[_-])?(?:key|sig|auth|code|sid|jwt))="
)
_SECRET = re.compile(
    r"\b(?:sk-[\w-]{16,200}|gh[opsur]_\w{20,200}|github_pat_\w{20,200}|hf_\w{20,200}|xox[abprs]-[\w-]{10,200}|"
    r"AKIA[0-9A-Z]{16}|AIza[\w-]{30,100}|eyJ[\w-]{8,400}\.[\w-]{8,400}\.[\w-]{0,400})"
)
_LONG_PART = re.compile(r"[\w-]{24,}")
# A name given as one's own: after these words in whatever case, after "I am" with a capital only.
_NAMED = re.compile(
    r"(?i:\b(?:my (?:full )?name(?: is|'s|’s)|mein name ist|ich heiße|je m[’']appelle|mon nom est|me llamo|"
    r"mi nombre es|mi chiamo)\s+)(?P<name>[^\W\d_][\w.'’-]*(?:[ \t]+[A-Z][\w.'’-]*){0,3})"
    r"|(?:我叫|我的名字是|私の名前は|제 이름은)\s?(?P<cjk>[^\s，。,.!?！？]{1,12})"
    r"|\b(?i:I am|I['’]m|this is)\s+(?:(?i:dr|prof|professor|mr|mrs|ms)\.?\s+)?"
    r"(?P<am>[A-Z][a-z'’-]+(?:[ \t]+[A-Z][\w.'’-]*){0,3})"
)
_MOST = 20  # found in one text
_MOST_DIGITS = 15
_FEWEST_DIGITS = 7


@dataclass(frozen=True)
class Personal:
    """The characters [start, end) of a text, `text`, and what they look like."""

    kind: str
    start: int
    end: int
    text: str


def find_personal(text: str) -> list[Personal]:
    """What was found, in the order of the text; of what overlaps, what was found first; of a great many, some."""
    found: list[Personal] = []
    for kind, spans in (
        ("web address with a key", _addresses(text)),
        ("e-mail address", _spans(_EMAIL, text)),
        ("key", _spans(_SECRET, text)),
        ("telephone number", _phones(text)),
        ("name", _names(text)),
    ):
        for start, end in spans:
            if len(found) < _MOST and not any(start < other.end and other.start < end for other in found):
                found.append(Personal(kind, start, end, text[start:end]))
    return sorted(found, key=lambda each: each.start)


def _spans(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    return (match.span() for match in pattern.finditer(text))


def _addresses(text: str) -> Iterator[tuple[int, int]]:
    for match in _URL.finditer(text):
        if _lets_in(match[0]):
            yield match.span()


def _lets_in(url: str) -> bool:
    """Whether an address holds a password, a parameter named like a key, or a part that looks like one."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return True
    if "@" in parts.netloc or any(_SECRET_NAME.search(f"?{part}") for part in (parts.query, parts.fragment)):
        return True
    return any(any(c.isdigit() for c in part) and re.search("[A-Za-z]", part) for part in _LONG_PART.findall(url))


def _phones(text: str) -> Iterator[tuple[int, int]]:
    for match in _PHONE.finditer(text):
        number, digits = match[0], sum(c.isdigit() for c in match[0])
        if not _FEWEST_DIGITS <= digits <= _MOST_DIGITS or _DATE.fullmatch(number) or _ARXIV.fullmatch(number):
            continue
        groups = re.findall(r"\d+", number)
        is_marked = number[0] in "+(0"
        if is_marked or (len(groups) > 1 and len(groups[-1]) > 1 and digits >= _FEWEST_DIGITS + 2) or _is_local(groups):
            yield match.span()


def _is_local(groups: list[str]) -> bool:
    """As "555-0123"."""
    return [len(group) for group in groups] == [3, 4]


def _names(text: str) -> Iterator[tuple[int, int]]:
    for match in _NAMED.finditer(text):
        group = match.lastgroup or ""
        yield match.span(group)
