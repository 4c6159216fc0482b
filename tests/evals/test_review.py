"""From what people said of answers to cases: what is asked, what is written, what is left alone."""

import json
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from app.answer import Turn
from app.feedback import FeedbackFile, Noted, note, to_line
from evals.case import Case
from evals.cli import cli
from evals.dataset import SETS, load
from evals.errors import BadCase, FeedbackUnreadable, FileUnwritable, OutputInSets
from evals.review import run as module
from evals.review.item_text import shown, visible
from evals.review.personal import find_personal
from evals.review.run import list_items, review
from evals.review.used import Cases, Item, read_items
from vectorstore.paper import Paper

NOW = datetime(2026, 5, 1, 12, 34, 56, tzinfo=UTC)
BOUND = "We raise the bound to $0.8559$."
QUANTUM = "icml2026-COjmyds8zz"


@pytest.fixture
def feedback(tmp_path: Path) -> Path:
    return tmp_path / "feedback.jsonl"


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "cases.jsonl"


@pytest.fixture
def say_of(feedback: Path, answer: Any) -> Callable[..., None]:
    """Add an item to the feedback file: an answer that cites p1, to a question of its own."""
    asked = count(1)

    def say(kind: Any = "unhelpful", history: Sequence[Turn] = (), comment: str = "", **fields: Any) -> None:
        quotes = [] if fields.get("refused") else [("p1", BOUND)]
        fields = {"question": f"question {next(asked)}", **fields}
        alone = {"standalone_question": fields["question"]}
        FeedbackFile(feedback).append(note(kind, answer(quotes, **{**alone, **fields}), history, "m", comment, NOW))

    return say


class Typed:
    """A person who types what is given, and remembers what was asked; an exception among it is raised."""

    def __init__(self, *typed: str | type[BaseException]) -> None:
        self._typed = iter(typed)
        self.prompts: list[str] = []
        self.said = ""

    def ask(self, prompt: str) -> str:
        self.prompts.append(prompt)
        found = next(self._typed, EOFError)
        if isinstance(found, str):
            return found
        raise found

    def say(self, line: str) -> None:
        self.said += line + "\n"


@pytest.fixture
def go(feedback: Path, output: Path, scripted: Any) -> Callable[..., tuple[Typed, list[Case]]]:
    """Review with an index of three papers; what was said, and the cases that are there then."""

    papers = scripted({}).paper

    def run(*typed: str | type[BaseException], lookup: Any = papers) -> tuple[Typed, list[Case]]:
        person = Typed(*typed)
        review(feedback, output, person.ask, person.say, lookup)
        return person, list(load(str(output)).cases) if output.exists() else []

    return run


# Deciding


def test_an_unhelpful_answer_becomes_a_case_with_the_cited_papers(say_of, go) -> None:
    say_of(question="what is the bound?")
    person, (case,) = go("y", "", "", "0.8559", "", "")
    assert case == Case(
        id="use-001", category="fact_text", question="what is the bound?", relevant=("p1",), must_show=("0.8559",),
        note=case.note,
    )  # fmt: skip
    assert "2026-05-01T12:34:56Z, unhelpful" in case.note
    assert "what is the bound?" in person.said
    assert "p1  Steiner" in person.said
    assert BOUND in person.said


def test_of_a_wrong_paper_the_right_one_must_be_typed(say_of, go) -> None:
    say_of("wrong_paper")
    person, (case,) = go("y", "", "p9", "p2, p3 p2", "", "", "topic_list")
    assert (case.relevant, case.category) == (("p2", "p3"), "topic_list")
    assert "wrong_paper" in case.note
    assert "no paper 'p9' in the index" in person.said
    assert sum("relevant" in prompt for prompt in person.prompts) == 3
    assert "empty" not in next(prompt for prompt in person.prompts if "relevant" in prompt)


def test_or_the_item_is_skipped(say_of, go) -> None:
    say_of("wrong_paper")
    assert go("y", "s")[1] == []


def test_what_is_not_kept_leaves_no_trace(say_of, go, output: Path, feedback: Path) -> None:
    say_of()
    say_of()
    before = feedback.read_bytes()
    person, cases = go("n", "n")
    assert cases == []
    assert not output.exists()
    assert feedback.read_bytes() == before
    assert "0 written" in person.said


def test_a_question_that_no_paper_answers(say_of, go) -> None:
    say_of(refused="not_in_corpus")
    _, (case,) = go("y", "-", "", "")
    assert (case.answerable, case.relevant, case.category) == (False, (), "unanswerable_near")


def test_an_answerable_question_needs_a_paper(say_of, go) -> None:
    say_of(refused="not_in_corpus")
    person, (case,) = go("y", "-", "y", "p2", "y", "", "")
    assert case.relevant == ("p2",)
    assert "needs at least one paper" in person.said


def test_an_alias_becomes_the_id(say_of, go) -> None:
    say_of("wrong_paper")
    known = {name: Paper(id="p2", abstract="x", aliases=("arxiv:1",)) for name in ("p2", "arxiv:1")}
    _, (case,) = go("y", "arxiv:1", "", "", "", lookup=known.get)
    assert case.relevant == ("p2",)


def test_without_an_index_ids_are_taken_as_they_are(say_of, go) -> None:
    say_of("wrong_paper")
    person, (case,) = go("y", "any-id", "", "any words", "", "", lookup=None)
    assert (case.relevant, case.must_show) == (("any-id",), ("any words",))
    assert "Steiner" not in person.said


def test_words_that_no_relevant_paper_has_are_asked_about_and_mark_up_does_not_count(say_of, go) -> None:
    say_of("wrong_paper")
    _, (case,) = go("y", "p2", "", "mirror decent", "", "costs 1.5%", "5", "y", "", "fact_text")
    assert case.must_show == ("costs 1.5%", "5")


@pytest.mark.parametrize(
    ("route", "category"), [("count", "count_or_aggregate"), ("compare", "compare"), ("fact", "fact_text")]
)
def test_a_category_is_suggested(say_of, go, route: str, category: str) -> None:
    say_of(route=route)
    assert go("y", "", "", "", "")[1][0].category == category


def test_a_category_that_nobody_knows_is_asked_about(say_of, go) -> None:
    say_of()
    person, (case,) = go("y", "", "", "", "fakt", "n", "fact_number")
    assert case.category == "fact_number"
    assert "paraphrase_oblique" in person.said
    say_of(question="another")
    assert go("y", "", "", "", "of our own", "y")[1][-1].category == "of our own"


def test_what_is_no_answer_is_asked_again(say_of, go) -> None:
    say_of()
    person, (case,) = go("perhaps", "", "Yes", "", "maybe", "y", "", "")
    assert case.id == "use-001"
    assert "perhaps is none of y, n, q" in person.said


def test_a_follow_up_keeps_the_turns_before_it(say_of, go) -> None:
    turns = [
        Turn(role="assistant", content="Hello."),
        Turn(role="user", content="What is the Steiner ratio?"),
        Turn(role="assistant", content="A ratio. [1]", papers=("p1",)),
        Turn(role="user", content="lost"),
    ]
    say_of(history=turns, question="And its bound?", standalone_question="And its bound? [about: Steiner]")
    person, (case,) = go("y", "", "", "", "")
    assert case.history == (("What is the Steiner ratio?", "A ratio. [1]"),)
    assert case.category == "follow_up"
    assert "read as    And its bound? [about: Steiner]" in person.said


def test_the_language_is_told(say_of, go) -> None:
    say_of(question="Welche untere Schranke wird für das Verhältnis gezeigt?")
    assert go("y", "", "", "", "")[1][0].lang == "de"


# Personal details


def test_personal_details_are_asked_about_before_anything_else(say_of, go) -> None:
    say_of(question="I am Ann Lee, ann@mail.example: what is the bound?")
    person, (case,) = go("y", "e", "I am Ann Lee: what is the bound?", "e", "what is the bound?", "", "", "", "")
    assert case.question == "what is the bound?"
    assert "e-mail address in the question: ann@mail.example" in person.said
    assert "name in the question: Ann Lee" in person.said
    assert "personal?" in person.said


def test_they_may_be_kept_or_the_item_dropped(say_of, go) -> None:
    say_of(question="What did I am Groot say?")
    say_of(question="call +49 30 1234567")
    _, (case,) = go("y", "k", "", "", "", "", "y", "d")
    assert case.question == "What did I am Groot say?"


def test_they_are_found_in_the_turns_before_as_well(say_of, go) -> None:
    turns = [Turn(role="user", content="my name is Ann"), Turn(role="assistant", content="Hello.")]
    say_of(history=turns)
    person, (case,) = go("y", "e", "hello", "", "", "", "")
    assert case.history == (("hello", "Hello."),)
    assert "name in turn 1 before it: Ann" in person.said


def test_a_comment_is_shown_and_not_kept(say_of, go, output: Path) -> None:
    say_of(comment="write to ann@mail.example")
    person, _ = go("y", "", "", "", "")
    assert "write to ann@mail.example" in person.said
    assert "ann@mail.example" not in output.read_text()


@pytest.mark.parametrize(
    ("text", "kind", "found"),
    [
        ("write to ann.lee+x@mail.example.org, please", "e-mail address", "ann.lee+x@mail.example.org"),
        ("ann (at) mail [dot] example", "e-mail address", "ann (at) mail [dot] example"),
        ("ann at mail dot example", "e-mail address", "ann at mail dot example"),
        ("call +49 30 1234567 today", "telephone number", "+49 30 1234567"),
        ("(555) 123-4567", "telephone number", "(555) 123-4567"),
        ("555-123-4567", "telephone number", "555-123-4567"),
        ("0171/1234567", "telephone number", "0171/1234567"),
        ("see https://x.example/a?token=abc", "web address with a key", "https://x.example/a?token=abc"),
        ("https://x.example/a#access_token=1", "web address with a key", "https://x.example/a#access_token=1"),
        ("https://ann:pass@x.example/", "web address with a key", "https://ann:pass@x.example/"),
        ("https://x.example/3f2a9c1b77aa88bb99cc00dd11", "web address with a key", None),
        ("my key is sk-abcdefghijklmnop1234", "key", "sk-abcdefghijklmnop1234"),
        ("my name is ann", "name", "ann"),
        ("My name is Ann Lee and", "name", "Ann Lee"),
        ("I am Ann", "name", "Ann"),
        ("I’m Dr. Ann Lee-Smith, what", "name", "Ann Lee-Smith"),
        ("ich heiße Anna", "name", "Anna"),
        ("我叫王小明，请问", "name", "王小明"),
    ],
)
def test_what_tells_who_somebody_is(text: str, kind: str, found: str | None) -> None:
    assert [(each.kind, each.text) for each in find_personal(text)] == [(kind, found or text)]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "I am looking for papers",
            "0.8559 or 2401.12345",
            "2024-2025",
            "2026-05-01",
            "01.05.2026",
            "1,000,000 papers",
        ),
        *("https://github.com/a/b", "https://openreview.net/forum?id=COjmyds8zz", "https://x.example/?sort=key&page=2"),
        *("nDCG@10 of 0.4", "30--35\\% of 12345678 samples", "at rest dot products", "looked at ImageNet. It dropped"),
    ],
)
def test_what_questions_are_full_of_is_left_alone(text: str) -> None:
    assert find_personal(text) == []


def test_no_question_of_the_sets_is_taken_for_personal() -> None:
    for path in SETS.glob("*.jsonl"):
        for case in load(str(path)).cases:
            assert find_personal(case.question) == [], case.id


@given(st.text(st.sampled_from("a1@.+-( )/:?=#&tokenAI ")))
def test_what_is_found_stands_where_it_is_said_to_and_overlaps_nothing(text: str) -> None:
    found = find_personal(text)
    assert [text[each.start : each.end] for each in found] == [each.text for each in found]
    assert all(one.end <= next.start for one, next in pairwise(found))


# The files


def test_ids_go_on_from_those_in_the_file_and_what_is_there_stays(say_of, go, output: Path) -> None:
    there = '{"id": "use-041", "category": "fact", "question": "old?", "relevant": ["p1"]}'
    output.write_text(there + '\n{"id": "use-7", "category": "fact", "question": "?", "answerable": false}')
    say_of()
    _, cases = go("y", "", "", "", "")
    assert [case.id for case in cases] == ["use-041", "use-7", "use-042"]
    assert output.read_text().startswith(there)


def test_the_same_line_twice_is_one_item(say_of, go) -> None:
    say_of(question="one")
    say_of(question="one")
    person, cases = go("y", "", "", "", "")
    assert len(cases) == 1
    assert "is use-001 already" in person.said


def test_what_was_made_a_case_is_not_asked_about_again(say_of, go) -> None:
    for question in ("one", "two", "three"):
        say_of(question=question)
    assert [case.question for case in go("y", "", "", "", "", "n", "q")[1]] == ["one"]
    person, cases = go("y", "", "", "", "", "y", "", "", "", "")
    assert [case.question for case in cases] == ["one", "two", "three"]
    assert "is use-001 already" in person.said


@pytest.mark.parametrize("end", ["q", EOFError])
def test_who_stops_keeps_what_was_written(say_of, go, end: Any) -> None:
    for _ in range(3):
        say_of()
    person, cases = go("y", "", "", "", "", end)
    assert [case.id for case in cases] == ["use-001"]
    assert "1 written" in person.said


def test_so_does_who_interrupts(say_of, go, feedback: Path, output: Path) -> None:
    say_of()
    say_of()
    with pytest.raises(KeyboardInterrupt):
        go("y", "", "", "", "", "y", "", KeyboardInterrupt)
    assert [case.id for case in load(str(output)).cases] == ["use-001"]


def test_the_cases_are_their_owners_alone(say_of, go, output: Path) -> None:
    say_of()
    go("y", "", "", "", "")
    assert stat.S_IMODE(output.stat().st_mode) == 0o600


def test_nothing_is_written_into_the_sets_or_where_it_cannot_be(tmp_path: Path, say_of, feedback: Path) -> None:
    say_of()
    (tmp_path / "link").symlink_to(SETS)
    for path in (SETS / "new.jsonl", SETS / "seeds.jsonl", tmp_path / "link" / "x.jsonl", SETS):
        with pytest.raises(OutputInSets):
            Cases(path)
    for path in (tmp_path, tmp_path / "none" / "x.jsonl"):
        with pytest.raises(FileUnwritable):
            Cases(path)
    with pytest.raises(BadCase):
        Cases(feedback)


def test_broken_lines_are_named_and_skipped(say_of, feedback: Path, capsys: pytest.CaptureFixture[str]) -> None:
    say_of(question="one")
    with feedback.open("ab") as file:
        file.write(b'{"time": "2026\n\n\xff\n{"kind": "great"}\n')
    say_of(question="two")
    said: list[str] = []
    list_items(feedback, said.append)
    assert ["one" in said[0], "two" in said[1], len(said)] == [True, True, 2]
    complaints = capsys.readouterr().err.splitlines()
    assert [line.split(": ")[0] for line in complaints] == [f"{feedback}:{number}" for number in (2, 4, 5)]
    assert all(line.endswith("; skipped") for line in complaints)


def test_a_missing_file_is_one_line(feedback: Path) -> None:
    with pytest.raises(FeedbackUnreadable, match=r"\A.+\Z"):
        list(read_items(feedback))


# Whatever the text


@given(st.text(st.characters() | st.sampled_from("\x00\x1b\u202e\u2028\ud800\r\n")))
def test_no_text_moves_the_cursor(text: str) -> None:
    assert all(c.isprintable() for c in visible(text))


texts = st.text(st.characters() | st.sampled_from("\x00\x1b\u2028\ud800\n"), min_size=1, max_size=30)


@given(question=texts.filter(lambda text: not find_personal(text)), before=texts.filter(lambda t: not find_personal(t)))
def test_any_question_makes_a_valid_case(question: str, before: str) -> None:
    turns = (Turn(role="user", content=before), Turn(role="assistant", content=""))
    noted = Noted(
        time="t", kind="unhelpful", question=question, history=turns, standalone_question=question, status="refused",
        route="fact", cited=("p1",), text=before, corpus="c", model="m",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        feedback, output = Path(folder) / "f.jsonl", Path(folder) / "c.jsonl"
        feedback.write_bytes(to_line(noted))
        person = Typed("y", "", "", "", "")
        assert review(feedback, output, person.ask, person.say) == 1
        (case,) = load(str(output)).cases
    assert case.question == question.encode("utf-8", "replace").decode()
    assert case.history[0][0] == before.encode("utf-8", "replace").decode()
    assert all(c.isprintable() or c == "\n" for c in person.said)


def test_a_question_that_is_empty_makes_no_case(say_of, go) -> None:
    say_of(question="")
    person, cases = go("y", "", "", "", "")
    assert cases == []
    assert "no case can be made of it" in person.said


def test_a_long_text_is_shortened_where_it_is_shown(answer: Any) -> None:
    noted = note("unhelpful", answer([("p1", BOUND)], text="x" * 100_000), (), "m")
    assert len(shown(noted)) < 3000
    assert "characters)" in shown(noted)


# The command


def call(*arguments: object, typed: Sequence[str] = ()) -> Result:
    return CliRunner().invoke(cli, ["review", *map(str, arguments)], input="".join(line + "\n" for line in typed))


@pytest.fixture
def real(feedback: Path, index: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A feedback file as a server over the sample writes it, and the sample's index in the settings."""
    from app.assistant import Assistant
    from vectorstore.hashing import HashingEmbedder

    monkeypatch.setenv("PAPERCHAT_INDEX_DIR", str(index))
    monkeypatch.setenv("PAPERCHAT_EMBEDDER", "hashing")
    assistant = Assistant(index, HashingEmbedder())
    file = FeedbackFile(feedback)
    for question in ("What is QuantumBoost?", "What datasets does QuokkaNet use?"):
        file.append(note("unhelpful", assistant.ask(question), (), assistant.fingerprint))
    assistant.close()
    return feedback


def test_it_is_scripted_from_standard_input(real: Path, output: Path) -> None:
    typed = ["y", "", "", "lazy projection", "", "", "y", "-", "", ""]
    result = call(real, "--output", output, typed=typed)
    assert result.exit_code == 0, result.output
    assert f"{QUANTUM}  QuantumBoost: A lazy" in result.stdout
    assert "must be shown, verbatim (empty: no more): lazy projection\n" in result.stdout
    cases = load(str(output)).cases
    assert [(case.id, case.category, case.relevant) for case in cases] == [
        ("use-001", "name_lookup", (QUANTUM,)),
        ("use-002", "unanswerable_near", ()),
    ]


def test_what_it_writes_can_be_run(real: Path, output: Path) -> None:
    call(real, "--output", output, typed=["y", "", "", "lazy projection", "", "", "n"])
    result = CliRunner().invoke(cli, ["run", str(output)])
    assert result.exit_code == 0, result.output
    assert "name_lookup" in result.output


def test_it_lists_without_asking(real: Path, output: Path) -> None:
    result = call(real, "--list", "--output", output)
    assert result.exit_code == 0
    assert "QuantumBoost: A lazy" in result.stdout
    assert "QuokkaNet" in result.stdout
    assert "[y/n/q]" not in result.output
    assert not output.exists()


def test_without_an_index_it_says_why_there_are_no_titles(
    real: Path, output: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAPERCHAT_INDEX_DIR", str(tmp_path / "none"))
    result = call(real, "--output", output, typed=["y", "", "", "", "", "q"])
    assert result.exit_code == 0
    assert "titles are not shown: no index" in result.stderr
    assert load(str(output)).cases[0].relevant == (QUANTUM,)


def test_ctrl_c_is_130_and_keeps_what_was_written(real: Path, output: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    person = Typed("y", "", "", "", "", KeyboardInterrupt)
    monkeypatch.setattr(module, "ask_terminal", person.ask)
    assert call(real, "--output", output).exit_code == 130
    assert len(load(str(output)).cases) == 1


def test_what_cannot_be_done_is_one_line(real: Path, tmp_path: Path) -> None:
    for arguments in (
        [tmp_path / "none.jsonl", "--list"],
        [real, "--output", SETS / "seeds.jsonl"],
        [real, "--output", tmp_path],
        [real, "--output", real],
    ):
        result = call(*arguments)
        assert result.exit_code == 2
        assert result.stderr.startswith("paperchat-evals: ")
        assert result.stderr.count("\n") == 1


def test_a_reader_that_has_seen_enough_is_no_fault(real: Path) -> None:
    command = f"{sys.executable} -c 'from evals.cli import main; main()' review {real} --list | true"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True)
    assert done.stderr == ""


def test_help_says_what_it_does() -> None:
    assert "make cases of what is worth keeping" in " ".join(call("--help").output.split())


def test_an_item_is_known_wherever_its_line_is(say_of, feedback: Path) -> None:
    say_of(question="one")
    say_of(question="two")
    one, two = read_items(feedback)
    feedback.write_bytes(b"".join(reversed(feedback.read_bytes().splitlines(keepends=True))))
    later = [found.key for found in read_items(feedback) if isinstance(found, Item)]
    assert isinstance(one, Item)
    assert isinstance(two, Item)
    assert later == [two.key, one.key]
    assert json.loads(feedback.read_bytes().splitlines()[0])["question"] == "two"
