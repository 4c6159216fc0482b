"""Whose conversation it is, and how the page lives through what happens to the server and the index."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from vectorstore.lock import writing

Ask = Callable[[Page, str], None]


def test_two_browsers_never_mix(open_page, server, ask: Ask) -> None:
    one, other = open_page(server, locale="en-GB"), open_page(server, locale="de-DE")
    assert one.context is not other.context
    ask(one, "What is QuantumBoost?")
    ask(other, "What is TokenDrop?")
    ask(one, "Who wrote it?")
    ask(other, "Who wrote it?")
    expect(one.locator("#live .read-as")).to_contain_text("QuantumBoost")
    expect(other.locator("#live .read-as")).to_contain_text("TokenDrop")
    assert "TokenDrop" not in one.locator("#room").inner_text()
    assert "QuantumBoost" not in other.locator("#room").inner_text()


def test_nor_do_two_tabs(open_page, server, ask: Ask) -> None:
    one = open_page(server)
    ask(one, "What is QuantumBoost?")
    other = open_page(server)
    assert one.context is other.context
    expect(other.locator(".welcome")).to_be_visible()
    ask(other, "What is TokenDrop?")
    one.reload()
    expect(one.locator(".question")).to_have_text("What is QuantumBoost?")


def test_a_reload_keeps_the_conversation_with_its_evidence(open_page, server, ask: Ask) -> None:
    page = open_page(server)
    ask(page, "What is QuantumBoost?")
    ask(page, "What datasets does QuokkaNet use on its own, and on which other data was that tested?")
    before = page.locator("#log").inner_text() + "\n" + page.locator("#live").inner_text()
    page.reload()
    page.wait_for_selector("#log .turn")
    assert page.locator("#log .turn").count() == 2
    buttons = ("Show", "1", "paper")  # the way to the cards of an answer whose cards are not beside it
    kept = [word for word in page.locator("#log").inner_text().split() if word not in buttons]
    assert kept == [word for word in before.split() if word not in buttons]
    page.locator("#t0 .cite").first.click()
    expect(page.locator("mark[data-active]")).to_be_focused()
    ask(page, "Who wrote it?")
    expect(page.locator("#log .turn")).to_have_count(2)


def test_a_spoilt_memory_is_an_empty_one(open_page, server) -> None:
    page = open_page(server)
    page.evaluate("sessionStorage.setItem('paperchat.conversation', '[{\"question\": <script>')")
    page.reload()
    expect(page.locator(".welcome")).to_be_visible()


def test_a_conversation_goes_on_after_the_server_was_started_anew(open_page, slow_server, ask: Ask) -> None:
    page = open_page(slow_server)
    ask(page, "What is QuantumBoost?")
    assert slow_server.stop() == 130
    slow_server.start()
    ask(page, "Who wrote it?")
    expect(page.locator("#live .read-as")).to_contain_text("QuantumBoost")
    expect(page.locator("#log .question")).to_have_text("What is QuantumBoost?")

    page.fill("#box textarea", "How fast is it??")
    page.keyboard.press("Enter")
    expect(page.locator("#live .pending")).to_be_visible()
    slow_server.process.kill()
    expect(page.locator("#live .pending")).to_contain_text("The server is away")
    slow_server.start()
    expect(page.locator("#log .turn")).to_have_count(2)
    expect(page.locator("#box textarea")).to_have_value("How fast is it??")


def test_an_empty_index_says_what_to_run_and_opens_when_papers_are_there(
    open_page, serve, tmp_path: Path, sample: Path, ask: Ask
) -> None:
    root = tmp_path / "index"
    page = open_page(serve(root))
    waiting = page.locator(".waiting")
    expect(waiting).to_contain_text("No papers yet")
    expect(waiting).to_contain_text("paperchat ingest")
    expect(page.locator("#box textarea")).to_be_disabled()
    expect(page.locator("#ask")).to_be_disabled()
    with writing(root):
        expect(waiting).to_contain_text("Papers are being read in")
    command = [sys.executable, "-c", "from app.cli import main; main()", "ingest", str(sample)]
    environment = {**os.environ, "PAPERCHAT_INDEX_DIR": str(root), "PAPERCHAT_EMBEDDER": "hashing"}
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=60)
    expect(page.locator(".example").first).to_be_visible()
    expect(page.locator("#corpus")).to_have_text("37 papers")
    ask(page, "What is QuantumBoost?")
    expect(page.locator("#live .sentence").first).to_contain_text("QuantumBoost")


def test_the_page_and_the_interface_live_beside_each_other(server) -> None:
    with httpx.Client(base_url=server.address) as client:
        assert client.get("/api/ask").status_code == 405
        missing = client.get("/api/nothing")
        assert (missing.status_code, missing.headers["content-type"]) == (404, "application/problem+json")
        assert client.post("/api/ask", json={"question": "What is QuantumBoost?"}).json()["status"] == "answered"
        assert client.get("/").status_code == 200
        assert client.get("/", headers={"host": "evil.example"}).status_code == 421
        evil = {"origin": "http://evil.example"}
        assert client.post("/gradio_api/queue/join", json={}, headers=evil).status_code == 403
        for path in ("upload", "file=/etc/passwd", "proxy=http://evil.example/x", "call/ask", "run/predict"):
            assert client.post(f"/gradio_api/{path}", content=b"").status_code == 404


@pytest.mark.parametrize("path", ["/api/health", "/api/papers/icml2026-COjmyds8zz"])
def test_what_the_interface_answers_is_its_own(server, path: str) -> None:
    assert httpx.get(server.address.rstrip("/") + path).headers["content-type"] == "application/json"
