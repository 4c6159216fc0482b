"""All questions' rows to one report: means by category and over all, abstention, latency.

In: rows, and the milliseconds that each answer took by stage. Out: a `Report`, and its JSON, which is the same for two
runs of the same system but for `latency_ms`.
Not known here: how a row came about, how a report is laid out for reading (markdown.py).
"""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from app.answer import Record
from evals.abstention import Abstention, summary
from evals.errors import NotAReport
from evals.judge import MEASURES, Question
from evals.stats import bootstrap_interval
from evals.version import commit


class SetName(Record):
    """Which questions: `digest` changes whenever a question or a label does."""

    name: str
    digest: str


class SystemName(Record):
    """What answered. `texts` is a digest of the papers' ids, titles and abstracts, wherever they were read from."""

    method: str = "paperchat"
    embedder: str
    papers: int
    texts: str
    writers: tuple[str, ...]


class Mean(Record):
    """A measure over the `n` questions that it applies to, with the bootstrap 95 % interval of its mean."""

    n: int
    mean: float
    low: float
    high: float


class Group(Record):
    """Some questions, pooled: how many, and each measure that applies to any of them."""

    n: int
    measures: Mapping[str, Mean]


class Percentiles(Record):
    """Milliseconds, by nearest rank: the smallest observed that at least 50 % or 95 % do not exceed."""

    p50: float
    p95: float


class Report(Record):
    """How a system did on a set. `corpus` is the hash of the index generation that answered, `commit` the code's."""

    commit: str
    set: SetName
    system: SystemName
    corpus: str
    overall: Group
    categories: Mapping[str, Group]
    abstention: Abstention
    questions: tuple[Question, ...]
    titles: Mapping[str, str]  # of the papers that questions name, by id
    latency_ms: Mapping[str, Percentiles]

    @property
    def failed(self) -> tuple[Question, ...]:
        return tuple(question for question in self.questions if question.status == "failed")

    @property
    def violated(self) -> tuple[Question, ...]:
        return tuple(question for question in self.questions if question.violations)

    def to_json(self) -> str:
        """The report as text, keys sorted."""
        return json.dumps(self.model_dump(mode="json"), ensure_ascii=False, sort_keys=True, indent=1) + "\n"


def read_report(path: Path) -> Report:
    """The report that `run --json` wrote to `path`. Raises NotAReport."""
    try:
        return Report.model_validate_json(path.read_bytes())
    except OSError as error:
        raise NotAReport(path, error.strerror or "it cannot be read") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise NotAReport(path, f"{where}: {first['msg']}") from error


def report(
    name: SetName,
    system: SystemName,
    corpus: str,
    questions: Sequence[Question],
    timings_ms: Sequence[Mapping[str, float]],
    titles: Mapping[str, str],
) -> Report:
    """Pool `questions`; `timings_ms` holds one mapping from stage to milliseconds an answer, `titles` all papers'."""
    categories = dict.fromkeys(question.category for question in questions)
    return Report(
        commit=commit(),
        set=name,
        system=system,
        corpus=corpus,
        overall=pool(questions),
        categories={name: pool([q for q in questions if q.category == name]) for name in categories},
        abstention=summary(questions),
        questions=tuple(questions),
        titles={id: titles[id] for id in sorted(_named(questions)) if id in titles},
        latency_ms=latency(timings_ms),
    )


def _named(questions: Sequence[Question]) -> set[str]:
    return {id for question in questions for id in (*question.gold[:20], *question.retrieved, *question.cited)}


def pool(questions: Sequence[Question]) -> Group:
    """Arithmetic means over questions, each counting once."""
    measures: dict[str, Mean] = {}
    for measure in MEASURES:
        values = [q.scores[measure.name].value for q in questions if measure.name in q.scores]
        if values:
            low, high = (round(end, 6) for end in bootstrap_interval(values))
            mean = round(math.fsum(values) / len(values), 6)
            measures[measure.name] = Mean(n=len(values), mean=mean, low=low, high=high)
    return Group(n=len(questions), measures=measures)


def latency(timings_ms: Sequence[Mapping[str, float]]) -> dict[str, Percentiles]:
    """Percentiles by stage, over the answers that passed through it."""
    stages = dict.fromkeys(stage for timings in timings_ms for stage in timings)
    taken = {stage: sorted(timings[stage] for timings in timings_ms if stage in timings) for stage in stages}
    return {stage: Percentiles(p50=_at(0.50, values), p95=_at(0.95, values)) for stage, values in taken.items()}


def _at(share: float, ordered: Sequence[float]) -> float:
    return round(ordered[math.ceil(share * len(ordered)) - 1], 3)
