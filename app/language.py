"""Which language a question is asked in.

In: a question. Out: a two-letter code.
Scripts decide for Chinese, Japanese and Korean; function words for the rest; English when nothing speaks against it.
Not known here: what is done with the language.
"""

import re

_KANA = re.compile(r"[\u3040-\u30ff]")
_HANGUL = re.compile(r"[\uac00-\ud7af]")
_HAN = re.compile(r"[\u3400-\u9fff]")
_CYRILLIC = re.compile(r"[\u0400-\u04ff]")
# Words of each language that English texts do not hold.
_FUNCTION_WORDS = {
    "de": "der die das und ist nicht wie wird werden welche welcher welches wurde wurden mit auf für von zum zur eine "
    "einen einem bei durch über viele viel gibt es im dem den des sich auch oder arbeiten um wieviel",
    "fr": "le la les des est une et pas comment quels quelles quelle quel dans avec sur sont pour du au aux que qui "
    "combien il elle ce cette évite par selon leur entre t-il articles quoi",
    "es": "el los las una y es qué cómo cuál cuáles cuántos cuántas con por para del en se su sobre que artículos "
    "según entre cuánto hay esta este",
}
_WORDS = {code: frozenset(words.split()) for code, words in _FUNCTION_WORDS.items()}


def language_of(question: str) -> str:
    """The language of `question` as an ISO 639-1 code: zh, ja, ko, ru, de, fr, es or en."""
    for code, script in (("ja", _KANA), ("ko", _HANGUL), ("zh", _HAN), ("ru", _CYRILLIC)):
        if script.search(question):
            return code
    words = re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", question.lower())
    found = {code: sum(word in known for word in words) for code, known in _WORDS.items()}
    best = max(found, key=lambda code: found[code])
    return best if found[best] >= 2 and found[best] >= len(words) / 5 else "en"
