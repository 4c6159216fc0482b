"""A set of questions: a JSONL file, one case a line, or a benchmark that brings its papers.

In: a path, or the name of a set in evals/sets. Out: a `Dataset`; a line that is no case is refused with file, line
and key, an id that is taken as well.
Not known here: what a case means (case.py), the corpus, what answers.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from evals.beir import paper_id, read_queries
from evals.case import Case, Malformed, parse
from evals.errors import BadCase, BenchmarkUnreadable, NoSuchCategory, SetMissing, SetUnreadable

SETS = Path(__file__).parent / "sets"


@dataclass(frozen=True)
class Dataset:
    """A named set of cases, in the order of its file. `corpus` is the folder of a benchmark that brings its papers."""

    name: str
    cases: tuple[Case, ...]
    corpus: Path | None = None

    @property
    def digest(self) -> str:
        """Changes whenever a question or its labels do; notes don't count."""
        labels = [case.model_dump(mode="json", exclude={"note"}) for case in self.cases]
        return hashlib.sha256(json.dumps(labels, sort_keys=True).encode()).hexdigest()[:12]

    @property
    def categories(self) -> tuple[str, ...]:
        """In order of first appearance."""
        return tuple(dict.fromkeys(case.category for case in self.cases))

    def only(self, category: str) -> "Dataset":
        """The cases of one category. Raises NoSuchCategory."""
        kept = tuple(case for case in self.cases if case.category == category)
        if not kept:
            raise NoSuchCategory(category, self.categories)
        return Dataset(self.name, kept, self.corpus)


def load(name: str) -> Dataset:
    """The set in the file `name`, the benchmark in the folder `name`, or the set called `name` in evals/sets.

    Raises SetMissing, SetUnreadable, BenchmarkUnreadable or BadCase.
    """
    path = Path(name)
    if not path.exists():
        path = SETS / f"{name}.jsonl"
    if path.is_dir():
        return _benchmark(path)
    if not path.exists():
        raise SetMissing(name, sorted(known.stem for known in SETS.glob("*.jsonl")))
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise SetUnreadable(path, error.strerror or "it cannot be read") from error
    except UnicodeDecodeError as error:
        raise SetUnreadable(path, f"it is not UTF-8 (byte {error.start})") from error
    return Dataset(path.stem, _cases(path, text))


def _benchmark(folder: Path) -> Dataset:
    """The queries of a folder in BEIR's layout, of one category that is called after it."""
    folder = folder.resolve()
    cases = tuple(
        Case(
            id=query.id,
            category=folder.name,
            question=query.text,
            relevant=tuple(sorted(paper_id(folder, id) for id in query.relevant)),
        )
        for query in read_queries(folder)
    )
    if not cases:
        raise BenchmarkUnreadable(folder, "no query has a relevant paper")
    return Dataset(folder.name, cases, folder)


def _cases(path: Path, text: str) -> tuple[Case, ...]:
    cases: dict[str, Case] = {}
    for number, row in enumerate(text.split("\n"), start=1):
        if not row.strip():
            continue
        try:
            case = parse(row)
        except Malformed as problem:
            raise BadCase(path, number, str(problem)) from None
        if case.id in cases:
            raise BadCase(path, number, f"key 'id': {case.id} is already taken by an earlier line")
        cases[case.id] = case
    if not cases:
        raise SetUnreadable(path, "it holds no case")
    return tuple(cases.values())
