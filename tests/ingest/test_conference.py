"""The whole conference and the bundled sample are one corpus, whichever comes first.

Needs the papers of ICML 2026, which are not in the repository: PAPERCHAT_DATA names the folder with icml2026.jsonl.
"""

import os
from pathlib import Path

import pytest

from ingest.build import Request, ingest
from ingest.report import Report
from vectorstore.catalogue import Catalogue
from vectorstore.generation import current_folder
from vectorstore.hashing import HashingEmbedder

CONFERENCE = Path(os.environ.get("PAPERCHAT_DATA", Path(__file__).parents[3] / "shared" / "data")) / "icml2026.jsonl"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CONFERENCE.exists(), reason=f"{CONFERENCE} is not there (set PAPERCHAT_DATA)"),
]


def ids_and_texts(root: Path) -> set[tuple[str, str]]:
    catalogue = Catalogue(current_folder(root) / "papers.sqlite3")
    found = {(paper.id, paper.title) for paper in catalogue.all()}
    catalogue.close()
    return found


@pytest.fixture(scope="module")
def roots(tmp_path_factory: pytest.TempPathFactory, sample: Path) -> tuple[Path, Path, list[Report]]:
    """The sample and the conference ingested in either order, and what each ingest reported."""
    one, other = tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("other")
    reports = [
        ingest(root, Request((source,)), HashingEmbedder())
        for root, source in ((one, sample), (one, CONFERENCE), (other, CONFERENCE), (other, sample))
    ]
    return one, other, reports


def test_either_order_ends_with_the_same_6605_papers(roots: tuple[Path, Path, list[Report]]) -> None:
    one, other, reports = roots
    assert [report.papers for report in reports] == [37, 6605, 6605, 6605]
    assert ids_and_texts(one) == ids_and_texts(other)


def test_the_sample_adds_nothing_to_the_conference(roots: tuple[Path, Path, list[Report]]) -> None:
    _, _, reports = roots
    assert reports[1].merged == reports[3].merged == 37
    assert reports[1].new == 6605 - 37


def test_ten_more_papers_are_searched_and_the_others_still_found(
    roots: tuple[Path, Path, list[Report]], tmp_path: Path
) -> None:
    """So few change a copy of the dense index instead of building it anew."""
    from vectorstore.search import Searcher

    one, *_ = roots
    lines = [f'{{"id": "new-{n}", "title": "Quokka theorem {n}", "abstract": "Quokkas {n} smile."}}' for n in range(10)]
    source = tmp_path / "ten.jsonl"
    source.write_text("\n".join(lines))
    report = ingest(one, Request((source,)), HashingEmbedder())
    assert (report.new, report.papers, report.embedded) == (10, 6615, 10)
    searcher = Searcher(one, HashingEmbedder())
    try:
        assert searcher.search("Quokka theorem 7").evidence[0].paper.id == "new-7"
        for paper in searcher.papers()[::400]:
            assert searcher.search(paper.title, 3).evidence[0].paper.title == paper.title
    finally:
        searcher.close()
