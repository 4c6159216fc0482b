"""Reader of plain text: abstracts separated by blank lines, with or without a heading and titles.

In: text. Out: records, mostly untitled. A short block at the head of the file is its heading; short blocks are
titles where about every abstract has one before it; any other short block is skipped with a word.
Not known here: the fields of structured sources.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ingest.readers.record import Skipped, record_of
from vectorstore.paper import Paper

_ABSTRACT_WORDS = 25  # the shortest of 96,000 real abstracts that is no stub has more
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True)
class _Block:
    line: int
    text: str

    @property
    def words(self) -> int:
        """Words, a CJK character counting half of one."""
        return len(self.text.split()) + len(_CJK.findall(self.text)) // 2

    @property
    def is_abstract(self) -> bool:
        return self.words >= _ABSTRACT_WORDS


def read_blank_lines(text: str, source: str) -> Iterator[Paper | Skipped]:
    """Records of `text`, in order."""
    blocks = _blocks(text)
    titled = _has_titles(blocks)
    before: _Block | None = None
    for place, block in enumerate(blocks):
        if block.is_abstract:
            title, abstract = _split_title(block.text)
            if not title and before is not None and titled:
                title, before = before.text, None
            yield record_of({"title": title.strip("# *"), "abstract": abstract}, source)
        if before is not None and not (titled and block.is_abstract):
            yield Skipped(source, before.line, f"too short for an abstract ({before.words} words)")
        before = None if block.is_abstract or (place == 0 and not titled) else block
    if before is not None:
        yield Skipped(source, before.line, f"too short for an abstract ({before.words} words)")


def _blocks(text: str) -> list[_Block]:
    found: list[_Block] = []
    number = 1
    for piece in re.split(r"((?:\r?\n[ \t]*){2,})", text):
        if piece.strip():
            leading = len(piece) - len(piece.lstrip())
            found.append(_Block(number + piece[:leading].count("\n"), piece.strip()))
        number += piece.count("\n")
    return found


def _has_titles(blocks: list[_Block]) -> bool:
    """Whether short blocks stand before most abstracts, and so are their titles."""
    abstracts = [place for place, block in enumerate(blocks) if block.is_abstract]
    preceded = [place for place in abstracts if place > 0 and not blocks[place - 1].is_abstract]
    return len(preceded) > max(1, len(abstracts) / 2)


def _split_title(block: str) -> tuple[str, str]:
    """A short first line without a full stop, above a long rest, is a title."""
    first, _, rest = block.partition("\n")
    is_title = len(first.split()) <= 20 and not first.rstrip().endswith((".", ",", ";", "-")) and rest.strip()
    wrapped = len(rest.partition("\n")[0]) < 1.5 * len(first)  # a text wrapped at a width has lines of one length
    return (first.strip(), rest.strip()) if is_title and not wrapped else ("", block)
