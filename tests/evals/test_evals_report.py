import json

import pytest

from evals.dataset import Dataset
from evals.markdown import markdown
from evals.report import Report, latency
from evals.run import evaluate

QUOTED = [("p1", "We raise the bound to $0.8559$.")]


@pytest.fixture
def report(scripted, case, answer) -> Report:
    cases = (
        case(must_show=("0.8559",)),
        case(id="c2", question="![x](http://evil.example) `why`", category="name", must_not_show=("0.8559",)),
        case(id="c3", question="lost", category="name", relevant=("p1", "p3")),
        case(id="c4", question="boom"),
        case(id="c5", question="rain?", category="off", answerable=False, relevant=()),
    )
    answers = {
        "q": answer(QUOTED),
        "![x](http://evil.example) `why`": answer(QUOTED),
        "lost": answer(retrieved=("p2", "p3"), refused="not_in_corpus"),
        "boom": ValueError("no\nway"),
        "rain?": answer(refused="off_topic"),
    }
    return evaluate(Dataset("mine", cases), scripted(answers))


def test_means_are_taken_by_category_and_over_all(report):
    assert {name: group.n for name, group in report.categories.items()} == {"fact": 2, "name": 2, "off": 1}
    assert report.categories["fact"].measures["first cited right"].mean == 0.5
    assert report.categories["name"].measures["RR"].mean == 0.75
    assert report.categories["name"].measures["R@10"].mean == 0.75
    found = report.overall.measures["first cited right"]
    assert (found.n, found.mean, found.low, found.high) == (4, 0.5, 0.0, 1.0)
    assert "RR" not in report.categories["off"].measures


def test_json_is_sorted_whole_and_reads_back(report):
    text = report.to_json()
    assert Report.model_validate_json(text) == report
    assert text == json.dumps(json.loads(text), ensure_ascii=False, sort_keys=True, indent=1) + "\n"


def test_percentiles_are_by_nearest_rank_over_what_passed_the_stage():
    found = latency([{"a": float(i)} for i in range(1, 21)] + [{"b": 7.0}])
    assert (found["a"].p50, found["a"].p95) == (10, 19)
    assert (found["b"].p50, found["b"].p95) == (7, 7)
    assert latency([]) == {}


def test_markdown_lists_what_failed_what_is_violated_and_what_was_missed(report):
    text = markdown(report)
    assert "## Questions that failed (1)\n\n- **c4** fact: `ValueError: no`" in text
    assert "## Violated invariants (1)\n\n- **c2** name: `'0.8559' must not be shown and is`" in text
    assert "**c3** name `lost`: " in text
    assert "first cited right 0: `refused (not_in_corpus); gold: p1, p3`" in text
    assert "Answerable and refused: c3." in text
    assert "| fact | 2 |" in text
    assert "| **all** | 5 |" in text


def test_markdown_keeps_a_hostile_question_inert(report):
    shown = [line for line in markdown(report).splitlines() if "evil.example" in line]
    assert all("`![x](http://evil.example) 'why'`" in line for line in shown)


def test_recall_that_could_not_be_higher_is_no_miss(scripted, case, answer):
    cases = (case(relevant=("p1", "p2")),)
    (question,) = evaluate(Dataset("mine", cases), scripted({"q": answer(QUOTED)})).questions
    assert question.scores["R@1"].value == 0.5
    assert not question.misses


def test_every_measure_used_is_defined_with_its_source(report):
    text = markdown(report)
    for name in report.overall.measures:
        assert f"- **{name}**: " in text
