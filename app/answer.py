"""The cited answer, and the question it answers: the contract with the command line, REST, the page and evals.

In: nothing; these are records. Out: their JSON. What must hold of every answer is checked when one is made: each
sentence has a citation, the papers are the cited ones in order of first mention, a refusal cites nothing that it
should not.
Not known here: how an answer is found or written.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from vectorstore.paper import Filters, Paper

Route = Literal[
    "fact", "find", "topic", "define", "summary", "compare", "list", "count", "author", "title", "meta", "smalltalk"
]
RefusalReason = Literal["off_topic", "not_in_corpus", "not_in_abstract", "empty_corpus", "needs_model"]
EvidenceField = Literal["abstract", "title", "authors", "topic", "decision", "venue", "year", "url"]


LEFT_OUT = " […] "  # between two quotes of one sentence


class Record(BaseModel):
    """Frozen, and refuses keys that it does not have."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Turn(Record):
    """One turn of a conversation; `papers` are the ids an answer cited, in order, where the client kept them."""

    role: Literal["user", "assistant"]
    content: str
    papers: tuple[str, ...] = ()


class Conditions(Record):
    """`Filters` as JSON: conditions on a paper's metadata that a client sets, or that were read in the question."""

    topic: str = ""
    authors: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    decision: str = ""
    venue: str = ""
    year: int | None = None
    session: Annotated[str, BeforeValidator(lambda given: str(given) if isinstance(given, int) else given)] = ""
    has_code: bool | None = None
    source: str = ""

    def filters(self) -> Filters:
        return Filters(**self.model_dump())


class Quote(Record):
    """What a sentence rests on. For `field` abstract or title `quote == paper[field][start:end]`; for the other
    fields the quote is the stored value and there is no span."""

    paper_id: str
    field: EvidenceField = "abstract"
    start: int | None = None
    end: int | None = None
    quote: str


class Sentence(Record):
    """One sentence of an answer. When `quoted`, its text is its quotes joined by ' […] '."""

    text: str
    citations: Annotated[tuple[int, ...], Field(min_length=1)]
    support: Literal["quoted", "supported", "weak"] = "quoted"
    evidence: Annotated[tuple[Quote, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _is_quoted(self) -> Self:
        if self.support == "quoted" and self.text != LEFT_OUT.join(quote.quote for quote in self.evidence):
            raise ValueError("a quoted sentence is its quotes")
        return self


class Lead(Record):
    """What we computed ourselves: a count or a heading, with the criterion it stands on."""

    text: str
    criterion: str = ""
    count: int | None = None
    interval: tuple[int, int] | None = None
    complete: bool = True


class Refusal(Record):
    reason: RefusalReason
    message: str


class Cell(Record):
    text: str
    evidence: tuple[Quote, ...]


class Row(Record):
    aspect: str
    cells: tuple[Cell | None, ...]


class Table(Record):
    """A comparison: one column a paper (by its number), one row an aspect; None is "not stated in the abstract"."""

    papers: tuple[int, ...]
    rows: tuple[Row, ...]


class PaperCard(Record):
    """A paper as shown beside an answer."""

    id: str
    label: str
    title: str
    authors: tuple[str, ...]
    venue: str
    year: int | None
    url: str
    # For the page; not part of the JSON contract.
    topic: Annotated[str, Field(exclude=True)] = ""
    decision: Annotated[str, Field(exclude=True)] = ""

    @classmethod
    def of(cls, paper: Paper) -> Self:
        return cls(**fields_of(paper, *PaperCard.model_fields))


class CitedPaper(PaperCard):
    number: int

    @classmethod
    def cited(cls, number: int, paper: Paper) -> Self:
        return cls(number=number, **fields_of(paper, *PaperCard.model_fields))


class Retrieved(Record):
    """One row of the ranking: `score` is the fused one, 0 to 1, higher is better."""

    id: str
    rank: int
    score: float
    found_by: tuple[str, ...]


class Answer(Record):
    """A cited answer or an honest refusal. `corpus` is the hash of the generation that it was made from."""

    question: str
    standalone_question: str
    language: str = "en"
    status: Literal["answered", "refused"]
    refusal: Refusal | None = None
    route: Route
    interpreted_as: dict[str, Any] = {}
    lead: Lead | None = None
    text: str
    sentences: tuple[Sentence, ...] = ()
    table: Table | None = None
    papers: tuple[CitedPaper, ...] = ()
    nearest: tuple[PaperCard, ...] = ()
    retrieved: tuple[Retrieved, ...] = ()
    writer: str = "extractive"
    model_uses: tuple[str, ...] = ()
    corpus: str
    timings_ms: dict[str, float] = {}
    # How much speaks for an answer, for evaluations; not part of the JSON contract.
    confidence: Annotated[float | None, Field(exclude=True)] = None

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        mentioned = list(dict.fromkeys(number for sentence in self.sentences for number in sentence.citations))
        if self.table is not None:
            mentioned += [number for number in self.table.papers if number not in mentioned]
        if [paper.number for paper in self.papers] != mentioned or mentioned != list(range(1, len(mentioned) + 1)):
            raise ValueError(f"papers {[p.number for p in self.papers]} are not the cited ones {mentioned}")
        if len({paper.id for paper in self.papers}) < len(self.papers):
            raise ValueError("a paper is served twice")
        if (self.status == "refused") != (self.refusal is not None):
            raise ValueError("a refused answer has a refusal, an answered one has none")
        if self.refusal and self.refusal.reason != "not_in_abstract" and mentioned:
            raise ValueError(f"an answer refused as {self.refusal.reason} must not cite")
        if self.status == "answered" and not (self.sentences or self.lead or self.table):
            raise ValueError("an answer without a sentence, a lead or a table says nothing")
        for sentence in self.sentences:
            if {quote.paper_id for quote in sentence.evidence} != {self.papers[n - 1].id for n in sentence.citations}:
                raise ValueError("a sentence must quote the papers that it cites")
        return self


def fields_of(paper: Paper, *names: str) -> dict[str, Any]:
    """The named fields of a paper, for JSON."""
    return {name: getattr(paper, name) for name in names}


def paper_json(paper: Paper) -> dict[str, Any]:
    """A whole paper as one flat object: what `papers --json` prints a line of and `GET /api/papers/ID` returns."""
    names = ("id", "title", "label", "abstract", "authors", "venue", "year", "url", "topic", "decision", "sources")
    return {key: list(value) if isinstance(value, tuple) else value for key, value in fields_of(paper, *names).items()}
