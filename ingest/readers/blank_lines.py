"""Reader of plain text: abstracts separated by blank lines, with or without a heading and titles.

In: text. Out: records, mostly untitled. A short block at the head of the file is its heading; short blocks are
titles where about every abstract has one before it; any other short block is skipped with a word.
Not known here: the fields of structured sources.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ingest.document import Skipped
from ingest.readers.record import record_of
from vectorstore.paper import Paper

_ABSTRACT_WORDS = 25  # the shortest of 96,000 real abstracts that is no stub has more
_RUNNING_NUMBER = re.compile(r"\W*\d+\W*")
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
    blocks = _without_heading(_blocks(text))
    titled = _has_titles(blocks)
    before: _Block | None = None
    for block in blocks:
        if not block.is_abstract:
            if before is not None:
                yield _too_short(before, source)
            before = block
            continue
        title, abstract = _split_title(block.text)
        if before is not None and not (titled and not title):
            yield _too_short(before, source)
        elif before is not None:
            title = before.text
        before = None
        yield record_of({"title": re.sub(r"^[#*\s]+(?=\S)|\*\*$", "", title), "abstract": abstract}, source)
    if before is not None:
        yield _too_short(before, source)


def _too_short(block: _Block, source: str) -> Skipped:
    return Skipped(source, block.line, f"too short for an abstract ({block.words} words)")


def _without_heading(blocks: list[_Block]) -> list[_Block]:
    """The blocks after the file's heading, and without bare running numbers.

    The heading is a first short block that is not itself a title: another short one follows it, or the abstracts after
    the first have no title.
    """
    kept = [block for block in blocks if not _RUNNING_NUMBER.fullmatch(block.text)]
    if len(kept) < 2 or kept[0].is_abstract:
        return kept
    if not kept[1].is_abstract or not _has_titles(kept[1:]):
        return kept[1:] if _has_titles(kept[1:]) or not _has_titles(kept) else kept
    return kept


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
    """Whether short blocks stand before most abstracts, and so are their titles.

    A first block is no proof: it may be the file's heading.
    """
    abstracts = [place for place, block in enumerate(blocks) if block.is_abstract]
    preceded = [place for place in abstracts if place > 1 and not blocks[place - 1].is_abstract]
    return len(preceded) > max(0, (len(abstracts) - 1) / 2)


def _split_title(block: str) -> tuple[str, str]:
    """A short first line without a full stop, above a long rest, is a title."""
    first, _, rest = block.partition("\n")
    is_title = len(first.split()) <= 20 and not first.rstrip().endswith((".", ",", ";", "-")) and rest.strip()
    wrapped = len(rest.partition("\n")[0]) < 1.5 * len(first)  # a text wrapped at a width has lines of one length
    return (first.strip(), rest.strip()) if is_title and not wrapped else ("", block)
