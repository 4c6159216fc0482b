r"""A formula as MathML, which browsers draw and read aloud themselves.

In: TeX without its delimiters. Out: markup made of the elements and attributes listed here and escaped text, or None
where the TeX is broken or holds a command that is not known; then it is shown as it was written.
latex2mathml's own output is not safe to put in a page (it leaves `\text{<script>}` as it is, and `\href` and `\style`
set attributes), so only its tree is used. MathML Core knows no bold, script or sans-serif variants: letters of those
are replaced by the characters that Unicode has for them.
Not known here: where in a text formulas are.
"""

import html
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert_to_element

_LONGEST = 2000
# Element: how many children it must have, None for any number.
_ELEMENTS: dict[str, int | None] = {
    "mrow": None, "mi": None, "mo": None, "mn": None, "mtext": None, "mspace": None, "mstyle": None, "mpadded": None,
    "mphantom": None, "mtable": None, "mtr": None, "mtd": None, "msqrt": None, "menclose": None,
    "mfrac": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "mroot": 2, "msubsup": 3, "munderover": 3,
}  # fmt: skip
_ATTRIBUTES = frozenset(
    "stretchy fence separator form accent accentunder minsize maxsize largeop movablelimits lspace rspace width height "
    "depth linethickness displaystyle scriptlevel columnalign".split()
)
_VALUE = re.compile(r"[A-Za-z0-9.+\-% ]{1,40}")
_VARIANTS = {
    "bold": "MATHEMATICAL BOLD",
    "bold-italic": "MATHEMATICAL BOLD ITALIC",
    "italic": "MATHEMATICAL ITALIC",
    "script": "MATHEMATICAL SCRIPT",
    "bold-script": "MATHEMATICAL BOLD SCRIPT",
    "fraktur": "MATHEMATICAL FRAKTUR",
    "double-struck": "MATHEMATICAL DOUBLE-STRUCK",
    "sans-serif": "MATHEMATICAL SANS-SERIF",
    "monospace": "MATHEMATICAL MONOSPACE",
}
_TEXT_COMMAND = r"\\(?:text(?:bf|it|tt|sf|rm)?|emph|mathrm)"
_TEXT_IN_TEXT = re.compile(rf"{_TEXT_COMMAND}\s*\{{\s*({_TEXT_COMMAND}\s*\{{[^{{}}]*\}})\s*\}}")
# Commands that the converter does not know, and what comes nearest.
_NEAREST = (
    (re.compile(r"\\operatorname\*?(?![A-Za-z])"), r"\\mathrm"),
    (re.compile(r"\\(?:textsf|symbfit|bm)(?![A-Za-z])"), r"\\mathbf"),
    (re.compile(r"\\(?:emph|textsl)(?![A-Za-z])"), r"\\textit"),
    (re.compile(r"\\(?:xspace|nonumber|smash|displaystyle|textstyle|limits|nolimits)(?![A-Za-z])"), ""),
    (re.compile(r"\\\\%"), r"\\%"),  # "\\\\%": escaped once too often
    (_TEXT_IN_TEXT, r"\1"),
    (re.compile(r"\\eps(?![A-Za-z])"), r"\\epsilon"),
    (re.compile(r"\\textless(?![A-Za-z])"), "<"),
    (re.compile(r"\\textgreater(?![A-Za-z])"), ">"),
    (re.compile(r"\\(begin|end)\{(?:aligned|split|gathered)\}"), r"\\\1{align*}"),
    (re.compile(r"\\(?:label|tag)\s*\{[^{}]*\}"), ""),
    (re.compile(r"^\s*([\^_])"), r"{}\1"),
)
_ALIGNED = re.compile(r"&|\\\\")


class _Unfit(Exception):
    """The tree holds what must not or can not be shown."""


@lru_cache(maxsize=4096)
def mathml(tex: str, display: bool = False) -> str | None:
    """`tex` as a `<math>` element, or None."""
    for pattern, nearest in _NEAREST:
        tex = pattern.sub(nearest, tex)
    tex = tex.strip()
    if not tex or len(tex) > _LONGEST or not _is_balanced(tex):
        return None
    if _ALIGNED.search(tex) and r"\begin" not in tex:
        tex = rf"\begin{{align*}}{tex}\end{{align*}}"
    shown_as = "block" if display else "inline"
    try:
        inner = "".join(_spaced(list(convert_to_element(tex, display=shown_as))))
    except Exception:  # the converter fails in many ways, and each means "not maths"
        return None
    return f'<math display="{shown_as}">{inner}</math>' if inner else None


def _is_balanced(tex: str) -> bool:
    depth = 0
    for brace in re.findall(r"\\.|[{}]", tex, re.S):
        depth += {"{": 1, "}": -1}.get(brace, 0)
        if depth < 0:
            return False
    return depth == 0


def _markup(element: Element) -> str:
    """The element and what it holds, rebuilt. Raises _Unfit."""
    arity = _ELEMENTS.get(element.tag, -1)
    if arity is not None and arity != len(element):
        raise _Unfit(element.tag)
    text = html.unescape(element.text or "")
    if "\\" in text and text != "\\":
        raise _Unfit(text)  # a command that the converter does not know
    variant = element.get("mathvariant", "")
    attributes = "".join(
        f' {name}="{value}"' for name, value in element.items() if name in _ATTRIBUTES and _VALUE.fullmatch(value)
    )
    if variant == "normal":
        attributes += ' mathvariant="normal"'
    elif element.tag == "mtext" and variant in ("bold", "italic"):
        attributes += f' class="{variant}"'
    elif variant:
        text = "".join(_in_variant(character, variant) for character in text)
    children = _spaced(list(element)) if arity is None else map(_markup, element)
    inner = html.escape(text) + "".join(children)
    return "" if element.tag == "mo" and not inner else f"<{element.tag}{attributes}>{inner}</{element.tag}>"


def _spaced(elements: Sequence[Element]) -> Iterator[str]:
    """The elements, with the thin space that TeX puts around the name of a function: "T ln T"."""
    for place, element in enumerate(elements):
        before = elements[place - 1] if place else None
        if before is not None and "mo" not in (before.tag, element.tag) and (_is_name(before) or _is_name(element)):
            yield '<mspace width="0.17em"></mspace>'
        yield _markup(element)


def _is_name(element: Element) -> bool:
    if element.tag in ("msub", "msup", "msubsup") and len(element):
        return _is_name(element[0])
    text = element.text or ""
    return element.tag == "mi" and len(text) > 1 and text.isalpha()


def _in_variant(character: str, variant: str) -> str:
    """The character in that style: Unicode's own where there is one (bold x is U+1D431)."""
    name = unicodedata.name(character, "")
    kind = re.fullmatch(r"(?:LATIN|GREEK) (CAPITAL|SMALL) LETTER ([A-Z]+)|DIGIT ([A-Z]+)", name)
    if kind is None or variant not in _VARIANTS:
        return character
    styled = f"{_VARIANTS[variant]} {f'{kind[1]} {kind[2]}' if kind[1] else f'DIGIT {kind[3]}'}"
    for candidate in (styled, styled.replace("MATHEMATICAL ", "")):  # "SCRIPT CAPITAL L" is older than its block
        try:
            return unicodedata.lookup(candidate)
        except KeyError:
            continue
    return character
