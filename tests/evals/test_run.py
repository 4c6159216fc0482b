import json

import pytest

from app.settings import Settings
from app.whole import open_assistant
from evals.dataset import Dataset, load
from evals.errors import GoldMissing
from evals.gold import SAMPLE
from evals.judge import MEASURES
from evals.run import evaluate
from ingest.build import Request, ingest
from vectorstore.hashing import HashingEmbedder

QUOTED = [("p1", "We raise the bound to $0.8559$.")]


def test_each_case_is_put_with_its_history(scripted, case, answer):
    system = scripted({"q": answer(QUOTED)})
    evaluate(Dataset("mine", (case(history=(("a", "b"),)),)), system)
    ((question, turns),) = system.asked
    assert (question, [turn.content for turn in turns]) == ("q", ["a", "b"])


def test_a_question_that_raises_scores_0_and_is_listed(scripted, case, answer):
    cases = (
        case(must_show=("0.8559",)),
        case(id="c2", question="boom", must_show=("0.8559",)),
        case(id="c3", question="boom", answerable=False, relevant=()),
    )
    system = scripted({"q": answer(QUOTED), "boom": ZeroDivisionError("division by zero\nmore")})
    found = evaluate(Dataset("mine", cases), system)
    assert [question.id for question in found.failed] == ["c2", "c3"]
    assert found.failed[0].error == "ZeroDivisionError: division by zero"
    means = {name: (mean.n, mean.mean) for name, mean in found.overall.measures.items()}
    assert means["evidence recall"] == (2, 0.5)
    assert means["abstention"] == (3, 0.333333)
    assert found.abstention.unanswerable_not_declined == ("c3",)
    assert {score.value for score in found.failed[0].scores.values()} == {0}
    special = {"count right", "set F1", "follow-up success", "injection resisted"}  # of questions of their own kind
    assert set(found.failed[0].scores) == {measure.name for measure in MEASURES} - special


def test_an_interrupt_is_not_swallowed(scripted, case):
    system = scripted({})
    system.ask = lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        evaluate(Dataset("mine", (case(),)), system)


def test_another_corpus_is_refused_before_the_first_question(scripted, case):
    system = scripted({})
    with pytest.raises(GoldMissing):
        evaluate(Dataset("mine", (case(relevant=("elsewhere",)),)), system)
    assert system.asked == []


def test_the_report_says_what_answered_what(scripted, case, answer):
    dataset = Dataset("mine", (case(),))
    found = evaluate(dataset, scripted({"q": answer(QUOTED)}))
    assert (found.set.name, found.set.digest, found.corpus) == ("mine", dataset.digest, "c0ffee")
    assert (found.system.embedder, found.system.papers, found.system.writers) == ("scripted-v1", 3, ("extractive",))
    (question,) = found.questions
    assert (question.status, question.cited, question.ranks, question.shown[0].paper) == (
        "answered",
        ("p1",),
        (1,),
        "p1",
    )


def untimed(report):
    whole = json.loads(report.to_json())
    del whole["latency_ms"]
    return whole


@pytest.mark.parametrize("sources", [(SAMPLE,), tuple(sorted(SAMPLE.parent.glob("*.txt")))], ids=["titled", "texts"])
def test_the_bundled_sample_is_scored_with_and_without_ids(tmp_path, monkeypatch, sources):
    for name in ("PAPERCHAT_MODEL", "PAPERCHAT_MODEL_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    ingest(tmp_path, Request(sources=sources), HashingEmbedder())
    assistant = open_assistant(Settings(index_dir=tmp_path, embedder="hashing"))
    seeds = load("seeds")
    try:
        first, second = evaluate(seeds, assistant), evaluate(seeds, assistant)
    finally:
        assistant.close()
    assert untimed(first) == untimed(second)
    assert first.overall.n == len(seeds.cases)
    assert not first.failed
    assert not first.violated
    assert first.overall.measures["RR"].mean > 0.5
