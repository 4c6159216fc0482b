"""What papers and questions may hold: mathematics, emphasis, money, and attempts to run or to fetch something."""

from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from playwright.sync_api import Page, expect

Ask = Callable[[Page, str], None]

ABSTRACTS = {
    "Wombat": (
        r"Wombat maps $\phi: \mathbb{R}^n \to \mathbb{R}$ with $\frac{1}{2}$ of the loss. It costs $5 and $7 a run. "
        r"The broken Wombat term $\frac{1$ stays. The Wombat bound is $$\sum_{i=1}^{n} x_i \leq C$$ in display."
    ),
    "Quokka": (
        r"The Quokka **TokenDrop** uses *softmax*, \textbf{bold \emph{inner}} and \underline{D}ata. "
        r"Quokka saves 35\% at \url{https://a.example/x_y} over StarCraft~II by ``weak'' learners."
    ),
}
EVIL = (
    "<script>window.ran=1</script><img src=x onerror=window.ran=1><svg onload=window.ran=1>"
    "[x](javascript:window.ran=1)![y](ELSEWHERE/img.png)<img src=ELSEWHERE/a.png>"
    r"$\text{<img src=ELSEWHERE/b.png onerror=window.ran=1>}$ $\href{ELSEWHERE/c}{z}$"
    '"><iframe src=ELSEWHERE/d></iframe>{{7*7}}${window.ran=1}`${window.ran=1}`'
)
HOSTILE = "Numbat trains models quickly. The Numbat method EVIL is robust. LONG Numbat ends here."


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[tuple[str, list[str]]]:
    """Another server, on this machine so that a request to it would arrive, and what was asked of it."""
    asked: list[str] = []

    class Listener(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Listener)
    Thread(target=listener.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{listener.server_port}", asked
    listener.shutdown()


@pytest.fixture(scope="module")
def texts(serve, papers, elsewhere: tuple[str, list[str]]):
    evil = EVIL.replace("ELSEWHERE", elsewhere[0])
    rows = [
        {"id": name, "title": f"{name} maps", "abstract": text, "authors": ["A"]} for name, text in ABSTRACTS.items()
    ]
    rows.append(
        {
            "id": "evil", "title": f"Numbat {evil}", "authors": [f"Eve {evil}", "\u202egnihtoN"],
            "abstract": HOSTILE.replace("EVIL", evil).replace("LONG", "w" * 50_000), "url": "javascript:window.ran=1",
            "venue": evil, "year": 2026, "topic": evil,
        }
    )  # fmt: skip
    return serve(papers(rows))


def test_formulas_are_drawn_and_money_stays_money(open_page, texts, ask: Ask) -> None:
    page = open_page(texts)
    ask(page, "What does Wombat map?")
    page.locator("#cards .toggle").first.focus()
    abstract = page.locator("#cards .abstract")
    shown = abstract.inner_text()
    assert "It costs $5 and $7 a run." in shown
    assert r"$\frac{1$ stays" in shown
    assert "𝜙" in shown
    assert "ℝ" in shown
    assert abstract.locator("mfrac").count() == 1
    assert abstract.locator('math[display="block"] munderover').count() == 1
    assert page.locator("#live math").count() > 0
    fraction = abstract.locator("mfrac").bounding_box()
    assert fraction
    assert fraction["height"] > fraction["width"] > 0  # drawn one above the other


def test_emphasis_is_shown_as_such_and_commands_are_not(open_page, texts, ask: Ask) -> None:
    page = open_page(texts)
    ask(page, "What does Quokka use?")
    abstract = page.locator("#cards .abstract")
    shown = abstract.inner_text().replace("\xa0", " ")
    assert "The Quokka TokenDrop uses softmax, bold inner and Data." in shown
    assert "saves 35% at https://a.example/x_y over StarCraft II by “weak” learners." in shown
    assert abstract.locator("strong", has_text="TokenDrop").count() == 1
    assert abstract.locator("em", has_text="softmax").count() == 1
    assert abstract.locator("u", has_text="D").count() == 1
    assert abstract.locator("a").count() == 0


def test_hostile_text_runs_nothing_and_fetches_nothing(
    open_page, texts, ask: Ask, elsewhere: tuple[str, list[str]], watch
) -> None:
    page = open_page(texts)
    ask(page, "What is the Numbat method?")
    page.locator("#live .cite").first.click()
    ask(page, EVIL.replace("ELSEWHERE", elsewhere[0]))
    page.locator(".toggle >> visible=true").first.click()
    page.reload()
    page.wait_for_selector(".turn")
    page.wait_for_timeout(500)
    assert page.evaluate("window.ran") is None
    assert elsewhere[1] == []
    assert not any(elsewhere[0] in url for url in watch.requests)
    assert page.locator("#room script, #room img, #room iframe, #room svg, #room object, #room form").count() == 0
    assert page.locator("#room a").count() == 0
    everything = "[...document.querySelectorAll('#room *')].flatMap((e) => [...e.attributes].map((a) => a.name))"
    assert not any(name.startswith("on") for name in page.evaluate(everything))
    assert "<script>window.ran=1</script>" in page.locator("#shelf .label").first.inner_text()


@pytest.mark.parametrize("width", [390, 1280])
def test_a_word_of_fifty_kilobytes_breaks_nothing(open_page, texts, ask: Ask, width: int) -> None:
    page = open_page(texts, width=width)
    ask(page, "What is the Numbat method?")
    page.locator("#live .cite").first.click()
    expect(page.locator("#panel")).to_be_visible()
    for box in ("document.documentElement", "document.querySelector('#scroll')", "document.querySelector('#panel')"):
        assert page.evaluate(f"{box}.scrollWidth <= {box}.clientWidth"), box


def test_the_policy_stops_an_inline_handler_even_if_one_got_in(browser, texts) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(texts.address)
    page.wait_for_selector(".welcome")
    page.evaluate("document.querySelector('#live').innerHTML = '<img src=x onerror=\"window.ran=1\">'")
    page.wait_for_timeout(300)
    assert page.evaluate("window.ran") is None
    context.close()
