"""The papers beside an answer, as HTML cards with the quoted sentences marked in their abstracts.

In: an answer, the place of its question in the conversation, and a way to look up papers. Out: HTML.
Ids: the card of paper 2 beside answer 3 is t3-c2; the quote k of its sentence s is t3-m<s>-<k>, the sentence t3-s<s>.
Not known here: answers as text, scripts, styles.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from app.answer import Answer, CitedPaper, PaperCard, Quote
from app.export import bibtex, markdown, web_address
from app.page_text import Mark, escape, text_html
from vectorstore.paper import Paper

Lookup = Callable[[str], Paper | None]
_AUTHORS = 6  # named on a card before "and N more"
_WHOLE = 40  # cards that carry their abstract; a set of hundreds is listed without


@dataclass(frozen=True)
class Quoted:
    """A quote as a place on the page: the span of the paper's field that it is, and the sentence it stands in."""

    field: str
    start: int
    end: int
    mark: str
    sentence: str


def cards_html(place: int, answer: Answer, lookup: Lookup) -> str:
    """The cited papers of answer `place`; beside a refusal the nearest ones; "" when there are none."""
    papers: Sequence[PaperCard] = answer.papers or answer.nearest
    if not papers:
        return ""
    heading = "Cited papers" if answer.papers else "Nearest papers"
    cards = []
    for number, paper in enumerate(papers, start=1):
        stored = lookup(paper.id) if number <= _WHOLE else None
        if stored:  # a conversation that the browser kept comes back without them
            paper = paper.model_copy(update={"topic": stored.topic, "decision": stored.decision})
        quotes = tuple(quotes_of(place, answer, stored)) if stored and answer.papers else ()
        is_open = number == 1 and bool(answer.papers)
        cards.append(_card_html(f"t{place}-c{number}", paper, stored, quotes, is_open))
    return (
        f'<section class="shelf" id="t{place}-shelf" data-turn="{place}" aria-labelledby="t{place}-shelf-name">'
        f'<header class="shelf-head"><h2 id="t{place}-shelf-name">{heading} '
        f'<span class="count">{len(papers)}</span></h2>{_tools_html(papers)}</header>{"".join(cards)}</section>'
    )


def quotes_of(place: int, answer: Answer, paper: Paper) -> Iterator[Quoted]:
    """The quotes from `paper` that are found in it, where the answer says or else where their text stands."""
    for number, sentence in enumerate(answer.sentences):
        for k, quote in enumerate(sentence.evidence):
            if quote.paper_id == paper.id and (span := span_in(paper, quote)):
                yield Quoted(quote.field, *span, mark=f"t{place}-m{number}-{k}", sentence=f"t{place}-s{number}")


def span_in(paper: Paper, quote: Quote) -> tuple[int, int] | None:
    """Where a quote stands in the paper's title or abstract, if it does."""
    if quote.field not in ("abstract", "title"):
        return None
    text: str = getattr(paper, quote.field)
    if quote.start is not None and quote.end is not None and text[quote.start : quote.end] == quote.quote:
        return quote.start, quote.end
    found = text.find(quote.quote) if quote.quote else -1
    return (found, found + len(quote.quote)) if found >= 0 else None


def _tools_html(papers: Sequence[PaperCard]) -> str:
    """Buttons for copying and saving, and what they copy."""
    tools = "".join(
        f'<span class="tool"><button type="button" class="copy" data-kind="{kind}" '
        f'aria-label="Copy these papers as {name}">Copy {name}</button><button type="button" class="save" '
        f'data-kind="{kind}" aria-label="Save these papers as {name}" title="Save as a file">↓</button></span>'
        for kind, name in (("bibtex", "BibTeX"), ("markdown", "Markdown"))
    )
    texts = "".join(
        f'<pre hidden data-export="{kind}">{escape(text)}</pre>'
        for kind, text in (("bibtex", bibtex(papers)), ("markdown", markdown(papers)))
    )
    return f'<div class="tools" role="group" aria-label="Take these papers along">{tools}{texts}</div>'


def _card_html(id: str, paper: PaperCard, stored: Paper | None, quotes: Sequence[Quoted], is_open: bool) -> str:
    number = f'<span class="number">{paper.number}</span>' if isinstance(paper, CitedPaper) else ""
    state = "true" if is_open else "false"
    titles = [Mark(q.start, q.end, q.mark) for q in quotes if q.field == "title"]
    return (
        f'<article class="card" id="{id}" aria-labelledby="{id}-name"><h3><button type="button" class="toggle" '
        f'id="{id}-name" aria-expanded="{state}" aria-controls="{id}-body">{number}<span class="label">'
        f"<bdi>{text_html(paper.label, marks=titles)}</bdi></span></button></h3>{_facts_html(paper)}"
        f'<div class="body" id="{id}-body" {"" if is_open else "hidden"}>{_abstract_html(stored, quotes)}</div>'
        "</article>"
    )


def _facts_html(paper: PaperCard) -> str:
    names = [f"<bdi>{text_html(name)}</bdi>" for name in paper.authors[:_AUTHORS]]
    more = len(paper.authors) - _AUTHORS
    authors = ", ".join(names) + (f" and {more} more" if more > 0 else "")
    venue = " ".join(escape(part) for part in (paper.venue, paper.year) if part)
    decision = f'<span class="decision">{escape(paper.decision)}</span>' if paper.decision else ""
    topic = f'<span class="topic">{escape(paper.topic.split("->")[-1])}</span>' if paper.topic else ""
    facts = " ".join(fact for fact in (f"<span>{venue}</span>" if venue else "", decision, topic, _link(paper)) if fact)
    return (f'<p class="authors">{authors}</p>' if authors else "") + (f'<p class="facts">{facts}</p>' if facts else "")


def _link(paper: PaperCard) -> str:
    url = web_address(paper.url)
    if not url:
        return ""
    host = url.split("/")[2].removeprefix("www.")
    return (
        f'<a href="{escape(url)}" target="_blank" rel="noopener noreferrer" '
        f'aria-label="Open the paper at {escape(host)} in a new tab">{escape(host)} ↗</a>'
    )


def _abstract_html(stored: Paper | None, quotes: Sequence[Quoted]) -> str:
    if stored is None:
        return '<p class="ours">The abstract is not shown here; see the link.</p>'
    if not stored.abstract:
        return '<p class="ours">This paper has no abstract in the collection.</p>'
    marks = [Mark(q.start, q.end, q.mark, _back(q)) for q in quotes if q.field == "abstract"]
    return f'<p class="abstract">{text_html(stored.abstract, marks=marks)}</p>'


def _back(quoted: Quoted) -> str:
    return (
        f'<button type="button" class="back" data-sentence="{quoted.sentence}" title="Show in the answer" '
        'aria-label="Show this sentence in the answer">↩</button>'
    )
