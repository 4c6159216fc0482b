"""From the fields of one raw record to a stored one: what all readers share.

In: raw fields, whatever their type. Out: a `Paper` with one source, or `Unreadable` with the reason.
Not known here: file formats.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ingest.clean import clean, line
from ingest.document import Skipped
from vectorstore.paper import Paper

Reader = Callable[[str, str], Iterator[Paper | Skipped]]


class Unreadable(ValueError):
    """A record that cannot become a paper; the text is the reason."""


FIELDS: dict[str, tuple[str, ...]] = {
    "id": ("id", "paper_id", "openreview_id", "forum"),
    "title": ("title", "name", "paper_title"),
    "abstract": ("abstract", "summary", "paperAbstract"),
    "authors": ("authors", "author"),
    "venue": ("venue", "conference", "booktitle"),
    "year": ("year",),
    "url": ("url", "paper_url", "link", "openreview_url"),
    "topic": ("topic", "primary_area", "area"),
    "decision": ("decision", "status"),
}
_OPENREVIEW = re.compile(r"openreview\.net/(?:forum|pdf)\?id=([\w-]+)")
_ARXIV = re.compile(r"arxiv\.org/(?:abs|pdf|html)/(\d{4}\.\d{4,5})", re.IGNORECASE)
_DOI = re.compile(r"doi\.org/(10\.\d{4,9}/\S+)", re.IGNORECASE)
_CONFERENCE_ID = re.compile(r"([A-Za-z]{2,12})(20\d\d)-")


def record_of(raw: Mapping[str, Any], source: str) -> Paper:
    """The record of one raw mapping. Raises Unreadable when it has neither title nor abstract, or wrong types."""
    used: set[str] = set()
    title = line(_string(_take(raw, "title", used), "title"))
    abstract, repairs = clean(_string(_take(raw, "abstract", used), "abstract"))
    if not title and not abstract:
        raise Unreadable("it has neither a title nor an abstract")
    url = line(_string(_take(raw, "url", used), "url"))
    wording = line(_string(_take(raw, "decision", used), "decision"))
    own_id = line(_string(_take(raw, "id", used), "id"))
    id = _unique_id(own_id, source, url, title, abstract)
    prefix = _CONFERENCE_ID.match(id)
    extra = {key: value for key, value in raw.items() if key not in used and value not in (None, "", [], {})}
    if wording:
        extra["decision"] = wording
    if repairs:
        extra["repairs"] = list(repairs)
    return Paper(
        id=id,
        title=title,
        abstract=abstract,
        authors=_authors(_take(raw, "authors", used)),
        venue=line(_string(_take(raw, "venue", used), "venue")) or (prefix[1].upper() if prefix else ""),
        year=_year(_take(raw, "year", used)) or (int(prefix[2]) if prefix else None),
        url=url,
        topic=line(_string(_take(raw, "topic", used), "topic")),
        decision="oral" if raw.get("oral") is True else _decision(wording),
        extra={key: value for key, value in extra.items() if key not in used or key == "decision"},
        sources=(source,),
        aliases=tuple(dict.fromkeys(a for a in _aliases(raw, url) if a != id)),
    )


def _take(raw: Mapping[str, Any], field: str, used: set[str]) -> Any:
    for name in FIELDS[field]:
        if raw.get(name) not in (None, "", []):
            used.add(name)
            return raw[name]
    return None


def _string(value: Any, field: str) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise Unreadable(f"its {field} is a {type(value).__name__}, not text")


def _authors(value: Any) -> tuple[str, ...]:
    """Names from a list of names or objects, or from one string with a separator."""
    if value is None:
        return ()
    if isinstance(value, str):
        strong = next((s for s in (";", "|") if s in value), None)
        joined = value.split(" and ")
        if strong:
            value = value.split(strong)
        elif len(joined) > 1 and all(name.count(",") == 1 for name in joined):
            value = joined  # "Lee, Ann and Ek, Bo"
        else:
            value = re.split(r",\s*and\s|,|\sand\s", value)
    if not isinstance(value, list):
        raise Unreadable(f"its authors are a {type(value).__name__}, not a list or text")
    names = [name.get("name") or name.get("fullname") if isinstance(name, dict) else name for name in value]
    return tuple(line(name) for name in names if isinstance(name, str) and name.strip())


def _year(value: Any) -> int | None:
    found = re.search(r"\b(?:19|20)\d\d\b", str(value)) if value is not None else None
    return int(found.group()) if found else None


def _decision(wording: str) -> str:
    """The presentation that the source's wording tells, or ""."""
    words = wording.casefold()
    return next((kind for kind in ("oral", "spotlight", "poster") if kind in words), "")


def _unique_id(own: str, source: str, url: str, title: str, abstract: str) -> str:
    """The record's own id where it is unique in the world; a bare number gets its source's name in front."""
    number = re.fullmatch(r"(\d+)(?:\.0+)?", own)
    if own and not number:
        return own
    if number:
        return f"{Path(source).stem}-{hashlib.sha256(source.encode()).hexdigest()[:6]}-{number[1]}"
    if found := _OPENREVIEW.search(url):
        return found[1]
    return "text-" + hashlib.sha256(f"{title}\n{abstract}".encode()).hexdigest()[:12]


def _aliases(raw: Mapping[str, Any], url: str) -> Iterator[str]:
    """Other ids the paper is known under, each with the name of its registry."""
    known = f"{url} {raw.get('pdf', '')}"
    for registry, pattern in (("openreview", _OPENREVIEW), ("arxiv", _ARXIV), ("doi", _DOI)):
        own = raw.get(f"{registry}_id") or raw.get(registry)
        if isinstance(own, str) and own.strip():
            yield f"{registry}:{own.strip()}"
        if found := pattern.search(known):
            yield f"{registry}:{found[1]}"
