"""A question and its answer as HTML.

In: an exchange, its place in the conversation, a way to look up papers. Out: HTML; sentences are rendered from the
stored text that they quote. What a paper says is of class "quote", what we say of class "ours".
Not known here: the cards beside it, scripts, styles, streaming.
"""

from collections.abc import Sequence

from app.answer import Answer, Cell, CitedPaper, Quote, Sentence, Table
from app.page_cards import Lookup, span_in
from app.page_text import escape, text_html

_LISTS = ("topic", "list", "count", "author", "title")
_LISTED = 10  # members of a set that are shown in the text; all are among the cards
STOPPED = "Stopped. Ask again, or ask something else."


def turn_html(place: int, question: str, inner: str, is_busy: bool = False) -> str:
    """A question, as it was typed, and what stands below it."""
    return (
        f'<article class="turn" id="t{place}" data-turn="{place}" aria-busy="{"true" if is_busy else "false"}">'
        f'<h2 class="question" dir="auto">{escape(question)}</h2><div class="reply">{inner}</div></article>'
    )


def pending_html() -> str:
    return '<p class="ours pending"><span class="dots" aria-hidden="true"></span>Searching the abstracts</p>'


def notice_html(message: str) -> str:
    """Something that went wrong, in one line that says what to do."""
    return f'<p class="ours notice">{escape(message[:1].upper() + message[1:])}</p>'


def answer_html(place: int, answer: Answer, lookup: Lookup, shown: int | None = None) -> str:
    """The answer; only the first `shown` of its sentences, and nothing below them, where it is still coming in."""
    parts = [_read_as_html(answer)]
    if answer.lead is not None:
        parts.append(f'<p class="ours lead">{text_html(answer.lead.text)}</p>')
    if answer.refusal is not None:
        parts.append(f'<p class="ours refusal">{text_html(answer.refusal.message)}</p>')
    is_list = answer.route in _LISTS
    sentences = [
        _sentence_html(place, number, sentence, answer, lookup)
        for number, sentence in enumerate(answer.sentences[: _LISTED if is_list else None][:shown])
    ]
    if sentences and is_list:
        cited = [answer.papers[sentence.citations[0] - 1] for sentence in answer.sentences]
        items = (
            f"<li><strong>{text_html(paper.label)}</strong> {sentence}</li>"
            for paper, sentence in zip(cited, sentences, strict=False)
        )
        parts.append(f'<ul class="found">{"".join(items)}</ul>')
    elif sentences:
        parts.append(f'<p class="words">{" ".join(sentences)}</p>')
    if shown is None:
        parts += [_table_html(answer.table, answer.papers), _nearest_html(place, answer), _foot_html(place, answer)]
    return "".join(parts)


def _read_as_html(answer: Answer) -> str:
    """How a follow-up was understood."""
    if answer.standalone_question.strip() == answer.question.strip():
        return ""
    return (
        f'<p class="ours read-as">Read as: <i>{text_html(answer.standalone_question)}</i> '
        '<button type="button" class="alone">Ask without what came before</button></p>'
    )


def _sentence_html(place: int, number: int, sentence: Sentence, answer: Answer, lookup: Lookup) -> str:
    """A sentence with its citations, which word-joiners keep on its last line."""
    if sentence.support == "quoted":
        text = ' <span class="left-out">[…]</span> '.join(_quote_html(quote, lookup) for quote in sentence.evidence)
    else:
        text = text_html(sentence.text)
    cites = "".join(_cite_html(place, number, sentence, answer.papers[n - 1]) for n in sentence.citations)
    return (
        f'<span class="sentence quote" id="t{place}-s{number}" data-support="{sentence.support}">{text}'
        f'<span class="cites">&#8288;{cites}</span></span>'
    )


def _quote_html(quote: Quote, lookup: Lookup) -> str:
    """A quote, rendered inside the text that it comes from, so that emphasis which began before it holds."""
    paper = lookup(quote.paper_id)
    span = span_in(paper, quote) if paper else None
    if paper is None or span is None:
        return text_html(quote.quote)
    return text_html(paper.abstract if quote.field == "abstract" else paper.title, *span)


def _cite_html(place: int, number: int, sentence: Sentence, paper: CitedPaper) -> str:
    k = next((k for k, quote in enumerate(sentence.evidence) if quote.paper_id == paper.id), 0)
    return (
        f'<button type="button" class="cite" data-card="t{place}-c{paper.number}" data-mark="t{place}-m{number}-{k}" '
        f'aria-label="Source {paper.number}: {escape(paper.label[:120])}">{paper.number}</button>'
    )


def _table_html(table: Table | None, papers: Sequence[CitedPaper]) -> str:
    """A comparison, one column a paper."""
    if table is None:
        return ""
    heads = "".join(f'<th scope="col">{text_html(papers[number - 1].label)} [{number}]</th>' for number in table.papers)
    rows = "".join(
        f'<tr><th scope="row">{escape(row.aspect)}</th>{"".join(map(_cell_html, row.cells))}</tr>' for row in table.rows
    )
    return f'<div class="wide"><table><thead><tr><td></td>{heads}</tr></thead><tbody>{rows}</tbody></table></div>'


def _cell_html(cell: Cell | None) -> str:
    if cell is None:
        return '<td class="ours">not stated in the abstract</td>'
    return f'<td class="quote">{text_html(cell.text)}</td>'


def _nearest_html(place: int, answer: Answer) -> str:
    """Beside a refusal: the papers that come nearest, each opening its card."""
    if not answer.nearest:
        return ""
    items = "".join(
        f'<li><button type="button" class="open-card" data-card="t{place}-c{number}">'
        f"<bdi>{text_html(paper.label)}</bdi></button></li>"
        for number, paper in enumerate(answer.nearest, start=1)
    )
    return f'<p class="ours nearest-head">Nearest papers</p><ul class="nearest">{items}</ul>'


def _foot_html(place: int, answer: Answer) -> str:
    """Where the sentences come from, and the way to the papers where they are not beside the answer."""
    count = len(answer.papers)
    if not count:
        return ""
    papers = f"{count} paper{'s' if count > 1 else ''}"
    listed = answer.route in _LISTS and len(answer.sentences) > _LISTED
    said = f"The first {_LISTED} of {len(answer.sentences)}. " if listed else ""
    if answer.sentences and all(sentence.support == "quoted" for sentence in answer.sentences):
        said += f"Quoted word for word from {papers}."
    elif answer.sentences:
        said += f"Written by {escape(answer.writer)} from {papers}; each sentence was checked against its source."
    button = f'<button type="button" class="show-shelf" data-shelf="t{place}-shelf">Show {papers}</button>'
    return f'<p class="ours foot"><span>{said}</span> {button}</p>'
