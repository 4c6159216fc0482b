"""Many sources' records to papers, each once.

In: records (papers with one source each) in the order in which they were ingested. Out: papers, in id order.
Two records are one paper when they share an id or an alias, or title and authors, or, one of them being untitled,
the text of the abstract. The result is a function of the records alone: the order of two ingests changes no count.
Not known here: files, the index, near-duplicates.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import fields, replace

from vectorstore.paper import Paper, fold
from vectorstore.text import plain


def merge(records: Sequence[Paper]) -> list[Paper]:
    """The papers that `records` tell of, sorted by id."""
    titles = [_title(record) for record in records]
    groups = _Groups(records, titles)
    for members in (*_shared(map(_names, records)), *_shared(map(_title_and_authors, titles, records))):
        groups.join(members)
    for members in _shared(map(_address, records)):
        groups.join_titles(members)
    for members in _shared(_abstracts(titles, records)):
        groups.join_titles(members)
        groups.join_untitled(members)
    return sorted((_one(records, members) for members in groups.members()), key=lambda paper: paper.id)


class _Groups:
    """Disjoint sets of record numbers (union-find), each knowing whether it has a title."""

    def __init__(self, records: Sequence[Paper], titles: Sequence[str]) -> None:
        self._records, self._titles = records, titles
        self._parent = list(range(len(records)))
        self._titled = [bool(record.title) for record in records]

    def root(self, number: int) -> int:
        while self._parent[number] != number:
            self._parent[number] = self._parent[self._parent[number]]
            number = self._parent[number]
        return number

    def join(self, numbers: Sequence[int]) -> None:
        for number in numbers[1:]:
            low, high = sorted((self.root(numbers[0]), self.root(number)))
            self._parent[high] = low
            self._titled[low] = self._titled[low] or self._titled[high]

    def join_titles(self, numbers: Sequence[int]) -> None:
        """Join the records of each title with each other."""
        by_title: dict[str, list[int]] = defaultdict(list)
        for number in numbers:
            if title := self._titles[number]:
                by_title[title].append(number)
        for members in by_title.values():
            self.join(members)

    def join_untitled(self, numbers: Sequence[int]) -> None:
        """Join the untitled records with each other and with a titled one.

        An untitled record that already belongs to a titled paper stays with it.
        """
        titled = [number for number in numbers if self._records[number].title]
        loose = [number for number in numbers if not self._titled[self.root(number)]]
        self.join([*titled[:1], *loose])

    def members(self) -> list[list[int]]:
        found: dict[int, list[int]] = defaultdict(list)
        for number in range(len(self._parent)):
            found[self.root(number)].append(number)
        return list(found.values())


def _shared(keys: Iterable[Iterable[Hashable]]) -> list[list[int]]:
    """The numbers of the records that have a key in common; `keys` gives the keys of each record."""
    found: dict[Hashable, list[int]] = defaultdict(list)
    for number, own in enumerate(keys):
        for key in own:
            found[key].append(number)
    return [members for members in found.values() if len(members) > 1]


def _names(record: Paper) -> Iterable[str]:
    return (record.id, *record.aliases)


def _address(record: Paper) -> Iterable[str]:
    return (record.url.rstrip("/"),) if record.url else ()


def _title_and_authors(title: str, record: Paper) -> Iterable[Hashable]:
    if record.title and record.authors:
        yield title, tuple(sorted(map(fold, record.authors)))


def _abstracts(titles: Sequence[str], records: Sequence[Paper]) -> Iterator[Iterable[str]]:
    """Each record's abstract as words, where it could matter: to join records of one title, or untitled ones."""
    often = Counter(titles)
    untitled = any(not record.title for record in records)
    for title, record in zip(titles, records, strict=True):
        words = " ".join(plain(record.abstract).split()) if untitled or often[title] > 1 else ""
        yield (words,) if len(words) >= 100 else ()


def _title(record: Paper) -> str:
    return re.sub(r"\W+", " ", fold(plain(record.title))).strip()


def _one(records: Sequence[Paper], numbers: Sequence[int]) -> Paper:
    """One paper of several records: the best one's text and id, gaps filled from the others, best first."""
    if len(numbers) == 1 and (own := records[numbers[0]]).id not in own.aliases:
        return own
    best_first = sorted(numbers, key=lambda n: (bool(records[n].title), _filled(records[n]), n), reverse=True)
    best, *others = (records[n] for n in best_first)
    gaps = {}
    for field in fields(Paper):
        if field.name in ("id", "extra", "sources", "aliases") or getattr(best, field.name):
            continue
        gaps[field.name] = next((v for o in others if (v := getattr(o, field.name))), getattr(best, field.name))
    names = [name for record in (best, *others) for name in _names(record) if name != best.id]
    extra = {key: value for record in (*reversed(others), best) for key, value in record.extra.items()}
    sources = sorted({source for n in numbers for source in records[n].sources})
    return replace(best, **gaps, extra=extra, sources=tuple(sources), aliases=tuple(dict.fromkeys(names)))


def _filled(record: Paper) -> int:
    return sum(bool(getattr(record, field.name)) for field in fields(Paper) if field.name != "extra")
