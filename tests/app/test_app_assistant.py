"""The whole chain over an index: how many papers it ranks, which conditions it keeps, how it follows the index."""

import json
import logging
import shutil
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

import pytest
from langchain_core.runnables import Runnable

from app.answer import Conditions
from app.assistant import Asked, Assistant
from app.settings import Settings
from app.whole import open_assistant
from vectorstore.errors import ModelUnusable, NoIndex, OtherModel
from vectorstore.hashing import HashingEmbedder

Build = Callable[..., Path]
Rows = list[dict[str, Any]]


def opened(root: Path) -> Assistant:
    return Assistant(root, HashingEmbedder())


# How many

QUESTIONS = ["What is TokenDrop?", "hello!", "Which papers are about experts?", "xyzzy", "How many papers are there?"]


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("k", [1, 2, 30, 36, 37, 38, 1000])
def test_it_ranks_k_papers_or_all_there_are(k: int, question: str, cheap: Assistant) -> None:
    rows = cheap.ask(question, k=k).retrieved
    assert [row.rank for row in rows] == list(range(1, min(k, 37) + 1))
    assert len({row.id for row in rows}) == len(rows)


def test_thirty_unless_asked_otherwise(cheap: Assistant) -> None:
    assert len(cheap.ask("What is TokenDrop?").retrieved) == 30
    assert len(cheap.search("What is TokenDrop?")) == 30


def test_k_changes_how_many_and_not_which(cheap: Assistant) -> None:
    few, many = (cheap.ask("Which papers are about experts?", k=k).retrieved for k in (5, 37))
    assert [row.id for row in few] == [row.id for row in many[:5]]


def test_the_best_is_the_one_that_is_cited(cheap: Assistant) -> None:
    answer = cheap.ask("What is TokenDrop?")
    assert answer.retrieved[0].id == answer.papers[0].id
    assert set(answer.retrieved[0].found_by) == {"dense", "lexical"}


def test_it_ranks_k_papers_also_when_they_are_long(build: Build, sample_rows: Rows) -> None:
    """A paper that is cut up has several chunks; k of these are fewer papers."""

    class Narrow(HashingEmbedder):
        max_tokens = 40

    words, chance = " ".join(row["abstract"] for row in sample_rows).split(), Random(1)
    rows = [
        {
            "id": f"s-{n}",
            "title": f"Paper {n}",
            "abstract": ". ".join(" ".join(chance.sample(words, 12)) for _ in "123456789"),
        }
        for n in range(210)
    ]
    assistant = Assistant(build(rows, embedder=Narrow()), Narrow())
    assert len(assistant.ask("zebra?", k=205).retrieved) == 205


# Conditions


def words_of(row: dict[str, Any]) -> str:
    return f"{row['title']} {row['abstract']}".lower().replace("-", " ")


CONDITIONS: list[tuple[dict[str, Any], Callable[[dict[str, Any]], bool]]] = [
    ({"authors": ("Pedro Larranaga",)}, lambda row: "Pedro Larrañaga" in row["authors"]),
    ({"authors": ("mehryar mohri", "Corinna Cortes")}, lambda row: "Mehryar Mohri" in row["authors"]),
    ({"topic": "Large Language Models"}, lambda row: "Large Language Models" in row["topic"]),
    ({"decision": "spotlight"}, lambda row: "spotlight" in row["decision"]),
    ({"venue": "icml", "year": 2026}, lambda row: True),
    ({"exclude": ("mixture-of-experts",)}, lambda row: "mixture of experts" not in words_of(row)),
    ({"has_code": True}, lambda row: any(host in row["abstract"] for host in ("github.com/", "github.io/"))),
    ({"has_code": False}, lambda row: not any(host in row["abstract"] for host in ("github.com/", "github.io/"))),
    ({"source": "icml2026_sample"}, lambda row: True),
]


@pytest.mark.parametrize(("conditions", "fulfils"), CONDITIONS)
def test_only_papers_that_fulfil_the_conditions_are_ranked(
    conditions: dict[str, Any], fulfils: Callable[[dict[str, Any]], bool], cheap: Assistant, sample_rows: Rows
) -> None:
    wanted = {row["id"] for row in sample_rows if fulfils(row)}
    assert wanted
    answer = cheap.ask("What do they propose about learning?", conditions=Conditions(**conditions), k=1000)
    assert {row.id for row in answer.retrieved} == wanted
    assert {paper.id for paper in (*answer.papers, *answer.nearest)} <= wanted
    ranked = cheap.search("What do they propose about learning?", Conditions(**conditions), k=1000)
    assert {found.paper.id for found in ranked} == wanted


@pytest.mark.parametrize("conditions", [{"year": 1999}, {"authors": ("Nobody Known",)}, {"source": "elsewhere"}])
@pytest.mark.parametrize("question", [*QUESTIONS[:1], *QUESTIONS[2:]])
def test_conditions_that_leave_no_paper_are_refused(
    question: str, conditions: dict[str, Any], cheap: Assistant, check: Any
) -> None:
    answer = cheap.ask(question, conditions=Conditions(**conditions))
    assert answer.refusal is not None
    assert answer.refusal.reason == "not_in_corpus"
    assert answer.retrieved == answer.nearest == ()
    assert cheap.search(question, Conditions(**conditions)) == ()
    check(json.loads(answer.model_dump_json()), cheap)


def test_an_empty_exclusion_excludes_nothing(cheap: Assistant) -> None:
    assert len(cheap.search("What is TokenDrop?", Conditions(exclude=("",)), k=1000)) == 37


def test_a_session_may_be_a_number(build: Build) -> None:
    rows = [{"id": f"s-{n}", "title": f"Sheep {n}", "abstract": "Sheep graze.", "session": n} for n in (1, 2)]
    assistant = opened(build(rows))
    assert [f.paper.id for f in assistant.search("sheep", Conditions.model_validate({"session": 2}))] == ["s-2"]


# What the papers are like

ONLY_TITLES = [{"id": "t-1", "title": "TokenDrop of sheep"}, {"id": "t-2", "title": "LLEP of sheep"}]


@pytest.mark.parametrize("question", [*QUESTIONS, "TokenDrop vs LLEP", "What does TokenDrop of sheep save?"])
def test_papers_without_abstracts_are_found_and_never_quoted(question: str, build: Build, check: Any) -> None:
    assistant = opened(build(ONLY_TITLES))
    answer = assistant.ask(question)
    assert answer.sentences == ()
    assert len(answer.retrieved) == 2
    check(json.loads(answer.model_dump_json()), assistant)


def test_a_paper_without_an_abstract_leaves_the_quoting_to_others(build: Build, sample_rows: Rows) -> None:
    assistant = opened(build([*sample_rows, {"id": "t-1", "title": "TokenDrop"}]))
    for question in ("What is TokenDrop?", "Which papers are about TokenDrop?", "TokenDrop vs PuzzleMoE"):
        answer = assistant.ask(question)
        assert "t-1" in [row.id for row in answer.retrieved]
        assert "t-1" not in [paper.id for paper in answer.papers]


def test_one_paper_is_corpus_enough(build: Build, check: Any) -> None:
    assistant = opened(build([{"id": "o-1", "title": "Sheep", "abstract": "We propose TokenDrop. It saves grass."}]))
    for question in QUESTIONS:
        answer = assistant.ask(question)
        assert [row.id for row in answer.retrieved] == ["o-1"]
        check(json.loads(answer.model_dump_json()), assistant)


def test_what_papers_hold_is_quoted_as_it_is(build: Build, check: Any) -> None:
    odd = "We propose Zyx 😀 with \\mathbf{x} & <b>bold</b> $a<b$ “quotes”.  It costs $5\\%$ — naïve [1] [2]."
    assistant = opened(build([{"id": "o-1", "title": "<i>Zyx</i> [1]", "abstract": odd}]))
    answer = assistant.ask("What is Zyx?")
    assert answer.sentences
    check(json.loads(answer.model_dump_json()), assistant)


# Following the index


def test_a_new_generation_is_answered_from_without_a_restart(build: Build, sample_rows: Rows) -> None:
    root = build(sample_rows[:5])
    assistant = opened(root)
    before = assistant.ask("What is TokenDrop?")
    assert (before.status, assistant.size) == ("refused", 5)
    build(sample_rows, root)
    after = assistant.ask("What is TokenDrop?")
    assert after.status == "answered"
    assert after.corpus != before.corpus
    assert after.corpus == assistant.corpus == json.loads(current(root).joinpath("manifest.json").read_text())["hash"]
    assert (assistant.size, len(assistant.papers())) == (37, 37)
    assert assistant.paper("icml2026-D8DUCALWYb") is not None


def current(root: Path) -> Path:
    return root / (root / "CURRENT").read_text().strip()


def spoil_manifest(folder: Path) -> None:
    (folder / "manifest.json").write_text("{")


def spoil_format(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "format": 99}))


def spoil_model(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "fingerprint": "another"}))


@pytest.mark.parametrize("spoil", [spoil_manifest, spoil_format, spoil_model, shutil.rmtree])
def test_the_old_one_answers_when_the_new_cannot_be_opened(
    spoil: Callable[[Path], None], build: Build, sample_rows: Rows, caplog: pytest.LogCaptureFixture
) -> None:
    root = build(sample_rows)
    assistant = opened(root)
    corpus = assistant.corpus
    (root / "gen-new").mkdir()
    shutil.copytree(current(root), root / "gen-new", dirs_exist_ok=True)
    spoil(root / "gen-new")
    (root / "CURRENT").write_text("gen-new\n")
    with caplog.at_level(logging.ERROR, "paperchat"):
        for _ in range(3):
            answer = assistant.ask("What is TokenDrop?")
            assert (answer.status, answer.corpus) == ("answered", corpus)
    (line,) = [record.getMessage() for record in caplog.records if record.name == "paperchat"]
    assert corpus in line
    whole = current(build(sample_rows[:9]))
    shutil.copytree(whole, root / whole.name)
    (root / "CURRENT").write_text(f"{whole.name}\n")
    assert assistant.size == 9


@pytest.mark.parametrize("text", ["garbage", None])
def test_it_answers_also_when_current_is_lost(text: str | None, build: Build, sample_rows: Rows) -> None:
    root = build(sample_rows)
    assistant = opened(root)
    (root / "CURRENT").unlink()
    if text is not None:
        (root / "CURRENT").write_text(text)
    assert assistant.ask("What is TokenDrop?").status == "answered"


def asked(question: str) -> Asked:
    return Asked(question, (), Conditions(), 30, time.perf_counter())


def test_a_question_under_way_is_answered_from_where_it_began(build: Build, sample_rows: Rows) -> None:
    root = build(sample_rows[:20])
    assistant = opened(root)
    under_way, corpus = assistant.chain(), assistant.corpus
    build(sample_rows, root)
    assert assistant.size == 37
    assert under_way.invoke(asked("What is TokenDrop?")).corpus == corpus


def test_so_it_is_when_the_index_changes_twice_meanwhile(build: Build, sample_rows: Rows) -> None:
    root = build(sample_rows[:20])
    assistant = opened(root)
    under_way = assistant.chain()
    for count in (25, 37):
        build(sample_rows[:count], root)
        assert assistant.size == count
    assert under_way.invoke(asked("What is TokenDrop?")).status


def test_many_threads_get_their_own_answers_while_the_index_changes(
    build: Build, sample_rows: Rows, check: Any
) -> None:
    root = build(sample_rows[:30])
    assistant = opened(root)
    names = ["UrbanFusion", "QuantumBoost", "CARE", "MILD", "PISA", "LLEP", "CAMEL", "KnowBias"]
    done = threading.Event()

    def ask_until_done(name: str) -> list[tuple[str, str]]:
        told = []
        while not done.is_set() or not told:
            answer = assistant.ask(f"What is {name}?")
            assert answer.question == f"What is {name}?"
            assert name in answer.text or answer.refusal
            told.append((answer.status, answer.corpus))
        return told

    with ThreadPoolExecutor(len(names)) as pool:
        running = [pool.submit(ask_until_done, name) for name in names]
        build(sample_rows, root)
        done.set()
        told = [run.result() for run in running]
    assert assistant.size == 37
    assert {corpus for answers in told for _, corpus in answers} <= {assistant.corpus, told[0][0][1]}


# Opening


def test_opening_says_what_is_missing(tmp_path: Path, hashing_root: Path) -> None:
    with pytest.raises(NoIndex, match="paperchat ingest"):
        open_assistant(Settings(index_dir=tmp_path, embedder="hashing"))
    with pytest.raises(ModelUnusable):
        open_assistant(Settings(index_dir=hashing_root, embedder="no-such-model"))
    with pytest.raises(OtherModel, match="--rebuild"):
        open_assistant(Settings(index_dir=hashing_root, embedder="minilm"))
    assert open_assistant(Settings(index_dir=hashing_root, embedder="hashing")).size == 37


def test_papers_are_known_by_id_alias_and_address(cheap: Assistant) -> None:
    for name in ("icml2026-D8DUCALWYb", "openreview:D8DUCALWYb", "https://openreview.net/forum?id=D8DUCALWYb"):
        paper = cheap.paper(name)
        assert paper is not None
        assert paper.id == "icml2026-D8DUCALWYb"
    assert cheap.paper("nobody") is None


def test_it_is_a_runnable_of_named_steps(cheap: Assistant) -> None:
    chain = cheap.chain()
    assert isinstance(chain, Runnable)
    steps = list(chain.stream(asked("What is TokenDrop?")))
    assert steps[-1].papers[0].label.startswith("TokenDrop")


def test_the_time_told_is_the_time_taken(cheap: Assistant) -> None:
    started = time.perf_counter()
    told = cheap.ask("What is TokenDrop?").timings_ms
    taken = 1000 * (time.perf_counter() - started)
    assert all(value >= 0 for value in told.values())
    assert told["total"] <= taken
    assert sum(told[stage] for stage in ("embed", "search", "write")) == pytest.approx(told["total"], abs=0.1)
