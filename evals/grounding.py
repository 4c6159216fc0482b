"""Does the answer rest on the right words of the right papers?

In: a trial. Out: evidence recall (are the words that answer shown?) and citation precision (are the cited papers the
ones that answer?); where a set is asked for, its F1; whether a follow-up was understood.
All are decided by labels. Whether a sentence follows from what it cites is another matter (attribution.py).
Not known here: rankings, refusals, languages.
"""

import re

from evals.case import Case
from evals.gold import Gold
from evals.measure import Measure, Score, Trial, listed
from evals.retrieval import cites
from vectorstore.text import plain


def normalised(text: str) -> str:
    """Text for comparing quotations: no LaTeX, Markdown or HTML mark-up, single spaces."""
    return " ".join(plain(text).split())


def contains(shown: str, wanted: str) -> bool:
    """Whether `shown` has `wanted` in it, mark-up aside; a number only as a whole one ("1.5" is not in "11.52")."""
    text = normalised(wanted)
    before = r"(?<!\d)(?<!\d[.,])" if text[:1].isdigit() else ""
    after = r"(?![.,]?\d)" if text[-1:].isdigit() else ""
    return bool(text) and re.search(before + re.escape(text) + after, normalised(shown)) is not None


def shown_quotes(trial: Trial) -> tuple[tuple[str, str], ...]:
    """(paper id, quote) for all evidence shown with an answer, in its sentences and in its table."""
    answer = trial.answer
    quotes = [quote for sentence in answer.sentences for quote in sentence.evidence]
    for row in answer.table.rows if answer.table else ():
        quotes += [quote for cell in row.cells if cell for quote in cell.evidence]
    return tuple((quote.paper_id, quote.quote) for quote in quotes)


def evidence_recall(trial: Trial) -> Score:
    """Share of `must_show` that is shown; for a count, whether the lead's number is the right one."""
    if trial.case.counts:
        return _count(trial)
    quotes = shown_quotes(trial)
    missing: list[str] = []
    for wanted in trial.case.must_show:
        homes = tuple(dict.fromkeys(id for id, quote in quotes if contains(quote, wanted)))
        if not set(homes) & trial.gold.relevant:
            elsewhere = f", only of {listed(homes)}, which is not gold" if homes else ""
            missing.append(f"'{wanted}' is in no quote{elsewhere}")
    value = 1 - len(missing) / len(trial.case.must_show)
    if missing and not quotes:
        return Score(value=value, reason=f"nothing is quoted: {trial.why_nothing_cited}")
    return Score(value=value, reason="; ".join(missing) or "every string that answers is in a quote")


def _count(trial: Trial) -> Score:
    wanted = trial.case.must_show[0]
    lead = trial.answer.lead
    if lead is None or lead.count is None:
        return Score(value=0.0, reason=f"no count is given; it is {wanted}")
    return Score(value=float(str(lead.count) == wanted), reason=f"counts {lead.count}; it is {wanted}")


def citation_precision(trial: Trial) -> Score:
    """Share of the cited papers that are gold."""
    cited = trial.cited
    wrong = tuple(id for id in cited if id not in trial.gold.relevant)
    if not cited:
        return Score(value=0.0, reason=trial.why_nothing_cited)
    value = 1 - len(wrong) / len(cited)
    return Score(
        value=value, reason=f"{len(cited)} cited" + (f", not gold: {listed(wrong)}" if wrong else ", all gold")
    )


def set_f1(trial: Trial) -> Score:
    """F1 of the set of cited papers against the set of gold papers."""
    cited, gold = set(trial.cited), trial.gold.relevant
    if not cited:
        return Score(value=0.0, reason=trial.why_nothing_cited)
    both = cited & gold
    missing, wrong = tuple(sorted(gold - cited)), tuple(sorted(cited - gold))
    reason = f"{len(both)} of {len(gold)} gold papers among {len(cited)} cited"
    reason += f"; missing {listed(missing)}" if missing else ""
    reason += f"; not gold {listed(wrong)}" if wrong else ""
    return Score(value=2 * len(both) / (len(cited) + len(gold)), reason=reason)


def follow_up(trial: Trial) -> Score:
    """Whether the paper that the conversation is about is cited first, and what was asked is shown."""
    cited, wanted = trial.cited, trial.case.must_show
    if not cited or cited[0] not in trial.gold.relevant:
        first = f"cites {cited[0]} first" if cited else trial.why_nothing_cited
        return Score(value=0.0, reason=f"{first}; gold: {listed(trial.gold.relevant)}")
    shown = evidence_recall(trial) if wanted else Score(value=1.0, reason="the right paper is cited first")
    return shown if shown.value == 1 else Score(value=0.0, reason=shown.reason)


def _wants_a_set(case: Case, gold: Gold) -> bool:
    return cites(case, gold) and (case.counts or len(gold.relevant) > 1) and case.category in SETS


def _follows(case: Case, gold: Gold) -> bool:
    return case.answerable and bool(case.history) and bool(gold.relevant)


def _has_evidence(case: Case, gold: Gold) -> bool:
    return case.answerable and bool(case.must_show)


SETS = ("topic_list", "count_or_aggregate", "title_or_author", "negation_or_constraint")

MEASURES: tuple[Measure, ...] = (
    Measure(
        "evidence recall",
        "Share of the strings that answer which stand in quotes of gold papers, mark-up aside; for a count, 1 when "
        "its number is right.",
        "STR-EM of ASQA (arXiv 2204.06092) and ALCE (arXiv 2305.14627), taken of the evidence in place of the text",
        _has_evidence,
        evidence_recall,
    ),
    Measure(
        "citation precision",
        "Share of the cited papers that are gold, neutral ones left out. A refusal scores 0.",
        "set precision over papers (Manning et al. 2008, ch. 8); not ALCE's, which asks for entailment",
        cites,
        citation_precision,
    ),
    Measure(
        "count right",
        "1 when the number of papers that the answer states is the right one, else 0; read it together with set F1.",
        "evals/sets/README.md",
        lambda case, gold: case.answerable and case.counts and bool(case.must_show),
        _count,
    ),
    Measure(
        "set F1",
        "F1 of the cited papers against the gold ones, neutral ones left out, where all papers of a kind are asked for "
        f"({', '.join(SETS)}). A refusal scores 0.",
        "van Rijsbergen, Information Retrieval, 1979, ch. 7",
        _wants_a_set,
        set_f1,
    ),
    Measure(
        "follow-up success",
        "1 when a question with a history cites a gold paper first and shows every string that answers, else 0.",
        "evals/sets/README.md",
        _follows,
        follow_up,
    ),
)
