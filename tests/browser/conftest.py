"""A real browser on real servers: Playwright with the system's Chromium.

Without Chromium every test here is skipped. A server is `paperchat serve` in a process of its own on a free port;
those that no test spoils are started once. Each test gets pages that watch over themselves: a request that leaves
this machine, a script error, a dialog or a refused script fails the test that opened the page.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from ingest.build import Request, ingest
from vectorstore.hashing import HashingEmbedder

ROOT = Path(__file__).parents[2]
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
WAIT = 15_000  # ms
expect.set_options(timeout=WAIT)

# A server that takes its time over a question that ends with "??", for what can only be seen meanwhile.
SLOW = """
import time
from app import assistant
quick = assistant.Assistant.ask
def slow(self, question, *rest):
    time.sleep(2.5 if "??" in question else 0)
    return quick(self, question, *rest)
assistant.Assistant.ask = slow
from app.cli import main
main()
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if CHROMIUM is None:
        skip = pytest.mark.skip(reason="Chromium is not installed: run `make browser`")
        for item in items:
            if Path(item.fspath).parent == Path(__file__).parent:
                item.add_marker(skip)


@dataclass
class Server:
    """A running `paperchat serve`."""

    index: Path
    port: int
    program: str = "from app.cli import main; main()"
    feedback: Path | None = None
    process: "subprocess.Popen[str] | None" = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def start(self) -> "Server":
        environment = {"PAPERCHAT_INDEX_DIR": str(self.index), "PAPERCHAT_EMBEDDER": "hashing"}
        environment["PAPERCHAT_FEEDBACK_FILE"] = str(self.feedback or "")
        self.process = subprocess.Popen(
            [sys.executable, "-c", self.program, "serve", "--port", str(self.port)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT, env={**os.environ, **environment},
            # In the background a process ignores Ctrl-C, and so do its children; a person's server does not.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert "paperchat serves" in line, line
        return self

    def interrupt(self) -> None:
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)

    def stop(self) -> int:
        """Its exit code after Ctrl-C; it has seconds to end."""
        assert self.process is not None
        self.interrupt()
        try:
            self.process.communicate(timeout=8)
        finally:
            self.process.kill()
        return self.process.returncode


Serve = Callable[..., Server]


@pytest.fixture(scope="session")
def serve() -> Iterator[Serve]:
    """Start a server over an index; all are stopped in the end."""
    servers: list[Server] = []

    def start(index: Path, **fields: Any) -> Server:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        servers.append(Server(index, port, **fields))
        return servers[-1].start()

    yield start
    for server in servers:
        server.interrupt()  # all at once: each takes a second to end
    for server in servers:
        server.stop()


@pytest.fixture(scope="session")
def server(serve: Serve, pristine_index: Path) -> Server:
    """Over the bundled sample."""
    return serve(pristine_index)


@pytest.fixture
def slow_server(serve: Serve, index: Path) -> Server:
    """Over the bundled sample, slow where it is asked to be; the test's own."""
    return serve(index, program=SLOW)


@pytest.fixture(scope="session")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Sequence[Mapping[str, Any]]], Path]:
    """An index of the papers given."""

    def build(rows: Sequence[Mapping[str, Any]]) -> Path:
        folder = tmp_path_factory.mktemp("papers")
        source = folder / "papers.jsonl"
        source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        ingest(folder / "index", Request((source,)), HashingEmbedder())
        return folder / "index"

    return build


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


@dataclass
class Watch:
    """What pages did that they must not do."""

    requests: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def over(self, page: Page) -> None:
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("websocket", lambda socket: self.requests.append(socket.url))
        page.on("pageerror", lambda error: self.faults.append(f"script error: {error}"))
        page.on("dialog", lambda dialog: (self.faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("popup", lambda popup: self.faults.append(f"popup: {popup.url}"))
        page.on("console", self._hear)

    def _hear(self, message: Any) -> None:
        if re.search(r"Content Security Policy|Refused to|Error (?:rendering|executing|evaluating)", message.text):
            self.faults.append(message.text)

    def check(self) -> None:
        local = re.compile(r"(?:https?|ws)://127\.0\.0\.1:\d+/|(?:data|blob):")
        assert [url for url in self.requests if not local.match(url)] == []
        assert self.faults == []


Open = Callable[..., Page]


@pytest.fixture
def watch() -> Iterator[Watch]:
    watch = Watch()
    yield watch
    watch.check()


@pytest.fixture(scope="session")
def shared(browser: Browser) -> BrowserContext:
    """A browser that tests share, so that not each of them loads Gradio's scripts. Its tabs share no conversation."""
    return browser.new_context(permissions=["clipboard-read", "clipboard-write"])


@pytest.fixture
def open_page(browser: Browser, shared: BrowserContext, watch: Watch) -> Iterator[Open]:
    """Open a server's page in a tab, of a browser of its own where options are given, and wait until it is there."""
    opened: list[Page] = []

    def open_in(server: Server, width: int = 1280, **options: Any) -> Page:
        page = (browser.new_context(**options) if options else shared).new_page()
        opened.append(page)
        page.set_viewport_size({"width": width, "height": 800})
        page.set_default_timeout(WAIT)
        watch.over(page)
        page.goto(server.address)
        page.wait_for_selector(".welcome, .turn")
        return page

    yield open_in
    for page in opened:
        page.close()
        if page.context is not shared:
            page.context.close()


@pytest.fixture(scope="session")
def ask() -> Callable[[Page, str], None]:
    """Type a question, press Enter and wait for the end of its answer."""

    def of(page: Page, question: str) -> None:
        page.fill("#box textarea", question)
        page.keyboard.press("Enter")
        done = page.locator('#live .turn[aria-busy="false"]').filter(has=page.get_by_text(question, exact=True))
        done.wait_for()

    return of


@pytest.fixture(scope="session")
def contrast() -> Callable[[Page, str], float]:
    """WCAG's contrast of an element's text and what it stands on."""

    def of(page: Page, selector: str) -> float:
        return float(
            page.evaluate(
                """(selector) => {
                const parse = (css) => css.match(/[\\d.]+/g).map(Number);
                const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
                    .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
                    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
                let element = document.querySelector(selector), behind = element;
                const ink = light(parse(getComputedStyle(element).color));
                const ground = (element) => parse(getComputedStyle(element).backgroundColor);
                while (behind && (ground(behind)[3] ?? 1) === 0) behind = behind.parentElement;
                const paper = light(ground(behind ?? document.body));
                return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05); }""",
                selector,
            )
        )

    return of
