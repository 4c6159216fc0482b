"""JSON lines: a broken one is named and costs only itself."""

import json

import pytest

from ingest.document import Skipped
from ingest.readers.jsonl import read_jsonl
from vectorstore.paper import Paper

GOOD = json.dumps({"id": "x-1", "title": "Bees"})


def read(text: str) -> list[Paper | Skipped]:
    return list(read_jsonl(text, "a.jsonl"))


def test_one_record_a_line_in_order_with_empty_lines_passed_over() -> None:
    items = read(f"\n{GOOD}\r\n\n  \n{json.dumps({'id': 'x-2', 'title': 'Wasps'})}")
    assert [item.id for item in items if isinstance(item, Paper)] == ["x-1", "x-2"]
    assert len(items) == 2


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (GOOD[:-4], "not valid JSON: Unterminated string starting at at character 24"),
        (GOOD + GOOD, "not valid JSON: Extra data at character 31"),
        ("not json", "not valid JSON: Expecting value at character 1"),
        ("[1, 2]", "it is a JSON list, not an object"),
        ("42", "it is a JSON int, not an object"),
        ("null", "it is a JSON NoneType, not an object"),
        ('"text"', "it is a JSON str, not an object"),
        ("{}", "it has neither a title nor an abstract"),
        ('{"title": "", "abstract": null}', "it has neither a title nor an abstract"),
        ('{"title": " ", "abstract": "<p> </p>"}', "it has neither a title nor an abstract"),
        ('{"title": ["Bees"]}', "its title is a list, not text"),
        ('{"title": true}', "its title is a bool, not text"),
        ('{"title": "Bees", "abstract": {"value": "x"}}', "its abstract is a dict, not text"),
        ('{"title": "Bees", "authors": 7}', "its authors are a int, not a list or text"),
        ('{"title": "Bees", "id": {"x": 1}}', "its id is a dict, not text"),
        ("[" * 100_000, "not valid JSON: nested too deeply"),
    ],
)
def test_a_line_that_is_no_paper_is_skipped_by_number_and_reason(line: str, reason: str) -> None:
    items = read(f"{GOOD}\n{line}\n{GOOD}")
    assert items[1] == Skipped("a.jsonl", 2, reason)
    assert [type(item) for item in items] == [Paper, Skipped, Paper]


def test_a_number_too_long_for_python_costs_only_its_line() -> None:
    assert [type(item) for item in read(f'{GOOD}\n{{"title": "x", "n": {"1" * 5000}}}\n{GOOD}')] == [
        Paper,
        Skipped,
        Paper,
    ]


def test_a_separator_inside_a_string_does_not_end_the_line() -> None:
    (item,) = read('{"title": "Bees", "abstract": "One\u2028two\u2029three."}')
    assert isinstance(item, Paper)
    assert item.abstract == "One\u2028two\u2029three."


def test_repeated_keys_take_the_last() -> None:
    (item,) = read('{"title": "Bees", "title": "Wasps"}')
    assert isinstance(item, Paper)
    assert item.title == "Wasps"
