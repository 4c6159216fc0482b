"""The gate lets noise through and stops what is broken, for the right reason."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

import app.assistant
from app.answer import Answer, Turn
from app.assistant import Assistant
from evals.baseline import baseline_of
from evals.dataset import Dataset, load
from evals.errors import BadFloors
from evals.gate import Verdict, gate, read_floors
from evals.gold import SAMPLE
from evals.report import Report
from evals.run import evaluate
from ingest.build import Request, ingest
from vectorstore.embedder import open_embedder
from vectorstore.search import Found, Searcher

RIGHT = [("p1", "We raise the bound to $0.8559$.")]
WRONG = [("p2", "Experts are balanced by mirror descent.")]


@pytest.fixture
def reported(scripted, case, answer):
    """A report on ten facts, those in `wrong` answered from the wrong paper, those in `broken` not at all."""

    def make(wrong=(), broken=()) -> Report:
        cases = tuple(case(id=f"c{i}", question=f"q{i}") for i in range(10))
        answers = {f"q{i}": answer(WRONG if i in wrong else RIGHT) for i in range(10)}
        answers.update({f"q{i}": ValueError("no") for i in broken})
        return evaluate(Dataset("mine", cases), scripted(answers))

    return make


def test_no_change_and_a_rise_pass(reported):
    assert gate(reported(), baseline_of(reported()), {}) == Verdict((), ())
    assert gate(reported(), baseline_of(reported(wrong=[1, 2])), {}).passed


def test_a_few_flips_pass_and_are_told(reported):
    verdict = gate(reported(wrong=[3]), baseline_of(reported()), {})
    assert verdict.passed
    assert any("c3 1 -> 0 (cites p2 first; gold: p1)" in told for told in verdict.within)


def test_a_significant_fall_stops_and_names_its_questions(reported):
    verdict = gate(reported(wrong=range(8)), baseline_of(reported()), {})
    assert not verdict.passed
    (reason,) = [stop for stop in verdict.stops if stop.startswith("all: first cited right fell from 1.0 to 0.2")]
    assert all(f"c{i} 1 -> 0" in reason for i in range(8))


def test_one_question_that_fails_stops(reported):
    verdict = gate(reported(broken=[4]), baseline_of(reported()), {})
    assert "c4 failed: ValueError: no" in verdict.stops


def test_below_a_floor_is_a_stop_however_it_was_before(reported):
    low = reported(wrong=[1, 2])
    verdict = gate(low, baseline_of(low), {"first cited right": 0.9, "R@5": 0.9})
    assert verdict.stops == ("first cited right is 0.8, below the floor of 0.9",)


def test_a_floor_for_what_is_not_measured_is_a_stop(reported):
    assert not gate(reported(), baseline_of(reported()), {"frist cited right": 0.1}).passed


def test_floors_are_read_by_set_and_a_broken_file_is_told(tmp_path):
    path = tmp_path / "floors.json"
    assert read_floors("mine", path) == {}
    path.write_text(json.dumps({"mine": {"R@5": 0.5}}))
    assert read_floors("mine", path) == {"R@5": 0.5}
    assert read_floors("other", path) == {}
    path.write_text("[1]")
    with pytest.raises(BadFloors, match=r"floors\.json"):
        read_floors("mine", path)


# The product itself, broken on purpose


@pytest.fixture(scope="module")
def assistant(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Assistant]:
    embedder = open_embedder("minilm")
    root = tmp_path_factory.mktemp("index")
    ingest(root, Request(sources=(SAMPLE,)), embedder)
    made = Assistant(root, embedder)
    yield made
    made.close()


@pytest.fixture(scope="module")
def sound(assistant: Assistant) -> Report:
    return evaluate(load("seeds"), assistant)


Change = Callable[[Answer], Answer]


class Changed:
    """The assistant with every answer changed before it is handed out."""

    def __init__(self, assistant: Assistant, change: Change) -> None:
        self._assistant, self._change = assistant, change
        self.corpus, self.fingerprint = assistant.corpus, assistant.fingerprint
        self.papers, self.paper = assistant.papers, assistant.paper

    def ask(self, question: str, history: Sequence[Turn] = ()) -> Answer:
        return self._change(self._assistant.ask(question, history))


def judged(system: Any, sound: Report) -> list[str]:
    verdict = gate(evaluate(load("seeds"), system), baseline_of(sound), read_floors("seeds"))
    assert not verdict.passed
    return list(verdict.stops)


def test_the_product_passes_its_own_gate(sound: Report) -> None:
    assert gate(sound, baseline_of(sound), read_floors("seeds")) == Verdict((), ())


def test_a_broken_retriever_is_stopped_by_the_ranking(
    assistant: Assistant, sound: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = Searcher.search

    def backwards(self: Searcher, *arguments: Any, **named: Any) -> Found:
        found = search(self, *arguments, **named)
        turned = (replace(one, rank=rank) for rank, one in enumerate(found.evidence[::-1], start=1))
        return Found(tuple(turned), found.vector, found.embed_ms, found.search_ms)

    monkeypatch.setattr(Searcher, "search", backwards)
    stops = judged(assistant, sound)
    assert any(stop.startswith("all: Success@5 fell") for stop in stops)
    assert any(stop.startswith("all: nDCG@10 fell") for stop in stops)


def test_a_writer_that_cites_the_wrong_paper_is_stopped_by_the_citations_alone(
    assistant: Assistant, sound: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = app.assistant.write
    monkeypatch.setattr(
        app.assistant, "write", lambda question, evidence, weights: write(question, evidence[1:], weights)
    )
    stops = judged(assistant, sound)
    assert any(stop.startswith("all: first cited right fell") for stop in stops)
    assert any(stop.startswith("all: citation precision fell") for stop in stops)
    assert not any("Success@5" in stop or "nDCG@10" in stop for stop in stops)


def test_a_writer_that_invents_a_number_is_stopped_by_attribution(assistant: Assistant, sound: Report) -> None:
    def invent(answer: Answer) -> Answer:
        sentences = tuple(
            sentence.model_copy(update={"text": sentence.text.rstrip(".") + " by 17.3 %.", "support": "supported"})
            for sentence in answer.sentences
        )
        return answer.model_copy(update={"sentences": sentences})

    stops = judged(Changed(assistant, invent), sound)
    assert any(stop.startswith("all: ALCE recall fell") and "17.3" in stop for stop in stops)
    assert not any("first cited right" in stop for stop in stops)


def test_a_writer_that_passes_its_invention_off_as_a_quotation_breaks_invariants(
    assistant: Assistant, sound: Report
) -> None:
    def invent(answer: Answer) -> Answer:
        sentences = tuple(
            sentence.model_copy(
                update={
                    "evidence": tuple(q.model_copy(update={"quote": q.quote + " 17.3 %"}) for q in sentence.evidence)
                }
            )
            for sentence in answer.sentences
        )
        return answer.model_copy(update={"sentences": sentences})

    assert any(
        "breaks an invariant" in stop and "is not '" in stop for stop in judged(Changed(assistant, invent), sound)
    )


def test_one_that_never_refuses_is_stopped_by_abstention(
    assistant: Assistant, sound: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app.assistant, "reason_to_refuse", lambda *_: None)
    stops = judged(assistant, sound)
    assert any(stop.startswith("all: abstention recall fell") for stop in stops)
    assert any("unanswerable_offtopic: abstention fell" in stop for stop in stops)
    assert not any("Success@5" in stop for stop in stops)
