"""A server is asked without a pause while the corpus changes under it: no request fails, and the new corpus answers."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

QUESTION = "What certified lower bound on the Steiner ratio was found?"
INGESTS = 3


def command(index: Path, *arguments: str) -> "subprocess.Popen[str]":
    environment = {**os.environ, "PAPERCHAT_INDEX_DIR": str(index), "PAPERCHAT_EMBEDDER": "hashing"}
    code = "from app.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def server(index: Path) -> Iterator["subprocess.Popen[str]"]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = command(index, "serve", "--port", str(port))
    yield process
    if process.poll() is None:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("papers", [40, pytest.param(2300, marks=pytest.mark.faults)])
def test_no_request_fails_while_the_corpus_changes(
    server: "subprocess.Popen[str]", index: Path, tmp_path: Path, many: Path, papers: int
) -> None:
    """Three ingests, the first one of so many papers: a small index is built anew, a large one changed as a copy."""
    assert server.stdout is not None
    found = re.search(r"http://\S+", server.stdout.readline())
    assert found
    at, stop = found[0], threading.Event()
    sources = [tmp_path / f"source-{number}.jsonl" for number in range(INGESTS)]
    sources[0].write_text("".join(many.read_text().splitlines(keepends=True)[:papers]))
    for number, source in enumerate(sources[1:]):
        row = {"title": f"Quokka {number}", "abstract": f"Quokka {number} smiles in the sun."}
        source.write_text("\n".join(json.dumps({**row, "id": f"new-{number}-{n}"}) for n in range(7)) + "\n")

    def ask() -> list[str]:
        corpora: list[str] = []
        with httpx.Client(timeout=30) as client:
            while not stop.is_set():
                response = client.post(f"{at}/api/ask", json={"question": QUESTION})
                assert response.status_code == 200, response.text
                answer: dict[str, Any] = response.json()
                assert answer["status"] == "answered"
                corpora.append(answer["corpus"])
        return corpora

    def look() -> list[str]:
        corpora: list[str] = []
        with httpx.Client(timeout=30) as client:
            while not stop.is_set():
                response = client.get(f"{at}/api/health")
                assert response.status_code == 200, response.text
                corpora.append(response.json()["corpus"])
        return corpora

    hashes = [live(index)]
    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(ask), pool.submit(look)]
        try:
            for source in sources:
                ingest = command(index, "ingest", str(source))
                _, err = ingest.communicate(timeout=120)
                assert ingest.returncode == 0, err
                hashes.append(live(index))
        finally:
            stop.set()
        asked, looked = (run.result() for run in running)
    assert len(set(hashes)) == INGESTS + 1
    assert set(asked) | set(looked) <= set(hashes)
    assert asked == sorted(asked, key=hashes.index), "an answer came from an older corpus than the one before it"
    last = [httpx.post(f"{at}/api/ask", json={"question": QUESTION}, timeout=30).json()["corpus"] for _ in range(3)]
    assert last == hashes[-1:] * 3
    assert httpx.get(f"{at}/api/health").json()["corpus"] == hashes[-1]
    print(
        f"\n{len(asked)} questions and {len(looked)} looks during {INGESTS} ingests, {papers} papers first: none failed"
    )
    server.send_signal(signal.SIGINT)
    _, err = server.communicate(timeout=20)
    assert "Traceback" not in err
    assert list(index.glob("gen-*"))  # the live one; others go with the next ingest


def live(index: Path) -> str:
    return (index / "CURRENT").read_text().strip().removeprefix("gen-")
