"""Follow-ups: what they refer to is put behind them; a question that stands alone stays as it is."""

import pytest

from app.answer import Turn
from app.assistant import Assistant
from app.rewrite import standalone
from vectorstore.paper import Paper

PAPERS = {
    "a-1": Paper(id="a-1", title="TokenDrop: Skipping Tokens"),
    "a-2": Paper(id="a-2", title="$\\phi$-Balancing for Experts"),
    "a-3": Paper(id="a-3", abstract="We propose Global PSRO, an algorithm."),
}


def said(text: str, *papers: str) -> list[Turn]:
    return [Turn(role="user", content="Which papers?"), Turn(role="assistant", content=text, papers=papers)]


def rewritten(question: str, history: list[Turn]) -> str:
    alone = standalone(question, history, PAPERS.get)
    assert alone.startswith(question)
    return alone.removeprefix(question)


THREE = said("- TokenDrop [1] - phi [2] - PSRO [3]", "a-1", "a-2", "a-3")
LISTED = said("I found: 1. TokenDrop skips tokens. 2. LLEP moves experts. 3. PuzzleMoE merges them.")


def test_the_first_question_of_a_conversation_stays_as_it_is() -> None:
    assert rewritten("how much does it save?", []) == ""
    assert rewritten("how much does it save?", [Turn(role="user", content="hello")]) == ""


@pytest.mark.parametrize(
    "question",
    [
        *("how much does it save?", "and the speedup?", "why?", "who wrote this?", "is their code available?"),
        *("what about images?", "which datasets did they use", "does that need retraining?", "how come?"),
    ],
)
def test_a_follow_up_gets_the_paper_that_was_cited(question: str) -> None:
    assert "TokenDrop: Skipping Tokens" in rewritten(question, said("It skips them. [1]", "a-1"))


@pytest.mark.parametrize("question", ["tell me more", "explain more", "and on GLUE?", "code?", "what is the speedup?"])
def test_so_does_one_that_says_little(question: str) -> None:
    assert "TokenDrop: Skipping Tokens" in rewritten(question, said("It skips them. [1]", "a-1"))


def test_the_paper_is_called_as_a_person_would_read_it() -> None:
    assert "phi-Balancing for Experts" in rewritten("how does it work?", said("Thus. [1]", "a-2"))
    assert "Global PSRO" in rewritten("how does it work?", said("Thus. [1]", "a-3"))


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("how much does the first one save?", "TokenDrop"),
        ("and the second paper?", "phi-Balancing"),
        ("how fast is the third?", "Global PSRO"),
        ("what is the last one for?", "Global PSRO"),
        ("number 2: which optimizer?", "phi-Balancing"),
        ("and no. 3?", "Global PSRO"),
        ("back to the first one, does it need retraining?", "TokenDrop"),
    ],
)
def test_an_ordinal_picks_a_paper(question: str, label: str) -> None:
    assert label in rewritten(question, THREE)


@pytest.mark.parametrize("question", ["what about #2?", "what does [2] save?", "and [2]?"])
def test_the_mark_that_an_answer_shows_picks_its_paper(question: str) -> None:
    assert "phi-Balancing" in rewritten(question, THREE)


def test_the_last_answer_counts() -> None:
    history = [*said("First. [1]", "a-1"), *said("Then. [1]", "a-3")]
    assert "Global PSRO" in rewritten("how does it work?", history)


def test_without_ids_the_words_of_the_answer_stand_in() -> None:
    assert "TokenDrop skips tokens" in rewritten("how much does it save?", said("TokenDrop skips tokens. [1]"))


@pytest.mark.parametrize(
    ("question", "words", "others"),
    [
        ("how much does the second one save?", "LLEP moves experts", "TokenDrop"),
        ("and the first?", "TokenDrop skips tokens", "LLEP"),
        ("number 3?", "PuzzleMoE merges them", "LLEP"),
    ],
)
def test_an_ordinal_picks_an_item_of_a_list(question: str, words: str, others: str) -> None:
    behind = rewritten(question, LISTED)
    assert words in behind
    assert others not in behind


def test_ids_that_nobody_knows_leave_the_words() -> None:
    assert "It skips them" in rewritten("how much does it save?", said("It skips them.", "gone-1"))


def test_a_long_answer_does_not_become_the_question() -> None:
    assert len(rewritten("how much does it save?", said("word " * 5000))) < 500


@pytest.mark.parametrize(
    "question",
    [
        *("Different topic: what is CAMEL?", "Now something else, is it raining?", "new topic: its speedup"),
        *("Changing the subject, who wrote it?", "unrelated, but how many are there?"),
    ],
)
def test_who_turns_away_is_not_held_back(question: str) -> None:
    assert rewritten(question, THREE) == ""


@pytest.mark.parametrize(
    "question",
    [
        "What certified lower bound on the Steiner ratio was found?",
        "Which optimisation method gives the online algorithm behind population-level expert balancing?",
        "For a linear classifier, what kinds of convex program come out for group counterfactuals?",
    ],
)
def test_a_question_that_stands_alone_stays_as_it_is(question: str) -> None:
    assert rewritten(question, THREE) == ""


@pytest.mark.parametrize(
    "question",
    [
        *("What is QuantumBoost?", "What does CAMEL reduce?", "Summarize UrbanFusion", "PISA vs PrivCode++"),
        *("Which papers study reinforcement learning?", "hello", "thanks!", "How many papers are there?"),
        "Is there a paper that prunes the experts of a mixture-of-experts model?",
        "In how many cities was UrbanFusion evaluated?",
        "What is the capital of France?",
        "Why do MMD two-sample tests fail under a location shift of the distribution?",
    ],
)
def test_so_does_a_short_one_that_names_its_subject(question: str) -> None:
    assert rewritten(question, THREE) == ""


# With the real model: what a person sees

TOKENDROP = said("It skips backward computations. [1]", "icml2026-D8DUCALWYb")


def quotes(assistant: Assistant, question: str, history: list[Turn]) -> tuple[str, str]:
    answer = assistant.ask(question, history)
    assert answer.papers, answer.text
    return answer.papers[0].label, " ".join(sentence.text for sentence in answer.sentences)


def test_a_follow_up_is_answered_from_the_paper_before(real: Assistant) -> None:
    label, text = quotes(real, "how much memory does it save?", TOKENDROP)
    assert label.startswith("TokenDrop")
    assert "42.9" in text


def test_so_it_is_when_the_client_kept_the_text_alone(real: Assistant) -> None:
    history = said("**TokenDrop** reduces activation memory by skipping backward computations for some tokens. [1]")
    label, text = quotes(real, "and what training speedup does it reach?", history)
    assert label.startswith("TokenDrop")
    assert "1.50" in text


def test_so_it_is_by_its_place_in_a_list(real: Assistant) -> None:
    history = said("See [1] and [2].", "icml2026-DZbzIOguz4", "icml2026-DFi6hHce5t")
    label, text = quotes(real, "how much peak memory does the second one save?", history)
    assert label.startswith("Least-Loaded")
    assert "4x reduction" in text


def test_the_rewritten_question_is_shown_and_the_asked_one_kept(real: Assistant) -> None:
    answer = real.ask("how much memory does it save?", TOKENDROP)
    assert answer.question == "how much memory does it save?"
    assert "TokenDrop" in answer.standalone_question


def test_another_subject_is_answered_from_its_own_paper(real: Assistant) -> None:
    label, text = quotes(real, "What certified lower bound on the Steiner ratio was found?", TOKENDROP)
    assert "Gilbert-Pollak" in label
    assert "0.8559" in text


def test_another_name_is_answered_from_its_own_paper_alone(real: Assistant) -> None:
    papers = real.ask("What is QuantumBoost?", TOKENDROP).papers
    assert [paper.label.split(":")[0] for paper in papers] == ["QuantumBoost"]


@pytest.mark.parametrize("question", ["What is the capital of France?", "hello"])
def test_off_topic_stays_off_topic_in_a_conversation(question: str, real: Assistant) -> None:
    answer = real.ask(question, TOKENDROP)
    assert answer.refusal is not None
    assert answer.refusal.reason == "off_topic"
