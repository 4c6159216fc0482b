import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.case import Case, Malformed, parse

KEYS = {
    "id", "category", "question", "history", "relevant", "neutral", "must_show", "must_not_show", "answerable",
    "premise_false", "lang", "note",
}  # fmt: skip
LEAST = {"id": "c1", "category": "fact", "question": "why?", "relevant": ["p1"]}

words = st.text(min_size=1, max_size=12)
lists = st.lists(words, max_size=3)
records = st.fixed_dictionaries(
    {"id": words, "category": words, "question": words, "relevant": st.lists(words, min_size=1, max_size=3)},
    optional={
        "history": st.lists(st.tuples(words, words).map(list), max_size=2),
        "must_show": lists,
        "must_not_show": lists,
        "answerable": st.booleans(),
        "lang": words,
        "note": st.text(),
    },
)


def complaint(raw: Any) -> str:
    with pytest.raises(Malformed) as caught:
        parse(raw if isinstance(raw, str) else json.dumps(raw))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_keys_are_exactly_those_of_the_sets():
    assert set(Case.model_fields) == KEYS


@given(records)
def test_a_valid_line_keeps_everything_it_says(raw):
    case = parse(json.dumps(raw)).model_dump(mode="json")
    assert {key: case[key] for key in raw} == raw


@given(records, words.filter(lambda key: key not in KEYS))
def test_any_unknown_key_is_refused_by_name(raw, key):
    assert complaint({**raw, key: 1}).startswith(f"unknown key {key!r}")


@given(records, st.sampled_from(sorted(KEYS)), st.sampled_from([3, 0.5, None, {"a": 1}, [[1]]]))
def test_a_value_of_another_type_is_refused_by_key(raw, key, value):
    assert repr(key) in complaint({**raw, key: value})


def test_a_misspelt_key_is_named_with_the_one_that_was_meant():
    line = {**LEAST, "relevent": LEAST["relevant"]}
    del line["relevant"]
    assert complaint(line).startswith("unknown key 'relevent' (is 'relevant' meant?)")


@pytest.mark.parametrize("key", ["id", "category", "question"])
def test_a_missing_key_is_named(key):
    assert complaint({k: v for k, v in LEAST.items() if k != key}) == f"key {key!r} is missing."


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"relevant": []}, "key 'relevant': an answerable question"),
        ({"premise_false": True}, "key 'premise_false'"),
        ({"neutral": ["p1"]}, "key 'neutral': p1 is also relevant"),
        ({"must_show": [""]}, "key 'must_show'"),
        ({"id": ""}, "key 'id'"),
        ({"answerable": "true"}, "key 'answerable'"),
        ({"history": [["only one turn"]]}, "key 'history'"),
    ],
)
def test_a_line_that_could_not_be_scored_is_refused(change, said):
    assert complaint({**LEAST, **change}).startswith(said)


@pytest.mark.parametrize("row", ['{"id": "c1"', "[]", "nonsense", "17"])
def test_a_line_that_is_no_object_is_refused(row):
    assert complaint(row)


def test_history_becomes_turns_in_order():
    case = parse(json.dumps({**LEAST, "history": [["a", "b"], ["c", "d"]]}))
    assert [(turn.role, turn.content) for turn in case.turns] == [
        ("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d"),
    ]  # fmt: skip
