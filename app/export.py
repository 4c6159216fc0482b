r"""Papers as references to take away: BibTeX and Markdown.

In: papers as shown beside an answer. Out: text for a .bib or an .md file. BibTeX comes out as ASCII where LaTeX has a
command for the letter, with balanced braces, unique keys and formulas as they were; both are without mark-up that a
title or a name could smuggle in.
Not known here: where the papers were cited, files.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from app.answer import CitedPaper, PaperCard
from app.markup import segments, visible
from app.markup_reader import Segment

_TEX = {
    "\\": r"\textbackslash{}", "{": r"\textbraceleft{}", "}": r"\textbraceright{}", "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "–": "--", "—": "---",
    "“": "``", "”": "''", "‘": "`", "’": "'", "…": r"\ldots{}", "\xa0": "~", "ß": r"{\ss}", "ø": r"{\o}",
    "Ø": r"{\O}", "ł": r"{\l}", "Ł": r"{\L}", "æ": r"{\ae}", "Æ": r"{\AE}", "œ": r"{\oe}", "Œ": r"{\OE}",
    "ı": r"{\i}", "đ": r"{\dj}", "Đ": r"{\DJ}",
}  # fmt: skip
_ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u", "\u0307": ".",
    "\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0323": "d", "\u0327": "c", "\u0328": "k",
}  # fmt: skip
_STYLES = {"em": r"\emph", "strong": r"\textbf", "code": r"\texttt", "caps": r"\textsc", "sub": r"\textsubscript",
           "sup": r"\textsuperscript", "underline": r"\underline"}  # fmt: skip
_STYLES_OF_MARKDOWN = {"em": "*", "strong": "**"}
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~$])")
_DULL = frozenset("a an the on of for in to with and is are how what why towards toward via from by".split())


def bibtex(papers: Sequence[PaperCard]) -> str:
    """A BibTeX entry a paper, "" for none."""
    keys = _keys(papers)
    return "\n".join(_entry(key, paper) for key, paper in zip(keys, papers, strict=True))


def markdown(papers: Sequence[PaperCard]) -> str:
    """A line a paper, numbered as it was cited."""
    return "".join(
        f"{paper.number if isinstance(paper, CitedPaper) else place}. {_reference(paper)}\n"
        for place, paper in enumerate(papers, start=1)
    )


def web_address(url: str) -> str:
    """`url` if it is an address on the web that needs no escaping, else ""."""
    return url if re.fullmatch(r"https?://[^\s<>\"'\\{}|^`\x00-\x20\x7f]{3,500}", url) else ""


def _entry(key: str, paper: PaperCard) -> str:
    is_preprint = paper.venue.casefold() in ("", "arxiv", "corr")
    fields = {
        "title": f"{{{_tex(paper.title or paper.label)}}}",  # a second pair of braces keeps its capitals
        "author": " and ".join(_person(name) for name in paper.authors if name.strip()),
        "howpublished" if is_preprint else "booktitle": _tex(paper.venue),
        "year": str(paper.year or ""),
        "url": web_address(paper.url),
        "note": _tex(paper.decision.capitalize()),
    }
    lines = [f"  {name:<12} = {{{value}}},\n" for name, value in fields.items() if value]
    return f"@{'misc' if is_preprint else 'inproceedings'}{{{key},\n{''.join(lines)}}}\n"


def _keys(papers: Sequence[PaperCard]) -> list[str]:
    """family2026word, with a letter behind it where two would be the same."""
    keys: list[str] = []
    for paper in papers:
        family = _plain(paper.authors[0]).split()[-1:] if paper.authors else []
        words = [word for word in re.findall(r"[a-z0-9]+", _plain(paper.label)) if word not in _DULL]
        wanted = "".join(re.findall(r"[a-z0-9]+", "".join(family))) + str(paper.year or "") + "".join(words[:1])
        keys.append(next(key for key in _variants(wanted or "paper") if key not in keys))
    return keys


def _variants(key: str) -> Iterator[str]:
    yield key
    number = 1
    while True:
        suffix, rest = "", number
        while rest:
            rest, letter = divmod(rest - 1, 26)
            suffix = chr(ord("a") + letter) + suffix
        yield key + suffix
        number += 1


def _plain(text: str) -> str:
    """Lower-case ASCII letters as far as they go: "Müller" to "muller"."""
    bare = unicodedata.normalize("NFKD", visible(text).casefold().replace("ø", "o").replace("ł", "l"))
    return "".join(c for c in bare if c.isascii())


def _person(name: str) -> str:
    """One author; braces keep BibTeX from taking a name apart that holds its separator or is its word for more."""
    held = _tex(" ".join(name.split()))
    return f"{{{held}}}" if re.search(r"(?i)\band\b", name) or name.strip().casefold() == "others" else held


def _tex(text: str) -> str:
    """`text` as LaTeX: its formulas as they are, its emphasis as commands, everything else escaped."""
    return " ".join("".join(_tex_of(segment) for segment in segments(text)).split())


def _tex_of(segment: Segment) -> str:
    if segment.kind in ("math", "display"):
        is_sound = segment.shown.count("{") == segment.shown.count("}") and "$" not in segment.shown
        return f"${segment.shown}$" if is_sound else "".join(map(_letter, f"${segment.shown}$"))
    held = "".join(map(_letter, unicodedata.normalize("NFC", segment.shown)))
    for style in sorted(segment.styles) if held else ():
        held = f"{_STYLES[style]}{{{held}}}"
    return held


def _letter(letter: str) -> str:
    if letter in _TEX:
        return _TEX[letter]
    if letter.isascii():
        return letter if letter.isprintable() else " "
    base, *marks = list(unicodedata.normalize("NFD", letter))
    if len(marks) == 1 and marks[0] in _ACCENTS and base.isascii():
        command = _ACCENTS[marks[0]]
        return f"{{\\{command}{{{base}}}}}" if command.isalpha() else f"{{\\{command}{base}}}"
    return letter if letter.isprintable() else " "


def _reference(paper: PaperCard) -> str:
    place = " ".join(str(part) for part in (paper.venue, paper.year) if part)
    url = web_address(paper.url)
    parts = [
        f"**{_markdown_text(paper.label)}**",
        ", ".join(_markdown_text(name) for name in paper.authors),
        _markdown_text(", ".join(part for part in (place, paper.decision) if part)),
        f"<{url}>" if url else "",
    ]
    return ". ".join(part for part in parts if part)


def _markdown_text(text: str) -> str:
    shown = []
    for segment in segments(text):
        if segment.kind in ("math", "display"):
            shown.append(f"${segment.shown}$")
            continue
        mark = next((_STYLES_OF_MARKDOWN[style] for style in segment.styles if style in _STYLES_OF_MARKDOWN), "")
        held = _MARKDOWN.sub(r"\\\1", segment.shown)
        shown.append(f"{mark}{held}{mark}" if held.strip() == held and held and mark == "*" else held)
    return " ".join("".join(c if c.isprintable() else " " for c in "".join(shown)).split())
