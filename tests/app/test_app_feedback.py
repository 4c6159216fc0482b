"""What people say of answers: the file it goes to, the address it comes in by, the buttons on the page."""

import errno
import fcntl
import html
import json
import logging
import os
import re
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from app import feedback as module
from app.answer import Answer, CitedPaper, PaperCard, Quote, Refusal, Sentence, Turn
from app.doctor import examine
from app.engine import Engine
from app.errors import FeedbackUnusable, NotNoted
from app.feedback import FeedbackFile, Noted, note, read_line, to_line
from app.guard import LARGER_BODIES, LOOPBACK
from app.page_feedback import feedback_html
from app.page_kept import Exchange, read_kept, write_kept
from app.page_stream import answering, past_html
from app.server import create_server
from app.settings import Settings, read_settings
from vectorstore.paper import Paper

HOME = "http://127.0.0.1:7860"
KEYS = {
    *("time", "kind", "question", "standalone_question", "status", "route", "cited", "quotes", "text", "corpus"),
    *("model", "comment"),
}
# As a browser or a client may send it: with halves of emoji, line ends of every kind, NUL.
texts = st.text(st.characters() | st.sampled_from('\n\r\x00\x0b\x1c\x85\u2028\u2029\ud800\udfff"\\'), max_size=40)


def answered(question: str = "q", text: str = "It is. [1]", **fields: Any) -> Answer:
    paper = Paper(id="p1", title="On x", abstract="It is.")
    quote = Quote(paper_id="p1", start=0, end=6, quote="It is.")
    made = {
        "question": question, "standalone_question": question, "status": "answered", "route": "fact", "text": text,
        "sentences": (Sentence(text="It is.", citations=(1,), evidence=(quote,)),),
        "papers": (CitedPaper.cited(1, paper),), "corpus": "c0ffee",
    }  # fmt: skip
    return Answer(**{**made, **fields})


def refused() -> Answer:
    return answered(
        sentences=(), papers=(), status="refused", refusal=Refusal(reason="off_topic", message="No."), text="No."
    )


def noted(**fields: Any) -> Noted:
    return note("unhelpful", answered(**fields), (), "model-1")


def lines(path: Path) -> list[Noted]:
    return [read_line(line) for line in path.read_bytes().splitlines()]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "feedback.jsonl"


# What a line holds


def test_a_line_says_what_was_asked_answered_and_shown_and_nothing_else() -> None:
    now = datetime(2026, 5, 1, 14, 3, 9, 123456, timezone(timedelta(hours=2)))
    line = json.loads(to_line(note("wrong_paper", answered("why?"), (), "model-1", "not that one", now)))
    assert line.keys() == KEYS
    assert line["time"] == "2026-05-01T12:03:09Z"
    assert (line["kind"], line["question"], line["comment"]) == ("wrong_paper", "why?", "not that one")
    assert (line["cited"], line["corpus"], line["model"]) == (["p1"], "c0ffee", "model-1")
    assert line["quotes"] == [{"paper_id": "p1", "field": "abstract", "start": 0, "end": 6, "quote": "It is."}]


def test_the_turns_before_a_question_are_kept_the_last_of_them() -> None:
    turns = [Turn(role="user" if n % 2 == 0 else "assistant", content=str(n)) for n in range(50)]
    kept = read_line(to_line(note("unhelpful", answered(), turns, "m"))).history
    assert [turn.content for turn in kept] == [str(n) for n in range(40, 50)]


def as_json_knows_it(text: str) -> str:
    """Two halves of an emoji side by side are that emoji; everything else is itself."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def joined(text: str) -> str:
    return re.sub("[\ud800-\udbff][\udc00-\udfff]", lambda pair: as_json_knows_it(pair[0]), text)


@given(texts, texts, texts, st.lists(texts, max_size=3))
def test_whatever_was_asked_and_answered_is_read_back_the_same_one_line_an_item(
    question: str, text: str, comment: str, before: list[str]
) -> None:
    turns = [Turn(role="user", content=content) for content in before]
    with tempfile.TemporaryDirectory() as folder:
        file = FeedbackFile(Path(folder) / "f.jsonl")
        items = [note(kind, answered(question, text), turns, "m", comment) for kind in ("unhelpful", "wrong_paper")]
        for item in items:
            file.append(item)
        stored = (Path(folder) / "f.jsonl").read_bytes()
    assert stored.isascii()
    assert stored.count(b"\n") == len(items) == len(stored.splitlines())
    for line, item in zip(stored.split(b"\n"), items, strict=False):
        back = read_line(line)
        assert (back.question, back.text, back.comment) == (joined(question), joined(text), joined(comment))
        assert [turn.content for turn in back.history] == [joined(content) for content in before]
        assert (back.kind, back.time, back.quotes) == (item.kind, item.time, item.quotes)


@pytest.mark.parametrize(
    "line",
    [b"", b"{", b"[]", b"17", b"\xff\xfe", b'{"time": 1}', b"[" * 100_000, to_line(noted())[:80], b'{"colour": 1}'],
)
def test_a_line_that_is_none_is_told_in_one_line(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"\A.+\Z"):
        read_line(line)


# Whose file it is


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o277])
def test_the_file_is_its_owners_alone_whatever_the_umask(path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        FeedbackFile(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("mode", [0o644, 0o660, 0o604, 0o601])
def test_a_file_that_others_have_rights_to_is_refused_and_left_as_it_is(path: Path, mode: int) -> None:
    path.write_text("mine\n")
    path.chmod(mode)
    with pytest.raises(FeedbackUnusable, match=rf"mode {mode:04o}\). Run `chmod 600 "):
        FeedbackFile(path)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.read_text() == "mine\n"


def test_so_is_what_is_no_ordinary_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    own = tmp_path / "own"
    own.touch(0o600)
    for name, target in (("link", own), ("loose", tmp_path / "nowhere")):
        (tmp_path / name).symlink_to(target)
    for name in (".", "pipe", "link", "loose", "none/f.jsonl", "own/f.jsonl"):
        with pytest.raises(FeedbackUnusable) as caught:
            FeedbackFile(tmp_path / name)
        assert "\n" not in str(caught.value)
    assert not (tmp_path / "nowhere").exists()


def test_a_file_made_readable_while_the_server_runs_takes_no_more(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = FeedbackFile(path)
    path.chmod(0o644)
    for _ in range(3):
        with pytest.raises(NotNoted) as caught:
            file.append(noted())
        assert str(path) not in str(caught.value)
    assert [str(path) in record.message for record in caplog.records] == [True]
    assert path.read_bytes() == b""


# Whole lines


def test_a_file_that_is_moved_away_is_begun_anew(path: Path) -> None:
    file = FeedbackFile(path)
    file.append(noted(question="one"))
    path.rename(path.with_suffix(".old"))
    file.append(noted(question="two"))
    assert [item.question for item in lines(path)] == ["two"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_is_there_stays_there(path: Path) -> None:
    FeedbackFile(path).append(noted(question="one"))
    FeedbackFile(path).append(noted(question="two"))
    assert [item.question for item in lines(path)] == ["one", "two"]


def test_a_path_means_the_same_file_wherever_the_process_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = FeedbackFile(Path("f.jsonl"))
    monkeypatch.chdir("/")
    file.append(noted())
    assert len(lines(tmp_path / "f.jsonl")) == 1


def test_lines_are_whole_with_many_threads_and_processes(path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from app.feedback import FeedbackFile, read_line\n"
        "file, item = FeedbackFile(Path(sys.argv[1])), read_line(sys.stdin.buffer.read())\n"
        "for _ in range(40): file.append(item)"
    )
    long = noted(text="x" * 20_000)
    others = [
        subprocess.Popen([sys.executable, "-c", program, str(path)], stdin=subprocess.PIPE, text=False)
        for _ in range(3)
    ]
    for other in others:
        assert other.stdin
        other.stdin.write(to_line(long))
        other.stdin.close()
    file = FeedbackFile(path)
    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(file.append, long) for _ in range(80)]:
            done.result()
    assert [other.wait(60) for other in others] == [0, 0, 0]
    found = lines(path)
    assert len(found) == 3 * 40 + 80
    assert set(found) == {long}


def test_a_line_that_was_cut_off_spoils_no_other(path: Path) -> None:
    file = FeedbackFile(path)
    file.append(noted(question="one"))
    with path.open("ab") as torn:
        torn.write(b'{"time": "2026')
    file.append(noted(question="two"))
    first, broken, second = path.read_bytes().splitlines()
    assert (read_line(first).question, read_line(second).question) == ("one", "two")
    assert broken == b'{"time": "2026'


def test_a_full_disk_leaves_the_file_as_it_was(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = FeedbackFile(path)
    file.append(noted(question="one"))
    before = path.read_bytes()
    write = os.write

    def short(to: int, data: bytes) -> int:
        return write(to, data[:50])

    def none(to: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for full in (short, none):
        monkeypatch.setattr(module.os, "write", full)
        with pytest.raises(NotNoted, match="no space left on device"):
            file.append(noted(question="two"))
        assert path.read_bytes() == before
    monkeypatch.undo()
    file.append(noted(question="three"))
    assert [item.question for item in lines(path)] == ["one", "three"]


def test_a_device_without_space_is_told() -> None:
    full = os.open("/dev/full", os.O_RDWR)
    with pytest.raises(OSError, match="No space"):
        module._append(full, b"x\n", 100)
    os.close(full)


def test_a_file_takes_up_to_its_limit_and_says_so(path: Path) -> None:
    item = noted()
    size = len(to_line(item))
    file = FeedbackFile(path, largest=2 * size)
    file.append(item)
    file.append(item)
    with pytest.raises(NotNoted, match="is full"):
        file.append(item)
    assert path.stat().st_size == 2 * size
    path.rename(path.with_suffix(".old"))
    file.append(item)


def test_nobody_waits_for_ever_for_a_file_that_is_held(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PATIENCE", 0.05)
    file = FeedbackFile(path)
    with path.open("ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(NotNoted, match="another process holds"):
            file.append(noted())
    file.append(noted())
    assert len(lines(path)) == 1


# The setting, doctor and the server's start


def test_it_is_off_unless_a_file_is_named(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    monkeypatch.delenv("PAPERCHAT_FEEDBACK_FILE", raising=False)
    assert read_settings().feedback_file is None
    monkeypatch.setenv("PAPERCHAT_FEEDBACK_FILE", "")
    assert read_settings().feedback_file is None
    monkeypatch.setenv("PAPERCHAT_FEEDBACK_FILE", str(path))
    assert read_settings().feedback_file == path


def finding(path: Path | None, root: Path) -> tuple[bool, str]:
    found = examine(Settings(index_dir=root, embedder="hashing", feedback_file=path))[-1]
    return found.ok, found.text


def test_doctor_tells_where_feedback_goes_and_makes_no_file(path: Path, hashing_root: Path) -> None:
    assert finding(None, hashing_root) == (True, "feedback is off (PAPERCHAT_FEEDBACK_FILE names no file)")
    assert finding(path, hashing_root) == (True, f"feedback is kept in {path}, 0 of at most 50,000,000 bytes")
    assert not path.exists()
    FeedbackFile(path)
    os.truncate(path, 50_000_000)
    ok, text = finding(path, hashing_root)
    assert not ok
    assert "takes no more" in text
    path.chmod(0o640)
    ok, text = finding(path, hashing_root)
    assert not ok
    assert f"chmod 600 {path}" in text


@pytest.mark.parametrize("name", ["none/f.jsonl", ".", "link"])
def test_doctor_finds_what_the_start_would_refuse(name: str, tmp_path: Path, hashing_root: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "f.jsonl")
    ok, text = finding(tmp_path / name, hashing_root)
    assert not ok
    assert "PAPERCHAT_FEEDBACK_FILE" in text
    with pytest.raises(FeedbackUnusable):
        FeedbackFile(tmp_path / name)


def test_a_server_does_not_start_with_a_file_that_others_read(
    path: Path, paperchat: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    path.touch(0o600)
    path.chmod(0o644)
    monkeypatch.setenv("PAPERCHAT_FEEDBACK_FILE", str(path))
    code, out, err = paperchat("serve")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "chmod 600" in err


# REST


@pytest.fixture(scope="module")
def engine(hashing_root: Path) -> Iterator[Engine]:
    engine = Engine(Settings(index_dir=hashing_root, embedder="hashing"))
    engine.start()
    engine.wait(30)
    yield engine
    engine.stop()


@pytest.fixture
def client(engine: Engine, path: Path) -> TestClient:
    server = create_server(engine, LOOPBACK, feedback=FeedbackFile(path))
    return TestClient(server, base_url=HOME, raise_server_exceptions=False)


def asked(client: TestClient, question: str = "What is QuantumBoost?", **more: Any) -> dict[str, Any]:
    return dict(client.post("/api/ask", json={"question": question, **more}).json())


def test_an_answer_goes_back_as_it_came_and_is_kept(client: TestClient, path: Path, engine: Engine) -> None:
    for question in ("What is QuantumBoost?", "hello!", "Which papers are about mixture of experts models?"):
        answer = asked(client, question, k=1000)
        response = client.post("/api/feedback", json={"kind": "wrong_paper", "answer": answer, "comment": "no"})
        assert (response.status_code, response.json()) == (201, {"noted": True})
        item = lines(path)[-1]
        assert (item.question, item.text, item.comment) == (question, answer["text"], "no")
        assert list(item.cited) == [paper["id"] for paper in answer["papers"]]
        shown = [quote for sentence in answer["sentences"] for quote in sentence["evidence"]]
        assert [quote.model_dump() for quote in item.quotes] == shown
        assert (item.corpus, item.model) == (answer["corpus"], engine.state().model)
        assert abs(datetime.fromisoformat(item.time) - datetime.now(UTC)) < timedelta(minutes=5)


def test_nothing_of_the_person_is_kept(client: TestClient, path: Path) -> None:
    headers = {"user-agent": "Browser/7", "x-forwarded-for": "203.0.113.9", "cookie": "who=ann", "referer": HOME}
    client.post("/api/feedback", json={"kind": "unhelpful", "answer": asked(client)}, headers=headers)
    (line,) = path.read_bytes().splitlines()
    assert json.loads(line).keys() == KEYS
    for told in (b"Browser", b"203.0.113.9", b"who=ann", b"testclient", b"127.0.0.1"):
        assert told not in line


def test_the_turns_before_come_with_it_where_a_client_sends_them(client: TestClient, path: Path) -> None:
    history = [
        {"role": "user", "content": "What is TokenDrop?"},
        {"role": "assistant", "content": "See [1].", "papers": ["icml2026-D8DUCALWYb"]},
    ]
    answer = asked(client, "How fast is it?", history=history)
    client.post("/api/feedback", json={"kind": "unhelpful", "answer": answer, "history": history})
    (item,) = lines(path)
    assert [turn.content for turn in item.history] == ["What is TokenDrop?", "See [1]."]
    assert item.standalone_question != item.question


def problem(response: Any, status: int) -> str:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    return str(response.json()["detail"])


def test_switched_off_there_is_no_such_address(engine: Engine) -> None:
    client = TestClient(create_server(engine, LOOPBACK), base_url=HOME, raise_server_exceptions=False)
    problem(client.post("/api/feedback", json={"kind": "unhelpful", "answer": asked(client)}), 404)
    problem(client.get("/api/feedback"), 404)
    assert "/api/feedback" not in client.get("/openapi.json").json()["paths"]


def test_what_is_no_feedback_is_refused_and_not_kept(client: TestClient, path: Path) -> None:
    answer = asked(client)
    good = {"kind": "unhelpful", "answer": answer}
    for change, word in (
        ({"kind": "great"}, "kind"),
        ({"kind": None}, "kind"),
        ({"answer": "It is."}, "answer"),
        ({"answer": {**answer, "papers": []}}, "answer"),
        ({"answer": {**answer, "colour": 1}}, "answer.colour"),
        ({"comment": "x" * 2001}, "comment"),
        ({"comment": 5}, "comment"),
        ({"history": [{"role": "system", "content": "x"}]}, "history.0"),
        ({"address": "203.0.113.9"}, "address"),
    ):
        assert word in problem(client.post("/api/feedback", json={**good, **change}), 422)
    problem(client.get("/api/feedback"), 405)
    problem(client.post("/api/feedback", content=b"{}", headers={"content-type": "text/plain"}), 415)
    problem(client.post("/api/feedback", json=good, headers={"origin": "http://evil.example"}), 403)
    problem(client.post("/api/feedback", json=good, headers={"host": "evil.example"}), 421)
    assert path.read_bytes() == b""
    assert client.post("/api/feedback", json=good, headers={"origin": HOME}).status_code == 201


def test_a_body_up_to_its_limit_is_taken_and_a_byte_more_is_not(client: TestClient, path: Path) -> None:
    largest = LARGER_BODIES["/api/feedback"]
    body = {"kind": "unhelpful", "answer": asked(client), "history": [{"role": "user", "content": ""}]}
    empty = json.dumps(body)
    for more, status in ((0, 201), (1, 413)):
        content = empty.replace('"content": ""', f'"content": "{"x" * (largest - len(empty) + more)}"').encode()
        assert len(content) == largest + more
        sent = client.post("/api/feedback", content=content, headers={"content-type": "application/json"})
        assert sent.status_code == status
    assert len(lines(path)) == 1


@pytest.mark.parametrize("stray", ["\\ud800", "\\u0000", "\\u2028", "\\udfff\\ud800"])
def test_half_an_emoji_and_a_nul_harm_nothing(stray: str, client: TestClient, path: Path) -> None:
    answer = {**asked(client), "question": "STRAY", "text": "STRAY", "lead": {"text": "STRAY"}}
    body = json.dumps({"kind": "unhelpful", "answer": answer, "history": [{"role": "user", "content": "STRAY"}]})
    sent = client.post(
        "/api/feedback", content=body.replace("STRAY", stray).encode(), headers={"content-type": "application/json"}
    )
    assert sent.status_code == 201
    (item,) = lines(path)
    assert item.question == item.text == item.history[0].content == json.loads(f'"{stray}"')


def test_what_could_not_be_noted_is_507_and_tells_no_path(
    client: TestClient, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR)
    answer = asked(client)
    path.unlink()
    path.mkdir()
    detail = problem(client.post("/api/feedback", json={"kind": "unhelpful", "answer": answer}), 507)
    assert detail.startswith("could not be noted: ")
    assert str(path) not in detail
    assert str(path) in caplog.text
    assert asked(client)["status"] == "answered"


def test_feedback_needs_no_index(tmp_path: Path, path: Path) -> None:
    engine = Engine(Settings(index_dir=tmp_path / "none", embedder="hashing"))
    client = TestClient(create_server(engine, LOOPBACK, feedback=FeedbackFile(path)), base_url=HOME)
    sent = client.post("/api/feedback", json={"kind": "unhelpful", "answer": answered().model_dump(mode="json")})
    assert sent.status_code == 201
    assert lines(path)[0].model == ""


# The page


def sent_in(shown: str) -> dict[str, Any]:
    found = re.search(r'<pre hidden class="sent">(.*?)</pre>', shown)
    assert found
    return dict(json.loads(html.unescape(found[1])))


def test_there_are_no_buttons_unless_they_are_asked_for(cheap: Any) -> None:
    *_, last = answering((), "What is QuantumBoost?", cheap)
    assert "feedback" not in last.turn
    assert "feedback" not in past_html(last.kept or (), cheap)[0]


def test_under_an_answer_and_no_earlier_there_are_two(cheap: Any) -> None:
    *before, last = answering((), "What is QuantumBoost?", cheap, under=feedback_html)
    assert not any("feedback" in step.turn for step in before)
    assert re.findall(r'data-kind="(\w+)"', last.turn) == ["unhelpful", "wrong_paper"]
    assert "a file of this server’s owner" in last.turn
    *_, failed = answering((), "x" * 5000, cheap, under=feedback_html)
    assert "feedback" not in failed.turn
    assert "feedback" not in past_html((Exchange(question="stopped"),), cheap, feedback_html)[0]


def test_a_paper_can_be_wrong_only_where_there_is_one() -> None:
    assert re.findall(r'data-kind="(\w+)"', feedback_html(0, refused())) == ["unhelpful"]
    nearest = refused().model_copy(update={"nearest": (PaperCard.of(Paper(id="p1", title="On x")),)})
    assert len(re.findall(r"data-kind=", feedback_html(0, nearest))) == 2


def test_the_same_answer_has_the_same_key_live_and_after_a_reload(cheap: Any) -> None:
    *_, live = answering((), "What is QuantumBoost?", cheap, under=feedback_html)
    kept = read_kept(write_kept(live.kept or ()))
    past, _ = past_html(kept, cheap, feedback_html)
    keys = [re.findall(r'data-key="(\w+)"', shown) for shown in (live.turn, past)]
    assert keys[0] == keys[1] != []
    assert sent_in(live.turn) == sent_in(past)
    Answer.model_validate(sent_in(past))
    assert re.search(r'data-key="(\w+)"', feedback_html(0, answered("other")))[1] != keys[0][0]  # type: ignore[index]


def test_that_a_question_was_asked_alone_is_kept_with_it(cheap: Any) -> None:
    *_, live = answering((), "What is QuantumBoost?", cheap, True, feedback_html)
    assert " data-alone" in live.turn
    past, _ = past_html(read_kept(write_kept(live.kept or ())), cheap, feedback_html)
    assert " data-alone" in past


@given(texts)
def test_an_answer_on_the_page_holds_no_mark_up_of_its_own(text: str) -> None:
    shown = feedback_html(0, answered(text, f"</pre><script>{text}", lead=None))
    assert "<script" not in shown
    assert shown.count("</pre>") == 1
    assert sent_in(shown)["question"] == joined(text)
