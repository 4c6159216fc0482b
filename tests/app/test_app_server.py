"""REST: what each address answers, what it refuses, and the states before an index can be asked."""

import json
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from httpx import Response
from starlette.testclient import TestClient

from app.answer import Answer
from app.assistant import Assistant
from app.engine import Engine
from app.guard import LARGEST_BODY, LOOPBACK
from app.server import create_server
from app.settings import Settings
from vectorstore.errors import OtherModel
from vectorstore.lock import writing

HOME = "http://127.0.0.1:7860"


def engine_of(root: Path) -> Engine:
    return Engine(Settings(index_dir=root, embedder="hashing"))


def wait_for_outcome(engine: Engine) -> None:
    """Until there is an assistant or a reason why not, also where the index is mended first."""
    end = time.monotonic() + 30
    while engine.assistant is None and engine.failure is None and time.monotonic() < end:
        time.sleep(0.05)


def client_of(engine: Engine, *hosts: str) -> TestClient:
    return TestClient(create_server(engine, LOOPBACK | frozenset(hosts)), base_url=HOME, raise_server_exceptions=False)


@pytest.fixture(scope="module")
def engine(hashing_root: Path) -> Iterator[Engine]:
    engine = engine_of(hashing_root)
    engine.start()
    engine.wait(30)
    yield engine
    engine.stop()


@pytest.fixture(scope="module")
def client(engine: Engine) -> TestClient:
    return client_of(engine)


def refused(response: Response, status: int) -> str:
    """The detail of a problem (RFC 9457)."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert problem.keys() == {"type", "title", "status", "detail"}
    assert problem["status"] == status
    assert problem["title"]
    assert problem["detail"]
    assert "Traceback" not in response.text
    return str(problem["detail"])


# Asking


def test_ask_returns_an_answer(client: TestClient, engine: Engine, check: Any) -> None:
    response = client.post("/api/ask", json={"question": "How much memory does TokenDrop save?", "k": 5})
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    assert isinstance(engine.assistant, Assistant)
    check(response.json(), engine.assistant)
    answer = Answer.model_validate_json(response.text)
    assert answer.papers[0].id == "icml2026-D8DUCALWYb"
    assert "42.9" in answer.sentences[0].evidence[0].quote
    assert len(answer.retrieved) == 5


def test_a_refusal_is_an_answer(client: TestClient) -> None:
    response = client.post("/api/ask", json={"question": "hello!"})
    assert response.status_code == 200
    assert response.json()["refusal"]["reason"] == "off_topic"
    assert len(response.json()["retrieved"]) == 30


@pytest.mark.parametrize(
    "turn",
    [
        {"content": "**TokenDrop** skips backward computations of tokens. [1]"},
        {"content": "See [1].", "papers": ["icml2026-D8DUCALWYb"]},
        {"content": "See [1].", "papers": ["openreview:D8DUCALWYb"]},
        {"content": "TokenDrop does. [1]", "papers": ["an-id-of-another-corpus"]},
    ],
)
def test_history_may_be_text_alone(turn: dict[str, Any], client: TestClient) -> None:
    history = [{"role": "user", "content": "Which one saves memory?"}, {"role": "assistant", **turn}]
    body = {"question": "what training speedup does it reach?", "history": history}
    answer = client.post("/api/ask", json=body).json()
    assert answer["papers"][0]["id"] == "icml2026-D8DUCALWYb"
    assert answer["question"] == body["question"]
    assert answer["standalone_question"] != body["question"]


def test_a_long_conversation_is_taken(client: TestClient) -> None:
    history = [{"role": role, "content": "word " * 20} for role in ("user", "assistant")] * 300
    response = client.post("/api/ask", json={"question": "What is TokenDrop?", "history": history})
    assert response.status_code == 200


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        ({}, 37),
        ({"year": 2026}, 37),
        ({"authors": ["Mehryar Mohri"]}, 1),
        ({"decision": "spotlight", "venue": "ICML"}, 1),
        ({"year": 1999}, 0),
    ],
)
def test_filters_are_kept_by_ask_and_search(filters: dict[str, Any], count: int, client: TestClient) -> None:
    body = {"question": "What do they propose?", "filters": filters, "k": 100}
    assert len(client.post("/api/ask", json=body).json()["retrieved"]) == count
    assert len(client.post("/api/search", json=body).json()["retrieved"]) == count


def test_search_ranks_papers(client: TestClient) -> None:
    response = client.post("/api/search", json={"question": "skipping tokens in the backward pass", "k": 3})
    assert response.status_code == 200
    found = response.json()
    assert found.keys() == {"retrieved", "papers"}
    assert [row["rank"] for row in found["retrieved"]] == [1, 2, 3]
    assert [row["id"] for row in found["retrieved"]] == [paper["id"] for paper in found["papers"]]
    assert found["papers"][0]["label"].startswith("TokenDrop")


@pytest.mark.parametrize("k", [1, 30, 37, 1000])
def test_search_returns_k_or_all(k: int, client: TestClient) -> None:
    assert len(client.post("/api/search", json={"question": "xyzzy", "k": k}).json()["retrieved"]) == min(k, 37)


@pytest.mark.parametrize(
    "name",
    [
        "icml2026-D8DUCALWYb",
        "openreview:D8DUCALWYb",
        "https%3A%2F%2Fopenreview.net%2Fforum%3Fid%3DD8DUCALWYb",
        "https://openreview.net/forum%3Fid=D8DUCALWYb",
    ],
)
def test_a_paper_by_its_id_an_alias_or_its_address(name: str, client: TestClient) -> None:
    response = client.get(f"/api/papers/{name}")
    assert response.status_code == 200
    paper = response.json()
    assert paper.keys() == {
        *("id", "title", "label", "abstract", "authors", "venue", "year", "url", "topic", "decision", "sources")
    }
    assert paper["id"] == "icml2026-D8DUCALWYb"
    assert paper["authors"] == ["Beomseok Kim", "Sol Namkung", "Dongsuk Jeon"]


def test_every_cited_paper_can_be_fetched_and_holds_the_quotes(client: TestClient) -> None:
    answer = client.post("/api/ask", json={"question": "Which papers are about mixture-of-experts?"}).json()
    assert len(answer["papers"]) > 1
    for sentence in answer["sentences"]:
        for quote in sentence["evidence"]:
            paper = client.get(f"/api/papers/{quote['paper_id']}").json()
            assert paper[quote["field"]][quote["start"] : quote["end"]] == quote["quote"]


def test_a_former_id_of_a_merged_paper_resolves(build: Callable[..., Path], sample_rows: list[dict[str, Any]]) -> None:
    row = sample_rows[0]
    root = build([{"id": "preprint-1", "title": row["title"], "authors": row["authors"], "abstract": row["abstract"]}])
    build([row], root)
    engine = engine_of(root)
    engine.start()
    engine.wait(30)
    client = client_of(engine)
    ids = {client.get(f"/api/papers/{name}").json()["id"] for name in ("preprint-1", row["id"])}
    assert len(ids) == 1
    engine.stop()


# Refusing


@pytest.mark.parametrize("name", ["nobody", "", "..%2F..%2Fetc%2Fpasswd", "%00", "%ff", "a/b/c", "x" * 3000])
def test_an_unknown_paper_is_404(name: str, client: TestClient) -> None:
    refused(client.get(f"/api/papers/{name}"), 404)


@pytest.mark.parametrize("path", ["/nowhere", "/api/nowhere", "/docs", "/redoc", "/api/papers.json"])
def test_an_unknown_address_is_404(path: str, client: TestClient) -> None:
    refused(client.get(path), 404)


@pytest.mark.parametrize(("method", "path"), [("GET", "/api/ask"), ("DELETE", "/api/papers/x"), ("PUT", "/api/health")])
def test_another_method_is_405(method: str, path: str, client: TestClient) -> None:
    refused(client.request(method, path), 405)


@pytest.mark.parametrize(
    ("body", "status", "word"),
    [
        ({}, 422, "question"),
        ({"question": None}, 422, "question"),
        ({"question": 5}, 422, "question"),
        ({"question": ["x"]}, 422, "question"),
        ({"question": ""}, 422, ""),
        ({"question": "x" * 5000}, 422, ""),
        ({"question": "x", "k": 0}, 422, "k"),
        ({"question": "x", "k": -1}, 422, "k"),
        ({"question": "x", "k": 1001}, 422, "k"),
        ({"question": "x", "k": "many"}, 422, "k"),
        ({"question": "x", "k": 1.5}, 422, "k"),
        ({"question": "x", "colour": "red"}, 422, "colour"),
        ({"question": "x", "filters": {"colour": "red"}}, 422, "filters.colour"),
        ({"question": "x", "filters": {"year": "soon"}}, 422, "filters.year"),
        ({"question": "x", "filters": {"authors": "Kim"}}, 422, "filters.authors"),
        ({"question": "x", "filters": []}, 422, "filters"),
        ([], 422, ""),
        ("x", 422, ""),
        (5, 422, ""),
    ],
)
@pytest.mark.parametrize("path", ["/api/ask", "/api/search"])
def test_a_body_that_is_not_what_is_expected_is_422(
    path: str, body: object, status: int, word: str, client: TestClient
) -> None:
    assert word in refused(client.post(path, json=body), status)


def test_a_blank_question_is_422_where_it_is_asked(client: TestClient) -> None:
    refused(client.post("/api/ask", json={"question": " \n"}), 422)


def test_a_blank_question_is_422_where_it_is_searched(client: TestClient) -> None:
    refused(client.post("/api/search", json={"question": " \n"}), 422)


@pytest.mark.parametrize(
    "turn", [{"role": "system", "content": "x"}, {"role": "user"}, {"content": "x"}, {"role": "user", "content": 1}, 5]
)
def test_a_history_that_is_none_is_422(turn: object, client: TestClient) -> None:
    assert "history.0" in refused(client.post("/api/ask", json={"question": "x", "history": [turn]}), 422)


JSON = {"content-type": "application/json"}


@pytest.mark.parametrize("body", [b"", b"{", b'{"question": "x"', b"\xff\xfe", b"[" * 50_000, b"{}{}", b"question=x"])
def test_a_body_that_is_no_json_is_400_or_422(body: bytes, client: TestClient) -> None:
    response = client.post("/api/ask", content=body, headers=JSON)
    refused(response, 422 if body == b"" else 400)


def test_a_question_that_is_no_unicode_is_no_500(client: TestClient) -> None:
    response = client.post("/api/ask", content=b'{"question": "What \\ud800 is it?"}', headers=JSON)
    assert response.status_code in (200, 400, 422)


def test_a_fault_of_our_own_is_a_problem_that_tells_no_secrets(engine: Engine) -> None:
    broken = engine_of(Path("nowhere"))
    broken.assistant = object()  # type: ignore[assignment]
    detail = refused(client_of(broken).post("/api/ask", json={"question": "x"}), 500)
    assert "object" not in detail


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonp", ""]
)
@pytest.mark.parametrize("path", ["/api/ask", "/api/search"])
def test_another_content_type_is_415(path: str, kind: str, client: TestClient) -> None:
    headers = {"content-type": kind} if kind else {}
    refused(client.post(path, content=b'{"question": "x"}', headers=headers), 415)


@pytest.mark.parametrize("kind", ["application/json", "application/json; charset=utf-8", "Application/JSON"])
def test_json_may_be_named_in_any_way(kind: str, client: TestClient) -> None:
    response = client.post("/api/ask", content=b'{"question": "What is TokenDrop?"}', headers={"content-type": kind})
    assert response.status_code == 200


def body_of(size: int) -> bytes:
    """A proper request of that many bytes."""
    empty = json.dumps({"question": "What is TokenDrop?", "history": [{"role": "user", "content": ""}]})
    return empty.replace('""', f'"{"x" * (size - len(empty))}"').encode()


def test_a_body_up_to_the_limit_is_taken_and_a_byte_more_is_not(client: TestClient) -> None:
    assert len(body_of(LARGEST_BODY)) == LARGEST_BODY == 100_000
    assert client.post("/api/ask", content=body_of(LARGEST_BODY), headers=JSON).status_code == 200
    refused(client.post("/api/ask", content=body_of(LARGEST_BODY + 1), headers=JSON), 413)
    refused(client.post("/api/ask", content=body_of(200_000), headers=JSON), 413)


def test_so_it_is_when_the_length_is_not_told(client: TestClient) -> None:
    def pieces(size: int) -> Iterator[bytes]:
        body = body_of(size)
        yield from (body[at : at + 4096] for at in range(0, size, 4096))

    assert client.post("/api/ask", content=pieces(90_000), headers=JSON).status_code == 200
    refused(client.post("/api/ask", content=pieces(200_000), headers=JSON), 413)


@pytest.mark.parametrize("length", ["-1", "many", "1e3", "9" * 30])
def test_a_length_that_is_none_is_413(length: str, client: TestClient) -> None:
    refused(client.post("/api/ask", content=b"{}", headers={**JSON, "content-length": length}), 413)


# Hosts and origins


@pytest.mark.parametrize("host", ["127.0.0.1:7860", "localhost:7860", "localhost", "[::1]:7860", "LOCALHOST"])
def test_it_answers_to_its_own_names(host: str, client: TestClient) -> None:
    assert client.get("/api/health", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "127.0.0.1@evil.example", "", "[::1"]
)
@pytest.mark.parametrize("path", ["/api/health", "/", "/openapi.json"])
def test_it_answers_to_no_other(host: str, path: str, client: TestClient) -> None:
    refused(client.get(path, headers={"host": host}), 421)


def test_it_answers_to_names_that_the_settings_allow(engine: Engine) -> None:
    client = client_of(engine, "papers.example")
    assert client.get("/api/health", headers={"host": "papers.example"}).status_code == 200
    headers = {"host": "papers.example", "origin": "https://papers.example"}
    assert client.get("/api/health", headers=headers).status_code == 200
    refused(client.get("/api/health", headers={**headers, "origin": "https://evil.example"}), 403)


@pytest.mark.parametrize(
    "origin",
    [
        *("http://evil.example", "https://evil.example:7860", "null", "file://", "http://127.0.0.1:9999"),
        *("http://127.0.0.1:7860.evil.example", "http://evil.example#127.0.0.1:7860", ""),
    ],
)
def test_pages_elsewhere_are_refused(origin: str, client: TestClient) -> None:
    for request in (("GET", "/api/health"), ("POST", "/api/ask"), ("GET", "/")):
        refused(client.request(*request, headers={"origin": origin, **JSON}, content=b"{}"), 403)


def test_its_own_page_is_not(client: TestClient) -> None:
    assert client.get("/api/health", headers={"origin": HOME}).status_code == 200


def test_nobody_is_allowed_across_origins(client: TestClient) -> None:
    response = client.options("/api/ask", headers={"origin": "http://evil.example"})
    assert response.status_code == 403
    assert not [name for name in client.get("/api/health").headers if name.startswith("access-control")]


# States


def test_health_is_ready_when_a_question_can_be_answered(client: TestClient, cheap: Assistant) -> None:
    response = client.get("/api/health")
    assert response.status_code == 200
    assert response.json() == {"status": "ready", "corpus": cheap.corpus, "papers": 37, "model": "hashing-256-v1"}


def not_ready(client: TestClient, status: str) -> None:
    response = client.get("/api/health")
    assert (response.status_code, response.json()["status"]) == (503, status)
    for request in (("/api/ask", {"question": "x"}), ("/api/search", {"question": "x"})):
        assert status in refused(client.post(request[0], json=request[1]), 503)
    refused(client.get("/api/papers/x"), 503)


def test_before_the_model_is_loaded_it_is_starting(hashing_root: Path) -> None:
    not_ready(client_of(engine_of(hashing_root)), "starting")


def test_without_an_index_it_is_empty_then_indexing_then_ready(
    tmp_path: Path, build: Callable[..., Path], sample_rows: list[dict[str, Any]]
) -> None:
    root = tmp_path / "index"
    engine = engine_of(root)
    client = client_of(engine)
    engine.start()
    engine.wait(10)
    not_ready(client, "empty")
    with writing(root):
        not_ready(client, "indexing")
    build(sample_rows[:3], root)
    engine.wait(10)
    response = client.get("/api/health")
    assert (response.status_code, response.json()["papers"]) == (200, 3)
    assert client.post("/api/ask", json={"question": "What is Global PSRO?"}).json()["status"] == "answered"
    engine.stop()


def test_an_index_without_papers_is_empty_and_refuses(empty_root: Path) -> None:
    engine = engine_of(empty_root)
    engine.start()
    engine.wait(10)
    client = client_of(engine)
    response = client.get("/api/health")
    assert (response.status_code, response.json()["status"]) == (503, "empty")
    answer = client.post("/api/ask", json={"question": "What is TokenDrop?"}).json()
    assert answer["refusal"]["reason"] == "empty_corpus"
    engine.stop()


def test_health_tells_a_status_also_when_the_index_was_taken_away(index: Path) -> None:
    engine = engine_of(index)
    engine.start()
    engine.wait(10)
    client = client_of(engine)
    assert client.get("/api/health").status_code == 200
    (index / "CURRENT").unlink()
    response = client.get("/api/health")
    assert response.status_code in (200, 503)
    assert response.json()["status"] in ("ready", "starting", "indexing", "empty")
    engine.stop()


def test_what_no_waiting_can_mend_is_said_at_once(hashing_root: Path, index: Path) -> None:
    with pytest.raises(OtherModel):
        Engine(Settings(index_dir=hashing_root, embedder="minilm"))


def test_a_damaged_index_is_made_whole_while_the_server_starts(index: Path) -> None:
    corpus = (index / "CURRENT").read_text().strip().removeprefix("gen-")
    (index / "CURRENT").write_text("nonsense")
    engine = engine_of(index)
    engine.start()
    wait_for_outcome(engine)
    health = client_of(engine).get("/api/health")
    assert (health.status_code, health.json()["papers"], health.json()["corpus"]) == (200, 37, corpus)
    engine.stop()


def test_a_damaged_index_that_cannot_be_mended_is_one_line_and_no_corpus(index: Path) -> None:
    shutil.rmtree(index / (index / "CURRENT").read_text().strip())
    for kept in index.glob("records-*"):
        kept.write_bytes(b"garbage")
    engine = engine_of(index)
    engine.start()
    wait_for_outcome(engine)
    assert engine.assistant is None
    assert "it could not be built again" in str(engine.failure)
    assert "\n" not in str(engine.failure)
    assert client_of(engine).get("/api/health").json()["papers"] == 0
    engine.stop()


def test_looking_at_the_state_does_not_lock_writers_out(tmp_path: Path) -> None:
    """Somebody polls /api/health of a server without an index, as a container's health check does."""
    engine, looking = engine_of(tmp_path), threading.Event()

    def look() -> None:
        while not looking.is_set():
            engine.state()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(look)
        end = time.monotonic() + 2
        try:
            while time.monotonic() < end:
                with writing(tmp_path):
                    pass
        finally:
            looking.set()


def test_two_who_ask_at_once_get_their_own_answers(client: TestClient) -> None:
    names = {"UrbanFusion": "C0NCLB6ZGY", "QuantumBoost": "COjmyds8zz", "CAMEL": "DDtL4VOUcT", "CARE": "Csmrtng6PP"}

    def ask(name: str) -> tuple[str, str]:
        answer = client.post("/api/ask", json={"question": f"What is {name}?"}).json()
        return answer["question"], answer["papers"][0]["id"]

    with ThreadPoolExecutor(8) as pool:
        asked = list(names) * 8
        told = list(pool.map(ask, asked))
    assert told == [(f"What is {name}?", f"icml2026-{names[name]}") for name in asked]
