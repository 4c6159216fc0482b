import json

import pytest

from evals.errors import GoldMissing
from evals.gold import SAMPLE, find_gold
from vectorstore.paper import Paper


def test_papers_are_found_by_id_and_by_alias(scripted, case):
    papers = [Paper(id="p1", abstract="a"), Paper(id="new", abstract="b", aliases=("old",))]
    found = find_gold([case(relevant=("p1", "old"))], scripted({}, papers))
    assert found["c1"].relevant == {"p1", "new"}
    assert found["c1"].whole


def test_a_paper_of_the_sample_is_known_by_the_exact_text_of_its_abstract(scripted, case):
    row = json.loads(SAMPLE.read_text().splitlines()[0])
    untitled = Paper(id="text-1", abstract=row["abstract"])
    found = find_gold([case(relevant=(row["id"],))], scripted({}, [untitled, Paper(id="p2", abstract="other")]))
    assert (found["c1"].relevant, found["c1"].whole) == ({"text-1"}, False)
    with pytest.raises(GoldMissing):
        find_gold([case(relevant=(row["id"],))], scripted({}, [Paper(id="t", abstract=row["abstract"] + "!")]))


def test_a_sample_paper_that_is_absent_is_named_with_what_to_ingest(scripted, case):
    id = json.loads(SAMPLE.read_text().splitlines()[0])["id"]
    with pytest.raises(GoldMissing, match=rf"{id}, named by case c1, .*icml2026_sample\.jsonl"):
        find_gold([case(relevant=(id,))], scripted({}))


def test_a_paper_of_another_corpus_is_named_with_what_to_do(scripted, case):
    cases = [case(relevant=("p1",)), case(id="c2", relevant=("x1", "x2"), neutral=("x3",))]
    with pytest.raises(GoldMissing, match=r"x1, named by case c2, .*\(nor are 2 others\).* `paperchat ingest`"):
        find_gold(cases, scripted({}))
