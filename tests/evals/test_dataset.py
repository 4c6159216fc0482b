import json

import pytest

from evals.dataset import SETS, Dataset, load
from evals.errors import BadCase, BenchmarkUnreadable, NoSuchCategory, SetMissing, SetUnreadable
from evals.gold import SAMPLE
from evals.grounding import contains

LINE = {"id": "c1", "category": "fact", "question": "why?", "relevant": ["p1"]}


def write(path, *rows):
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows))
    return str(path)


def test_a_set_is_read_in_order_and_named_by_its_file(tmp_path):
    found = load(write(tmp_path / "mine.jsonl", {**LINE, "id": "b"}, "", {**LINE, "id": "a", "category": "name"}))
    assert (found.name, [case.id for case in found.cases]) == ("mine", ["b", "a"])
    assert found.categories == ("fact", "name")
    assert [case.id for case in found.only("name").cases] == ["a"]


def test_a_bad_line_is_named_with_file_line_and_key(tmp_path):
    path = write(tmp_path / "mine.jsonl", LINE, "", {**LINE, "id": "c2", "relevent": []})
    with pytest.raises(BadCase, match=r"mine\.jsonl:3: unknown key 'relevent'"):
        load(path)


def test_an_id_that_is_taken_is_refused(tmp_path):
    with pytest.raises(BadCase, match=r"mine\.jsonl:2: key 'id': c1 is already taken"):
        load(write(tmp_path / "mine.jsonl", LINE, LINE))


def test_files_that_hold_no_cases_are_refused(tmp_path):
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00\x01\x80")
    for path in (write(tmp_path / "empty.jsonl"), str(tmp_path / "binary")):
        with pytest.raises(SetUnreadable):
            load(path)
    with pytest.raises(BenchmarkUnreadable, match=r"qrels\.tsv"):
        load(str(tmp_path))


def test_a_set_that_does_not_exist_is_named_with_those_that_do():
    with pytest.raises(SetMissing, match=r"nowhere: neither a file nor .*seeds"):
        load("nowhere")


def test_an_unknown_category_is_named_with_those_of_the_set(tmp_path):
    with pytest.raises(NoSuchCategory, match=r"'fakt'.*fact"):
        load(write(tmp_path / "mine.jsonl", LINE)).only("fakt")


def test_the_digest_depends_on_labels_and_not_on_notes(case):
    plain = Dataset("a", (case(),)).digest
    assert Dataset("b", (case(note="because"),)).digest == plain
    assert Dataset("a", (case(must_show=("x",)),)).digest != plain


def test_every_string_that_the_seeds_demand_is_in_a_gold_abstract():
    abstracts = {row["id"]: row["abstract"] for row in map(json.loads, SAMPLE.read_text().splitlines())}
    seeds = load("seeds")
    assert seeds.name == "seeds"
    assert len(seeds.cases) >= 74
    for case in seeds.cases:
        if case.counts:
            assert case.must_show == (str(len(case.relevant)),)
            continue
        for wanted in case.must_show:
            assert any(contains(abstracts[id], wanted) for id in case.relevant), (case.id, wanted)


def test_every_set_in_the_room_can_be_loaded():
    for path in SETS.glob("*.jsonl"):
        assert load(str(path)) == load(path.stem)
