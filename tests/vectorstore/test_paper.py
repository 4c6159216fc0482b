"""The records: round trip through JSON, derived properties, filters."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vectorstore.paper import Evidence, Filters, Paper, Passage, decided, fold, has_code

TEXT = st.text(max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
NAMES = st.lists(TEXT, max_size=3).map(tuple)
PAPERS = st.builds(
    Paper,
    id=TEXT,
    title=TEXT,
    abstract=TEXT,
    authors=NAMES,
    venue=TEXT,
    year=st.none() | st.integers(1900, 2100),
    url=TEXT,
    topic=TEXT,
    decision=st.sampled_from(["oral", "spotlight", "poster", ""]),
    extra=st.dictionaries(TEXT, JSON, max_size=3),
    sources=NAMES,
    aliases=NAMES,
)

ICML = Paper(
    id="icml2026-x",
    title="Éléments of Jean-Luc",
    abstract="We release code at https://github.com/a/b for **bandits**.",
    authors=("José Núñez", "Mary-Ann Lee", "Wei Zhang"),
    venue="ICML 2026",
    year=2026,
    topic="Deep Learning->Large Language Models",
    decision="oral",
    extra={"decision": "Accept (spotlight)", "session": 3},
    sources=("/data/icml.jsonl",),
)


@given(PAPERS)
def test_a_paper_comes_back_from_json_as_it_was(paper: Paper) -> None:
    assert Paper.from_json(json.loads(json.dumps(paper.to_json()))) == paper


def test_label_is_the_title_else_a_name_else_a_phrase() -> None:
    assert Paper(id="a", title="T", abstract="We propose FooNet, a net.").label == "T"
    assert Paper(id="a", abstract="We propose FooNet, a net.").label == "FooNet"
    assert Paper(id="0123abcd").label == "Untitled paper"


def test_a_passage_is_the_characters_of_its_span() -> None:
    paper = Paper(id="a", abstract="One 😀. Two is $x_1$ .")
    assert Passage(paper, 7, 21).text == "Two is $x_1$ ."


@pytest.mark.parametrize(
    ("dense", "lexical", "legs"),
    [(0.0, 0.0, ("dense", "lexical")), (0.3, None, ("dense",)), (None, 2.0, ("lexical",)), (None, None, ())],
)
def test_found_by_names_the_legs_that_returned_it(
    dense: float | None, lexical: float | None, legs: tuple[str, ...]
) -> None:
    assert Evidence(ICML, 1, 0.5, dense, lexical, (), ()).found_by == legs


@pytest.mark.parametrize(
    "conditions",
    [
        {},
        {"authors": ("jose nunez",)},
        {"authors": ("JOSÉ NÚÑEZ", "mary ann lee")},
        {"authors": ("Zhang",)},
        {"exclude": ("transformers", "Smith")},
        {"venue": "icml"},
        {"year": 2026},
        {"topic": "large language models"},
        {"decision": "oral"},
        {"decision": "spotlight"},
        {"session": "3"},
        {"source": "icml.jsonl"},
        {"has_code": True},
        {"authors": ("Lee",), "year": 2026, "decision": "oral", "has_code": True},
    ],
)
def test_a_filter_lets_through(conditions: dict[str, Any]) -> None:
    assert Filters(**conditions).matches(ICML)


@pytest.mark.parametrize(
    "conditions",
    [
        {"authors": ("Smith",)},
        {"authors": ("Lee", "Smith")},
        {"exclude": ("Bandits",)},
        {"exclude": ("elements",)},
        {"exclude": ("jose nunez",)},
        {"venue": "NeurIPS"},
        {"year": 2025},
        {"topic": "optimization"},
        {"decision": "poster"},
        {"session": "4"},
        {"source": "other"},
        {"has_code": False},
        {"authors": ("Lee",), "year": 2025},
    ],
)
def test_a_filter_keeps_out(conditions: dict[str, Any]) -> None:
    assert not Filters(**conditions).matches(ICML)


@pytest.mark.parametrize(
    "conditions", [{"year": 2026}, {"venue": "ICML"}, {"topic": "x"}, {"decision": "oral"}, {"session": "1"}]
)
def test_a_paper_that_lacks_the_field_does_not_match(conditions: dict[str, Any]) -> None:
    assert not Filters(**conditions).matches(Paper(id="a", title="T"))


def test_only_an_empty_filter_is_false() -> None:
    assert not Filters()
    assert Filters(has_code=False)
    assert Filters(year=0)


def test_oral_counts_as_spotlight_only_where_the_source_says_so() -> None:
    both = Paper(id="a", decision="oral", extra={"decision": "Accept (Spotlight)"})
    oral = Paper(id="b", decision="oral", extra={"decision": "Accept (oral)"})
    assert decided(both, "oral")
    assert decided(both, "spotlight")
    assert not decided(oral, "spotlight")
    assert not decided(both, "poster")
    assert not decided(Paper(id="c", decision="spotlight", extra={"decision": "spotlightposter"}), "poster")


def test_code_is_seen_in_the_abstract_or_the_record() -> None:
    assert has_code(Paper(id="a", abstract="See https://github.com/x/y."))
    assert has_code(Paper(id="a", extra={"code_url": "https://x.org"}))
    assert not has_code(Paper(id="a", abstract="Code will be released on GitHub."))


def test_names_fold_to_lower_case_without_accents_and_hyphens() -> None:
    assert fold("  Jean-Luc  ÉTIENNE ") == fold("jean luc étienne") == "jean luc etienne"


@pytest.mark.parametrize(("typed", "printed"), [("Lukasz Kaiser", "Łukasz Kaiser"), ("Soren Hauberg", "Søren Hauberg")])
def test_a_name_is_found_without_its_strokes(typed: str, printed: str) -> None:
    assert Filters(authors=(typed,)).matches(Paper(id="a", authors=(printed,)))


@pytest.mark.parametrize("conditions", [{"authors": ("Li",)}, {"exclude": ("RL",)}])
def test_names_and_excluded_words_are_whole_words(conditions: dict[str, Any]) -> None:
    paper = Paper(id="a", title="A model of the world", authors=("Julia Ek",))
    assert Filters(**conditions).matches(paper) is ("exclude" in conditions)
