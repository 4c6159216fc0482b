"""Records to papers: what is one paper, what stays two, and that no order of ingests matters."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.merge import merge
from ingest.readers import read
from vectorstore.paper import Paper

Record = Callable[..., Paper]


@pytest.fixture
def untitled(record: Record) -> Paper:
    return record(1, id="text-0123456789ab", title="", sources=("a.txt",))


@pytest.fixture
def titled(record: Record) -> Paper:
    return record(1, authors=("Ann Lee",), url="https://x.org/1", year=2026)


@pytest.mark.parametrize("turned", [False, True])
def test_an_untitled_and_a_titled_record_of_one_abstract_are_one_paper(
    untitled: Paper, titled: Paper, turned: bool
) -> None:
    (paper,) = merge([titled, untitled] if turned else [untitled, titled])
    assert paper.id == "x-1"
    assert paper.title == "Study 1"
    assert paper.aliases == ("text-0123456789ab",)
    assert paper.sources == ("a.jsonl", "a.txt")
    assert paper.authors == ("Ann Lee",)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"id": "same"}, {"id": "same"}),
        ({"aliases": ("arxiv:1",)}, {"aliases": ("doi:2", "arxiv:1")}),
        ({"id": "00P7"}, {"aliases": ("00P7",)}),
        ({"title": "On $\\phi$-Nets!", "authors": ("José B",)}, {"title": "on phi nets", "authors": ("Jose b",)}),
        ({"title": "T", "authors": ("Ann Lee", "Bo Ek")}, {"title": "T", "authors": ("Bo Ek", "Ann Lee")}),
        ({"title": "T", "url": "https://x.org/1/"}, {"title": "T", "url": "https://x.org/1"}),
    ],
)
def test_records_of_one_paper(record: Record, one: dict[str, Any], other: dict[str, Any]) -> None:
    records = [record(1, sources=("a",), **one), record(2, sources=("b",), **other)]
    assert len(merge(records)) == len(merge(records[::-1])) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {}),
        ({"title": "T", "authors": ("Ann Lee",)}, {"title": "T", "authors": ("Bo Ek",)}),
        ({"title": "T", "authors": ()}, {"title": "T", "authors": ()}),
        ({"title": "Introduction"}, {"title": "Introduction", "authors": ("Ann Lee",)}),
        ({"authors": ("Ann Lee",)}, {"authors": ("Ann Lee",)}),
        ({"url": "https://conf.org/papers"}, {"url": "https://conf.org/papers"}),
        ({"title": "", "abstract": "Short."}, {"title": "", "abstract": "Short."}),
    ],
)
def test_records_of_two_papers(record: Record, one: dict[str, Any], other: dict[str, Any]) -> None:
    records = [record(1, sources=("a",), **one), record(2, sources=("b",), **other)]
    assert len(merge(records)) == len(merge(records[::-1])) == 2


def test_two_titles_over_one_abstract_stay_two_papers(record: Record) -> None:
    """As where an exporter repeats an abstract by mistake."""
    one, other = record(1), record(2, abstract=record(1).abstract)
    assert [paper.title for paper in merge([one, other])] == ["Study 1", "Study 2"]


def test_wrapped_and_marked_up_copies_of_an_untitled_abstract_are_one(record: Record) -> None:
    plain = record(1, id="text-1", title="")
    wrapped = replace(
        plain, id="text-2", abstract=plain.abstract.replace(" ", "\n", 3).replace("Sentence", "**Sentence**")
    )
    assert len(merge([plain, wrapped])) == 1


def test_untitled_records_that_give_the_listings_address_stay_apart(record: Record) -> None:
    records = [record(n, title="", url="https://conf.org/papers") for n in range(4)]
    assert len(merge(records)) == 4


def test_an_untitled_record_does_not_vanish_in_another_paper(record: Record) -> None:
    records = [record(1, url="https://conf.org/papers"), record(2, title="", url="https://conf.org/papers")]
    assert sorted(paper.abstract for paper in merge(records)) == [record(1).abstract, record(2).abstract]


def test_gaps_are_filled_and_the_best_records_text_wins(record: Record) -> None:
    full = record(1, authors=("Ann Lee",), year=2026, venue="ICML", extra={"a": 1, "k": "full"}, sources=("b",))
    poor = record(1, title="study one", abstract="Other.", url="https://x.org", topic="Bees", extra={"k": 2, "z": 3})
    for order in ([full, poor], [poor, full]):
        (paper,) = merge(order)
        assert (paper.title, paper.abstract, paper.authors) == ("Study 1", full.abstract, ("Ann Lee",))
        assert (paper.url, paper.topic, paper.year) == ("https://x.org", "Bees", 2026)
        assert paper.extra == {"a": 1, "k": "full", "z": 3}
        assert paper.sources == ("a.jsonl", "b")


def test_of_two_equally_full_records_the_later_one_wins(record: Record) -> None:
    old, new = record(1, abstract="Old text.", sources=("a",)), record(1, abstract="New text.", sources=("b",))
    assert merge([old, new])[0].abstract == "New text."
    assert merge([new, old])[0].abstract == "Old text."


def test_every_former_id_and_alias_stays_a_name(record: Record) -> None:
    (paper,) = merge(
        [
            record(1, id="text-1", title="", aliases=("arxiv:1",)),
            record(1, id="x-1", aliases=("openreview:1", "arxiv:1")),
            record(2, id="y-9", aliases=("openreview:1",), authors=("A",), sources=("c",)),
        ]
    )
    assert paper.id == "y-9"
    assert set(paper.aliases) == {"text-1", "x-1", "arxiv:1", "openreview:1"}
    assert paper.id not in paper.aliases


def test_a_chain_of_names_is_one_paper(record: Record) -> None:
    chain = [record(n, aliases=(f"link:{n}", f"link:{n + 1}")) for n in range(6)]
    assert len(merge(chain)) == len(merge(chain[::2] + chain[1::2])) == 1


def test_papers_come_sorted_by_id(record: Record) -> None:
    assert [paper.id for paper in merge([record(n) for n in (3, 1, 2)])] == ["x-1", "x-2", "x-3"]


def test_nothing_merges_to_nothing() -> None:
    assert merge([]) == []


def test_the_bundled_samples_are_37_papers_in_any_order(sample: Path, text_samples: tuple[Path, Path]) -> None:
    files = [[item for item in read(path) if isinstance(item, Paper)] for path in (sample, *text_samples)]
    for order in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        papers = merge([record for place in order for record in files[place]])
        assert len(papers) == 37
        assert all(paper.id.startswith("icml2026-") and paper.title for paper in papers)
        assert sum(name.startswith("text-") for paper in papers for name in paper.aliases) == 37
    untitled = merge(files[1] + files[2])
    assert (len(untitled), sum(len(paper.sources) == 2 for paper in untitled)) == (37, 1)
    assert merge(untitled) == untitled


LONG = [" ".join(f"word{n}{place}" for place in range(20)) for n in range(3)]


@st.composite
def record_lists(draw: st.DrawFn, urls: tuple[str, ...] = ("",), retold: bool = False) -> list[Paper]:
    """Records that share ids, names, titles and texts. Unless `retold`, a title tells its text (and none is known)."""
    records = []
    for place in range(draw(st.integers(1, 7))):
        text = draw(st.integers(0, 2))
        title = draw(st.sampled_from(["", "One", "Two"])) if retold else draw(st.sampled_from(["", f"Title {text}"]))
        records.append(
            Paper(
                id=draw(st.sampled_from([f"own{place}", f"text{text}"])),
                title=title,
                abstract=draw(st.sampled_from([LONG[text], ""])),
                authors=draw(st.sampled_from([(), ("Ann Lee",), ("Bo Ek",)])),
                url=draw(st.sampled_from(urls)),
                aliases=draw(st.sampled_from([(), (f"arxiv:{text}",)])),
                sources=(f"s{place}",),
            )
        )
    return records


@given(record_lists(), st.randoms())
def test_the_number_of_papers_does_not_depend_on_the_order(records: list[Paper], random: Any) -> None:
    shuffled = records[:]
    random.shuffle(shuffled)
    assert len(merge(shuffled)) == len(merge(records))


def test_an_untitled_record_never_makes_one_paper_of_two_titles(record: Record) -> None:
    """A and B share an abstract by mistake; the untitled record is B's by its arXiv id and A's by its text."""
    abstract = record(1).abstract
    a = record(1, id="a", abstract=abstract)
    b = record(2, id="b", abstract=abstract, aliases=("arxiv:1",))
    untitled = record(3, id="text-1", title="", abstract=abstract, aliases=("arxiv:1",))
    assert len(merge([b, a, untitled])) == 2
    assert len(merge([a, b, untitled])) == 2


@given(record_lists(urls=("", "https://x.org/1"), retold=True))
def test_merging_loses_no_record_and_no_name(records: list[Paper]) -> None:
    papers = merge(records)
    assert {record.id for record in records} <= {name for paper in papers for name in (paper.id, *paper.aliases)}
    assert sorted(source for paper in papers for source in paper.sources) == sorted(r.sources[0] for r in records)
    assert len({paper.id for paper in papers}) == len(papers)
    assert [paper.id for paper in papers] == sorted(paper.id for paper in papers)
    for paper in papers:
        assert paper.title or not any(r.title for r in records if r.sources[0] in paper.sources)


@given(record_lists(retold=True))
def test_a_repeated_record_changes_nothing(records: list[Paper]) -> None:
    assert len(merge(records + records)) == len(merge(records))
