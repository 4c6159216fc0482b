import pytest

from app.answer import Cell, Quote, Row, Table
from evals.grounding import MEASURES, citation_precision, contains, evidence_recall

BOUND = ("p1", "We raise the bound to $0.8559$.")
OLD = ("p1", "It was 0.824.")
MIRROR = ("p2", "Experts are balanced by mirror descent.")
COST = ("p2", "It costs **1.5\\%** more.")


@pytest.mark.parametrize(
    ("shown", "wanted"),
    [
        ("to $0.8559$.", "0.8559"),
        ("It costs **1.5\\%** more", "1.5\\%"),
        ("a gain of $\\mathbf{42.9}\\%$ here", "42.9"),
        ("by 1.80$\\times$ in", "1.80$\\times$"),
        ("mirror\n  descent", "mirror descent"),
        ("the <i>early</i> steps", "early steps"),
    ],
)
def test_mark_up_and_white_space_do_not_matter(shown, wanted):
    assert contains(shown, wanted)


@pytest.mark.parametrize(
    ("shown", "wanted"),
    [
        ("in 11.52 s", "1.5"),
        ("in 11.52 s", "11.5"),
        ("4.25x speedup", "25x speedup"),
        ("14 tasks", "4"),
        ("Mirror", "mirror"),
    ],
)
def test_a_number_is_found_only_whole(shown, wanted):
    assert not contains(shown, wanted)


def test_evidence_recall_is_the_share_of_strings_shown(trial, answer):
    both = {"relevant": ("p1", "p2"), "must_show": ("0.8559", "mirror descent")}
    assert evidence_recall(trial(answer([BOUND, MIRROR]), **both)).value == 1
    half = evidence_recall(trial(answer([BOUND]), **both))
    assert (half.value, half.reason) == (0.5, "'mirror descent' is in no quote")


def test_words_shown_from_a_paper_that_is_not_gold_do_not_count(trial, answer):
    found = evidence_recall(trial(answer([OLD, MIRROR]), must_show=("mirror descent",)))
    assert (found.value, found.reason) == (0, "'mirror descent' is in no quote, only of p2, which is not gold")


def test_a_table_shows_evidence_too(trial, answer):
    quote = Quote(paper_id="p1", start=32, end=45, quote="It was 0.824.")
    table = Table(papers=(1,), rows=(Row(aspect="result", cells=(Cell(text="0.824", evidence=(quote,)), None)),))
    assert evidence_recall(trial(answer([BOUND], table=table), must_show=("0.824",))).value == 1


def test_a_refusal_shows_nothing_and_says_so(trial, answer):
    found = evidence_recall(trial(answer(refused="not_in_corpus"), must_show=("0.8559",)))
    assert (found.value, found.reason) == (0, "nothing is quoted: refused (not_in_corpus)")


def test_a_count_is_right_by_its_number_and_not_by_a_digit_in_a_quote(trial, answer):
    asked = {"category": "count_or_aggregate", "must_show": ("2",)}
    assert evidence_recall(trial(answer([OLD], count=2), **asked)).value == 1
    assert evidence_recall(trial(answer([OLD], count=24), **asked)).reason == "counts 24; it is 2"
    assert evidence_recall(trial(answer([OLD]), **asked)).value == 0


def test_citation_precision_is_over_papers_and_leaves_neutral_ones_out(trial, answer):
    cited = answer([BOUND, OLD, MIRROR, ("p3", "Rain is forecast on ERA5")])
    third = citation_precision(trial(cited))
    assert third.value == pytest.approx(1 / 3)
    assert third.reason == "3 cited, not gold: p2, p3"
    assert citation_precision(trial(cited, neutral=("p3",))).value == 0.5
    assert citation_precision(trial(cited, neutral=("p2", "p3"))).value == 1


def test_citing_nothing_or_only_neutral_papers_scores_0(trial, answer):
    assert citation_precision(trial(answer(refused="off_topic"))).value == 0
    assert citation_precision(trial(answer([MIRROR]), neutral=("p2",))).reason == "no paper that counts is cited"


def test_unanswerable_cases_are_not_scored_for_grounding(trial, answer):
    tried = trial(answer(), answerable=False, must_show=("0.8559",))
    assert not [measure for measure in MEASURES if measure.applies(tried.case, tried.gold)]


SET_F1, FOLLOW_UP, COUNT = (
    next(measure for measure in MEASURES if measure.name == name)
    for name in ("set F1", "follow-up success", "count right")
)
STEINER, BALANCE = ("p1", "We raise the bound to $0.8559$."), ("p2", "Experts are balanced by mirror descent.")


@pytest.mark.parametrize(
    ("cited", "f1"), [([STEINER, BALANCE], 1), ([STEINER], 2 / 3), ([("p3", "Rain is forecast")], 0), ([], 0)]
)
def test_the_f1_of_a_set_by_hand(trial, answer, cited, f1):
    made = trial(answer(cited), category="topic_list", relevant=("p1", "p2"))
    assert SET_F1.score(made).value == pytest.approx(f1)


def test_a_set_is_scored_where_one_is_asked_for(trial, answer):
    def applies(**fields):
        made = trial(answer([STEINER]), **fields)
        return SET_F1.applies(made.case, made.gold)

    assert applies(category="count_or_aggregate", must_show=("1",))
    assert applies(category="title_or_author", relevant=("p1", "p2"))
    assert not applies(category="title_or_author")
    assert not applies(category="compare", relevant=("p1", "p2"))


def test_a_count_is_right_or_wrong_whatever_is_cited(trial, answer):
    fields = {"category": "count_or_aggregate", "must_show": ("2",), "relevant": ("p1", "p2")}
    assert COUNT.score(trial(answer(count=2), **fields)).value == 1
    assert COUNT.score(trial(answer([STEINER, BALANCE]), **fields)).value == 0


def test_a_follow_up_succeeds_with_the_right_paper_first_and_its_words_shown(trial, answer):
    fields = {"history": (("what raises the bound?", "[p1]"),), "must_show": ("0.8559",)}
    assert FOLLOW_UP.score(trial(answer([STEINER]), **fields)).value == 1
    other = FOLLOW_UP.score(trial(answer([("p1", "It was 0.824.")]), **fields))
    assert (other.value, "0.8559" in other.reason) == (0, True)
    wrong = FOLLOW_UP.score(trial(answer([BALANCE, STEINER]), **fields))
    assert (wrong.value, wrong.reason) == (0, "cites p2 first; gold: p1")
    made = trial(answer([STEINER]))
    assert not FOLLOW_UP.applies(made.case, made.gold)
