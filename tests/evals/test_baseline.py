"""The figures of the bundled sample may not fall, and a fall names its questions."""

import json
from collections.abc import Iterator

import pytest

from app.settings import Settings
from app.whole import open_assistant
from evals.baseline import Baseline, baseline_of, falls, path_of, read_baseline, to_text
from evals.dataset import Dataset, load
from evals.errors import NoBaseline, NotABaseline, OtherBaseline
from evals.gate import gate, read_floors
from evals.gold import SAMPLE
from evals.report import Report
from evals.run import evaluate
from ingest.build import Request, ingest
from vectorstore.embedder import open_embedder

RIGHT = [("p1", "We raise the bound to $0.8559$.")]
WRONG = [("p2", "Experts are balanced by mirror descent.")]


@pytest.fixture
def reported(scripted, case, answer):
    """A report on two facts and a question about the weather, given what is answered to each."""

    def make(one=None, two=None, rain=None, **changes) -> Report:
        asked = {"must_show": ("0.8559",), **changes}
        cases = (
            case(question="one", **asked),
            case(id="c2", question="two", **asked),
            case(id="c3", question="rain", category="unanswerable_offtopic", answerable=False, relevant=()),
        )
        answers = {
            "one": one or answer(RIGHT),
            "two": two or answer(RIGHT),
            "rain": rain or answer(refused="off_topic"),
        }
        return evaluate(Dataset("mine", cases), scripted(answers))

    return make


def test_a_report_does_not_fall_below_itself(reported, answer):
    for report in (reported(), reported(one=answer(WRONG)), reported(rain=answer(WRONG))):
        assert falls(report, baseline_of(report)) == ()


def test_a_fall_names_group_measure_and_the_questions_that_flipped(reported, answer):
    found = falls(reported(two=answer(WRONG)), baseline_of(reported()))
    told = {(fall.group, fall.measure): fall for fall in found}
    assert set(told) == {
        (group, measure)
        for group in ("fact", "all")
        for measure in ("first cited right", "evidence recall", "citation precision")
    }
    fall = told["fact", "first cited right"]
    assert (fall.before, fall.after) == (1, 0.5)
    assert fall.flipped == ("c2 1 -> 0 (cites p2 first; gold: p1)",)
    assert "c2 1 -> 0" in str(fall)


def test_a_rise_hides_no_fall_of_another_measure_and_is_none_itself(reported, answer):
    before = reported(one=answer(WRONG), two=answer(RIGHT))
    assert falls(reported(), baseline_of(before)) == ()


def test_refusing_less_rightly_is_a_fall(reported, answer):
    found = falls(reported(rain=answer(WRONG)), baseline_of(reported()))
    assert "abstention off_topic_refused" in {fall.measure for fall in found}
    assert all("c3 1 -> 0" in str(fall) for fall in found)


def test_a_question_that_fails_is_a_fall_and_makes_no_baseline(reported):
    broken = reported(two=ValueError("no"))
    assert "c2" in str(falls(broken, baseline_of(reported()))[0])
    with pytest.raises(NotABaseline, match=r"1 questions failed \(first: c2, ValueError: no\)"):
        baseline_of(broken)


def test_other_questions_cannot_be_compared(reported):
    with pytest.raises(OtherBaseline, match=r"other questions.*`paperchat-evals baseline mine`"):
        falls(reported(must_show=("0.824",)), baseline_of(reported()))


def test_the_text_is_small_sorted_untimed_and_reads_back(reported, answer):
    baseline = baseline_of(reported(two=answer(WRONG)))
    text = to_text(baseline)
    assert Baseline.model_validate_json(text) == baseline
    assert json.dumps(json.loads(text)) == json.dumps(json.loads(text), sort_keys=True)
    assert "ms" not in json.loads(text)
    assert next(line for line in text.splitlines() if '"c2"' in line).startswith('  "c2": {"citation precision": 0.0')


def test_a_baseline_that_is_missing_or_of_another_make_is_told(tmp_path):
    with pytest.raises(NoBaseline, match="paperchat-evals baseline mine"):
        read_baseline(tmp_path / "mine-x.json", "mine")
    (tmp_path / "old.json").write_text("{}")
    with pytest.raises(OtherBaseline):
        read_baseline(tmp_path / "old.json", "mine")


@pytest.fixture(scope="module")
def sample_report(tmp_path_factory) -> Iterator[Report]:
    """The seed questions put to the product, with its own model, over the bundled sample."""
    embedder = open_embedder("minilm")
    path = path_of("seeds", embedder.fingerprint)
    if not path.exists():
        how = f"`paperchat ingest ingest/samples/{SAMPLE.name}` into an empty index, `paperchat-evals baseline seeds`"
        pytest.skip(f"no baseline {path.name}: write it with {how}")
    root = tmp_path_factory.mktemp("index")
    ingest(root, Request(sources=(SAMPLE,)), embedder)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("PAPERCHAT_MODEL", "PAPERCHAT_MODEL_BASE_URL"):
            patch.delenv(name, raising=False)
        assistant = open_assistant(Settings(index_dir=root, embedder="minilm"))
        try:
            yield evaluate(load("seeds"), assistant)
        finally:
            assistant.close()


def test_the_sample_passes_the_gate(sample_report):
    path = path_of(sample_report.set.name, sample_report.system.embedder)
    verdict = gate(sample_report, read_baseline(path, sample_report.set.name), read_floors("seeds"))
    assert verdict.passed, "\n".join(verdict.stops)


def test_no_answer_about_the_sample_breaks_an_invariant(sample_report):
    broken = [f"{q.id}: {what}" for q in sample_report.questions for what in (*q.violations, q.error) if what]
    assert not broken, "\n".join(broken)
