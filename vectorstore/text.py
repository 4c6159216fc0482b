"""Published text to searchable text.

In: a title, an abstract or a question as written, with its LaTeX, Markdown and HTML. Out: plain words for
embedding, index terms for lexical search.
Not known here: papers, indexes, languages beyond their scripts.
"""

import html
import re
import unicodedata
from functools import lru_cache

import Stemmer

_FONTS = r"(?:text(?:bf|it|tt|sc|rm|sf)?|emph|underline|math(?:bf|bb|cal|rm|it|sf|tt)|boldsymbol|url|operatorname)"
_IN_FONT = re.compile(rf"\\{_FONTS}\s*\{{([^{{}}]*)\}}")  # the letters of \textbf{D}iscrete belong together
_FONT = re.compile(rf"\\{_FONTS}(?![A-Za-z])\s*")
# An accent by a letter needs braces: "\c{c}" is one, "\cite" and "\url" are commands.
_ACCENT = re.compile(r"\{?\\(?:[`'^\"~=.]\s*\{?|[Hcuvr]\s*\{)\\?([A-Za-z])\}?")
_TAG = re.compile(
    r"</?(?:p|br|b|i|u|em|strong|sub|sup|a|span|div|img|script|style|ul|ol|li|h\d|tt|code|pre|small|inf|scp|"
    r"jats:[a-z]+)(?:\s+[\w:-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s<>\"']+))*\s*/?>",
    re.IGNORECASE,
)
_TOKEN = re.compile(
    r"\d+(?:[.,]\d+)+"  # 0.8559 and 37,448 stay whole
    r"|[^\W_]+"
)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
# "optimise" and "optimize" are one word; applied to corpus and question alike, so a wrong hit does no harm.
_BRITISH = re.compile(r"(?<=[a-z]{2}(?:al|ar|er|or|im|om|en|on|it|et|ul|il))is(?=(?:e|ed|es|er|ers|ing|ations?)$)")
_NESTED = 3  # fonts inside fonts, as in \\underline{\\textbf{M}}
# Letters that Unicode does not take apart into a base and an accent.
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_STROKES = str.maketrans({"ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ð": "d", "ı": "i", "ħ": "h"})
_stemmer = Stemmer.Stemmer("english")

# Words that carry no topic; question words are left in, they do no harm to BM25 (their weight is near nothing).
_STOP = frozenset(
    "a an and are as at be been but by can could did do does for from had has have he her his how i if in into is it "
    "its may me might my no not of on or our she should so such than that the their them then there these they this "
    "those to us was we were what when where which who whom whose why will with would you your".split()
)


@lru_cache(maxsize=8192)
def plain(text: str) -> str:
    """The words of `text`: mark-up removed, mathematics reduced to its letters and numbers, "\\phi" to "phi".

    Most texts have none of a kind, and a conference has 60,000 texts, so each kind is looked for before it is removed.
    """
    text = _TAG.sub(" ", html.unescape(text)) if ("<" in text or "&" in text) else text
    if commands := "\\" in text:
        for _ in range(_NESTED):
            text = _IN_FONT.sub(r"\1", text)
        text = _ACCENT.sub(r"\1", _FONT.sub("", text))
        text = re.sub(r"\\([%&_#$])", r"\1", text)
    text = text.replace("~", " ")
    if "*" in text or "$" in text:
        text = re.sub(r"\*{1,3}|\$", "", text)
    if commands or "{" in text or "}" in text:
        text = re.sub(r"\\[,;:! ]|[{}]", " ", text).replace("\\", "")
    return re.sub(r"[ \t\r\f\v]+", " ", text).strip()


def terms(text: str) -> list[str]:
    """Index terms in order: lower case, no accents, English stems; single characters for CJK scripts, in pairs."""
    found: list[str] = []
    for token in _TOKEN.findall(unaccented(plain(text)).casefold()):
        if not token.isascii() and _CJK.search(token):
            found.extend(_mixed_script(token))
        elif token not in _STOP:
            found.append(_stem(token))
    return found


def unaccented(text: str) -> str:
    """Letters without their accents and strokes; composed scripts (Hangul) stay composed."""
    return text if text.isascii() else _BEYOND_ASCII.sub(_bare, text)


def _bare(beyond_ascii: re.Match[str]) -> str:
    apart = unicodedata.normalize("NFKD", beyond_ascii.group().translate(_STROKES))
    return unicodedata.normalize("NFC", "".join(c for c in apart if not unicodedata.combining(c)))


def _mixed_script(token: str) -> list[str]:
    """Terms of a token such as "PsumQuant能降低": Latin runs stay words, CJK runs become overlapping pairs."""
    found = [_stem(part) for part in _CJK.sub(" ", token).split() if part not in _STOP]
    for run in _CJK.findall(token):
        found.extend(run[i : i + 2] for i in range(max(1, len(run) - 1)))
    return found


@lru_cache(maxsize=262144)
def _stem(word: str) -> str:
    return word if word[0].isdigit() else str(_stemmer.stemWord(_BRITISH.sub("iz", word)))
