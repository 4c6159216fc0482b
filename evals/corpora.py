"""The index that holds the papers of a set.

In: a set and the settings. Out: the settings with the index that the set is about: the user's own or, for a set that
brings its corpus, one beside it that is built when it is first asked for and embeds nothing twice.
Not known here: questions.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from app.settings import Settings
from app.whole import chosen_embedder
from evals.beir import paper_id, read_corpus
from evals.dataset import Dataset
from ingest.build import Progress, Request, ingest, silent


def settings_for(dataset: Dataset, settings: Settings, progress: Progress = silent) -> Settings:
    """Raises BenchmarkUnreadable, or what an ingest does."""
    if dataset.corpus is None:
        return settings
    folder = settings.index_dir.with_name(f"{settings.index_dir.name}-sets") / dataset.name
    own = settings.model_copy(update={"index_dir": folder / "index"})
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "papers.jsonl"
    with source.open("w", encoding="utf-8") as file:
        file.writelines(_lines(dataset.corpus))
    ingest(own.index_dir, Request((source,)), chosen_embedder(own), progress)
    return own


def _lines(corpus: Path) -> Iterator[str]:
    for paper in read_corpus(corpus):
        row = {"id": paper_id(corpus, paper.id), "title": paper.title, "abstract": paper.abstract}
        yield json.dumps(row) + "\n"
