"""Nothing leaves the machine: a whole ingest and a question, watched from below and with the network cut."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from app.settings import OFFLINE

ROOT = Path(__file__).parents[2]

# Runs in a process of its own. Python tells an audit hook of every name looked up and every connection tried, by
# whatever library; the finder notes what the environment says when a library is imported that reads it then.
WATCHED = """
import ipaddress, json, os, sys

tried, seen = [], {}

def loopback(host):
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host in ("localhost", None, "")

def watch(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = arguments[1]
        if isinstance(address, tuple) and not loopback(address[0]):
            tried.append([event, str(address)])
            raise OSError("no network here")
    elif event in ("socket.getaddrinfo", "socket.gethostbyname") and not loopback(arguments[0]):
        tried.append([event, str(arguments[0])])
        raise OSError("no network here")

class Note:
    def find_spec(self, name, path=None, target=None):
        if name in READ_AT_IMPORT and name not in seen:
            seen[name] = {flag: os.environ.get(flag) for flag in FLAGS}
        return None

READ_AT_IMPORT = ("huggingface_hub", "transformers", "sentence_transformers", "chromadb", "langchain_core", "langsmith")
FLAGS = json.loads(sys.argv[1])
sys.meta_path.insert(0, Note())
sys.addaudithook(watch)
from app.cli import run_command
codes = [run_command(["ingest", sys.argv[2]]), run_command(["ask", "--json", sys.argv[3]])]
print()
print(json.dumps({"codes": codes, "tried": tried, "seen": seen}))
"""

# A user's environment that asks for everything we must not do.
HOSTILE = {
    "HF_HUB_OFFLINE": "0",
    "TRANSFORMERS_OFFLINE": "0",
    "ANONYMIZED_TELEMETRY": "True",
    "GRADIO_ANALYTICS_ENABLED": "True",
    "LANGSMITH_TRACING": "true",
    "LANGCHAIN_TRACING_V2": "true",
    "LANGSMITH_API_KEY": "lsv2_not_a_key",
}


def run_watched(code: str, *arguments: str, cut: bool = False, **environment: str) -> dict[str, Any]:
    prefix = ["unshare", "--user", "--map-root-user", "--net"] if cut else []
    done = subprocess.run(
        [*prefix, sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=110,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return {"lines": done.stdout.splitlines(), **json.loads(done.stdout.splitlines()[-1])}


def can_be_cut() -> bool:
    """Whether this machine lets us start a process without any network."""
    if shutil.which("unshare") is None:
        return False
    return not subprocess.run(["unshare", "--user", "--map-root-user", "--net", "true"], capture_output=True).returncode


def test_ingest_and_ask_with_the_real_model_try_no_connection(tmp_path: Path, sample_file: Path) -> None:
    lines = sample_file.read_text(encoding="utf-8").splitlines()
    few = tmp_path / "few.jsonl"
    few.write_text("\n".join(line for line in lines if "Steiner" in line or "TokenDrop" in line))
    told = run_watched(
        WATCHED,
        json.dumps(list(OFFLINE)),
        str(few),
        "What certified lower bound on the Steiner ratio was found?",
        cut=can_be_cut(),
        PAPERCHAT_INDEX_DIR=str(tmp_path / "index"),
        PAPERCHAT_EMBEDDER="minilm",
        HOME=str(tmp_path),  # no model in a cache, no token
        **HOSTILE,
    )
    assert told["codes"] == [0, 0]
    assert any("0.8559" in line for line in told["lines"])
    assert told["tried"] == []
    assert told["seen"].keys() >= {"huggingface_hub", "transformers", "chromadb", "langchain_core"}
    for library, flags in told["seen"].items():
        assert flags == OFFLINE, library


def test_the_watch_sees_what_is_tried(tmp_path: Path) -> None:
    code = WATCHED.split("from app.cli")[0] + (
        "import socket\n"
        "for attempt in (lambda: socket.getaddrinfo('example.org', 443),\n"
        "                lambda: socket.create_connection(('203.0.113.1', 443), 1)):\n"
        "    try: attempt()\n"
        "    except OSError: pass\n"
        "print(json.dumps({'tried': tried}))"
    )
    tried = run_watched(code, "[]", "", "")["tried"]
    assert [event for event, _ in tried] == ["socket.getaddrinfo", "socket.getaddrinfo"]


@pytest.mark.parametrize("module", ["app.settings", "app.cli"])
def test_importing_the_settings_imports_no_library_that_reads_them(module: str) -> None:
    heavy = ("torch", "gradio", "chromadb", "langchain_core", "langsmith", "transformers", "huggingface_hub", "fastapi")
    code = f"import {module}, sys; print(sorted(set({heavy!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=30)
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize("module", ["app.serve", "app.doctor"])
def test_importing_a_room_sets_the_flags_before_a_library_reads_them(module: str) -> None:
    code = WATCHED.split("from app.cli")[0] + f"import {module}\nprint(json.dumps({{'seen': seen}}))"
    seen = run_watched(code, json.dumps(list(OFFLINE)), "", "", **HOSTILE)["seen"]
    assert all(flags == OFFLINE for flags in seen.values())


def test_a_server_traces_nothing_to_anybody(hashing_root: Path) -> None:
    """`serve` imports its libraries in another order than `ask`."""
    code = WATCHED.split("from app.cli")[0] + (
        "import app.serve, time\n"
        "from app.whole import open_assistant\n"
        "from app.settings import read_settings\n"
        "status = open_assistant(read_settings()).ask('What is TokenDrop?').status\n"
        "time.sleep(0.5)\n"  # a tracer sends in the background
        "print(json.dumps({'tried': tried, 'status': status}))"
    )
    index = {"PAPERCHAT_INDEX_DIR": str(hashing_root), "PAPERCHAT_EMBEDDER": "hashing"}
    told = run_watched(code, "[]", "", "", **index, **HOSTILE)
    assert (told["status"], told["tried"]) == ("answered", [])
