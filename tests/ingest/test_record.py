"""Raw fields of any shape to one stored record."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.readers.record import Unreadable, record_of
from vectorstore.paper import DECISIONS, Paper

SOURCE = "/data/papers.jsonl"


def made(**raw: Any) -> Paper:
    return record_of({"title": "Bees", **raw}, SOURCE)


@pytest.mark.parametrize(
    ("raw", "field", "value"),
    [
        ({"paper_title": "Bees"}, "title", "Bees"),
        ({"title": None, "name": "Bees"}, "title", "Bees"),
        ({"title": "Bees", "summary": "They fly."}, "abstract", "They fly."),
        ({"title": "Bees", "paperAbstract": "They fly."}, "abstract", "They fly."),
        ({"title": "Bees", "conference": "ICML"}, "venue", "ICML"),
        ({"title": "Bees", "primary_area": "Theory"}, "topic", "Theory"),
        ({"title": "Bees", "paper_url": "https://x.org"}, "url", "https://x.org"),
        ({"title": "Bees", "forum": "00P7hFnWng"}, "id", "00P7hFnWng"),
        ({"title": "  Bees\n and\twasps "}, "title", "Bees and wasps"),
        ({"title": 1984}, "title", "1984"),
    ],
)
def test_fields_are_known_by_several_names(raw: dict[str, Any], field: str, value: str) -> None:
    assert getattr(record_of(raw, SOURCE), field) == value


def test_a_title_or_an_abstract_is_enough_and_one_is_needed() -> None:
    assert record_of({"title": "Bees"}, SOURCE).abstract == ""
    assert record_of({"abstract": "They fly."}, SOURCE).title == ""
    with pytest.raises(Unreadable, match="neither"):
        record_of({"id": "x-1", "authors": ["Ann Lee"]}, SOURCE)


# Ids


@pytest.mark.parametrize("id", ["icml2026-00P7hFnWng", "2403.01234", "10.1000/x.y", "2020.acl-main.1", "00P7hFnWng"])
def test_an_id_that_is_unique_in_the_world_is_kept(id: str) -> None:
    assert made(id=id).id == id


@pytest.mark.parametrize("id", [0, 7, "7", "0012"])
def test_a_bare_number_is_prefixed_by_its_source(id: int | str) -> None:
    here, there = (record_of({"title": "Bees", "id": id}, source) for source in ("/a/icml.jsonl", "/b/icml.jsonl"))
    assert here.id.startswith("icml-")
    assert here.id.endswith(f"-{id}")
    assert here.id != there.id


def test_a_bare_number_with_a_point_is_prefixed_too() -> None:
    assert (
        record_of({"title": "Bees", "id": 7.0}, "/a/x.jsonl").id
        != record_of({"title": "B", "id": 7.0}, "/b/y.jsonl").id
    )


def test_without_an_id_the_address_or_the_text_gives_one() -> None:
    assert made(url="https://openreview.net/forum?id=00P7hFnWng").id == "00P7hFnWng"
    assert made(abstract="a").id == made(abstract="a", url="https://x.org").id
    assert made(abstract="a").id.startswith("text-")
    assert made(abstract="a").id != made(abstract="b").id


def test_other_ids_are_kept_as_aliases_with_their_registry() -> None:
    record = made(
        id="icml2026-00P7hFnWng",
        url="https://openreview.net/forum?id=00P7hFnWng",
        pdf="https://arxiv.org/pdf/2403.01234v2.pdf",
        doi="10.1000/x.y",
    )
    assert record.aliases == ("openreview:00P7hFnWng", "arxiv:2403.01234", "doi:10.1000/x.y")
    assert made().aliases == ()


# Authors


@pytest.mark.parametrize(
    ("authors", "expected"),
    [
        (["Ann Lee", " Bo  Ek "], ("Ann Lee", "Bo Ek")),
        ([{"name": "Ann Lee"}, {"fullname": "Bo Ek"}, {"email": "x"}], ("Ann Lee", "Bo Ek")),
        (["Ann Lee", None, "", 7, {"name": "Bo Ek"}], ("Ann Lee", "Bo Ek")),
        ("Ann Lee; Bo Ek", ("Ann Lee", "Bo Ek")),
        ("Lee, Ann; Ek, Bo", ("Lee, Ann", "Ek, Bo")),
        ("Ann Lee | Bo Ek", ("Ann Lee", "Bo Ek")),
        ("Ann Lee, Bo Ek", ("Ann Lee", "Bo Ek")),
        ("Ann Lee and Bo Ek", ("Ann Lee", "Bo Ek")),
        ("Lee, Ann and Ek, Bo", ("Lee, Ann", "Ek, Bo")),
        ("Andrew Band", ("Andrew Band",)),
        (["Ann Lee", "Ann Lee"], ("Ann Lee", "Ann Lee")),
        ([], ()),
        (None, ()),
        ("", ()),
    ],
)
def test_authors_come_from_lists_objects_and_strings(authors: object, expected: tuple[str, ...]) -> None:
    assert made(authors=authors).authors == expected


@pytest.mark.parametrize("authors", ["Ann Lee, Bo Ek and Cy Fox", "Ann Lee, Bo Ek, and Cy Fox"])
def test_an_english_enumeration_of_authors(authors: str) -> None:
    assert made(authors=authors).authors == ("Ann Lee", "Bo Ek", "Cy Fox")


# Venue, year, decision


@pytest.mark.parametrize(
    ("raw", "venue", "year"),
    [
        ({"id": "icml2026-x"}, "ICML", 2026),
        ({"id": "neurips2025-x"}, "NEURIPS", 2025),
        ({"id": "icml2026-x", "venue": "AAAI", "year": 2024}, "AAAI", 2024),
        ({"id": "icml2026-x", "year": 0}, "ICML", 2026),
        ({"id": "2026-x"}, "", None),
        ({"year": "2026"}, "", 2026),
        ({"year": "July 2026"}, "", 2026),
        ({"year": 2026.0}, "", 2026),
        ({"year": "20261"}, "", None),
        ({"year": True}, "", None),
        ({"year": [2026]}, "", 2026),
        ({}, "", None),
    ],
)
def test_venue_and_year_are_given_or_told_by_the_id(raw: dict[str, Any], venue: str, year: int | None) -> None:
    record = made(**raw)
    assert (record.venue, record.year) == (venue, year)


@pytest.mark.parametrize(
    ("raw", "decision", "wording"),
    [
        ({"decision": "Accept (oral)"}, "oral", "Accept (oral)"),
        ({"decision": "Accept (Spotlight)"}, "spotlight", "Accept (Spotlight)"),
        ({"decision": "ICML 2026 spotlightposter"}, "spotlight", "ICML 2026 spotlightposter"),
        ({"decision": "Accept (poster)"}, "poster", "Accept (poster)"),
        ({"status": "Poster"}, "poster", "Poster"),
        ({"decision": "Accept (regular)"}, "", "Accept (regular)"),
        ({"decision": "Accept (spotlight)", "oral": True}, "oral", "Accept (spotlight)"),
        ({"decision": "Accept (spotlight)", "oral": False}, "spotlight", "Accept (spotlight)"),
        ({"oral": True}, "oral", None),
        ({}, "", None),
    ],
)
def test_decisions_are_normalised_and_an_oral_outranks(raw: dict[str, Any], decision: str, wording: str | None) -> None:
    record = made(**raw)
    assert (record.decision, record.extra.get("decision")) == (decision, wording)


# Everything else


def test_unknown_fields_are_kept_and_empty_ones_dropped() -> None:
    record = made(poster_session=3, keywords=["a"], tldr="", pdf=None, tags=[], more={}, zero=0, no=False)
    assert record.extra == {"poster_session": 3, "keywords": ["a"], "zero": 0, "no": False}


def test_an_unused_second_name_of_a_field_is_kept() -> None:
    assert made(name="Bienen").extra == {"name": "Bienen"}


def test_repairs_are_told() -> None:
    record = made(abstract="<p>naÃ¯ve\x00</p>")
    assert record.abstract == "naïve"
    assert record.extra["repairs"] == ["control characters", "wrapping mark-up", "mojibake"]
    assert "repairs" not in made(abstract="plain").extra


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 3000) | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "x"]), inner, max_size=2),
    max_leaves=4,
)
KEYS = st.sampled_from(
    ["id", "title", "abstract", "authors", "venue", "year", "url", "topic", "decision", "oral", "pdf", "doi", "x"]
)


@given(st.dictionaries(KEYS, VALUES, max_size=8))
def test_any_object_becomes_a_record_or_says_why_not(raw: dict[str, Any]) -> None:
    try:
        record = record_of(raw, SOURCE)
    except Unreadable:
        return
    assert record.id
    assert record.title or record.abstract
    assert record.sources == (SOURCE,)
    assert record.decision in DECISIONS
    assert record == record_of(raw, SOURCE)
