r"""Rules for Markdown, HTML and typewriter habits: **strong**, <i>em</i>, ``quotes'', dashes, line breaks.

In: a reader at a place. Out: segments. Links and images become words: the text, then the address in brackets.
Not known here: LaTeX commands.
"""

import html
import re

from app.markup_reader import LONGEST, Reader, Rule, Styles

_OPENING = re.compile(r"\*{1,3}(?=[^\s*])|_{1,3}(?=[^\s_])")
_EMPHASIS = {1: frozenset({"em"}), 2: frozenset({"strong"}), 3: frozenset({"em", "strong"})}
_CLOSING = {
    mark: re.compile(
        rf"(?<=[^\s\\{mark[0]}]){re.escape(mark)}(?!{re.escape(mark[0])})" + ("" if "**" in mark else "(?![A-Za-z0-9])")
    )
    for mark in ("*", "**", "***", "_", "__", "___")
}
_QUOTE_END = re.compile(r"''|\"|”")
_CODE_END = re.compile(r"(?<=[^\s`])`(?!`)")
_BLOCKS = ("p", "br", "div")
_TAG = re.compile(r"<(/?)(p|br|div|i|b|em|strong|sub|sup|u|tt|code|span|italic|bold|sc)\b[^<>]{0,100}>", re.IGNORECASE)
_TAG_STYLES = {"i": "em", "em": "em", "italic": "em", "b": "strong", "strong": "strong", "bold": "strong",
               "u": "underline", "tt": "code", "code": "code", "sub": "sub", "sup": "sup", "sc": "caps"}  # fmt: skip
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,31}\d{0,2});")
_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\(([^()\s]{0,400}(?:\([^()\s]{0,100}\)[^()\s]{0,100})?)\)")
_ADDRESS = re.compile(r"https?://[^\s<>{}\\$\x00]+")
_BREAK = re.compile(r"\n[ \t]*(?:\n\s*|(?=(?:[-*•]|\d{1,2}[.)]) ))")
_DASHES = re.compile(r"-{2,3}(?!-)")


def emphasis(reader: Reader, at: int, end: int, styles: Styles) -> int:
    """`*em*`, `**strong**`, `_em_`; not the asterisk of "A* search" nor the underscores of snake_case_names."""
    opening = _OPENING.match(reader.masked, at, end)
    before = reader.masked[at - 1] if at else " "
    if opening is None or before in ("\\", reader.masked[at]):
        return at
    mark = opening[0]
    is_in_word = before.isascii() and before.isalnum()
    if is_in_word and not (mark == "**" and before.isalpha()):
        return at
    closing = _CLOSING[mark].search(reader.masked, opening.end() + 1, min(end, at + LONGEST))
    if closing is None or "\n\n" in reader.masked[at : closing.start()] or not reader.may_nest:
        return at
    return reader.inside(at, opening.end(), closing.start(), closing.end(), styles | _EMPHASIS[len(mark)])


def quote(reader: Reader, at: int, end: int, styles: Styles) -> int:
    """``double'' and `single' quotes as LaTeX has them, and `code`."""
    limit = min(end, at + LONGEST)
    if reader.masked.startswith("``", at):
        closing = _QUOTE_END.search(reader.masked, at + 2, limit)
        if closing is None or not reader.may_nest:
            return reader.add(at, at + 2, styles, "“")
        return reader.inside(at, at + 2, closing.start(), closing.end(), styles, ("“", "”"))
    code = _CODE_END.search(reader.masked, at + 1, limit)
    if code is not None and not {"\n", "\x00"} & set(reader.masked[at : code.start()]):
        reader.add(at, at + 1, styles, "")
        reader.add(at + 1, code.start(), styles | {"code"})
        return reader.add(code.start(), code.end(), styles, "")
    return reader.add(at, at + 1, styles, "‘") if reader.masked[at + 1 : at + 2].isalpha() else at


def tie(reader: Reader, at: int, end: int, styles: Styles) -> int:
    """LaTeX's unbreakable space; but "~9x" and "3.0%~7.6%" keep their tilde."""
    before, after = reader.text[at - 1 : at] or " ", reader.text[at + 1 : at + 2]
    is_range = (before.isdigit() or before == "%") and after.isdigit()
    is_about = before.isspace() or before in "([<>"
    return at if is_range or is_about else reader.add(at, at + 1, styles, "\xa0")


def tag(reader: Reader, at: int, end: int, styles: Styles) -> int:
    """Inline HTML that formats. Every other tag is text."""
    found = _TAG.match(reader.masked, at, end)
    if found is None:
        return at
    name = found[2].lower()
    if name in _BLOCKS:
        return reader.add(at, found.end(), styles, "\n" if at else "", "break" if at else "text")
    style = _TAG_STYLES.get(name)
    closing = re.compile(rf"</{name}\s*>", re.IGNORECASE).search(reader.masked, found.end(), min(end, at + LONGEST))
    if found[1] or style is None or closing is None or not reader.may_nest:
        return reader.add(at, found.end(), styles, "")
    return reader.inside(at, found.end(), closing.start(), closing.end(), styles | {style})


def entity(reader: Reader, at: int, end: int, styles: Styles) -> int:
    found = _ENTITY.match(reader.masked, at, end)
    shown = html.unescape(found[0]) if found else ""
    return reader.add(at, found.end(), styles, shown) if found and shown != found[0] else at


def link(reader: Reader, at: int, end: int, styles: Styles) -> int:
    """`[text](address)` and `![text](address)`, as words."""
    found = _LINK.match(reader.masked, at, end)
    if found is None or not reader.may_nest:
        return at
    reader.inside(at, found.start(1), found.end(1), found.start(2), styles, ("", " ("))
    reader.add(found.start(2), found.end(2), styles)
    return reader.add(found.end(2), found.end(), styles, ")")


def address(reader: Reader, at: int, end: int, styles: Styles) -> int:
    """A web address, in which nothing is mark-up."""
    found = _ADDRESS.match(reader.masked, at, end)
    return reader.add(at, found.end(), styles) if found else at


def dash(reader: Reader, at: int, end: int, styles: Styles) -> int:
    """-- and ---, but not the "--" of a command's option."""
    found = _DASHES.match(reader.masked, at, end)
    if found is None or reader.masked[at - 1 : at] == "-":
        return at
    is_option = len(found[0]) == 2 and reader.text[at - 1 : at].isspace() and reader.text[at + 2 : at + 3].isalpha()
    return at if is_option else reader.add(at, found.end(), styles, "—" if len(found[0]) == 3 else "–")


def line(reader: Reader, at: int, end: int, styles: Styles) -> int:
    """A line end is a space, an empty line or the next item of a list a break."""
    found = _BREAK.match(reader.masked, at, end)
    if found:
        return reader.add(at, found.end(), styles, "\n", "break")
    return reader.add(at, at + 1, styles, " ")


def formula(reader: Reader, at: int, end: int, styles: Styles) -> int:
    found = reader.formulas.get(at)
    if found is None or found.end > end:
        return at
    tex = reader.text[found.body_start : found.body_end].strip()
    return reader.add(at, found.end, styles, tex, "display" if found.display else "math")


RULES: dict[str, Rule] = {
    "\x00": formula, "*": emphasis, "_": emphasis, "`": quote, "~": tie, "<": tag, "&": entity, "[": link, "!": link,
    "h": address, "-": dash, "\n": line,
}  # fmt: skip
