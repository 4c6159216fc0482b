r"""Rules for LaTeX outside formulas: \emph{..}, \%, \'e, {\bf ..}, \url{..}, \citep{..}.

In: a reader at a backslash or a brace. Out: segments. A command that is not known is shown as its name without the
backslash, or, where it has an argument, as that.
Not known here: formulas, other mark-up.
"""

import re
import unicodedata

from app.markup_reader import Reader, Rule, Styles

_STYLES = {
    "textbf": "strong", "mathbf": "strong", "bf": "strong", "bfseries": "strong", "textit": "em", "emph": "em",
    "textsl": "em", "it": "em", "itshape": "em", "em": "em", "sl": "em", "textsc": "caps", "sc": "caps",
    "scshape": "caps", "texttt": "code", "mathtt": "code", "tt": "code", "ttfamily": "code", "underline": "underline",
    "uline": "underline", "ul": "underline", "textul": "underline", "textsubscript": "sub", "textsuperscript": "sup",
}  # fmt: skip
_SYMBOLS = {"ie": "i.e.", "eg": "e.g.", "etal": "et al.", "etc": "etc.", "aka": "a.k.a.", "wrt": "w.r.t.", "vs": "vs.",
            "ldots": "…", "dots": "…", "textellipsis": "…", "textendash": "–", "textemdash": "—", "textasciitilde": "~",
            "textless": "<", "textgreater": ">", "textbackslash": "\\", "textregistered": "®", "texttrademark": "™",
            "times": "×", "pm": "±", "sim": "∼", "approx": "≈", "leq": "≤", "geq": "≥", "to": "→", "rightarrow": "→",
            "cdot": "·", "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "lambda": "λ",
            "mu": "μ", "pi": "π", "sigma": "σ", "tau": "τ", "phi": "φ", "theta": "θ", "Sigma": "Σ", "Delta": "Δ",
            "ss": "ß", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å",
            "AA": "Å", "i": "ı", "j": "ȷ", "S": "§", "P": "¶", "dag": "†", "ddag": "‡", "copyright": "©", "pounds": "£",
            "euro": "€", "quad": " ", "qquad": " "}  # fmt: skip
_DROPPED = frozenset(
    "xspace noindent centering newline linebreak smallskip medskip bigskip par protect small footnotesize large "
    "selectfont normalfont rm sf upshape mdseries displaystyle left right".split()
)
_WITH_LOST_ARGUMENT = frozenset("color label begin end vspace hspace fontfamily".split())
_FIRST_IS_LOST = frozenset("href textcolor colorbox".split())
_AROUND = {"footnote": (" (", ")"), "thanks": (" (", ")"), "enquote": ("“", "”"), "say": ("“", "”")}
_ESCAPED = re.compile(r"\\\\%|\\[%&_#${}]")
_SPACE = re.compile(r"\\(?:([,;:> ~])|[!/-]|\\\*?[ \t]*)")
_MARKS = {"'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304", ".": "\u0307",
          "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "d": "\u0323", "b": "\u0331", "r": "\u030a",
          "k": "\u0328"}  # fmt: skip
_ACCENT = re.compile(
    r"\\(?:(?P<sign>['`^\"~=.])|(?P<letter>[uvHcdbrk])(?=\s*\{|\s+[A-Za-z]\b))\s*"
    r"(?:\{\s*\\?(?P<held>[A-Za-z])\s*\}|\\(?P<dotless>[ij])(?![A-Za-z])|(?P<bare>[A-Za-z]))"
)
_COMMAND = re.compile(r"\\([A-Za-z]+)\*?")
_OPTIONS = re.compile(r"\s*\[[^\[\]]{0,100}\]")
_OLD_STYLE = re.compile(r"\{\s*\\([a-z]+)(?![A-Za-z])[ \t]*")
_SET = re.compile(r"[,:;=|]")
_SHORT = 60  # a longer group with a comma in it is no set


def backslash(reader: Reader, at: int, end: int, styles: Styles) -> int:
    text = reader.masked
    if escaped := _ESCAPED.match(text, at, end):
        return reader.add(at, escaped.end(), styles, escaped[0][-1])
    if accent := _ACCENT.match(text, at, end):
        letter = accent["held"] or accent["dotless"] or accent["bare"]
        shown = unicodedata.normalize("NFC", letter + _MARKS[accent["sign"] or accent["letter"]])
        return reader.add(at, accent.end(), styles, shown)
    if space := _SPACE.match(text, at, end):
        is_break = space[0].startswith("\\\\")
        return reader.add(at, space.end(), styles, " " if space[1] or is_break else "")
    named = _COMMAND.match(text, at, end)
    return _command(reader, named, end, styles) if named else at


def _command(reader: Reader, named: re.Match[str], end: int, styles: Styles) -> int:
    """A named command with its argument."""
    at, name = named.start(), named[1]
    after = named.end()
    if name in _SYMBOLS or name in _DROPPED or name == "item":
        shown = " • " if name == "item" else _SYMBOLS.get(name, "")
        return reader.add(at, _past_empty(reader, after, end), styles, shown)
    if option := _OPTIONS.match(reader.masked, after, end):
        after = option.end()
    if name in _FIRST_IS_LOST or name in _WITH_LOST_ARGUMENT:
        closing = _closing_brace(reader, after, end)
        after = after if closing is None else closing + 1
        if name in _WITH_LOST_ARGUMENT:
            return reader.add(at, after, styles, "")
    opening = _brace(reader, after, end)
    closing = _closing_brace(reader, after, end)
    if opening is None:
        return reader.add(at, named.end(), styles, "" if name in _STYLES else name)  # "\em word" without a group
    if closing is None or not reader.may_nest:
        return at
    if closing == opening + 1:
        return reader.add(at, closing + 1, styles, name)
    if name == "url" or name.startswith("cite"):
        reader.add(at, opening + 1, styles, "" if name == "url" else "(")
        reader.add(opening + 1, closing, styles)
        return reader.add(closing, closing + 1, styles, "" if name == "url" else ")")
    style = {_STYLES[name]} if name in _STYLES else frozenset[str]()
    return reader.inside(at, opening + 1, closing, closing + 1, styles | style, _AROUND.get(name, ("", "")))


def brace(reader: Reader, at: int, end: int, styles: Styles) -> int:
    r"""`{\bf old style}`, and braces that only protect: `{BERT}`, `{\'e}`, `{$x$}`."""
    closing = _closing_brace(reader, at, end)
    if closing is None or not reader.may_nest:
        return at
    old = _OLD_STYLE.match(reader.masked, at, closing)
    if old and old[1] in _STYLES:
        return reader.inside(at, old.end(), closing, closing + 1, styles | {_STYLES[old[1]]})
    held = reader.masked[at + 1 : closing]
    if held[:1] in ("\\", "\x00", "") or held == "," or not _SET.search(held) or len(held) > _SHORT:
        return reader.inside(at, at + 1, closing, closing + 1, styles)
    return at


def _past_empty(reader: Reader, at: int, end: int) -> int:
    """Past the `{}` that ends a command's name."""
    return at + 2 if reader.masked.startswith("{}", at) and at + 2 <= end else at


def _brace(reader: Reader, at: int, end: int) -> int | None:
    """Where the opening brace is that follows, perhaps after spaces."""
    while at < end and reader.masked[at] in " \t":
        at += 1
    return at if at < end and reader.masked[at] == "{" else None


def _closing_brace(reader: Reader, at: int, end: int) -> int | None:
    """Where the group closes that opens at `at`, perhaps after spaces."""
    opening = _brace(reader, at, end)
    return None if opening is None else reader.closing_brace(opening, end)


RULES: dict[str, Rule] = {"\\": backslash, "{": brace}
