"""Sentence spans: always a partition of what is written, and at the boundaries a reader would choose."""

import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ingest.sentences import sentence_spans

# Separated by "|": what sentence rules, masks and spans could stumble over.
PIECES = [
    "x" * 360,
    *(
        "We propose X.| e.g. |et al. |$x.y$|$|$$|\\[|\\]|\\cite{a.b}| |\n|\n\n|\t|\r|(|)|\"|“|”|'|1. |(i) |(ii)|- |• "
        "|Fig. 3|Eq.|https://a.b/c. | 0.5 |。|！|?|!|...|a|B|é|e\u0301|😀|论文|\u3000|\u2028|\x0b|\x1c|İ"
    ).split("|"),
]
TEXTS = st.one_of(st.text(max_size=150), st.lists(st.sampled_from(PIECES), max_size=40).map("".join))


@given(TEXTS)
@example("")
@example("1. ")
@example("Only (i)")
@example("A. 2. B. 3.")
def test_spans_are_ordered_disjoint_trimmed_and_cover_all_that_is_written(text: str) -> None:
    end_before = 0
    covered: set[int] = set()
    for start, end in sentence_spans(text):
        assert end_before <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip()
        covered.update(range(start, end))
        end_before = end
    assert all(place in covered or character.isspace() for place, character in enumerate(text))


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    "expected",
    [
        ["We propose X.", "It works."],
        ["Does it work?", "Yes!", "It does."],
        ["Methods, e.g. SGD, fail.", "Others, i.e. Adam, do not."],
        ["Smith et al. (2020) show it.", "Lee et al. Did not."],
        ["See Fig. 3 and Eq. 4 for it.", "Cf. Thm. 2 of Sec. 5."],
        ["A bound of 0.8559 is new.", "It was 0.824."],
        ["We use $f(x). G$ is $\\mathbb{R}. X$ here.", "It ends."],
        ["A display $$a. B. c$$ stays.", "So does \\[x. Y\\] that."],
        ["Code is at https://github.com/a/b.git.", "Data is at http://x.org/A.B."],
        ["See \\citep{Lee. Ann} for it.", "We do."],
        ["It is 10 vs. 20 on Dr. Who.", "We get approx. 5 w.r.t. 6."],
        ["It costs $5 and $7 more.", "It is worth it."],
        ["The answer is no.", "We stop."],
        ["我们提出一种方法。", "它很快！", "真的吗？"],
        ["“Quoted text.”", "Then more."],
        ["Ends in brackets (see above).", "Next."],
        ["A trailing ellipsis...", "Then more."],
        ["No full stop at the end"],
    ],
)
def test_boundaries_are_where_a_reader_would_put_them(expected: list[str]) -> None:
    text = "".join(expected) if expected[0].endswith("。") else " ".join(expected)
    assert sentences(text) == expected


def test_a_list_mark_belongs_to_what_follows() -> None:
    assert sentences("We find: (i) Speed matters. (ii) Size does not. (a) So be it.") == [
        "We find:",
        "(i) Speed matters.",
        "(ii) Size does not.",
        "(a) So be it.",
    ]
    assert sentences("Our findings are these. 1. Speed matters. 2. Size does not.") == [
        "Our findings are these.",
        "1. Speed matters.",
        "2. Size does not.",
    ]


def test_a_list_inside_a_sentence_does_not_leave_marks_at_its_ends() -> None:
    assert not any(
        sentence.endswith(("1.", "2.")) for sentence in sentences("We give: 1. speed, 2. proofs. Both matter.")
    )


def test_two_prices_are_no_mathematics() -> None:
    assert sentences("Training costs $3. Testing costs $5. Done.") == [
        "Training costs $3.",
        "Testing costs $5.",
        "Done.",
    ]


def test_wrapped_lines_do_not_end_a_sentence_and_paragraphs_do() -> None:
    assert sentences("We propose\na method that\nworks. It is\nfast.\n\nMore follows") == [
        "We propose\na method that\nworks.",
        "It is\nfast.",
        "More follows",
    ]


def test_a_heading_above_a_paragraph_is_not_part_of_its_first_sentence() -> None:
    assert sentences("Motivation\n\nWe study bees. They fly.") == ["Motivation", "We study bees.", "They fly."]


def test_bullets_are_sentences_of_their_own() -> None:
    assert sentences("We give\n- a method\n- a proof") == ["We give", "- a method", "- a proof"]


@pytest.mark.parametrize(("first", "second"), ['""', "()", "“”", "‘’"])
def test_an_unbalanced_quote_or_bracket_does_not_swallow_the_abstract(first: str, second: str) -> None:
    """As where the marks of two inch signs, or of two slips, look like one long quotation."""
    rest = [f"Sentence number {n} tells of another result that was obtained with this method." for n in range(8)]
    assert sentences(" ".join([f"We call it {first}new.", *rest, f"It ends{second} here."]))[1:9] == rest
    assert sentences(" ".join([f"We call it {first}new.", *rest]))[-4:] == rest[-4:]


def test_crlf_and_tabs_do_not_shift_spans() -> None:
    assert sentences("One is\r\nhere.\tTwo 😀 is here. Three.") == ["One is\r\nhere.", "Two 😀 is here.", "Three."]


def test_the_sample_is_cut_into_sentences_of_sensible_length(sample: Path) -> None:
    counts = []
    for row in map(json.loads, sample.read_text().splitlines()):
        found = sentences(row["abstract"])
        counts.append(len(found))
        assert all(len(sentence) > 20 for sentence in found), row["id"]
        assert all(sentence[-1] in '.!?)”"' for sentence in found), row["id"]
        assert all(sentence[0].isupper() or not sentence[0].isalpha() for sentence in found), row["id"]
        assert max(map(len, found)) < 700, row["id"]
    assert min(counts) >= 4
    assert max(counts) <= 15
