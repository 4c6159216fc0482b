"""`paperchat serve` as a process: from its first line to its end, while the index changes under it."""

import re
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

Spawn = Callable[..., "subprocess.Popen[str]"]
Build = Callable[..., Path]


@pytest.fixture
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def address(process: "subprocess.Popen[str]") -> str:
    """The address that the server prints when it is up."""
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.search(r"paperchat serves (http://\S+)", line)
    assert found, line
    return found[1]


def ask(at: str, question: str) -> dict[str, Any]:
    response = httpx.post(f"{at}/api/ask", json={"question": question}, timeout=20)
    assert response.status_code == 200, response.text
    return dict(response.json())


def stop(process: "subprocess.Popen[str]", how: signal.Signals) -> tuple[int, str]:
    """Its exit code and what it left on standard error, if it ends within seconds."""
    process.send_signal(how)
    _, err = process.communicate(timeout=8)
    assert "Traceback" not in err
    return process.returncode, err


def keeps_to_itself(port: int) -> None:
    """It answers to its own name, listens on the loopback alone and does not read endless bodies to their end."""
    other = httpx.get(f"http://127.0.0.1:{port}/api/health", headers={"host": "evil.example"})
    assert other.status_code == 421
    with socket.socket() as elsewhere:
        elsewhere.bind(("127.0.0.2", port))  # would be in use, were it listening everywhere
    head = f"POST /api/ask HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
    chunk = b"1000\r\n" + b"x" * 0x1000 + b"\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(head.encode() + b"Transfer-Encoding: chunked\r\n\r\n")
        for _ in range(30):  # 120 kB, and no end
            connection.sendall(chunk)
        assert connection.recv(12) == b"HTTP/1.1 413"


def test_it_serves_while_the_index_changes_and_stops_on_ctrl_c(
    spawn: Spawn, build: Build, sample_rows: list[dict[str, Any]], port: int
) -> None:
    root = build(sample_rows[:30])
    process = spawn("serve", "--port", port, index=root)
    at = address(process)
    assert at == f"http://127.0.0.1:{port}"
    before = httpx.get(f"{at}/api/health").json()
    assert (before["status"], before["papers"]) == ("ready", 30)

    names = {"UrbanFusion": "C0NCLB6ZGY", "QuantumBoost": "COjmyds8zz", "CARE": "Csmrtng6PP", "MILD": "CfqUMty4Ns"}
    done = threading.Event()

    def ask_until_done(name: str) -> set[str]:
        corpora: list[str] = []
        while not done.is_set() or len(corpora) < 3:
            answer = ask(at, f"What is {name}?")
            assert answer["question"] == f"What is {name}?"
            assert answer["papers"][0]["id"] == f"icml2026-{names[name]}"
            corpora.append(answer["corpus"])
        return set(corpora)

    with ThreadPoolExecutor(len(names)) as pool:
        running = [pool.submit(ask_until_done, name) for name in names]
        try:
            build(sample_rows, root)
        finally:
            done.set()
        corpora = set.union(*(run.result() for run in running))
    after = httpx.get(f"{at}/api/health").json()
    assert after["papers"] == 37
    assert after["corpus"] != before["corpus"]
    assert corpora <= {before["corpus"], after["corpus"]}
    assert ask(at, "What is TokenDrop?")["corpus"] == after["corpus"]

    keeps_to_itself(port)
    code, err = stop(process, signal.SIGINT)
    assert code in (0, 130)
    assert all(line.startswith("paperchat: ") or line == "loading the model ..." for line in err.splitlines())
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{at}/api/health")


def test_it_waits_for_an_index_and_stops_when_told_to(
    spawn: Spawn, build: Build, sample_rows: list[dict[str, Any]], port: int, tmp_path: Path
) -> None:
    root = tmp_path / "index"
    process = spawn("serve", "--port", port, index=root)
    at = address(process)
    waiting = httpx.get(f"{at}/api/health")
    assert (waiting.status_code, waiting.json()["status"]) == (503, "empty")
    assert httpx.post(f"{at}/api/ask", json={"question": "x"}).headers["content-type"] == "application/problem+json"
    assert not root.exists()  # serving alone makes nothing

    build(sample_rows[:3], root)
    end = time.monotonic() + 10
    while httpx.get(f"{at}/api/health").status_code != 200:
        assert time.monotonic() < end
        time.sleep(0.1)
    assert ask(at, "What is Global PSRO?")["status"] == "answered"

    started = time.monotonic()
    code, _ = stop(process, signal.SIGTERM)
    assert time.monotonic() - started < 5
    assert code in (0, 143, -signal.SIGTERM)
