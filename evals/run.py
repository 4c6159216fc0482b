"""A set of questions put to a system.

In: a dataset, a system. Out: a `Report`. A question that raises is a row with its error and scores 0; nothing
vanishes from a mean.
Not known here: where the system came from, what is done with the report.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence

from evals.case import Case
from evals.dataset import Dataset
from evals.gold import Gold, find_gold
from evals.judge import Question, failed, judge
from evals.measure import Trial
from evals.report import Report, SetName, SystemName, report
from evals.system import System
from vectorstore.paper import Paper


def evaluate(dataset: Dataset, system: System, method: str = "paperchat") -> Report:
    """Ask every question of `dataset`, in order, of the system called `method`.

    Raises GoldMissing before the first when the corpus is another.
    """
    golds = find_gold(dataset.cases, system)
    questions: list[Question] = []
    timings: list[Mapping[str, float]] = []
    writers: set[str] = set()
    for case in dataset.cases:
        outcome = _put(case, golds[case.id], system)
        if isinstance(outcome, Trial):
            timings.append(outcome.answer.timings_ms)
            writers.add(outcome.answer.writer)
        questions.append(judge(outcome) if isinstance(outcome, Trial) else outcome)
    papers = system.papers()
    titles = {paper.id: paper.title for paper in papers}
    set_name, name = SetName(name=dataset.name, digest=dataset.digest), _name_of(method, system, papers, writers)
    return report(set_name, name, system.corpus, questions, timings, titles)


def _put(case: Case, gold: Gold, system: System) -> Trial | Question:
    try:
        return Trial(case, gold, system.ask(case.question, case.turns), system.paper)
    except Exception as error:
        return failed(case, gold, error)


def _name_of(method: str, system: System, papers: Sequence[Paper], writers: set[str]) -> SystemName:
    texts = [(paper.id, paper.title, paper.abstract) for paper in papers]
    digest = hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:12]
    return SystemName(
        method=method, embedder=system.fingerprint, papers=len(papers), texts=digest, writers=tuple(sorted(writers))
    )
