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
    "einen einem bei durch über viele viel gibt es im dem den des sich auch oder arbeiten um wieviel wer wo warum ein",
    "fr": "le la les des est une et pas comment quels quelles quelle quel dans avec sur sont pour du au aux que qui "
    "combien il elle ce cette évite par selon leur entre t-il articles quoi de un à est-ce qu se",
    "es": "el los las una y es qué cómo cuál cuáles cuántos cuántas con por para del en se su sobre que artículos "
    "según entre cuánto hay esta este quién quiénes de un a tiene",
}
FUNCTION_WORDS = {code: frozenset(words.split()) for code, words in _FUNCTION_WORDS.items()}
_ENGLISH = frozenset("the what is are how which does do did of and on for with that by from who why when can".split())
_SHORT = 5  # words; of so few one is enough, where none is English


def language_of(question: str) -> str:
    """The language of `question` as an ISO 639-1 code: zh, ja, ko, ru, de, fr, es or en."""
    for code, script in (("ja", _KANA), ("ko", _HANGUL), ("zh", _HAN), ("ru", _CYRILLIC)):
        if script.search(question):
            return code
    words = re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", question.lower())
    found = {code: sum(word in known for word in words) for code, known in FUNCTION_WORDS.items()}
    best = max(found, key=lambda code: found[code])
    english = sum(word in _ENGLISH for word in words)
    needed = 1 if len(words) <= _SHORT and not english else 2
    return best if found[best] >= max(needed, len(words) / 5, english) else "en"
