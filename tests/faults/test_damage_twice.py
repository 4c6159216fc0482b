"""Two things lost at once, while a whole generation is still there: no ingest may put a few papers in place of it."""

from pathlib import Path

import pytest

from ingest.build import Request, ingest
from vectorstore.catalogue import Catalogue
from vectorstore.errors import VectorstoreError
from vectorstore.generation import current_folder
from vectorstore.hashing import HashingEmbedder


@pytest.mark.parametrize("current", [None, "gen-8c9\n"])
def test_a_generation_that_nothing_names_is_not_swept_by_an_ingest_of_something_else(
    index: Path, tmp_path: Path, current: str | None
) -> None:
    """An index of the first version, which kept no records beside it, needs only the loss of CURRENT for this."""
    for path in (*index.glob("records-*"), index / "CURRENT"):
        path.unlink()
    if current is not None:
        (index / "CURRENT").write_text(current)
    more = tmp_path / "more.jsonl"
    more.write_text('{"id": "new", "title": "Quokka", "abstract": "Quokkas smile in the sun."}\n')
    try:
        ingest(index, Request((more,), rebuild=current is not None), HashingEmbedder())
    except VectorstoreError:  # to refuse is well, too
        assert list(index.glob("gen-*"))
        return
    catalogue = Catalogue(current_folder(index) / "papers.sqlite3")
    size = catalogue.size
    catalogue.close()
    assert size == 38
