"""The records that everything else speaks of: papers, their sentences, and what a search returns.

In: fields already read and cleaned. Out: frozen records with derived properties.
Not known here: where a paper was read from, how it is stored, how a question is understood.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from vectorstore.names import name_of_untitled
from vectorstore.text import unaccented

DECISIONS = ("oral", "spotlight", "poster", "")


@dataclass(frozen=True)
class Paper:
    """One paper, or one source's record of it (then `sources` has one member).

    `title` and `abstract` are the text as published: spans of evidence refer to them and to nothing else.
    `decision` is one of DECISIONS. `aliases` are other ids and addresses the paper is known under.
    """

    id: str
    title: str = ""
    abstract: str = ""
    authors: tuple[str, ...] = ()
    venue: str = ""
    year: int | None = None
    url: str = ""
    topic: str = ""
    decision: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()

    @cached_property
    def label(self) -> str:
        """What to call the paper: its title, else the name its abstract coins, else its first clause."""
        return self.title or name_of_untitled(self.abstract) or "Untitled paper"

    def to_json(self) -> dict[str, Any]:
        """Every stored field, ready for `json.dumps`."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Paper":
        """The inverse of `to_json`."""
        lists = {key: tuple(stored[key]) for key in ("authors", "sources", "aliases")}
        return cls(**{**stored, **lists})


@dataclass(frozen=True)
class Passage:
    """One sentence of an abstract, as the characters [start, end) of `paper.abstract`: the unit of evidence."""

    paper: Paper
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.paper.abstract[self.start : self.end]


@dataclass(frozen=True)
class Evidence:
    """One paper a search found, with all its passages.

    Scores are higher-is-better. `score` is the fused one (0 to 1); `dense` is the cosine similarity of question
    and paper, `lexical` the BM25 score, each None where that leg did not return the paper.
    `similarities` holds one cosine a passage, of the question and what sets the passage apart from its neighbours.
    """

    paper: Paper
    rank: int
    score: float
    dense: float | None
    lexical: float | None
    passages: tuple[Passage, ...]
    similarities: tuple[float, ...]

    @property
    def found_by(self) -> tuple[str, ...]:
        legs = (("dense", self.dense), ("lexical", self.lexical))
        return tuple(name for name, score in legs if score is not None)


@dataclass(frozen=True)
class Filters:
    """Conditions on a paper's metadata; an empty one lets every paper through.

    Names are compared without regard to case, accents and hyphens. `authors` must all be on the paper.
    """

    authors: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    venue: str = ""
    year: int | None = None
    topic: str = ""
    decision: str = ""
    session: str = ""
    source: str = ""
    has_code: bool | None = None

    def __bool__(self) -> bool:
        return self != Filters()

    def matches(self, paper: Paper) -> bool:
        """Whether `paper` fulfils every condition."""
        session = str(paper.extra.get("session", paper.extra.get("poster_session", "")))
        return (
            all(_is_among(name, paper.authors) for name in self.authors if name.strip())
            and not any(_holds(term, paper) for term in self.exclude if term.strip())
            and fold(self.venue) in fold(paper.venue)
            and self.year in (None, paper.year)
            and fold(self.topic) in fold(paper.topic)
            and (not self.decision or decided(paper, self.decision))
            and self.session in ("", session)
            and (not self.source or any(self.source in source for source in paper.sources))
            and self.has_code in (None, has_code(paper))
        )


def decided(paper: Paper, decision: str) -> bool:
    """Whether a paper was presented as `decision`; an oral that its source also calls a spotlight is both."""
    wording = str(paper.extra.get("decision", "")).casefold()
    return paper.decision == decision or (decision == "spotlight" and decision in wording)


def has_code(paper: Paper) -> bool:
    """Whether the abstract or the record names a public code repository."""
    hosts = ("github.com/", "gitlab.com/", "bitbucket.org/", "codeberg.org/", "github.io/")
    return "code_url" in paper.extra or any(host in paper.abstract for host in hosts)


def _is_among(name: str, people: Sequence[str]) -> bool:
    """Whether `name`, whole or in part ("Peyre"), is one of the people's, word by word."""
    return any(_in_words(name, person) for person in people)


def _holds(term: str, paper: Paper) -> bool:
    return _in_words(term, f"{paper.title} {paper.abstract}") or _is_among(term, paper.authors)


def _in_words(part: str, whole: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(fold(part))}(?!\w)", fold(whole)) is not None


def fold(text: str) -> str:
    """Text for comparing names: lower case, no accents, hyphens as spaces, single spaces."""
    return " ".join(unaccented(text).casefold().replace("-", " ").split())


def searchable(paper: Paper) -> str:
    """What lexical search sees of a paper."""
    return f"{paper.title}\n{paper.abstract}\n{' '.join(paper.authors)}"
